"""Kernels on row vectors and full score rows, compiled."""

import math

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.kernels.compiled.compiling import compiled, compiled_in_any_order
from repair.kernels.compiled.fit import exponential

__all__ = ["labels_above", "list_loss", "row_dots"]


@compiled_in_any_order
def row_dots(vectors: AnyArray, table: AnyArray, ids: IntArray, lengths: IntArray) -> FloatArray:
    products = np.zeros(ids.shape)
    for row in range(ids.shape[0]):
        vector = vectors[row]
        for candidate in range(lengths[row]):
            line = table[np.uint32(ids[row, candidate])]  # unsigned saves numba's check for negative indices
            total = np.float32(0.0)
            for column in range(len(vector)):
                total += vector[column] * line[column]
            products[row, candidate] = total
    return products


@compiled_in_any_order
def list_loss(
    features: AnyArray,
    table: AnyArray,
    ids: IntArray,
    base: FloatArray,
    target: IntArray,
    weights: FloatArray,
    gradient: AnyArray,
) -> float:
    shares, loss = np.empty(ids.shape[1]), 0.0
    for row in range(len(ids)):
        vector, length, largest = features[row], 0, -np.inf
        while length < len(shares) and ids[row, length] >= 0:
            line = table[np.uint32(ids[row, length])]
            product = np.float32(0.0)
            for column in range(len(vector)):
                product += vector[column] * line[column]
            shares[length] = base[row, length] + product
            largest = max(largest, shares[length])
            length += 1
        of_label, total = shares[target[row]], 0.0
        for candidate in range(length):
            shares[candidate] = exponential(shares[candidate] - largest)
            total += shares[candidate]
        loss += weights[row] * (math.log(total) + largest - of_label)
        for candidate in range(length):
            residual = shares[candidate] / total - int(candidate == target[row])
            line, factor = gradient[np.uint32(ids[row, candidate])], np.float32(weights[row] * residual)
            for column in range(len(vector)):
                line[column] += factor * vector[column]
    return loss


@compiled
def labels_above(scores: AnyArray, adjustments: AnyArray, labels: IntArray, above: IntArray) -> None:
    for row in range(len(labels)):
        if labels[row] < 0 or scores[row, labels[row]] == -np.inf:
            above[row] = scores.shape[1]
            continue
        line = scores[row]
        for column in range(len(adjustments)):
            adjustment = adjustments[column]
            label_score = line[labels[row]] + adjustment[labels[row]]
            count = 0
            for class_id in range(len(line)):
                count += int(line[class_id] + adjustment[class_id] > label_score)
            above[row, column] = count
