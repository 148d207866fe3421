import warnings

import numpy as np
import pytest

from repair import ConvergenceWarning, InputError, Reranker, Shortlist, ShrinkageOptions
from repair.fitting.shrinkage import frequency_groups, next_variances, paper_shrinkage
from repair.fitting.variance_search import VarianceSearch


def test_paper_formula_by_hand():
    """Check ã = â(1 + precision/J), σ² = 1/J, and λ = σ²/(σ²+ν²) towards the group mean."""
    offsets, information = np.array([1.0, -2.0, 0.5, 3.0]), np.array([4.0, 9.0, 1.0, 2.0])
    shrunk, shrinkage = paper_shrinkage(offsets, information, 2.0, np.zeros(4, dtype=np.int32))
    raw = offsets * (1 + 2.0 / information)
    mean, variance = shrinkage.prior.means[0], shrinkage.prior.variances[0]
    noise = 1 / information
    weights = 1 / (noise + variance)
    assert mean == pytest.approx(weights @ raw / weights.sum())
    assert ((raw - mean) ** 2 / (noise + variance)).sum() == pytest.approx(3)  # Paule–Mandel's condition
    np.testing.assert_allclose(shrinkage.factors, noise / (noise + variance))
    np.testing.assert_allclose(shrunk, (1 - shrinkage.factors) * raw + shrinkage.factors * mean)


def test_paper_formula_keeps_certain_offsets_and_shrinks_uncertain_ones():
    offsets = np.array([1.0, 1.0, -1.0, -1.0])
    information = np.array([1000.0, 0.5, 1000.0, 0.0])
    shrunk, shrinkage = paper_shrinkage(offsets, information, 0.0, np.zeros(4, dtype=np.int32))
    assert abs(shrunk[0] - 1.0) < 0.01
    assert abs(shrunk[1] - shrinkage.prior.means[0]) < 0.7
    assert shrunk[3] == shrinkage.prior.means[0]
    assert shrinkage.factors[3] == 1.0


@pytest.mark.parametrize("secant", [False, True])
def test_variances_have_the_fixed_point_of_em(secant):
    """The fixed point satisfies ν² = mean[z² + 1/(J+1/ν²)], with and without secant steps."""
    rng = np.random.default_rng(0)
    information = rng.uniform(0.5, 20, size=400)
    raw = rng.normal(0, 0.8, size=400) + rng.normal(size=400) / np.sqrt(information)
    groups, variance, search = np.zeros(400, dtype=np.int32), np.ones(1), VarianceSearch(1)
    for _ in range(8 if secant else 60):
        trust = information * variance / (1 + information * variance)
        step = np.log(next_variances(variance, trust * raw, information, groups) / variance)
        variance = np.exp(search.next(np.log(variance), step)) if secant else variance * np.exp(step)
    trust = information * variance / (1 + information * variance)
    em = np.mean((trust * raw) ** 2 + 1 / (information + 1 / variance))
    assert em == pytest.approx(variance[0], rel=1e-6)
    assert variance[0] == pytest.approx(0.64, abs=0.15)


