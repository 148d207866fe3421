import numpy as np
import pytest

from repair import InputError, Reranker
from repair.shrinkage import GroupPrior, frequency_groups, paper_shrinkage, update_prior


def test_paper_formula_by_hand():
    """ã = â(1 + precision/J), σ² = 1/J, and λ = σ²/(σ²+ν²) towards the group mean."""
    offsets, information = np.array([1.0, -2.0, 0.5, 3.0]), np.array([4.0, 9.0, 1.0, 2.0])
    shrunk, account = paper_shrinkage(offsets, information, 2.0, np.zeros(4, dtype=np.int32))
    raw = offsets * (1 + 2.0 / information)
    mean, variance = account.prior.means[0], account.prior.variances[0]
    noise = 1 / information
    weights = 1 / (noise + variance)
    assert mean == pytest.approx(weights @ raw / weights.sum())
    assert ((raw - mean) ** 2 / (noise + variance)).sum() == pytest.approx(3)  # Paule–Mandel's condition
    np.testing.assert_allclose(account.factors, noise / (noise + variance))
    np.testing.assert_allclose(shrunk, (1 - account.factors) * raw + account.factors * mean)


def test_paper_formula_trusts_data_and_pulls_the_uncertain():
    offsets = np.array([1.0, 1.0, -1.0, -1.0])
    information = np.array([1000.0, 0.5, 1000.0, 0.0])
    shrunk, account = paper_shrinkage(offsets, information, 0.0, np.zeros(4, dtype=np.int32))
    assert abs(shrunk[0] - 1.0) < 0.01
    assert abs(shrunk[1] - account.prior.means[0]) < 0.7
    assert shrunk[3] == account.prior.means[0]
    assert account.factors[3] == 1.0


def test_prior_update_stands_still_where_em_does():
    """The fixed point satisfies design's ν² = mean[(â−μ)² + 1/(J+1/ν²)]."""
    rng = np.random.default_rng(0)
    truth = rng.normal(0.3, 0.8, size=400)
    information = rng.uniform(0.5, 20, size=400)
    raw = truth + rng.normal(size=400) / np.sqrt(information)
    prior = GroupPrior(np.zeros(400, dtype=np.int32), np.zeros(1), np.ones(1))
    for _ in range(200):
        factors = prior.factors(information)
        posterior = (1 - factors) * raw + factors * prior.class_means
        prior = update_prior(prior, posterior, information)
    factors = prior.factors(information)
    posterior = (1 - factors) * raw + factors * prior.class_means
    em = np.mean((posterior - prior.means[0]) ** 2 + 1 / (information + 1 / prior.variances[0]))
    assert em == pytest.approx(prior.variances[0], rel=1e-6)
    assert prior.means[0] == pytest.approx(0.3, abs=0.15)
    assert prior.variances[0] == pytest.approx(0.64, abs=0.15)


def test_eb_fit_is_a_stationary_point_of_its_own_prior(problem):
    model = Reranker(problem.k, "classwise", shrinkage="eb").fit(problem.scores, problem.labels, **problem.known)
    account = model.shrinkage_
    assert account.converged
    information = model._state.information
    seen = information > 0
    mean, variance = account.prior.means[0], account.prior.variances[0]
    offsets = model.offsets_[seen]
    assert mean == pytest.approx(offsets.mean(), abs=1e-4)
    em = np.mean((offsets - mean) ** 2 + 1 / (information[seen] + 1 / variance))
    assert em == pytest.approx(variance, rel=2e-2)
    np.testing.assert_allclose(account.factors[seen], 1 / (1 + information[seen] * variance))


@pytest.mark.parametrize("kind", ["eb", "paper"])
def test_classes_without_calibration_rows_get_the_group_mean_and_are_flagged(problem, kind):
    scores = problem.scores.copy()
    scores[:, [3, 17]] = -np.inf  # never on any shortlist
    groups = np.arange(20) % 2
    model = Reranker(problem.k, shrinkage=kind).fit(scores, problem.labels, class_groups=groups, **problem.known)
    assert {3, 17} <= set(model.unseen_classes_.tolist())
    assert model.offsets_[3] == model.offsets_[17] == model.shrinkage_.prior.means[1]
    assert model.shrinkage_.factors[3] == 1.0


def test_without_shrinkage_unseen_classes_stay_neutral(problem):
    scores = problem.scores.copy()
    scores[:, 3] = -np.inf
    model = Reranker(problem.k).fit(scores, problem.labels, **problem.known)
    assert model.offsets_[3] == 0.0
    assert 3 in model.unseen_classes_
    assert model.shrinkage_ is None


def test_frequency_bins_are_equal_in_size_and_sorted():
    groups = frequency_groups(np.array([9.0, 1.0, 5.0, 7.0, 3.0, 2.0]), 3, 6)
    assert groups.tolist() == [2, 0, 1, 2, 1, 0]


def test_several_bins_need_counts(problem):
    with pytest.raises(InputError, match="shrinkage_groups=4 needs class_counts"):
        Reranker(problem.k, "classwise", shrinkage="eb", shrinkage_groups=4).fit(problem.scores, problem.labels)


@pytest.mark.parametrize("kind", ["eb", "paper"])
@pytest.mark.parametrize("n_groups", [1, 4])
def test_shrinkage_helps_when_rows_are_few(kind, n_groups):
    """True offsets from a normal prior, about three covered rows per class: shrunk offsets lie closer."""
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
            model = Reranker(40, "classwise", lambda_a=1e-4, shrinkage=shrinkage, shrinkage_groups=n_groups).fit(
                scores, labels, class_counts=counts
            )
            difference = model.offsets_ - truth
            return ((difference - difference.mean()) ** 2).mean()

        errors.append((error(False), error(kind)))
    plain, shrunk = np.mean(errors, axis=0)
    assert shrunk < 0.75 * plain


@pytest.mark.parametrize("kind", ["eb", "paper"])
def test_copies_of_a_row_in_one_group_are_one_piece_of_evidence(problem, kind):
    """Five copies of every row, grouped, must not make the shrinkage five times as sure."""
    one = Reranker(problem.k, shrinkage=kind).fit(problem.scores, problem.labels, **problem.known)
    rows = np.repeat(np.arange(300), 5)
    five = Reranker(problem.k, shrinkage=kind).fit(
        problem.scores[rows], problem.labels[rows], groups=rows, **problem.known
    )
    assert five.account_.effective_rows == pytest.approx(one.account_.effective_rows)
    np.testing.assert_allclose(five.offsets_, one.offsets_, atol=1e-6)
