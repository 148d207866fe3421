"""The kernels in plain numpy: no compiler, no loop over rows.

Loops here run over the few candidates of a row or over terms, with all rows at once.  Sums that
reach a ranking are accumulated candidate by candidate, in the order `compiled` uses, so that both
give the same bits.
"""

import numpy as np

from repair.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray, dot, row_sums

__all__ = [
    "average_over_rivals",
    "curvature",
    "hessian_product",
    "largest_leads",
    "loss_and_gradient",
    "mean_difference",
    "order_rows",
    "rank_rows",
    "top_k",
    "weighted_pairs",
]


def top_k(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    """Write each row's best candidates, best first, ties by lower class id.

    Returns the first row that holds NaN or a score beyond ``±limit`` (−Inf is allowed and means
    "not a candidate"), or −1.
    """
    k = out_ids.shape[1]
    limit = np.float64(limit)  # a plain float would be rounded to the scores' own precision
    if len(scores) == 1:
        return _top_k_of_one(scores[0], limit, out_ids[0], out_scores[0])
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


def _top_k_of_one(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    """Do as `top_k` for a single row, with as few calls as possible: a service waits for each."""
    k = len(out_ids)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    ids = (scores >= threshold).nonzero()[0]
    if len(ids) < k:  # NaN sorts after every number, and is not above anything
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


def order_rows(scores: FloatArray, lengths: IntArray) -> IntArray:
    """Return each row's base positions by falling score; ties by base position, NaN after numbers.

    Padding (positions from ``lengths[i]``) stays last.
    """
    missing = np.isnan(scores)
    if not missing.any() and _is_full(lengths, scores.shape[1]):
        return (-scores).argsort(axis=1, kind="stable").astype(np.int32)
    kind = missing.astype(np.int8)
    positions = np.arange(scores.shape[1])
    kind[positions >= lengths[:, None]] = 2
    key = np.where(missing, 0.0, -scores)
    return np.lexsort((np.broadcast_to(positions, scores.shape), key, kind), axis=1).astype(np.int32)


def rank_rows(
    ids: IntArray, scores: FloatArray, lengths: IntArray, order: IntArray, ranked_ids: IntArray, ranked: FloatArray
) -> None:
    """Write each row's order as `order_rows` gives it, and its ids and scores in that order; −Inf on padding."""
    order[:] = order_rows(scores, lengths)
    flat = order if len(order) == 1 else order + (np.arange(len(order)) * order.shape[1])[:, None]
    ranked_ids[:], ranked[:] = ids.take(flat), scores.take(flat)
    if not _is_full(lengths, scores.shape[1]):
        ranked[ranked_ids == PAD_ID] = PAD_SCORE


def mean_difference(values: FloatArray, lengths: IntArray) -> FloatArray:
    """Mean over a row's other candidates j of f_y − f_j, that is m/(m−1)·(f_y − mean f); 0 on padding."""
    k = values.shape[1]
    if _is_full(lengths, k):
        difference: FloatArray = (values - row_sums(values)[:, None] / k) * (k / max(k - 1, 1))
        return difference
    real = np.arange(k) < lengths[:, None]
    kept = np.where(real, values, 0.0)
    centred = kept - (row_sums(kept) / np.maximum(lengths, 1))[:, None]
    return np.where(real, centred * (lengths / np.maximum(lengths - 1, 1))[:, None], 0.0)


def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    """Mean of ``table[y, j]`` over the other candidates j of the row; 0 where there is none."""
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


def weighted_pairs(table: AnyArray, ids: IntArray, lengths: IntArray, shares: FloatArray) -> FloatArray:
    """Sum over the row's candidates j, itself included, of ``shares[j] * table[j, y]``; 0 on padding."""
    total = np.zeros(ids.shape)
    safe = np.maximum(ids, 0)
    for other in range(ids.shape[1]):
        value = shares[:, other : other + 1] * table[safe[:, other : other + 1], safe].astype(np.float64)
        value[other >= lengths] = 0.0
        total += value
    total[ids == PAD_ID] = 0.0
    return total


def loss_and_gradient(
    base: FloatArray,
    index: IntArray,
    columns: FloatArray,
    lengths: IntArray,
    target: IntArray,
    row_weights: FloatArray,
    offsets: FloatArray,
    weights: FloatArray,
    start: int,
    stop: int,
    probabilities: FloatArray,
    gradient: FloatArray,
) -> float:
    """Weighted conditional-logit loss of rows `start` to `stop`; adds to `gradient`, writes `probabilities`.

    `gradient` is laid out as (offsets, weights); `index` says which offset a candidate has.  Arrays
    are candidate by candidate, (k, n) and (d, k, n).
    """
    rows = slice(start, stop)
    padded = np.arange(len(base))[:, None] >= lengths[rows]
    scores = base[:, rows] + _linear(index[:, rows], columns[:, :, rows], offsets, weights)
    scores[padded] = PAD_SCORE
    best = scores.max(axis=0)
    shares = np.exp(scores - best)
    mass = shares.sum(axis=0)
    places = target[rows], np.arange(stop - start)
    loss = np.log(mass) + best - scores[places]
    shares /= mass
    probabilities[:, rows] = shares
    shares[places] -= 1.0
    shares *= row_weights[rows]
    _scatter(shares, index[:, rows], columns[:, :, rows], len(offsets), gradient)
    return dot(row_weights[rows], loss)


def hessian_product(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    direction: FloatArray,
    n_offsets: int,
    start: int,
    stop: int,
    product: FloatArray,
) -> None:
    """Add the Hessian of these rows' loss times `direction` to `product`, at the point of `probabilities`."""
    rows = slice(start, stop)
    shares = probabilities[:, rows]
    change = _linear(index[:, rows], columns[:, :, rows], direction[:n_offsets], direction[n_offsets:])
    curved = shares * (change - (shares * change).sum(axis=0)) * row_weights[rows]
    _scatter(curved, index[:, rows], columns[:, :, rows], n_offsets, product)


def curvature(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    start: int,
    stop: int,
    diagonal: FloatArray,
    block: FloatArray,
) -> None:
    """Add the offsets' diagonal and the terms' block of the Hessian of these rows' loss."""
    rows = slice(start, stop)
    shares, weighted = probabilities[:, rows], probabilities[:, rows] * row_weights[rows]
    if len(diagonal):
        spread = weighted * (1.0 - shares)
        diagonal += np.bincount(index[:, rows].ravel(), spread.ravel(), minlength=len(diagonal))
    centred = columns[:, :, rows] - np.einsum("kn,dkn->dn", shares, columns[:, :, rows])[:, None]
    block += np.einsum("kn,dkn,ekn->de", weighted, centred, centred, optimize=True)


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


def _is_full(lengths: IntArray, k: int) -> bool:
    """Say whether no row is padded."""
    return bool(lengths[0] == k) if len(lengths) == 1 else bool((lengths == k).all())


def _linear(index: IntArray, columns: FloatArray, offsets: FloatArray, weights: FloatArray) -> FloatArray:
    scores = offsets[index] if len(offsets) else np.zeros(index.shape)
    for term, weight in enumerate(weights):
        scores += weight * columns[term]
    return scores


def _scatter(values: FloatArray, index: IntArray, columns: FloatArray, n_offsets: int, out: FloatArray) -> None:
    if n_offsets:
        out[:n_offsets] += np.bincount(index.ravel(), values.ravel(), minlength=n_offsets)
    out[n_offsets:] += np.einsum("kn,dkn->d", values, columns)
