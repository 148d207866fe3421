"""Reading tables from ``.csv``, ``.xlsx``, ``.jsonl``, ``.parquet`` and ``.arrow`` files.  Cells of CSV stay text.

Guessing types would turn the classes "NA" and "007" into a missing value and a number.  A column is
converted to numbers only when numbers are needed (`columns.py`).
"""

import csv
import io
import json
import os
import re
from dataclasses import dataclass, replace
from os import fspath
from typing import Any

from repair.errors import InputError
from repair.io.arrow_sizes import MAGIC, claimed_size
from repair.io.excel import excel_row, read_excel
from repair.io.formats import (
    FileFormat,
    Path,
    check_regular,
    first_line,
    format_of,
    needs_arrow,
    parsing,
    read_content,
    refuse_inflation,
)
from repair.io.json_depth import refuse_deep_json
from repair.validation.checks import check_choice

__all__ = ["CsvFormat", "FileTable", "frame_table", "parse_arrow", "read_table"]

#: Number of bytes that are parsed at a time.  If a line is longer, the whole file becomes one block.
BLOCK = 1 << 22
#: Delimiters that are recognised in a header, and the longest header that is looked at.
DELIMITERS = (";", "\t", "|", ",")
LONGEST_HEADER = 1 << 20
LARGEST_BLOCK = 2**31 - 1


@dataclass(frozen=True)
class CsvFormat:
    """How CSV files are written.

    Attributes
    ----------
    delimiter : str or None
        Character between the fields.  By default that of the ending (``.csv``, ``.tsv``), or a semicolon,
        a tab or ``|`` if only this one is in the header.
    decimal : {".", ","} or None
        Decimal sign.  By default a comma if the fields are separated by semicolons, where a point is read
        too, and otherwise a point.

    Examples
    --------
    >>> from repair.io import CsvFormat
    >>> CsvFormat(delimiter=";", decimal=",").decimal
    ','
    """

    delimiter: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        """Raise an error for a delimiter that is not one character, or another decimal sign."""
        if self.delimiter is not None and (not isinstance(self.delimiter, str) or len(self.delimiter) != 1):
            raise InputError(f"delimiter is {self.delimiter!r}; pass one character")
        check_choice(self.decimal, "decimal", (None, ".", ","))
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise InputError(f"delimiter and decimal are both {self.decimal!r}; pass two different characters")

    def of_file(self, path: Path, format_: FileFormat) -> FileFormat:
        """Return the format of a CSV file, with the delimiter of its header if none was given."""
        delimiter = self.delimiter
        if delimiter is None:
            header = read_content(path, format_)[:LONGEST_HEADER].split(b"\n", 1)[0].decode("utf-8", "replace")
            others = [sign for sign in DELIMITERS if sign in header]
            delimiter = others[0] if len(others) == 1 and format_.delimiter not in header else format_.delimiter
        decimal = self.decimal or ("," if delimiter == ";" else ".")
        return replace(format_, delimiter=delimiter, decimal=decimal)


@dataclass(frozen=True, eq=False)
class FileTable:
    """The columns of a file, and the positions of the rows in it."""

    path: str
    format: FileFormat
    columns: Any  # pyarrow.Table

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.columns.num_rows)

    @property
    def names(self) -> list[str]:
        """The column names."""
        return list(self.columns.column_names)

    def column(self, name: str) -> Any:
        """Return a column as one contiguous pyarrow array, with dictionaries decoded."""
        import pyarrow as pa

        column = self.columns.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type):
            column = column.cast(pa.large_string())  # a contiguous column may exceed two gigabytes
        pieces = column.combine_chunks()
        return pieces if not isinstance(pieces, pa.ChunkedArray) else pa.concat_arrays(pieces.chunks)

    def place(self, row: int, column: str | None = None) -> str:
        """Return where a row is: its line in a text file, its row in Excel, or its number, from 0, in other files."""
        where = f"row {row}"
        if self.format.kind == "xlsx":
            where = f"row {excel_row(self.path, row)} of the sheet"
        if self.format.is_text:
            line = _line_of(self.path, self.format, row)
            where = f"line {line}" if line is not None else f"record {row + 1}"
        return where if column is None else f"{where}, column {column!r}"


