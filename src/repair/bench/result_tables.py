"""Tables from the JSON of a run: each function takes the document and returns plain text."""

from collections.abc import Mapping, Sequence
from typing import Any

from repair.comparison_metrics import METRICS
from repair.tables import text_table

__all__ = [
    "ablation_table",
    "all_tables",
    "difference_table",
    "k_table",
    "main_table",
    "paper_table",
    "quintile_table",
    "sign_table",
    "unconditional_table",
]

CONDITIONAL = ("hit@1", "hit@3", "mrr", "rare", "frequent", "macro", "hfr", "nll")
UNCONDITIONAL = ("coverage", "accuracy", "accuracy_rare", "accuracy_frequent")
QUESTIONS = ("hit@1", "hit@3", "mrr", "rare", "frequent", "hfr")
#: The paper's question: does the pairwise part add to the classwise one?
FIRST, SECOND = "REPAIR", "Classwise"
COMPONENTS = {"Classwise": "offsets only", "Pairwise-only": "terms only", "REPAIR": "both"}

Result = Mapping[str, Any]


def main_table(result: Result) -> str:
    """Return the conditional metrics: mean ± standard deviation over the trials."""
    return _by_method(result["methods"], CONDITIONAL)


def unconditional_table(result: Result) -> str:
    """Return coverage and accuracy over all rows; an uncovered row is a miss."""
    return _by_method(result["methods"], UNCONDITIONAL)


def sign_table(result: Result, first: str = FIRST, second: str = SECOND) -> str:
    """Return wins over the trials, the paper's mark and the exact sign test, metric by metric."""
    pair = _pair(result, first, second)
    if pair is None:
        return f"{first} and {second} were not both run"
    rows = []
    for metric in QUESTIONS:
        one = pair[metric]["signs"]
        counts = f"{one['wins']}/{one['losses']}/{one['ties']}"
        mark = "✓" if one["mark"] else ""
        rows.append([METRICS[metric].title, counts, mark, _p(one["p_value"]), _p(one["p_holm"])])
    return text_table([f"{first} – {second}", "W/L/T", "≥ 4/5", "p", "p Holm"], rows)


def difference_table(result: Result, first: str = FIRST, second: str = SECOND) -> str:
    """Return paired bootstrap differences of the models fitted on all calibration rows."""
    pair = _pair(result, first, second)
    if pair is None:
        return f"{first} and {second} were not both run"
    rows = []
    for metric in QUESTIONS:
        one = pair[metric]["difference"]
        ends = f"{_number(one['low'], metric, '+')} to {_number(one['high'], metric, '+')}"
        shown = _number(one["estimate"], metric, "+")
        rows.append([METRICS[metric].title, shown, ends, _p(one["p_positive"]), _p(one["p_value"])])
    return text_table([f"{first} – {second}", "Δ", "interval", "P(Δ>0)", "p"], rows)


def k_table(result: Result) -> str:
    """Return Hit@1 and Rare for every shortlist length that was run."""
    lengths = list(result["by_k"])
    if not lengths:
        return "no other shortlist length was run"
    titles = list(result["by_k"][lengths[0]])
    header = ["method", *(f"Hit@1, k={k}" for k in lengths), *(f"Rare, k={k}" for k in lengths)]
    rows = []
    for title in titles:
        cells = [result["by_k"][k][title]["metrics"] for k in lengths]
        means = [_number(one[metric]["mean"], metric) for metric in ("hit@1", "rare") for one in cells]
        rows.append([title, *means])
    return text_table(header, rows)


def ablation_table(result: Result) -> str:
    """Return what offsets and terms reach alone and together."""
    rows = []
    for title, what in COMPONENTS.items():
        if title in result["methods"]:
            values = result["methods"][title]["metrics"]
            rows.append([title, what, *(_spread(values[one], one) for one in ("hit@1", "rare", "frequent"))])
    return text_table(["method", "parts", "Hit@1", "Rare", "Frequent"], rows, text_columns=(0, 1))


def quintile_table(result: Result) -> str:
    """Return ΔHit@1 of REPAIR over Classwise by fifths of the rare classes, from low to high dispersion."""
    found = result["quintiles"]
    if "not_applicable" in found:
        return f"quintiles: not applicable: {found['not_applicable']}"
    rows = [
        [
            f"Q{number}",
            f"{one['low']:.3f} to {one['high']:.3f}",
            str(len(one["classes"])),
            str(one["n_rows"]),
            f"{100 * one['delta']['gain']:+.1f} ± {100 * one['delta']['error']:.1f}",
        ]
        for number, one in enumerate(found["bins"], 1)
    ]
    return text_table(["quintile", "dispersion", "classes", "rows", "ΔHit@1"], rows, text_columns=(0, 1))


def paper_table(result: Result) -> str:
    """Return the paper's figures for its own base; they are not to be met, the base differs."""
    numbers = result["published"]["numbers"]
    if not numbers:
        return "the paper has no figures for this data set"
    metrics = [metric for metric in METRICS if any(metric in values for values in numbers.values())]
    rows = [[method, *(_plain(values.get(metric)) for metric in metrics)] for method, values in numbers.items()]
    header = [f"paper, {result['published']['base']}", *(METRICS[metric].title for metric in metrics)]
    return text_table(header, rows)


def all_tables(result: Result) -> str:
    """Return every table under its heading."""
    setup, data = result["setup"], result["data"]
    opening = (
        f"{result['title']}: {data['classes']} classes, {data['training_rows']:.0f} training, "
        f"{data['calibration_rows']} calibration and {data['test_rows']} test rows"
    )
    notes = [one for one in (result["note"], *data["notes"]) if one]
    parts = {
        f"Covered rows, k = {result['settings']['n_candidates']}, {setup['trials']} trials": main_table(result),
        "All rows": unconditional_table(result),
        "Sign test": sign_table(result),
        f"Paired differences, {setup['resamples']} resamples": difference_table(result),
        "Shortlist length": k_table(result),
        "Components": ablation_table(result),
        "Quintiles of the rare classes": quintile_table(result),
        "What the paper reports": paper_table(result),
    }
    pieces = [f"{heading}\n\n{table}" for heading, table in parts.items()]
    return "\n\n".join(["\n".join([opening, *notes]), *pieces]) + "\n"


def _by_method(methods: Result, metrics: Sequence[str]) -> str:
    rows = [[title, *(_spread(one["metrics"][name], name) for name in metrics)] for title, one in methods.items()]
    return text_table(["method", *(METRICS[name].title for name in metrics)], rows)


def _pair(result: Result, first: str, second: str) -> Any:
    methods = result["methods"]
    return methods[first]["against"][second] if first in methods and second in methods else None


def _spread(values: Result, metric: str) -> str:
    mean, std = values["mean"], values["std"]
    shown = _number(mean, metric)
    return shown if mean is None or std is None else f"{shown} ± {_number(std, metric)}"


def _number(value: float | None, metric: str, sign: str = "") -> str:
    if value is None:
        return "n/a"
    return f"{100 * value:{sign}.1f}" if METRICS[metric].percent else f"{value:{sign}.3f}"


def _p(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
