"""Tables of one benchmark, from the JSON of its run."""

from collections.abc import Callable, Sequence

import numpy as np

from repair.bench.report.numbers import (
    ALL_ROW_PAIRS,
    PAIRS,
    Result,
    against,
    interval,
    number,
    on_base_list,
    p_value,
    spread,
)
from repair.bench.report.table import AbsentError, Table
from repair.class_table import rare_classes
from repair.comparison_metrics import METRICS

__all__ = ["KINDS", "all_tables", "class_counts", "compared", "interval_tables", "tables"]

CONDITIONAL = ("hit@1", "hit@3", "mrr", "rare", "frequent", "macro", "hfr", "nll")
UNCONDITIONAL = ("coverage", "accuracy", "accuracy_rare", "accuracy_frequent")
ALL_ROWS = ("accuracy", "accuracy_rare", "accuracy_frequent")
QUESTIONS = ("hit@1", "hit@3", "mrr", "rare", "frequent", "hfr")
#: Metrics of covered rows whose intervals are listed; macro has none.
WITH_INTERVAL = ("hit@1", "rare", "frequent", "hfr")
COMPONENTS = {"Classwise": "offsets only", "Pairwise-only": "terms only", "REPAIR": "both"}


def tables(kind: str, result: Result) -> list[Table]:
    """Return the tables of one kind, or refuse and say what the result lacks.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    result : dict
        The content of a benchmark's JSON.
    """
    if kind not in KINDS:
        raise AbsentError(f"there is no table {kind!r}; choose from {', '.join(KINDS)}")
    return KINDS[kind](result)


#: Said above the tables of a quick run, whose figures are not the benchmark's.
QUICK = "A quick run on a slice of the rows: it shows that everything runs; its figures are not to be quoted."


def all_tables(result: Result) -> str:
    """Return every table that the result has, as plain text."""
    data = result["data"]
    opening = (
        f"{result['title']}: {data['classes']} classes, {data['training_rows']:.0f} training, "
        f"{data['calibration_rows']} calibration and {data['test_rows']} test rows"
    )
    slice_of_it = QUICK if result["settings"].get("quick") else ""
    parts = ["\n".join([opening, *(one for one in (slice_of_it, result["note"], *data["notes"]) if one)])]
    for kind in KINDS:
        try:
            parts += [table.written() for table in tables(kind, result)]
        except AbsentError as absent:
            parts.append(str(absent))
    return "\n\n".join(parts) + "\n"


def main_tables(result: Result) -> list[Table]:
    """Return the conditional metrics of all who share the base's list: mean ± standard deviation over the trials."""
    caption = f"Covered rows, k = {result['settings']['n_candidates']}, mean ± std of {_trials(result)} trials"
    shared = on_base_list(result)
    others = [title for title in result["methods"] if title not in shared]
    without = f" (without {', '.join(others)}: shortlists of their own, see all rows)" if others else ""
    return [_by_method(shared, CONDITIONAL, caption + without)]


def unconditional_tables(result: Result) -> list[Table]:
    """Return coverage and accuracy over all rows; an uncovered row is a miss."""
    return [_by_method(result["methods"], UNCONDITIONAL, f"All rows, mean ± std of {_trials(result)} trials")]


def sign_tables(result: Result) -> list[Table]:
    """Return wins over the trials, the paper's mark and the exact sign test, a table for each pair."""
    header = ["metric", "W/L/T", "≥ 4/5", "p", "p Holm"]
    found = []
    for first, second, metrics in compared(result):
        rows = []
        for metric in metrics:
            one = against(result, first, second)[metric]["signs"]
            counts = f"{one['wins']}/{one['losses']}/{one['ties']}"
            mark = "✓" if one["mark"] else ""
            rows.append([METRICS[metric].title, counts, mark, p_value(one["p_value"]), p_value(one["p_holm"])])
        found.append(Table(f"Sign test over {_trials(result)} trials, {first} against {second}", header, rows))
    return found


