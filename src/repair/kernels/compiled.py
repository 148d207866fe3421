"""The kernels compiled by numba: one short loop nest each, free of the interpreter lock.

Nothing here validates or allocates per row; `plain` says in numpy what each one computes.  Those of
the fit get arrays in which the rows run fastest, (k, n) and (d, k, n), and look at some rows of
them: then every inner loop goes over neighbouring rows, and the processor takes eight at a time.
"""

import math
import os
from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock

from repair.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray, IntArray

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

if hasattr(os, "register_at_fork"):
    # A child forked while another thread compiles would inherit numba's lock and wait for ever.
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )

#: Rows that the fit's kernels take at a time: each loop over them runs in vectors, and their columns stay in the cache.
TILE = 128
#: The top k looks at so many scores at once, and where that finds something, at so many of those.
STRETCH, CHUNK = 256, 32
#: For e^x: log2 e, the number whose addition rounds, log 2 in two parts, and where e^x is as good as 0.
LOG2_E = 1.4426950408889634
ROUNDER = 1.5 * 2.0**52
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
SMALLEST_EXPONENT = -700.0

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile without the lock, keeping machine code on disk where a folder can be written."""
    try:
        return cast(Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no writable folder for its cache
        return cast(Function, numba.njit(nogil=True)(function))


@compiled
def worth_a_look(scores: AnyArray, bounds: AnyArray) -> bool:
    """Say whether any score is above ``bounds[0]``, at or below ``bounds[1]``, or NaN; runs in vectors."""
    weakest, lowest = bounds[0], bounds[1]
    found = 0
    for place in range(len(scores)):
        found |= int(not (scores[place] <= weakest)) | int(scores[place] <= lowest)
    return found != 0


@compiled
def insert(score: float, candidate: int, filled: int, best: FloatArray, ids: IntArray) -> None:
    """Put a candidate into its place among the best so far; the worst of k falls out."""
    position = min(filled, len(best) - 1)
    while position > 0 and best[position - 1] < score:
        best[position] = best[position - 1]
        ids[position] = ids[position - 1]
        position -= 1
    best[position] = score
    ids[position] = candidate


@compiled
def top_k(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    n_classes, k = scores.shape[1], out_ids.shape[1]
    bounds = np.empty(2, scores.dtype)  # in the scores' own precision, so that comparisons run in full vectors
    for row in range(len(scores)):
        line, best, ids = scores[row], out_scores[row], out_ids[row]
        filled = 0
        bounds[0], bounds[1] = -np.inf, -limit
        for start in range(0, n_classes, STRETCH):
            stop = min(start + STRETCH, n_classes)
            if not worth_a_look(line[start:stop], bounds):
                continue
            for first in range(start, stop, CHUNK):
                last = min(first + CHUNK, stop)
                if not worth_a_look(line[first:last], bounds):
                    continue
                for candidate in range(first, last):
                    score = line[candidate]
                    if not (score <= limit) or (score < -limit and score != -np.inf):
                        return row
                    if score > bounds[0]:
                        insert(score, candidate, filled, best, ids)
                        filled = min(filled + 1, k)
                        if filled == k:
                            bounds[0] = best[k - 1]
        for position in range(filled, k):
            ids[position] = PAD_ID
            best[position] = PAD_SCORE
    return -1


@compiled
def rank_rows(
    ids: IntArray, scores: FloatArray, lengths: IntArray, order: IntArray, ranked_ids: IntArray, ranked: FloatArray
) -> None:
    n, k = scores.shape
    for row in range(n):
        places, sorted_scores = order[row], ranked[row]
        for candidate in range(k):
            position = candidate
            score = scores[row, candidate] if candidate < lengths[row] else PAD_SCORE
            if candidate < lengths[row] and not math.isnan(score):
                while position > 0:
                    above = sorted_scores[position - 1]
                    if above >= score:  # false where it is NaN, which goes down
                        break
                    sorted_scores[position] = above
                    places[position] = places[position - 1]
                    position -= 1
            sorted_scores[position] = score
            places[position] = candidate
        for position in range(k):
            ranked_ids[row, position] = ids[row, places[position]]


@compiled
def order_rows(scores: FloatArray, lengths: IntArray) -> IntArray:
    order, ids = np.empty(scores.shape, np.int32), np.zeros(scores.shape, np.int32)
    rank_rows(ids, scores, lengths, order, np.empty_like(ids), np.empty_like(scores))
    return order


@compiled
def mean_difference(values: FloatArray, lengths: IntArray) -> FloatArray:
    n, k = values.shape
    difference = np.zeros((n, k))
    for row in range(n):
        length = lengths[row]
        total = 0.0
        for candidate in range(length):
            total += values[row, candidate]
        mean, factor = total / max(length, 1), length / max(length - 1, 1)
        for candidate in range(length):
            difference[row, candidate] = (values[row, candidate] - mean) * factor
    return difference


@compiled
def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    average = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        length, mine, found = lengths[row], ids[row], average[row]
        for candidate in range(length):
            line = table[np.uint32(mine[candidate])]  # unsigned, or negative places would be looked for
            total = 0.0
            for rival in range(candidate):
                total += line[np.uint32(mine[rival])]
            for rival in range(candidate + 1, length):
                total += line[np.uint32(mine[rival])]
            found[candidate] = total / max(length - 1, 1)
    return average


@compiled
def weighted_pairs(table: AnyArray, ids: IntArray, lengths: IntArray, shares: FloatArray) -> FloatArray:
    weighted = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        length, mine, found = lengths[row], ids[row], weighted[row]
        for other in range(length):
            line, share = table[np.uint32(mine[other])], shares[row, other]
            for candidate in range(length):
                found[candidate] += share * line[np.uint32(mine[candidate])]
    return weighted


@compiled
def exponential(x: float) -> float:
    """Return e^x for x up to 0, to the last bit but one; plain arithmetic, so that loops over it run in vectors."""
    shifted = x * LOG2_E + ROUNDER  # the last bits of this are x / log 2, rounded
    whole = shifted - ROUNDER
    rest = x - whole * LOG_2_HIGH - whole * LOG_2_LOW
    power = 1.0 / 6227020800.0  # Taylor, 1/13! first: |rest| is below 0.35
    power = power * rest + 1.0 / 479001600.0
    power = power * rest + 1.0 / 39916800.0
    power = power * rest + 1.0 / 3628800.0
    power = power * rest + 1.0 / 362880.0
    power = power * rest + 1.0 / 40320.0
    power = power * rest + 1.0 / 5040.0
    power = power * rest + 1.0 / 720.0
    power = power * rest + 1.0 / 120.0
    power = power * rest + 1.0 / 24.0
    power = power * rest + 1.0 / 6.0
    power = power * rest + 0.5
    power = power * rest + 1.0
    power = power * rest + 1.0
    exponent = (np.float64(shifted).view(np.int64) + 1023) << 52
    return power * np.int64(exponent).view(np.float64) if x > SMALLEST_EXPONENT else 0.0


@compiled
def linear(
    index: IntArray,
    columns: FloatArray,
    offsets: FloatArray,
    weights: FloatArray,
    first: int,
    last: int,
    out: FloatArray,
) -> None:
    """Add the offsets and the weighted columns of rows `first` to `last` to `out`, candidate by candidate."""
    for candidate in range(len(out)):
        total = out[candidate, : last - first]
        if len(offsets):
            place = index[candidate, first:last]
            for row in range(len(total)):
                total[row] += offsets[np.uint32(place[row])]  # unsigned, or negative places would be looked for
        for term in range(len(weights)):
            weight, column = weights[term], columns[term, candidate, first:last]
            for row in range(len(total)):
                total[row] += weight * column[row]


@compiled
def scatter(
    values: FloatArray,
    index: IntArray,
    columns: FloatArray,
    n_offsets: int,
    first: int,
    last: int,
    by_term: FloatArray,
    out: FloatArray,
) -> None:
    """Add values to the offsets' part of `out`, and their products with the columns to `by_term`, row by row."""
    for candidate in range(len(values)):
        value = values[candidate, : last - first]
        if n_offsets:
            place = index[candidate, first:last]
            for row in range(len(value)):
                out[np.uint32(place[row])] += value[row]
        for term in range(len(by_term)):
            total, column = by_term[term], columns[term, candidate, first:last]
            for row in range(len(value)):
                total[row] += value[row] * column[row]


