"""Tables of one benchmark, from the JSON file of its run."""

from collections.abc import Callable, Sequence

import numpy as np

from repair import rare_classes
from repair.evaluation.metric_table import METRICS
from repair_bench.report.information import information_of, shown_information
from repair_bench.report.numbers import (
    ALL_ROW_PAIRS,
    PAIRS,
    PAPER_TITLES,
    Result,
    against,
    interval,
    number,
    on_base_list,
    p_value,
    spread,
)
from repair_bench.report.table import AbsentError, Table

__all__ = ["KINDS", "all_tables", "class_counts", "compared", "interval_tables", "tables"]

CONDITIONAL = ("hit@1", "hit@3", "mrr", "rare", "frequent", "macro", "hfr", "nll")
UNCONDITIONAL = ("coverage", "accuracy", "accuracy_rare", "accuracy_frequent")
ALL_ROWS = ("accuracy", "accuracy_rare", "accuracy_frequent")
QUESTIONS = ("hit@1", "hit@3", "mrr", "rare", "frequent", "hfr")
#: Metrics over covered rows that are listed with intervals; macro has no interval.
WITH_INTERVAL = ("hit@1", "rare", "frequent", "hfr")
#: So many methods are listed in a caption.
FEW = 5
COMPONENTS = {"Classwise": "offsets only", "Pairwise-only": "terms only", "Pairwise": "both"}


def tables(kind: str, result: Result) -> list[Table]:
    """Return the tables of one kind, or raise an error that says what the result lacks.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    result : dict
        The content of a benchmark's JSON file.
    """
    if kind not in KINDS:
        raise AbsentError(f"there is no table {kind!r}; choose one of {', '.join(KINDS)}")
    return KINDS[kind](result)


#: Printed above the tables of a quick run.
QUICK = "This is a quick run on few rows. It only shows that everything runs. Do not quote its figures."


def all_tables(result: Result) -> str:
    """Return every table that the result has, as plain text."""
    data = result["data"]
    opening = (
        f"{result['title']}: {data['classes']} classes, {data['training_rows']:.0f} training, "
        f"{data['calibration_rows']} calibration and {data['test_rows']} test rows"
    )
    warning = QUICK if result["settings"].get("quick") else ""
    parts = ["\n".join([opening, *(line for line in (warning, result["note"], *data["notes"]) if line)])]
    for kind in KINDS:
        try:
            parts += [table.written() for table in tables(kind, result)]
        except AbsentError as absent:
            parts.append(str(absent))
    return "\n\n".join(parts) + "\n"


def main_tables(result: Result) -> list[Table]:
    """Return the metrics over covered rows of all methods on the base's list: mean ± standard deviation over trials."""
    caption = f"Covered rows, k = {result['settings']['n_candidates']}, mean ± std over {_trials(result)} trials"
    shared = on_base_list(result)
    others = [title for title in result["methods"] if title not in shared]
    without = f" (without {_own_lists(others)})" if others else ""
    return [_by_method(shared, CONDITIONAL, caption + without)]


def unconditional_tables(result: Result) -> list[Table]:
    """Return what each method gets, its coverage, and its accuracy over all rows, where uncovered rows are wrong."""
    table = _by_method(result["methods"], UNCONDITIONAL, f"All rows, mean ± std over {_trials(result)} trials")
    rows = [[title, shown_information(information_of(result, title)), *cells] for title, *cells in table.rows]
    return [Table(table.caption, ["method", "gets", *table.header[1:]], rows, n_text=2)]


def sign_tables(result: Result) -> list[Table]:
    """Return wins over the trials, the paper's mark and the exact sign test, one table per pair."""
    header = ["metric", "W/L/T", "≥ 4/5", "p", "p Holm"]
    per_pair = []
    for first, second, metrics in compared(result):
        rows = []
        for metric in metrics:
            signs = against(result, first, second)[metric]["signs"]
            counts = f"{signs['wins']}/{signs['losses']}/{signs['ties']}"
            mark = "✓" if signs["mark"] else ""
            rows.append([METRICS[metric].title, counts, mark, p_value(signs["p_value"]), p_value(signs["p_holm"])])
        per_pair.append(Table(f"Sign test over {_trials(result)} trials, {first} against {second}", header, rows))
    return per_pair


