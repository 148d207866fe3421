import numpy as np
import pytest

from repair import GridSearch, InputError, Reranker, ScoreSet, evaluate
from repair.data.calibration_set import CalibrationSet
from repair.evaluation.metrics import reciprocal_rank
from repair.fitting.settings import FitSettings
from repair.terms.registry import choose_fixed_terms
from repair.tuning.grid import PAPER_GRID, Grid
from repair.tuning.grid_search import search_grid

SMALL = {"tau": [0.0, 0.5], "lambda_a": [0.001, 0.1], "lambda_theta": [0.001, 0.01], "alpha": [0.0, 0.5]}


def test_the_papers_grid_has_all_its_settings():
    assert len(PAPER_GRID.settings()) == len(set(PAPER_GRID.settings())) == 5 * 7 * 6 * 6


def by_hand(problem, folds, setting, groups=None):
    """Out-of-fold accuracy over all rows of one setting, with plain Rerankers."""
    from repair.stats.folds import group_folds

    codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
    fold_of = group_folds(300, codes, folds, 0)
    hits = np.zeros(300)
    for fold in range(folds):
        train, test = fold_of != fold, fold_of == fold
        model = Reranker(
            "pairwise",
            n_candidates=problem.k,
            tau=setting.tau,
            alpha=setting.alpha,
            lambda_a=setting.lambda_a,
            lambda_theta=setting.lambda_theta,
        )
        known = {} if groups is None else {"groups": groups[train]}
        model.fit(problem.scores[train], problem.labels[train], **known, **problem.optional_fields)
        hits[test] = model.predict(problem.scores[test]) == problem.labels[test]
    weights = np.ones(300) if groups is None else 1 / np.bincount(codes)[codes]
    return weights @ hits / weights.sum()


@pytest.mark.parametrize("grouped", [False, True])
def test_values_are_out_of_fold_accuracy(problem, grouped):
    groups = np.arange(300) // 4 if grouped else None
    model = Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, cv=3)).fit(
        problem.scores, problem.labels, groups=groups, **problem.optional_fields
    )
    found = model.search_
    assert len(found.settings) == 16
    for position in (0, 7, 15):
        expected = by_hand(problem, 3, found.settings[position], groups)
        assert found.values[position] == pytest.approx(expected, abs=1e-6)
    best = max(found.values)
    assert found.values[found.settings.index(found.chosen)] == best
    assert model.chosen_.to_dict() == vars(found.chosen)
    assert model.tau_ == found.chosen.tau


def test_the_chosen_setting_is_what_is_fitted_and_frozen(problem, tmp_path):
    model = Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, cv=3)).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    frozen = model.with_chosen_parameters()
    assert frozen.tuning is None
    assert (frozen.lambda_a, frozen.tau) == (model.search_.chosen.lambda_a, model.search_.chosen.tau)
    frozen.fit(problem.scores, problem.labels, **problem.optional_fields)
    assert (frozen.offsets_ == model.offsets_).all()
    model.save(tmp_path / "model")
    from repair import load

    again = load(tmp_path / "model")
    assert again.with_chosen_parameters().lambda_a == frozen.lambda_a
    assert again.search_ is None


def test_in_sample_selection_is_the_best_fit_of_its_own_rows(problem):
    model = Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, cv="in_sample")).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    assert model.search_.cv == "in_sample"
    accuracies = {}
    for setting in model.search_.settings:
        one = Reranker("pairwise", n_candidates=problem.k, **vars(setting)).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )
        accuracies[setting] = evaluate(one.rerank(problem.scores), problem.labels).unconditional["hit@1"]
    assert accuracies[model.search_.chosen] == max(accuracies.values())
    assert "in sample" in str(model.search_)


@pytest.mark.parametrize("criterion", ["nll", "macro"])
def test_other_criteria(problem, criterion):
    model = Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, scoring=criterion, cv=3)).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    values = model.search_.values
    assert (values < 0).all() if criterion == "nll" else ((values > 0) & (values < 1)).all()


def test_macro_weighs_classes_alike(problem):
    calibration = CalibrationSet.build(ScoreSet(problem.scores, problem.labels, **problem.optional_fields), problem.k)
    settings = FitSettings(True, 0.001, 0.001)
    found = search_grid(GridSearch(Grid(), cv="in_sample", scoring="macro"), calibration, (), settings)
    model = Reranker("classwise", n_candidates=problem.k, lambda_a=0.001).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    expected = evaluate(model.rerank(problem.scores), problem.labels).unconditional["macro"]
    assert found.values[0] == pytest.approx(expected, abs=1e-6)


def test_a_criterion_of_ones_own(problem):
    model = Reranker(
        "pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, scoring=reciprocal_rank, cv=3)
    ).fit(problem.scores, problem.labels, **problem.optional_fields)
    assert model.search_.scoring == "reciprocal_rank"
    with pytest.raises(InputError, match="scoring returned shape"):
        Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, scoring=lambda r, y: 1.0)).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )


def test_one_standard_error_prefers_strong_penalties(problem):
    best = Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL)).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    near = Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL, rule="one_se")).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    found = near.search_
    position = found.settings.index(found.chosen)
    assert found.chosen.lambda_a >= best.search_.chosen.lambda_a
    assert found.values[position] >= found.values.max() - found.errors[position]
    assert found.errors[found.settings.index(best.search_.chosen)] == 0.0