def read_table(path: Path, csv_format: CsvFormat | None = None) -> FileTable:
    """Read a table, or raise an error if it has no rows or two columns of the same name."""
    format_ = format_of(path)
    if format_.kind == "csv":
        format_ = (CsvFormat() if csv_format is None else csv_format).of_file(path, format_)
    needs_arrow(f".{format_.kind}")
    if format_.kind not in READERS:
        raise InputError(f"a .{format_.kind} file is not a table; use .csv, .xlsx, .jsonl, .parquet or .arrow")
    columns = READERS[format_.kind](path, format_)
    with parsing(format_.kind):
        columns.validate(full=True)  # damaged offsets or text that is not UTF-8 would otherwise cause errors later
    names = columns.column_names
    _check_distinct(names)
    # pandas stores row labels under these names.  They are not columns of the user.
    columns = columns.select([name for name in names if not re.fullmatch(r"__index_level_\d+__", name)])
    if columns.num_rows == 0 or columns.num_columns == 0:
        raise InputError("there are no rows; write at least one row")
    return FileTable(fspath(path), format_, columns)


def frame_table(frame: Any) -> FileTable | None:
    """Return a data frame of pandas, polars or Arrow as a table, or None for anything else, such as a path."""
    if isinstance(frame, str | os.PathLike) or not hasattr(frame, "__arrow_c_stream__"):
        return None
    pa = needs_arrow("data frames as")
    is_pandas = hasattr(frame, "iloc")
    columns = pa.Table.from_pandas(frame, preserve_index=False) if is_pandas else pa.table(frame)
    _check_distinct(columns.column_names)
    if columns.num_rows == 0 or columns.num_columns == 0:
        raise InputError("the data frame has no rows; pass at least one row")
    return FileTable("the data frame", FileFormat("arrow"), columns)


def _read_csv(path: Path, format_: FileFormat) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content = read_content(path, format_)
    _check_text(content)
    header = _csv_header(content, format_.delimiter)

    def read(block: int, on_bad_line: Any = None) -> Any:
        return arrow_csv.read_csv(
            pa.BufferReader(content),
            read_options=arrow_csv.ReadOptions(block_size=block, use_threads=on_bad_line is None),
            parse_options=arrow_csv.ParseOptions(
                delimiter=format_.delimiter, newlines_in_values=True, invalid_row_handler=on_bad_line
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.large_string()), strings_can_be_null=False
            ),
        )

    try:
        columns = _in_blocks(read, len(content))
    except pa.ArrowInvalid as error:
        if "columns, got" in str(error):
            raise _uneven_line(read, len(content), path, format_) from None
        with parsing("csv"):
            raise
    with parsing("csv"):
        if columns.column_names != header:
            raise InputError(f"the header cannot be read as column names ({header[:5]}…); check the quotes in it")
    return columns


def _csv_header(content: bytes, delimiter: str) -> list[str]:
    with parsing("csv"):
        lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
        header = next((fields for fields in csv.reader(lines, delimiter=delimiter) if fields), [])
    if not header:
        raise InputError("the file is empty; write a header and at least one line")
    _check_distinct(header)
    return header


def _check_distinct(names: list[str]) -> None:
    if len(set(names)) != len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise InputError(f"two columns have the name {twice!r}; rename one of them")


def _check_text(content: bytes) -> None:
    """Raise an error for content that is not UTF-8, or contains NUL, as many binary files do."""
    bad, problem = content.find(b"\0"), "contains a NUL byte; the file is damaged or not a text file"
    if bad < 0 and not content.isascii():
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            bad, problem = error.start, f"is not UTF-8 (byte {content[error.start]:#x}); save the file as UTF-8"
    if bad >= 0:
        line = content.count(b"\n", 0, bad) + 1
        raise InputError(f"line {line} {problem}")


def _in_blocks(read: Any, size: int) -> Any:
    """Parse in blocks on several cores, or in one block if a line is longer than a block."""
    import pyarrow as pa

    try:
        return read(BLOCK)
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error) or size < BLOCK:
            raise
    return read(min(size + 1, LARGEST_BLOCK))


def _uneven_line(read: Any, size: int, path: Path, format_: FileFormat) -> InputError:
    """Parse again, on one core, to find the line with too few or too many fields."""
    bad_lines: list[Any] = []

    def note(line: Any) -> str:
        bad_lines.append(line)
        return "error" if line.number is None else "skip"

    with parsing("csv"):
        read(min(size + 1, LARGEST_BLOCK), note)
    if not bad_lines:
        return InputError("a line has too few or too many fields; check the quotes in it")
    line = bad_lines[0]
    # The parser counts records from 1 and includes the header.  Rows are counted from 0, without the header.
    where = None if line.number is None else _line_of(fspath(path), format_, line.number - 2)
    return InputError(
        f"{'a line' if where is None else f'line {where}'} has {line.actual_columns} fields, but the header has "
        f"{line.expected_columns}; put texts that contain the delimiter in quotes"
    )


