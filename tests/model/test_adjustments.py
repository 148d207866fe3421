import numpy as np
import pytest

from repair import Base, InputError, LogitAdjustment, Reranker, evaluate


@pytest.fixture
def model(problem):
    return Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)


def shift_of(model, scores, **adjustments):
    """Return what the adjustments add to each candidate, by class id."""
    explained = model.explain(scores, **adjustments)
    plain = {candidate.class_id: candidate.score for candidate in model.explain(scores).candidates}
    return {candidate.class_id: candidate.score - plain[candidate.class_id] for candidate in explained.candidates}


def test_the_dial_adds_t_times_log_rarity(problem, model):
    counts = problem.class_counts + 1
    for class_id, shift in shift_of(model, problem.scores[0], dial=0.7).items():
        assert shift == pytest.approx(0.7 * np.log(counts.sum() / counts[class_id]))


def test_turning_the_dial_moves_from_head_to_tail(make_problem):
    big = make_problem(n=4000)
    model = Reranker("pairwise", n_candidates=big.k).fit(big.scores, big.labels, **big.optional_fields)
    results = [
        evaluate(model.rerank(big.scores, dial=dial), big.labels, big.class_counts).conditional
        for dial in (0.0, 0.5, 1.0)
    ]
    assert results[0]["rare"] < results[1]["rare"] < results[2]["rare"]
    assert results[0]["frequent"] > results[1]["frequent"] > results[2]["frequent"]
    assert results[0]["hit@1"] == max(result["hit@1"] for result in results)


def test_the_dial_of_the_model_is_the_default(problem, model):
    dialled = Reranker("pairwise", n_candidates=problem.k, dial=0.6).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    assert (dialled.rerank(problem.scores).ids == model.rerank(problem.scores, dial=0.6).ids).all()
    assert (dialled.rerank(problem.scores, dial=0.0).ids == model.rerank(problem.scores).ids).all()


def test_target_prior_is_relative_to_the_label_shares_of_the_fit(problem, model):
    prior = model._state.calibration_prior
    assert (model.rerank(problem.scores, target_prior=prior).ids == model.rerank(problem.scores).ids).all()
    for class_id, shift in shift_of(model, problem.scores[0], target_prior=np.ones(20)).items():
        assert shift == pytest.approx(np.log((1 / 20) / prior[class_id]))
    shares = np.bincount(problem.labels, minlength=20) / 300
    assert np.abs(prior - shares).max() < 0.05


def test_the_label_shares_follow_the_weights_of_the_fit(problem):
    """Row weights, class weights and α change the distribution that is fitted, so they change the prior too."""
    counts = problem.class_counts
    heavy = np.where(np.arange(20) == 1, 5.0, 1.0)
    plain, weighted, tilted = (
        Reranker("pairwise", n_candidates=problem.k, alpha=alpha)
        .fit(problem.scores, problem.labels, class_weights=weights, **problem.optional_fields)
        ._state.calibration_prior
        for alpha, weights in ((0.0, None), (0.0, heavy), (1.0, None))
    )
    shares = np.bincount(problem.labels, minlength=20) / 300
    expected = shares * heavy / (shares * heavy).sum()
    assert weighted[1] == pytest.approx(expected[1], abs=0.05)
    assert weighted[1] > plain[1] + 0.1
    expected = shares / np.sqrt(counts + 1) / (shares / np.sqrt(counts + 1)).sum()
    assert tilted[0] == pytest.approx(expected[0], abs=0.05)
    assert tilted[0] < plain[0] - 0.1


def test_probabilities_depend_on_the_target_prior(problem, model):
    target = np.linspace(1, 5, 20)
    shares = model.rerank(problem.scores, target_prior=target).probabilities
    ranking = model.rerank(problem.scores, target_prior=target)
    expected = np.exp(ranking.scores - ranking.scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), atol=1e-12)


def test_the_true_prior_does_no_harm_if_there_are_more_classes_than_rows():
    """Most classes have no row at all.  The smoothing must not take that as evidence."""
    rng = np.random.default_rng(0)
    n_classes, n = 2000, 1500
    prior = 1 / np.arange(1, n_classes + 1) ** 0.7
    prior /= prior.sum()

    def draw():
        labels = rng.choice(n_classes, size=n, p=prior)
        scores = rng.normal(size=(n, n_classes)) + np.log(prior)
        scores[np.arange(n), labels] += 5.0
        return scores, labels

    calibration, (scores, labels) = draw(), draw()
    model = Reranker("classwise", n_candidates=10, shrinkage="eb").fit(
        *calibration, class_counts=np.round(prior * 50_000) + 1
    )
    plain = (model.predict(scores) == labels).mean()
    shifted = (model.predict(scores, target_prior=prior) == labels).mean()
    assert shifted > plain - 0.02