def test_tiny_scores_get_their_large_weight():
    """Their gradients are small at the start, so a rough fit that takes no step would not find the weight."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, size=2000)
    scores = rng.normal(size=(2000, 10)) + 2 * np.eye(10)[labels]
    model = Reranker("pairwise_only", n_candidates=5, terms=["score_gap"]).fit(1e-6 * scores, labels)
    assert model.converged_
    assert model.weights_["score_gap"] > 1000.0  # as large as the widest prior allows


@pytest.mark.parametrize(("n", "bias"), [(100, 0.0), (100, 1.0), (400, 0.0), (400, 1.0)])
def test_a_converged_fit_has_a_small_gradient(n, bias):
    """The intermediate fits are rough, and a solver with one iteration does not reach the last digits."""
    rng = np.random.default_rng(3)
    share = 1.0 / np.arange(1, 13)
    share /= share.sum()
    labels = rng.choice(12, n, p=share)
    shift = bias * rng.normal(size=12)
    scores = rng.normal(size=(n, 12)) + 2 * np.eye(12)[labels] + shift + 0.5 * np.log(share)
    counts = (5000 * share).astype(int)
    model = Reranker(
        "pairwise", n_candidates=5, tol=1e-12, max_iter=1, shrinkage=ShrinkageOptions("eb", frequency_bins=2)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scores, labels, class_counts=counts)
    assert not model.converged_ or model.gradient_norm_ <= 1e-12


def test_groups_without_data_keep_their_variance_and_groups_without_spread_get_the_smallest():
    groups = np.array([0, 0, 1, 2], dtype=np.int32)
    updated = next_variances(np.ones(3), np.array([0.5, -0.5, 9.0, 0.0]), np.array([4.0, 4.0, 0.0, 1e-300]), groups)
    assert updated[0] == pytest.approx(0.5 / 1.6)
    assert updated[1] == 1.0  # no class of this group has data
    assert updated[2] == pytest.approx(1e-8)


def test_eb_means_are_optimal_even_if_deviations_vanish():
    """Offsets differ between groups but not within them, so the group means must explain all of it."""
    rng = np.random.default_rng(1)
    n_classes, n = 60, 1500
    groups = np.arange(n_classes) % 4
    truth = np.array([-1.2, -0.4, 0.5, 1.1])[groups]
    log_posterior = rng.normal(size=(n, n_classes)) * 1.5
    share = np.exp(log_posterior) / np.exp(log_posterior).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(n_classes, p=row) for row in share])
    model = Reranker("classwise", n_candidates=60, shrinkage="eb").fit(
        log_posterior - truth, labels, class_groups=groups
    )
    assert model.converged_
    means = model.shrinkage_.prior.means
    assert means - means.mean() == pytest.approx(np.array([-1.2, -0.4, 0.5, 1.1]), abs=0.12)
    # No shift of a whole group improves the penalised likelihood.
    shortlist = Shortlist.from_scores(log_posterior - truth, 60)

    def loss(offsets):
        scores = shortlist.scores + offsets[shortlist.ids]
        log_share = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return -log_share[np.arange(n), shortlist.positions(labels)].mean()

    for group in range(4):
        for step in (-0.01, 0.01):
            assert loss(model.offsets_ + step * (groups == group)) > loss(model.offsets_) - 1e-9


def test_eb_fit_minimises_the_objective_of_its_own_prior(problem):
    """With groups, unequal weights and λ_θ ≠ λ_a, compare with a hand-written penalised loss."""
    rows = np.repeat(np.arange(150), 2)
    class_groups = np.arange(20) % 3
    model = Reranker(
        "pairwise",
        n_candidates=problem.k,
        terms=("score_gap", "rank_gap"),
        lambda_a=0.5,
        lambda_theta=0.03,
        shrinkage="eb",
    ).fit(problem.scores, problem.labels, groups=rows, class_groups=class_groups, sample_weight=1 + np.arange(300) % 3)
    weights = (1.0 + np.arange(300) % 3) / 2
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    positions = shortlist.positions(problem.labels)
    kept = positions >= 0
    weights = weights[kept] / weights[kept].sum()
    by_group = np.bincount(rows[kept], weights)
    n_eff = 1 / (by_group @ by_group)
    assert model.fit_summary_.effective_rows == pytest.approx(n_eff)
    prior = model.shrinkage_.prior
    part = shortlist.take(kept)
    k = problem.k
    gap = (part.scores - part.scores.mean(axis=1, keepdims=True)) * k / (k - 1)
    rank = -(np.arange(k) - (k - 1) / 2) * k / (k - 1)

    def objective(offsets, theta):
        scores = part.scores + offsets[part.ids] + theta[0] * gap + theta[1] * rank
        log_share = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        loss = -weights @ log_share[np.arange(len(weights)), positions[kept]]
        spread = (offsets - prior.means[class_groups]) ** 2 / (2 * n_eff * prior.variances[class_groups])
        return loss + spread[model._state.information > 0].sum() + 0.03 * (theta**2).sum()

    theta = np.array(list(model.weights_.values()))
    rng = np.random.default_rng(0)
    step = 1e-4
    for _ in range(20):
        da, dt = rng.normal(size=20), rng.normal(size=2)
        slope = (
            objective(model.offsets_ + step * da, theta + step * dt)
            - objective(model.offsets_ - step * da, theta - step * dt)
        ) / (2 * step)
        assert abs(slope) < 2e-4
    scores = part.scores + model.offsets_[part.ids] + theta[0] * gap + theta[1] * rank
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    information = n_eff * np.bincount(part.ids.ravel(), (weights[:, None] * share * (1 - share)).ravel(), minlength=20)
    np.testing.assert_allclose(model._state.information, information, rtol=1e-6)


def test_paper_shrinkage_end_to_end(problem):
    plain = Reranker("classwise", n_candidates=problem.k, lambda_a=0.01).fit(problem.scores, problem.labels)
    model = Reranker("classwise", n_candidates=problem.k, lambda_a=0.01, shrinkage="paper").fit(
        problem.scores, problem.labels
    )
    information, n_eff = plain._state.information, plain.fit_summary_.effective_rows
    raw = plain.offsets_ * (1 + 2 * n_eff * 0.01 / information)
    factors = 1 / (1 + information * model.shrinkage_.prior.variances[0])
    np.testing.assert_allclose(model.offsets_, (1 - factors) * raw + factors * model.shrinkage_.prior.means[0])


def test_a_prior_that_did_not_converge_causes_a_warning(problem, monkeypatch):
    monkeypatch.setattr("repair.fitting.empirical_bayes.MAX_PRIOR_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="shrinkage prior did not converge in 1 rounds"):
        model = Reranker("pairwise", n_candidates=problem.k, shrinkage="eb").fit(
            problem.scores, problem.labels, **problem.optional_fields
        )
    assert not model.converged_


def test_a_group_with_little_data_is_allowed():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, size=400)
    scores = rng.normal(size=(400, 5)) + 1.5 * np.eye(5)[labels]
    scores[:, 4] -= 40
    model = Reranker("classwise", n_candidates=5, shrinkage="eb").fit(scores, labels, class_groups=list("aaaab"))
    assert np.isfinite(model.offsets_).all()


def test_eb_fit_is_a_stationary_point_of_its_own_prior(problem):
    model = Reranker("classwise", n_candidates=problem.k, shrinkage="eb").fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    shrinkage = model.shrinkage_
    assert shrinkage.converged
    information = model._state.information
    seen = information > 0
    mean, variance = shrinkage.prior.means[0], shrinkage.prior.variances[0]
    offsets = model.offsets_[seen]
    assert mean == pytest.approx(offsets.mean(), abs=1e-4)
    em = np.mean((offsets - mean) ** 2 + 1 / (information[seen] + 1 / variance))
    assert em == pytest.approx(variance, rel=2e-2)
    np.testing.assert_allclose(shrinkage.factors[seen], 1 / (1 + information[seen] * variance))


@pytest.mark.parametrize("kind", ["eb", "paper"])
def test_classes_without_calibration_rows_get_the_group_mean_and_are_flagged(problem, kind):
    scores = problem.scores.copy()
    scores[:, [3, 17]] = -np.inf  # never on any shortlist
    groups = np.arange(20) % 2
    model = Reranker("pairwise", n_candidates=problem.k, shrinkage=kind).fit(
        scores, problem.labels, class_groups=groups, **problem.optional_fields
    )
    assert {3, 17} <= set(model.unseen_classes_.tolist())
    assert model.offsets_[3] == model.offsets_[17] == model.shrinkage_.prior.means[1]
    assert model.shrinkage_.factors[3] == 1.0


def test_without_shrinkage_unseen_classes_stay_neutral(problem):
    scores = problem.scores.copy()
    scores[:, 3] = -np.inf
    model = Reranker("pairwise", n_candidates=problem.k, shrinkage=False).fit(
        scores, problem.labels, **problem.optional_fields
    )
    assert model.offsets_[3] == 0.0
    assert 3 in model.unseen_classes_
    assert model.shrinkage_ is None


def test_frequency_bins_are_equal_in_size_and_sorted():
    groups = frequency_groups(np.array([9.0, 1.0, 5.0, 7.0, 3.0, 2.0]), 3, 6)
    assert groups.tolist() == [2, 0, 1, 2, 1, 0]


def test_several_bins_need_counts(problem):
    with pytest.raises(InputError, match="frequency_bins=4 needs class_counts"):
        Reranker("classwise", n_candidates=problem.k, shrinkage=ShrinkageOptions("eb", frequency_bins=4)).fit(
            problem.scores, problem.labels
        )


@pytest.mark.parametrize("kind", ["eb", "paper"])
@pytest.mark.parametrize("n_groups", [1, 4])
def test_shrinkage_helps_when_rows_are_few(kind, n_groups):
    """With true offsets from a normal prior and about three covered rows per class, shrunk offsets are closer."""
    errors = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n_classes, n = 60, 180
        truth = rng.normal(0, 0.5, size=n_classes)
        log_posterior = rng.normal(size=(n, n_classes)) * 1.5
        share = np.exp(log_posterior) / np.exp(log_posterior).sum(axis=1, keepdims=True)
        labels = np.array([rng.choice(n_classes, p=row) for row in share])
        counts = rng.integers(1, 100, n_classes)

        def error(shrinkage, scores=log_posterior - truth, labels=labels, counts=counts, truth=truth):
            model = Reranker(
                "classwise",
                n_candidates=40,
                lambda_a=1e-4,
                shrinkage=shrinkage and ShrinkageOptions(shrinkage, frequency_bins=n_groups),
            ).fit(scores, labels, class_counts=counts)
            difference = model.offsets_ - truth
            return ((difference - difference.mean()) ** 2).mean()

        errors.append((error(False), error(kind)))
    plain, shrunk = np.mean(errors, axis=0)
    assert shrunk < 0.75 * plain


@pytest.mark.parametrize("kind", ["eb", "paper"])
def test_copies_of_a_row_in_one_group_count_as_one_row(problem, kind):
    """Five copies of every row in a group must not count as five times the evidence."""
    one = Reranker("pairwise", n_candidates=problem.k, shrinkage=kind).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    rows = np.repeat(np.arange(300), 5)
    five = Reranker("pairwise", n_candidates=problem.k, shrinkage=kind).fit(
        problem.scores[rows], problem.labels[rows], groups=rows, **problem.optional_fields
    )
    assert five.fit_summary_.effective_rows == pytest.approx(one.fit_summary_.effective_rows)
    np.testing.assert_allclose(five.offsets_, one.offsets_, atol=1e-6)


def test_the_search_does_not_stop_at_variances_that_are_far_too_large():
    """Priors that are far too wide all give the same parameters, and the search must not stop there."""
    scores, labels = np.tile([0.4, 0.0], (40, 1)), np.repeat([0, 1], [28, 12])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Reranker("pairwise", n_candidates=2).fit(scores, labels, class_counts=[300, 100])
    assert model.shrinkage_.converged
    assert model.weights_["score_gap"] == pytest.approx(0.0298, abs=2e-3)
