"""Small tables as plain text."""

from collections.abc import Sequence

__all__ = ["markdown_table", "text_table"]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: Sequence[int] = (0,)) -> str:
    """Return an aligned table: text columns to the left, all others to the right.

    Examples
    --------
    >>> from repair.tables import text_table
    >>> print(text_table(["method", "hit@1"], [["Base", "41.0"], ["REPAIR", "7.5"]]))
    method  hit@1
    ------  -----
    Base     41.0
    REPAIR    7.5
    """
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])

    def aligned(line: list[str]) -> str:
        cells = zip(line, widths, strict=True)
        padded = [c.ljust(w) if i in text_columns else c.rjust(w) for i, (c, w) in enumerate(cells)]
        return "  ".join(padded).rstrip()

    return "\n".join(aligned(line) for line in lines)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: Sequence[int] = (0,)) -> str:
    """Return a Markdown table: text columns to the left, all others to the right.

    Examples
    --------
    >>> from repair.tables import markdown_table
    >>> print(markdown_table(["method", "hit@1"], [["Base", "41.0"]]))
    | method | hit@1 |
    | :-- | --: |
    | Base | 41.0 |
    """
    rule = [":--" if column in text_columns else "--:" for column in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, rule, *rows])