def test_target_prior_restores_accuracy_if_the_class_shares_change(make_problem):
    """Calibrate on a long tail, and apply to balanced rows drawn from the same class-conditional distributions."""
    big = make_problem(n=4000)
    model = Reranker("pairwise", n_candidates=big.k).fit(big.scores, big.labels, **big.optional_fields)
    rng = np.random.default_rng(9)
    rows = np.concatenate([rng.choice(np.flatnonzero(big.labels == y), 40) for y in np.unique(big.labels)])
    scores, labels = big.scores[rows], big.labels[rows]
    plain = evaluate(model.rerank(scores), labels).conditional["hit@1"]
    shifted = evaluate(model.rerank(scores, target_prior=np.ones(20)), labels).conditional["hit@1"]
    assert shifted > plain + 0.02


def test_costs_add_their_logarithm(problem, model):
    costs = np.random.default_rng(0).random(20) + 0.5
    for class_id, shift in shift_of(model, problem.scores[0], class_costs=costs).items():
        assert shift == pytest.approx(np.log(costs[class_id]))


@pytest.mark.parametrize(
    ("adjustments", "message"),
    [
        ({"dial": np.nan}, "dial is nan"),
        ({"dial": "half"}, "dial is 'half'; pass a number, or 'macro' to aim at accuracy averaged over classes"),
        ({"dial": 1e9}, "dial is 1000000000.0; it must be a finite number of at least -100 and at most 100"),
        ({"target_prior": np.ones(3)}, "target_prior has 3 entries, but there are 20 classes"),
        ({"target_prior": np.zeros(20)}, r"target_prior\[0\] is 0.0"),
        ({"class_costs": -np.ones(20)}, r"class_costs\[0\] is -1.0"),
    ],
)
def test_invalid_adjustments_raise_an_error(problem, model, adjustments, message):
    with pytest.raises(InputError, match=message):
        model.rerank(problem.scores, **adjustments)


def test_the_dial_needs_counts(problem):
    model = Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels)
    with pytest.raises(InputError, match="the dial needs class_counts"):
        model.rerank(problem.scores, dial=0.5)


def test_macro_takes_out_the_class_shares_of_the_calibration_rows(problem, model):
    rows = 300 * model.state.calibration_prior + 1  # one more row per class
    for class_id, shift in shift_of(model, problem.scores[0], dial="macro").items():
        assert shift == pytest.approx(np.log(rows.sum() / rows[class_id]))


def test_with_macro_a_class_without_calibration_rows_does_not_win_everywhere(make_problem):
    big = make_problem(n=4000)
    rows = np.flatnonzero((big.labels < 3) | (big.labels == 19))
    model = Reranker("pairwise", n_candidates=big.k).fit(big.scores[rows], big.labels[rows], **big.optional_fields)
    found = model.predict(big.scores[rows], dial="macro")
    assert np.isin(found, [0, 1, 2, 19]).mean() > 0.8  # without the added rows it would be 0.04


def test_macro_takes_out_a_target_prior_as_well(problem, model):
    """If all classes count the same, the class shares of the rows do not matter."""
    target = np.linspace(1, 5, 20)
    ranking = model.rerank(problem.scores, dial="macro", target_prior=target)
    assert (ranking.ids == model.rerank(problem.scores, dial="macro").ids).all()


def test_macro_on_base_scores_takes_out_the_training_shares(problem):
    """Nothing was learned from the calibration rows, so the scores follow the shares of the training rows."""
    base = Base(problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert (base.rerank(problem.scores, dial="macro").ids == base.rerank(problem.scores, dial=1.0).ids).all()
    adjusted = LogitAdjustment(problem.k, tau=1.0).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert (adjusted.rerank(problem.scores, dial="macro").ids == adjusted.rerank(problem.scores).ids).all()


def test_macro_improves_the_accuracy_averaged_over_classes(make_problem):
    """The calibration rows have another class mix than the training counts say."""
    big = make_problem(n=8000)
    keep = np.random.default_rng(1).random(8000) < np.linspace(0.2, 1.0, 20)[big.labels]
    first, second = np.flatnonzero(keep)[::2], np.flatnonzero(keep)[1::2]
    model = Reranker("pairwise", n_candidates=big.k).fit(big.scores[first], big.labels[first], **big.optional_fields)
    found = {
        dial: evaluate(model.rerank(big.scores[second], dial=dial), big.labels[second]).unconditional
        for dial in (0.0, 1.0, "macro")
    }
    assert found["macro"]["macro"] > found[0.0]["macro"] + 0.02
    assert found["macro"]["macro"] > found[1.0]["macro"]
    assert found["macro"]["hit@1"] > found[1.0]["hit@1"]


def test_macro_needs_counts_only_for_the_base_order(problem):
    model = Reranker("classwise", n_candidates=problem.k, dial="macro").fit(problem.scores, problem.labels)
    assert (model.predict(problem.scores) != model.predict(problem.scores, dial=0.0)).any()
    for mode in ("auto", "base"):
        with pytest.raises(InputError, match="the dial needs class_counts"):
            Reranker(mode, n_candidates=problem.k, dial="macro").fit(problem.scores, problem.labels)
