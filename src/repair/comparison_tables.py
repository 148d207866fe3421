"""A comparison as plain text, Markdown, LaTeX, CSV, JSON and npz."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

import repair
from repair.comparison import Comparison, Difference, Signs
from repair.comparison_metrics import METRICS
from repair.tables import LATEX_NEEDS, MARKDOWN, escape_latex, latex_table, markdown_table, text_table

__all__ = ["as_csv", "as_json", "as_latex", "as_markdown", "as_npz", "as_text", "row_arrays"]

MARK = "✓"
MISSING = "n/a"
#: Width at which captions and notes are wrapped in plain text.
LINE = 110


class Section(NamedTuple):
    """One table with its caption; the first `n_text` columns are text."""

    caption: str
    header: list[str]
    rows: list[list[str]]
    n_text: int


def as_text(comparison: Comparison) -> str:
    """Return the tables, aligned, with the notes below."""
    parts = [
        f"{fill(one.caption, LINE)}\n\n{text_table(one.header, one.rows, text_columns=range(one.n_text))}"
        for one in _sections(comparison)
    ]
    return "\n\n".join([*parts, *(fill(note, LINE) for note in _notes(comparison))])


def as_markdown(comparison: Comparison) -> str:
    """Return the tables as Markdown."""
    parts = []
    for one in _sections(comparison):
        lines = [[cell.strip().translate(MARKDOWN) for cell in line] for line in (one.header, *one.rows)]
        table = markdown_table(lines[0], lines[1:], text_columns=range(one.n_text))
        parts.append(f"**{one.caption.translate(MARKDOWN)}**\n\n{table}")
    return "\n\n".join([*parts, *(note.translate(MARKDOWN) for note in _notes(comparison))]) + "\n"


def as_latex(comparison: Comparison) -> str:
    """Return the tables as LaTeX."""
    parts = [LATEX_NEEDS]
    for one in _sections(comparison):
        parts.append(latex_table(one.header, one.rows, one.caption, text_columns=range(one.n_text)))
    return "\n\n".join([*parts, *map(escape_latex, _notes(comparison))]) + "\n"


def as_csv(comparison: Comparison) -> str:
    """Return one line per method and metric; empty where there is no number."""
    against = ["reference", "wins", "losses", "ties", "mark", "sign_p", "sign_p_holm", "difference", "difference_low"]
    against += ["difference_high", "p_positive", "bootstrap_p", "bootstrap_p_holm"]
    trials = [f"trial_{trial}" for trial in range(1, comparison.setup.trials + 1)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["method", "metric", "mean", "std", "full", "full_low", "full_high", *against, *trials])
    for method in comparison.methods:
        signs, gaps = comparison.signs(method), comparison.difference(method)
        for metric in METRICS:
            own = [comparison.mean(method, metric), comparison.std(method, metric), comparison.full[method][metric]]
            own += comparison.interval(method, metric)
            rival: list[Any] = [comparison.reference, *asdict(signs[metric]).values(), *asdict(gaps[metric]).values()]
            if method == comparison.reference:
                rival = [None] * len(against)
            values = [*own, *rival, *comparison.trials[method][metric].tolist()]
            writer.writerow([method, metric, *(_null(value) for value in values)])
    return stream.getvalue()


def as_json(comparison: Comparison) -> str:
    """Return every number, with how it was made."""
    methods = {}
    for method in comparison.methods:
        model = comparison.models[method]
        methods[method] = {
            "model": repr(model),
            "mode": model.mode_,
            "chosen": model.account_.chosen,
            "metrics": {metric: _entry(comparison, method, metric) for metric in METRICS},
            "against": {
                other: _against(comparison.signs(method, other), comparison.difference(method, other))
                for other in comparison.methods
                if other != method
            },
        }
    first = comparison.rows[comparison.methods[0]]
    content = {
        "library": "repair",
        "version": repair.__version__,
        "reference": comparison.reference,
        "setup": asdict(comparison.setup),
        "same_rows_covered": comparison.same_rows,
        "covered_test_rows": int(first["covered"].sum()) if comparison.same_rows else None,
        "holm_family": list(comparison.questions),
        "std_divisor": "trials - 1",
        "methods": methods,
    }
    return json.dumps(_null(content), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def as_npz(comparison: Comparison) -> bytes:
    """Return the per-row outputs of the full models as the bytes of an npz file without pickle."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **row_arrays(comparison))
    return stream.getvalue()


def row_arrays(comparison: Comparison) -> dict[str, Any]:
    """Return the per-row outputs of the full models, each as an array (methods, n), with names and labels."""
    first = comparison.rows[comparison.methods[0]]
    arrays: dict[str, Any] = {
        name: np.stack([comparison.rows[method][name] for method in comparison.methods]) for name in first
    }
    arrays.update(methods=np.array(comparison.methods), labels=comparison.labels)  # text, not objects: no pickle
    return arrays


def _sections(comparison: Comparison) -> list[Section]:
    sections = [_trials_section(comparison), _full_section(comparison)]
    return sections + ([_against_section(comparison)] if len(comparison.methods) > 1 else [])


