"""Top-k selection and final order, in plain numpy."""

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray, is_full

__all__ = ["label_positions", "order_rows", "rank_rows", "top_k"]


def top_k(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    """Write each row's best candidates, best first.  Among equal scores the lower class id comes first.

    Returns the first row that holds NaN or a score beyond ``±limit``, or −1 if there is none.  −Inf
    is allowed and means "not a candidate".
    """
    k = out_ids.shape[1]
    limit = np.float64(limit)  # a Python float would be rounded to the precision of the scores
    if len(scores) == 1:
        return _top_k_single_row(scores[0], limit, out_ids[0], out_scores[0])
    lowest, highest = np.fmin.reduce(scores, axis=1), scores.max(axis=1)  # max propagates NaN
    usable = highest <= limit
    if not np.isneginf(lowest).any():
        usable &= lowest >= -limit
    else:
        usable &= ((scores >= -limit) | np.isneginf(scores)).all(axis=1)
    if not usable.all():
        return int(np.argmin(usable))
    cut = scores.shape[1] - k
    threshold = np.partition(scores, cut, axis=1)[:, cut : cut + 1]
    above = scores > threshold
    tied = scores == threshold
    room = k - above.sum(axis=1, keepdims=True)
    chosen = above | (tied & (np.cumsum(tied, axis=1) <= room))
    ids = np.nonzero(chosen)[1].reshape(-1, k)
    values = np.take_along_axis(scores, ids, axis=1).astype(np.float64)
    order = np.argsort(-values, axis=1, kind="stable")
    out_ids[:] = np.take_along_axis(ids, order, axis=1)
    out_scores[:] = np.take_along_axis(values, order, axis=1)
    out_ids[np.isneginf(out_scores)] = PAD_ID
    return -1


def _top_k_single_row(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    """Do the work of `top_k` for a single row with as few numpy calls as possible, for low latency."""
    k = len(out_ids)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    ids = (scores >= threshold).nonzero()[0]
    if len(ids) < k:  # there is a NaN, which sorts after every number and does not compare as larger
        return 0
    values = scores[ids].astype(np.float64)
    order = (-values).argsort(kind="stable")[:k]
    out_ids[:] = ids[order]
    out_scores[:] = values[order]
    lowest = scores.min()
    if lowest < -limit:
        if not ((scores >= -limit) | np.isneginf(scores)).all():
            return 0
        out_ids[np.isneginf(out_scores)] = PAD_ID
    return -1 if out_scores[0] <= limit else 0


def rank_rows(
    ids: IntArray, scores: FloatArray, lengths: IntArray, order: IntArray, ranked_ids: IntArray, ranked: FloatArray
) -> None:
    """Write each row's order, as returned by `order_rows`, and its ids and scores in that order, −Inf on padding."""
    order[:] = order_rows(scores, lengths)
    flat = order if len(order) == 1 else order + (np.arange(len(order)) * order.shape[1])[:, None]
    ranked_ids[:], ranked[:] = ids.take(flat), scores.take(flat)
    if not is_full(lengths, scores.shape[1]):
        ranked[ranked_ids == PAD_ID] = PAD_SCORE


def label_positions(ids: IntArray, labels: IntArray) -> IntArray:
    """Return the position of each row's label among its candidates, −1 if it is not there or the label is −1."""
    match = (ids == labels[:, None]) & (labels >= 0)[:, None]
    first = match.argmax(axis=1)
    return np.where(match[np.arange(len(match)), first], first, -1).astype(np.int32)


def order_rows(scores: FloatArray, lengths: IntArray) -> IntArray:
    """Return each row's base positions sorted by descending score.

    Equal scores keep the base order, NaN comes after all numbers, and padding (positions from
    ``lengths[i]``) stays last.
    """
    missing = np.isnan(scores)
    if not missing.any() and is_full(lengths, scores.shape[1]):
        return (-scores).argsort(axis=1, kind="stable").astype(np.int32)
    kind = missing.astype(np.int8)  # 0 for numbers, 1 for NaN, 2 for padding
    positions = np.arange(scores.shape[1])
    kind[positions >= lengths[:, None]] = 2
    key = np.where(missing, 0.0, -scores)
    return np.lexsort((np.broadcast_to(positions, scores.shape), key, kind), axis=1).astype(np.int32)
