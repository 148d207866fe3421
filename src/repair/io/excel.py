"""Excel workbooks (``.xlsx``) as tables.  As in CSV, every cell becomes text."""

import datetime
import io
import math
import os
import re
import warnings
import zipfile
from os import fspath
from typing import Any, NamedTuple

from repair.errors import InputError, InputWarning, MissingExtraError, warn_user
from repair.io.formats import FileFormat, Path, check_regular, parsing, refuse_inflation

__all__ = ["excel_bytes", "excel_row", "read_excel"]

#: Excel's own limits.
MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
#: Whole numbers up to this size are exact as floating-point numbers, which is how Excel stores them.
LARGEST_WHOLE = 2**53
#: Excel writes control characters as _x000D_, and an underscore that only looks like the start of one as _x005F_.
ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|005F)_")
TO_ESCAPE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
#: Stands for a cell with a formula, until its stored value is known.  No text contains this character.
FORMULA = "\0"


class Row(NamedTuple):
    """A row of the sheet: its number in Excel, and its cells without the empty ones at the end."""

    number: int
    cells: list[str | None]


def needs_openpyxl() -> Any:
    """Return openpyxl, or raise an error that says what to install."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(
            ".xlsx files need the extra 'excel': pip install 'repair-rerank[excel]'; or save the sheet as .csv"
        ) from None
    return openpyxl


def read_excel(path: Path, _: FileFormat) -> Any:
    """Return the first sheet as a pyarrow table of texts.  Its first row that is not empty is the header."""
    import pyarrow as pa

    needs_openpyxl()
    check_regular(path)
    _refuse_bomb(path)
    rows, titles = _sheet(path)
    if len(titles) > 1:
        warn_user(
            f"{fspath(path)}: only the first of {len(titles)} sheets is read, {titles[0]!r}; to read another one, save "
            "it as a file of its own",
            InputWarning,
        )
    if not rows:
        raise InputError("the first sheet is empty; write a header and at least one row")
    header, lines = [name or "" for name in rows[0].cells], rows[1:]
    for line in lines:
        if len(line.cells) > len(header):
            raise InputError(
                f"row {line.number} has {len(line.cells)} cells, but the header has {len(header)}; name every column"
            )
    refuse_inflation(4 * len(header) * len(lines), os.path.getsize(path))
    columns = [[line.cells[at] or "" if at < len(line.cells) else "" for line in lines] for at in range(len(header))]
    kept = [at for at, name in enumerate(header) if name or any(columns[at])]
    with parsing("xlsx"):
        arrays = [pa.array(columns[at], pa.large_string()) for at in kept]
        return pa.Table.from_arrays(arrays, names=[header[at] for at in kept])


def excel_row(path: Path, row: int) -> int | None:
    """Return the number in Excel of a row of the table.  It is slow, but only needed for error messages."""
    try:
        return _sheet(path)[0][1 + row].number  # the first one is the header
    except (InputError, OSError, IndexError):
        return None  # the file has changed


def excel_bytes(columns: Any, _: FileFormat) -> bytes:
    """Return a pyarrow table as a workbook with one sheet.  Texts stay texts, also ``007`` and ``=1``."""
    openpyxl = needs_openpyxl()
    if columns.num_rows >= MOST_ROWS or columns.num_columns > MOST_COLUMNS:
        raise InputError(
            f"the table has {columns.num_rows} rows and {columns.num_columns} columns, but a sheet has at most "
            f"{MOST_ROWS - 1} and {MOST_COLUMNS}; write .csv or .parquet"
        )
    # Converted first, because the sheet cannot be abandoned half-way.
    cells = [[_plain(value) for value in column.to_pylist()] for column in columns.columns]
    header = [_plain(name) for name in columns.column_names]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("ranking")
    for row in (header, *zip(*cells, strict=True)):
        sheet.append([_cell(sheet, value) for value in row])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _refuse_bomb(path: Path) -> None:
    """Raise an error for a workbook that claims to unpack to far more than its size.  No more than that is unpacked."""
    with parsing("xlsx"), zipfile.ZipFile(fspath(path)) as archive:
        refuse_inflation(sum(part.file_size for part in archive.infolist()), os.path.getsize(path))


def _sheet(path: Path) -> tuple[list[Row], list[str]]:
    """Return the rows of the first sheet that are not empty, as texts, and the titles of all sheets."""
    rows, titles = _parse(path, formulas=True)
    if any(cell == FORMULA for row in rows for cell in row.cells):
        stored = {row.number: row.cells for row in _parse(path, formulas=False)[0]}
        rows = [Row(number, _with_values(number, cells, stored.get(number, []))) for number, cells in rows]
    return [row for row in rows if any(row.cells)], titles


def _with_values(number: int, cells: list[str | None], stored: list[str | None]) -> list[str | None]:
    """Return the cells of a row, with the stored values of its formulas."""
    filled = list(cells)
    for at, cell in enumerate(cells):
        if cell == FORMULA:
            filled[at] = stored[at] if at < len(stored) else None
            if filled[at] is None:
                raise InputError(
                    f"{_place(number, at)} has a formula without a stored value; open the file in Excel or "
                    "LibreOffice and save it, or paste the values"
                )
    return filled


def _parse(path: Path, *, formulas: bool) -> tuple[list[Row], list[str]]:
    """Return the rows, either with `FORMULA` for every formula or with its stored value, or None if there is none."""
    openpyxl = needs_openpyxl()
    rows = []
    with parsing("xlsx"), open(path, "rb") as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and other parts of the workbook that are not read
        book = openpyxl.load_workbook(stream, read_only=True, data_only=not formulas, keep_links=False)
        if not book.worksheets:
            raise InputError("the workbook has no sheet of cells; add one")
        titles = [sheet.title for sheet in book.worksheets]
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # the size that the file claims may be wrong
        for number, cells in enumerate(sheet.iter_rows(min_row=1, max_row=MOST_ROWS), 1):
            texts = [_text(cell, number, at) for at, cell in enumerate(cells)]
            while texts and (texts[-1] is None or (formulas and not texts[-1])):
                texts.pop()
            if len(texts) > MOST_COLUMNS:
                raise InputError(f"row {number} has {len(texts)} cells, but Excel allows {MOST_COLUMNS}")
            if texts:
                rows.append(Row(number, texts))
    return rows, titles


def _text(cell: Any, row: int, column: int) -> str | None:
    """Return a cell as text, with whole numbers as digits and dates as in ISO 8601, or `FORMULA`, or None."""
    value = cell.value
    if cell.data_type == "f":
        return FORMULA
    if value is None:
        return "" if cell.data_type == "str" else None  # a formula with an empty text as its value
    if cell.data_type == "e":
        raise InputError(f"{_place(row, column)} has the error {value}; correct it, or leave the cell empty")
    if isinstance(value, str):
        return ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < LARGEST_WHOLE else repr(value)
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    return str(value)


def _plain(value: Any) -> Any:
    """Return a value for a cell: numbers and booleans if Excel stores them exactly, and the rest as text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) <= LARGEST_WHOLE:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    text = TO_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", str(value))
    if len(text) > LONGEST_TEXT:
        raise InputError(f"the text {text[:20]!r}… is too long for Excel; write .csv or .parquet")
    return text


def _cell(sheet: Any, value: Any) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if not isinstance(value, str | float):
        return value
    cell = WriteOnlyCell(sheet, value if isinstance(value, str) else repr(value))  # repr keeps every digit
    cell.data_type = "s" if isinstance(value, str) else "n"  # "=1" and "#N/A" would become a formula and an error
    return cell


def _place(row: int, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"cell {get_column_letter(column + 1)}{row}"
