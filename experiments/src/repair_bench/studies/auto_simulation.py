"""What `auto` does on simulated problems whose true gain is known: false alarms, losses, and its reported interval."""

from collections import Counter
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.text_tables import markdown_table
from repair_bench.studies.kept_results import keep, kept_folder
from repair_bench.studies.shares import allowed_count, share, share_text
from repair_bench.studies.simulated_fits import Measure, measuring
from repair_bench.studies.simulated_problems import KINDS, N_CANDIDATES, N_CLASSES, NOTHING

__all__ = ["NEEDS_ALL_SETS", "SETS", "TITLE", "body", "run", "summarize_kind"]

TITLE = "What `auto` does on simulated problems"
#: The study reads no data.
SETS: tuple[str, ...] = ()
NEEDS_ALL_SETS = False
#: Number of problems of each kind, by number of calibration rows.
PROBLEMS = {400: 200, 100: 60, 1_000: 60}
QUICK_PROBLEMS = {100: 3}
N_FRESH, QUICK_FRESH = 20_000, 2_000
PROCESSES = 2
#: Number of problems after which results are stored.
BLOCK = 20
#: `auto` is counted as below Base if its true gain is lower than this, in points.
LOSS = -0.3
RATE, COVERAGE = 0.05, (0.93, 0.97)


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit on every simulated problem.  With a cache, an interrupted run continues where it stopped."""
    problems, n_fresh = (QUICK_PROBLEMS, QUICK_FRESH) if quick else (PROBLEMS, N_FRESH)
    sizes: dict[str, Any] = {}
    with measuring(1 if quick else PROCESSES) as measure:
        for n_rows, count in problems.items():
            kinds = {}
            for kind in KINDS:
                found = _solve(kind, n_rows, n_fresh, count, measure, kept_folder(vectors))
                kinds[kind] = {**summarize_kind(found), "problems": found}
                say(f"{KINDS[kind].title}, {n_rows} rows: {_in_short(kinds[kind])}")
            sizes[str(n_rows)] = kinds
    return {"settings": {"quick": quick, "n_fresh": n_fresh, "loss": LOSS}, "sizes": sizes}


def _solve(
    kind: str, n_rows: int, n_fresh: int, count: int, measure: Measure, folder: Path | None
) -> list[dict[str, Any]]:
    """Return one record per problem of a kind.  Each block of problems is stored."""
    found: list[dict[str, Any]] = []
    for start in range(0, count, BLOCK):
        tasks = [(kind, n_rows, n_fresh, number) for number in range(start, min(start + BLOCK, count))]

        def make(tasks: list[tuple[str, int, int, int]] = tasks) -> dict[str, Any]:
            return {"problems": measure(tasks)}

        settings = {"n_fresh": n_fresh, "first": start, "count": len(tasks)}
        name = f"auto_simulation/{kind}-{n_rows}-{start}" + ("-quick" if n_fresh == QUICK_FRESH else "")
        found += keep(name, settings, [], folder, make)["problems"]
    return found


def summarize_kind(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return modes, shares with their intervals, mean gains and core seconds of the problems of one kind.

    Parameters
    ----------
    found : list of dict
        Records of `repair_bench.studies.simulated_fits.fit_problem`.
    """
    n = len(found)
    with_interval = [one for one in found if one["holds"] is not None]
    corrected = [one for one in with_interval if one["mode"] != "base"]
    summary: dict[str, Any] = {
        "modes": dict(Counter(one["mode"] for one in found)),
        "corrected": share(sum(one["mode"] != "base" for one in found), n),
        "below": share(sum(one["auto"]["gain"] < LOSS for one in found), n),
        "below_two_errors": share(sum(one["auto"]["gain"] < -2 * one["auto"]["error"] for one in found), n),
        "holds": share(sum(one["holds"] for one in with_interval), len(with_interval)),
        "holds_corrected": share(sum(one["holds"] for one in corrected), len(corrected)),
        "base_accuracy": float(np.mean([one["base_accuracy"] for one in found])),
    }
    for method in ("auto", "extended"):
        gains = [one[method]["gain"] for one in found]
        error = float(np.std(gains, ddof=1) / np.sqrt(n)) if n > 1 else None
        seconds = float(np.mean([one["seconds"][method] for one in found]))
        summary[method] = {"mean": float(np.mean(gains)), "error": error, "lowest": min(gains), "seconds": seconds}
    return summary


