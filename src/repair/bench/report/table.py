"""A table that can be written as text, Markdown, CSV or LaTeX."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass

from repair.errors import InputError
from repair.tables import LATEX_NEEDS, MARKDOWN, latex_table, markdown_table, text_table

__all__ = ["FORMATS", "AbsentError", "Table"]


class AbsentError(InputError):
    """A result does not hold what a table or figure needs; the message says what."""


@dataclass(frozen=True)
class Table:
    """Cells as text, with a caption.

    Attributes
    ----------
    caption : str
    header : sequence of str
    rows : sequence of sequence of str
    n_text : int
        How many columns, from the left, hold words rather than numbers.

    Examples
    --------
    >>> from repair.bench.report.table import Table
    >>> print(Table("Hits", ["method", "hit@1"], [["Base", "41.0"]]).written("csv"))
    method,hit@1
    Base,41.0
    """

    caption: str
    header: list[str]
    rows: list[list[str]]
    n_text: int = 1

    def written(self, form: str = "text") -> str:
        """Return the table in one of `FORMATS`; all but CSV carry the caption."""
        if form not in FORMATS:
            raise InputError(f"format is {form!r}; choose from {', '.join(FORMATS)}")
        return FORMATS[form](self)

    @property
    def text(self) -> str:
        """The cells, aligned."""
        return text_table(self.header, self.rows, text_columns=range(self.n_text))

    @property
    def markdown(self) -> str:
        """The cells, as Markdown."""
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
