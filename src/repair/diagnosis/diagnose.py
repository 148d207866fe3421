"""``diagnose``: whether a correction is worth having, which one, and whether there are enough rows to decide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from repair._utils.json import plain
from repair._utils.progress import progress_bar
from repair._utils.text_tables import text_table
from repair.data.calibration_set import CalibrationSet
from repair.data.score_set import ScoreSet, as_score_set
from repair.data.shortlist import Shortlist
from repair.diagnosis.checks import Check, CheckInputs, run_checks
from repair.diagnosis.dispersion import Dispersion, threshold_dispersion
from repair.diagnosis.expected import ExpectedContradictions, expected_contradictions
from repair.diagnosis.judging import judge_auto
from repair.diagnosis.pairs import PAIR_HEADER, PairCounts, WorstPair, contradictory_pairs
from repair.diagnosis.quintiles import QuintileGains, quintile_gains
from repair.diagnosis.separability import HeldOut, Separability, held_out, separability
from repair.diagnosis.verdict import Verdict
from repair.errors import InputError
from repair.model.tuning_records import AutoChoice
from repair.rerankers.reranker import Reranker
from repair.stats.not_applicable import NotApplicable
from repair.stats.row_weights import number_of_units
from repair.stats.strata import STRATA
from repair.validation.checks import check_choice, check_count

__all__ = ["Diagnosis", "diagnose", "diagnose_checked"]

#: Number of worst pairs that are stored, and that are printed.
WORST_KEPT, WORST_SHOWN = 10, 5
#: Number of steps of the progress bar.
STEPS = 5


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The result of `diagnose`.  It prints as the verdict, the numbers behind it and the checks that failed.

    Attributes
    ----------
    verdict : Verdict
        What to do.
    auto : AutoChoice
        The choice of ``mode="auto"``, on which the verdict is based.
    held_out : HeldOut or NotApplicable
        Results of each correction that ``auto`` tried, on rows that it was not fitted on.
    separability : Separability or NotApplicable
        Held-out gains of each correction over a simpler one, from offsets to pairwise terms.
    pairs : PairCounts
        The two-way pairs of classes, contradictory or not.
    expected : ExpectedContradictions
        The number of contradictory pairs that a fitted Classwise model expects, the excess and its
        p-value.
    worst_pairs : tuple of WorstPair
        Contradictory pairs by class name, those with the most rows first.  A single unusual row can
        cause a large overlap, so the number of rows is the better criterion.
    dispersion : Dispersion
        The threshold dispersion.
    quintiles : QuintileGains or NotApplicable
        Held-out ΔHit@1 of Pairwise over Classwise by fifths of the rare classes.
    checks : tuple of Check
        All checks, in the order of their codes.
    n_rows, n_covered, n_classes, n_candidates : int
    n_groups : int or None
        Number of groups, or None if no groups were given.
    measured_on : CalibrationSet
        The rows of `auto`, `held_out` and `quintiles`: all calibration rows, or a sample of them.
    """

    verdict: Verdict
    auto: AutoChoice
    held_out: HeldOut | NotApplicable
    separability: Separability | NotApplicable
    pairs: PairCounts
    expected: ExpectedContradictions
    worst_pairs: tuple[WorstPair, ...]
    dispersion: Dispersion
    quintiles: QuintileGains | NotApplicable
    checks: tuple[Check, ...]
    n_rows: int
    n_covered: int
    n_classes: int
    n_candidates: int
    n_groups: int | None
    measured_on: CalibrationSet

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data for ``json.dumps``.  NaN and infinities become None."""
        numbers: dict[str, Any] = plain(
            {
                "verdict": self.verdict,
                "candidates": self.auto.candidates,
                "separability": self.separability,
                "contradictory_pairs": self._counts(),
                "worst_pairs": self.worst_pairs,
                "dispersion": {"classes": self.dispersion.classes, "min_meetings": self.dispersion.min_meetings},
                "quintiles": self.quintiles,
                "checks": self.checks,
                **self._sizes(),
            }
        )
        return numbers

    def _counts(self) -> dict[str, Any]:
        counts = ("expected", "deviation", "excess", "p_value")
        return {
            "two_way": self.pairs.n_two_way,
            "contradictory": self.pairs.n_contradictory,
            **{name: getattr(self.expected, name) for name in counts},
            "draws": len(self.expected.drawn),
        }

    def _sizes(self) -> dict[str, int | None]:
        names = ("n_rows", "n_covered", "n_classes", "n_candidates", "n_groups")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        """Return the verdict, the failed checks of severity error, the numbers, and the other failed checks."""
        groups = "" if self.n_groups is None else f" in {self.n_groups} groups"
        sizes = f"{self.n_rows} rows{groups}, {self.n_covered} covered; {self.n_classes} classes"
        others = [str(check) for check in self.failed if check not in self.verdict.errors]
        pairs = [_pair_table(self.worst_pairs[:WORST_SHOWN])] if self.worst_pairs else []
        parts = [
            str(self.verdict),
            f"{sizes}, {self.n_candidates} candidates",
            f"Are pairwise terms needed, or do offsets suffice?\n{self.separability}",
            f"Pairs of classes that no offsets can order correctly on all rows. Some arise by chance.\n{self.expected}",
            *pairs,
            f"How much the score gap between a class and a rival varies between rows.\n{self.dispersion}",
            f"Gain of pairwise terms over offsets on rare classes, by threshold dispersion.\n{self.quintiles}",
            "\n".join(others) or ("" if self.verdict.errors else "All applicable checks passed."),
        ]
        return "\n\n".join(part for part in parts if part)


def diagnose(
    scores: ArrayLike | Shortlist | ScoreSet,
    labels: ArrayLike | None = None,
    *,
    test: ScoreSet | None = None,
    n_candidates: int = 10,
    draws: int = 200,
    strata: str | None = None,
    random_state: int = 0,
    progress: bool = False,
    **fields: Any,
) -> Diagnosis:
    """Return whether these scores need a correction, which one, and whether there are enough rows to decide.

    Parameters
    ----------
    scores : array_like (n, K), Shortlist, or ScoreSet
        The frozen classifier's scores on calibration rows, as in ``Reranker.fit``.
    labels : array_like (n,)
        True classes, as in ``Reranker.fit``.
    test : ScoreSet, optional
        Test rows that should not be among the calibration rows.  Pass them to check this.  Only
        their scores are read, never their labels.
    n_candidates : int, default 10
        Width k of the shortlist, as in `Reranker`.
    draws : int, default 200
        Number of draws of labels from which the expected number of contradictory pairs is computed.
        More draws take longer and give a more precise p-value.
    strata : {"paper", "mass", "counts"}, optional
        How the verdict divides classes by their training examples (`repair.class_strata`).  The default
        depends on the counts.  Use ``"counts"`` for few, medium and many examples.
    random_state : int, default 0
        Seed for folds and draws.
    progress : bool, default False
        Whether to show a progress bar (needs the extra ``cli``).
    **fields
        Any other information about rows and classes, as in ``Reranker.fit``.  Pass everything that
        you would pass to the fit.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import numpy as np
    >>> from repair import diagnose
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=40)
    >>> scores = rng.normal(size=(40, 6)) + 2 * np.eye(6)[labels]
    >>> result = diagnose(scores, labels, class_counts=[60, 50, 40, 30, 20, 10], n_candidates=4, draws=20)
    >>> result.verdict.answer
    'too few rows to say'
    >>> [check.code for check in result.failed]
    ['RP111']
    """
    count, seed = check_count(draws, "draws"), check_count(random_state, "random_state", low=0)
    calibration = CalibrationSet.build(as_score_set(scores, labels, fields), n_candidates)
    inputs = CheckInputs(calibration, _test_shortlist(test, calibration), seed)
    if strata is not None:
        check_choice(strata, "strata", tuple(STRATA))
    with progress_bar("diagnosing", STEPS, show=progress) as step:
        return diagnose_checked(inputs, count, step, strata=strata)


def diagnose_checked(
    inputs: CheckInputs,
    draws: int,
    step: Callable[[], None],
    auto: AutoChoice | None = None,
    chosen_on: CalibrationSet | None = None,
    strata: str | None = None,
) -> Diagnosis:
    """Diagnose already validated rows.

    Parameters
    ----------
    inputs : CheckInputs
        The rows, and the seed for folds and draws.
    draws : int
        Number of draws of labels, as in `diagnose`.
    step : callable
        Called after each step of the work.
    auto : AutoChoice, optional
        What ``mode="auto"`` chose on these rows.  By default it is fitted here.
    chosen_on : CalibrationSet, optional
        The rows on which `auto` was fitted, if these are not all rows.
    strata : str, optional
        The rule of `repair.class_strata` for the verdict.

    Returns
    -------
    Diagnosis
    """
    calibration, seed = inputs.calibration, inputs.random_state
    shortlist, labels, groups = calibration.shortlist, calibration.labels, calibration.groups
    classwise = Reranker("classwise", shrinkage="eb").fit_checked(calibration)
    step()
    if auto is None:
        auto = Reranker("auto", random_state=seed).fit_checked(calibration).auto_
    assert auto is not None
    step()
    measured_on = calibration if chosen_on is None else chosen_on
    rows = held_out(measured_on, auto)
    step()
    pairs, dispersion = contradictory_pairs(shortlist, labels), threshold_dispersion(shortlist, labels)
    checks = run_checks(inputs)
    step()
    return Diagnosis(
        verdict=judge_auto(measured_on, auto, checks=checks, strata=strata),
        auto=auto,
        held_out=rows,
        separability=rows if isinstance(rows, NotApplicable) else separability(rows, measured_on),
        pairs=pairs,
        expected=expected_contradictions(shortlist, labels, classwise, draws=draws, random_state=seed),
        worst_pairs=pairs.worst(WORST_KEPT, class_names=calibration.table.class_names, by="rows"),
        dispersion=dispersion,
        quintiles=_quintiles(measured_on, dispersion if chosen_on is None else None, rows),
        checks=checks,
        n_rows=len(labels),
        n_covered=int(calibration.covered.sum()),
        n_classes=calibration.table.n_classes,
        n_candidates=shortlist.n_candidates,
        n_groups=None if groups is None else number_of_units(len(labels), groups),
        measured_on=measured_on,
    )


def _quintiles(
    calibration: CalibrationSet, dispersion: Dispersion | None, rows: HeldOut | NotApplicable
) -> QuintileGains | NotApplicable:
    if isinstance(rows, NotApplicable):
        return rows
    return quintile_gains(
        dispersion or threshold_dispersion(calibration.shortlist, calibration.labels),
        rows.hits["pairwise"],
        rows.hits["classwise"],
        calibration.class_counts,
        groups=calibration.groups,
        sample_weight=calibration.importance,
    )


def _test_shortlist(test: ScoreSet | None, calibration: CalibrationSet) -> Shortlist | None:
    if test is None:
        return None
    if not isinstance(test, ScoreSet):
        raise InputError(f"test is {type(test).__name__}; pass a ScoreSet, such as ScoreSet(scores, labels)")
    shortlist = test.shortlist(calibration.shortlist.n_candidates, calibration.table.class_names, calibration.scale)
    if shortlist.n_classes != calibration.table.n_classes:
        raise InputError(
            f"test has {shortlist.n_classes} classes, but scores has {calibration.table.n_classes}; "
            "pass scores of the same classes"
        )
    return shortlist


def _pair_table(pairs: tuple[WorstPair, ...]) -> str:
    lines = [
        [pair.first, pair.second, str(pair.rows_first), str(pair.rows_second), f"{pair.overlap:.3f}"] for pair in pairs
    ]
    return text_table(PAIR_HEADER, lines, text_columns=(0, 1))
