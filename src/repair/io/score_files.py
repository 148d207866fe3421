"""Score sets from files: finding out the layout, and putting rows and classes together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from repair.arrays import AnyArray
from repair.errors import InputError
from repair.inputs import check_choice, check_class_names
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
from repair.io.rows import Rows
from repair.io.similarity_files import read_similarity
from repair.io.tables import FileTable, read_table
from repair.score_set import ScoreSet

__all__ = ["ScoreFile", "read_score_set"]


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """What a score file holds.

    Attributes
    ----------
    rows : ScoreSet
        Scores, labels and what is known about rows and classes, ready for ``fit``; ``labels`` is
        None if the file has none and none were needed.
    class_names : tuple of str or None
        The classes the scores refer to; None if the file has ids only.
    new_classes : tuple of str
        Those at the end of `class_names` that were not known before (``unknown_classes="append"``).
    row_ids : ndarray or None
        The rows' own ids, as text or whole numbers.
    other : pyarrow.Table, dict of arrays, or None
        The columns without a role, one entry per row.
    layout : {"dense", "candidates", "long"}
    notes : tuple of str
        What a user should know about how the file was read.
    row_name : str or None
        What the file calls the column of row ids.

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

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)


def read_score_set(
    path: Path,
    *,
    classes: ClassFile | None = None,
    columns: ColumnNames | None = None,
    labels_path: Path | None = None,
    similarity: Any = None,
    class_names: Sequence[str] | None = None,
    unknown_classes: str = "refuse",
    need_labels: bool = True,
) -> ScoreFile:
    """Read scores from a file, whichever of the layouts in ``docs/files.md`` it has.

    Parameters
    ----------
    path : path
        ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.jsonl`` (these three also ``.gz``), ``.parquet``,
        ``.arrow`` or ``.feather``.
    classes : ClassFile, optional
        The class table (`read_class_table`).  Its names decide which columns are classes.
    columns : ColumnNames, optional
        What the columns are called, where the usual names do not apply.
    labels_path : path, optional
        A file with the labels: a table of row id and label, or an array in the order of the rows.
    similarity : path, or anything ``fit`` takes, optional
    class_names : sequence of str, optional
        The classes of a model that is there already; scores come back in this order.
    unknown_classes : {"refuse", "append"}, default "refuse"
        What to do with a candidate whose class is not known.
    need_labels : bool, default True
        Whether to refuse a file without labels.

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
    format_ = format_of(path)
    with_arrays = format_.is_arrays and labels_path is not None and format_of(labels_path).is_arrays
    label_file = None if labels_path is None or with_arrays else read_labels(labels_path, options)
    more = _array_labels(labels_path) if with_arrays else {}
    with in_file(path):
        if format_.is_arrays:
            arrays = {"scores": read_array(path)} if format_.kind == "npy" else read_archive(path)
            rows = _with_labels(rows_of_arrays({**arrays, **more}, index), label_file)
            remedy = "add an array 'labels'"
        else:
            table = read_table(path)
            rows = _from_table(table, options, index, label_file)
            remedy = f"{listed(table)}; name the column of labels with ColumnNames(label=…)"
        if rows.labels is not None and rows.labels.dtype == object and all(one is None for one in rows.labels):
            if need_labels:
                raise InputError("every label is missing; write the true class of each row")
            rows = replace(rows, labels=None)  # an empty column, such as a form has that nobody filled in
        if need_labels and rows.labels is None:
            raise InputError(f"there are no labels; {remedy}, or give a file of row ids and labels (labels_path=…)")
    return _together(rows, classes, similarity)


def _array_labels(path: Any) -> dict[str, AnyArray]:
    with in_file(path):
        if format_of(path).kind == "npy":
            return {"labels": np.asarray(read_array(path))}
        arrays = read_archive(path)
        if "labels" not in arrays:
            raise InputError(f"there is no array 'labels'; the file has {', '.join(map(repr, arrays)) or 'none'}")
        return {"labels": arrays["labels"]}


def _with_labels(rows: Rows, label_file: LabelFile | None) -> Rows:
    if label_file is None:
        return rows
    labels = label_file.of_rows(rows.row_ids, len(rows.scores))
    n_classes = rows.scores.shape[1] if isinstance(rows.scores, np.ndarray) else rows.scores.n_classes
    return replace(rows, labels=label_values(labels, rows.class_names, n_classes, label_file.place))


def _from_table(table: FileTable, columns: ColumnNames, index: ClassIndex, labels: LabelFile | None) -> Rows:
    """Read a table in the layout that its columns tell."""
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


def _is_long(table: FileTable, columns: ColumnNames, index: ClassIndex) -> bool:
    if columns.candidate is not None or columns.score is not None:
        return True
    if index.names is not None and set(index.names) <= set(table.names):
        return False
    return columns.find("candidate", table) is not None and columns.find("score", table) is not None


def _together(rows: Rows, classes: ClassFile | None, similarity: Any) -> ScoreFile:
    """Bring the class table, what the file says about classes, and the rows together."""
    known, notes = dict(rows.known), list(rows.notes)
    n_old = 0 if rows.class_names is None else len(rows.class_names) - len(rows.new_classes)
    if isinstance(similarity, str | PathLike) and not rows.new_classes:
        similarity = read_similarity(similarity, rows.class_names)
    if similarity is not None:
        known["similarity"] = similarity
    if classes is not None:
        assert rows.class_names is not None
        table = classes.take(rows.class_names[:n_old])
        given = {"class_counts": table.counts, "class_groups": table.groups, "weight_norms": table.weight_norms}
        known |= {name: values for name, values in given.items() if values is not None}
    if rows.new_classes and known:
        known = {}
        notes.append("counts, groups and similarity are left out: they say nothing about the new classes")
    row_fields = {"groups": rows.groups, "sample_weight": rows.sample_weight}
    scores = ScoreSet(rows.scores, rows.labels, class_names=rows.class_names, **row_fields, **known)  # type: ignore[arg-type]
    names = rows.class_names
    return ScoreFile(
        scores, names, rows.new_classes, rows.row_ids, rows.other, rows.layout, tuple(notes), rows.row_name
    )
