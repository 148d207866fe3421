"""The conditional logit on the shortlist: loss, exact gradient and exact Hessian products.

The parameters are one flat vector: the offsets of the classes that occur, then the weights of the
terms.  The objective is a weighted mean over covered rows plus a quadratic penalty, hence convex.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray, IntArray, dot
from repair._utils.lazy import lazy
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.fitting.preconditioning import approximate_inverse
from repair.kernels import best_kernels

__all__ = ["ConditionalLogit", "Penalty"]

#: Largest number of blocks in which rows are summed.  It is fixed, so sums are bit-identical on every machine.
BLOCKS = 16
ROWS_PER_BLOCK = 4096
#: The cross block is computed only if its copies, one per block of rows, have at most this many numbers per candidate.
CROSS_PER_SLOT = 2


@dataclass(frozen=True, eq=False)
class Penalty:
    """The quadratic penalty Σ strength·(parameter − centre)².

    Attributes
    ----------
    strength, centre : ndarray
        One entry per parameter.
    """

    strength: FloatArray
    centre: FloatArray

    def value(self, parameters: FloatArray) -> float:
        """Return the penalty at `parameters`."""
        return dot(self.strength, (parameters - self.centre) ** 2)

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return the gradient of the penalty at `parameters`."""
        return 2.0 * self.strength * (parameters - self.centre)


