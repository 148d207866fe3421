"""The statements of the paper, checked on simulated problems with known posteriors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from repair import Ranking, Reranker, Shortlist, evaluate
from repair.evaluation.metrics import covered, hit_rate

seeds = st.integers(0, 2**32 - 1)
innocent_context = st.tuples(st.integers(0, 4), st.integers(0, 4), st.floats(-9, -8))


def log_softmax(scores):
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def posterior_problem(seed, n=60, n_classes=7, k=4):
    """Return random posteriors P(y|x), the shortlist of random base scores, and the posteriors on it."""
    rng = np.random.default_rng(seed)
    log_posterior = log_softmax(rng.normal(size=(n, n_classes)) * 1.5)
    shortlist = Shortlist.from_scores(log_posterior + rng.normal(size=(n, n_classes)), k)
    restricted = np.take_along_axis(np.exp(log_posterior), shortlist.ids, axis=1)
    return np.exp(log_posterior), shortlist, restricted


@given(seeds)
def test_class_separable_residual_is_undone_exactly_by_the_right_offsets(seed):
    """Proposition: if s* = g + a + c(x), then g + a induces the Bayes order."""
    rng = np.random.default_rng(seed)
    log_posterior = log_softmax(rng.normal(size=(80, 9)))
    offsets, shift = rng.normal(size=9), rng.normal(size=(80, 1))
    shortlist = Shortlist.from_scores(log_posterior - offsets - shift, 5)
    ranking = Ranking.from_scores(shortlist, shortlist.scores + offsets[shortlist.ids])
    truth = Ranking.from_scores(shortlist, np.take_along_axis(log_posterior, shortlist.ids, axis=1))
    assert (ranking.ids == truth.ids).all()


def test_classwise_fit_recovers_the_bayes_order_of_a_class_separable_problem():
    """With the full posterior as (soft) labels the fitted offsets are the true ones, up to a constant."""
    rng = np.random.default_rng(5)
    log_posterior = log_softmax(rng.normal(size=(400, 6)) * 1.5)
    offsets = rng.normal(size=6)
    scores = log_posterior - offsets
    # Each row occurs once per class, weighted by its posterior, so the sample equals the distribution.
    rows, classes = np.repeat(np.arange(400), 6), np.tile(np.arange(6), 400)
    model = Reranker("classwise", n_candidates=6, lambda_a=1e-9, tol=1e-11).fit(
        scores[rows], classes, sample_weight=np.exp(log_posterior)[rows, classes]
    )
    difference = model.offsets_ - offsets
    assert np.ptp(difference) < 1e-4
    truth = Ranking.from_scores(
        Shortlist.from_scores(scores, 6),
        np.take_along_axis(log_posterior, Shortlist.from_scores(scores, 6).ids, axis=1),
    )
    assert (model.rerank(scores).ids == truth.ids).all()


def offsets_that_agree(contexts, n_classes):
    """Search for offsets with a_u − a_v ≥ t + margin for every context (u above v with threshold t)."""
    rows = []
    for u, v, _ in contexts:
        row = np.zeros(n_classes)
        row[u], row[v] = -1.0, 1.0
        rows.append(row)
    limits = [-threshold - 1e-6 for _, _, threshold in contexts]
    return linprog(np.zeros(n_classes), A_ub=np.array(rows), b_ub=limits, bounds=[(None, None)] * n_classes)


@given(st.floats(-5, 5), st.floats(0, 3), st.lists(innocent_context, max_size=4))
def test_a_contradictory_pair_defeats_every_offset_vector(threshold, crossing, others):
    """Theorem: this holds if u is above v at x, v is above u at x', and t(x) ≥ t(x')."""
    innocent = [(u, v, t) for u, v, t in others if u < v]
    first = (0, 1, threshold)  # u=0 must beat v=1 although v leads by `threshold`
    second = (1, 0, -(threshold - crossing))  # and lose where v leads by no more than that
    assert offsets_that_agree([*innocent, first, second], 5).status == 2  # infeasible


@given(st.floats(-5, 5), st.floats(0.01, 3), st.floats(0, 50))
def test_large_variance_without_a_crossing_stays_correctable(threshold, room, spread):
    """u is right whenever v leads by at most `threshold`, and v if it leads by more, so one cut is enough."""
    below = [(0, 1, threshold - share * spread) for share in (0.0, 0.3, 1.0)]
    above = [(1, 0, -(threshold + room + share * spread)) for share in (0.0, 0.5, 1.0)]
    solution = offsets_that_agree(below + above, 2)
    assert solution.status == 0
    assert threshold < solution.x[0] - solution.x[1] < threshold + room


@given(seeds)
def test_restricted_posterior_identity(seed):
    posterior, shortlist, restricted = posterior_problem(seed)
    coverage = restricted.sum(axis=1, keepdims=True)
    ratio = np.log(restricted / coverage) - np.log(np.take_along_axis(posterior, shortlist.ids, axis=1))
    np.testing.assert_allclose(ratio, np.broadcast_to(-np.log(coverage), ratio.shape), atol=1e-12)


@given(seeds)
def test_bayes_rule_excess_risk_identity_and_plug_in_bound(seed):
    """The expected accuracy over the label is computed exactly, so these (in)equalities are not estimates."""
    rng = np.random.default_rng(seed)
    _, shortlist, restricted = posterior_problem(seed)
    coverage = restricted.sum(axis=1)
    conditional = restricted / coverage[:, None]
    weight = coverage / coverage.sum()  # P(x | C) for x uniform on the rows
    estimate = log_softmax(np.log(conditional) + rng.normal(size=conditional.shape))

    def accuracy_given_coverage(scores):
        ranking = Ranking.from_scores(shortlist, scores)
        return weight @ np.take_along_axis(conditional, ranking.order[:, :1], axis=1)[:, 0]

    best = accuracy_given_coverage(np.log(conditional))
    for rule in (estimate, shortlist.scores, rng.normal(size=conditional.shape)):
        assert accuracy_given_coverage(rule) <= best + 1e-12
    plug = Ranking.from_scores(shortlist, estimate)
    chosen = np.take_along_axis(conditional, plug.order[:, :1], axis=1)[:, 0]
    excess = best - accuracy_given_coverage(estimate)
    assert excess == pytest.approx(weight @ (conditional.max(axis=1) - chosen), abs=1e-12)
    assert excess <= 2 * weight @ np.abs(np.exp(estimate) - conditional).sum(axis=1) + 1e-12


@given(seeds)
def test_accuracy_never_exceeds_recall(seed):
    rng = np.random.default_rng(seed)
    shortlist = Shortlist.from_scores(rng.normal(size=(50, 8)), 3)
    labels = rng.integers(-1, 8, size=50)
    for scores in (rng.normal(size=(50, 3)), np.full((50, 3), np.nan)):
        ranking = Ranking.from_scores(shortlist, scores)
        assert (hit_rate(ranking, labels) <= covered(ranking, labels)).all()


@given(seeds)
def test_both_forms_of_gap_closure_agree(seed):
    rng = np.random.default_rng(seed)
    shortlist = Shortlist.from_scores(rng.normal(size=(60, 8)), 4)
    labels = rng.integers(0, 8, size=60)
    result = evaluate(Ranking.from_scores(shortlist, rng.normal(size=(60, 4))), labels)
    assert result.conditional["gap_closure"] == pytest.approx(result.unconditional["gap_closure"], abs=1e-12)


@pytest.mark.parametrize("mode", ["classwise", "pairwise", "pairwise_only"])
def test_infinite_penalty_returns_the_base_order(problem, mode):
    model = Reranker(mode, n_candidates=problem.k, lambda_a=1e12, lambda_theta=1e12).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    assert (model.rerank(problem.scores).order == np.arange(problem.k)).all()


def test_weighted_risk_is_minimised_by_adding_log_weights():
    """This is the paper's weighted variant, computed exactly on a known posterior."""
    rng = np.random.default_rng(3)
    _, shortlist, restricted = posterior_problem(3, n=200)
    weights = rng.random(7) * 5 + 0.1
    gain = restricted * weights[shortlist.ids]

    def weighted_accuracy(scores):
        order = Ranking.from_scores(shortlist, scores).order
        return np.take_along_axis(gain, order[:, :1], axis=1).sum()

    best = weighted_accuracy(np.log(restricted) + np.log(weights)[shortlist.ids])
    assert best == pytest.approx(gain.max(axis=1).sum())
    assert weighted_accuracy(np.log(restricted)) < best
