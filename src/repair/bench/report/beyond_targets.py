"""The project's own targets for the extended mode, and whether the results reach them."""

from collections.abc import Mapping

from repair.bench.report.beyond_closure import CLOSURES, SMALL, mean_closure
from repair.bench.report.beyond_differences import FIRSTS, RIVALS, Verdict, family, worse_pairs
from repair.bench.report.numbers import EMBEDDED, EXTENDED, PUBLISHED, Result, number
from repair.bench.report.table import Table

__all__ = ["mean_targets", "standing_targets", "worse_sentence"]

#: The mean share of the published error to close, for each column of the closure table.
SHARES = dict(zip(CLOSURES, (0.05, 0.20, 0.04, 0.15), strict=True))
#: The share of benchmarks to be significantly above the published method on.
ABOVE = {EXTENDED: (0.25, "a quarter"), EMBEDDED: (0.5, "half")}


def mean_targets(results: Mapping[str, Result]) -> Table:
    """Return the wanted and the found mean shares of the published error."""
    rows = []
    for column, wanted in SHARES.items():
        cells = []
        for smallest in (0, SMALL):
            mean, count = mean_closure(results, column, smallest)
            shown = f"{number(mean, 'accuracy', '+')} % of {count} benchmarks"
            cells.append("–" if mean is None else f"{shown}: {_reached(mean >= wanted)}")
        rows.append([column, f"≥ {100 * wanted:g} %", *cells])
    header = ["mean share of the published error", "wanted", "all benchmarks", f"at least {SMALL} test rows"]
    return Table("Targets: error closed", header, rows, n_text=2)


def standing_targets(results: Mapping[str, Result]) -> Table:
    """Return the wanted and the found number of benchmarks significantly above and below."""
    rows = []
    for first in FIRSTS:
        verdicts = family(results, first)
        if not verdicts:
            continue
        of_published = [one for (_, rival), one in verdicts.items() if rival == PUBLISHED]
        share, named = ABOVE[first]
        above = [sum(way == 1 for way in ways) for ways in _ways(of_published)]
        cells = [f"{one} of {len(of_published)}: {_reached(one >= share * len(of_published))}" for one in above]
        rows.append([f"{first} significantly above {PUBLISHED}", f"at least {named}", *cells])
        below = [sum(way == -1 for way in ways) for ways in _ways(list(verdicts.values()))]
        cells = [f"{one} of {len(verdicts)}: {_reached(one == 0)}" for one in below]
        rows.append([f"{first} significantly below one of the {len(RIVALS)} rivals", "never", *cells])
        worse = len(worse_pairs(results, first))
        rows.append([f"{first} significantly below any other method", "never", "–", f"{worse}: {_reached(not worse)}"])
    header = ["accuracy over all rows", "wanted", "after Holm", "without a correction"]
    return Table("Targets: benchmarks above and below", header, rows, n_text=2)


def worse_sentence(results: Mapping[str, Result]) -> str:
    """Return where the extended mode is below somebody, by the interval alone; empty where nowhere."""
    parts = []
    for first in FIRSTS:
        found = [f"{other} on {name}" for name, other in worse_pairs(results, first)]
        if found:
            parts.append(f"{first} is below {', '.join(found)}")
    return f"Without a correction, {'; '.join(parts)}." if parts else ""


def _ways(verdicts: list[Verdict]) -> tuple[list[int], list[int]]:
    return [one.corrected for one in verdicts], [one.alone for one in verdicts]


def _reached(yes: bool) -> str:
    return "reached" if yes else "not reached"
