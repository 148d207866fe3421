"""One table in four forms."""

import csv
import io

import pytest

from repair import InputError
from repair_bench.report.table import FORMATS, Table

TABLE = Table("Hits & misses", ["method", "τ|hit"], [["A, B", "−1.0 ± 0.1"], ["C_1", "<0.001"]])


def test_text_and_markdown_carry_the_caption():
    assert TABLE.written().splitlines()[:3] == ["Hits & misses", "", "method       τ|hit"]
    lines = TABLE.written("markdown").splitlines()
    assert lines[0] == "**Hits & misses**"
    assert lines[2] == r"| method | τ\|hit |"
    assert lines[5] == r"| C\_1 | \<0.001 |"


def test_csv_is_read_back_and_latex_is_escaped():
    assert list(csv.reader(io.StringIO(TABLE.written("csv")))) == [TABLE.header, *TABLE.rows]
    written = TABLE.written("latex")
    assert r"\caption{Hits \& misses}" in written
    assert r"C\_1 & $<$0.001 \\" in written
    assert r"$-$1.0 $\pm$ 0.1" in written


def test_another_form_is_refused():
    assert set(FORMATS) == {"text", "markdown", "csv", "latex"}
    with pytest.raises(InputError, match="format is 'html'; choose one of text"):
        TABLE.written("html")