def _in_short(summary: dict[str, Any]) -> str:
    return (
        f"a correction in {summary['corrected']['count']} of {summary['corrected']['of']}, below Base in "
        f"{summary['below']['count']}, mean gain {summary['auto']['mean']:+.2f} (extended "
        f"{summary['extended']['mean']:+.2f}), interval holds it in {summary['holds']['count']} of "
        f"{summary['holds']['of']}, {summary['auto']['seconds']:.2f} core seconds per fit"
    )


def body(record: dict[str, Any]) -> str:
    """Return an explanation, the targets, and tables for each number of calibration rows."""
    fresh = record["settings"]["n_fresh"]
    explained = (
        "How often does `auto` accept a useless correction, how often is its result worse than the base order, and "
        f"does its reported interval hold the true gain? Every problem has {N_CLASSES} Gaussian classes with a long "
        f"tail and shortlists of {N_CANDIDATES}. The true gain is that of the returned model over Base on {fresh:,} "
        "fresh rows, in points of expected accuracy, which follows from the known posterior. The paper has no such "
        "study."
    )
    kinds = "\n".join(f"- *{kind.title}*: {kind.about}" for kind in KINDS.values())
    parts = [explained, kinds, _how_to_read(fresh)]
    for n_rows, found in record["sizes"].items():
        parts += [f"## {int(n_rows):,} calibration rows", _outcomes(found), _modes(found), _verdicts(found)]
    return "\n\n".join(parts)


def _how_to_read(fresh: int) -> str:
    return (
        "Shares have 95 % Wilson intervals. *Below Base* counts problems with a true gain below "
        f"{_points(LOSS)} points. *Below by 2 SE* counts those in which the loss is more than two standard errors of a "
        f"paired evaluation on {fresh:,} labelled rows. *Interval holds* is the share of problems in which the 95 % "
        "interval of `auto_.gain` holds the true gain of the returned model, among all problems with an interval and "
        "among those in which a correction was accepted. With drift, nothing guarantees this: the interval is about "
        "rows like the calibration rows, and the fresh rows differ from them."
    )


def _outcomes(found: dict[str, Any]) -> str:
    header = [
        "problems",
        "below Base",
        "below by 2 SE",
        "gain of auto",
        "lowest",
        "gain of Extended",
        "interval holds",
        "interval holds, correction accepted",
    ]
    rows = []
    for kind, one in found.items():
        shares = [share_text(one[name]) for name in ("below", "below_two_errors", "holds", "holds_corrected")]
        gains = [_mean(one["auto"]), _points(one["auto"]["lowest"]), _mean(one["extended"])]
        rows.append([KINDS[kind].title, *shares[:2], *gains, *shares[2:]])
    return markdown_table(header, rows)


def _modes(found: dict[str, Any]) -> str:
    modes = sorted({mode for one in found.values() for mode in one["modes"]}, key=lambda mode: (mode != "base", mode))
    header = ["mode that auto returned", *modes, "a correction was accepted", "accuracy of Base", "seconds per fit"]
    rows = [
        [
            KINDS[kind].title,
            *(str(one["modes"].get(mode, 0)) for mode in modes),
            share_text(one["corrected"]),
            f"{one['base_accuracy']:.1f} %",
            f"{one['auto']['seconds']:.2f}",
        ]
        for kind, one in found.items()
    ]
    return markdown_table(header, rows)


def _verdicts(found: dict[str, Any]) -> str:
    """Return whether each target is reached, computed from the counts."""
    lines = []
    for kind, one in found.items():
        total = one["corrected"]["of"]
        allowed, checks = allowed_count(total, RATE), []
        if kind in NOTHING:
            checks.append(
                _check(
                    f"false alarms {one['corrected']['count']} (at most {allowed} are compatible with 5 %)",
                    one["corrected"]["count"] <= allowed,
                )
            )
        checks.append(
            _check(f"below Base {one['below']['count']} (at most {allowed})", one["below"]["count"] <= allowed)
        )
        held = one["holds"]
        if held["value"] is not None and "drift" not in kind:
            inside = COVERAGE[0] <= held["value"] <= COVERAGE[1]
            compatible = held["low"] <= COVERAGE[1] and held["high"] >= COVERAGE[0]
            verdict = "reached" if inside else "not reached, but compatible with it" if compatible else "missed"
            checks.append(f"interval holds in {100 * held['value']:.1f} % (93 to 97 %): {verdict}")
        lines.append(f"- {KINDS[kind].title}: {'; '.join(checks)}")
    return "**Targets**\n\n" + "\n".join(lines)


def _check(text: str, passed: bool) -> str:
    return f"{text}: {'reached' if passed else 'missed'}"


def _mean(found: dict[str, Any]) -> str:
    return _points(found["mean"]) + ("" if found["error"] is None else f" ± {found['error']:.2f}")


def _points(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")
