"""Splitting rows of any kind into the part that a base is trained on and the part that it scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.stats.folds import FOLDS

__all__ = ["Fold", "folds_of", "parameters_of_rows", "take_rows"]

FREEZE = "pass a classifier that was trained on other rows, as FrozenEstimator(classifier)"


class Fold(NamedTuple):
    """Indices of the rows that a base is trained on, and of those that it scores."""

    train: AnyArray
    test: AnyArray


def folds_of(cv: Any, rows: Any, labels: AnyArray, groups: AnyArray | None, arguments: Mapping[str, Any]) -> list[Fold]:
    """Return the folds of a splitter, without those whose training part has a single class.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test) or None
        A number means that many stratified folds, or fewer if no class or not enough groups fill
        them.  Groups are kept whole.
    rows : array_like or data frame
    labels : ndarray (n,)
    groups : ndarray (n,) or None
    arguments : mapping
        Keywords for ``split`` of the splitter, such as ``groups``.

    Returns
    -------
    list of Fold

    Examples
    --------
    >>> import numpy as np
    >>> from repair.integrations.folds import folds_of
    >>> labels = np.array([0, 0, 1, 1])
    >>> [fold.test.tolist() for fold in folds_of(2, np.zeros((4, 1)), labels, None, {})]
    [[0, 2], [1, 3]]
    """
    found = [Fold(np.asarray(train), np.asarray(test)) for train, test in _splits(cv, rows, labels, groups, arguments)]
    scored = np.bincount(np.concatenate([fold.test for fold in found]), minlength=len(labels))
    if (scored > 1).any():
        row = int(np.argmax(scored > 1))
        raise InputError(f"cv puts row {row} into two test parts; use a splitter whose test parts do not overlap")
    usable = [fold for fold in found if len(fold.test) and (labels[fold.train] != labels[fold.train[0]]).any()]
    if not usable:
        raise InputError(f"no part of the rows can be scored by a base that knows two or more classes; {FREEZE}")
    return usable


def _splits(
    cv: Any, rows: Any, labels: AnyArray, groups: AnyArray | None, arguments: Mapping[str, Any]
) -> Iterator[tuple[AnyArray, AnyArray]]:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

    if cv is not None and (isinstance(cv, bool) or not isinstance(cv, int)):
        yield from check_cv(cv).split(rows, labels, **arguments)
        return
    number = FOLDS if cv is None else cv
    if number < 2:
        raise InputError(f"cv is {cv}; it takes at least 2 folds")
    most = int(np.unique(labels, return_counts=True)[1].max())
    if groups is not None:
        most = min(most, len(np.unique(groups)))
    if most < 2:
        what = "class has a single row" if groups is None else "class has a single row, or there is a single group"
        raise InputError(f"every {what}, so no row can be scored by a base that knows its class; {FREEZE}")
    splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(min(number, most))
    with warnings.catch_warnings():
        # Rare classes are what this is for.  A row whose class is in no other fold is uncovered.
        warnings.filterwarnings("ignore", "The least populated class in y", UserWarning)
        yield from splitter.split(np.zeros(len(labels)), labels, groups)


def take_rows(rows: Any, which: AnyArray) -> Any:
    """Return some rows of an array, sparse matrix, data frame (pandas, polars), Arrow table or list.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.integrations.folds import take_rows
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(rows, "iloc"):
        return rows.iloc[which]
    if isinstance(rows, list | tuple):
        return [rows[row] for row in which.tolist()]
    is_arrow = type(rows).__module__.partition(".")[0] == "pyarrow"
    return rows.take(which) if is_arrow else rows[which]


def parameters_of_rows(parameters: Mapping[str, Any], which: AnyArray, n_rows: int) -> dict[str, Any]:
    """Return keywords of ``fit`` for some of the rows: what has one entry per row is cut, the rest is kept."""
    return {name: take_rows(value, which) if _per_row(value, n_rows) else value for name, value in parameters.items()}


def _per_row(value: Any, n_rows: int) -> bool:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__len__"):
        return False
    shape = getattr(value, "shape", None)
    return bool(shape[0] == n_rows if shape else len(value) == n_rows)
