"""The verdict says what the interval says."""

from dataclasses import replace

import numpy as np
import pytest

from repair import Reranker, ScoreSet, load
from repair._utils.text_tables import minus_signs
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.judging import judge_auto
from repair.report.content import _other_rows, gather
from repair.report.explorer import KINDS


def test_the_verdict_comes_with_both_accuracies_and_what_was_fixed_and_broken(content, rows, model):
    words = content.words
    after = (np.asarray(model.rerank(rows.test.scores).best) == rows.test.labels).mean()
    assert f"{100 * after:.1f} % of 300 test rows" in words.sentences[0]
    columns = content.classes.columns
    assert f"{sum(columns['fixed'])} rows were fixed and {sum(columns['broken'])} broken" in words.sentences[0]
    assert [tile.name for tile in words.tiles] == ["All rows", "Rare classes", "Frequent classes"]


def test_the_advice_is_that_of_diagnose(content, diagnosis):
    assert content.words.advice[0] == minus_signs(diagnosis.verdict.headline)
    assert content.words.verdict.basis.folds is None  # the headline is about the test rows


def test_tiles_and_verdict_have_the_same_numbers(content):
    verdict = content.words.verdict
    for tile, rows in zip(content.words.tiles, (verdict.overall, *verdict.strata), strict=True):
        assert tile.name == rows.title
        assert tile.change == minus_signs(f"{100 * rows.gain.gain:+.1f} points")
        assert tile.after == f"{100 * rows.after:.1f} %"


def test_a_report_about_folds_says_what_the_fit_says(rows):
    model = Reranker("auto", n_candidates=6).fit(rows.calibration)
    words = gather(model, rows.calibration, draws=5).words
    checked = CalibrationSet.build(rows.calibration, 6)
    assert words.verdict.overall == judge_auto(checked, model.auto_).overall
    assert words.advice == ()


def test_headlines_follow_the_interval(rows, diagnosis):
    given = rows.calibration

    def headline(model, **options):
        return gather(model, given, rows.test, diagnosis=diagnosis, **options).words.headline

    kept = Reranker("base", n_candidates=6).fit(given.scores, given.labels, **given.optional_fields)
    assert headline(kept).startswith("Keep the base order: no correction was fitted.")
    assert headline(kept, dial=20.0).startswith("Keep the base order: the Dial correction costs accuracy")


def test_a_model_with_the_dial_macro_has_a_report(rows, model, diagnosis):
    macro = model.clone(dial="macro").fit(rows.calibration)
    content = gather(macro, rows.calibration, rows.test, diagnosis=diagnosis)
    assert dict(content.facts)["Dial"] == "macro"
    frontier = next(one for one in content.pictures if one.key == "frontier")
    assert frontier.sentence.startswith("With dial macro, the accuracy of the model is ")
    assert frontier.data["model"]["dial"] == "macro"
    assert {one["dial"] for one in frontier.data["values"]} == {round(0.1 * step, 1) for step in range(11)}


def test_a_failed_check_of_severity_error_comes_first(rows, model, diagnosis):
    # The test rows are calibration rows: RP110.
    found = gather(model, rows.calibration, rows.calibration, diagnosis=diagnosis)
    assert len(found.words.alarms) == 1
    assert found.words.alarms[0].startswith("RP110")
    assert found.checks[0].code == "RP110"


def test_other_rows_than_the_fitted_ones_are_named(rows, model):
    part = rows.calibration.take(np.arange(120))
    checked = CalibrationSet.build(ScoreSet(part.scores, part.labels, **part.optional_fields), 6)
    assert (
        "given calibration rows (120) are not the rows that the model was fitted on (500)"
        in _other_rows(model, checked)[0]
    )
    whole = CalibrationSet.build(
        ScoreSet(rows.calibration.scores, rows.calibration.labels, **rows.calibration.optional_fields), 6
    )
    assert _other_rows(model, whole) == ()


def test_very_many_rows_are_sampled_for_the_advice_and_that_is_said(rows, model, monkeypatch):
    monkeypatch.setattr("repair.report.content.MOST_CHOSEN_ON", 200)
    found = gather(model, rows.calibration, rows.test, draws=5)
    assert any("a random sample of 200 of 500 calibration rows" in one for one in found.words.sentences)
    closed = next(one for one in found.pictures if one.key == "gap_closed")
    assert closed.basis.startswith("200 calibration rows")  # the same fits as the diagnosis


def test_single_rows_add_up_and_are_of_every_kind(content, rows, model):
    examples = content.examples
    assert len(examples.rows) == 25
    assert examples.parts[:2] == ("base", "offset")
    ranking = model.rerank(rows.test.scores)
    for row in examples.rows:
        place = int(row["id"].removeprefix("id-"))
        assert [examples.names[one[0]] for one in row["candidates"]] == list(ranking.names[place])
        assert sorted(one[1] for one in row["candidates"]) == list(range(1, 7))
        for one in row["candidates"]:
            assert sum(one[3:]) == pytest.approx(one[2], abs=1e-3)
    kinds = [row["kind"] for row in examples.rows]
    assert set(kinds) == set(KINDS)
    assert kinds == sorted(kinds, key=KINDS.index)


def test_rows_are_there_only_if_asked_for_and_the_foot_says_so(content, by_folds):
    assert by_folds.examples is None
    assert by_folds.footer[0].startswith("This file contains no single rows")
    assert "ids, texts, true classes, candidates and scores of 25 of 300 test rows" in content.footer[0]
    assert "decision support" in content.footer[1]


def test_titles_replace_names_and_classes_stay_apart(rows, model, diagnosis):
    titles = dict.fromkeys(rows.names, "the same")
    found = gather(model, rows.calibration, rows.test, rows=5, class_titles=titles, diagnosis=diagnosis)
    assert set(found.classes.columns["name"]) == {"the same"}
    assert len(found.examples.names) > 1
    assert model.state.correction.table.class_names == rows.names
    assert found.words.tiles == gather(model, rows.calibration, rows.test, diagnosis=diagnosis).words.tiles


def test_another_diagnosis_is_refused(rows, model, diagnosis):
    from repair import InputError

    with pytest.raises(InputError, match="diagnosis was made on 499 rows, but calibration has 500"):
        gather(model, rows.calibration, diagnosis=replace(diagnosis, n_rows=499))


def test_a_model_from_a_file_is_shown_as_it_is_although_auto_must_choose_again(rows, tmp_path):
    first, second = (rows.calibration.take(np.arange(*ends)) for ends in ((0, 120), (120, 260)))
    Reranker("auto", n_candidates=6).fit(first.scores, first.labels, **first.optional_fields).save(
        tmp_path / "model.safetensors"
    )
    found = gather(load(tmp_path / "model.safetensors"), second, draws=5)
    assert dict(found.facts)["Calibration rows"].startswith("120, ")
    assert found.words.verdict.basis.rows == 140
    assert found.words.tiles_basis.startswith("140 calibration rows")
