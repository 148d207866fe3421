"""Candidates of each row and the columns that gradient-boosted trees read about them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.rerankers.rivals.softmax import log_softmax
from repair.similarity import Similarity

__all__ = ["Candidates", "candidate_table"]

WIDTH = 12


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidates with their columns.

    Attributes
    ----------
    ids : ndarray of int (n, c)
        Classes by descending base score.
    columns : ndarray of float32 (n, c, f)
    """

    ids: IntArray
    columns: AnyArray

    def positions(self, y: IntArray) -> IntArray:
        """Return the position of each label, −1 if it is not a candidate."""
        match = self.ids == y[:, None]
        return np.where(match.any(axis=1), match.argmax(axis=1), -1).astype(np.int32)

    def spread_out(self, values: AnyArray, n_classes: int) -> AnyArray:
        """Return values of candidates as (n, K).  Other classes get the lowest value of the row minus 1."""
        result = np.repeat(values.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
        np.put_along_axis(result, self.ids, values, axis=1)
        return result


def candidate_table(
    z: FloatArray,
    others: Sequence[AnyArray],
    votes: Sequence[AnyArray],
    counts: FloatArray | None,
    similarity: Similarity | None,
) -> Candidates:
    """Return the classes with the best mean log-probability, and the columns of each.

    Parameters
    ----------
    z : ndarray (n, K)
        Base scores.
    others : sequence of ndarray (n, K)
        Scores of other models.
    votes : sequence of ndarray (n, K)
        Shares of neighbours.
    counts : ndarray (K,) or None
        Training rows per class.
    similarity : Similarity or None

    Returns
    -------
    Candidates
    """
    matrices = [log_softmax(z), *(log_softmax(np.asarray(one, dtype=np.float64)) for one in others)]
    ids = _best(np.mean(matrices, axis=0), z)
    columns = [*_base_columns(matrices[0], ids), *_model_columns(matrices[1:], ids)]
    columns += [np.take_along_axis(one, ids, axis=1) for one in votes]
    if counts is not None:
        columns.append(np.log(counts + 1.0)[ids])
    if similarity is not None:
        columns.append(similarity.average_over_rivals(ids, np.full(len(ids), ids.shape[1], dtype=np.int32)))
    return Candidates(ids, np.stack(columns, axis=2).astype(np.float32))


def _best(mean: AnyArray, z: FloatArray) -> IntArray:
    width = min(WIDTH, z.shape[1])
    ids = np.argpartition(-mean, width - 1, axis=1)[:, :width]
    order = np.argsort(-np.take_along_axis(z, ids, axis=1), axis=1, kind="stable")
    return np.take_along_axis(ids, order, axis=1).astype(np.int32)


def _base_columns(log_p: AnyArray, ids: IntArray) -> list[AnyArray]:
    """Return score, probability, rank, and gaps to the first, the second and the neighbours in the order."""
    own = np.take_along_axis(log_p, ids, axis=1)
    top = np.sort(log_p, axis=1)[:, -2:]
    above = np.concatenate([np.zeros((len(own), 1)), own[:, 1:] - own[:, :-1]], axis=1)
    below = np.concatenate([own[:, :-1] - own[:, 1:], np.zeros((len(own), 1))], axis=1)
    rank = np.broadcast_to(np.arange(own.shape[1]), own.shape)
    entropy = np.broadcast_to(-(np.exp(log_p) * log_p).sum(axis=1, keepdims=True), own.shape)
    first, second = top[:, 1:], top[:, :1]
    gap = np.broadcast_to(first - second, own.shape)
    return [own, np.exp(own), own - first, own - second, above, below, rank, entropy, gap]


def _model_columns(matrices: Sequence[AnyArray], ids: IntArray) -> list[AnyArray]:
    """Return the log-probability of each model and its gap to the best class."""
    columns = []
    for matrix in matrices:
        own = np.take_along_axis(matrix, ids, axis=1)
        columns += [own, own - matrix.max(axis=1, keepdims=True)]
    return columns
