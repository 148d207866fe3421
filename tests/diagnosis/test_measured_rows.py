import numpy as np
import pytest

from repair import Base, LogitAdjustment, Reranker, ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis import NotApplicable
from repair.diagnosis.measured_rows import MeasuredRows
from repair.evaluation.cross_fitting import cross_fit
from repair.stats.folds import group_folds


def build(problem, groups=None, **known):
    return CalibrationSet.build(ScoreSet(problem.scores, problem.labels, groups=groups, **known), problem.k)


def fitted_gain(model, calibration, **options):
    return measured(cross_fit(model, calibration, **options), calibration).overall().gain


def measured(copies, calibration):
    return MeasuredRows.held_out(calibration, copies.hits(calibration.labels))


def test_base_gains_nothing(problem):
    gain = fitted_gain(Base(problem.k), build(problem))
    assert (gain.gain, gain.error) == (0.0, 0.0)


def test_the_gain_is_that_of_fits_on_the_other_folds(problem):
    calibration = build(problem, class_counts=problem.class_counts)
    folds = group_folds(len(problem.labels), None, 5, 3)
    hits = np.zeros(len(folds))
    for fold in range(5):
        train, test = folds != fold, folds == fold
        model = LogitAdjustment(problem.k)
        model.fit(problem.scores[train], problem.labels[train], class_counts=problem.class_counts)
        hits[test] = model.predict(problem.scores[test]) == problem.labels[test]
    expected = hits - (problem.scores.argmax(axis=1) == problem.labels)
    found = fitted_gain(LogitAdjustment(problem.k), calibration, random_state=3)
    assert found.gain == pytest.approx(expected.mean())


def test_macro_is_the_gain_averaged_over_classes(problem):
    calibration = build(problem, class_counts=problem.class_counts)
    found = cross_fit(Reranker("classwise"), calibration)
    difference = found.hits(problem.labels) - (calibration.positions == 0)
    by_class = [difference[problem.labels == one].mean() for one in np.unique(problem.labels)]
    assert measured(found, calibration).macro().gain.gain == pytest.approx(np.mean(by_class))


def test_copies_in_one_group_are_never_on_both_sides(problem):
    # Each row twice, as one group: the folds split originals, so nothing changes but the count.
    twice = CalibrationSet.build(
        ScoreSet(problem.scores.repeat(2, axis=0), problem.labels.repeat(2), groups=np.arange(300).repeat(2)), problem.k
    )
    gain = fitted_gain(Reranker("classwise", n_candidates=problem.k, lambda_a=1e-3), twice)
    assert gain.freedom == 299


def test_strata_add_up(problem):
    calibration = build(problem, class_counts=problem.class_counts)
    copies = cross_fit(Reranker("classwise", n_candidates=problem.k, lambda_a=1e-3), calibration)
    rows = measured(copies, calibration)
    rare, frequent = rows.by_stratum()
    assert rare.rows == np.isin(problem.labels, np.argsort(problem.class_counts, kind="stable")[:16]).sum()
    overall = rows.overall()
    together = (rare.rows * rare.gain.gain + frequent.rows * frequent.gain.gain) / overall.rows
    assert overall.gain.gain == pytest.approx(together)
    before = (problem.scores.argmax(axis=1) == problem.labels).mean()
    assert overall.before == pytest.approx(before)
    assert overall.after == pytest.approx(copies.hits(problem.labels).mean())


def test_the_model_itself_is_left_alone(problem):
    model = Reranker("classwise", n_candidates=problem.k, lambda_a=1e-3).fit(problem.scores, problem.labels)
    state = model._state
    fitted_gain(model, build(problem))
    assert model._state is state


def test_too_few_rows(make_problem):
    few = make_problem(n=40)
    assert isinstance(cross_fit(Base(few.k), build(few)), NotApplicable)
