"""The table of docs/export.md, made from the cases that the tests of each runtime run or see refused."""

import re

from repair.terms.registry import DEFAULT_LEARNED_TERMS, PAPER_TERMS
from runtimes import RANKED, RUNTIMES

#: What the lines of the table are about, and which cases belong to each.
MODES = ("base", "classwise", "pairwise", "pairwise_only", "extended")
LINES = {
    **{f"mode `{mode}`": lambda case, mode=mode: case.mode == mode for mode in MODES},
    "baselines": lambda case: case.name.startswith("baseline_"),
    **{f"term `{term}`": lambda case, term=term: term in case.terms for term in (*PAPER_TERMS, *DEFAULT_LEARNED_TERMS)},
    "neighbours with the approximate index": lambda case: "approximate" in case.traits,
    "dial, strength, τ": lambda case: case.traits & {"dial", "strength", "tau"},
    "target prior": lambda case: "target_prior" in case.traits,
    "class costs": lambda case: "class_costs" in case.traits,
    "a shortlist chosen with `shortlist_tau`": lambda case: "shortlist_tau" in case.traits,
    "more candidates ranked than returned": lambda case: "cuts" in case.traits,
    "classes added later": lambda case: "new classes" in case.traits,
    **{
        f"{dtype} scores": lambda case, dtype=dtype: case.dtype == dtype
        for dtype in ("float16", "float32", "float64", "int64")
    },
    "scores of all classes": lambda case: case.is_dense,
    "given candidates": lambda case: not case.is_dense,
    "ragged lists, rows without candidates": lambda case: case.traits & {"ragged", "no candidates"},
    "−Inf": lambda case: "-inf" in case.traits,
    "ties": lambda case: "ties" in case.traits,
    "very large and very small scores": lambda case: case.traits & {"extremes", "large"},
    "one row": lambda case: "one row" in case.traits,
}


def cell(runtime, cases):
    """Return ✓ if the runtime returns some of these cases, or the reasons why it refuses all of them."""
    reasons = [RUNTIMES[runtime](case) for case in cases]
    if None in reasons:
        return "✓"
    return f"refused ({', '.join(str(note) for note in sorted({note for _, note in reasons}))})"


def table():
    lines = [f"| | {' | '.join(RUNTIMES)} |", f"|---|{'---|' * len(RUNTIMES)}"]
    for title, belongs in LINES.items():
        cases = [case for case in RANKED if belongs(case)]
        assert cases, title
        lines.append(f"| {title} | {' | '.join(cell(runtime, cases) for runtime in RUNTIMES)} |")
    return "\n".join(lines)


def test_the_document_has_this_table(repository):
    text = (repository / "docs" / "export.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"<!-- parity -->\n(.*?)\n<!-- /parity -->", text, re.DOTALL)
    assert shown == table()


def test_every_refused_case_is_on_a_line_that_is_refused():
    """Otherwise the table would say ✓ everywhere about a case that is refused."""
    for runtime, why_not in RUNTIMES.items():
        lines = [belongs for belongs in LINES.values() if cell(runtime, filter(belongs, RANKED)) != "✓"]
        for case in RANKED:
            assert why_not(case) is None or any(belongs(case) for belongs in lines), (runtime, case.name)


def test_every_footnote_has_its_reason(repository):
    text = (repository / "docs" / "export.md").read_text(encoding="utf-8")
    notes = {int(note) for listed in re.findall(r"refused \((.*?)\)", text) for note in listed.split(", ")}
    assert notes == {int(number) for number in re.findall(r"^(\d)\. ", text.partition("### Notes")[2], re.MULTILINE)}
