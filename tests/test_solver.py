import numpy as np
import pytest

from repair import ConvergenceWarning, Reranker, Shortlist
from repair.calibration import CalibrationSet
from repair.fit_problem import PILOT_SHARE
from repair.fitting import FitSettings, fit_correction
from repair.terms import choose_terms


def test_agrees_with_scipy_on_the_same_objective(problem):
    """An independent optimiser on an independently written loss."""
    from scipy.optimize import minimize

    calibration = CalibrationSet.build(problem.scores, problem.labels, problem.k, **problem.known)
    terms = choose_terms(("score_gap", "similarity", "log_freq_ratio"), calibration.table)
    ours = fit_correction(calibration, terms, FitSettings(True, 0.01, 0.02))

    from repair.candidates import CandidateView

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
    model = Reranker(problem.k).fit(problem.scores, problem.labels, **problem.known)
    assert model.converged_
    assert model.gradient_norm_ <= 1e-8
    assert 0 <= model.account_.iterations <= 15  # of the last fit; those before it may have got there
    given = Reranker(problem.k, lambda_a=1e-3, lambda_theta=1e-3).fit(problem.scores, problem.labels, **problem.known)
    assert 1 <= given.account_.iterations <= 15


def test_stopping_early_warns_and_says_so(problem):
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 iterations with a gradient norm of"):
        # With given penalties: their search fits many times, and one iteration may suffice for the last.
        model = Reranker(problem.k, lambda_a=1e-3, max_iterations=1).fit(
            problem.scores, problem.labels, **problem.known
        )
    assert not model.converged_
    assert model.gradient_norm_ > 1e-8


def test_an_unreachable_tolerance_is_reported_not_looped_on(problem):
    with pytest.warns(ConvergenceWarning):
        model = Reranker(problem.k, tol=1e-300).fit(problem.scores, problem.labels, **problem.known)
    assert model.gradient_norm_ < 1e-12


def test_perfectly_separable_labels_stay_finite():
    scores = np.eye(6).repeat(5, axis=0) * 50
    labels = np.arange(6).repeat(5)
    model = Reranker(4, "pairwise", terms=("score_gap", "rank_gap")).fit(scores, labels)
    assert model.converged_
    assert np.isfinite(model.offsets_).all()


def test_huge_score_gaps_converge():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 8, size=200)
    scores = rng.normal(size=(200, 8)) * 1e4
    model = Reranker(5, "classwise").fit(scores, labels)
    assert model.converged_


@pytest.mark.parametrize("mode", ["classwise", "pairwise", "pairwise_only"])
def test_every_start_ends_at_the_same_place(problem, mode):
    """Convexity: a fit does not depend on which rows come first."""
    order = np.random.default_rng(0).permutation(len(problem.labels))
    one = Reranker(problem.k, mode, tol=1e-10).fit(problem.scores, problem.labels, **problem.known)
    other = Reranker(problem.k, mode, tol=1e-10).fit(problem.scores[order], problem.labels[order], **problem.known)
    # But for a common constant: it changes no probability, and nothing else determines it.
    np.testing.assert_allclose(*(fit.offsets_ - fit.offsets_.mean() for fit in (one, other)), atol=1e-8)


@pytest.mark.parametrize("mode", ["classwise", "pairwise"])
def test_a_pilot_on_some_rows_spares_iterations_and_changes_nothing(make_problem, monkeypatch, mode):
    problem = make_problem(n=3000)
    order = np.argsort(problem.labels)  # the worst case for a pilot that took the first rows
    fits = []
    for fewest in (10**9, 100):
        monkeypatch.setattr("repair.fit_problem.FEWEST_PILOTS", fewest)
        fits.append(
            Reranker(problem.k, mode, lambda_a=0.001, lambda_theta=0.001).fit(
                problem.scores[order], problem.labels[order], **problem.known
            )
        )
    cold, piloted = fits
    assert piloted.account_.iterations < cold.account_.iterations
    assert piloted.objective_ == pytest.approx(cold.objective_, abs=1e-13)
    np.testing.assert_allclose(piloted.offsets_, cold.offsets_, atol=1e-5)


def test_a_pilot_without_weight_is_left_out(make_problem, monkeypatch):
    monkeypatch.setattr("repair.fit_problem.FEWEST_PILOTS", 10)
    problem = make_problem(n=400)
    covered = Shortlist.from_scores(problem.scores, problem.k).positions(problem.labels) >= 0
    weights = ((np.cumsum(covered) - 1) % PILOT_SHARE != 0).astype(float)  # the pilot's rows are those without
    model = Reranker(problem.k, lambda_a=0.01, lambda_theta=0.01)
    fitted = model.fit(problem.scores, problem.labels, sample_weight=weights, **problem.known)
    assert fitted.converged_


@pytest.mark.parametrize("seed", range(12))
def test_scores_in_the_millions_are_fitted_to_the_tolerance_although_values_are_noisy(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 8, size=300)
    scores = rng.normal(size=(300, 8)) + 2.0 * np.eye(8)[labels]
    model = Reranker(4, terms=("score_gap", "rank_gap")).fit(1e6 * scores, labels)
    assert model.converged_
