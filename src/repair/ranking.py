"""The ranking: what a reranker returns, and the only thing metrics read."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import PAD_ID, AnyArray, FloatArray, IntArray
from repair.errors import InputError
from repair.inputs import check_labels, numeric_array
from repair.kernels import kernels_for
from repair.lazy import lazy
from repair.parallel import even_blocks, map_row_blocks
from repair.shortlist import Shortlist

__all__ = ["Ranking", "blocks_of"]

#: Candidate slots per block when sorting or correcting rows.  Columns of a block should stay in the cache, but threads
#: wait for each other between two kernels, so that small blocks keep a second thread from helping.
SLOTS_PER_BLOCK = 1 << 17


def blocks_of(shortlist: Shortlist) -> list[slice]:
    """Cut a shortlist into blocks; loads the compiled kernels if they pay, for all blocks together."""
    kernels_for(shortlist.ids.size, shortlist.n_candidates)
    return even_blocks(len(shortlist), SLOTS_PER_BLOCK // shortlist.n_candidates)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Each row's candidates, best first, with their final scores.

    Final order is falling final score; equal scores keep the base order, NaN comes after every
    number, padding (id −1, score −Inf) last.  A constant scorer therefore keeps the base order
    and a NaN never wins.

    Attributes
    ----------
    ids : ndarray of int32, shape (n, k)
        Class ids, best first.
    scores : ndarray of float64, shape (n, k)
        Final scores r in the same order.
    order : ndarray of int32, shape (n, k)
        The base position (0 is the base model's favourite) of each ranked candidate.
    n_classes : int
        K.
    class_names : tuple of str or None
        The classes' names, where the model knows them.

    Examples
    --------
    >>> from repair import Ranking, Shortlist
    >>> shortlist = Shortlist.from_scores([[0.1, 2.0, 0.7]], n_candidates=3)
    >>> Ranking.from_scores(shortlist, [[0.0, 5.0, float("nan")]]).ids.tolist()
    [[2, 1, 0]]
    """

    ids: IntArray
    scores: FloatArray
    order: IntArray
    n_classes: int
    class_names: tuple[str, ...] | None = None

    @classmethod
    def from_scores(cls, shortlist: Shortlist, scores: ArrayLike) -> "Ranking":
        """Rank a shortlist by any scorer's values, aligned with ``shortlist.ids``.

        This is the door for rerankers from elsewhere: NaN is accepted here, and ranks last.
        """
        values = numeric_array(scores, "scores", 2).astype(np.float64)
        if not isinstance(shortlist, Shortlist):
            raise InputError(
                f"the first argument is {type(shortlist).__name__}; pass the Shortlist the scores belong to"
            )
        if np.isposinf(values).any():
            row, column = np.argwhere(np.isposinf(values))[0]
            raise InputError(f"scores[{row}, {column}] is inf; a score is finite, −Inf, or NaN (which ranks last)")
        if values.shape != shortlist.ids.shape:
            raise InputError(f"scores has shape {values.shape}, the shortlist {shortlist.ids.shape}; make them alike")
        return cls.from_corrected(shortlist, values)

    @classmethod
    def from_corrected(cls, shortlist: Shortlist, scores: FloatArray) -> "Ranking":
        """Do as `from_scores`, for float64 scores of the right shape."""
        return cls._of_blocks(shortlist, lambda rows, _: scores[rows])

    @classmethod
    def from_scorer(cls, shortlist: Shortlist, scorer: Callable[[Shortlist], FloatArray]) -> "Ranking":
        """Rank by what `scorer` says of some rows, block by block, while their scores are in the cache."""
        return cls._of_blocks(shortlist, lambda _, part: scorer(part))

    @classmethod
    def _of_blocks(cls, shortlist: Shortlist, scores_of: Callable[[slice, Shortlist], FloatArray]) -> "Ranking":
        blocks, shape = blocks_of(shortlist), shortlist.ids.shape
        kernels = kernels_for(shortlist.ids.size, shortlist.n_candidates)
        order, ids, ranked = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape)

        def fill(rows: slice) -> None:
            part = shortlist if len(blocks) == 1 else shortlist.take(rows)
            scores = scores_of(rows, part)
            kernels.rank_rows(part.ids, scores, part.lengths, order[rows], ids[rows], ranked[rows])

        map_row_blocks(fill, blocks)
        for made in (ids, ranked, order):
            made.setflags(write=False)  # ours alone, so no view is needed
        return cls(ids, ranked, order, shortlist.n_classes)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    def __repr__(self) -> str:
        """Return the shape in words."""
        return f"Ranking({len(self)} rows, {self.ids.shape[1]} candidates, {self.n_classes} classes)"

    @property
    def names(self) -> AnyArray:
        """The candidates' names, shape (n, k), best first; '' on padding."""
        if self.class_names is None:
            raise InputError("this ranking has no class names; pass class_names to the fit, or read its ids")
        listed = np.array([*self.class_names, ""], dtype=object)
        named: AnyArray = listed[self.ids]  # −1, padding, finds the empty text at the end
        return named

    @lazy
    def best(self) -> IntArray:
        """Return the first candidate of each row (−1 for a row without candidates)."""
        return self.ids[:, 0]

    def positions(self, labels: ArrayLike) -> IntArray:
        """Return where each row's label ended up (0 is best), −1 if it is not on the shortlist."""
        checked, _ = check_labels(labels, len(self), self.n_classes)
        match = (self.ids == checked[:, None]) & (self.ids != PAD_ID)
        return np.where(match.any(axis=1), match.argmax(axis=1), -1).astype(np.int32)
