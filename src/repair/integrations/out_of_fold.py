"""Scores of rows by bases that were trained on other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.integrations.base_scores import FittedBase, class_codes, floor_of
from repair.integrations.folds import Fold, parameters_of_rows, take_rows

__all__ = ["BaseRows", "ScoredRows", "cross_fitted", "scored_by"]


@dataclass(frozen=True, eq=False)
class BaseRows:
    """What a base is trained on.

    Attributes
    ----------
    rows : array_like, sparse matrix, data frame or list
    labels : ndarray (n,)
    classes : ndarray (K,)
        All labels, sorted.
    parameters : mapping
        Keywords of the base's ``fit``.
    """

    rows: Any
    labels: AnyArray
    classes: AnyArray
    parameters: Mapping[str, Any]

    def take(self, which: AnyArray) -> BaseRows:
        """Return some of the rows."""
        parameters = parameters_of_rows(self.parameters, which, len(self.labels))
        return replace(self, rows=take_rows(self.rows, which), labels=self.labels[which], parameters=parameters)

    @property
    def class_counts(self) -> FloatArray:
        """Rows per class."""
        return np.bincount(class_codes(self.labels, self.classes), minlength=len(self.classes)).astype(np.float64)

    def fitted(self, estimator: Any, method: str) -> FittedBase:
        """Fit a copy of a classifier on the rows."""
        from sklearn.base import clone

        fitted, present = clone(estimator), np.unique(self.labels)
        try:
            fitted.fit(self.rows, self.labels, **self.parameters)
        except ValueError as error:
            # XGBoost accepts no labels but 0…m−1, which also fails in a fold without one of the classes.
            codes = class_codes(self.labels, present)
            if present.dtype.kind in "iu" and (present == np.arange(len(present))).all():
                raise
            fitted = clone(estimator)
            try:
                fitted.fit(self.rows, codes, **self.parameters)
            except Exception:
                raise error from None
            known = present[np.asarray(fitted.classes_)]
        else:
            known = np.asarray(fitted.classes_)
        return FittedBase.of(fitted, class_codes(known, self.classes), len(self.classes), method)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with scores by a base that has not seen them, and the base that new rows are scored with.

    Attributes
    ----------
    base : FittedBase
    which : ndarray of int (m,)
        Indices of the rows.
    scores : ndarray (m, K)
    class_counts : ndarray (K,) or None
        Training rows of the base per class, None if they are unknown.
    """

    base: FittedBase
    which: AnyArray
    scores: FloatArray
    class_counts: FloatArray | None


def scored_by(base: FittedBase, rows: Any) -> ScoredRows:
    """Score rows with a base that was fitted elsewhere."""
    response = base.response(rows)
    floored = _with_floor(base, [response])
    return ScoredRows(floored, np.arange(len(response)), floored.as_scores(response), None)


def cross_fitted(
    estimator: Any, data: BaseRows, folds: Sequence[Fold], method: str, n_jobs: int | None = None
) -> ScoredRows:
    """Score each row with a copy of the base that was trained on the other folds, and fit the base for new rows.

    With several folds the base is fitted once more, on all rows.  With a single one, rows were held out,
    and the base that scored them is kept, because the correction suits exactly its scores.

    Parameters
    ----------
    estimator : classifier
    data : BaseRows
    folds : sequence of Fold
    method : str
        One of `RESPONSE_METHODS`.
    n_jobs : int, optional
        Number of processes.

    Returns
    -------
    ScoredRows
    """
    from sklearn.utils.parallel import Parallel, delayed

    # The bases come back only if one of them is kept, because forests on all folds may not fit into memory.
    keep = len(folds) == 1
    found = Parallel(n_jobs=n_jobs)(delayed(_scored_fold)(estimator, data, fold, method, keep) for fold in folds)
    base = found[0][0] if keep else data.fitted(estimator, method)
    counts = (data.take(folds[0].train) if keep else data).class_counts
    base = _with_floor(base, [response for _, response in found])
    which = np.concatenate([fold.test for fold in folds])
    scores = np.concatenate([one.with_floor(base.floor).as_scores(response) for one, response in found])
    order = np.argsort(which, kind="stable")
    return ScoredRows(base, which[order], scores[order], counts)


def _scored_fold(estimator: Any, data: BaseRows, fold: Fold, method: str, keep: bool) -> tuple[FittedBase, FloatArray]:
    base = data.take(fold.train).fitted(estimator, method)
    response = base.response(take_rows(data.rows, fold.test))
    return (base if keep else replace(base, estimator=None)), response


def _with_floor(base: FittedBase, responses: Sequence[FloatArray]) -> FittedBase:
    return base.with_floor(floor_of(responses)) if base.method == "predict_proba" else base
