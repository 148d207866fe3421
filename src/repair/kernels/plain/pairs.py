"""What the candidates of a row are to each other, in plain numpy."""

import numpy as np

from repair.arrays import PAD_ID, AnyArray, BoolArray, FloatArray, IntArray, is_full, row_sums

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
    """Each candidate's entry of a class vector, 0 on padding."""
    if (ids[:, -1] != PAD_ID).all():
        found: AnyArray = vector[ids]
        return found
    return np.where(ids == PAD_ID, vector.dtype.type(0), vector[np.maximum(ids, 0)])


def classes_present(ids: IntArray, n_classes: int) -> BoolArray:
    """Say which classes are a candidate on any row."""
    present = np.zeros(n_classes + 1, dtype=bool)  # the last place is that of padding, −1
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
    """Mean over a row's other candidates j of f_y − f_j, that is m/(m−1)·(f_y − mean f); 0 on padding."""
    k = values.shape[1]
    if is_full(lengths, k):
        difference: FloatArray = (values - row_sums(values)[:, None] / k) * (k / max(k - 1, 1))
        return difference
    real = np.arange(k) < lengths[:, None]
    kept = np.where(real, values, 0.0)
    centred = kept - (row_sums(kept) / np.maximum(lengths, 1))[:, None]
    return np.where(real, centred * (lengths / np.maximum(lengths - 1, 1))[:, None], 0.0)


def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Mean of ``table[y, j]`` over the other candidates j of the row; 0 where there is none.

    The candidates of a row are different classes.
    """
    if len(ids) == 1 and ids[0, -1] != PAD_ID:
        return _average_of_one(table, ids[0])[None]
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


def _average_of_one(table: AnyArray, ids: IntArray) -> FloatArray:
    """Do as `average_over_rivals` for a single row without padding, all rivals at once."""
    values = table[ids, ids[:, None]].astype(np.float64)
    values.ravel()[:: len(ids) + 1] = 0.0  # the candidate itself
    average: FloatArray = values.cumsum(axis=0)[-1]  # summed rival by rival, as everywhere
    average /= max(len(ids) - 1, 1)
    return average


def largest_leads(
    pairs: IntArray, ids: IntArray, scores: FloatArray, lengths: IntArray, target: IntArray, largest: FloatArray
) -> None:
    """Raise `largest` to how far each rival leads its row's label, g of the rival − g of the label.

    `pairs` numbers the two candidates at base positions low < high in column
    high·(high−1)/2 + low; `largest` has two entries for a pair, the first for rows labelled with
    the lower class id.  `target` is the label's position.
    """
    positions = np.arange(ids.shape[1])
    row, rival = np.nonzero((positions < lengths[:, None]) & (positions != target[:, None]))
    own = target[row]
    low, high = np.minimum(own, rival), np.maximum(own, rival)
    pair = pairs[row, high * (high - 1) // 2 + low]
    side = ids[row, own] > ids[row, rival]
    np.maximum.at(largest, (pair, side.astype(np.int32)), scores[row, rival] - scores[row, own])
