"""Where one method gains over another: rare classes sorted into bins by threshold dispersion."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import FloatArray, IntArray, read_only
from repair.class_table import rare_classes
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.dispersion import Dispersion
from repair.errors import InputError
from repair.inputs import check_class_vector, check_count, check_group_codes, check_row_vector, numeric_array
from repair.statistics import PairedGain, paired_gain
from repair.tables import text_table

__all__ = ["QuintileGain", "QuintileGains", "quintile_gains"]

BINS = 5


@dataclass(frozen=True, eq=False)
class QuintileGain:
    """One bin.

    Attributes
    ----------
    classes : ndarray of int32
        Its classes, by rising dispersion.
    low, high : float
        Dispersion of the first and of the last of them.
    n_rows : int
        Their covered rows.
    delta : PairedGain
        ΔHit@1 over those rows with its standard error: by row, or by group where groups are given.
    """

    classes: IntArray
    low: float
    high: float
    n_rows: int
    delta: PairedGain


@dataclass(frozen=True, eq=False)
class QuintileGains:
    """ΔHit@1 in each fifth of the rare classes, from low to high dispersion.

    Attributes
    ----------
    bins : tuple of QuintileGain
    min_meetings : int
        Fewest meetings of a pair whose deviation was used.
    n_left_out : int
        Rare classes without a covered row, or without a pair that meets often enough.
    """

    bins: tuple[QuintileGain, ...]
    min_meetings: int
    n_left_out: int

    def __str__(self) -> str:
        """Return the table."""
        lines = [
            [
                f"Q{number}",
                f"{one.low:.3f} to {one.high:.3f}",
                str(len(one.classes)),
                str(one.n_rows),
                f"{100 * one.delta.gain:+.1f}",
                f"{100 * one.delta.error:.1f}",
            ]
            for number, one in enumerate(self.bins, start=1)
        ]
        header = ["quintile", "dispersion", "classes", "rows", "ΔHit@1", "± error"]
        return (
            f"{text_table(header, lines, text_columns=(0, 1))}\n"
            f"pairs meet at least {self.min_meetings} times; {self.n_left_out} rare classes left out"
        )


def quintile_gains(
    dispersion: Dispersion,
    hits_first: ArrayLike,
    hits_second: ArrayLike,
    class_counts: ArrayLike,
    *,
    groups: Any = None,
    sample_weight: ArrayLike | None = None,
    min_classes: int = 15,
) -> QuintileGains | NotApplicable:
    """Return ΔHit@1 of a first method over a second, by fifths of the rare classes.

    Rare classes that have a dispersion are sorted by it (equal ones by class id) and cut into five
    bins whose sizes differ by one at most.  All covered rows of a bin's classes count.

    Parameters
    ----------
    dispersion : Dispersion
        Of the rows the hits are about.
    hits_first, hits_second : array_like (n,)
        One number per row, such as ``hit_rate(ranking, labels)``; the gain is first − second.
    class_counts : array_like (K,)
        Training examples per class, which say which classes are rare.
    groups : array_like (n,), optional
        Rows that share a patient, document or session: the standard error then counts groups.
    sample_weight : array_like (n,), optional
        Weight of each row in the means; equal by default.
    min_classes : int, default 15
        Fewest classes in a bin; with fewer the result is `NotApplicable`.

    Returns
    -------
    QuintileGains or NotApplicable

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Shortlist
    >>> from repair.diagnosis import quintile_gains, threshold_dispersion
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 20, size=400)
    >>> shortlist = Shortlist.from_scores(rng.normal(size=(400, 20)) + 2 * np.eye(20)[labels])
    >>> dispersion = threshold_dispersion(shortlist, labels)
    >>> first, second = shortlist.ids[:, 0] == labels, shortlist.ids[:, 1] == labels
    >>> gains = quintile_gains(dispersion, first, second, np.arange(20), min_classes=3)
    >>> [len(one.classes) for one in gains.bins]
    [4, 3, 3, 3, 3]
    >>> print(quintile_gains(dispersion, first, second, np.arange(20)))
    not applicable: 16 rare classes have a dispersion; five bins of at least 15 need 75
    """
    n_rows = len(dispersion.labels)
    difference = _hits(hits_first, "hits_first", n_rows) - _hits(hits_second, "hits_second", n_rows)
    rare = rare_classes(check_class_vector(class_counts, "class_counts", len(dispersion.classes)))
    codes = None if groups is None else check_group_codes(groups, "groups", n_rows)
    weights = np.ones(n_rows) if sample_weight is None else check_row_vector(sample_weight, "sample_weight", n_rows)
    fewest = check_count(min_classes, "min_classes")
    usable = np.flatnonzero(rare & ~np.isnan(dispersion.classes)).astype(np.int32)
    if len(usable) < BINS * fewest:
        return NotApplicable(
            f"{len(usable)} rare classes have a dispersion; five bins of at least {fewest} need {BINS * fewest}"
        )
    by_value = usable[np.argsort(dispersion.classes[usable], kind="stable")]
    bins = tuple(_gain(dispersion, part, difference, weights, codes) for part in np.array_split(by_value, BINS))
    return QuintileGains(bins, dispersion.min_meetings, int(rare.sum()) - len(usable))


def _hits(values: ArrayLike, name: str, n_rows: int) -> FloatArray:
    hits = numeric_array(values, name, 1).astype(np.float64)
    if len(hits) != n_rows:
        raise InputError(f"{name} has {len(hits)} entries, but the dispersion is of {n_rows} rows; pass one for each")
    if not np.isfinite(hits).all():
        row = int(np.argmin(np.isfinite(hits)))
        raise InputError(f"{name}[{row}] is {hits[row]}; pass 1 for a hit and 0 for a miss")
    return hits


def _gain(
    dispersion: Dispersion, classes: IntArray, difference: FloatArray, weights: FloatArray, groups: IntArray | None
) -> QuintileGain:
    inside = np.isin(dispersion.labels, classes)
    if weights[inside].sum() == 0:
        raise InputError(
            f"sample_weight is 0 on all rows of the {len(classes)} classes of a bin (such as class {classes[0]}); "
            "leave those rows out of the dispersion too"
        )
    delta = paired_gain(difference[inside], weights[inside], None if groups is None else groups[inside])
    values = dispersion.classes[classes]
    return QuintileGain(read_only(classes), float(values[0]), float(values[-1]), int(inside.sum()), delta)
