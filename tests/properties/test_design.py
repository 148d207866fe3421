"""The collapsed design and the objective are compared with their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair import ScoreSet, Shortlist
from repair.data.class_table import ClassTable
from repair.fitting.conditional_logit import ConditionalLogit, Penalty
from repair.similarity import as_similarity
from repair.terms.registry import PAPER_TERMS, choose_fixed_terms, term_named
from repair.terms.view import CandidateView


def random_view(seed, tau):
    rng = np.random.default_rng(seed)
    n_classes, n, k = 11, 30, 6
    ids = np.array([rng.permutation(n_classes)[:k] for _ in range(n)])
    ids[np.arange(k) >= rng.integers(0, k + 1, size=n)[:, None]] = -1
    shortlist = Shortlist.from_candidates(ids, rng.normal(size=(n, k)) * 5, n_classes)
    table = ClassTable(
        n_classes,
        class_counts=rng.integers(0, 50, n_classes).astype(float) + (np.arange(n_classes) == 0),
        similarity=as_similarity(rng.normal(size=(n_classes, n_classes)), n_classes),
    )
    return CandidateView(shortlist, table, tau)


def explicit_average(view, name):
    """Return the paper's average over rivals, computed pair by pair."""
    shortlist, table = view.shortlist, view.table
    prior = np.maximum(table.class_counts / table.class_counts.sum(), 1e-8)
    result = np.zeros(shortlist.ids.shape)
    for row in range(len(shortlist)):
        ids = [int(i) for i in shortlist.ids[row] if i >= 0]
        g = {y: shortlist.scores[row, p] - view.tau * np.log(prior[y]) for p, y in enumerate(ids)}
        ranked = sorted(ids, key=lambda y: (-g[y], ids.index(y)))
        mass = {y: np.exp(g[y] - max(g.values())) for y in ids}
        for position, y in enumerate(ids):
            values = []
            for j in ids:
                if j == y:
                    continue
                pair = {
                    "score_gap": g[y] - g[j],
                    "rank_gap": ranked.index(j) - ranked.index(y),
                    "log_prob_ratio": np.log(mass[y] / mass[j]),
                    "similarity": table.similarity.table[y, j],
                    "log_freq_ratio": np.log((table.class_counts[y] + 1) / (table.class_counts[j] + 1)),
                }
                values.append(pair[name])
            result[row, position] = np.mean(values) if values else 0.0
    return result


@pytest.mark.parametrize("name", PAPER_TERMS)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, -0.5]))
def test_collapsed_columns_equal_the_explicit_average_over_rivals(name, seed, tau):
    view = random_view(seed, tau)
    np.testing.assert_allclose(term_named(name).column(view), explicit_average(view, name), atol=1e-10, rtol=0)


def test_two_equal_columns_with_a_penalty_each_are_one_with_half(problem):
    """score_gap and log_prob_ratio fitted as one term give the scores of the fit with two columns."""
    from repair import Reranker
    from repair.data.calibration_set import CalibrationSet
    from repair.fitting.fit import fit_design
    from repair.fitting.problem import Problem
    from repair.fitting.settings import FitSettings
    from repair.model.adjustments import Adjustments
    from repair.model.correction import Correction

    calibration = CalibrationSet.build(ScoreSet(problem.scores, problem.labels, **problem.optional_fields), problem.k)
    two = (term_named("score_gap"), term_named("log_prob_ratio"), term_named("rank_gap"))
    separate = fit_design(Problem.fixed(calibration, two).design, FitSettings(True, 0.01, 0.02, tol=1e-11))
    merged = Reranker(
        "pairwise",
        n_candidates=problem.k,
        terms=("score_gap", "log_prob_ratio", "rank_gap"),
        lambda_a=0.01,
        lambda_theta=0.02,
        tol=1e-11,
    ).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert separate.weights[0] == pytest.approx(separate.weights[1], abs=1e-9)
    assert merged.weights_["score_gap"] == pytest.approx(separate.weights[:2].sum(), abs=1e-8)
    assert merged.objective_ == pytest.approx(separate.solution.value, abs=1e-12)
    scores = Correction(calibration.table, 0.0, separate.offsets, two, separate.weights).scores(
        calibration.shortlist, Adjustments()
    )
    ours = merged.rerank(calibration.shortlist)
    np.testing.assert_allclose(ours.scores, np.take_along_axis(scores, ours.order, axis=1), atol=1e-7)
    assert any("same column" in note for note in merged.fit_summary_.notes)


