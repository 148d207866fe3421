"""What each picture says is what the rows say."""

from dataclasses import replace

import numpy as np
import pytest

from repair import Base, Reranker, ScoreSet
from repair.diagnosis import NotApplicable, quintile_gains
from repair.diagnosis.expected import ExpectedContradictions
from repair.report import class_charts
from repair.report.charts import charts_of
from repair.report.class_charts import MOST_MARKS, long_tail, offsets
from repair.report.content import gather
from repair.report.pair_charts import quintiles


def picture(content, key):
    return next(one for one in content.pictures if one.key == key)


def test_all_pictures_say_what_they_show_and_on_which_rows(content, by_folds):
    for one in (*content.pictures, *by_folds.pictures):
        assert one.title
        if one.reason:
            assert not one.data
            assert one.reason.endswith(".")
        else:
            assert one.sentence
            assert one.basis
            assert one.lines
            assert {len(line) for line in one.lines} == {len(one.header)}
    for key in ("by_frequency", "frontier", "coverage", "reliability"):
        assert "300 test rows. The model was not fitted on them" in picture(content, key).basis
        assert "fitted without it (5 folds; every choice is repeated in each)" in picture(by_folds, key).basis


def test_bins_by_frequency_hold_all_rows_once(rows, model, content):
    values = picture(content, "by_frequency").data["values"]
    assert sum(one["rows"] for one in values) == len(rows.test)
    before = sum(one["rows"] * one["before"] for one in values) / len(rows.test)
    assert before == pytest.approx((rows.test.scores.argmax(axis=1) == rows.test.labels).mean())
    assert [one["kind"] for one in values] == sorted((one["kind"] for one in values), reverse=True)  # rare ones first


def test_the_line_of_the_long_tail_divides_rare_from_frequent():
    # Many equal counts across the line: the kinds must not mix.
    counts = [60, 5, 5, 5, 5, 1, 1, 1, 1, 1]
    scores, labels = np.eye(10).repeat(6, axis=0), np.arange(10).repeat(6)
    data = long_tail(Base(3).fit(scores, labels, class_counts=counts)).data
    assert data["frequent"] == 2
    assert [bar["right"] - bar["left"] for bar in data["values"]] == [1.0] * 10
    assert (data["values"][0]["left"], data["values"][-1]["right"]) == (0.5, 10.5)
    assert [one["kind"] for one in data["values"]] == ["frequent"] * 2 + ["rare"] * 8
    assert [one["count"] for one in data["values"]] == counts


def test_rare_classes_are_the_same_in_the_charts_and_in_the_verdict():
    # Four fifths of these classes have more than half of the examples, so fewer of them are called rare.
    counts = np.array([9, 5, 5, 5, 5, 1, 1, 1, 1, 1])
    scores, labels = np.eye(10).repeat(6, axis=0), np.arange(10).repeat(6)
    model = Base(3).fit(scores, labels, class_counts=counts)
    data = long_tail(model).data
    assert data["frequent"] == 5
    assert [one["kind"] for one in data["values"]] == ["frequent"] * 5 + ["rare"] * 5
    made = gather(model, ScoreSet(scores, labels, class_counts=counts), draws=5)
    (rare,) = (stratum for stratum in made.words.verdict.strata if stratum.name == "rare")
    bins = picture(made, "by_frequency").data["values"]
    assert rare.rows == sum(one["rows"] for one in bins if one["kind"] == "rare")
    columns = made.classes.columns
    assert rare.rows == sum(n for n, kind in zip(columns["rows"], columns["kind"], strict=True) if kind == "rare") == 30


def test_coverage_rises_to_what_is_on_the_shortlist(rows, model, content):
    shown = picture(content, "coverage")
    shares = [one["share"] for one in shown.data["values"] if (one["rows"], one["order"]) == ("all rows", "base")]
    assert shares == sorted(shares)
    assert len(shares) == 20  # all scores are known, so the base order is followed beyond the six candidates
    assert shares[5] == pytest.approx(model.shortlist(rows.test.scores).coverage(np.asarray(rows.test.labels)))
    assert shares[-1] == 1.0


def test_reliability_covers_the_covered_rows_with_equal_bins(content, rows, model):
    values = picture(content, "reliability").data["values"]
    covered = int((model.shortlist(rows.test.scores).positions(rows.test.labels) >= 0).sum())
    for order in ("base", "model"):
        mine = [one for one in values if one["order"] == order]
        assert sum(one["rows"] for one in mine) == covered
        assert [one["belief"] for one in mine] == sorted(one["belief"] for one in mine)


def test_the_frontier_marks_the_model_and_the_base(content, rows, model):
    data = picture(content, "frontier").data
    at = {one["dial"]: one for one in data["values"]}
    assert data["model"]["dial"] == 0.0
    assert data["model"]["rare"] == pytest.approx(at[0.0]["rare"])
    assert at[1.0]["rare"] >= at[0.0]["rare"]


def test_histograms_of_pairs_count_every_row_and_shade_where_thresholds_cross(content, diagnosis):
    pairs = picture(content, "pairs").data["pairs"]
    worst = {(one.first, one.second): one for one in diagnosis.worst_pairs}
    assert pairs
    for one in pairs:
        known = worst[one["first"], one["second"]]
        assert (one["rows_first"], one["rows_second"]) == (known.rows_first, known.rows_second)
        assert one["zone"][1] - one["zone"][0] == pytest.approx(known.overlap)
        for side, count in (("first", known.rows_first), ("second", known.rows_second)):
            assert sum(part["rows"] for part in one["bins"] if part["side"] == side) == count


