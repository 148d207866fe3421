"""Every number of a report is of rows that the model behind it was not fitted on."""

import numpy as np
import pytest

from repair import Base, Reranker, ScoreSet, evaluate, head_tail_frontier
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis import NotApplicable
from repair.evaluation.cross_fitting import cross_fit
from repair.report.evidence import on_held_out_rows, on_test_rows


@pytest.fixture(scope="module")
def checked(rows):
    given = rows.calibration
    return CalibrationSet.build(ScoreSet(given.scores, given.labels, **given.optional_fields), 6)


@pytest.fixture(scope="module")
def on_test(rows, model):
    shortlist = model.shortlist(rows.test.scores)
    return on_test_rows(model, shortlist, np.asarray(rows.test.labels, dtype=np.int32), None, None)


def test_test_rows_are_judged_as_evaluate_does(rows, model, on_test):
    found = evaluate(model.rerank(rows.test.scores), rows.test.labels, rows.counts)
    assert on_test.hits_after.tolist() == found.rows["hit@1"].tolist()
    assert on_test.rare.tolist() == found.rows["rare"].tolist()
    everyone = np.ones(len(on_test), dtype=bool)
    assert on_test.mean(on_test.hits_after, everyone) == pytest.approx(found.unconditional["hit@1"])
    difference = on_test.hits_after.mean() - on_test.hits_before.mean()
    assert on_test.gain(everyone).gain == pytest.approx(difference)


def test_the_frontier_is_that_of_the_library(rows, model, on_test):
    dials = np.array([0.0, 0.5, 1.0])
    ours = on_test.frontier(dials)
    theirs = head_tail_frontier(model, rows.test.scores, rows.test.labels, dials=dials)
    for name in ("rare", "frequent", "accuracy", "macro"):
        assert ours.values[name] == pytest.approx(theirs.values[name])
        assert ours.errors[name] == pytest.approx(theirs.errors[name])


def cross_fitted(model, rows, dial):
    found = cross_fit(model, rows)
    return found if isinstance(found, NotApplicable) else on_held_out_rows(model, rows, found, dial)


def test_no_model_has_seen_the_rows_that_it_judges(model, checked):
    found = cross_fitted(model, checked, None)
    assert sorted(np.concatenate([part.rows for part in found.parts]).tolist()) == list(range(len(checked.labels)))
    for part in found.parts:
        left_out = np.setdiff1d(np.arange(len(checked.labels)), part.rows)
        again = model.clone().fit_checked(checked.take(left_out))
        assert part.model.offsets_ == pytest.approx(again.offsets_, abs=1e-9)


def test_noise_gains_nothing_although_it_does_in_sample(noise):
    checked = CalibrationSet.build(ScoreSet(noise.scores, noise.labels, groups=noise.groups), 12)
    model = Reranker("classwise", n_candidates=12, lambda_a=1e-6).fit_checked(checked)
    in_sample = on_test_rows(model, checked.shortlist, checked.labels, checked.groups, None)
    everyone = np.ones(len(noise), dtype=bool)
    assert in_sample.gain(everyone).interval()[0] > 0
    found = cross_fitted(model, checked, None)
    assert found.gain(everyone).interval()[0] < 0
    for part in found.parts:
        inside = np.isin(np.arange(len(noise)), part.rows)
        assert not set(checked.groups[inside]) & set(checked.groups[~inside])


def test_auto_shows_the_nested_gain_that_it_reports(rows):
    given = rows.calibration.take(np.arange(200))
    checked = CalibrationSet.build(ScoreSet(given.scores, given.labels, **given.optional_fields), 6)
    model = Reranker("auto", n_candidates=6).fit_checked(checked)
    found = cross_fitted(model, checked, None)
    assert found.gain(np.ones(200, dtype=bool)) == model.auto_.gain


def test_a_dial_is_applied_to_every_copy(model, checked):
    plain, turned = (cross_fitted(model, checked, dial) for dial in (None, 1.0))
    assert turned.mean(turned.hits_after, turned.rare) > plain.mean(plain.hits_after, plain.rare)


def test_too_few_rows_are_a_reason_and_not_an_error():
    rows = ScoreSet(np.eye(4).repeat(5, axis=0), np.arange(4).repeat(5))
    checked = CalibrationSet.build(ScoreSet(rows.scores, rows.labels), 3)
    found = cross_fitted(Base(3).fit_checked(checked), checked, None)
    assert isinstance(found, NotApplicable)
    assert "20 covered rows" in found.reason


@pytest.mark.parametrize("mode", ["extended", "auto"])
def test_an_extended_model_is_judged_by_copies_with_lists_and_vectors_of_their_own(make_problem, make_vectors, mode):
    made = make_problem(n=300)
    scores = made.scores + np.log(made.class_counts + 1)
    rows = CalibrationSet.build(
        ScoreSet(scores, made.labels, class_counts=made.class_counts, embeddings=make_vectors(made.labels)), 4
    )
    model = Reranker(mode, n_candidates=4).fit_checked(rows)
    assert model.mode_ == "extended"
    evidence = cross_fitted(model, rows, None)
    assert evidence.shortlist.coverage(made.labels) > rows.shortlist.coverage(made.labels)
    assert (evidence.hits_before == (rows.positions == 0)).all()
    gain = evidence.gain(np.ones(300, dtype=bool))
    assert gain.interval()[0] > 0.1
    if mode == "auto":
        assert gain.gain == pytest.approx(model.auto_.gain.gain, abs=0.05)
    after = evidence.beliefs()[1]
    assert ((after > 0) & (after <= 1)).all()


def test_probabilities_refer_to_all_candidates_that_were_ranked(make_problem, make_vectors):
    """Those of the candidates that are returned alone would be too large, and 1 if there is only one."""
    made = make_problem(n=150)
    vectors = make_vectors(made.labels)
    rows = ScoreSet(made.scores, made.labels, class_counts=made.class_counts, embeddings=vectors)
    model = Reranker("extended", n_candidates=2).fit(rows)
    shortlist = model.shortlist(made.scores, vectors)
    first = on_test_rows(model, shortlist, made.labels, None, None).beliefs()[1]
    final = model.final_scores(shortlist)
    np.testing.assert_allclose(first, 1.0 / np.exp(final - final.max(axis=1, keepdims=True)).sum(axis=1), rtol=1e-9)
    assert (first < model.rerank(made.scores, embeddings=vectors).probabilities[:, 0]).any()
