"""The project's targets for the comparison with rivals that have the same information."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from repair_bench.harness.methods import EMBEDDINGS, SCORES
from repair_bench.report.beyond_closure import SMALL, closure
from repair_bench.report.beyond_differences import Verdict, family
from repair_bench.report.entries import JUDGING
from repair_bench.report.information import CONTESTS, Contest, best_rival
from repair_bench.report.numbers import PUBLISHED, Result, against, number
from repair_bench.report.rival_tables import contest_family, contested
from repair_bench.report.table import Table

__all__ = ["PUBLISHED_SHARES", "RIVAL_SHARE", "rival_targets"]

#: Target for the mean share of the best rival's error.
RIVAL_SHARE = 0.03
#: Target for the mean share of the published method's error, by what our method gets.
PUBLISHED_SHARES = {SCORES: 0.12, EMBEDDINGS: 0.25}
#: Target for the mean of auto minus extended, in accuracy.
AUTO_LOSS = -0.002
METRIC = "accuracy"
TOO_FEW = "too few resamples to say"

Results = Mapping[str, Result]


def rival_targets(results: Results) -> Table:
    """Return every target with what all entries, the judging entries and the larger entries reach."""
    parts = [
        results,
        {name: record for name, record in results.items() if name in JUDGING},
        {name: record for name, record in results.items() if record["data"]["test_rows"] >= SMALL},
    ]
    rows = []
    for contest in CONTESTS:
        if contest.information in PUBLISHED_SHARES and contested(results, contest):
            for what, target, measured in _targets(contest):
                rows.append([what, target, *(measured(contested(part, contest)) for part in parts)])
    header = ["target", "wanted", "all entries", "judging entries", f"at least {SMALL} test rows"]
    return Table("Targets: our methods and rivals with the same information", header, rows, n_text=2)


def _targets(contest: Contest) -> list[tuple[str, str, Callable[[Results], str]]]:
    """Return what is measured, what is wanted, and the function that measures it."""
    auto, extended = contest.ours
    wanted = PUBLISHED_SHARES[contest.information]

    def of_best(title: str) -> Callable[[Results], str]:
        return lambda part: _share(part, title, lambda record: best_rival(record, contest.information), RIVAL_SHARE)

    def of_published(title: str) -> Callable[[Results], str]:
        return lambda part: _share(part, title, lambda _: PUBLISHED, wanted)

    return [
        (
            f"{auto} significantly below a rival with the same information or Base (Holm)",
            "never",
            lambda part: _never(part, contest_family(part, contest, auto)),
        ),
        *(
            (f"best rival's error closed by {title}, mean", f"≥ {100 * RIVAL_SHARE:g} %", of_best(title))
            for title in contest.ours
        ),
        *(
            (f"error of {PUBLISHED} closed by {title}, mean", f"≥ {100 * wanted:g} %", of_published(title))
            for title in contest.ours
        ),
        (
            f"{auto} − {extended}, mean",
            f"≥ {number(AUTO_LOSS, METRIC)} points",
            lambda part: _mean_gap(part, auto, extended),
        ),
        (
            f"{auto} significantly below {extended} (Holm)",
            "never",
            lambda part: _never(part, family(part, auto, (extended,))),
        ),
    ]


def _never(results: Results, verdicts: Mapping[tuple[str, str], Verdict]) -> str:
    """Return how many differences are significantly below zero, and whether that is none."""
    if not verdicts:
        return "–"
    below = sum(one.corrected == -1 for one in verdicts.values())
    alone = sum(one.alone == -1 for one in verdicts.values())
    shown = f"{below} of {len(verdicts)} ({alone} without correction)"
    # The p-value of a bootstrap cannot be smaller, so with too many comparisons none could be significant.
    smallest = max(2.0 / (record["setup"]["resamples"] + 1) for record in results.values())
    level = min(1.0 - record["setup"]["level"] for record in results.values())
    return f"{shown}: {TOO_FEW if smallest * len(verdicts) >= level else _reached(below == 0)}"


def _share(results: Results, title: str, other: Callable[[Result], str | None], wanted: float) -> str:
    shares = []
    for record in results.values():
        rival = other(record)
        share = None if rival is None else closure(record, title, rival, METRIC)
        if share is not None:
            shares.append(share.estimate)
    return _held_to(shares, wanted, " %")


def _mean_gap(results: Results, first: str, second: str) -> str:
    pairs = [against(record, first, second) for record in results.values()]
    gaps = [pair[METRIC]["difference"]["estimate"] for pair in pairs if pair is not None]
    return _held_to([gap for gap in gaps if gap is not None], AUTO_LOSS, "", decimals=2)


def _held_to(values: Sequence[float], wanted: float, unit: str, decimals: int = 1) -> str:
    if not values:
        return "–"
    mean = float(np.mean(values))
    shown = f"{100 * mean:+.{decimals}f}".replace("-", "−")
    return f"{shown}{unit} (mean of {len(values)}): {_reached(mean >= wanted)}"


def _reached(yes: bool) -> str:
    return "reached" if yes else "not reached"
