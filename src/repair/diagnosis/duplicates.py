"""Rows that occur twice: within the calibration set, or in calibration and test."""

import numpy as np

from repair.arrays import AnyArray, BoolArray, IntArray
from repair.shortlist import Shortlist

__all__ = ["exact_twins", "in_both", "near_twins"]

#: Scores that differ by less, relative to their size, come from the same input.
CLOSE = 1e-6


def exact_twins(shortlist: Shortlist, labels: IntArray, groups: IntArray | None, dense: AnyArray | None) -> BoolArray:
    """Say which rows have the scores and the label of a row of another group.

    Copies inside one group do no harm: folds and tests keep groups whole.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Shortlist
    >>> from repair.diagnosis.duplicates import exact_twins
    >>> scores = np.array([[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [0.5, 1.0]])
    >>> exact_twins(Shortlist.from_scores(scores, 2), np.array([0, 0, 1, 1]), None, scores).tolist()
    [True, True, False, False]
    """
    groups = _own_groups(len(shortlist)) if groups is None else groups
    rows = np.column_stack([labels, shortlist.ids, np.where(shortlist.mask, shortlist.scores, 0.0)])
    found = _spread(_codes(rows), groups)
    if dense is None or not found.any():
        return found
    # Few rows agree on a whole shortlist; only those need all their scores compared.
    which = np.flatnonzero(found)
    rest = np.column_stack([labels[which], np.asarray(dense)[which].astype(np.float64)])
    result = np.zeros(len(shortlist), dtype=bool)
    result[which] = _spread(_codes(rest), groups[which])
    return result


def near_twins(shortlist: Shortlist, groups: IntArray | None) -> BoolArray:
    """Say which rows have the candidates of a row of another group in the same order, and nearly its scores.

    Rows are sorted and neighbours compared, so a twin can be missed where other rows come between.

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.diagnosis.duplicates import near_twins
    >>> near_twins(Shortlist.from_scores([[2.0, 1.0], [0.5, 1.0], [2.0, 1.0 + 1e-9]], 2), None).tolist()
    [True, False, True]
    """
    return _spread(_near_codes(shortlist), _own_groups(len(shortlist)) if groups is None else groups)


def in_both(calibration: Shortlist, test: Shortlist) -> tuple[int, int]:
    """Return how many calibration rows nearly equal a test row, and how many test rows a calibration row.

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.diagnosis.duplicates import in_both
    >>> one = Shortlist.from_scores([[2.0, 1.0], [0.5, 1.0]], 2)
    >>> in_both(one, one.take([1, 1]))
    (1, 2)
    """
    k = min(calibration.n_candidates, test.n_candidates)
    together = Shortlist.from_candidates(
        np.concatenate([calibration.ids[:, :k], test.ids[:, :k]]),
        np.concatenate([calibration.scores[:, :k], test.scores[:, :k]]),
        calibration.n_classes,
    )
    side = np.repeat([0, 1], [len(calibration), len(test)]).astype(np.int32)
    found = _spread(_near_codes(together), side)
    return int(found[side == 0].sum()), int(found[side == 1].sum())


def _own_groups(n_rows: int) -> IntArray:
    return np.arange(n_rows, dtype=np.int32)


def _codes(rows: AnyArray) -> AnyArray:
    """Give equal rows of an array one number."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _near_codes(shortlist: Shortlist) -> AnyArray:
    """Give rows with equal candidates and nearly equal scores one number."""
    scores = np.where(shortlist.mask, shortlist.scores, 0.0)
    ids = _codes(shortlist.ids)
    order = np.lexsort((*scores.T[::-1], ids))
    sorted_scores = scores[order]
    size = np.maximum(np.abs(sorted_scores[1:]), np.abs(sorted_scores[:-1]))
    close = (np.abs(np.diff(sorted_scores, axis=0)) <= CLOSE * size).all(axis=1)
    starts = np.ones(len(scores), dtype=bool)
    starts[1:] = ~close | (np.diff(ids[order]) != 0)
    codes = np.empty(len(scores), dtype=np.int64)
    codes[order] = np.cumsum(starts)
    return codes


def _spread(codes: AnyArray, groups: IntArray) -> BoolArray:
    """Say which rows share their code with a row of another group."""
    places = np.unique(np.column_stack([codes, groups]), axis=0)
    found: BoolArray = np.bincount(places[:, 0])[codes] > 1
    return found
