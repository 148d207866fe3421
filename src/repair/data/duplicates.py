"""Duplicate rows: within the calibration set, or in both calibration and test set."""

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, IntArray
from repair.data.calibration_set import CalibrationSet
from repair.data.shortlist import Shortlist

__all__ = ["copied_rows", "distinctive", "exact_duplicates", "in_both", "near_duplicates"]

#: Scores that differ by at most this, relative to their size, are taken to come from the same input.
CLOSE = 1e-6
#: Rows are distinctive if fewer than this many pairs are expected to have the scores of such a row by chance.
CHANCE = 0.01
#: Smallest estimate of how often a value that was seen once would be seen again.
RAREST = 2.0**-20


def distinctive(shortlist: Shortlist) -> BoolArray:
    """Return which rows have scores that two different inputs would not both get by chance.

    Trees and nearest neighbours give many inputs the same scores: equal scores are not equal rows.  How
    likely the scores of a row are is estimated from how many different rows have the same first class, and
    the same score at each rank.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Shortlist
    >>> from repair.data.duplicates import distinctive
    >>> scores = np.random.default_rng(0).normal(size=(100, 3))
    >>> bool(distinctive(Shortlist.from_scores(scores, 3)).all())
    True
    >>> bool(distinctive(Shortlist.from_scores(scores.round(), 3)).any())
    False
    """
    scores = np.where(shortlist.mask, shortlist.scores, np.float64(np.finfo(np.float32).min)).astype(np.float32)
    values = np.column_stack([shortlist.ids[:, :1].astype(np.float64), scores])
    different = np.unique(_near_codes(shortlist), return_index=True)[1]
    bits = np.zeros(len(shortlist))
    for column in values.T:
        # Copies count once, because otherwise they would make their own scores look usual.
        codes = np.unique(column, return_inverse=True)[1]
        times = np.bincount(codes[different], minlength=codes.max() + 1)
        # Good and Turing's estimate: if no value occurs twice, chance hardly ever repeats one that occurs once.
        once = min(max(2.0 * float((times == 2).sum()) / max(int((times == 1).sum()), 1), RAREST), 1.0)
        bits -= np.log2(np.where(times > 1, times, once)[codes] / len(different))
    pairs = max(len(shortlist) ** 2 / 2.0, 1.0)
    which: BoolArray = bits > np.log2(pairs / CHANCE)
    return which


def copied_rows(calibration: CalibrationSet) -> BoolArray:
    """Return which rows are copies of a row of another group, exactly or nearly, beyond what chance gives."""
    shortlist, groups = calibration.shortlist, calibration.groups
    exact = exact_duplicates(shortlist, calibration.labels, groups, calibration.all_scores)
    copies = exact | near_duplicates(shortlist, groups)
    return copies & distinctive(shortlist) if copies.any() else copies


def exact_duplicates(
    shortlist: Shortlist, labels: IntArray, groups: IntArray | None, dense: AnyArray | None
) -> BoolArray:
    """Return which rows have the same scores and label as a row of another group.

    Copies within one group are harmless, because folds and tests keep groups whole.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Shortlist
    >>> from repair.data.duplicates import exact_duplicates
    >>> scores = np.array([[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [0.5, 1.0]])
    >>> exact_duplicates(Shortlist.from_scores(scores, 2), np.array([0, 0, 1, 1]), None, scores).tolist()
    [True, True, False, False]
    """
    groups = _own_groups(len(shortlist)) if groups is None else groups
    rows = np.column_stack([labels, shortlist.ids, np.where(shortlist.mask, shortlist.scores, 0.0)])
    copies = _in_several_groups(_codes(rows), groups)
    if dense is None or not copies.any():
        return copies
    # Few rows agree on a whole shortlist, so all scores are compared only for those.
    which = np.flatnonzero(copies)
    rest = np.column_stack([labels[which], np.asarray(dense)[which].astype(np.float64)])
    result = np.zeros(len(shortlist), dtype=bool)
    result[which] = _in_several_groups(_codes(rest), groups[which])
    return result


def near_duplicates(shortlist: Shortlist, groups: IntArray | None) -> BoolArray:
    """Return which rows have the same candidates in the same order as a row of another group, with nearly equal scores.

    Rows are sorted and only neighbours are compared, so a duplicate is missed if other rows are sorted
    between the two.

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.data.duplicates import near_duplicates
    >>> near_duplicates(Shortlist.from_scores([[2.0, 1.0], [0.5, 1.0], [2.0, 1.0 + 1e-9]], 2), None).tolist()
    [True, False, True]
    """
    return _in_several_groups(_near_codes(shortlist), _own_groups(len(shortlist)) if groups is None else groups)


def in_both(calibration: Shortlist, test: Shortlist) -> tuple[int, int]:
    """Return how many calibration rows nearly equal a test row, and how many test rows nearly equal a calibration row.

    Rows whose scores are not distinctive are not counted.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Shortlist
    >>> from repair.data.duplicates import in_both
    >>> shortlist = Shortlist.from_scores(np.random.default_rng(0).normal(size=(9, 5)), 5)
    >>> in_both(shortlist, shortlist.take([1, 1]))
    (1, 2)
    """
    k = min(calibration.n_candidates, test.n_candidates)
    together = Shortlist.from_candidates(
        np.concatenate([calibration.ids[:, :k], test.ids[:, :k]]),
        np.concatenate([calibration.scores[:, :k], test.scores[:, :k]]),
        calibration.n_classes,
    )
    side = np.repeat([0, 1], [len(calibration), len(test)]).astype(np.int32)
    shared = _in_several_groups(_near_codes(together), side)
    if shared.any():
        shared &= distinctive(together)
    return int(shared[side == 0].sum()), int(shared[side == 1].sum())


def _own_groups(n_rows: int) -> IntArray:
    return np.arange(n_rows, dtype=np.int32)


def _codes(rows: AnyArray) -> AnyArray:
    """Return a code for each row of an array.  Equal rows have the same code."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def _near_codes(shortlist: Shortlist) -> AnyArray:
    """Return a code for each row.  Rows with equal candidates and nearly equal scores have the same code."""
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


def _in_several_groups(codes: AnyArray, groups: IntArray) -> BoolArray:
    """Return which rows have the same code as a row of another group."""
    pairs = np.unique(np.column_stack([codes, groups]), axis=0)
    several: BoolArray = np.bincount(pairs[:, 0])[codes] > 1
    return several
