"""`RerankedClassifier` with classifiers, labels, tables and searches of every kind."""

import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

import sklearn
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import estimator_html_repr

from repair import InputError, InputWarning, Reranker, Temperature, load
from repair.integrations.sklearn import RerankedClassifier
from runtimes import RUNTIMES, accepted, model_of, refused

NAMES = np.array(["ant", "bee", "cat", "dog", "emu"])
COUNTS = np.array([200, 90, 40, 16, 8])
CENTRES = np.random.default_rng(3).normal(size=(5, 4)) * 1.3
CLASSWISE = Reranker("classwise", dial="macro")


def draw(counts, seed):
    """Draw rows of a long-tailed problem with four features."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    return CENTRES[codes] + rng.normal(size=(len(codes), 4)), NAMES[codes]


X, y = draw(COUNTS, 0)
X_TEST, Y_TEST = draw(np.full(5, 60), 1)


@pytest.fixture(scope="module")
def fitted():
    return RerankedClassifier(LogisticRegression(), reranker=CLASSWISE).fit(X, y)


def test_it_helps_rare_classes(fitted):
    base = LogisticRegression().fit(X, y)
    gain = fitted.score(X_TEST, Y_TEST) - base.score(X_TEST, Y_TEST)  # the test rows are balanced
    assert gain > 0.05


def test_one_base_is_fitted_on_all_rows_and_one_correction_on_all_scores(fitted):
    base = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(fitted.estimator_.coef_, base.coef_)
    assert fitted.n_calibration_rows_ == len(X)
    assert fitted.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(fitted.reranker_.class_counts_, COUNTS)
    assert fitted.probability_floor_ == 0.0


def test_predictions_are_those_of_the_reranker(fitted):
    ranking, scores = fitted.rerank(X_TEST), fitted.base_scores(X_TEST)
    np.testing.assert_allclose(scores, fitted.estimator_.decision_function(X_TEST))
    np.testing.assert_array_equal(ranking.ids, fitted.reranker_.rerank(scores).ids)
    np.testing.assert_array_equal(fitted.predict(X_TEST), NAMES[ranking.best])
    np.testing.assert_array_equal(fitted.predict_proba(X_TEST), fitted.reranker_.predict_proba(scores))
    np.testing.assert_allclose(fitted.predict_proba(X_TEST).sum(axis=1), 1.0)


def test_a_saved_correction_predicts_the_labels(fitted, tmp_path):
    fitted.reranker_.save(tmp_path / "model.safetensors")
    predicted = load(tmp_path / "model.safetensors").predict(fitted.base_scores(X_TEST))
    np.testing.assert_array_equal(predicted, fitted.predict(X_TEST))


def test_scores_of_a_row_come_from_a_base_that_has_not_seen_it():
    seen = []

    class Remembers(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.rows_ = {tuple(row) for row in X}
            return super().fit(X, y, sample_weight)

        def decision_function(self, X):
            seen.append(sum(tuple(row) in self.rows_ for row in X))
            return super().decision_function(X)

    RerankedClassifier(Remembers(), reranker=CLASSWISE, cv=3).fit(X, y)
    assert seen == [0, 0, 0]


def test_held_out_rows():
    model = RerankedClassifier(
        LogisticRegression(), reranker=CLASSWISE, cv=ShuffleSplit(1, test_size=0.4, random_state=0)
    )
    model.fit(X, y)
    train, test = next(model.cv.split(X))
    assert model.n_calibration_rows_ == len(test)
    np.testing.assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X[train], y[train]).coef_)
    np.testing.assert_array_equal(model.reranker_.class_counts_, [(y[train] == name).sum() for name in NAMES])


def test_a_frozen_base_is_not_trained_and_its_counts_are_asked_for():
    base = LogisticRegression().fit(X, y)
    frozen = partial(RerankedClassifier, FrozenEstimator(base), reranker=CLASSWISE)
    with pytest.warns(InputWarning, match="class_counts was not given"):
        RerankedClassifier(FrozenEstimator(base), reranker=Reranker("pairwise")).fit(X_TEST, Y_TEST)
    with_counts = frozen(class_counts=dict(zip(NAMES.tolist(), COUNTS.tolist(), strict=True))).fit(X_TEST, Y_TEST)
    assert with_counts.n_calibration_rows_ == len(X_TEST)
    np.testing.assert_array_equal(with_counts.reranker_.class_counts_, COUNTS)
    np.testing.assert_array_equal(with_counts.base_scores(X), base.decision_function(X))
    some = Y_TEST != "emu"  # a class without calibration rows
    assert frozen().fit(X_TEST[some], Y_TEST[some]).predict_proba(X).shape == (len(X), 5)
    unknown = np.where(Y_TEST == "emu", "gnu", Y_TEST)
    assert frozen().fit(X_TEST, unknown).reranker_.fit_summary_.n_unknown == 60


@pytest.mark.parametrize(
    "base",
    [
        RandomForestClassifier(20, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
        LinearSVC(),
        SVC(),
        Perceptron(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda base: type(base).__name__,
)
def test_classifiers_of_scikit_learn(base):
    model = RerankedClassifier(base, reranker=Reranker("pairwise"), cv=3).fit(X, y)
    assert model.score(*draw(COUNTS, 2)) > clone(base).fit(X, y).score(*draw(COUNTS, 2)) - 0.02
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert (model.probability_floor_ > 0) == isinstance(base, RandomForestClassifier)


def lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=5, num_leaves=4, verbose=-1, n_jobs=1)


def xgboost():
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lightgbm, marks=pytest.mark.needs("lightgbm")),
        pytest.param(xgboost, marks=pytest.mark.needs("xgboost")),
    ],
)
@pytest.mark.parametrize(
    "labels", [y, np.searchsorted(NAMES, y), np.searchsorted(NAMES, y) * 10], ids=["names", "ids", "gaps"]
)
def test_boosted_trees_take_labels_of_any_kind(make, labels):
    few = np.concatenate([np.flatnonzero(y != "emu"), np.flatnonzero(y == "emu")[:1]])
    model = RerankedClassifier(make(), reranker=CLASSWISE, cv=3).fit(X[few], labels[few])
    assert set(model.predict(X_TEST)) <= set(labels)
    assert (model.predict(X) == labels).mean() > 0.6
    assert model.predict_proba(X_TEST).shape == (300, 5)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize(
    "base", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())], ids=["plain", "pipeline"]
)
def test_data_frames(kind, base, fitted):
    library = pytest.importorskip(kind)
    table = library.DataFrame(dict(zip("abcd", X.T, strict=True)))
    labels = library.Series(y)
    if kind == "pandas":
        table.index = labels.index = np.arange(len(y))[::-1]
    model = RerankedClassifier(base, reranker=CLASSWISE).fit(table, labels)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.n_features_in_ == 4
    if not hasattr(base, "steps"):
        np.testing.assert_array_equal(model.predict(table), fitted.predict(X))


def test_texts():
    words = [" ".join(np.repeat(list("vwxz"), np.maximum(row * 3, 0).astype(int))) for row in X]
    base = make_pipeline(CountVectorizer(token_pattern="[vwxz]"), LogisticRegression())
    model = RerankedClassifier(base, reranker=CLASSWISE).fit(words, y)
    assert not hasattr(model, "n_features_in_")
    assert set(model.predict(words)) <= set(NAMES)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_and_three_classes_of_numbers_or_truth_values(n_classes):
    some = np.isin(y, NAMES[:n_classes])
    labels = y[some] == "ant" if n_classes == 2 else np.searchsorted(NAMES, y[some]) * 10
    model = RerankedClassifier(LogisticRegression()).fit(X[some], labels)
    assert model.predict(X).dtype == labels.dtype
    assert model.reranker_.n_candidates == n_classes
    decided = model.base_scores(X)
    decision = model.estimator_.decision_function(X)
    np.testing.assert_allclose(
        decided[:, 1] - decided[:, 0], decision if n_classes == 2 else decision[:, 1] - decision[:, 0]
    )


def test_a_class_that_no_fold_but_its_own_has_seen():
    few = np.concatenate([np.flatnonzero(y != "emu"), np.flatnonzero(y == "emu")[:1]])
    model = RerankedClassifier(LogisticRegression(), reranker=Reranker("pairwise")).fit(X[few], y[few])
    assert model.classes_.tolist() == NAMES.tolist()
    assert model.reranker_.fit_summary_.n_covered == len(few) - 1
    assert np.isfinite(model.base_scores(X)).all()


def test_few_rows():
    few = np.concatenate([np.flatnonzero(y == name)[:2] for name in NAMES])
    with pytest.warns(InputWarning, match="only 10 calibration rows are covered"):
        model = RerankedClassifier(LogisticRegression()).fit(X[few], y[few])
    assert model.reranker_.mode_ == "base"
    np.testing.assert_array_equal(model.predict(X), LogisticRegression().fit(X[few], y[few]).predict(X))


def test_weights_reach_the_base_and_the_correction():
    weights = np.where(y == "emu", 20.0, 1.0)
    model = RerankedClassifier(LogisticRegression(), reranker=Reranker("classwise")).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.estimator_.coef_, LogisticRegression().fit(X, y, weights).coef_)
    base = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.warns(InputWarning, match="Pipeline does not accept sample_weight"):
        weighted = RerankedClassifier(base, reranker=Reranker("classwise")).fit(X, y, sample_weight=weights)
    plain = RerankedClassifier(base, reranker=Reranker("classwise")).fit(X, y)
    np.testing.assert_allclose(weighted.base_scores(X), plain.base_scores(X))
    assert abs(weighted.reranker_.offsets_ - plain.reranker_.offsets_).max() > 1e-3


def test_other_arguments_of_the_base_are_cut_with_the_rows():
    base = make_pipeline(StandardScaler(), LogisticRegression())
    weights = np.where(y == "emu", 20.0, 1.0)
    model = RerankedClassifier(base, reranker=CLASSWISE).fit(X, y, logisticregression__sample_weight=weights)
    expected = clone(base).fit(X, y, logisticregression__sample_weight=weights)
    np.testing.assert_allclose(model.estimator_[-1].coef_, expected[-1].coef_)


def test_groups_stay_whole_and_count_once():
    groups = np.arange(len(y)) // 4
    model = RerankedClassifier(LogisticRegression(), reranker=Reranker("classwise")).fit(X, y, groups=groups)
    ungrouped = RerankedClassifier(LogisticRegression(), reranker=Reranker("classwise")).fit(X, y)
    assert model.reranker_.fit_summary_.effective_rows < 90 < ungrouped.reranker_.fit_summary_.effective_rows
    in_folds = RerankedClassifier(LogisticRegression(), reranker=CLASSWISE, cv=GroupKFold(3))
    assert in_folds.fit(X, y, groups=groups).n_calibration_rows_ == len(y)


def test_metadata_are_routed():
    groups, weights = np.arange(len(y)) // 4, np.ones(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        base = LogisticRegression().set_fit_request(sample_weight=True)
        model = RerankedClassifier(base, reranker=CLASSWISE, cv=GroupKFold(3))
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        arguments = {"params": {"groups": groups, "sample_weight": weights}, "cv": GroupKFold(2)}
        found = cross_validate(model, X, y, return_estimator=True, **arguments)
        for one, (train, _) in zip(found["estimator"], GroupKFold(2).split(X, y, groups), strict=True):
            assert one.reranker_.fit_summary_.effective_rows < len(np.unique(groups[train])) + 1
        search = GridSearchCV(model, {"reranker__mode": ["classwise", "pairwise"]}, cv=GroupKFold(2))
        assert search.fit(X, y, groups=groups, sample_weight=weights).best_estimator_.n_calibration_rows_ == len(y)


def test_searches_over_parameters_of_both_parts():
    model = RerankedClassifier(LogisticRegression(), cv=2)  # without a reranker to set parameters of
    grid = {"reranker__mode": ["base", "classwise"], "reranker__dial": [0.0, "macro"], "estimator__C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, scoring="balanced_accuracy", cv=2, error_score="raise").fit(X, y)
    assert search.best_params_["reranker__dial"] == "macro"
    assert model.reranker is None
    reranked = cross_val_score(search.best_estimator_, X, y, scoring="balanced_accuracy", cv=2)
    assert reranked.mean() > cross_val_score(LogisticRegression(), X, y, scoring="balanced_accuracy", cv=2).mean()


def test_clones_and_parameters():
    model = RerankedClassifier(
        LogisticRegression(), reranker=Reranker("pairwise", terms=["score_gap"]), similarity=np.eye(5)
    )
    copy = clone(model)
    assert copy.reranker is not model.reranker
    assert copy.get_params()["reranker__terms"] == ["score_gap"]
    assert copy.set_params(reranker__mode="classwise", reranker__terms=None).reranker.mode == "classwise"
    assert model.reranker.mode == "pairwise"
    alone = clone(Reranker("extended", n_candidates=3))
    assert (alone.mode, alone.n_candidates) == ("extended", 3)


def test_other_rerankers_can_be_fitted():
    model = RerankedClassifier(LogisticRegression(), reranker=Temperature()).fit(X, y)
    assert model.reranker_.temperature_ != 1.0


def test_similarity_is_passed_on():
    model = RerankedClassifier(LogisticRegression(), reranker=Reranker("pairwise"), similarity=CENTRES @ CENTRES.T).fit(
        X, y
    )
    assert "similarity" in model.reranker_.weights_


def test_embeddings():
    seen = []

    def embed(rows):
        seen.append(len(rows))
        return np.asarray(rows)[:, :3]

    for embedder, width in ((PCA(2), 2), (embed, 3), (FrozenEstimator(PCA(2).fit(X)), 2)):
        model = RerankedClassifier(
            LogisticRegression(), reranker=Reranker("extended", terms=["head"]), embedder=embedder
        )
        model.fit(X, y)
        assert model.reranker_.state.correction.embedding_width == width
        assert model.predict(X_TEST).shape == model.predict_proba(X_TEST).argmax(axis=1).shape == (300,)
    assert seen == [len(X), 300, 300]


def test_decisions_by_argument(fitted):
    plain, rare = fitted.rerank(X, dial=0.0).best, fitted.rerank(X, dial=1.5).best
    assert (rare == 4).sum() > (plain == 4).sum()
    prior = dict.fromkeys(NAMES.tolist(), 1.0)
    towards = fitted.rerank(X, dial=0.0, target_prior={**prior, "emu": 1e9}).best
    assert (towards == 4).all()
    costs = fitted.rerank(X, class_costs=[1.0, 1.0, 1.0, 1.0, 1e9]).best
    assert (costs == 4).all()


def test_a_row_can_be_explained(fitted):
    assert "emu" in str(fitted.reranker_.explain(fitted.base_scores(X[:1])))


def test_pictures_and_pickles(fitted):
    assert "Reranker" in estimator_html_repr(fitted)
    assert "reranker=Reranker(mode='classwise', dial='macro')" in " ".join(repr(fitted).split())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_the_number_of_jobs_changes_nothing(fitted):
    with parallel_config("threading"):  # starting processes takes seconds
        model = RerankedClassifier(LogisticRegression(), reranker=CLASSWISE, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("changes", "labels", "message"),
    [
        ({"reranker": "pairwise"}, y, r"reranker is 'pairwise'; pass Reranker\('pairwise'\)"),
        ({"embedder": 3}, y, "embedder is 3; pass a transformer or a function of X"),
        ({"response_method": "predict"}, y, "response_method is 'predict'"),
        ({"class_counts": {"ant": 1}}, y, "class_counts has no entry for class 'bee'"),
        ({"class_counts": {"gnu": 1}}, y, "class_counts has an entry for 'gnu'"),
        ({"estimator": SVC(decision_function_shape="ovo")}, y, r"shape \(\d+, 10\), but there are 5 classes"),
        ({}, np.full(len(y), "ant"), "y has 1 class"),
        ({"cv": 1}, y, "cv is 1"),
    ],
)
def test_what_is_refused(changes, labels, message):
    model = RerankedClassifier(LogisticRegression()).set_params(**changes)
    with pytest.raises(InputError, match=message):
        model.fit(X, labels)


def test_parameters_are_checked_before_the_base_is_fitted():
    class Slow(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("the base was fitted")

    for name, value in (
        ("reranker", "pairwise"),
        ("embedder", 3),
        ("response_method", "predict"),
        ("class_counts", {}),
    ):
        with pytest.raises(InputError, match=name):
            RerankedClassifier(Slow()).set_params(**{name: value}).fit(X, y)


def test_a_fit_that_fails_leaves_no_model():
    model = RerankedClassifier(LogisticRegression(), reranker=CLASSWISE).fit(X, y)
    with pytest.raises(InputError, match="y has 1 class"):
        model.fit(X, np.full(len(y), "ant"))
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_frozen_base_must_be_fitted():
    with pytest.raises(NotFittedError):
        RerankedClassifier(FrozenEstimator(LogisticRegression())).fit(X, y)


def test_without_scikit_learn_the_extra_is_named():
    program = "import sys; sys.modules['sklearn'] = None; import repair.integrations.sklearn"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingExtraError: RerankedClassifier needs the extra 'sklearn'" in done.stderr


def test_sparse_embeddings_are_refused():
    from scipy.sparse import csr_matrix

    model = RerankedClassifier(LogisticRegression(), reranker=CLASSWISE, embedder=csr_matrix)
    with pytest.raises(InputError, match="TruncatedSVD"):
        model.fit(X, y)


def test_the_error_of_the_base_is_raised_as_it_is():
    class Breaks(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            raise ValueError(f"no room for {y[0]}")

    with pytest.raises(ValueError, match=r"no room for [a-e]"):
        RerankedClassifier(Breaks()).fit(X, y)


class Scores(ClassifierMixin, BaseEstimator):
    """A base whose decisions are the first columns of X, in a given type."""

    def __init__(self, n_classes):
        self.n_classes = self.n_columns = n_classes
        self.dtype = "float64"
        self.classes_ = np.arange(n_classes)

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def decision_function(self, X):
        return X[:, : self.n_columns].astype(self.dtype)


def rerank_behind_a_classifier(case):
    """Rerank with a classifier that returns exactly the scores of a case."""
    reranker, rows = model_of(case.model_path), case.scores.astype(np.float64)
    width = reranker.state.correction.embedding_width
    embedder = None if width is None else (lambda both: both[:, case.n_classes :])
    if width is not None:
        rows = np.concatenate([rows, case.embeddings], axis=1)
    labels = np.arange(40) % case.n_classes
    scores = np.concatenate([np.eye(case.n_classes)[labels], np.zeros((40, width or 0))], axis=1)
    base = Scores(case.n_classes)
    model = RerankedClassifier(FrozenEstimator(base), reranker=Reranker("base"), embedder=embedder)
    model.fit(scores, labels).reranker_ = reranker
    base.n_columns, base.dtype = case.scores.shape[1], case.dtype
    return model.rerank(rows, **case.settings)


@pytest.mark.parametrize("case", accepted("scikit-learn"), ids=str)
def test_shared_cases(case):
    for module in case.needs:
        pytest.importorskip(module)
    ranking = rerank_behind_a_classifier(case)
    case.check(ranking.ids, ranking.scores, ranking.probabilities)


@pytest.mark.parametrize("case", refused("scikit-learn"), ids=str)
def test_scores_of_some_classes_are_refused(case):
    with pytest.raises(InputError, match=RUNTIMES["scikit-learn"](case)[0]):
        rerank_behind_a_classifier(case)
