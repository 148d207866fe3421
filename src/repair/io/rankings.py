"""Writing rankings to files, together with other columns of the input."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import PAD_ID, AnyArray, FloatArray
from repair._utils.atomic_write import write_atomically
from repair.data.ranking import Ranking
from repair.errors import InputError, InputWarning, warn_user
from repair.io.columns import ColumnNames
from repair.io.formats import Path, format_of, needs_arrow
from repair.io.table_writers import archive_bytes, array_bytes, building, table_bytes
from repair.validation.checks import check_choice, check_class_names, numeric_array

__all__ = ["write_ranking"]


def write_ranking(
    path: Path,
    ranking: Ranking,
    *,
    class_names: Sequence[str] | None = None,
    probabilities: ArrayLike | None = None,
    row_ids: Any = None,
    other: Any = None,
    layout: str = "lists",
    row_name: str = "row",
    base_scores: ArrayLike | None = None,
    columns: ColumnNames | None = None,
) -> None:
    """Write a ranking to a file, completely or not at all.  The ending of the name determines the format.

    Parameters
    ----------
    path : path
        ``.parquet``, ``.arrow``, ``.feather``, ``.jsonl``, ``.csv``, ``.tsv`` (text also ``.gz``),
        ``.npz``, or ``.npy`` (only the ranked ids).
    ranking : Ranking
    class_names : sequence of str, optional
        Names of the classes.  By default candidates are written as ids.
    probabilities : array_like, shape (n, k), optional
        Probabilities aligned with ``ranking.ids``, usually ``ranking.probabilities``.  By default none are
        written.
    row_ids : sequence, optional
        Ids of the rows.  By default rows are numbered from 0 in the long layout, and have no ids in
        the others.
    other : pyarrow.Table or mapping of columns, optional
        Further columns to write, with one entry per row.  If one has the name of an output column, it
        is written as ``input_…``.
    layout : {"lists", "long"}, default "lists"
        One line per row with lists of candidates, or one line per candidate.  CSV has no lists, so
        "lists" writes columns ``rank_1, score_1, rank_2, …`` there.
    row_name : str, default "row"
        Name of the column of row ids.
    base_scores : array_like, shape (n, k), optional
        Base scores of the candidates, aligned with ``ranking.ids``.  If given, the long layout also
        has columns ``base_rank`` and ``base_score``, lists also have ``candidate_base_scores``, and CSV
        has ``base_score_1``, ….  By these names the commands recognise a file that is reranked already.
    columns : ColumnNames, optional
        Names of the columns of candidates and scores in the long layout, usually those of the input.

    Examples
    --------
    >>> import os, tempfile
    >>> from repair import Ranking, Shortlist
    >>> from repair.io import write_ranking
    >>> shortlist = Shortlist.from_scores([[0.1, 2.0, 0.7]], n_candidates=2)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "ranking.npz")
    >>> write_ranking(path, Ranking.from_scores(shortlist, [[1.0, 5.0]]), class_names=["ant", "bee", "cow"])
    >>> np.load(path)["prediction"].tolist()
    ['cow']
    >>> folder.cleanup()
    """
    format_ = format_of(path)
    check_choice(layout, "layout", ("lists", "long"))
    if not isinstance(ranking, Ranking):
        raise InputError(f"ranking is {type(ranking).__name__}; pass the result of rerank()")
    content = _Content(ranking, class_names, probabilities, row_ids, other, row_name, base_scores, columns)
    with building(f".{format_.kind}"):
        if format_.kind == "npy":
            packed = array_bytes(ranking.ids)
        elif format_.kind == "npz":
            packed = archive_bytes(content.long() if layout == "long" else content.arrays())
        else:
            needs_arrow(f".{format_.kind}")
            lists = content.wide if format_.kind in ("csv", "xlsx") else content.lists
            packed = table_bytes(content.table(content.long() if layout == "long" else lists()), format_)
    write_atomically(path, packed)


class _Content:
    """The validated content of the file, as columns for each layout."""

    def __init__(
        self,
        ranking: Ranking,
        class_names: Sequence[str] | None,
        probabilities: ArrayLike | None,
        row_ids: Any,
        other: Any,
        row_name: str,
        base_scores: ArrayLike | None,
        columns: ColumnNames | None,
    ) -> None:
        self.ranking = ranking
        self.row_name = row_name
        usual = ColumnNames() if columns is None else columns
        self.class_column, self.score_column = usual.candidate or "candidate", usual.score or "score"
        self.base_scores = None if base_scores is None else _check_aligned(base_scores, "base_scores", ranking)
        self.real = ranking.ids != PAD_ID
        self.names = None if class_names is None else check_class_names(class_names, ranking.n_classes)
        self.probabilities = None if probabilities is None else _check_aligned(probabilities, "probabilities", ranking)
        self.row_ids = None if row_ids is None else np.asarray(row_ids)
        self.other = _columns_of(other)
        given = {**self.other, **({} if self.row_ids is None else {"row_ids": self.row_ids})}
        for name, values in given.items():
            if len(values) != len(ranking):
                raise InputError(
                    f"{name} has {len(values)} entries, but the ranking has {len(ranking)} rows; pass one per row"
                )

    def arrays(self) -> dict[str, AnyArray]:
        """Return whole arrays, padded with −1."""
        ours: dict[str, Any] = {
            "candidate_ids": self.ranking.ids,
            "candidate_scores": self.ranking.scores,
            "prediction": self._prediction(),
        }
        if self.probabilities is not None:
            ours["candidate_probabilities"] = self.probabilities
        if self.base_scores is not None:
            ours["candidate_base_scores"] = self.base_scores
        if self.names is not None:
            ours["class_names"] = np.array(self.names)
        if self.row_ids is not None:
            ours["row_ids"] = self.row_ids
        return self._with_input_columns({}, ours, np.asarray)

    def lists(self) -> dict[str, Any]:
        """Return one line per row with lists of candidates."""
        ours: dict[str, Any] = {"prediction": self._arrow_prediction()}
        if self.names is not None:
            ours["candidates"] = self._list(self._named(self.ranking.ids[self.real]))
        ours["candidate_ids"] = self._list(self.ranking.ids[self.real])
        ours["candidate_scores"] = self._list(self.ranking.scores[self.real])
        if self.probabilities is not None:
            ours["candidate_probabilities"] = self._list(self.probabilities[self.real])
        if self.base_scores is not None:
            ours["candidate_base_scores"] = self._list(self.base_scores[self.real])
        return self._with_input_columns({} if self.row_ids is None else {self.row_name: self.row_ids}, ours)

    def wide(self) -> dict[str, Any]:
        """Return one line per row with columns for each rank, empty if a row has fewer candidates."""
        import pyarrow as pa

        ours: dict[str, Any] = {"prediction": self._arrow_prediction()}
        for rank in range(self.ranking.ids.shape[1]):
            absent = ~self.real[:, rank]
            ours[f"rank_{rank + 1}"] = self._named(self.ranking.ids[:, rank], absent)
            ours[f"score_{rank + 1}"] = pa.array(self.ranking.scores[:, rank], mask=absent)
            if self.probabilities is not None:
                ours[f"probability_{rank + 1}"] = pa.array(self.probabilities[:, rank], mask=absent)
            if self.base_scores is not None:
                ours[f"base_score_{rank + 1}"] = pa.array(self.base_scores[:, rank], mask=absent)
        return self._with_input_columns({} if self.row_ids is None else {self.row_name: self.row_ids}, ours)

    def long(self) -> dict[str, Any]:
        """Return one line per candidate, best first within each row."""
        rows, ranks = np.nonzero(self.real)
        if (empty := int((~self.real.any(axis=1)).sum())) > 0:
            warn_user(f"rows without candidates ({empty}) have no line in the long layout", InputWarning)
        ids = self.ranking.ids[self.real]
        ours: dict[str, Any] = {"rank": ranks + 1}
        if self.names is not None:
            ours[self.class_column] = np.array(self.names, dtype=object)[ids]
        if self.class_column != "candidate_id" or self.names is None:
            ours["candidate_id"] = ids
        score = "score" if self.score_column in ("base_score", *ours) else self.score_column
        ours[score] = self.ranking.scores[self.real]
        if self.probabilities is not None:
            ours["probability"] = self.probabilities[self.real]
        if self.base_scores is not None:
            ours |= {"base_rank": self.ranking.order[self.real] + 1, "base_score": self.base_scores[self.real]}
        first = {self.row_name: rows if self.row_ids is None else self.row_ids[rows]}
        return self._with_input_columns(first, ours, lambda values: _taken(values, rows))

    def table(self, columns: dict[str, Any]) -> Any:
        """Return columns as a pyarrow table."""
        import pyarrow as pa

        return pa.table({name: _as_arrow(values) for name, values in columns.items()})

    def _with_input_columns(self, first: dict[str, Any], ours: dict[str, Any], change: Any = None) -> dict[str, Any]:
        """Return the row ids, the columns of the input, and the output columns, in this order."""
        columns = dict(first)
        for name, values in self.other.items():
            while name in ours or name in columns:
                name = f"input_{name}"
            columns[name] = values if change is None else change(values)
        return {**columns, **ours}

    def _prediction(self) -> AnyArray:
        best = self.ranking.best
        if self.names is None:
            return best
        return np.array([*self.names, ""])[best]  # −1, which means no candidate, selects the empty text at the end

    def _arrow_prediction(self) -> Any:
        return self._named(self.ranking.best, self.ranking.best == PAD_ID)

    def _named(self, ids: AnyArray, absent: AnyArray | None = None) -> Any:
        """Return class names, or ids if there are no names, as a pyarrow array."""
        import pyarrow as pa

        codes = pa.array(ids, mask=absent)
        if self.names is None:
            return codes
        return pa.DictionaryArray.from_arrays(codes, pa.array(self.names, pa.string())).cast(pa.string())

    def _list(self, values: Any) -> Any:
        import pyarrow as pa

        ends = np.cumsum(self.real.sum(axis=1), dtype=np.int64)
        offsets = pa.array(np.concatenate([np.zeros(1, dtype=np.int64), ends]))
        return pa.LargeListArray.from_arrays(offsets, values if isinstance(values, pa.Array) else pa.array(values))


def _check_aligned(given: ArrayLike, name: str, ranking: Ranking) -> FloatArray:
    values = numeric_array(given, name, 2).astype(np.float64)
    if values.shape != ranking.ids.shape:
        raise InputError(
            f"{name} has shape {values.shape}, but the ranking has {ranking.ids.shape}; pass one value per candidate"
        )
    return values


def _columns_of(other: Any) -> dict[str, Any]:
    """Return further columns by name."""
    if other is None:
        return {}
    if isinstance(other, Mapping):
        for name in other:
            if not isinstance(name, str):
                raise InputError(f"other has a column {name!r}; names of columns must be text")
        return dict(other)
    if hasattr(other, "column_names") and hasattr(other, "column"):
        return {name: other.column(name) for name in other.column_names}
    raise InputError(f"other is {type(other).__name__}; pass a pyarrow Table or a mapping of columns")


def _as_arrow(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    array = np.asarray(values)
    return pa.array(array.tolist() if array.ndim > 1 or array.dtype.kind in "OUS" else array)


def _taken(values: Any, rows: AnyArray) -> Any:
    return values.take(rows) if hasattr(values, "combine_chunks") else np.asarray(values)[rows]
