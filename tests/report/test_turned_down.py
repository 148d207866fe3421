"""A report that keeps the base order shows the correction that was turned down."""

import numpy as np
import pytest

from repair._utils.text_tables import minus_signs
from repair.report.content import gather
from repair.report.picture import points
from repair.report.turned_down import turned_down


@pytest.fixture(scope="module")
def best(kept):
    tried = [candidate for candidate in kept.model.auto_.candidates if candidate.mode == "extended"]
    return max(tried, key=lambda candidate: candidate.log_likelihood.gain)


def test_the_tiles_are_about_the_correction_that_auto_would_have_chosen_next(kept, best):
    words = kept.content.words
    assert words.tiles_title.startswith("What the correction that was turned down would change: Extended")
    assert "700 calibration rows" in words.tiles_basis
    assert words.tiles[0].change == f"{points(best.gain.gain)} points"
    low, high = best.gain.interval()
    assert words.tiles[0].interval == f"95 % interval {points(low)} to {points(high)}, 700 rows"
    assert words.tiles[0].before != words.tiles[0].after


def test_the_tiles_are_those_of_the_verdict_that_the_terminal_prints(kept):
    verdict = kept.content.words.verdict
    assert not verdict.applied
    assert kept.content.words.tiles_title.endswith(verdict.correction)
    assert kept.content.words.headline == minus_signs(verdict.headline)
    for tile, stratum in zip(kept.content.words.tiles, (verdict.overall, *verdict.strata), strict=True):
        assert tile.change == f"{points(stratum.gain.gain)} points"
        assert tile.interval.endswith(f", {stratum.rows:,} rows")
    assert kept.content.words.advice == ()  # it would say the same again


def test_the_base_order_is_not_described_twice_on_calibration_rows(kept):
    words = gather(kept.model, kept.calibration, draws=5).words
    assert words.tiles == kept.content.words.tiles
    assert not any("puts the true class first" in sentence for sentence in words.sentences)


def test_chart_and_table_are_about_it_too(kept, best):
    content = kept.content
    chart = next(picture for picture in content.pictures if picture.key == "by_frequency")
    assert "turned down" in chart.title
    assert chart.sentence.endswith("Here, model means the correction that was turned down.")
    assert "turned down" in content.classes.title
    fixed = int(((best.hits > 0) & (kept.model.auto_.candidates[0].hits == 0)).sum())
    assert sum(content.classes.columns["fixed"]) == fixed > 0
    assert sum(part["rows"] for part in chart.data["values"]) == 700


def test_the_accuracy_of_the_base_order_is_that_of_the_test_rows(kept):
    assert "0 rows were fixed" not in " ".join(kept.content.words.sentences)
    assert "of 700 test rows" in kept.content.words.sentences[0]


def test_nothing_was_turned_down_if_a_correction_was_chosen(content, diagnosis):
    assert content.words.tiles_title == ""
    assert not diagnosis.auto.chosen.keeps_base
    assert turned_down(diagnosis) is None


def test_weighted_percentages_and_plain_counts_are_told_apart(kept, content):
    """The groups of `kept` have very different sizes."""
    said = "Percentages count every group once; numbers of rows are plain counts."
    words = kept.content.words
    assert said in words.sentences[0]
    assert said in words.tiles_basis
    assert said in kept.content.classes.basis
    for picture in kept.content.pictures:
        if picture.key in ("by_frequency", "coverage", "frontier", "reliability", "gap_closed") and not picture.reason:
            assert said in picture.basis, picture.key
    coverage = next(check for check in kept.content.checks if check.code == "RP101")
    assert coverage.explanation.endswith("Here every row counts once.")
    assert said not in content.words.sentences[0]
    assert all(said not in picture.basis for picture in content.pictures)


def test_row_weights_are_named_as_such():
    from repair.stats.row_weights import describe_weights

    weights, groups = np.array([1.0, 2.0, 1.0]), np.array([0, 0, 1])
    assert describe_weights(weights, None) == describe_weights(weights, groups)
    assert "use the row weights" in describe_weights(weights, groups)
    assert describe_weights(np.full(3, 0.3), groups) == ""


def test_a_row_that_is_asked_for_comes_first(kept):
    from repair import InputError

    rows = kept.content.examples.rows
    assert rows[0]["id"] == "123"
    assert len(rows) == 10
    assert len({row["id"] for row in rows}) == 10
    with pytest.raises(InputError, match="first_rows has 700, but rows are numbered from 0 to 699"):
        gather(kept.model, kept.calibration, kept.test, first_rows=[700])


def test_the_place_of_a_true_class_is_known_beyond_the_shortlist(kept):
    scores = np.asarray(kept.test.scores)
    missing = 0
    for row in kept.content.examples.rows:
        index = int(row["id"])
        label = kept.test.labels[index]
        assert row["place"] == 1 + int((scores[index] > scores[index, label]).sum())
        missing += row["place"] > 5
        assert (row["kind"] == "not on the shortlist") == (row["place"] > 5)
    assert missing > 0
