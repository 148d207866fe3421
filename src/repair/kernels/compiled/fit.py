"""The sums of the fit, compiled.

They get arrays in which the rows run fastest, (k, n) and (d, k, n), and look at some rows of them:
then every inner loop goes over neighbouring rows, and the processor takes eight at a time.
"""

import math

import numpy as np

from repair.arrays import FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled_sums

__all__ = ["curvature", "hessian_product", "loss_and_gradient"]

#: Rows that are taken at a time: each loop over them runs in vectors, and their columns stay in the cache.
TILE = 128
#: For e^x: log2 e, the number whose addition rounds, log 2 in two parts, and where e^x is as good as 0.
LOG2_E = 1.4426950408889634
ROUNDER = 1.5 * 2.0**52
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
SMALLEST_EXPONENT = -700.0


@compiled_sums
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
            place = index[candidate, first:last]
            for row in range(len(value)):
                out[np.uint32(place[row])] += value[row]
    width, paired = last - first, len(values) // 2 * 2
    for term in range(len(by_term)):
        total = by_term[term]
        for candidate in range(0, paired, 2):  # two at a time, so that totals are read and written half as often
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
    means, leads = np.empty((n_terms, TILE)), np.empty((n_terms, TILE))
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
                lead = leads[one]
                for row in range(len(share)):
                    away[row] = column[row] - mean[row]
                    lead[row] = weight[row] * share[row] * away[row]
                for two in range(one + 1):
                    total, other = by_pair[one, two], centred[two]
                    for row in range(len(share)):
                        total[row] += lead[row] * other[row]
            if len(cross):
                place = index[candidate, first:last]
                for one in range(n_terms):
                    lead = leads[one]
                    for row in range(len(share)):
                        cross[np.uint32(place[row]), one] += lead[row]
    for one in range(n_terms):
        for two in range(n_terms):
            block[one, two] += by_pair[max(one, two), min(one, two)].sum()