def _trials_section(comparison: Comparison) -> Section:
    setup = comparison.setup
    unit = "rows" if setup.n_calibration_groups is None else "groups"
    chosen = "once on all calibration rows" if setup.selection == "once" else "anew in each trial"
    caption = (
        f"Mean ± standard deviation over {setup.trials} trials, each fitted on {100 * setup.subsample:g} % of the "
        f"calibration {unit}; hyperparameters that a method chooses are chosen {chosen}."
    )

    def cell(method: str, metric: str) -> str:
        mean, std = comparison.mean(method, metric), comparison.std(method, metric)
        return _number(mean, metric) + ("" if math.isnan(std) else f" ± {_number(std, metric)}")

    return _by_metric(comparison, caption, cell)


def _full_section(comparison: Comparison) -> Section:
    setup = comparison.setup
    unit = "rows" if setup.n_test_groups is None else "groups"
    caption = (
        f"Fitted on all calibration rows, with {100 * setup.level:g} % intervals from {setup.resamples} bootstrap "
        f"resamples of the test {unit}."
    )

    def cell(method: str, metric: str) -> str:
        low, high = comparison.interval(method, metric)
        value = _number(comparison.full[method][metric], metric)
        return value if math.isnan(low) else f"{value} [{_number(low, metric)}, {_number(high, metric)}]"

    return _by_metric(comparison, caption, cell)


def _by_metric(comparison: Comparison, caption: str, cell: Any) -> Section:
    rows = [[METRICS[metric].title, *(cell(method, metric) for method in comparison.methods)] for metric in METRICS]
    return Section(caption, ["", *map(_one_line, comparison.methods)], rows, 1)


def _against_section(comparison: Comparison) -> Section:
    caption = (
        f"Against {_one_line(comparison.reference)}: paired difference Δ of the full models with interval, P(Δ>0) and "
        f"two-sided p over the resamples; wins, losses and ties over the trials, {MARK} for wins in ≥ 4 of 5, and the "
        "one-sided sign test; Holm's correction is across metrics."
    )
    header = ["method", "metric", "Δ", "P(Δ>0)", "p", "p Holm", "W/L/T", "sign p", "sign p Holm"]
    rows = []
    for method in comparison.methods:
        if method == comparison.reference:
            continue
        signs, gaps = comparison.signs(method), comparison.difference(method)
        rows += [
            [_one_line(method), METRICS[one].title, *_gap_cells(gaps[one], one), *_sign_cells(signs[one])]
            for one in comparison.questions
        ]
    return Section(caption, header, rows, 2)


def _gap_cells(gap: Difference, metric: str) -> list[str]:
    delta = _number(gap.estimate, metric, "+")
    if not math.isnan(gap.low):
        delta += f" [{_number(gap.low, metric, '+')}, {_number(gap.high, metric, '+')}]"
    return [delta, _number(gap.p_positive), _p_value(gap.p_value), _p_value(gap.p_holm)]


def _sign_cells(signs: Signs) -> list[str]:
    counts = f"{signs.wins}/{signs.losses}/{signs.ties} {MARK if signs.mark else ' '}"
    return [counts, _p_value(signs.p_value), _p_value(signs.p_holm)]


def _notes(comparison: Comparison) -> list[str]:
    setup = comparison.setup
    weighing = " (every group counts once)" if setup.group_weights else ""
    sizes = f"{setup.n_calibration} calibration rows{_in_groups(setup.n_calibration_groups)}, {setup.n_test} test rows"
    notes = [
        f"{sizes}{_in_groups(setup.n_test_groups)}{weighing}, {setup.n_classes} classes, seed {setup.seed}. "
        "MRR, HFR, gap closed and NLL are plain numbers, all others percent. Down to NLL (lower is better) metrics "
        "are over covered rows, then over all rows. Standard deviations divide by trials − 1; macro is not resampled. "
        f"Rare and frequent classes are told apart by {setup.counts_from}.",
    ]
    if not comparison.same_rows:
        notes.append(
            "The methods do not cover the same test rows: metrics over covered rows do not compare like with like; "
            "read those over all rows."
        )
    return notes


def _in_groups(count: int | None) -> str:
    return "" if count is None else f" in {count} groups"


def _number(value: float, metric: str = "", sign: str = "") -> str:
    if math.isnan(value):
        return MISSING
    percent = bool(metric) and METRICS[metric].percent
    shown = round(100 * value, 1) if percent else round(value, 3)
    return f"{shown + 0.0:{sign}.{1 if percent else 3}f}"  # + 0.0 turns −0 into 0


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else _number(value)


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _entry(comparison: Comparison, method: str, metric: str) -> dict[str, Any]:
    return {
        "mean": comparison.mean(method, metric),
        "std": comparison.std(method, metric),
        "trials": comparison.trials[method][metric].tolist(),
        "full": comparison.full[method][metric],
        "interval": list(comparison.interval(method, metric)),
    }


def _against(signs: dict[str, Signs], gaps: dict[str, Difference]) -> dict[str, Any]:
    return {metric: {"signs": asdict(signs[metric]), "difference": asdict(gaps[metric])} for metric in METRICS}


def _null(value: Any) -> Any:
    """Replace every NaN and infinity by None, also inside lists and mappings; numpy's numbers by Python's."""
    if isinstance(value, dict):
        return {str(key): _null(one) for key, one in value.items()}
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return [_null(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)