@compiled
def softmax(scores: FloatArray, lengths: IntArray, best: FloatArray, mass: FloatArray) -> None:
    """Turn scores (k, width) into e^(score − best), 0 on padding; write each row's best score and sum."""
    best[:] = -np.inf
    for candidate in range(len(scores)):
        score = scores[candidate]
        for row in range(len(lengths)):
            score[row] = score[row] if candidate < lengths[row] else -np.inf
            best[row] = score[row] if score[row] > best[row] else best[row]
    mass[:] = 0.0
    for candidate in range(len(scores)):
        score = scores[candidate]
        for row in range(len(lengths)):
            score[row] = exponential(score[row] - best[row])
            mass[row] += score[row]


@compiled
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
    k, n_offsets = len(base), len(offsets)
    scores, by_term = np.empty((k, TILE)), np.zeros((len(weights), TILE))
    best, mass, own = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    total = 0.0
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        label, weight = target[first:last], row_weights[first:last]
        for candidate in range(k):
            score, given = scores[candidate], base[candidate, first:last]
            for row in range(len(given)):
                score[row] = given[row]
        linear(index, columns, offsets, weights, first, last, scores)
        for row in range(len(label)):
            own[row] = scores[label[row], row]
        softmax(scores, lengths[first:last], best, mass)
        for row in range(len(label)):
            total += weight[row] * (best[row] - own[row] + math.log(mass[row]))
        for candidate in range(k):
            share, residual = probabilities[candidate, first:last], scores[candidate]
            for row in range(len(share)):
                share[row] = residual[row] / mass[row]
                residual[row] = weight[row] * (share[row] - (1.0 if candidate == label[row] else 0.0))
        scatter(scores, index, columns, n_offsets, first, last, by_term, gradient)
    for term in range(len(weights)):
        gradient[n_offsets + term] += by_term[term].sum()
    return total