def random_logit(seed, with_offsets=True):
    rng = np.random.default_rng(seed)
    view = random_view(seed, 0.3)
    kept = view.shortlist.take(view.lengths > 0)
    view = CandidateView(kept, view.table, 0.3)
    columns = np.stack([term.column(view) for term in choose_fixed_terms(None, view.table)], axis=2)
    n_offsets = view.table.n_classes if with_offsets else 0
    weights = rng.random(len(kept))
    size = n_offsets + columns.shape[2]
    return ConditionalLogit(
        view.scores,
        view.safe_ids if with_offsets else np.zeros_like(view.safe_ids),
        columns,
        kept.lengths,
        (rng.random(len(kept)) * kept.lengths).astype(np.int32),
        weights / weights.sum(),
        n_offsets,
        Penalty(rng.random(size) * 0.1, rng.normal(size=size)),
    ), rng.normal(size=(2, size))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_gradient_and_hessian_products_match_finite_differences(seed, with_offsets):
    logit, (point, direction) = random_logit(seed, with_offsets)
    step = 1e-6
    _, gradient = logit.value_and_gradient(point)
    product = logit.hessian_product(direction)
    above_value, above = logit.value_and_gradient(point + step * direction)
    below_value, below = logit.value_and_gradient(point - step * direction)
    slope = (above_value - below_value) / (2 * step)
    assert gradient @ direction == pytest.approx(slope, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose(product, (above - below) / (2 * step), rtol=1e-4, atol=1e-6)


def test_a_point_that_was_evaluated_last_is_not_evaluated_again():
    logit, (point, other) = random_logit(3)
    value, _ = logit.value_and_gradient(point)
    curvature = logit.curvature()
    logit.penalty = Penalty(2 * logit.penalty.strength, logit.penalty.centre)  # only the penalty changes
    again, new_gradient = logit.value_and_gradient(point.copy())
    assert logit.curvature()[0] is curvature[0]
    fresh, _ = random_logit(3)
    fresh.penalty = logit.penalty
    expected = fresh.value_and_gradient(point)
    assert again == expected[0] != value
    assert np.array_equal(new_gradient, expected[1])
    logit.value_and_gradient(other)
    assert logit.curvature()[0] is not curvature[0]
    assert logit.value_and_gradient(point)[0] == again
    point += 1.0  # the point is copied, so changing it is noticed
    assert logit.value_and_gradient(point)[0] != again


@given(st.integers(0, 2**32 - 1))
def test_the_hessian_is_positive_and_its_diagonal_is_the_curvature(seed):
    logit, (point, direction) = random_logit(seed)
    logit.value_and_gradient(point)
    assert direction @ logit.hessian_product(direction) > 0
    hessian = np.array([logit.hessian_product(unit) for unit in np.eye(logit.size)])
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    diagonal, block = logit.curvature()
    loss = hessian - np.diag(2 * logit.penalty.strength)
    n = logit.n_offsets
    np.testing.assert_allclose(np.diag(loss)[:n], diagonal, atol=1e-12)
    np.testing.assert_allclose(loss[n:, n:], block, atol=1e-12)
    np.testing.assert_allclose(logit.offset_curvature(), diagonal, atol=1e-15)
    _, _, cross = logit._all_curvature()
    np.testing.assert_allclose(loss[:n, n:], cross, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_the_curvature_of_the_offsets_alone_equals_that_of_the_full_computation(seed):
    logit, (point, _) = random_logit(seed)
    logit.value_and_gradient(point)
    alone = logit.offset_curvature()  # nothing else has been computed yet
    np.testing.assert_allclose(alone, logit.curvature()[0], atol=1e-15)
