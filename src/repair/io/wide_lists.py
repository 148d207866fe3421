"""One column per rank: `pred1, conf1, pred2, conf2, …` become lists of candidates and scores."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from repair.errors import InputError
from repair.io.columns import ColumnNames, as_text
from repair.io.table_readers import FileTable

__all__ = ["with_lists"]

#: Usual names of the columns, with their rank at the end.
CANDIDATES = re.compile(r"(?i)(?:pred|prediction|predicted|candidate|cand|class|label|top)[ _.-]?(\d+)")
SCORES = re.compile(r"(?i)(?:conf|confidence|score|prob|probability|logit|p)[ _.-]?(\d+)")
#: Names of the columns of lists, which `list_columns` looks for.
LISTS = ("candidates", "candidate_scores")


def with_lists(table: FileTable, columns: ColumnNames) -> tuple[FileTable, ColumnNames]:
    """Return a table with lists of candidates and scores instead of one column per rank, if it has such columns.

    Names that were given have a star in place of the rank, such as ``"Tipp*"``.  A rank without a candidate is
    left out.
    """
    pairs = _pairs(table, columns)
    if not pairs:
        return table, columns
    names = [as_text(table.column(name), table, name).to_pylist() for name, _ in pairs]
    scores = [table.column(name).to_pylist() for _, name in pairs]
    candidates: list[list[Any]] = [[] for _ in range(len(table))]
    values: list[list[Any]] = [[] for _ in range(len(table))]
    for (name, score_name), rank_names, rank_scores in zip(pairs, names, scores, strict=True):
        for row, (candidate, score) in enumerate(zip(rank_names, rank_scores, strict=True)):
            if candidate in (None, ""):
                continue
            if score in (None, ""):
                raise InputError(f"{table.place(row, score_name)} is empty, but {name!r} is not; write a score")
            candidates[row].append(candidate)
            values[row].append(score)
    used = {name for pair in pairs for name in pair}
    columns_kept = table.columns.select([name for name in table.names if name not in used])
    for name, lists in zip(LISTS, (candidates, values), strict=True):
        columns_kept = columns_kept.append_column(name, _list_array(lists))
    return FileTable(table.path, table.format, columns_kept), replace(columns, candidate=None, score=None)


def _list_array(lists: Sequence[Sequence[Any]]) -> Any:
    import pyarrow as pa

    first = next((entries[0] for entries in lists if entries), "")
    return pa.array(lists, pa.list_(pa.string() if isinstance(first, str) else pa.float64()))


def _pairs(table: FileTable, columns: ColumnNames) -> list[tuple[str, str]]:
    """Return the columns of candidates and scores by rank, none if this is another layout."""
    given = columns.candidate, columns.score
    if given == (None, None) and not set(LISTS) & set(table.names):
        patterns = CANDIDATES, SCORES
    elif all(name is not None and "*" in name and name not in table.names for name in given):
        patterns = tuple(re.compile(re.escape(str(name)).replace(r"\*", r"(\d+)", 1)) for name in given)  # type: ignore[assignment]
    else:
        return []
    candidates, scores = (
        {match[1]: name for name in table.names if (match := pattern.fullmatch(name))} for pattern in patterns
    )
    ranks = sorted(set(candidates) & set(scores), key=int)
    if given != (None, None) and not ranks:
        raise InputError(
            f"there are no columns {given[0]!r} and {given[1]!r} with a rank in place of the star; "
            f"the file has {', '.join(map(repr, table.names[:12]))}"
        )
    return [(candidates[rank], scores[rank]) for rank in ranks] if len(ranks) > 1 or given != (None, None) else []
