import numpy as np
import pytest

from repair import InputError, InputWarning, NotFittedError, Reranker, ScoreSet, Shortlist, evaluate


def test_modes_fit_what_they_say(problem):
    fits = {
        mode: Reranker(mode, n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
        for mode in ("classwise", "pairwise", "pairwise_only")
    }
    assert fits["classwise"].weights_ == {}
    assert np.abs(fits["classwise"].offsets_).max() > 0
    assert (fits["pairwise_only"].offsets_ == 0).all()
    assert len(fits["pairwise_only"].weights_) == 4
    assert fits["pairwise"].objective_ < min(fits["classwise"].objective_, fits["pairwise_only"].objective_)
    assert [model.mode_ for model in fits.values()] == list(fits)


def test_rare_classes_gain_on_a_problem_with_a_heavy_head(make_problem):
    calibration, test = make_problem(n=3000, seed=1), make_problem(n=3000, seed=2)
    model = Reranker("pairwise", n_candidates=calibration.k).fit(
        calibration.scores, calibration.labels, **calibration.optional_fields
    )
    before = evaluate(
        Reranker("pairwise", n_candidates=calibration.k, lambda_a=1e12, lambda_theta=1e12)
        .fit(calibration.scores, calibration.labels, **calibration.optional_fields)
        .rerank(test.scores),
        test.labels,
        test.class_counts,
    )
    balanced = evaluate(model.rerank(test.scores, dial=1.0), test.labels, test.class_counts)
    after = evaluate(model.rerank(test.scores), test.labels, test.class_counts)
    assert after.conditional["hit@1"] > before.conditional["hit@1"] - 0.005
    assert balanced.conditional["rare"] > after.conditional["rare"] > 0


def test_tau_alone_is_logit_adjustment(problem):
    model = Reranker("classwise", n_candidates=problem.k, tau=1.0, lambda_a=1e12).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    prior = problem.class_counts / problem.class_counts.sum()
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    adjusted = shortlist.scores - np.log(prior)[shortlist.ids]
    assert (model.predict(problem.scores) == shortlist.ids[np.arange(300), adjusted.argmax(axis=1)]).all()


def test_row_weights_follow_their_formula(problem):
    from repair.data.calibration_set import CalibrationSet
    from repair.fitting.design_matrix import Design

    groups, given = np.arange(300) // 3, 1.0 + np.arange(300) % 4
    calibration = CalibrationSet.build(
        ScoreSet(problem.scores, problem.labels, groups=groups, sample_weight=given, **problem.optional_fields),
        problem.k,
    )
    design = Design.of(calibration, (), 0.0)
    importance = (given / 3)[calibration.covered]
    upweighted = importance / np.sqrt(problem.class_counts[problem.labels[calibration.covered]] + 1)
    expected = 0.7 * importance / importance.sum() + 0.3 * upweighted / upweighted.sum()
    np.testing.assert_allclose(design.row_weights(0.3), expected)
    assert design.row_weights(0.3).sum() == pytest.approx(1)


def test_unknown_labels_have_no_class_weight(problem):
    from repair.data.calibration_set import CalibrationSet

    labels = problem.labels.copy()
    labels[:5] = -1
    weights = np.arange(1.0, 21.0)
    built = CalibrationSet.build(ScoreSet(problem.scores, labels, class_weights=weights), problem.k)
    np.testing.assert_allclose(built.importance[:5], 1.0)
    np.testing.assert_allclose(built.importance[5:], weights[labels[5:]] / 20)
    model = Reranker("classwise", n_candidates=problem.k).fit(problem.scores, labels)
    assert model.fit_summary_.n_unknown == 5


def test_counts_are_the_given_ones_or_else_the_labels(problem):
    given = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert (given.class_counts_ == problem.class_counts).all()
    counted = Reranker("classwise", n_candidates=problem.k).fit(problem.scores, problem.labels)
    assert (counted.class_counts_ == np.bincount(problem.labels, minlength=20)).all()
    assert any("class_counts was not given" in note for note in counted.fit_summary_.notes)


def test_nobody_can_reach_into_a_fitted_model(problem):
    similarity = problem.similarity.copy()
    model = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, problem.labels, class_counts=problem.class_counts, similarity=similarity
    )
    before = model.rerank(problem.scores).scores
    similarity[:] = np.nan
    assert (model.rerank(problem.scores).scores == before).all()
    for array in (model.offsets_, model.class_counts_):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_groups_weigh_one_each_unless_switched_off(problem):
    from repair.data.calibration_set import CalibrationSet

    groups = np.repeat(np.arange(100), 3)
    groups[:150] = 0
    built = CalibrationSet.build(ScoreSet(problem.scores, problem.labels, groups=groups), problem.k)
    mass = np.bincount(built.groups, built.importance)
    np.testing.assert_allclose(mass, 1.0)
    weighted = Reranker("classwise", n_candidates=problem.k, lambda_a=0.001).fit(
        problem.scores, problem.labels, groups=groups
    )
    flat = Reranker("classwise", n_candidates=problem.k, lambda_a=0.001).fit(
        problem.scores, problem.labels, groups=groups, equal_group_weight=False
    )
    plain = Reranker("classwise", n_candidates=problem.k, lambda_a=0.001).fit(problem.scores, problem.labels)
    assert (flat.offsets_ == plain.offsets_).all()
    assert np.abs(weighted.offsets_ - plain.offsets_).max() > 1e-3
    assert weighted.fit_summary_.effective_rows < plain.fit_summary_.effective_rows


