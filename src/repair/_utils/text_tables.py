"""Formatting small tables as plain text, Markdown and LaTeX."""

import re
from collections.abc import Sequence

__all__ = ["LATEX_NEEDS", "MARKDOWN", "escape_latex", "latex_table", "markdown_table", "minus_signs", "text_table"]

#: Translation table that escapes the text of a Markdown table cell.
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
    """Return an aligned table, with text columns left-aligned and all others right-aligned.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    text_columns : sequence of int, default (0,)
        Indices of the columns to align left.

    Examples
    --------
    >>> from repair._utils.text_tables import text_table
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
    """Return a Markdown table, with text columns left-aligned and all others right-aligned.

    Examples
    --------
    >>> from repair._utils.text_tables import markdown_table
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
    r"""Return a LaTeX table with its caption.  It needs the packages booktabs and amssymb.

    Examples
    --------
    >>> from repair._utils.text_tables import latex_table
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
    r"""Escape characters that LaTeX would read as commands, and write negative numbers with a minus sign.

    Examples
    --------
    >>> from repair._utils.text_tables import escape_latex
    >>> escape_latex("95 %, -1.0")
    '95 \\%, $-$1.0'
    """
    return minus_signs(text).translate(LATEX)


def minus_signs(text: str) -> str:
    """Return the text with a minus sign instead of a hyphen in front of negative numbers.

    Examples
    --------
    >>> from repair._utils.text_tables import minus_signs
    >>> minus_signs("class-separable: -0.2, 1e-8")
    'class-separable: −0.2, 1e-8'
    """
    return re.sub(r"(?<!\w)-(?=\d)", "−", text)