def interval_tables(result: Result) -> list[Table]:
    """Return the fits on all calibration rows with their bootstrap intervals: over covered rows, over all rows."""
    fits = f"Fit on all calibration rows with {_level(result)} intervals"
    found = []
    chosen = ((on_base_list(result), WITH_INTERVAL, "covered rows"), (result["methods"], ALL_ROWS, "all rows"))
    for methods, metrics, which in chosen:
        rows = []
        for title, one in methods.items():
            named = [(one["metrics"][metric], metric) for metric in metrics]
            rows.append([title, *(f"{number(cell['full'], name)} ({interval(cell, name)})" for cell, name in named)])
        found.append(Table(f"{fits}, {which}", ["method", *(METRICS[metric].title for metric in metrics)], rows))
    return found


def difference_tables(result: Result) -> list[Table]:
    """Return paired bootstrap differences of the fits on all calibration rows, a table for each pair."""
    header = ["metric", "Δ", "interval", "P(Δ>0)", "p", "p Holm"]
    found = []
    for first, second, metrics in compared(result):
        rows = []
        for metric in metrics:
            one = against(result, first, second)[metric]["difference"]
            shown = number(one["estimate"], metric, "+"), interval(one, metric, "+")
            share = "n/a" if one["p_positive"] is None else f"{one['p_positive']:.3f}"
            rows.append([METRICS[metric].title, *shown, share, p_value(one["p_value"]), p_value(one["p_holm"])])
        caption = f"{first} − {second}, {_level(result)} interval of {result['setup']['resamples']:,} paired resamples"
        found.append(Table(caption, header, rows))
    return found


def bootstrap_tables(result: Result) -> list[Table]:
    """Return the intervals of every method, and the paired differences where a pair was run."""
    try:
        return interval_tables(result) + difference_tables(result)
    except AbsentError:
        return interval_tables(result)


def k_tables(result: Result) -> list[Table]:
    """Return Hit@1 and Rare for every shortlist length that was run."""
    lengths = list(result["by_k"])
    if not lengths:
        raise AbsentError(f"{result['benchmark']}: no other shortlist length was run")
    header = ["method", *(f"Hit@1, k={k}" for k in lengths), *(f"Rare, k={k}" for k in lengths)]
    rows = []
    for title in result["by_k"][lengths[0]]:
        cells = [result["by_k"][k][title]["metrics"] for k in lengths]
        means = [number(one[metric]["mean"], metric) for metric in ("hit@1", "rare") for one in cells]
        rows.append([title, *means])
    first = next(iter(result["by_k"][lengths[0]]))
    covered = [number(result["by_k"][k][first]["metrics"]["coverage"]["mean"], "coverage") for k in lengths]
    rows.append(["(coverage)", *covered, *[""] * len(lengths)])
    return [Table(f"Shortlist length, covered rows, mean of {_trials(result)} trials", header, rows)]


def ablation_tables(result: Result) -> list[Table]:
    """Return what offsets and terms reach alone and together."""
    rows = []
    for title, what in COMPONENTS.items():
        if title in result["methods"]:
            values = result["methods"][title]["metrics"]
            rows.append([title, what, *(spread(values[one], one) for one in ("hit@1", "rare", "frequent"))])
    if not rows:
        raise AbsentError(f"{result['benchmark']}: none of {', '.join(COMPONENTS)} was run")
    return [Table("Components", ["method", "parts", "Hit@1", "Rare", "Frequent"], rows, n_text=2)]


def quintile_tables(result: Result) -> list[Table]:
    """Return ΔHit@1 of REPAIR over Classwise by fifths of the rare classes, from low to high dispersion."""
    found = result["quintiles"]
    if "not_applicable" in found:
        raise AbsentError(f"{result['benchmark']}: quintiles are not applicable: {found['not_applicable']}")
    rows = [
        [
            f"Q{place}",
            f"{one['low']:.3f} to {one['high']:.3f}",
            str(len(one["classes"])),
            str(one["n_rows"]),
            f"{number(one['delta']['gain'], 'hit@1', '+')} ± {number(one['delta']['error'], 'hit@1')}",
        ]
        for place, one in enumerate(found["bins"], 1)
    ]
    caption = "ΔHit@1 of REPAIR over Classwise by threshold dispersion of the rare classes, ± standard error"
    return [Table(caption, ["quintile", "dispersion", "classes", "rows", "ΔHit@1"], rows, n_text=2)]