def test_row_weights_act_like_repetition(problem):
    times = np.random.default_rng(0).integers(0, 4, size=300)
    weighted = Reranker("pairwise", n_candidates=problem.k, lambda_a=0.001).fit(
        problem.scores, problem.labels, sample_weight=times, **problem.optional_fields
    )
    rows = np.repeat(np.arange(300), times)
    repeated = Reranker("pairwise", n_candidates=problem.k, lambda_a=0.001).fit(
        problem.scores[rows], problem.labels[rows], **problem.optional_fields
    )
    seen = np.setdiff1d(np.arange(20), repeated.unseen_classes_)
    np.testing.assert_allclose(weighted.offsets_[seen], repeated.offsets_[seen], atol=1e-6)


def test_class_weights_multiply_the_rows_of_a_class(problem):
    heavy = np.where(np.arange(20) == 5, 3.0, 1.0)
    by_class = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, problem.labels, class_weights=heavy, **problem.optional_fields
    )
    by_row = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, problem.labels, sample_weight=heavy[problem.labels], **problem.optional_fields
    )
    assert (by_class.offsets_ == by_row.offsets_).all()


def test_probabilities_belong_to_the_ranked_candidates(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    ranking, shares = model.rerank(problem.scores), model.rerank(problem.scores).probabilities
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    expected = np.exp(ranking.scores - ranking.scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), atol=1e-12)
    assert (np.diff(shares, axis=1) <= 1e-15).all()


@pytest.mark.parametrize("dial", [0.8, "macro"])
def test_probabilities_do_not_listen_to_the_dial_or_to_costs(problem, dial):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    plain, dialled = model.rerank(problem.scores), model.rerank(problem.scores, dial=dial)
    shares, other = model.rerank(problem.scores).probabilities, model.rerank(problem.scores, dial=dial).probabilities
    by_class = np.argsort(plain.ids, axis=1), np.argsort(dialled.ids, axis=1)
    assert (plain.ids != dialled.ids).any()
    np.testing.assert_allclose(
        np.take_along_axis(shares, by_class[0], axis=1), np.take_along_axis(other, by_class[1], axis=1), atol=1e-12
    )