def _read_jsonl(path: Path, format_: FileFormat) -> Any:
    import pyarrow as pa
    from pyarrow import json as arrow_json

    content = read_content(path, format_)
    _check_text(content)
    refuse_deep_json(content)

    def read(block: int, schema: Any = None) -> Any:
        return arrow_json.read_json(
            pa.BufferReader(content),
            read_options=arrow_json.ReadOptions(block_size=block),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema),
        )

    try:
        columns = _in_blocks(read, len(content))
    except pa.ArrowInvalid as error:
        raise _bad_json(content, error) from None
    with parsing("jsonl"):
        as_text = pa.schema([field.with_type(_without_times(field.type)) for field in columns.schema])
        # The parser converts texts that look like dates, but class names and row ids must stay unchanged.
        if not as_text.equals(columns.schema):
            columns = _in_blocks(lambda block: read(block, as_text), len(content))
    return columns


def _bad_json(content: bytes, error: Exception) -> InputError:
    """Return an error for the line that is not a JSON object, or that changes the type of a column."""
    changed = re.search(r"Column\(/([^/)]+)\) changed from", str(error))
    column = changed[1] if changed else None
    before: type | None = None
    for number, line in enumerate(io.BytesIO(content), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            return InputError(f"line {number} is not a JSON object; write one object per line")
        value = row.get(column)
        kind = float if type(value) is int else type(value)
        if value is not None and before not in (None, kind):
            return InputError(
                f"line {number}, column {column!r} is {value!r}, which has another type than on the lines before; "
                "write either text or numbers on all lines"
            )
        before = before if value is None else kind
    return InputError(f"not a readable jsonl file ({first_line(error)}); write one JSON object per line")


def _without_times(type_: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_timestamp(type_):
        return pa.string()
    if pa.types.is_list(type_):
        return pa.list_(_without_times(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_without_times(field.type)) for field in type_])
    return type_


def _read_parquet(path: Path, format_: FileFormat) -> Any:
    check_regular(path)
    with parsing(format_.kind):
        from pyarrow import parquet

        # ParquetFile instead of read_table, which would add columns for folders with names such as "a=1".
        with parquet.ParquetFile(fspath(path)) as file:
            refuse_inflation(4 * file.metadata.num_rows * file.metadata.num_columns, os.path.getsize(path))
            return file.read()


def _read_arrow(path: Path, format_: FileFormat) -> Any:
    import pyarrow as pa

    check_regular(path)
    with parsing(format_.kind), pa.OSFile(fspath(path)) as file:
        content = file.read_buffer()  # read only once, so the content that is checked is the content that is used
    return _parse_buffer(content, None)


def parse_arrow(content: bytes, most_bytes: int) -> Any:
    """Return the table in an Arrow file or stream that came from elsewhere, checked in full.

    Content that claims to unpack to more than `most_bytes` raises an error before memory is allocated.
    """
    pa = needs_arrow(".arrow")
    columns = _parse_buffer(pa.py_buffer(content), most_bytes)
    with parsing("arrow"):
        columns.validate(full=True)
    return columns


def _parse_buffer(content: Any, most_bytes: int | None) -> Any:
    import pyarrow as pa

    with parsing("arrow"):
        size = claimed_size(content)
        refuse_inflation(size, len(content))
        if most_bytes is not None and size > most_bytes:
            raise InputError(
                f"{len(content)} bytes decompress to {size}, but the limit is {most_bytes}; send fewer rows"
            )
        if bytes(content[: len(MAGIC)]) == MAGIC:
            return pa.ipc.open_file(content).read_all()
        return pa.ipc.open_stream(content).read_all()


def _line_of(path: str, format_: FileFormat, row: int) -> int | None:
    """Return the line on which a row of a text file starts.  It is slow, but only needed for error messages."""
    try:
        text = io.TextIOWrapper(io.BytesIO(read_content(path, format_)), "utf-8", newline="")
        if format_.kind == "jsonl":
            filled = (number for number, line in enumerate(text, 1) if line.strip())
            return next((number for index, number in enumerate(filled) if index == row), None)
        reader, wanted, start = csv.reader(text, delimiter=format_.delimiter), row + 1, 1
        for fields in reader:
            if fields and wanted == 0:
                return start
            wanted -= bool(fields)
            start = reader.line_num + 1
    except (ValueError, OSError, csv.Error):
        pass  # the file has changed, or a field exceeds the csv module's limit; the record is named instead
    return None


READERS = {"csv": _read_csv, "xlsx": read_excel, "jsonl": _read_jsonl, "parquet": _read_parquet, "arrow": _read_arrow}
