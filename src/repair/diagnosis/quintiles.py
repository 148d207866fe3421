"""Quintile gains: the gain of one method over another in five bins of rare classes, by threshold dispersion."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import FloatArray, IntArray, read_only
from repair._utils.text_tables import text_table
from repair.diagnosis.dispersion import Dispersion
from repair.errors import InputError
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain, paired_gain
from repair.stats.strata import rare_classes
from repair.validation.checks import check_class_vector, check_count, check_group_codes, check_row_vector, numeric_array

__all__ = ["QuintileGain", "QuintileGains", "quintile_gains"]

BINS = 5


@dataclass(frozen=True, eq=False)
class QuintileGain:
    """The gain in one bin.

    Attributes
    ----------
    classes : ndarray of int32
        Ids of its classes, in ascending order of dispersion.
    low, high : float
        Smallest and largest dispersion of these classes.
    n_rows : int
        Number of their covered rows.
    delta : PairedGain
        ΔHit@1 over these rows, with a standard error over groups, or over rows without groups.
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
        The five bins.
    min_meetings : int
        Fewest meetings of a pair that was used for the dispersion.
    n_left_out : int
        Number of rare classes without a dispersion: without a covered row, or without a pair that
        meets often enough.
    """

    bins: tuple[QuintileGain, ...]
    min_meetings: int
    n_left_out: int

    def __str__(self) -> str:
        """Return the table."""
        lines = [
            [
                f"Q{number}",
                f"{part.low:.3f} to {part.high:.3f}",
                str(len(part.classes)),
                str(part.n_rows),
                f"{100 * part.delta.gain:+.1f}",
                f"{100 * part.delta.error:.1f}",
            ]
            for number, part in enumerate(self.bins, start=1)
        ]
        header = ["quintile", "dispersion", "classes", "rows", "ΔHit@1", "± error"]
        return (
            f"{text_table(header, lines, text_columns=(0, 1))}\n"
            f"pairs are on the same shortlist at least {self.min_meetings} times; "
            f"{self.n_left_out} rare classes left out"
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
    """Return ΔHit@1 of a first method over a second one, by fifths of the rare classes.

    Rare classes with a dispersion are sorted by it, and by class id if it is equal, and cut into five
    bins whose sizes differ by at most one.  All covered rows of the classes of a bin are used.

    Parameters
    ----------
    dispersion : Dispersion
        The dispersion of the same rows.
    hits_first, hits_second : array_like (n,)
        One number per row and method, such as ``hit_rate(ranking, labels)``.  The gain is first −
        second.
    class_counts : array_like (K,)
        Training examples per class, which define the rare classes.
    groups : array_like (n,), optional
        Group of each row, such as its patient, document or session.  Pass it if rows are not
        independent: standard errors are then computed over groups.
    sample_weight : array_like (n,), optional
        Weight of each row in the means.  By default all rows weigh the same.
    min_classes : int, default 15
        Fewest classes per bin.  With fewer the result is `NotApplicable`.  Lower it if you have few
        rare classes and accept larger standard errors.

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
    >>> [len(part.classes) for part in gains.bins]
    [4, 3, 3, 3, 3]
    >>> print(quintile_gains(dispersion, first, second, np.arange(20)))
    not applicable: only 16 rare classes have a dispersion, but five bins of at least 15 classes need 75
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
            f"only {len(usable)} rare classes have a dispersion, "
            f"but five bins of at least {fewest} classes need {BINS * fewest}"
        )
    by_value = usable[np.argsort(dispersion.classes[usable], kind="stable")]
    bins = tuple(_gain(dispersion, part, difference, weights, codes) for part in np.array_split(by_value, BINS))
    return QuintileGains(bins, dispersion.min_meetings, int(rare.sum()) - len(usable))


def _hits(values: ArrayLike, name: str, n_rows: int) -> FloatArray:
    hits = numeric_array(values, name, 1).astype(np.float64)
    if len(hits) != n_rows:
        raise InputError(f"{name} has {len(hits)} entries, but the dispersion has {n_rows} rows; pass one for each row")
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
            "compute the dispersion without these rows"
        )
    delta = paired_gain(difference[inside], weights[inside], None if groups is None else groups[inside])
    values = dispersion.classes[classes]
    return QuintileGain(read_only(classes), float(values[0]), float(values[-1]), int(inside.sum()), delta)
