"""A table that can be written as text, Markdown, CSV or LaTeX."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass

from repair._utils.text_tables import LATEX_NEEDS, MARKDOWN, latex_table, markdown_table, text_table
from repair.errors import InputError

__all__ = ["FORMATS", "AbsentError", "Table"]


class AbsentError(InputError):
    """A result lacks what a table or figure needs.  The message says what is missing."""


@dataclass(frozen=True)
class Table:
    """A table of text cells with a caption.

    Attributes
    ----------
    caption : str
    header : sequence of str
    rows : sequence of sequence of str
    n_text : int
        Number of columns, from the left, that contain words rather than numbers.

    Examples
    --------
    >>> from repair_bench.report.table import Table
    >>> print(Table("Hits", ["method", "hit@1"], [["Base", "41.0"]]).written("csv"))
    method,hit@1
    Base,41.0
    """

    caption: str
    header: list[str]
    rows: list[list[str]]
    n_text: int = 1

    def written(self, form: str = "text") -> str:
        """Return the table in one of `FORMATS`.  All but CSV include the caption."""
        if form not in FORMATS:
            raise InputError(f"format is {form!r}; choose one of {', '.join(FORMATS)}")
        return FORMATS[form](self)

    @property
    def text(self) -> str:
        """The table as aligned text, without the caption."""
        return text_table(self.header, self.rows, text_columns=range(self.n_text))

    @property
    def markdown(self) -> str:
        """The table as Markdown, without the caption."""
        lines = [[cell.translate(MARKDOWN) for cell in line] for line in (self.header, *self.rows)]
        return markdown_table(lines[0], lines[1:], text_columns=range(self.n_text))


def _text(table: Table) -> str:
    return f"{table.caption}\n\n{table.text}"


def _markdown(table: Table) -> str:
    return f"**{table.caption.translate(MARKDOWN)}**\n\n{table.markdown}"


def _csv(table: Table) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([table.header, *table.rows])
    return stream.getvalue().rstrip("\n")


def _latex(table: Table) -> str:
    written = latex_table(table.header, table.rows, table.caption, text_columns=range(table.n_text))
    return f"{LATEX_NEEDS}\n{written}"


FORMATS: dict[str, Callable[[Table], str]] = {"text": _text, "markdown": _markdown, "csv": _csv, "latex": _latex}
