"""scikit-learn: a classifier that reranks the scores of another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.ranking import Ranking
from repair.data.score_set import ScoreSet
from repair.errors import InputError, InputWarning, MissingExtraError, warn_user
from repair.integrations.base_scores import RESPONSE_METHODS, FittedBase, class_codes
from repair.integrations.folds import folds_of, take_rows
from repair.integrations.labels import checked_labels, classes_of, in_class_order, names_of, per_row
from repair.integrations.out_of_fold import BaseRows, ScoredRows, cross_fitted, scored_by
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.reranker import Reranker
from repair.validation.checks import check_choice

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.frozen import FrozenEstimator
    from sklearn.utils import get_tags, indexable
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.validation import check_is_fitted, has_fit_parameter
except ImportError:
    raise MissingExtraError(
        "RerankedClassifier needs the extra 'sklearn' (scikit-learn 1.6 or newer): pip install 'repair-rerank[sklearn]'"
    ) from None

__all__ = ["RerankedClassifier"]


class RerankedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with reranked predictions: a base classifier, and a correction of its scores.

    The correction is learned on rows that the base was not trained on.  By default that is cross-fitting:
    one copy of the base per fold scores the rows of that fold, the correction is fitted on all these
    scores, and the base is then fitted once more on all rows.  There is one base and one correction, so a
    prediction runs a single base, and ``reranker_`` can be explained and saved.

    Parameters
    ----------
    estimator : classifier
        The base.  It needs ``decision_function`` or ``predict_proba``.  If it has been fitted on other
        rows, pass ``FrozenEstimator(classifier)``: the rows of ``fit`` are then all used for the
        correction.
    reranker : Reranker or another reranker of this library, optional
        What to fit, by default ``Reranker()``.  Its parameters can be searched, as in
        ``reranker__mode``.
    cv : int, splitter or iterable, default 5 folds
        Which rows are scored by a base that has not seen them.  A number means stratified folds, which
        keep groups whole.  A splitter with a single split, such as ``ShuffleSplit(1)``, holds rows out:
        the base is trained on the training part only.  Ignored for a `FrozenEstimator`.
    response_method : {"auto", "decision_function", "predict_proba"}, default "auto"
        What the scores are.  ``"auto"`` takes ``decision_function`` if there is one.  Of probabilities
        the logarithm is taken, and those below ``probability_floor_`` are replaced by it.
    class_counts : mapping from label to number, or array_like (K,), optional
        Training rows per class of the base.  By default they are counted in ``y``.  Pass them for a
        `FrozenEstimator`, whose training rows are unknown here.
    similarity : array_like (K, K), scipy sparse (K, K) or callable, optional
        How alike two classes are, in the order of ``classes_``.
    embedder : transformer or callable, optional
        Turns X into one vector per row, for corrections that read embeddings.  A copy of a transformer
        is fitted on all rows, without their labels.  A callable gets X as it is.
    n_jobs : int, optional
        Number of processes that fit the base on the folds.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels, sorted, or those of the base if it is frozen.
    estimator_ : classifier
        The fitted base.
    reranker_ : Reranker
        The fitted correction.  Its class ids are places in ``classes_``.
    probability_floor_ : float
        Half of the smallest probability above 0 that the base gave to a calibration row.  0 if the
        scores are not probabilities.
    n_calibration_rows_ : int
        Number of rows that the correction was fitted on.
    n_features_in_, feature_names_in_
        Those of the base, if it has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from repair import Reranker
    >>> from repair.integrations.sklearn import RerankedClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["cat", "dog", "lynx"], size=300, p=[0.7, 0.25, 0.05])
    >>> X = rng.normal(size=(300, 2)) + np.array([[0, 0], [1, 1], [2, 0]])[np.searchsorted(["cat", "dog", "lynx"], y)]
    >>> classifier = RerankedClassifier(LogisticRegression(), reranker=Reranker("classwise", dial="macro")).fit(X, y)
    >>> classifier.predict([[2.0, -0.5]]).tolist(), classifier.predict_proba(X).shape
    (['lynx'], (300, 3))
    """

    #: Groups are for the folds and for the reranker, so they are requested without being asked for.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - scikit-learn reads it from the class

    def __init__(
        self,
        estimator: Any,
        *,
        reranker: ShortlistReranker | None = None,
        cv: Any = None,
        response_method: str = "auto",
        class_counts: Mapping[Any, float] | ArrayLike | None = None,
        similarity: Any = None,
        embedder: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.reranker = reranker
        self.cv = cv
        self.response_method = response_method
        self.class_counts = class_counts
        self.similarity = similarity
        self.embedder = embedder
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Fit the base and the correction of its scores.

        Parameters
        ----------
        X : array_like, sparse matrix, data frame or list (n rows)
            Whatever the base accepts.
        y : array_like (n,)
            Labels.
        sample_weight : array_like (n,), optional
            Weights of the rows, for the correction, and for the base if it accepts them.
        groups : array_like (n,), optional
            Group of each row, such as its patient.  Folds keep groups whole, and in the correction every
            group counts once.
        **params
            Further arguments of the base's ``fit``.

        Returns
        -------
        self
        """
        self.__dict__.pop("reranker_", None)  # a fit that fails leaves nothing that could predict
        self._check_parameters()
        X, y = indexable(X, y)
        labels = checked_labels(y)
        weights, row_groups = (per_row(values, labels) for values in (sample_weight, groups))
        base_params, split_params = self._routed(weights, row_groups, params)
        if isinstance(self.estimator, FrozenEstimator):
            check_is_fitted(self.estimator)
            self.classes_ = np.asarray(self.estimator.classes_)
            places = np.arange(len(self.classes_))
            scored = scored_by(FittedBase.of(self.estimator, places, len(places), self.response_method), X)
        else:
            self.classes_ = classes_of(labels)
            in_class_order(self.class_counts, "class_counts", self.classes_)
            data = BaseRows(X, labels, self.classes_, base_params)
            folds = folds_of(self.cv, X, labels, row_groups, split_params)
            scored = cross_fitted(self.estimator, data, folds, self.response_method, self.n_jobs)
        self._base = scored.base
        self.estimator_ = scored.base.estimator
        self.probability_floor_ = scored.base.floor
        self.n_calibration_rows_ = len(scored.which)
        self._fit_embedder(X)
        self._fit_reranker(X, labels, scored, weights, row_groups)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _check_parameters(self) -> None:
        """Raise an error before any time is spent on the base."""
        reranker, embedder = self.reranker, self.embedder
        if reranker is not None and not isinstance(reranker, ShortlistReranker):
            raise InputError(
                f"reranker is {reranker!r}; pass Reranker({reranker!r}) or another reranker of this library"
            )
        if embedder is not None and not hasattr(embedder, "transform") and not callable(embedder):
            raise InputError(f"embedder is {embedder!r}; pass a transformer or a function of X")
        check_choice(self.response_method, "response_method", RESPONSE_METHODS)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reranker_")

    def _fit_reranker(
        self, X: Any, labels: AnyArray, scored: ScoredRows, weights: AnyArray | None, groups: AnyArray | None
    ) -> None:
        which, n_classes = scored.which, len(self.classes_)
        reranker = Reranker() if self.reranker is None else self.reranker.clone()
        if reranker.n_candidates > n_classes:
            reranker.set_params(n_candidates=n_classes)  # the default is 10, and a warning would help nobody
        given = in_class_order(self.class_counts, "class_counts", self.classes_)
        names = names_of(self.classes_)
        codes = class_codes(labels[which], self.classes_)
        rows = ScoreSet(
            scored.scores,
            codes if names is None else [str(label) for label in labels[which].tolist()],
            class_counts=scored.class_counts if given is None else given,
            similarity=self.similarity,
            class_names=names,
            groups=None if groups is None else groups[which],
            sample_weight=None if weights is None else weights[which],
            embeddings=None if self.embedder is None else self._embeddings(take_rows(X, which)),
        )
        self.reranker_ = reranker.fit(rows)

    def _fit_embedder(self, X: Any) -> None:
        is_transformer = hasattr(self.embedder, "transform")
        self._embedder = clone(self.embedder).fit(X, None) if is_transformer else self.embedder

    def _embeddings(self, X: Any) -> AnyArray | None:
        """Return one vector per row, or None if there is no embedder."""
        if self._embedder is None:
            return None
        vectors = self._embedder.transform(X) if hasattr(self._embedder, "transform") else self._embedder(X)
        if hasattr(vectors, "tocsr"):
            raise InputError("embedder gives a sparse matrix; reduce it, for example with TruncatedSVD(100)")
        found: AnyArray = np.asarray(vectors)
        return found

    def base_scores(self, X: Any) -> FloatArray:
        """Return the scores that are reranked: decisions or log-probabilities of the base, one column per class.

        Together with ``reranker_`` they explain a row: ``reranker_.explain(base_scores(X[:1]))``.

        Parameters
        ----------
        X : array_like, sparse matrix, data frame or list (n rows)

        Returns
        -------
        ndarray (n, K)
            In the order of ``classes_``.  −Inf for a class that the base has not been trained on.
        """
        check_is_fitted(self)
        return self._base.scores(X)

    def rerank(
        self,
        X: Any,
        *,
        dial: float | str | None = None,
        target_prior: Mapping[Any, float] | ArrayLike | None = None,
        class_costs: Mapping[Any, float] | ArrayLike | None = None,
    ) -> Ranking:
        """Return the candidates of each row, best first.

        Parameters
        ----------
        X : array_like, sparse matrix, data frame or list (n rows)
        dial, target_prior, class_costs : optional
            As in ``Reranker.rerank``.  Mappings have labels as keys.

        Returns
        -------
        Ranking
            Its ids are places in ``classes_``.
        """
        scores = self.base_scores(X)
        return self.reranker_.rerank(
            scores,
            embeddings=self._embeddings(X),
            dial=dial,
            target_prior=in_class_order(target_prior, "target_prior", self.classes_),
            class_costs=in_class_order(class_costs, "class_costs", self.classes_),
        )

    def predict(self, X: Any) -> AnyArray:
        """Return the first label of each row after reranking.

        Parameters
        ----------
        X : array_like, sparse matrix, data frame or list (n rows)

        Returns
        -------
        ndarray (n,)
        """
        best = self.rerank(X).best
        if (best < 0).any():
            row = int(np.argmax(best < 0))
            raise InputError(f"row {row} has no candidates, because the base gives −Inf to every class")
        labels: AnyArray = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Return one probability per row and class, 0 off the shortlist.

        These are probabilities given that the true class is on the shortlist.  A dial changes
        predictions, but not these probabilities.

        Parameters
        ----------
        X : array_like, sparse matrix, data frame or list (n rows)

        Returns
        -------
        ndarray (n, K)
            In the order of ``classes_``.
        """
        scores = self.base_scores(X)
        return self.reranker_.predict_proba(scores, embeddings=self._embeddings(X))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the parts, such as ``estimator__C`` and ``reranker__mode``."""
        if self.reranker is None and any(name.startswith("reranker__") for name in params):
            self.reranker = Reranker()
        changed: Self = super().set_params(**params)
        return changed

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata go where: to this estimator, to the base, and to the splitter."""
        to_fit, to_split = (MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split"))
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=to_fit)
            .add(splitter=self.cv, method_mapping=to_split)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _routed(
        self, weights: AnyArray | None, groups: AnyArray | None, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the keywords for ``fit`` of the base and for ``split`` of the splitter."""
        own = {name: value for name, value in (("sample_weight", weights), ("groups", groups)) if value is not None}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **own, **params)
            return dict(routed.estimator.fit), dict(routed.splitter.split)
        to_base = dict(params)
        if weights is not None and has_fit_parameter(self.estimator, "sample_weight"):
            to_base["sample_weight"] = weights
        elif weights is not None and not isinstance(self.estimator, FrozenEstimator):
            warn_user(
                f"{type(self.estimator).__name__} does not accept sample_weight, so weights are only used for the "
                "correction",
                InputWarning,
            )
        return to_base, {} if groups is None else {"groups": groups}