@pytest.mark.parametrize(("drawn", "first"), [(1, "pairs"), (99, "long_tail")])
def test_pairs_lead_only_if_there_are_more_than_chance_explains(rows, model, diagnosis, drawn, first):
    expected = ExpectedContradictions(
        diagnosis.expected.observed, np.full(50, drawn * diagnosis.expected.observed // 9)
    )
    shown = gather(model, rows.calibration, rows.test, diagnosis=replace(diagnosis, expected=expected)).pictures
    assert shown[0].key == first
    pairs = next(picture for picture in shown if picture.key == "pairs")
    assert pairs.sentence.startswith(f"There are {'more' if first == 'pairs' else 'no more'} contradictory pairs than")
    assert (shown[-1].key == "pairs") != (first == "pairs")


def test_a_short_tail_has_a_linear_axis():
    scores = np.eye(4).repeat(10, axis=0)

    def axis(counts):
        model = Base(3).fit(scores, np.arange(4).repeat(10), class_counts=counts)
        return charts_of(long_tail(model))[0]["layer"][0]["encoding"]["y"]

    assert "type" not in axis([40, 30, 20, 10])["scale"]
    assert axis([4000, 30, 20, 10])["scale"]["type"] == "symlog"
    assert axis([4000, 30, 20, 10])["title"] == "training examples (logarithmic)"


def test_offsets_that_are_almost_zero_are_not_magnified(rows):
    model = Reranker("classwise", n_candidates=6, lambda_a=1e6).fit(rows.calibration)
    assert 0 < np.abs(model.offsets_).max() < 0.005
    assert offsets(model).reason.startswith("All class offsets are shrunk to almost 0 (the largest is ")


def test_the_gap_closed_is_that_of_the_held_out_gains(content, diagnosis):
    values = {one["name"]: one for one in picture(content, "gap_closed").data["values"]}
    gap = (diagnosis.n_covered - diagnosis.held_out.hits["base"].sum()) / diagnosis.n_rows
    assert values["offsets only"]["closed"] == pytest.approx(diagnosis.separability.offsets.accuracy.gain / gap)


def test_what_data_do_not_allow_is_a_sentence(content, diagnosis):
    shown = picture(content, "quintiles")
    assert isinstance(diagnosis.quintiles, NotApplicable)
    assert shown.reason == diagnosis.quintiles.reason + "."


def test_classes_that_gained_and_lost_add_up(content, rows):
    columns = content.classes.columns
    assert sum(columns["rows"]) == len(rows.test)
    for before, after, fixed, broken, change in zip(
        *(columns[name] for name in ("before", "after", "fixed", "broken", "change")), strict=True
    ):
        assert after - before == fixed - broken == change
    assert sorted(columns["name"]) == sorted(rows.names)
    assert [abs(one) for one in columns["change"]] == sorted((abs(one) for one in columns["change"]), reverse=True)


def test_a_model_without_offsets_has_no_picture_of_them(rows):
    model = Base(6).fit(rows.calibration.scores, rows.calibration.labels, class_counts=rows.counts)
    assert "has no class offsets" in offsets(model).reason


def test_many_classes_are_thinned_and_that_is_said():
    n_classes = MOST_MARKS + 500
    rng = np.random.default_rng(0)
    from repair import Shortlist

    ids = np.argsort(rng.random((400, n_classes)), axis=1)[:, :4]
    shortlist = Shortlist.from_candidates(ids, -np.sort(-rng.normal(size=(400, 4)), axis=1), n_classes)
    model = Reranker("classwise", n_candidates=4).fit(shortlist, ids[:, 1], class_counts=np.arange(n_classes) + 1)
    shown = offsets(model)
    assert len(shown.data["values"]) == MOST_MARKS
    assert f"The chart shows {MOST_MARKS:,} of {n_classes:,} classes." in shown.sentence
    tail = long_tail(model)
    bars = tail.data["values"]
    assert len(bars) in (class_charts.TAIL_POINTS, class_charts.TAIL_POINTS + 1)
    assert f"The chart has {len(bars)} bars for {n_classes:,} classes." in tail.sentence
    assert [bar["left"] for bar in bars[1:]] == [bar["right"] for bar in bars[:-1]]
    assert tail.data["frequent"] + 0.5 in {bar["left"] for bar in bars}  # colours change at the line


def test_too_few_rows_still_give_a_report():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, size=30)
    rows = ScoreSet(rng.normal(size=(30, 4)) + np.eye(4)[labels], labels)
    model = Reranker("classwise", n_candidates=3).fit(rows.scores, rows.labels)
    found = gather(model, rows, rows=5, draws=5)
    assert found.words.headline.startswith("Too few rows to say whether a correction helps: there are")
    assert found.examples is None
    reasons = {one.key: one.reason for one in found.pictures}
    assert "covered rows; held-out gains need 50" in reasons["frontier"]
    assert not reasons["long_tail"]


@pytest.mark.needs("altair")
def test_quintiles_are_those_of_the_diagnosis(rows, diagnosis):
    import altair

    hits = diagnosis.held_out.hits
    found = quintile_gains(diagnosis.dispersion, hits["pairwise"], hits["classwise"], rows.counts, min_classes=3)
    shown = quintiles(replace(diagnosis, quintiles=found))
    values = shown.data["values"]
    assert [one["bin"] for one in values] == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert [one["gain"] for one in values] == [one.delta.gain for one in found.bins]
    assert all(one["low"] <= one["gain"] <= one["high"] for one in values)
    altair.LayerChart.from_dict(charts_of(shown)[0])
