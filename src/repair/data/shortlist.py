"""The shortlist: each row's candidates and base scores, in base order."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import PAD_ID, AnyArray, BoolArray, FloatArray, IntArray, as_floats, read_only
from repair._utils.lazy import lazy
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.data.candidate_order import Candidates, bad_score, base_order, pad_lists, to_raw_order
from repair.data.embeddings import check_embeddings
from repair.errors import InputError, InputWarning, warn_user
from repair.kernels import kernels_for
from repair.validation.checks import SCORE_LIMIT, as_array, check_count, check_labels, numeric_array

__all__ = ["Shortlist"]

#: The row vectors of a shortlist without any.
NO_VECTORS: Mapping[str, AnyArray] = {}
#: Class ids are 32-bit.
MOST_CLASSES = 2**31 - 1

#: Scores per block in the top-k selection.  This limits temporary memory and keeps all cores busy.
SCORES_PER_BLOCK = 1 << 19


class Shortlist:
    """The candidates S(x) of each row with the base scores g, best first.

    Build a shortlist with `from_scores` if all K scores are known, or with `from_candidates` if only
    the best candidates are.  Calling the class is the same as `from_candidates`.

    Each row is in base order: by descending score, and by ascending class id among equal scores.
    Rows with fewer than k candidates are padded at the end with id −1 and score −Inf.

    Attributes
    ----------
    ids : ndarray of int32, shape (n, k)
        Class ids, −1 where there is no candidate.
    scores : ndarray of float64, shape (n, k)
        Base scores g, −Inf where there is no candidate.
    n_classes : int
        Number of classes K that the ids refer to.
    embeddings : ndarray of float32, shape (n, d), or None
        One vector of length 1 per row, if they were added with `with_embeddings`.
    row_vectors : mapping from str to ndarray (n, r)
        What each term stores about all K scores of a row, by the name of the term.  See
        `with_row_vectors`.
    converted : bool
        Whether a model's conversion to a log scale has been applied (see `ScoreScale`), so a model that
        reads probabilities does not convert the scores again.

    Examples
    --------
    >>> from repair import Shortlist
    >>> shortlist = Shortlist.from_scores([[0.1, 2.0, 0.7], [1.5, 0.2, 1.5]], n_candidates=2)
    >>> shortlist.ids.tolist()
    [[1, 2], [0, 2]]
    >>> float(shortlist.coverage([2, 1]))
    0.5
    """

    ids: IntArray
    scores: FloatArray
    n_classes: int
    embeddings: AnyArray | None
    row_vectors: Mapping[str, AnyArray]
    converted: bool = False

    def __init__(self, ids: Candidates, scores: Candidates, n_classes: int) -> None:
        checked = Shortlist.from_candidates(ids, scores, n_classes)
        self.ids, self.scores, self.n_classes = checked.ids, checked.scores, checked.n_classes
        self.embeddings, self.row_vectors = None, NO_VECTORS

    @classmethod
    def _of_checked(
        cls,
        ids: IntArray,
        scores: FloatArray,
        n_classes: int,
        embeddings: AnyArray | None = None,
        row_vectors: Mapping[str, AnyArray] = NO_VECTORS,
        converted: bool = False,
    ) -> "Shortlist":
        """Build a shortlist from valid arrays that are in base order."""
        shortlist = cls.__new__(cls)
        shortlist.ids, shortlist.scores, shortlist.n_classes = read_only(ids), read_only(scores), n_classes
        shortlist.embeddings, shortlist.row_vectors = embeddings, row_vectors
        if converted:  # the default is an attribute of the class
            shortlist.converted = True
        return shortlist

    @classmethod
    def from_scores(
        cls, scores: ArrayLike, n_candidates: int = 10, *, adjustment: FloatArray | None = None
    ) -> "Shortlist":
        """Take the `n_candidates` best classes of each row of an (n, K) score array.

        Parameters
        ----------
        scores : array_like, shape (n, K) or (K,)
            Base scores of every class.  −Inf means "not a candidate".  float16, float32, float64
            and integer arrays are read block by block, without a converted copy of the whole array.
        n_candidates : int, default 10
            Width k of the shortlist.  A longer shortlist covers more labels but takes more time and
            memory.  More than K is clipped to K with a warning.
        adjustment : ndarray (K,), optional
            Added to the scores while the candidates are chosen.  With −τ·log counts, rare classes
            get on the shortlist that would otherwise miss it.  The shortlist still has the base
            scores in base order, and always contains the base model's best class.  By default
            candidates are chosen by their base scores.

        Returns
        -------
        Shortlist

        Examples
        --------
        >>> Shortlist.from_scores([3.0, 9.0, 9.0], n_candidates=2).ids.tolist()
        [[1, 2]]
        """
        k = check_count(n_candidates, "n_candidates")
        array = _as_rows(scores, "scores")
        n_rows, n_classes = array.shape
        if n_classes < 2:
            raise InputError(f"scores has {n_classes} column; reranking needs at least two classes")
        if k > n_classes:
            warn_user(f"n_candidates={k} is more than the {n_classes} classes; using {n_classes}", InputWarning)
            k = n_classes
        ids = np.empty((n_rows, k), dtype=np.int32)
        best = np.empty((n_rows, k))
        kernels = kernels_for(array.size, k)

        def fill(rows: slice) -> int:
            block = as_floats(array[rows])
            chosen_by = np.ascontiguousarray(block if adjustment is None else block + adjustment.astype(block.dtype))
            bad = int(kernels.top_k(chosen_by, SCORE_LIMIT, ids[rows], best[rows]))
            if bad < 0 and adjustment is not None:
                to_raw_order(kernels, block, ids[rows], best[rows])
            return bad if bad < 0 else bad + rows.start

        bad_rows = [row for row in map_row_blocks(fill, row_blocks(n_rows, SCORES_PER_BLOCK // n_classes)) if row >= 0]
        if bad_rows:
            raise bad_score(array, bad_rows[0])
        return cls._of_checked(ids, best, n_classes)

    @classmethod
    def from_candidates(cls, ids: Candidates, scores: Candidates, n_classes: int) -> "Shortlist":
        """Build a shortlist from candidates in any order, with a row of class ids and a row of scores per input.

        Parameters
        ----------
        ids : array_like of int, shape (n, k), or sequence of sequences
            Class ids of the candidates.  In an array, pad short rows with −1.  Lists of unequal
            length are padded automatically.
        scores : array_like, shape (n, k), or sequence of sequences
            Base scores of the candidates.  A score of −Inf removes its candidate.  Scores of
            padding are ignored.
        n_classes : int
            Number of classes K.  Ids and class tables are checked against it.

        Returns
        -------
        Shortlist

        Examples
        --------
        >>> Shortlist.from_candidates([[7, 4, -1]], [[0.2, 0.9, 0.0]], n_classes=9).ids.tolist()
        [[4, 7, -1]]
        >>> Shortlist.from_candidates([[7, 4], [1]], [[0.2, 0.9], [0.5]], n_classes=9).ids.tolist()
        [[4, 7], [1, -1]]
        """
        total = check_count(n_classes, "n_classes", low=2)
        if total > MOST_CLASSES:
            raise InputError(f"n_classes is {total}; at most {MOST_CLASSES} classes are supported")
        ids, scores = pad_lists(ids, scores)
        codes = numeric_array(ids, "candidate ids", 2)
        values = numeric_array(scores, "candidate scores", 2).astype(np.float64)
        if codes.shape != values.shape:
            raise InputError(
                f"candidate ids have shape {codes.shape}, candidate scores {values.shape}; the shapes must match"
            )
        if codes.shape[0] == 0 or codes.shape[1] == 0:
            raise InputError(f"candidate ids have shape {codes.shape}; pass at least one row and one candidate")
        if codes.dtype.kind == "f" and not (codes == np.floor(codes)).all():
            row, column = np.argwhere(codes != np.floor(codes))[0]
            raise InputError(
                f"candidate ids[{row}, {column}] is {codes[row, column]}; class ids are whole numbers, −1 is padding"
            )
        outside = (codes < PAD_ID) | (codes >= total)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise InputError(
                f"candidate ids[{row}, {column}] is {codes[row, column]}; ids run from 0 to {total - 1}, −1 is padding"
            )
        return cls._of_checked(*base_order(codes.astype(np.int32), values), total)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    @property
    def n_candidates(self) -> int:
        """The width k of the shortlist."""
        return int(self.ids.shape[1])

    @lazy
    def is_full(self) -> bool:
        """Whether every row has k candidates, so there is no padding."""
        last = self.ids[:, -1]
        return bool(last[0] != PAD_ID) if len(last) == 1 else bool((last != PAD_ID).all())

    @lazy
    def lengths(self) -> IntArray:
        """Return the number of candidates of each row without padding, m in the documentation."""
        if self.is_full:
            return np.full(len(self), self.n_candidates, dtype=np.int32)
        lengths: IntArray = self.mask.sum(axis=1).astype(np.int32)
        return lengths

    @lazy
    def mask(self) -> BoolArray:
        """Return True where there is a candidate, False on padding."""
        mask: BoolArray = self.ids != PAD_ID
        return mask

    def __repr__(self) -> str:
        """Return the shape in words."""
        return f"Shortlist({len(self)} rows, {self.n_candidates} candidates, {self.n_classes} classes)"

    def take(self, rows: "int | slice | Sequence[int] | AnyArray") -> "Shortlist":
        """Return the shortlist of some rows.

        Parameters
        ----------
        rows : int, slice, array_like of int or array_like of bool
            An index, a slice, indices, or a boolean mask.

        Returns
        -------
        Shortlist
        """
        which = rows if isinstance(rows, slice) else np.atleast_1d(np.asarray(rows))
        if isinstance(which, np.ndarray) and which.dtype != np.bool_:
            ids, scores = self.ids.take(which, axis=0), self.scores.take(which, axis=0)  # several times as fast
        else:
            ids, scores = self.ids[which], self.scores[which]
        vectors = None if self.embeddings is None else self.embeddings[which]
        kept = {name: values[which] for name, values in self.row_vectors.items()} if self.row_vectors else NO_VECTORS
        taken = Shortlist._of_checked(ids, scores, self.n_classes, vectors, kept, self.converted)
        if self.__dict__.get("is_full"):
            taken.is_full = True
        return taken

    def with_embeddings(self, embeddings: ArrayLike | None, width: int | None = None) -> "Shortlist":
        """Return the same shortlist with one vector per row, for terms that use nearest neighbours.

        Parameters
        ----------
        embeddings : array_like (n, d) or None
            One vector per row, which is scaled to length 1.  None removes the embeddings.
        width : int, optional
            Expected number of columns d.  By default any d is accepted.

        Returns
        -------
        Shortlist

        Examples
        --------
        >>> Shortlist.from_scores([3.0, 9.0, 9.0], 2).with_embeddings([[0.0, 2.0]]).embeddings.tolist()
        [[0.0, 1.0]]
        """
        vectors = None if embeddings is None else check_embeddings(embeddings, "embeddings", len(self), width)
        return Shortlist._of_checked(self.ids, self.scores, self.n_classes, vectors, self.row_vectors, self.converted)

    def with_row_vectors(self, term: str, vectors: AnyArray) -> "Shortlist":
        """Return the same shortlist with what a term stores about all K scores of each row.

        Parameters
        ----------
        term : str
            Name of the term.
        vectors : ndarray (n, r)
            One vector per row.

        Returns
        -------
        Shortlist
        """
        kept = {**self.row_vectors, term: vectors}
        return Shortlist._of_checked(self.ids, self.scores, self.n_classes, self.embeddings, kept, self.converted)

    def as_converted(self) -> "Shortlist":
        """Return the same shortlist, marked as converted to a log scale."""
        return Shortlist._of_checked(
            self.ids, self.scores, self.n_classes, self.embeddings, self.row_vectors, converted=True
        )

    def first(self, n_candidates: int) -> "Shortlist":
        """Return the shortlist of the best candidates of each row.

        Parameters
        ----------
        n_candidates : int
            Number of candidates to keep.

        Returns
        -------
        Shortlist
            The shortlist itself if it has no more candidates than that.

        Examples
        --------
        >>> Shortlist.from_scores([3.0, 9.0, 7.0], 3).first(2).ids.tolist()
        [[1, 2]]
        """
        if n_candidates >= self.n_candidates:
            return self
        check_count(n_candidates, "n_candidates")
        return Shortlist._of_checked(
            self.ids[:, :n_candidates],
            self.scores[:, :n_candidates],
            self.n_classes,
            self.embeddings,
            self.row_vectors,
            self.converted,
        )

    def positions(self, labels: ArrayLike) -> IntArray:
        """Return the position of each row's label in base order, where 0 is best.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            Class ids, −1 for labels that are not a known class.

        Returns
        -------
        ndarray of int32, shape (n,)
            −1 for uncovered rows.
        """
        checked, _ = check_labels(labels, len(self), self.n_classes)
        return self.positions_of(checked)

    def positions_of(self, labels: IntArray) -> IntArray:
        """Return the positions of already validated labels, see `positions`."""
        positions: IntArray = kernels_for(self.ids.size).label_positions(self.ids, labels)
        return positions

    def coverage(self, labels: ArrayLike) -> float:
        """Return the share of covered rows, P(C).  No reranking of this shortlist can be more accurate.

        Parameters
        ----------
        labels : array_like of int, shape (n,)
            Class ids, −1 for labels that are not a known class.

        Returns
        -------
        float
        """
        return float((self.positions(labels) >= 0).mean())


def _as_rows(scores: ArrayLike, name: str) -> AnyArray:
    array = as_array(scores, name)
    array = numeric_array(array[None] if array.ndim == 1 else array, name, 2)
    if array.shape[0] == 0:
        raise InputError(f"{name} has no rows; pass at least one")
    return array
