"""Reading score sets: determining the layout of a file, and combining rows and classes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.data.score_set import ROW_FIELDS, ScoreSet
from repair.errors import InputError, Remedy
from repair.io.archives import rows_of_arrays
from repair.io.array_files import read_archive, read_array
from repair.io.candidate_lists import list_columns, read_candidate_lists
from repair.io.class_files import ClassFile
from repair.io.class_index import ClassIndex, label_values
from repair.io.columns import ColumnNames, find_column, is_list, listed
from repair.io.dense_tables import read_dense_list, read_dense_table
from repair.io.formats import Path, format_of, in_file
from repair.io.label_files import LabelFile, read_labels
from repair.io.long_form import read_long
from repair.io.ranking_marks import RANKING_NOTE, ranking_in_arrays, ranking_in_table
from repair.io.rows import Rows, without_unlabelled
from repair.io.similarity_files import read_similarity
from repair.io.table_readers import CsvFormat, FileTable, frame_table, read_table
from repair.io.wide_lists import with_lists
from repair.validation.checks import check_choice, check_class_names

__all__ = ["ScoreFile", "read_score_set"]

GIVE_LABELS = Remedy(
    "give-labels", "name the column with ColumnNames(label=…), or give a file of row ids and labels (labels_path=…)"
)


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """The content of a score file.

    Attributes
    ----------
    rows : ScoreSet
        Scores, labels and what is known about rows and classes, ready for ``fit``.  ``labels`` is
        None if the file has no labels and they were not required.
    class_names : tuple of str or None
        The classes that the scores refer to, or None if the file only has ids.
    new_classes : tuple of str
        Names at the end of `class_names` that were not known before (``unknown_classes="append"``).
    row_ids : ndarray or None
        Ids of the rows, as text or whole numbers.
    other : pyarrow.Table, dict of arrays, or None
        The columns without a role, with one entry per row.
    layout : {"dense", "candidates", "long"}
        Layout of the file.
    notes : tuple of str
        Sentences about how the file was read that users should know.
    row_name : str or None
        Name of the column of row ids in the file.
    columns : ColumnNames
        Names of the columns in the file, by role.
    kept : ndarray of bool or None
        Which rows of the file are left, if rows without a label were left out.

    Examples
    --------
    >>> from repair.io import ScoreFile
    >>> rows = ScoreSet([[0.3, 0.1]], [0])
    >>> len(ScoreFile(rows, ("cat", "dog"), (), row_ids=None, other=None, layout="dense", notes=()))
    1
    """

    rows: ScoreSet
    class_names: tuple[str, ...] | None
    new_classes: tuple[str, ...]
    row_ids: AnyArray | None
    other: Any
    layout: str
    notes: tuple[str, ...]
    row_name: str | None = None
    columns: ColumnNames = field(default_factory=ColumnNames)
    kept: AnyArray | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)


def read_score_set(
    path: Path | Any,
    *,
    classes: ClassFile | None = None,
    columns: ColumnNames | None = None,
    labels_path: Path | None = None,
    similarity: Any = None,
    class_names: Sequence[str] | None = None,
    unknown_classes: str = "refuse",
    need_labels: bool = True,
    refuse_rankings: bool = False,
    csv_format: CsvFormat | None = None,
    remembered: ColumnNames | None = None,
) -> ScoreFile:
    """Read scores from a file in any of the layouts of ``docs/files.md``.

    Parameters
    ----------
    path : path, or data frame of pandas, polars or Arrow
        ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.jsonl`` (these three also ``.gz``), ``.parquet``,
        ``.arrow`` or ``.feather``.  A data frame may have any layout that a table may have, such as one
        line per candidate.
    classes : ClassFile, optional
        The class table (`read_class_table`).  Its names decide which columns are classes.
    columns : ColumnNames, optional
        Names of the columns.  By default the usual names are looked for.
    labels_path : path, optional
        A file with the labels: a table of row ids and labels, or an array in the order of the rows.
        By default labels are read from the file of scores.
    similarity : path, or anything that ``fit`` accepts, optional
        Class similarity.
    class_names : sequence of str, optional
        Names of the classes of an existing model.  Scores are returned in this order.
    unknown_classes : {"refuse", "append"}, default "refuse"
        Whether a candidate whose class is not known raises an error or is appended to the classes.
        Use "append" to rerank rows with classes that a model does not know.
    need_labels : bool, default True
        Whether to raise an error if there are no labels, and to leave out rows whose label is empty, with a
        note.  Pass False for rows that are only reranked.
    refuse_rankings : bool, default False
        Whether to raise an error if the file was written by ``repair rerank``, or by `write_ranking`
        with base scores, because its scores contain a correction already.  By default ``notes`` says so.
    csv_format : CsvFormat, optional
        Delimiter and decimal sign of CSV files.  By default a semicolon in the header is recognised.
    remembered : ColumnNames, optional
        Names of columns of an earlier file, which are used where `columns` has none and the file has
        such a column.

    Returns
    -------
    ScoreFile

    Examples
    --------
    >>> import os, tempfile
    >>> from repair.io import read_score_set
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "scores.npz")
    >>> np.savez(path, scores=[[2.0, 0.5], [0.1, 0.7]], labels=["cat", "dog"], class_names=["cat", "dog"])
    >>> scores = read_score_set(path)
    >>> scores.layout, scores.class_names, len(scores.rows)
    ('dense', ('cat', 'dog'), 2)
    >>> folder.cleanup()
    """
    check_choice(unknown_classes, "unknown_classes", ("refuse", "append"))
    names = None if classes is None else classes.names
    if class_names is not None:
        names = check_class_names(class_names, len(class_names))
    index = ClassIndex(names, append=unknown_classes == "append")
    options = ColumnNames() if columns is None else columns
    frame = frame_table(path)
    format_, path = (format_of(path), path) if frame is None else (frame.format, frame.path)
    with_arrays = format_.is_arrays and labels_path is not None and format_of(labels_path).is_arrays
    label_file = None if labels_path is None or with_arrays else read_labels(labels_path, options, csv_format)
    more = _array_labels(labels_path) if with_arrays else {}
    with in_file(path):
        if format_.is_arrays:
            arrays = {"scores": read_array(path)} if format_.kind == "npy" else read_archive(path)
            ranking = ranking_in_arrays(arrays)
            _check_ranking(ranking, refuse_rankings)
            rows = _with_labels(rows_of_arrays({**arrays, **more}, index), label_file)
            present = "the file has no array 'labels'"
        else:
            table = read_table(path, csv_format) if frame is None else frame
            if remembered is not None:
                options = options.completed_by(remembered, table.names)
            ranking = ranking_in_table(table.names, options)
            _check_ranking(ranking, refuse_rankings)
            rows = _named_columns(table, options, _from_table(table, options, index, label_file))
            present = listed(table)
        if rows.labels is not None and rows.labels.dtype == object and all(label is None for label in rows.labels):
            if need_labels:
                raise InputError("every label is missing; write the true class of each row")
            rows = replace(rows, labels=None)  # a column of labels that is empty on every line
        rows = without_unlabelled(rows, drop=need_labels)
        if need_labels and rows.labels is None:
            raise InputError(f"there are no labels; {present}", GIVE_LABELS)
    if ranking is not None:
        rows = replace(rows, notes=(*rows.notes, RANKING_NOTE))
    return _together(rows, classes, similarity)


def _check_ranking(ranking: InputError | None, refuse: bool) -> None:
    if ranking is not None and refuse:
        raise ranking


def _array_labels(path: Any) -> dict[str, AnyArray]:
    with in_file(path):
        if format_of(path).kind == "npy":
            return {"labels": np.asarray(read_array(path))}
        arrays = read_archive(path)
        if "labels" not in arrays:
            raise InputError(
                f"there is no array 'labels'; the file has {', '.join(map(repr, arrays)) or 'none'}; save the labels"
            )
        return {"labels": arrays["labels"]}


def _with_labels(rows: Rows, label_file: LabelFile | None) -> Rows:
    if label_file is None:
        return rows
    labels = label_file.of_rows(rows.row_ids, len(rows.scores))
    n_classes = rows.scores.shape[1] if isinstance(rows.scores, np.ndarray) else rows.scores.n_classes
    return replace(rows, labels=label_values(labels, rows.class_names, n_classes, label_file.place))


def _from_table(table: FileTable, columns: ColumnNames, index: ClassIndex, labels: LabelFile | None) -> Rows:
    """Read a table, whose columns determine the layout."""
    if index.names is None or not set(index.names) <= set(table.names):
        table, columns = with_lists(table, columns)
    lists = list_columns(table, columns)
    if lists is not None:
        n_known = None if index.names is None else len(index.names)
        return read_candidate_lists(table, lists, columns, index, labels, n_known)
    scores = columns.score or find_column(table, ("scores",))
    if scores is not None and scores in table.names and is_list(table, scores):
        return read_dense_list(table, scores, columns, index, labels)
    if _is_long(table, columns, index):
        return read_long(table, columns, index, labels)
    return read_dense_table(table, columns, index, labels)


def _named_columns(table: FileTable, columns: ColumnNames, rows: Rows) -> Rows:
    """Return the rows with the names of their columns.  The long form knows them already."""
    if rows.layout == "long":
        return rows
    taken = set(rows.class_names or ()) if rows.layout == "dense" else set()
    used = ColumnNames(candidate=columns.candidate, score=columns.score)
    for role in ("row", "label", "group", "weight"):
        used = replace(used, **{role: columns.find(role, table, taken | used.named())})
    return replace(rows, columns=used)


def _is_long(table: FileTable, columns: ColumnNames, index: ClassIndex) -> bool:
    if columns.candidate is not None or columns.score is not None:
        return True
    if index.names is not None and set(index.names) <= set(table.names):
        return False
    return columns.find("candidate", table) is not None and columns.find("score", table) is not None


def _together(rows: Rows, classes: ClassFile | None, similarity: Any) -> ScoreFile:
    """Combine the rows, the class-level arrays of the file, and the class table."""
    class_fields, notes = dict(rows.class_fields), list(rows.notes)
    n_old = 0 if rows.class_names is None else len(rows.class_names) - len(rows.new_classes)
    if isinstance(similarity, str | PathLike) and not rows.new_classes:
        similarity = read_similarity(similarity, rows.class_names)
    if similarity is not None:
        class_fields["similarity"] = similarity
    if classes is not None:
        assert rows.class_names is not None
        class_fields |= classes.take(rows.class_names[:n_old]).class_fields
    if rows.new_classes and class_fields:
        class_fields = {}
        notes.append("counts, groups and similarity are ignored, because they do not cover the new classes")
    row_fields = {name: getattr(rows, name) for name in ROW_FIELDS}
    scores = ScoreSet(**row_fields, class_names=rows.class_names, **class_fields)
    names = rows.class_names
    return ScoreFile(
        scores,
        names,
        rows.new_classes,
        rows.row_ids,
        rows.other,
        rows.layout,
        tuple(notes),
        rows.row_name,
        rows.columns,
        rows.kept,
    )
