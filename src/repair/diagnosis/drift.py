"""Drift: whether new rows differ from the calibration rows in scores, candidates or classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.text_tables import text_table
from repair.data.score_set import ScoreSet
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import label_ids
from repair.errors import InputError
from repair.model.fingerprint import Distribution, Fingerprint, counts_of, gaps_and_spans, sampled_rows
from repair.rerankers.base import ShortlistReranker
from repair.stats.paired_gains import holm
from repair.validation.checks import check_group_codes, check_number

__all__ = ["Drift", "DriftTest", "measure_drift"]

#: A test needs this many rows on either side, and a χ² test expects this many in every cell.
FEWEST_ROWS, FEWEST_EXPECTED = 20, 5.0
#: Largest number of new rows that are tested.  More would find differences that do not matter.
MOST_ROWS = 1 << 16


@dataclass(frozen=True)
class DriftTest:
    """One comparison of new rows with the calibration rows.

    Attributes
    ----------
    name : str
        ``gaps``, ``spans``, ``first_candidates``, ``listed_candidates`` or ``labels``.
    question : str
        What is compared, in words.
    change : str
        How large the difference is, in words.
    p_value, adjusted_p : float
        The p-value, before and after Holm's correction for all tests.
    drifted : bool
        Whether the adjusted p-value is at most the level.
    """

    name: str
    question: str
    change: str
    p_value: float
    adjusted_p: float = 1.0
    drifted: bool = False


@dataclass(frozen=True)
class Drift:
    """The result of `measure_drift`.  It prints as a table with a conclusion.

    Attributes
    ----------
    tests : tuple of DriftTest
    level : float
        Largest probability of reporting any drift if there is none.
    n_rows, n_calibration : int
        Number of rows, or of groups, that were compared.
    notes : tuple of str
        What limits the comparison.
    """

    tests: tuple[DriftTest, ...]
    level: float
    n_rows: int
    n_calibration: int
    notes: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether any test found drift."""
        return any(test.drifted for test in self.tests)

    def __str__(self) -> str:
        """Return the conclusion, the table of tests and the notes."""
        rows = [
            [test.question, test.change, f"{test.adjusted_p:.2g}", "yes" if test.drifted else "no"]
            for test in self.tests
        ]
        table = text_table(["compared", "difference", "adjusted p", "drift"], rows)
        drifted = ", ".join(test.question for test in self.tests if test.drifted)
        if drifted:
            conclusion = (
                f"Drift found: {drifted}. The correction was fitted on other rows; label new rows, run repair "
                "evaluate on them, and fit again if the gain is gone."
            )
        else:
            conclusion = "No drift found."
        about = (
            f"{self.n_rows} new rows against {self.n_calibration} calibration rows. "
            f"Level {self.level:g} for all tests together (Holm)."
        )
        return "\n".join([conclusion, "", table, "", about, *(f"Note: {text}." for text in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "drift": self.found,
            "level": self.level,
            "n_rows": self.n_rows,
            "n_calibration": self.n_calibration,
            "tests": [vars(test) for test in self.tests],
            "notes": list(self.notes),
        }


def measure_drift(model: ShortlistReranker, rows: ScoreSet, *, level: float = 0.05) -> Drift:
    """Test whether new rows differ from the rows that a model was fitted on.

    The tests compare gaps and spans of the scores (Kolmogorov–Smirnov), which classes are first (χ²),
    which classes are on the shortlists (Fisher's exact test per class, Bonferroni), and with labels the
    class shares (χ²).  Rows are not weighted.  With groups, one row per group is compared.

    Parameters
    ----------
    model : ShortlistReranker
        A fitted model, or one that was loaded.
    rows : ScoreSet
        New rows.  Labels are optional.
    level : float, default 0.05
        Largest probability of reporting any drift if there is none.  Lower it if you test often.

    Returns
    -------
    Drift

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, ScoreSet
    >>> from repair.diagnosis import measure_drift
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 5, size=400)
    >>> scores = rng.normal(size=(400, 5)) + 2.0 * np.eye(5)[labels]
    >>> model = Reranker("classwise", n_candidates=3).fit(scores[:200], labels[:200])
    >>> measure_drift(model, ScoreSet(scores[200:], labels[200:])).found
    False
    >>> [test.name for test in measure_drift(model, ScoreSet(3 * scores[200:])).tests if test.drifted]
    ['gaps', 'spans']
    """
    check_number(level, "level", 0.0, 1.0, open_low=True)
    fingerprint = model.fingerprint_
    if fingerprint is None:
        raise InputError(
            "the model has no fingerprint of its calibration rows, because an older version saved it; "
            "fit the model again"
        )
    names = model.state.correction.table.class_names
    shortlist = rows.shortlist(fingerprint.width, names, model.state.scale)
    groups = None if rows.groups is None else check_group_codes(rows.groups, "groups", len(shortlist))
    labels = None
    if rows.labels is not None:
        labels = label_ids(rows.labels, len(shortlist), shortlist.n_classes, names)
    kept = sampled_rows(len(shortlist), groups, MOST_ROWS)
    if min(len(kept), fingerprint.n_rows) < FEWEST_ROWS:
        raise InputError(
            f"{len(kept)} new rows are compared with {fingerprint.n_rows} calibration rows; "
            f"a comparison needs at least {FEWEST_ROWS} of each (with groups, of groups)"
        )
    tests = _tests(fingerprint, shortlist.take(kept), None if labels is None else labels[kept], model)
    notes = _notes(fingerprint, shortlist, grouped=groups is not None)
    return Drift(tuple(_adjusted(tests, level)), level, len(kept), fingerprint.n_rows, notes)


def _tests(
    fingerprint: Fingerprint, shortlist: Shortlist, labels: IntArray | None, model: ShortlistReranker
) -> list[DriftTest]:
    n_classes, n_rows, n_fitted = shortlist.n_classes, len(shortlist), fingerprint.n_rows
    name_of = model.state.correction.table.name_of
    gaps, spans = gaps_and_spans(shortlist, fingerprint.width)
    tests = [_distribution_test("gaps", "gap between the first two scores", gaps, fingerprint.gaps)]
    if shortlist.n_candidates >= fingerprint.width:
        tests.append(_distribution_test("spans", "span of the scores", spans, fingerprint.spans))
    first = counts_of(shortlist.ids[:, 0], n_classes)
    tests.append(_shares_test("first_candidates", "first candidates", first, fingerprint.first_counts, name_of))
    if shortlist.n_candidates >= fingerprint.width and fingerprint.width < n_classes:
        listed = counts_of(shortlist.ids[:, : fingerprint.width], n_classes)
        tests.append(_listed_test(listed, n_rows, fingerprint.listed_counts, n_fitted, name_of))
    if labels is not None:
        counts = counts_of(labels, n_classes)
        tests.append(_shares_test("labels", "class shares of the labels", counts, fingerprint.label_counts, name_of))
    return tests


def _distribution_test(name: str, question: str, values: FloatArray, fitted: Distribution) -> DriftTest:
    """Compare values with stored quantiles.  Between the quantiles the two curves are not compared.

    The largest difference at the quantiles is at most the largest one overall, so the test keeps its level.
    """
    from scipy.special import kolmogorov

    if min(len(values), fitted.n_values) < FEWEST_ROWS:
        return DriftTest(name, question, "too few rows with two candidates", 1.0)
    ordered = np.sort(values)
    shares = np.searchsorted(ordered, fitted.edges, side="right") / len(values)
    distance = float(np.abs(shares - fitted.shares).max())
    size = np.sqrt(len(values) * fitted.n_values / (len(values) + fitted.n_values))
    change = f"median {np.median(values):.3g}, was {fitted.quantile(0.5):.3g}"
    return DriftTest(name, question, change, float(kolmogorov(size * distance)))


def _shares_test(name: str, question: str, counts: IntArray, fitted: IntArray, name_of: Any) -> DriftTest:
    """Compare class shares by a χ² test, with classes that are too rare for it in one cell."""
    from scipy.special import chdtrc

    table = np.stack([counts, fitted]).astype(np.float64)
    sizes = table.sum(axis=1)
    if sizes.min() < FEWEST_ROWS:
        return DriftTest(name, question, "too few rows", 1.0)
    smaller = sizes.min() / sizes.sum()
    often = table.sum(axis=0) * smaller >= FEWEST_EXPECTED
    rest = table[:, ~often].sum(axis=1, keepdims=True)
    cells = np.hstack([table[:, often], rest])
    cells = cells[:, cells.sum(axis=0) * smaller >= FEWEST_EXPECTED]  # the rest may be too rare as well
    expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0) / cells.sum()
    statistic = float(((cells - expected) ** 2 / expected).sum())
    p_value = float(chdtrc(cells.shape[1] - 1, statistic)) if cells.shape[1] > 1 else 1.0
    return DriftTest(name, question, _largest_change(counts / sizes[0], fitted / sizes[1], name_of), p_value)


def _listed_test(listed: IntArray, n_rows: int, fitted: IntArray, n_fitted: int, name_of: Any) -> DriftTest:
    """Compare how often each class is listed.

    The candidates of a row depend on each other, so there is one exact test per class, and the smallest
    p-value counts as often as there are classes.
    """
    from scipy.stats import hypergeom

    total = (listed + fitted).astype(np.int64)
    occurs = np.flatnonzero(total)
    drawn = (n_rows + n_fitted, total[occurs], n_rows)
    below = hypergeom.cdf(listed[occurs], *drawn)
    above = hypergeom.sf(listed[occurs] - 1, *drawn)
    p_value = float(min(1.0, 2.0 * np.minimum(below, above).min() * len(occurs))) if len(occurs) else 1.0
    change = _largest_change(listed / n_rows, fitted / n_fitted, name_of)
    return DriftTest("listed_candidates", "classes on the shortlists", change, p_value)


def _largest_change(now: FloatArray, then: FloatArray, name_of: Any) -> str:
    class_id = int(np.argmax(np.abs(now - then)))
    return f"{name_of(class_id)}: {100 * now[class_id]:.1f} %, was {100 * then[class_id]:.1f} %"


def _adjusted(tests: Sequence[DriftTest], level: float) -> list[DriftTest]:
    adjusted = holm(np.array([test.p_value for test in tests])).tolist()
    return [
        replace(test, adjusted_p=p_value, drifted=p_value <= level)
        for test, p_value in zip(tests, adjusted, strict=True)
    ]


def _notes(fingerprint: Fingerprint, shortlist: Shortlist, *, grouped: bool) -> tuple[str, ...]:
    notes = []
    problem = fingerprint.problem(shortlist)
    if problem is not None:
        notes.append(problem)
    if fingerprint.grouped and not grouped:
        notes.append(
            "the calibration rows have groups, but the new rows do not, so rows that belong together count as "
            "independent and drift is reported too often; name their groups"
        )
    if shortlist.n_candidates < fingerprint.width:
        notes.append(
            f"the lists have at most {shortlist.n_candidates} candidates, but {fingerprint.width} in the fit, so spans "
            "and shortlists are not compared"
        )
    return tuple(notes)