class ConditionalLogit:
    """The penalised, weighted negative log-likelihood of the labels among their candidates.

    Arrays in Fortran order, such as those of a `Design`, are used without a copy.

    Parameters
    ----------
    base : ndarray (n, k)
        Scores before the correction.
    index : ndarray of int (n, k)
        Number of each candidate's offset, ignored on padding and if `n_offsets` is 0.
    columns : ndarray (n, k, d)
        Columns of the terms.
    lengths, target : ndarray of int (n,)
        Number of candidates per row, and the label's position among them.
    row_weights : ndarray (n,)
        Row weights, which sum to 1.
    n_offsets : int
    penalty : Penalty
    """

    def __init__(
        self,
        base: FloatArray,
        index: IntArray,
        columns: FloatArray,
        lengths: IntArray,
        target: IntArray,
        row_weights: FloatArray,
        n_offsets: int,
        penalty: Penalty,
    ) -> None:
        # The kernels expect shapes (k, n) and (d, k, n).
        self.base, self.index = np.ascontiguousarray(base.T), np.ascontiguousarray(index.T)
        self.columns: FloatArray = np.ascontiguousarray(columns.T)
        self.lengths, self.target, self.row_weights = lengths, target, row_weights
        self.n_offsets = n_offsets
        self.penalty = penalty
        self.size = n_offsets + len(self.columns)
        self.probabilities = np.zeros(self.base.shape)
        self._kernels = best_kernels()
        self._blocks = _even_blocks(len(base))
        self._curvature: tuple[FloatArray, FloatArray, FloatArray] | None = None
        #: The point last evaluated, with the loss and its gradient there, without the penalty.
        self._last: tuple[FloatArray, float, FloatArray] | None = None

    @lazy
    def _units(self) -> FloatArray:
        largest = [max(1.0, column.max(initial=0.0), -column.min(initial=0.0)) for column in self.columns]
        return np.concatenate([np.ones(self.n_offsets), largest])

    def units(self) -> FloatArray:
        """Return the largest absolute value of each parameter's column, at least 1, and 1 for offsets."""
        return self._units

    def value_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient.  Later Hessian products refer to this point."""
        # A search for priors starts each fit where the last one ended, so neither the loss nor the curvature change.
        if self._last is None or not np.array_equal(parameters, self._last[0]):
            self._curvature, self._last = None, (parameters.copy(), *self._loss_and_gradient(parameters))
        _, loss, gradient = self._last
        return loss + self.penalty.value(parameters), gradient + self.penalty.gradient(parameters)

    def _loss_and_gradient(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        offsets, weights = parameters[: self.n_offsets], parameters[self.n_offsets :]

        def evaluate(rows: slice) -> tuple[float, FloatArray]:
            gradient = np.zeros(self.size)
            loss = self._kernels.loss_and_gradient(
                self.base,
                self.index,
                self.columns,
                self.lengths,
                self.target,
                self.row_weights,
                offsets,
                weights,
                rows.start,
                rows.stop,
                self.probabilities,
                gradient,
            )
            return loss, gradient

        parts = map_row_blocks(evaluate, self._blocks)
        return sum(part[0] for part in parts), _in_order([part[1] for part in parts])

    def hessian_product(self, direction: FloatArray) -> FloatArray:
        """Return the Hessian times `direction`, at the point last evaluated."""

        def multiply(rows: slice) -> FloatArray:
            product = np.zeros(self.size)
            self._kernels.hessian_product(
                self.index,
                self.columns,
                self.row_weights,
                self.probabilities,
                direction,
                self.n_offsets,
                rows.start,
                rows.stop,
                product,
            )
            return product

        return _in_order(map_row_blocks(multiply, self._blocks)) + 2.0 * self.penalty.strength * direction

    def preconditioner(self, ridge: FloatArray | None = None) -> Callable[[FloatArray], FloatArray]:
        """Return an approximate inverse of the Hessian at the point last evaluated.

        Parameters
        ----------
        ridge : ndarray, optional
            Curvature of the penalty.  Defaults to that of `penalty`.
        """
        diagonal, block, cross = self._all_curvature()
        added = 2.0 * self.penalty.strength if ridge is None else ridge
        on_offsets, on_weights = added[: self.n_offsets], added[self.n_offsets :]
        return approximate_inverse(diagonal + on_offsets, block + np.diag(on_weights), cross)

    def curvature(self) -> tuple[FloatArray, FloatArray]:
        """Return the curvature of the loss without the penalty, at the point last evaluated.

        Returns
        -------
        diagonal : ndarray (n_offsets,)
            Σ w·p·(1−p) of each offset, the diagonal of the offsets' block.
        block : ndarray (d, d)
            The full block of the weights.
        """
        diagonal, block, _ = self._all_curvature()
        return diagonal, block

    def cross_curvature(self) -> FloatArray:
        """Return the block between offsets and weights, (n_offsets, d), at the point last evaluated."""
        cross = self._all_curvature()[2]
        if len(cross) == self.n_offsets:
            return cross
        n_terms = self.size - self.n_offsets
        units = np.concatenate([np.zeros((n_terms, self.n_offsets)), np.eye(n_terms)], axis=1)
        products = [self.hessian_product(unit)[: self.n_offsets] for unit in units]
        return np.stack(products, axis=1)

    def offset_curvature(self) -> FloatArray:
        """Return only the diagonal of the offsets' block, see `curvature`."""
        if self._curvature is not None:
            return self._curvature[0]
        return self._compute_curvature(self.columns[:0], with_cross=False)[0]

    def _all_curvature(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        if self._curvature is None:
            copies = self.n_offsets * len(self.columns) * len(self._blocks)
            with_cross = 0 < copies <= CROSS_PER_SLOT * self.index.size
            self._curvature = self._compute_curvature(self.columns, with_cross=with_cross)
        return self._curvature

    def _compute_curvature(self, columns: FloatArray, *, with_cross: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the offsets' diagonal, the block of `columns`, and the cross block (empty without `with_cross`)."""

        def accumulate(rows: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
            diagonal, block = np.zeros(self.n_offsets), np.zeros((len(columns),) * 2)
            cross = np.zeros((self.n_offsets if with_cross else 0, len(columns)))
            self._kernels.curvature(
                self.index,
                columns,
                self.row_weights,
                self.probabilities,
                rows.start,
                rows.stop,
                diagonal,
                block,
                cross,
            )
            return diagonal, block, cross

        diagonals, blocks, crosses = zip(*map_row_blocks(accumulate, self._blocks), strict=True)
        return _in_order(diagonals), _in_order(blocks), _in_order(crosses)


def _even_blocks(n_rows: int) -> list[slice]:
    """Cut rows into 1, 2, 4, 8 or 16 equal blocks, so two, four or eight threads get the same number of blocks."""
    count = 1
    while count < BLOCKS and count * 2 * ROWS_PER_BLOCK <= n_rows:
        count *= 2
    return row_blocks(n_rows, -(-n_rows // count))


def _in_order(parts: Sequence[FloatArray]) -> FloatArray:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
