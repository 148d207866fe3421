"""Comparisons between the candidates of a row, in plain numpy."""

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray, BoolArray, FloatArray, IntArray, is_full, row_sums

__all__ = [
    "add_class_difference",
    "add_column",
    "add_mean_difference",
    "add_per_class",
    "average_over_rivals",
    "classes_present",
    "largest_leads",
    "mean_difference",
    "per_class",
]


def per_class(vector: AnyArray, ids: IntArray) -> AnyArray:
    """Return each candidate's entry of a class vector, 0 on padding."""
    if (ids[:, -1] != PAD_ID).all():
        entries: AnyArray = vector[ids]
        return entries
    return np.where(ids == PAD_ID, vector.dtype.type(0), vector[np.maximum(ids, 0)])


def classes_present(ids: IntArray, n_classes: int) -> BoolArray:
    """Return which classes are a candidate on at least one row."""
    present = np.zeros(n_classes + 1, dtype=bool)  # the last entry is for padding, −1
    present[ids] = True
    return present[:-1]


def add_column(total: FloatArray, factor: float, column: FloatArray) -> None:
    """Add `factor` times a column to the scores."""
    total += factor * column


def add_per_class(total: FloatArray, factor: float, vector: FloatArray, ids: IntArray) -> None:
    """Add `factor` times each candidate's entry of a class vector to the scores."""
    total += factor * per_class(vector, ids)


def add_mean_difference(total: FloatArray, factor: float, values: FloatArray, lengths: IntArray) -> None:
    """Add `factor` times the mean differences of `values` to the scores."""
    total += factor * mean_difference(values, lengths)


def add_class_difference(
    total: FloatArray, factor: float, vector: FloatArray, ids: IntArray, lengths: IntArray
) -> None:
    """Add `factor` times the mean differences of a class vector's entries to the scores."""
    total += factor * mean_difference(per_class(vector, ids), lengths)


def mean_difference(values: FloatArray, lengths: IntArray) -> FloatArray:
    """Return the mean of f_y − f_j over the other candidates j of the row, 0 on padding.

    With m candidates this equals m/(m−1)·(f_y − mean f).
    """
    k = values.shape[1]
    if is_full(lengths, k):
        difference: FloatArray = (values - row_sums(values)[:, None] / k) * (k / max(k - 1, 1))
        return difference
    real = np.arange(k) < lengths[:, None]
    kept = np.where(real, values, 0.0)
    centred = kept - (row_sums(kept) / np.maximum(lengths, 1))[:, None]
    return np.where(real, centred * (lengths / np.maximum(lengths - 1, 1))[:, None], 0.0)


def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Return the mean of ``table[y, j]`` over the other candidates j of the row, 0 where there are none.

    The candidates of a row must be distinct classes.
    """
    if len(ids) == 1 and ids[0, -1] != PAD_ID:
        return _average_single_row(table, ids[0])[None]
    total = np.zeros(ids.shape)
    safe = np.maximum(ids, 0)
    for rival in range(ids.shape[1]):
        value = table[safe, safe[:, rival : rival + 1]].astype(np.float64)
        value[:, rival] = 0.0
        value[rival >= lengths] = 0.0
        total += value
    total /= np.maximum(lengths - 1, 1)[:, None]
    total[ids == PAD_ID] = 0.0
    return total


def _average_single_row(table: AnyArray, ids: IntArray) -> FloatArray:
    """Return `average_over_rivals` of a single row without padding, for all rivals at once."""
    values = table[ids, ids[:, None]].astype(np.float64)
    values.ravel()[:: len(ids) + 1] = 0.0  # the candidate itself
    average: FloatArray = values.cumsum(axis=0)[-1]  # summed rival by rival, as for several rows
    average /= max(len(ids) - 1, 1)
    return average


def largest_leads(
    pairs: IntArray, ids: IntArray, scores: FloatArray, lengths: IntArray, target: IntArray, largest: FloatArray
) -> None:
    """Update `largest` with the lead of each rival over its row's label, g of the rival − g of the label.

    Column high·(high−1)/2 + low of `pairs` holds the number of the pair of candidates at base
    positions low < high.  `largest` has two entries per pair, the first for rows whose label is the
    lower class id.  `target` is the label's position.
    """
    positions = np.arange(ids.shape[1])
    row, rival = np.nonzero((positions < lengths[:, None]) & (positions != target[:, None]))
    label = target[row]
    low, high = np.minimum(label, rival), np.maximum(label, rival)
    pair = pairs[row, high * (high - 1) // 2 + low]
    side = ids[row, label] > ids[row, rival]
    np.maximum.at(largest, (pair, side.astype(np.int32)), scores[row, rival] - scores[row, label])