def interval_tables(result: Result) -> list[Table]:
    """Return the fits on all calibration rows with bootstrap intervals, over covered rows and over all rows."""
    fits = f"Fit on all calibration rows with {_level(result)} intervals"
    per_part = []
    chosen = ((on_base_list(result), WITH_INTERVAL, "covered rows"), (result["methods"], ALL_ROWS, "all rows"))
    for methods, metrics, which in chosen:
        rows = []
        for title, record in methods.items():
            named = [(record["metrics"][metric], metric) for metric in metrics]
            rows.append([title, *(f"{number(cell['full'], name)} ({interval(cell, name)})" for cell, name in named)])
        per_part.append(Table(f"{fits}, {which}", ["method", *(METRICS[metric].title for metric in metrics)], rows))
    return per_part


def difference_tables(result: Result) -> list[Table]:
    """Return paired bootstrap differences of the fits on all calibration rows, one table per pair."""
    header = ["metric", "Δ", "interval", "P(Δ>0)", "p", "p Holm"]
    per_pair = []
    for first, second, metrics in compared(result):
        rows = []
        for metric in metrics:
            gap = against(result, first, second)[metric]["difference"]
            shown = number(gap["estimate"], metric, "+"), interval(gap, metric, "+")
            share = "n/a" if gap["p_positive"] is None else f"{gap['p_positive']:.3f}"
            rows.append([METRICS[metric].title, *shown, share, p_value(gap["p_value"]), p_value(gap["p_holm"])])
        resamples = f"{result['setup']['resamples']:,} paired resamples"
        per_pair.append(Table(f"{first} − {second}, {_level(result)} interval from {resamples}", header, rows))
    return per_pair


def bootstrap_tables(result: Result) -> list[Table]:
    """Return the intervals of every method, and the paired differences if a pair of methods was run."""
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
        by_length = [result["by_k"][k][title]["metrics"] for k in lengths]
        means = [number(values[metric]["mean"], metric) for metric in ("hit@1", "rare") for values in by_length]
        rows.append([title, *means])
    first = next(iter(result["by_k"][lengths[0]]))
    covered = [number(result["by_k"][k][first]["metrics"]["coverage"]["mean"], "coverage") for k in lengths]
    rows.append(["(coverage)", *covered, *[""] * len(lengths)])
    return [Table(f"Shortlist length k, covered rows, mean over {_trials(result)} trials", header, rows)]


def ablation_tables(result: Result) -> list[Table]:
    """Return the metrics with class offsets alone, terms alone, and both."""
    rows = []
    for title, what in COMPONENTS.items():
        if title in result["methods"]:
            values = result["methods"][title]["metrics"]
            rows.append([title, what, *(spread(values[metric], metric) for metric in ("hit@1", "rare", "frequent"))])
    if not rows:
        raise AbsentError(f"{result['benchmark']}: none of {', '.join(COMPONENTS)} was run")
    caption = f"Components, covered rows, mean ± std over {_trials(result)} trials"
    return [Table(caption, ["method", "parts", "Hit@1", "Rare", "Frequent"], rows, n_text=2)]


def quintile_tables(result: Result) -> list[Table]:
    """Return ΔHit@1 of Pairwise over Classwise by fifths of the rare classes, from low to high dispersion."""
    quintiles = result["quintiles"]
    if "not_applicable" in quintiles:
        raise AbsentError(f"{result['benchmark']}: quintiles are not applicable: {quintiles['not_applicable']}")
    rows = [
        [
            f"Q{rank}",
            f"{part['low']:.3f} to {part['high']:.3f}",
            str(len(part["classes"])),
            str(part["n_rows"]),
            f"{number(part['delta']['gain'], 'hit@1', '+')} ± {number(part['delta']['error'], 'hit@1')}",
        ]
        for rank, part in enumerate(quintiles["bins"], 1)
    ]
    caption = "ΔHit@1 of Pairwise over Classwise by threshold dispersion of the rare classes, ± standard error"
    return [Table(caption, ["quintile", "dispersion", "classes", "rows", "ΔHit@1"], rows, n_text=2)]


