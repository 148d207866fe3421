import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from repair import (
    Base,
    ClasswiseTemperature,
    InputError,
    LogitAdjustment,
    Reranker,
    Shortlist,
    TauNormalization,
    Temperature,
    evaluate,
)

ALL = (Base, LogitAdjustment, TauNormalization, Temperature, ClasswiseTemperature, Reranker)


@pytest.mark.parametrize("method", ALL)
def test_every_method_has_the_same_interface(problem, method):
    norms = np.linspace(1, 2, 20)
    model = method(n_candidates=problem.k).fit(
        problem.scores, problem.labels, weight_norms=norms, **problem.optional_fields
    )
    ranking = model.rerank(problem.scores)
    assert ranking.ids.shape == (300, problem.k)
    assert (model.predict(problem.scores) == ranking.ids[:, 0]).all()
    np.testing.assert_allclose(model.rerank(problem.scores).probabilities.sum(axis=1), 1.0)
    assert len(model.explain(problem.scores[0]).candidates) == problem.k
    assert model.coverage_ == Shortlist.from_scores(problem.scores, problem.k).coverage(problem.labels)
    assert model.fit_summary_.mode == model.mode_
    assert model.offsets_.shape == (20,)


def test_base_is_the_base_order(problem):
    model = Base(problem.k).fit(problem.scores, problem.labels)
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    assert (model.rerank(shortlist).ids == shortlist.ids).all()
    assert (model.rerank(shortlist).scores == shortlist.scores).all()


def test_logit_adjustment_by_hand_and_tuned(problem):
    prior = problem.class_counts / problem.class_counts.sum()
    shortlist = Shortlist.from_scores(problem.scores, problem.k)

    def accuracy(tau):
        best = (shortlist.scores - tau * np.log(prior)[shortlist.ids]).argmax(axis=1)
        return (shortlist.ids[np.arange(300), best] == problem.labels).mean()

    grid = np.round(np.arange(41) * 0.05, 2)
    expected = grid[np.argmax([accuracy(tau) for tau in grid])]
    model = LogitAdjustment(problem.k).fit(problem.scores, problem.labels, class_counts=problem.class_counts)
    assert model.tau_ == expected
    fixed = LogitAdjustment(problem.k, tau=1.3).fit(problem.scores, problem.labels, class_counts=problem.class_counts)
    best = (shortlist.scores - 1.3 * np.log(prior)[shortlist.ids]).argmax(axis=1)
    assert (fixed.predict(problem.scores) == shortlist.ids[np.arange(300), best]).all()


def test_frozen_copies_keep_what_was_chosen(problem):
    norms = problem.class_counts**0.3
    for method in (LogitAdjustment, TauNormalization):
        model = method(n_candidates=problem.k).fit(
            problem.scores, problem.labels, weight_norms=norms, **problem.optional_fields
        )
        frozen = model.with_chosen_parameters()
        assert frozen.tau == model.chosen_.to_dict()["tau"]
        with pytest.raises(ValueError, match="not fitted"):
            frozen.rerank(problem.scores)
        frozen.fit(problem.scores[:100], problem.labels[:100], weight_norms=norms, **problem.optional_fields)
        assert (frozen.predict(problem.scores) == model.predict(problem.scores)).all()
    assert (
        repr(Reranker("classwise", n_candidates=5).clone(tau=0.5))
        == "Reranker(mode='classwise', n_candidates=5, tau=0.5)"
    )


def test_tau_normalization_by_hand(problem):
    norms = np.random.default_rng(0).random(20) + 0.5
    model = TauNormalization(problem.k, tau=0.7).fit(problem.scores, problem.labels, weight_norms=norms)
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    best = (shortlist.scores / norms[shortlist.ids] ** 0.7).argmax(axis=1)
    assert (model.predict(problem.scores) == shortlist.ids[np.arange(300), best]).all()


@pytest.mark.parametrize("method", [LogitAdjustment, TauNormalization])
def test_tuning_never_loses_on_the_calibration_rows(make_problem, method):
    for seed in range(5):
        problem = make_problem(n=80, seed=seed)
        norms = problem.class_counts**0.3
        model = method(n_candidates=problem.k).fit(
            problem.scores, problem.labels, weight_norms=norms, **problem.optional_fields
        )
        base = Base(problem.k).fit(problem.scores, problem.labels)
        hits = [evaluate(m.rerank(problem.scores), problem.labels).unconditional["hit@1"] for m in (model, base)]
        assert hits[0] >= hits[1]


def test_among_equal_taus_the_smallest_is_taken():
    scores, labels = np.array([[9.0, 0.0], [0.0, 9.0]]), [0, 1]
    assert LogitAdjustment(2).fit(scores, labels, class_counts=[9, 1]).tau_ == 0.0


