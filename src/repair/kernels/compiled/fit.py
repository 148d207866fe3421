"""The sums of the fit, compiled.

Arrays have shape (k, n) and (d, k, n), with the rows in the last dimension, and each call processes
a range of rows.  Every inner loop then runs over adjacent rows, which the processor handles eight at
a time.
"""

import math

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled_sums

__all__ = ["curvature", "hessian_product", "loss_and_gradient"]

#: Rows per tile.  Each loop over a tile is vectorised, and the columns of a tile stay in the cache.
TILE = 128
#: Constants of `exponential`: log2 e, the number whose addition rounds to an integer, log 2 in two parts, and the
#: exponent below which e^x is taken as 0.
LOG2_E = 1.4426950408889634
ROUNDER = 1.5 * 2.0**52
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
SMALLEST_EXPONENT = -700.0


@compiled_sums
def exponential(x: float) -> float:
    """Return e^x for x ≤ 0.  Only the last bit may be wrong.  Plain arithmetic, so loops over it are vectorised."""
    shifted = x * LOG2_E + ROUNDER  # the last bits of this number are x / log 2, rounded
    whole = shifted - ROUNDER
    rest = x - whole * LOG_2_HIGH - whole * LOG_2_LOW
    power = 1.0 / 6227020800.0  # Taylor series, starting with 1/13!.  |rest| is below 0.35
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


@compiled_sums
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
    paired = len(weights) // 2 * 2
    for candidate in range(len(out)):
        total = out[candidate, : last - first]
        if len(offsets):
            offset_of = index[candidate, first:last]
            for row in range(len(total)):
                total[row] += offsets[np.uint32(offset_of[row])]  # unsigned saves numba's check for negative indices
        for term in range(0, paired, 2):  # two at a time, so totals are read and written half as often
            one, two = weights[term], weights[term + 1]
            first_column, second_column = columns[term, candidate, first:last], columns[term + 1, candidate, first:last]
            for row in range(len(total)):
                total[row] = total[row] + one * first_column[row] + two * second_column[row]
        for term in range(paired, len(weights)):
            weight, column = weights[term], columns[term, candidate, first:last]
            for row in range(len(total)):
                total[row] += weight * column[row]


@compiled_sums
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
            offset_of = index[candidate, first:last]
            for row in range(len(value)):
                out[np.uint32(offset_of[row])] += value[row]
    width, paired = last - first, len(values) // 2 * 2
    for term in range(len(by_term)):
        total = by_term[term]
        for candidate in range(0, paired, 2):  # two at a time, so totals are read and written half as often
            left, right = values[candidate, :width], values[candidate + 1, :width]
            left_column, right_column = columns[term, candidate, first:last], columns[term, candidate + 1, first:last]
            for row in range(width):
                total[row] = total[row] + left[row] * left_column[row] + right[row] * right_column[row]
        for candidate in range(paired, len(values)):
            value, column = values[candidate, :width], columns[term, candidate, first:last]
            for row in range(width):
                total[row] += value[row] * column[row]


@compiled_sums
def softmax(scores: FloatArray, lengths: IntArray, best: FloatArray, mass: FloatArray) -> None:
    """Replace scores (k, width) by e^(score − best), 0 on padding, and write each row's best score and sum."""
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


@compiled_sums
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
    best, mass, label_score = np.empty(TILE), np.empty(TILE), np.empty(TILE)
    total = 0.0
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        label, weight = target[first:last], row_weights[first:last]
        for candidate in range(k):
            score, base_score = scores[candidate], base[candidate, first:last]
            for row in range(len(base_score)):
                score[row] = base_score[row]
        linear(index, columns, offsets, weights, first, last, scores)
        for row in range(len(label)):
            label_score[row] = scores[label[row], row]
        softmax(scores, lengths[first:last], best, mass)
        for row in range(len(label)):
            total += weight[row] * (best[row] - label_score[row] + math.log(mass[row]))
        for candidate in range(k):
            share, residual = probabilities[candidate, first:last], scores[candidate]
            for row in range(len(share)):
                share[row] = residual[row] / mass[row]
                residual[row] = weight[row] * (share[row] - (1.0 if candidate == label[row] else 0.0))
        scatter(scores, index, columns, n_offsets, first, last, by_term, gradient)
    for term in range(len(weights)):
        gradient[n_offsets + term] += by_term[term].sum()
    return total


@compiled_sums
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


@compiled_sums
def curvature(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    start: int,
    stop: int,
    diagonal: FloatArray,
    block: FloatArray,
    cross: FloatArray,
) -> None:
    n_terms, k, _ = columns.shape
    spread, no_terms = np.empty((k, TILE)), np.empty((0, TILE))
    centred, by_pair = np.empty((n_terms, TILE)), np.zeros((n_terms, n_terms, TILE))
    means, weighted = np.empty((n_terms, TILE)), np.empty((n_terms, TILE))
    for first in range(start, stop, TILE):
        last = min(first + TILE, stop)
        weight = row_weights[first:last]
        means[:] = 0.0
        for candidate in range(k):
            share, variance = probabilities[candidate, first:last], spread[candidate]
            for row in range(len(share)):
                variance[row] = weight[row] * share[row] * (1.0 - share[row])
            for term in range(n_terms):
                mean, column = means[term], columns[term, candidate, first:last]
                for row in range(len(share)):
                    mean[row] += share[row] * column[row]
        scatter(spread, index, columns, len(diagonal), first, last, no_terms, diagonal)
        for candidate in range(k):
            share = probabilities[candidate, first:last]
            for term in range(n_terms):
                difference, mean, column = centred[term], means[term], columns[term, candidate, first:last]
                product = weighted[term]
                for row in range(len(share)):
                    difference[row] = column[row] - mean[row]
                    product[row] = weight[row] * share[row] * difference[row]
                for earlier in range(term + 1):
                    total, other = by_pair[term, earlier], centred[earlier]
                    for row in range(len(share)):
                        total[row] += product[row] * other[row]
            if len(cross):
                offset_of = index[candidate, first:last]
                for term in range(n_terms):
                    product = weighted[term]
                    for row in range(len(share)):
                        cross[np.uint32(offset_of[row]), term] += product[row]
    for term in range(n_terms):
        for other_term in range(n_terms):
            block[term, other_term] += by_pair[max(term, other_term), min(term, other_term)].sum()