def test_what_a_model_does_not_have_is_not_searched(problem):
    terms = choose_fixed_terms(
        None, CalibrationSet.build(ScoreSet(problem.scores, problem.labels, **problem.optional_fields), 5).table
    )
    grid = Grid(**{name: tuple(values) for name, values in SMALL.items()})

    def size(with_offsets, shrinkage, terms, counts):
        settings = FitSettings(with_offsets, 0.001, 0.001, shrinkage=shrinkage)
        return len(grid.where_it_matters(settings, terms, with_counts=counts).settings())

    assert size(True, False, terms, True) == 16
    assert size(True, False, (), True) == 8
    assert size(False, False, terms, True) == 8
    assert size(True, "eb", terms, True) == 8
    assert size(True, False, terms, False) == 4


def test_evidence_needs_no_grid_and_sets_both_penalties(problem):
    model = Reranker("pairwise", n_candidates=problem.k, tuning="evidence").fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    assert model.converged_
    assert model.shrinkage_.kind == "eb"
    assert model.chosen_.to_dict()["lambda_theta"] > 0
    strong = Reranker("pairwise", n_candidates=problem.k, lambda_theta=1.0, lambda_a=1.0, tuning="evidence").fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    np.testing.assert_allclose(model.offsets_, strong.offsets_, atol=1e-3)  # wherever it starts, it ends there
    alone = Reranker("pairwise_only", n_candidates=problem.k, tuning="evidence").fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    assert alone.converged_
    assert alone.chosen_.to_dict()["lambda_theta"] != 1e-3


def test_evidence_is_the_default_unless_something_else_is_given(problem):
    def fit(**given):
        model = Reranker(**{"mode": "pairwise", "n_candidates": problem.k, **given})
        return model.fit(problem.scores, problem.labels, **problem.optional_fields)

    default = fit()
    assert default.offsets_.tobytes() == fit(tuning="evidence").offsets_.tobytes()
    assert default.shrinkage_.kind == "eb"
    ridge = fit(lambda_a=0.001, lambda_theta=0.001)
    assert ridge.shrinkage_ is None
    for given in ({"lambda_a": 0.001}, {"lambda_theta": 0.001}, {"shrinkage": False}):
        assert fit(**given).offsets_.tobytes() == ridge.offsets_.tobytes()
    assert fit(shrinkage="paper").shrinkage_.kind == "paper"
    again = default.with_chosen_parameters().fit(problem.scores, problem.labels, **problem.optional_fields)
    np.testing.assert_allclose(again.offsets_, default.offsets_, atol=1e-3)
    with pytest.raises(InputError, match="lambda_a"):
        fit(mode="auto", lambda_a=0.1)


def test_evidence_finds_the_spread_of_the_weights():
    """Weights drawn from N(0, 0.5²) on many rows: the penalty found is about 1/(2·n·0.25)."""
    ratios = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, k = 1500, 6
        scores = rng.normal(size=(n, k))
        similarity = rng.normal(size=(k, k))
        weight = rng.normal(0, 0.5, size=2)
        mean_similarity = (similarity.sum(axis=1) - np.diag(similarity)) / (k - 1)
        gap = (scores - scores.mean(axis=1, keepdims=True)) * k / (k - 1)
        final = scores + weight[0] * gap + weight[1] * mean_similarity
        share = np.exp(final) / np.exp(final).sum(axis=1, keepdims=True)
        labels = np.array([rng.choice(k, p=row) for row in share])
        model = Reranker("pairwise_only", n_candidates=k, terms=("score_gap", "similarity"), tuning="evidence").fit(
            scores, labels, similarity=similarity
        )
        spread = 1 / (2 * n * model.chosen_.to_dict()["lambda_theta"])
        ratios.append(spread / np.mean(np.array(list(model.weights_.values())) ** 2))
    assert np.median(ratios) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"lambda": [1]}, "pass a mapping with tau"),
        ({"lambda_a": []}, r"grid\['lambda_a'\] is \[\]; pass a sequence of numbers"),
        ({"lambda_a": [0.0]}, r"grid\['lambda_a'\] is 0.0; it must be a finite number above 0"),
        ({"tau": "abc"}, "pass a sequence of numbers"),
        (7, "grid is 7"),
    ],
)
def test_impossible_grids_are_refused(problem, grid, message):
    with pytest.raises(InputError, match=message):
        Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=grid)).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tuning": "best"}, "tuning is 'best'; choose one of None, 'evidence', 'cv'"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_impossible_choices_are_refused(problem, parameters, message):
    with pytest.raises(InputError, match=message):
        Reranker("pairwise", n_candidates=problem.k, **parameters).fit(
            problem.scores, problem.labels, **problem.optional_fields
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scoring": "f1"}, "scoring is 'f1'"),
        ({"rule": "two_se"}, "rule is 'two_se'"),
        ({"cv": 1}, "cv is 1"),
        ({"cv": "folds"}, "cv is 'folds'"),
    ],
)
def test_impossible_searches_are_refused_where_they_are_written(arguments, message):
    with pytest.raises(InputError, match=message):
        GridSearch(**arguments)


@pytest.mark.needs("rich")
def test_a_progress_bar_is_shown_when_asked_for(problem, capsys):
    Reranker("pairwise", n_candidates=problem.k, tuning=GridSearch(grid=SMALL)).fit(
        problem.scores, problem.labels, progress=True, **problem.optional_fields
    )
    assert capsys.readouterr().out == ""
