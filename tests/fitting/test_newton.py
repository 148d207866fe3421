import numpy as np
import pytest

from repair import ConvergenceWarning, Reranker, ScoreSet, Shortlist
from repair.data.calibration_set import CalibrationSet
from repair.fitting.fit import fit_design
from repair.fitting.penalised_logit import PILOT_SHARE
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings
from repair.terms.registry import choose_fixed_terms


def test_agrees_with_scipy_on_the_same_objective(problem):
    """Compare with an independent optimiser on an independently written loss."""
    from scipy.optimize import minimize

    calibration = CalibrationSet.build(ScoreSet(problem.scores, problem.labels, **problem.optional_fields), problem.k)
    terms = choose_fixed_terms(("score_gap", "similarity", "log_freq_ratio"), calibration.table)
    ours = fit_design(Problem.fixed(calibration, terms).design, FitSettings(True, 0.01, 0.02))

    from repair.terms.view import CandidateView

    covered = calibration.shortlist.take(calibration.covered)
    view = CandidateView(covered, calibration.table)
    columns = np.stack([term.column(view) for term in terms], axis=2)
    target = calibration.positions[calibration.covered]
    n_classes = calibration.table.n_classes

    def loss(parameters):
        scores = covered.scores + parameters[:n_classes][covered.ids] + columns @ parameters[n_classes:]
        log_share = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        data = -log_share[np.arange(len(target)), target].mean()
        return data + 0.01 * (parameters[:n_classes] ** 2).sum() + 0.02 * (parameters[n_classes:] ** 2).sum()

    theirs = minimize(loss, np.zeros(n_classes + 3), method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-14})
    assert ours.solution.value <= theirs.fun + 1e-9
    np.testing.assert_allclose(ours.offsets, theirs.x[:n_classes], atol=2e-4)
    np.testing.assert_allclose(ours.weights, theirs.x[n_classes:], atol=2e-4)


def test_reports_iterations_gradient_norm_and_convergence(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert model.converged_
    assert model.gradient_norm_ <= 1e-8
    assert 0 <= model.fit_summary_.iterations <= 15  # of the last fit, which may start at the solution
    fixed = Reranker("pairwise", n_candidates=problem.k, lambda_a=1e-3, lambda_theta=1e-3).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    assert 1 <= fixed.fit_summary_.iterations <= 15


def test_stopping_early_warns_and_is_reported(problem):
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 iterations with a gradient norm of"):
        # Use fixed penalties, because a search for penalties fits many times, and the last fit may need one iteration.
        model = Reranker("pairwise", n_candidates=problem.k, lambda_a=1e-3, max_iter=1).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )
    assert not model.converged_
    assert model.gradient_norm_ > 1e-8


def test_an_unreachable_tolerance_is_reported_instead_of_looping(problem):
    with pytest.warns(ConvergenceWarning):
        model = Reranker("pairwise", n_candidates=problem.k, tol=1e-300).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )
    assert model.gradient_norm_ < 1e-12


def test_perfectly_separable_labels_stay_finite():
    scores = np.eye(6).repeat(5, axis=0) * 50
    labels = np.arange(6).repeat(5)
    model = Reranker("pairwise", n_candidates=4, terms=("score_gap", "rank_gap")).fit(scores, labels)
    assert model.converged_
    assert np.isfinite(model.offsets_).all()


def test_huge_score_gaps_converge():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, size=200)
    scores = rng.normal(size=(200, 8)) * 1e4
    model = Reranker("classwise", n_candidates=5).fit(scores, labels)
    assert model.converged_


@pytest.mark.parametrize("mode", ["classwise", "pairwise", "pairwise_only"])
def test_the_order_of_rows_does_not_change_the_solution(problem, mode):
    """The objective is convex, so the fit does not depend on which rows come first."""
    order = np.random.default_rng(0).permutation(len(problem.labels))
    one = Reranker(mode, n_candidates=problem.k, tol=1e-10).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    other = Reranker(mode, n_candidates=problem.k, tol=1e-10).fit(
        problem.scores[order], problem.labels[order], **problem.optional_fields
    )
    # Except for a common constant, which is not determined because it does not change the probabilities.
    np.testing.assert_allclose(*(fit.offsets_ - fit.offsets_.mean() for fit in (one, other)), atol=1e-8)


@pytest.mark.parametrize("mode", ["classwise", "pairwise"])
def test_a_pilot_on_some_rows_saves_iterations_and_does_not_change_the_solution(make_problem, monkeypatch, mode):
    problem = make_problem(n=3000)
    order = np.argsort(problem.labels)  # the worst case if the pilot used the first rows
    fits = []
    for fewest in (10**9, 100):
        monkeypatch.setattr("repair.fitting.penalised_logit.FEWEST_PILOTS", fewest)
        fits.append(
            Reranker(mode, n_candidates=problem.k, lambda_a=0.001, lambda_theta=0.001).fit(
                problem.scores[order], problem.labels[order], **problem.optional_fields
            )
        )
    cold, piloted = fits
    assert piloted.fit_summary_.iterations < cold.fit_summary_.iterations
    assert piloted.objective_ == pytest.approx(cold.objective_, abs=1e-13)
    np.testing.assert_allclose(piloted.offsets_, cold.offsets_, atol=1e-5)


def test_a_pilot_without_weight_is_skipped(make_problem, monkeypatch):
    monkeypatch.setattr("repair.fitting.penalised_logit.FEWEST_PILOTS", 10)
    problem = make_problem(n=400)
    covered = Shortlist.from_scores(problem.scores, problem.k).positions(problem.labels) >= 0
    weights = ((np.cumsum(covered) - 1) % PILOT_SHARE != 0).astype(float)  # all rows of the pilot have weight 0
    model = Reranker("pairwise", n_candidates=problem.k, lambda_a=0.01, lambda_theta=0.01)
    fitted = model.fit(problem.scores, problem.labels, sample_weight=weights, **problem.optional_fields)
    assert fitted.converged_


@pytest.mark.parametrize("seed", range(12))
def test_scores_in_the_millions_are_fitted_to_the_tolerance_in_spite_of_rounding(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, size=300)
    scores = rng.normal(size=(300, 8)) + 2.0 * np.eye(8)[labels]
    model = Reranker("pairwise", n_candidates=4, terms=("score_gap", "rank_gap")).fit(1e6 * scores, labels)
    assert model.converged_
