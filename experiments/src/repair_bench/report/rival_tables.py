"""Our methods and the rivals that have the same information, over all rows."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from repair_bench.report.beyond_closure import closure, closure_cell
from repair_bench.report.beyond_differences import Verdict, count_cell, family, gap_cell
from repair_bench.report.information import Contest, best_rival, shown_information
from repair_bench.report.numbers import BASE, Result, against, number
from repair_bench.report.table import Table

__all__ = [
    "below_sentence",
    "best_gap_table",
    "best_table",
    "contest_family",
    "contested",
    "every_table",
    "rival_count_table",
]

METRIC = "accuracy"
CHOSEN = "†"

Results = Mapping[str, Result]


def contested(results: Results, contest: Contest) -> dict[str, Result]:
    """Return the benchmarks on which one of our methods and a rival chosen by calibration rows were run."""
    return {
        name: record
        for name, record in results.items()
        if any(title in record["methods"] for title in contest.ours) and best_rival(record, contest.information)
    }


def best_table(results: Results, contest: Contest) -> Table:
    """Return the accuracies of the base, of the best rival by calibration rows, and of our methods."""
    rows, columns = [], []
    for name, record in contested(results, contest).items():
        best = best_rival(record, contest.information)
        assert best is not None
        means = [_mean_accuracy(record, title) for title in (BASE, best, *contest.ours)]
        rows.append([name, best, *map(_accuracy, means)])
        columns.append(means)
    rows.append(["mean", "", *(_mean(column, "") for column in zip(*columns, strict=True))])
    header = ["benchmark", "best rival", BASE, "best rival's accuracy", *contest.ours]
    return Table(_caption(contest, "the best rival by its calibration rows"), header, rows, n_text=2)


def every_table(results: Results, contest: Contest) -> Table:
    """Return the accuracies of the base, of all rivals with this information, and of our methods."""
    chosen = contested(results, contest)
    rivals = [title for title in contest.opponents(chosen.values()) if title != BASE]
    rows = []
    for name, record in chosen.items():
        best = best_rival(record, contest.information)
        cells = [
            _accuracy(_mean_accuracy(record, title)) + (f" {CHOSEN}" if title == best else "")
            for title in (BASE, *rivals, *contest.ours)
        ]
        rows.append([name, *cells])
    caption = _caption(contest, f"every rival ({CHOSEN} marks the best by its calibration rows)")
    return Table(caption, ["benchmark", BASE, *rivals, *contest.ours], rows)


def best_gap_table(results: Results, contest: Contest) -> Table:
    """Return our paired differences to the best rival, and the shares of its error that are closed."""
    rows = []
    gaps: dict[str, list[float | None]] = {title: [] for title in contest.ours}
    shares: dict[str, list[float | None]] = {title: [] for title in contest.ours}
    for name, record in contested(results, contest).items():
        best = best_rival(record, contest.information)
        assert best is not None
        cells = []
        for title in contest.ours:
            pair = against(record, title, best)
            gap, share = None if pair is None else pair[METRIC]["difference"], closure(record, title, best, METRIC)
            gaps[title].append(None if gap is None else gap["estimate"])
            shares[title].append(None if share is None else share.estimate)
            cells += [gap_cell(gap), closure_cell(share)]
        rows.append([name, best, *cells])
    rows.append(
        ["mean", "", *(_mean(part[title], "+") for title in contest.ours for part in (gaps, shares))],
    )
    header = ["benchmark", "best rival"]
    for title in contest.ours:
        header += [f"{title} − best rival", f"share of its error closed by {title}"]
    caption = (
        f"Rivals that get {shown_information(contest.information)}: difference to the best by its calibration rows in "
        "points, with interval (* if it excludes zero), and the share of its error that is closed in per cent"
    )
    return Table(caption, header, rows, n_text=2)


def contest_family(results: Results, contest: Contest, first: str) -> dict[tuple[str, str], Verdict]:
    """Return the differences of one method to all rivals with this information and to the base, as one family."""
    chosen = contested(results, contest)
    return family(chosen, first, contest.opponents(chosen.values()))


def rival_count_table(results: Results, contest: Contest) -> Table:
    """Return on how many benchmarks our methods are significantly above and below each rival."""
    families = {title: contest_family(results, contest, title) for title in contest.ours}
    rows = []
    for rival in contest.opponents(contested(results, contest).values()):
        columns = [[one for (_, other), one in verdicts.items() if other == rival] for verdicts in families.values()]
        rows.append([rival, *map(count_cell, columns)])
    sizes = " and ".join(f"{len(verdicts)}" for verdicts in families.values())
    caption = (
        f"Rivals that get {shown_information(contest.information)}: number of benchmarks on which our method is "
        f"significantly above / below, after Holm over {sizes} comparisons (and without correction)"
    )
    return Table(caption, ["against", *contest.ours], rows)


def below_sentence(results: Results, contest: Contest) -> str:
    """Return a sentence on where our methods are significantly below a rival, or that this is nowhere the case."""
    return " ".join(_below(contest_family(results, contest, title), title) for title in contest.ours)


def _below(verdicts: Mapping[tuple[str, str], Verdict], title: str) -> str:
    def listed(is_below: Callable[[Verdict], bool]) -> str:
        return ", ".join(f"{rival} on {name}" for (name, rival), one in verdicts.items() if is_below(one))

    corrected, alone = listed(lambda one: one.corrected == -1), listed(lambda one: one.alone == -1)
    return (
        f"{title} is significantly below {corrected or 'no rival'} after Holm, and below {alone or 'no rival'} without "
        "correction."
    )


def _caption(contest: Contest, which: str) -> str:
    rivals = f"Rivals that get {shown_information(contest.information)}: {which}."
    return f"{rivals} Accuracy over all rows in per cent, mean over the trials"


def _mean_accuracy(record: Result, title: str) -> float | None:
    metrics = record["methods"].get(title, {}).get("metrics")
    return None if metrics is None or metrics[METRIC]["mean"] is None else float(metrics[METRIC]["mean"])


def _accuracy(mean: float | None) -> str:
    return "–" if mean is None else number(mean, METRIC)


def _mean(values: Sequence[float | None], sign: str) -> str:
    known = [value for value in values if value is not None]
    return f"{number(float(np.mean(known)), METRIC, sign)} (of {len(known)})" if known else "–"
