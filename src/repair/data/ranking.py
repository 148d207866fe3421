"""The ranking: what a reranker returns, and all that metrics need."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import PAD_ID, AnyArray, FloatArray, IntArray, read_only, softmax
from repair._utils.lazy import lazy
from repair._utils.parallel import even_blocks, map_row_blocks
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.validation.checks import check_count, check_labels, numeric_array

__all__ = ["Ranking", "blocks_of"]

#: Candidate slots per block when sorting or correcting rows.  The columns of a block should stay in the cache, but
#: threads wait for each other between two kernels, so a second thread does not help if blocks are small.
SLOTS_PER_BLOCK = 1 << 17


def blocks_of(shortlist: Shortlist) -> list[slice]:
    """Cut a shortlist into blocks of rows, and load the compiled kernels if the whole shortlist is large enough."""
    kernels_for(shortlist.ids.size, shortlist.n_candidates)
    return even_blocks(len(shortlist), SLOTS_PER_BLOCK // shortlist.n_candidates)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Each row's candidates, best first, with their final scores.

    Candidates are sorted by descending final score.  Equal scores keep the base order, NaN comes
    after every number, and padding (id −1, score −Inf) comes last.  A constant scorer therefore
    keeps the base order, and a NaN never wins.

    Attributes
    ----------
    ids : ndarray of int32, shape (n, k)
        Class ids, best first.
    scores : ndarray of float64, shape (n, k)
        Final scores r in the same order.
    order : ndarray of int32, shape (n, k)
        Position of each ranked candidate in the base order.  0 is the base model's first candidate.
    n_classes : int
        Number of classes K.
    class_names : tuple of str or None
        Names of the classes, if the model has them.
    class_counts : ndarray (K,) or None
        The class counts of the model, which define rare and frequent classes.
    fitted_rows_problem : callable or None
        Returns a warning if most of the rows are rows that the model was fitted on, or None.
    base_order_scores : ndarray (n, m) or None
        Base scores of all candidates in base order, from which `base_scores` are taken.
    beliefs : callable or None
        Returns the scores from which `probabilities` are computed, aligned with `ids`.  None if
        these are `scores` themselves.  They differ because a dial or class costs change the order,
        but not how likely a class is.

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
    beliefs: Callable[[], FloatArray] | None = None
    class_counts: FloatArray | None = None
    base_order_scores: FloatArray | None = None
    fitted_rows_problem: Callable[[], str | None] | None = None

    @classmethod
    def from_scores(cls, shortlist: Shortlist, scores: ArrayLike) -> "Ranking":
        """Rank a shortlist by given scores.  Use this for the scores of any other reranker.

        Parameters
        ----------
        shortlist : Shortlist
        scores : array_like, shape (n, k)
            Scores aligned with ``shortlist.ids``.  NaN is accepted and ranks last.

        Returns
        -------
        Ranking
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
            raise InputError(
                f"scores has shape {values.shape}, the shortlist {shortlist.ids.shape}; the shapes must match"
            )
        return cls.from_corrected(shortlist, values)

    @classmethod
    def from_corrected(cls, shortlist: Shortlist, scores: FloatArray) -> "Ranking":
        """Rank by float64 scores of the right shape, without checking them again."""
        return cls._of_blocks(shortlist, lambda rows, _: scores[rows])

    @classmethod
    def from_scorer(
        cls,
        shortlist: Shortlist,
        scorer: Callable[[Shortlist], FloatArray],
        class_names: tuple[str, ...] | None = None,
        class_counts: FloatArray | None = None,
    ) -> "Ranking":
        """Rank by a function that returns the scores of some rows, applied block by block to stay in the cache."""
        return cls._of_blocks(shortlist, lambda _, part: scorer(part), class_names, class_counts)

    @classmethod
    def _of_blocks(
        cls,
        shortlist: Shortlist,
        scores_of: Callable[[slice, Shortlist], FloatArray],
        class_names: tuple[str, ...] | None = None,
        class_counts: FloatArray | None = None,
    ) -> "Ranking":
        blocks, shape = blocks_of(shortlist), shortlist.ids.shape
        kernels = kernels_for(shortlist.ids.size, shortlist.n_candidates)
        order, ids, ranked = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape)

        def fill(rows: slice) -> None:
            part = shortlist if len(blocks) == 1 else shortlist.take(rows)
            scores = scores_of(rows, part)
            kernels.rank_rows(part.ids, scores, part.lengths, order[rows], ids[rows], ranked[rows])

        map_row_blocks(fill, blocks)
        for array in (ids, ranked, order):
            array.setflags(write=False)  # nobody else holds these arrays, so no view is needed
        return cls(ids, ranked, order, shortlist.n_classes, class_names, None, class_counts, shortlist.scores)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    def __repr__(self) -> str:
        """Return the shape in words."""
        return f"Ranking({len(self)} rows, {self.ids.shape[1]} candidates, {self.n_classes} classes)"

    @property
    def names(self) -> AnyArray:
        """The names of the candidates, shape (n, k), best first, with '' on padding."""
        if self.class_names is None:
            raise InputError("this ranking has no class names; pass class_names to fit, or use ids")
        names = np.array([*self.class_names, ""], dtype=object)
        ranked_names: AnyArray = names[self.ids]  # −1, the id of padding, selects the empty text at the end
        return ranked_names

    @lazy
    def probabilities(self) -> FloatArray:
        """Return q(y | x, S) of each candidate, shape (n, k), aligned with `ids`.

        These are probabilities given that the true class is on the shortlist.  Each row sums to 1,
        and padding has 0.  A dial, class costs and a strength below 1 express preferences, so they
        change the order but not these probabilities.  A target prior changes both.  If a model ranks
        more candidates than it returns, a dial can change which of them are on the list.
        """
        beliefs = self.scores if self.beliefs is None else self.beliefs()
        return softmax(np.where(np.isnan(beliefs), -np.inf, beliefs))

    @property
    def base_scores(self) -> FloatArray | None:
        """The base scores of the candidates on a log scale, aligned with `ids`, or None if they are not known."""
        if self.base_order_scores is None:
            return None
        scores: FloatArray = np.take_along_axis(self.base_order_scores, self.order, axis=1)
        return scores

    def __getstate__(self) -> dict[str, object]:
        # A pickled ranking contains its probabilities instead of the model that computes them.
        return {**vars(self), "probabilities": self.probabilities, "beliefs": None}

    @lazy
    def best(self) -> IntArray:
        """Return the first candidate of each row, −1 for a row without candidates."""
        return self.ids[:, 0]

    def first(self, n_candidates: int) -> "Ranking":
        """Return the best candidates of each row.

        The base model's first choice is always among them, if need be in the last place, so no row that
        the base had right becomes uncovered.

        Parameters
        ----------
        n_candidates : int
            Number of candidates to keep.  If only one is kept, it is the best one.

        Returns
        -------
        Ranking
            The ranking itself if it has no more candidates than that.

        Examples
        --------
        >>> from repair import Ranking, Shortlist
        >>> shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]], n_candidates=3)
        >>> Ranking.from_scores(shortlist, [[0.0, 1.0, 2.0]]).first(2).ids.tolist()
        [[2, 0]]
        """
        check_count(n_candidates, "n_candidates")
        if n_candidates >= self.ids.shape[1]:
            return self
        kept = np.broadcast_to(np.arange(n_candidates), (len(self), n_candidates))
        place = self.order.argmin(axis=1)
        if n_candidates > 1 and (place >= n_candidates).any():
            kept = kept.copy()
            kept[:, -1] = np.where(place >= n_candidates, place, n_candidates - 1)
        ids, scores, order = (
            read_only(np.take_along_axis(a, kept, axis=1)) for a in (self.ids, self.scores, self.order)
        )
        beliefs = None if self.beliefs is None else _KeptBeliefs(self.beliefs, kept)
        return replace(self, ids=ids, scores=scores, order=order, beliefs=beliefs)

    def in_base_order(self) -> "Ranking | None":
        """Return the same candidates in base order, or None if base scores are not known or the order is the same."""
        base = self.base_scores
        if base is None or (self.order[:, 1:] > self.order[:, :-1]).all():
            return None
        back = np.argsort(self.order, axis=1, kind="stable")
        return replace(
            self,
            ids=np.take_along_axis(self.ids, back, axis=1),
            scores=np.take_along_axis(base, back, axis=1),
            order=np.take_along_axis(self.order, back, axis=1),
            beliefs=None,
        )

    def to_frame(self, row_ids: Sequence[Any] | None = None, *, kind: str = "pandas") -> Any:
        """Return the ranking as a long data frame: one line per candidate, best first within each row.

        Parameters
        ----------
        row_ids : sequence, optional
            Ids of the rows.  By default they are numbered from 0.
        kind : {"pandas", "polars", "arrow"}, default "pandas"
            Which library's frame to return.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns ``row``, ``rank``, ``candidate`` (if there are class names), ``candidate_id``,
            ``score``, ``probability``, and ``base_rank`` and ``base_score`` if they are known.

        Examples
        --------
        >>> from repair import Ranking, Shortlist
        >>> shortlist = Shortlist.from_scores([[0.1, 2.0, 0.7]], n_candidates=2)
        >>> Ranking.from_scores(shortlist, [[0.0, 5.0]]).to_frame()[["row", "rank", "candidate_id"]].values.tolist()
        [[0, 1, 2], [0, 2, 1]]
        """
        from repair.data.frames import ranking_frame

        return ranking_frame(self, row_ids, kind)

    def positions(self, labels: ArrayLike) -> IntArray:
        """Return the position of each row's label, where 0 is best, or −1 if it is not on the shortlist."""
        checked, _ = check_labels(labels, len(self), self.n_classes)
        match = (self.ids == checked[:, None]) & (self.ids != PAD_ID)
        return np.where(match.any(axis=1), match.argmax(axis=1), -1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _KeptBeliefs:
    """The scores behind the probabilities, of the candidates that were kept."""

    beliefs: Callable[[], FloatArray]
    kept: AnyArray

    def __call__(self) -> FloatArray:
        """Return the scores in the order of the ranking."""
        return np.take_along_axis(self.beliefs(), self.kept, axis=1)
