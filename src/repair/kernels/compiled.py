"""The kernels compiled by numba: one short loop nest each, free of the interpreter lock.

Nothing here validates or allocates per row; `plain` says in numpy what each one computes.
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
    "order_rows",
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

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile without the lock, keeping machine code on disk where a folder can be written."""
    try:
        return cast(Function, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:  # numba found no writable folder for its cache
        return cast(Function, numba.njit(nogil=True)(function))


@compiled
def top_k(scores: AnyArray, limit: float, out_ids: IntArray, out_scores: FloatArray) -> int:
    k = out_ids.shape[1]
    for row in range(scores.shape[0]):
        filled = 0
        weakest = -np.inf
        for candidate in range(scores.shape[1]):
            score = scores[row, candidate]
            if not (score <= limit) or (score < -limit and score != -np.inf):
                return row
            if score > weakest:
                position = min(filled, k - 1)
                while position > 0 and out_scores[row, position - 1] < score:
                    out_scores[row, position] = out_scores[row, position - 1]
                    out_ids[row, position] = out_ids[row, position - 1]
                    position -= 1
                out_scores[row, position] = score
                out_ids[row, position] = candidate
                filled = min(filled + 1, k)
                if filled == k:
                    weakest = out_scores[row, k - 1]
        for position in range(filled, k):
            out_ids[row, position] = PAD_ID
            out_scores[row, position] = PAD_SCORE
    return -1


@compiled
def order_rows(scores: FloatArray, lengths: IntArray) -> IntArray:
    n, k = scores.shape
    order = np.empty((n, k), dtype=np.int32)
    for row in range(n):
        for candidate in range(k):
            position = candidate
            score = scores[row, candidate]
            if candidate < lengths[row] and not math.isnan(score):
                while position > 0:
                    above = scores[row, order[row, position - 1]]
                    if not (above < score or math.isnan(above)):
                        break
                    order[row, position] = order[row, position - 1]
                    position -= 1
            order[row, position] = candidate
    return order


@compiled
def average_over_rivals(table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    average = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        length = lengths[row]
        for candidate in range(length):
            total = 0.0
            for rival in range(length):
                if rival != candidate:
                    total += table[ids[row, candidate], ids[row, rival]]
            average[row, candidate] = total / max(length - 1, 1)
    return average


@compiled
def weighted_pairs(table: AnyArray, ids: IntArray, lengths: IntArray, shares: FloatArray) -> FloatArray:
    found = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        for candidate in range(lengths[row]):
            total = 0.0
            for other in range(lengths[row]):
                total += shares[row, other] * table[ids[row, other], ids[row, candidate]]
            found[row, candidate] = total
    return found


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
    probabilities: FloatArray,
    gradient: FloatArray,
) -> float:
    n_offsets = len(offsets)
    total = 0.0
    for row in range(base.shape[0]):
        length = lengths[row]
        best = -np.inf
        for candidate in range(length):
            score = base[row, candidate]
            if n_offsets:
                score += offsets[index[row, candidate]]
            for term in range(len(weights)):
                score += weights[term] * columns[row, candidate, term]
            probabilities[row, candidate] = score
            best = max(best, score)
        loss = best - probabilities[row, target[row]]
        mass = 0.0
        for candidate in range(length):
            share = math.exp(probabilities[row, candidate] - best)
            probabilities[row, candidate] = share
            mass += share
        total += row_weights[row] * (loss + math.log(mass))
        for candidate in range(length):
            probabilities[row, candidate] /= mass
            residual = row_weights[row] * probabilities[row, candidate]
            if candidate == target[row]:
                residual -= row_weights[row]
            if n_offsets:
                gradient[index[row, candidate]] += residual
            for term in range(len(weights)):
                gradient[n_offsets + term] += residual * columns[row, candidate, term]
    return total


@compiled
def hessian_product(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    direction: FloatArray,
    n_offsets: int,
    product: FloatArray,
) -> None:
    n, k, n_terms = columns.shape
    change = np.empty(k)
    for row in range(n):
        mean = 0.0
        for candidate in range(k):
            change[candidate] = 0.0
            if n_offsets:
                change[candidate] = direction[index[row, candidate]]
            for term in range(n_terms):
                change[candidate] += direction[n_offsets + term] * columns[row, candidate, term]
            mean += probabilities[row, candidate] * change[candidate]
        for candidate in range(k):
            curvature = row_weights[row] * probabilities[row, candidate] * (change[candidate] - mean)
            if n_offsets:
                product[index[row, candidate]] += curvature
            for term in range(n_terms):
                product[n_offsets + term] += curvature * columns[row, candidate, term]


@compiled
def curvature(
    index: IntArray,
    columns: FloatArray,
    row_weights: FloatArray,
    probabilities: FloatArray,
    diagonal: FloatArray,
    block: FloatArray,
) -> None:
    n, k, n_terms = columns.shape
    mean = np.empty(n_terms)
    for row in range(n):
        mean[:] = 0.0
        for candidate in range(k):
            share = probabilities[row, candidate]
            if len(diagonal):
                diagonal[index[row, candidate]] += row_weights[row] * share * (1.0 - share)
            for term in range(n_terms):
                mean[term] += share * columns[row, candidate, term]
        for candidate in range(k):
            weight = row_weights[row] * probabilities[row, candidate]
            for first in range(n_terms):
                lead = weight * (columns[row, candidate, first] - mean[first])
                for second in range(n_terms):
                    block[first, second] += lead * (columns[row, candidate, second] - mean[second])


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
