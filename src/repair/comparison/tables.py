"""The tables of a comparison, as plain text, Markdown, LaTeX, CSV, JSON and npz."""

import csv
import io
import math
from dataclasses import asdict
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from repair._utils.json import json_text, plain
from repair._utils.text_tables import LATEX_NEEDS, MARKDOWN, escape_latex, latex_table, markdown_table, text_table
from repair._utils.version import __version__
from repair.comparison.conclusion import conclude
from repair.comparison.numbers import FEWEST_TRIALS, ComparisonNumbers, Difference, Signs
from repair.comparison.resampled_metrics import question_of
from repair.evaluation.metric_table import METRICS, UNITS, format_metric
from repair.rerankers.methods import title_of

__all__ = ["as_csv", "as_json", "as_latex", "as_markdown", "as_npz", "as_text", "row_arrays"]

MARK = "✓"
#: Width to which captions and notes are wrapped in plain text.
LINE = 110


class Section(NamedTuple):
    """One table with its caption.  The first `n_text` columns are text."""

    caption: str
    header: list[str]
    rows: list[list[str]]
    n_text: int


def as_text(comparison: ComparisonNumbers) -> str:
    """Return the tables as aligned text, followed by the notes."""
    parts = [
        f"{fill(table.caption, LINE)}\n\n{text_table(table.header, table.rows, text_columns=range(table.n_text))}"
        for table in _sections(comparison)
    ]
    return "\n\n".join([*parts, *(fill(note, LINE) for note in _notes(comparison))])


def as_markdown(comparison: ComparisonNumbers) -> str:
    """Return the tables as Markdown."""
    parts = []
    for section in _sections(comparison):
        lines = [[cell.strip().translate(MARKDOWN) for cell in line] for line in (section.header, *section.rows)]
        table = markdown_table(lines[0], lines[1:], text_columns=range(section.n_text))
        parts.append(f"**{section.caption.translate(MARKDOWN)}**\n\n{table}")
    return "\n\n".join([*parts, *(note.translate(MARKDOWN) for note in _notes(comparison))]) + "\n"


def as_latex(comparison: ComparisonNumbers) -> str:
    """Return the tables as LaTeX."""
    parts = [LATEX_NEEDS]
    for table in _sections(comparison):
        parts.append(latex_table(table.header, table.rows, table.caption, text_columns=range(table.n_text)))
    return "\n\n".join([*parts, *map(escape_latex, _notes(comparison))]) + "\n"


def as_csv(comparison: ComparisonNumbers) -> str:
    """Return one line per method and metric.  Cells without a number are empty."""
    against = ["reference", "wins", "losses", "ties", "mark", "sign_p", "sign_p_holm", "difference", "difference_low"]
    against += ["difference_high", "p_positive", "bootstrap_p", "bootstrap_p_holm"]
    trials = [f"trial_{trial}" for trial in range(1, comparison.setup.trials + 1)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["method", "metric", "mean", "std", "full", "full_low", "full_high", *against, *trials])
    for method in comparison.methods:
        signs, gaps = comparison.signs(method), comparison.difference(method)
        for metric in comparison.metrics:
            result = [comparison.mean(method, metric), comparison.std(method, metric), comparison.full[method][metric]]
            result += comparison.interval(method, metric)
            rival: list[Any] = [comparison.reference, *asdict(signs[metric]).values(), *asdict(gaps[metric]).values()]
            if method == comparison.reference:
                rival = [None] * len(against)
            values = [*result, *rival, *comparison.trials[method][metric].tolist()]
            writer.writerow([method, metric, *plain(values)])
    return stream.getvalue()


def as_json(comparison: ComparisonNumbers) -> str:
    """Return every number, with the setup that produced it."""
    methods = {}
    for method in comparison.methods:
        model = comparison.models[method]
        methods[method] = {
            "model": repr(model),
            "mode": model.mode_,
            "chosen": model.chosen_,
            "metrics": {metric: _entry(comparison, method, metric) for metric in comparison.metrics},
            "against": {other: _against(comparison, method, other) for other in comparison.methods if other != method},
        }
    first = comparison.rows[comparison.methods[0]]
    content = {
        "library": "repair",
        "version": __version__,
        "reference": comparison.reference,
        "setup": asdict(comparison.setup),
        "same_rows_covered": comparison.same_rows,
        "covered_test_rows": int(first["covered"].sum()) if comparison.same_rows else None,
        "conclusion": conclude(comparison),
        "holm_family": list(comparison.questions),
        "std_divisor": "trials - 1",
        "methods": methods,
    }
    return json_text(plain(content)) + "\n"