def test_tuning_weighs_groups_once():
    """Nine copies of one patient want a large τ, three other patients want none."""
    scores = np.array([[1.0, 0.5]] * 9 + [[1.0, 0.5]] * 3 + [[0.0, 3.0]])
    labels = np.array([1] * 9 + [0] * 3 + [1])
    groups = np.array([0] * 9 + [1, 2, 3, 4])
    known = {"class_counts": [90, 10]}
    assert LogitAdjustment(2).fit(scores, labels, **known).tau_ > 0
    assert LogitAdjustment(2).fit(scores, labels, groups=groups, **known).tau_ == 0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogitAdjustment(3), "LogitAdjustment needs class_counts"),
        (TauNormalization(3), "TauNormalization needs weight_norms"),
        (LogitAdjustment(3, grid=[0.5, 1.0]), r"grid is \[0.5, 1.0\]; it must contain 0"),
        (LogitAdjustment(3, grid=[]), r"grid is \[\]; it must contain 0"),
        (LogitAdjustment(3, tau=np.inf), "tau is inf"),
        (Temperature(3, lambda_theta=0.0), "lambda_theta is 0.0"),
    ],
)
def test_what_is_missing_is_named(problem, model, message):
    known = {} if "needs" in message else problem.optional_fields
    with pytest.raises(InputError, match=message):
        model.fit(problem.scores, problem.labels, **known)


finite = st.floats(-1e6, 1e6, allow_nan=False, width=64)


@given(hnp.arrays(np.float64, (4, 7), elements=finite), st.floats(0.2, 5))
def test_temperature_keeps_the_order_to_the_last_bit(scores, sharpness):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 7, size=60)
    calibration = rng.normal(size=(60, 7)) + sharpness * np.eye(7)[labels]
    model = Temperature(5).fit(calibration, labels)
    assert (model.rerank(scores).order == np.arange(5)).all()


def test_temperature_is_the_likelihood_optimum(problem):
    from scipy.optimize import minimize_scalar

    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    positions = shortlist.positions(problem.labels)
    rows = positions >= 0

    def loss(inverse):
        scores = shortlist.scores[rows] * inverse
        log_share = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return -log_share[np.arange(rows.sum()), positions[rows]].mean() + 5e-5 * (inverse - 1) ** 2

    best = minimize_scalar(loss, bounds=(0.01, 10), method="bounded", options={"xatol": 1e-10}).x
    model = Temperature(problem.k).fit(problem.scores, problem.labels)
    assert 1 / model.temperature_ == pytest.approx(best, abs=1e-5)


def test_scores_that_mislead_are_flattened_never_flipped():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=200)
    misleading = rng.normal(size=(200, 6)) - 3 * np.eye(6)[labels]
    model = Temperature(6).fit(misleading, labels)
    assert 1 / model.temperature_ == pytest.approx(1e-3)
    assert (model.rerank(misleading).order == np.arange(6)).all()
    assert any("bound" in note for note in model.fit_summary_.notes)


def test_classwise_temperature_is_pairwise_with_the_score_gap_alone(problem):
    """With full shortlists the mean score gap is a temperature: k/(k−1) times the centred score."""
    k = problem.k
    factor = k / (k - 1)
    one = ClasswiseTemperature(k, lambda_theta=0.01).fit(problem.scores, problem.labels)
    other = Reranker("pairwise", n_candidates=k, terms=("score_gap",), lambda_theta=0.01 * factor**2).fit(
        problem.scores, problem.labels
    )
    assert 1 / one.temperature_ == pytest.approx(1 + factor * other.weights_["score_gap"], abs=1e-6)
    np.testing.assert_allclose(one.offsets_, other.offsets_, atol=1e-6)
    assert one.objective_ == pytest.approx(other.objective_, abs=1e-9)


def test_classwise_temperature_at_its_bound_refits_the_offsets():
    rng = np.random.default_rng(0)
    labels = rng.choice(6, size=400, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    misleading = rng.normal(size=(400, 6)) - 3 * np.eye(6)[labels]
    model = ClasswiseTemperature(6).fit(misleading, labels)
    assert 1 / model.temperature_ == pytest.approx(1e-3)
    loss = evaluate(model.rerank(misleading), labels).conditional["nll"]
    entropy = -sum(share * np.log(share) for share in np.bincount(labels) / 400)
    assert loss == pytest.approx(entropy, abs=0.02)  # nothing left but the class shares
    ridge = 1e-3 * (model.offsets_**2).sum() + 1e-3 * (1 - 1e-3) ** 2
    assert model.objective_ == pytest.approx(loss + ridge, abs=1e-6)
    plain = Temperature(6).fit(misleading, labels)
    loss = evaluate(plain.rerank(misleading), labels).conditional["nll"]
    assert plain.objective_ == pytest.approx(loss + 5e-5 * (1 - 1e-3) ** 2, abs=1e-6)


def test_uncovered_rows_are_no_hits_while_tuning():
    """Rows whose label is not listed must not make the base's first choice look right."""
    scores = np.array([[2.0, 1.9, 0.0]] * 30 + [[3.0, 0.0, -1.0]] * 5)
    labels = np.array([1] * 10 + [2] * 20 + [0] * 5)
    model = LogitAdjustment(2).fit(scores, labels, class_counts=[90, 9, 1])
    assert model.tau_ > 0


def test_norms_that_differ_too_much_are_refused(problem):
    norms = np.ones(20)
    norms[3] = 1e-300
    with pytest.raises(InputError, match="weight_norms differ too much for tau = 10"):
        TauNormalization(problem.k, tau=10).fit(problem.scores, problem.labels, weight_norms=norms)
