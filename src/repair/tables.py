"""Small tables as plain text, Markdown and LaTeX."""

import re
from collections.abc import Sequence

__all__ = ["LATEX_NEEDS", "MARKDOWN", "escape_latex", "latex_table", "markdown_table", "text_table"]

#: What a cell needs before it goes into a Markdown table.
MARKDOWN = str.maketrans({sign: "\\" + sign for sign in "\\`*_<>|[]#"})
LATEX_NEEDS = r"% needs \usepackage{booktabs,amssymb}"
LATEX = str.maketrans(
    {
        **{sign: "\\" + sign for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "|": "$|$",
        "±": r"$\pm$",
        "Δ": r"$\Delta$",
        "λ": r"$\lambda$",
        "τ": r"$\tau$",
        "≥": r"$\geq$",
        "−": "$-$",
        "–": "--",
        "×": r"$\times$",
        "↓": r"$\downarrow$",
        "✓": r"\checkmark{}",
    }
)


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


def latex_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, text_columns: Sequence[int] = (0,)
) -> str:
    r"""Return a LaTeX table with its caption; it needs the packages booktabs and amssymb.

    Examples
    --------
    >>> from repair.tables import latex_table
    >>> print(latex_table(["method", "gain"], [["A&B", "-1.0"]], "Gains").splitlines()[7])
    A\&B & $-$1.0 \\
    """
    columns = "".join("l" if column in text_columns else "r" for column in range(len(header)))
    lines = [" & ".join(map(escape_latex, line)) + r" \\" for line in (header, *rows)]
    body = [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join(
        [r"\begin{table}", r"\centering", rf"\caption{{{escape_latex(caption)}}}"]
        + [rf"\begin{{tabular}}{{{columns}}}", *body, r"\end{tabular}", r"\end{table}"]
    )


def escape_latex(text: str) -> str:
    r"""Escape what LaTeX would read as commands, and give numbers a real minus.

    Examples
    --------
    >>> from repair.tables import escape_latex
    >>> escape_latex("95 %, -1.0")
    '95 \\%, $-$1.0'
    """
    return re.sub(r"(?<!\w)-(?=\d)", "−", text).translate(LATEX)