def as_npz(comparison: ComparisonNumbers) -> bytes:
    """Return the per-row outputs of the full models as the bytes of an npz file without pickle."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **row_arrays(comparison))
    return stream.getvalue()


def row_arrays(comparison: ComparisonNumbers) -> dict[str, Any]:
    """Return the per-row outputs of the full models as (methods, n) arrays, with method names and labels."""
    first = comparison.rows[comparison.methods[0]]
    arrays: dict[str, Any] = {
        name: np.stack([comparison.rows[method][name] for method in comparison.methods]) for name in first
    }
    arrays.update(
        methods=np.array(comparison.methods), labels=comparison.labels
    )  # an array of text, which needs no pickle
    return arrays


def _sections(comparison: ComparisonNumbers) -> list[Section]:
    sections = [_trials_section(comparison), _full_section(comparison)]
    return sections + ([_against_section(comparison)] if len(comparison.methods) > 1 else [])


def _trials_section(comparison: ComparisonNumbers) -> Section:
    setup = comparison.setup
    unit = "rows" if setup.n_calibration_groups is None else "groups"
    when = "once on all calibration rows" if setup.tuning == "once" else "again in each trial"
    caption = (
        f"Mean ± standard deviation over {setup.trials} trials, each fitted on {100 * setup.subsample:g} % of the "
        f"calibration {unit}. Hyperparameters that a method tunes are chosen {when}."
    )

    def cell(method: str, metric: str) -> str:
        mean, std = comparison.mean(method, metric), comparison.std(method, metric)
        return format_metric(mean, metric) + ("" if math.isnan(std) else f" ± {format_metric(std, metric)}")

    return _by_metric(comparison, caption, cell)


def _full_section(comparison: ComparisonNumbers) -> Section:
    setup = comparison.setup
    unit = "rows" if setup.n_test_groups is None else "groups"
    caption = (
        f"Full models, fitted on all calibration rows, with {100 * setup.level:g} % intervals from {setup.resamples} "
        f"bootstrap resamples of the test {unit}."
    )

    def cell(method: str, metric: str) -> str:
        low, high = comparison.interval(method, metric)
        value = format_metric(comparison.full[method][metric], metric)
        return value if math.isnan(low) else f"{value} [{format_metric(low, metric)}, {format_metric(high, metric)}]"

    return _by_metric(comparison, caption, cell)


def _by_metric(comparison: ComparisonNumbers, caption: str, cell: Any) -> Section:
    rows = [
        [METRICS[metric].title, *(cell(method, metric) for method in comparison.methods)]
        for metric in _shown_first(comparison.metrics)
    ]
    return Section(caption, ["", *map(_shown, comparison.methods)], rows, 1)


def _against_section(comparison: ComparisonNumbers) -> Section:
    enough = comparison.setup.trials >= FEWEST_TRIALS
    marks = f"{MARK} marks wins in at least 4 of 5 trials" if enough else f"marks need {FEWEST_TRIALS} trials"
    caption = (
        f"Differences to {_shown(comparison.reference)}. Δ is the paired difference of the full models with its "
        "interval. P(Δ>0) and the two-sided p are computed over the same resamples. W/L/T counts wins, losses and ties "
        f"over the trials, {marks}, and sign p is from the one-sided sign test. "
        "Holm's correction runs across metrics."
    )
    header = ["method", "metric", "Δ", "P(Δ>0)", "p", "p Holm", "W/L/T", "sign p", "sign p Holm"]
    rows = []
    for method in comparison.methods:
        if method == comparison.reference:
            continue
        signs, gaps = comparison.signs(method), comparison.difference(method)
        rows += [
            [_shown(method), METRICS[metric].title, *_gap_cells(gaps[metric], metric), *_sign_cells(signs[metric])]
            for metric in _questions(comparison)
        ]
    return Section(caption, header, rows, 2)


def _gap_cells(gap: Difference, metric: str) -> list[str]:
    delta = format_metric(gap.estimate, metric, "+")
    if not math.isnan(gap.low):
        delta += f" [{format_metric(gap.low, metric, '+')}, {format_metric(gap.high, metric, '+')}]"
    return [delta, format_metric(gap.p_positive), _p_value(gap.p_value), _p_value(gap.p_holm)]


def _sign_cells(signs: Signs) -> list[str]:
    counts = f"{signs.wins}/{signs.losses}/{signs.ties} {MARK if signs.mark else ' '}"
    return [counts, _p_value(signs.p_value), _p_value(signs.p_holm)]


def _notes(comparison: ComparisonNumbers) -> list[str]:
    setup = comparison.setup
    weighing = " (every group counts once)" if setup.equal_group_weight else ""
    sizes = f"{setup.n_calibration} calibration rows{_in_groups(setup.n_calibration_groups)}, {setup.n_test} test rows"
    notes = [
        f"{sizes}{_in_groups(setup.n_test_groups)}{weighing}, {setup.n_classes} classes, seed {setup.random_state}. "
        f"{UNITS}. Metrics are over covered rows, except the coverage and those that say all rows. "
        "Standard deviations divide by trials − 1. Macro is not resampled, so it has no interval. "
        f"Classes are divided by {setup.counts_from}. {setup.strata_rule}",
    ]
    if not comparison.same_rows:
        notes.append(
            "The methods do not cover the same test rows, so their metrics over covered rows are not comparable. "
            "Compare the metrics over all rows."
        )
    return [*notes, conclude(comparison)]


def _in_groups(count: int | None) -> str:
    return "" if count is None else f" in {count} groups"


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else format_metric(value)


def _shown(name: str) -> str:
    """Return the name of a method that tables show, on one line."""
    return " ".join(title_of(name).split())


def _entry(comparison: ComparisonNumbers, method: str, metric: str) -> dict[str, Any]:
    return {
        "mean": comparison.mean(method, metric),
        "std": comparison.std(method, metric),
        "trials": comparison.trials[method][metric].tolist(),
        "full": comparison.full[method][metric],
        "interval": list(comparison.interval(method, metric)),
    }


def _against(comparison: ComparisonNumbers, method: str, other: str) -> dict[str, Any]:
    signs, gaps = comparison.signs(method, other), comparison.difference(method, other)
    return {
        metric: {"signs": asdict(signs[metric]), "difference": asdict(gaps[metric])} for metric in comparison.metrics
    }


def _shown_first(metrics: tuple[str, ...]) -> list[str]:
    """Return the metrics in the order of the tables: accuracy over all rows first."""
    return sorted(metrics, key=lambda metric: not metric.startswith("accuracy"))


def _questions(comparison: ComparisonNumbers) -> list[str]:
    """Return the metrics of the table of differences, one per question, over all rows where there is a choice."""
    over_all = {question_of(metric): metric for metric in comparison.metrics if metric.startswith("accuracy")}
    same = comparison.same_rows
    return _shown_first(tuple(over_all.get(name, name) if same else name for name in comparison.questions))