def distribution_tables(result: Result) -> list[Table]:
    """Return how training rows are spread over frequent and rare classes."""
    counts = np.array(class_counts(result), dtype=np.float64)
    rare = rare_classes(counts)
    rows = []
    for name, which in (("frequent (top 20 %)", ~rare), ("rare (the others)", rare), ("all", rare | ~rare)):
        part = counts[which]
        if len(part):
            shares = f"{100 * part.sum() / max(counts.sum(), 1):.1f}"
            spans = [f"{value:g}" for value in (part.max(), np.median(part), part.min())]
            rows.append([name, str(len(part)), f"{part.sum():g}", shares, *spans])
    header = ["classes", "number", "training rows", "share %", "largest", "median", "smallest"]
    return [Table("Training rows by class", header, rows)]


def trial_tables(result: Result) -> list[Table]:
    """Return every trial of every method: Hit@1, Rare and Frequent over covered rows, and accuracy over all rows."""
    found = []
    for metric in ("hit@1", "rare", "frequent", "accuracy"):
        header = ["method", *(f"trial {trial}" for trial in range(1, _trials(result) + 1)), "full fit"]
        rows = []
        methods = result["methods"] if metric in ALL_ROWS else on_base_list(result)
        for title, one in methods.items():
            cells = one["metrics"][metric]
            rows.append([title, *(number(value, metric) for value in (*cells["trials"], cells["full"]))])
        found.append(Table(f"{METRICS[metric].title}, trial by trial", header, rows))
    return found


def paper_tables(result: Result) -> list[Table]:
    """Return the paper's figures with ours beside them; they are not to be met, the base differs."""
    numbers = result["published"]["numbers"]
    if not numbers:
        raise AbsentError(f"{result['benchmark']}: the paper has no figures for this data set")
    metrics = [metric for metric in METRICS if any(metric in values for values in numbers.values())]
    rows = []
    for method, values in numbers.items():
        ours = result["methods"].get(method, {}).get("metrics", {})
        cells = [
            f"{_printed(values.get(metric))} / {number(ours.get(metric, {}).get('mean'), metric)}" for metric in metrics
        ]
        rows.append([method, *cells])
    caption = f"The paper (base: {result['published']['base']}) / here"
    return [Table(caption, ["method", *(METRICS[metric].title for metric in metrics)], rows)]


#: Every table of the paper, by the name it is asked for.
KINDS: dict[str, Callable[[Result], list[Table]]] = {
    "main": main_tables,
    "unconditional": unconditional_tables,
    "signs": sign_tables,
    "bootstrap": bootstrap_tables,
    "k": k_tables,
    "ablation": ablation_tables,
    "quintiles": quintile_tables,
    "distribution": distribution_tables,
    "trials": trial_tables,
    "paper": paper_tables,
}


def class_counts(result: Result) -> list[float]:
    """Return the training rows of each class, or refuse where a result does not hold them."""
    counts = result["data"].get("class_counts")
    if not counts:
        raise AbsentError(f"{result['benchmark']}: the result holds no class counts; run it again")
    found: list[float] = counts
    return found


def compared(result: Result) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the pairs that were both run with the metrics they are compared by, or refuse where none was.

    Where one of them takes shortlists of its own these are the metrics over all rows.
    """
    shared = on_base_list(result)
    found: list[tuple[str, str, tuple[str, ...]]] = []
    found += [(*pair, QUESTIONS) for pair in PAIRS if pair[0] in shared and pair[1] in shared]
    found += [(*pair, ALL_ROWS) for pair in ALL_ROW_PAIRS if against(result, *pair) is not None]
    if not found:
        first, second = PAIRS[0]
        raise AbsentError(f"{result['benchmark']}: no pair to compare was run, such as {first} and {second}")
    return found


def _by_method(methods: Result, metrics: Sequence[str], caption: str) -> Table:
    rows = [[title, *(spread(one["metrics"][name], name) for name in metrics)] for title, one in methods.items()]
    return Table(caption, ["method", *(METRICS[name].title for name in metrics)], rows)


def _trials(result: Result) -> int:
    return int(result["setup"]["trials"])


def _level(result: Result) -> str:
    return f"{100 * result['setup']['level']:g} %"


def _printed(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