def distribution_tables(result: Result) -> list[Table]:
    """Return how the training rows are distributed over frequent and rare classes."""
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
    return [Table("Training rows of frequent and rare classes", header, rows)]


def trial_tables(result: Result) -> list[Table]:
    """Return every trial of every method: Hit@1, Rare and Frequent over covered rows, and accuracy over all rows."""
    per_metric = []
    for metric in ("hit@1", "rare", "frequent", "accuracy"):
        header = ["method", *(f"trial {trial}" for trial in range(1, _trials(result) + 1)), "full fit"]
        rows = []
        methods = result["methods"] if metric in ALL_ROWS else on_base_list(result)
        for title, record in methods.items():
            cells = record["metrics"][metric]
            rows.append([title, *(number(value, metric) for value in (*cells["trials"], cells["full"]))])
        per_metric.append(Table(f"{METRICS[metric].title}, trial by trial", header, rows))
    return per_metric


def paper_tables(result: Result) -> list[Table]:
    """Return the paper's figures next to ours.  They need not agree, because the base models differ."""
    numbers = result["published"]["numbers"]
    if not numbers:
        raise AbsentError(f"{result['benchmark']}: the paper has no figures for this data set")
    metrics = [metric for metric in METRICS if any(metric in values for values in numbers.values())]
    rows = []
    for method, values in numbers.items():
        ours = result["methods"].get(PAPER_TITLES.get(method, method), {}).get("metrics", {})
        cells = [
            f"{_printed(values.get(metric))} / {number(ours.get(metric, {}).get('mean'), metric)}" for metric in metrics
        ]
        rows.append([method, *cells])
    caption = f"The paper's figures / ours. The base models differ: the paper's is {result['published']['base']}"
    return [Table(caption, ["method", *(METRICS[metric].title for metric in metrics)], rows)]


#: The tables of one benchmark, by the name used on the command line.
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
    """Return the number of training rows of each class, or raise an error if the result does not have them."""
    counts = result["data"].get("class_counts")
    if not counts:
        raise AbsentError(f"{result['benchmark']}: the result has no class counts; run the benchmark again")
    rows_per_class: list[float] = counts
    return rows_per_class


def compared(result: Result) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the pairs of methods that were run, each with its metrics, or raise an error if there is none.

    If one method of a pair builds its own shortlists, its metrics are those over all rows.
    """
    shared = on_base_list(result)
    pairs: list[tuple[str, str, tuple[str, ...]]] = []
    pairs += [(*pair, QUESTIONS) for pair in PAIRS if pair[0] in shared and pair[1] in shared]
    pairs += [(*pair, ALL_ROWS) for pair in ALL_ROW_PAIRS if against(result, *pair) is not None]
    if not pairs:
        first, second = PAIRS[0]
        raise AbsentError(f"{result['benchmark']}: no pair to compare was run, such as {first} and {second}")
    return pairs


def _by_method(methods: Result, metrics: Sequence[str], caption: str) -> Table:
    rows = [[title, *(spread(record["metrics"][name], name) for name in metrics)] for title, record in methods.items()]
    return Table(caption, ["method", *(METRICS[name].title for name in metrics)], rows)


def _own_lists(titles: Sequence[str]) -> str:
    if len(titles) > FEW:
        return f"the {len(titles)} methods that build their own shortlists"
    return f"methods that build their own shortlists: {', '.join(titles)}"


def _trials(result: Result) -> int:
    return int(result["setup"]["trials"])


def _level(result: Result) -> str:
    return f"{100 * result['setup']['level']:g} %"


def _printed(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
