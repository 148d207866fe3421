"""The project's own targets for the extended mode, and whether the results reach them."""

from collections.abc import Mapping

from repair_bench.harness.methods import EMBEDDINGS, SCORES
from repair_bench.report.beyond_closure import CLOSURES, SMALL, mean_closure
from repair_bench.report.beyond_differences import FIRSTS, RIVALS, Verdict, family, worse_pairs
from repair_bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result, number
from repair_bench.report.rival_targets import PUBLISHED_SHARES
from repair_bench.report.table import Table

__all__ = ["mean_targets", "standing_targets", "worse_sentence"]

#: The target for the mean share of the published error, for each column of the closure table.
SHARES = dict(zip(CLOSURES, (PUBLISHED_SHARES[SCORES], PUBLISHED_SHARES[EMBEDDINGS], 0.04, 0.15), strict=True))
#: The target for the share of benchmarks significantly above the published method, and its name.
ABOVE = {EXTENDED: (0.25, "a quarter"), EMBEDDED: (0.5, "half")}


def mean_targets(results: Mapping[str, Result]) -> Table:
    """Return the mean shares of the published error that are closed, with their targets."""
    rows = []
    for column, wanted in SHARES.items():
        cells = []
        for smallest in (0, SMALL):
            mean, count = mean_closure(results, column, smallest)
            shown = f"{number(mean, 'accuracy', '+')} % (mean of {count})"
            cells.append("–" if mean is None else f"{shown}: {_reached(mean >= wanted)}")
        rows.append([column, f"≥ {100 * wanted:g} %", *cells])
    header = ["mean share of the published error closed", "target", "all benchmarks", f"at least {SMALL} test rows"]
    return Table("Targets: error closed", header, rows, n_text=2)


def standing_targets(results: Mapping[str, Result]) -> Table:
    """Return the numbers of benchmarks significantly above and below, with their targets."""
    rows = []
    for first in FIRSTS:
        verdicts = family(results, first)
        if not verdicts:
            continue
        of_published = [verdict for (_, rival), verdict in verdicts.items() if rival == PUBLISHED]
        share, named = ABOVE[first]
        above = [sum(way == 1 for way in ways) for ways in _ways(of_published)]
        cells = [f"{count} of {len(of_published)}: {_reached(count >= share * len(of_published))}" for count in above]
        rows.append([f"{first} significantly above {PUBLISHED}", f"at least {named}", *cells])
        below = [sum(way == -1 for way in ways) for ways in _ways(list(verdicts.values()))]
        cells = [f"{count} of {len(verdicts)}: {_reached(count == 0)}" for count in below]
        rows.append([f"{first} significantly below one of the {len(RIVALS)} rivals", "never", *cells])
        worse = len(worse_pairs(results, first))
        rows.append(
            [
                f"{first} significantly below any method that gets no more",
                "never",
                "–",
                f"{worse}: {_reached(not worse)}",
            ]
        )
    header = ["accuracy over all rows", "target", "after Holm", "without correction"]
    return Table("Targets: benchmarks above and below", header, rows, n_text=2)


def worse_sentence(results: Mapping[str, Result]) -> str:
    """Return a sentence on where the extended mode is significantly below a method.  It is empty if nowhere."""
    parts = []
    for first in FIRSTS:
        pairs = [f"{other} on {name}" for name, other in worse_pairs(results, first)]
        if pairs:
            parts.append(f"{first} is significantly below {', '.join(pairs)}")
    return f"Without correction, {'; '.join(parts)}." if parts else ""


def _ways(verdicts: list[Verdict]) -> tuple[list[int], list[int]]:
    return [verdict.corrected for verdict in verdicts], [verdict.alone for verdict in verdicts]


def _reached(yes: bool) -> str:
    return "reached" if yes else "not reached"