def test_padding_has_no_probability(make_shortlist):
    shortlist = make_shortlist(n=200)
    labels = shortlist.ids[:, 0]
    model = Reranker("classwise").fit(shortlist, labels)
    shares = model.rerank(shortlist).probabilities
    assert (shares[model.rerank(shortlist).ids == -1] == 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_rows_without_candidates_are_left_empty(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    scores = problem.scores[:2].copy()
    scores[0] = -np.inf
    assert model.predict(scores)[0] == -1
    assert (model.rerank(scores).ids[0] == -1).all()
    assert model.rerank(scores).probabilities[0].tolist() == [0.0] * problem.k


def test_names_in_names_out(problem):
    names = [f"class {i}" for i in range(20)]
    given = np.array(names)[problem.labels].astype(object)
    given[:3] = "unheard of"
    with pytest.warns(InputWarning, match=r"3 rows have a label.*'unheard of' \(3\)"):
        model = Reranker("pairwise", n_candidates=problem.k).fit(
            problem.scores, given, class_names=names, **problem.optional_fields
        )
    assert set(model.predict(problem.scores)) <= set(names)
    labels = problem.labels.copy()
    labels[:3] = -1
    other = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, labels, class_names=names, **problem.optional_fields
    )
    assert (model.offsets_ == other.offsets_).all()
    assert model.coverage_ == other.coverage_
    assert other.predict(problem.scores).dtype.kind == "i"


def test_longer_shortlists_are_cut_to_n_candidates_in_the_fit_and_afterwards(problem):
    shortlist = Shortlist.from_scores(problem.scores, 8)
    with pytest.warns(InputWarning, match="rows have up to 8 candidates; the best 3 of each row are used"):
        model = Reranker("pairwise", n_candidates=3).fit(shortlist, problem.labels, **problem.optional_fields)
    expected = Reranker("pairwise", n_candidates=3).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert (model.offsets_ == expected.offsets_).all()
    assert (model.rerank(shortlist).ids == expected.rerank(problem.scores).ids).all()
    assert len(model.explain(shortlist.take(0)).candidates) == 3


def test_shorter_shortlists_of_the_fit_do_not_limit_new_ones(problem):
    model = Reranker("pairwise").fit(
        Shortlist.from_scores(problem.scores, 4), problem.labels, **problem.optional_fields
    )
    assert model.rerank(Shortlist.from_scores(problem.scores, 8)).ids.shape == (300, 8)
    assert model.rerank(Shortlist.from_scores(problem.scores, 15)).ids.shape == (300, 10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode": "magic"}, "mode is 'magic'; choose one of 'base', 'classwise'"),
        ({"lambda_a": 0.0}, "lambda_a is 0.0; it must be a finite number above 0"),
        ({"lambda_theta": -1}, "lambda_theta is -1"),
        ({"lambda_a": np.nan}, "lambda_a is nan"),
        ({"lambda_a": "much"}, "lambda_a is 'much'"),
        ({"lambda_a": np.inf}, "lambda_a is inf; it must be a finite number"),
        ({"alpha": 1.5}, "alpha is 1.5; it must be a finite number of at least 0 and at most 1"),
        ({"shrinkage": True}, "shrinkage is True"),
        ({"shrinkage": "bayes"}, "shrinkage is 'bayes'"),
        ({"shrinkage": 3}, "shrinkage is 3"),
        ({"tuning": "grid"}, "tuning is 'grid'"),
        ({"tuning": "cv", "tau": 1.0}, "tuning='cv' chooses tau itself, but tau=1.0; leave tau or tuning out"),
        ({"extended": {}}, "mode 'pairwise' does not use extended; leave extended out"),
        (
            {"mode": "extended", "extended": {}},
            r"pass ExtendedOptions\(shortlist_tau=…, n_ranked=…, neighbour_index=…, fast=…\)",
        ),
        ({"n_candidates": 0}, "n_candidates is 0"),
        ({"n_candidates": 2.5}, "n_candidates is 2.5"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"terms": ()}, "needs at least one term"),
        ({"mode": "classwise", "terms": ("rank_gap",)}, "mode 'classwise' has no terms"),
    ],
)
def test_impossible_parameters_are_refused(problem, parameters, message):
    with pytest.raises(InputError, match=message):
        Reranker(**{"mode": "pairwise", "n_candidates": problem.k, **parameters}).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )


@pytest.mark.parametrize("parameters", [{"alpha": 0.3}, {"tau": 1.0}, {"dial": 0.5}])
def test_parameters_that_need_counts_say_so(problem, parameters):
    with pytest.raises(InputError, match="needs class_counts; pass class_counts=… to fit"):
        Reranker("classwise", n_candidates=problem.k, **parameters).fit(problem.scores, problem.labels)


@pytest.mark.parametrize("method", ["rerank", "predict", "predict_proba", "explain"])
def test_nothing_works_before_fit(problem, method):
    with pytest.raises(NotFittedError, match="this Reranker is not fitted yet; call fit first"):
        getattr(Reranker("pairwise"), method)(problem.scores)
    assert not hasattr(Reranker("pairwise"), "offsets_")


def test_a_failed_fit_leaves_the_old_model(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    before = model._state
    with pytest.raises(InputError):
        model.fit(problem.scores, problem.labels + 100, **problem.optional_fields)
    assert model._state is before


def test_repr_shows_what_was_chosen():
    assert repr(Reranker("classwise", n_candidates=7, tau=1.0)) == "Reranker(mode='classwise', n_candidates=7, tau=1.0)"


@pytest.mark.parametrize("tau", [0.0, 0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_alone_in_numpy_has_the_bits_of_a_compiled_batch(problem, monkeypatch, tau, dtype):
    scores = problem.scores.astype(dtype)
    scores[::3, 1:] = np.where(scores[::3, 1:] < 0, -np.inf, scores[::3, 1:])  # some lists are short
    scores[5] = scores[5].round()  # and some scores equal
    model = Reranker("pairwise", n_candidates=problem.k, tau=tau, lambda_a=0.001, lambda_theta=0.001).fit(
        scores, problem.labels, **problem.optional_fields
    )
    batch = model.rerank(scores)
    monkeypatch.setattr("repair.kernels.loaded", None)
    for row in range(40):
        alone = model.rerank(scores[row])
        assert alone.scores.tobytes() == batch.scores[row].tobytes()
        assert alone.order.tobytes() == batch.order[row].tobytes()
        assert alone.ids.tobytes() == batch.ids[row].tobytes()
