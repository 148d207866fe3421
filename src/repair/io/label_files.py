"""Reading labels from a separate file."""

from dataclasses import dataclass
from os import fspath
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError
from repair.io.array_files import read_archive, read_array
from repair.io.columns import ColumnNames, text_column
from repair.io.formats import Path, format_of, in_file, needs_arrow
from repair.io.rows import row_id_column
from repair.io.table_readers import CsvFormat, FileTable, read_table

__all__ = ["LabelFile", "read_labels"]


@dataclass(frozen=True, eq=False)
class LabelFile:
    """Labels as text, with the ids of their rows.  Without ids, they are in the order of the rows."""

    path: str
    labels: Any  # pyarrow array of text
    row_ids: Any = None  # pyarrow array of text, or None

    def place(self, row: int) -> str:
        """Return a phrase that says where a label is."""
        return f"labels of {self.path}, row {row}"

    def of_rows(self, row_ids: AnyArray | None, n_rows: int) -> Any:
        """Return each row's label."""
        import pyarrow as pa
        from pyarrow import compute as pc

        with in_file(self.path):
            if self.row_ids is None:
                if len(self.labels) != n_rows:
                    raise InputError(f"there are {len(self.labels)} labels for {n_rows} rows; write one label per row")
                return self.labels
            if row_ids is None:
                raise InputError(
                    "the labels have row ids, but the scores do not; add a column of row ids to the scores"
                )
            wanted = pa.array(list(map(str, row_ids.tolist())), pa.large_string())
            indices = pc.index_in(wanted, value_set=self.row_ids)
            if indices.null_count:
                row = int(np.argmax(indices.is_null().to_numpy(zero_copy_only=False)))
                raise InputError(f"row {row_ids[row]!r} of the scores has no label; add a line for it")
            return self.labels.take(indices)


def read_labels(path: Path, columns: ColumnNames, csv_format: CsvFormat | None = None) -> LabelFile:
    """Read labels from a table (row id, label), or from an array in the order of the rows."""
    format_ = format_of(path)
    with in_file(path):
        if format_.is_arrays:
            return LabelFile(fspath(path), _from_array(path, format_.kind))
        table = read_table(path, csv_format)
        usual = ColumnNames()
        # The given names are those of the score file.  The label file may have the usual names instead.
        named = ColumnNames(
            row=columns.row if columns.row in table.names else None,
            label=columns.label if columns.label in table.names else None,
        )
        row_name = named.find("row", table)
        label_name = named.find("label", table, () if row_name is None else (row_name,))
        if label_name is None:
            label_name = usual.find("candidate", table) or named.require("label", table)
        labels = text_column(table, label_name)
        if row_name is None:
            return LabelFile(fspath(path), labels)
        ids = row_id_column(table, row_name)
        _check_one_label(table, ids)
        return LabelFile(fspath(path), labels, ids.cast("large_string"))


def _from_array(path: Path, kind: str) -> Any:
    pa = needs_arrow("labels in")
    if kind == "npy":
        values: AnyArray = read_array(path)
    else:
        arrays = read_archive(path)
        if "labels" not in arrays:
            raise InputError(
                f"there is no array 'labels'; the file has {', '.join(map(repr, arrays))}; save the labels"
            )
        values = arrays["labels"]
    if values.ndim != 1 or values.dtype.kind not in "iuU":
        raise InputError(f"labels has shape {values.shape} and dtype {values.dtype}; save one id or name per row")
    return pa.array(values.astype(object).tolist()).cast(pa.large_string())


def _check_one_label(table: FileTable, ids: Any) -> None:
    codes = ids.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    twice = np.flatnonzero(codes[order][1:] == codes[order][:-1])
    if len(twice):
        line, other = int(order[twice[0]]), int(order[twice[0] + 1])
        raise InputError(
            f"{table.place(line)} and {table.place(other)} label the same row {ids[line].as_py()!r}; keep one line"
        )