@compiled
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
    k, n_terms = len(index), len(columns)
    changes, by_term, mean = np.empty((k, TILE)), np.zeros((n_terms, TILE)), np.empty(TILE)
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        weight = row_weights[first:last]
        changes[:] = 0.0
        linear(index, columns, direction[:n_offsets], direction[n_offsets:], first, last, changes)
        mean[:] = 0.0
        for candidate in range(k):
            share, change = probabilities[candidate, first:last], changes[candidate]
            for row in range(len(share)):
                mean[row] += share[row] * change[row]
        for candidate in range(k):
            share, change = probabilities[candidate, first:last], changes[candidate]
            for row in range(len(share)):
                change[row] = weight[row] * share[row] * (change[row] - mean[row])
        scatter(changes, index, columns, n_offsets, first, last, by_term, product)
    for term in range(n_terms):
        product[n_offsets + term] += by_term[term].sum()


@compiled
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
    n_terms, k, _ = columns.shape
    spread, no_terms = np.empty((k, TILE)), np.empty((0, TILE))
    centred, by_pair = np.empty((n_terms, TILE)), np.zeros((n_terms, n_terms, TILE))
    means, lead = np.empty((n_terms, TILE)), np.empty(TILE)
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        weight = row_weights[first:last]
        means[:] = 0.0
        for candidate in range(k):
            share, room = probabilities[candidate, first:last], spread[candidate]
            for row in range(len(share)):
                room[row] = weight[row] * share[row] * (1.0 - share[row])
            for term in range(n_terms):
                mean, column = means[term], columns[term, candidate, first:last]
                for row in range(len(share)):
                    mean[row] += share[row] * column[row]
        scatter(spread, index, columns, len(diagonal), first, last, no_terms, diagonal)
        for candidate in range(k):
            share = probabilities[candidate, first:last]
            for one in range(n_terms):
                away, mean, column = centred[one], means[one], columns[one, candidate, first:last]
                for row in range(len(share)):
                    away[row] = column[row] - mean[row]
                    lead[row] = weight[row] * share[row] * away[row]
                for two in range(one + 1):
                    total, other = by_pair[one, two], centred[two]
                    for row in range(len(share)):
                        total[row] += lead[row] * other[row]
    for one in range(n_terms):
        for two in range(n_terms):
            block[one, two] += by_pair[max(one, two), min(one, two)].sum()


@compiled
def largest_leads(
    pairs: IntArray, ids: IntArray, scores: FloatArray, lengths: IntArray, target: IntArray, largest: FloatArray
) -> None:
    for row in range(ids.shape[0]):
        own = target[row]
        for rival in range(lengths[row]):
            if rival != own:
                low, high = min(own, rival), max(own, rival)
                pair = pairs[row, high * (high - 1) // 2 + low]
                side = 1 if ids[row, own] > ids[row, rival] else 0
                lead = scores[row, rival] - scores[row, own]
                if lead > largest[pair, side]:
                    largest[pair, side] = lead
