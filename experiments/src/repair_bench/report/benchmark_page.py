"""The page of one benchmark: what was run, whether the paper's claims hold, and every table."""

from html import escape

from repair_bench.report.agreement import agreement
from repair_bench.report.numbers import AUTO, AUTO_EMBEDDED, Result
from repair_bench.report.result_tables import KINDS, interval_tables
from repair_bench.report.short_tables import short_differences, short_signs, short_trials
from repair_bench.report.table import AbsentError, Table

__all__ = ["base_model", "benchmark_page"]

#: Tables that are always visible, and tables that the reader unfolds.
SHOWN = (KINDS["unconditional"], KINDS["main"])
FOLDED = (
    KINDS["paper"],
    short_differences,
    short_signs,
    interval_tables,
    KINDS["k"],
    KINDS["ablation"],
    KINDS["quintiles"],
    KINDS["distribution"],
    short_trials,
)


def benchmark_page(result: Result) -> str:
    """Return the page as Markdown."""
    parts = [
        f"# {result['benchmark']}: {result['title']}",
        "[All benchmarks and how to read the tables](README.md)",
        "\n".join(f"- {line}" for line in _facts(result)),
        " ".join(_sentence(note) for note in (result["note"], *result["data"]["notes"]) if note),
        _chosen(result),
        agreement(result),
    ]
    for make in (*SHOWN, *FOLDED):
        try:
            tables = make(result)
        except AbsentError:
            continue
        parts += [table.written("markdown") if make in SHOWN else _unfoldable(table) for table in tables]
    return "\n\n".join(part for part in parts if part) + "\n"


def base_model(result: Result) -> str:
    """Return the base model with its own settings, without those of the run."""
    of_run = ("base", "seed", "trials", "quick", "n_candidates", "resamples")
    of_base = {name: value for name, value in result["settings"].items() if name not in of_run and value is not None}
    short = {name: value["model"] if isinstance(value, dict) else value for name, value in of_base.items()}
    inside = ", ".join(f"{name}={value}" for name, value in short.items())
    return f"{result['settings']['base']}({inside})"


def _unfoldable(table: Table) -> str:
    return f"<details><summary>{escape(table.caption)}</summary>\n\n{table.markdown}\n\n</details>"


def _command(result: Result) -> str:
    settings = result["settings"]
    trials = "" if settings["trials"] == 5 else f" --trials {settings['trials']}"
    return f"repair bench run {result['benchmark']} --seed {settings['seed']}{trials}"


def _facts(result: Result) -> list[str]:
    """Return what was run, one line per fact."""
    seconds, setup = result.get("seconds", {}), result["setup"]
    trial_seeds = ", ".join(map(str, setup["trial_seeds"]))
    facts = [
        f"Command: `{_command(result)}`",
        f"Data: {result['home']}",
        f"Size: {_size(result)}",
        f"Base model: {base_model(result)}.",
        f"Seeds: {result['settings']['seed']} for the parts, {trial_seeds} for the subsamples of the trials, "
        f"{setup['bootstrap_seed']} for the bootstrap.",
    ]
    return [*facts, f"Time: {sum(seconds.values()):.0f} s of one core."] if seconds else facts


def _size(result: Result) -> str:
    data, setup = result["data"], result["setup"]
    calibration, test = f"{data['calibration_rows']:,}", f"{data['test_rows']:,}"
    if setup["n_calibration_groups"] is not None:
        calibration += f" ({setup['n_calibration_groups']:,} groups)"
    if setup["n_test_groups"] is not None:
        test += f" ({setup['n_test_groups']:,} groups)"
    weighing = " Every group counts once." if setup["equal_group_weight"] else ""
    return (
        f"{data['classes']:,} classes; {data['training_rows']:,.0f} training rows, from {data['smallest_class']:g} to "
        f"{data['largest_class']:g} per class; {calibration} calibration and {test} test rows.{weighing}"
    )


def _chosen(result: Result) -> str:
    """Return the notes of `auto` on its choice, because it is the method that users meet first."""
    notes = {title: result["methods"].get(title, {}).get("notes", []) for title in (AUTO, AUTO_EMBEDDED)}
    return "\n\n".join(
        f"Notes of {title}: {' '.join(map(_sentence, lines))}" for title, lines in notes.items() if lines
    )


def _sentence(text: str) -> str:
    word = text.split(" ", 1)[0]
    start = text[:1].upper() + text[1:] if word.isalpha() else text  # names of terms keep their case
    return start.rstrip(".") + "."
