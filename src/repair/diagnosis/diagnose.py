"""``diagnose``: whether a correction is worth having, which one, and whether the rows can tell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray
from repair.auto import AutoChoice
from repair.calibration import CalibrationSet
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.checks import Check, CheckInputs, run_checks
from repair.diagnosis.dispersion import Dispersion, threshold_dispersion
from repair.diagnosis.expected import ExpectedContradictions, expected_contradictions
from repair.diagnosis.pairs import PairCounts, WorstPair, contradictory_pairs
from repair.diagnosis.plain import plain
from repair.diagnosis.quintiles import QuintileGains, quintile_gains
from repair.diagnosis.separability import HeldOut, Separability, held_out, separability
from repair.diagnosis.verdict import Verdict, give_verdict
from repair.errors import InputError
from repair.inputs import check_count
from repair.named import align_columns
from repair.progress import progress_bar
from repair.reranker import Reranker
from repair.score_set import ScoreSet
from repair.shortlist import Shortlist
from repair.tables import text_table

__all__ = ["Diagnosis", "diagnose", "diagnose_checked"]

#: Worst pairs that are kept, and printed.
WORST_KEPT, WORST_SHOWN = 10, 5
#: Parts of the work that progress is shown by; the last is what follows the fits.
STEPS = 5


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the calibration rows say; prints as the verdict, a summary and the checks that failed.

    Attributes
    ----------
    verdict : Verdict
    auto : AutoChoice
        What the verdict rests on.
    held_out : HeldOut or NotApplicable
        What Base, Classwise and Pairwise do on rows they were not fitted on.
    separability : Separability or NotApplicable
        Held-out gains of Pairwise over Classwise and of Classwise over Base.
    pairs : PairCounts
    expected : ExpectedContradictions
        Their number under a fitted Classwise model, the excess and its p-value.
    worst_pairs : tuple of WorstPair
        By class name, those with the most rows first: one odd row can make a large overlap, but
        not many rows.
    dispersion : Dispersion
    quintiles : QuintileGains or NotApplicable
        Held-out ΔHit@1 of Pairwise over Classwise by fifths of the rare classes.
    checks : tuple of Check
    n_rows, n_covered, n_classes, n_candidates : int
    n_groups : int or None
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

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome == "failed")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data for ``json.dumps``; NaN and infinities become None."""
        rungs = ("rung", "lambda_a", "lambda_theta", "dial", "gain", "p_value")
        numbers: dict[str, Any] = plain(
            {
                "verdict": self.verdict,
                "rungs": [{name: getattr(one, name) for name in rungs} for one in self.auto.rungs],
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
        """Return errors if any, the verdict, what it rests on, and the other checks that did not pass."""
        groups = "" if self.n_groups is None else f" in {self.n_groups} groups"
        sizes = f"{self.n_rows} rows{groups}, {self.n_covered} covered; {self.n_classes} classes"
        errors = [str(check) for check in self.failed if check.severity == "error"]
        others = [str(check) for check in self.failed if check.severity != "error"]
        pairs = [_pair_table(self.worst_pairs[:WORST_SHOWN])] if self.worst_pairs else []
        parts = [
            *(["\n".join(["First mend this; no number below can be trusted before:", *errors])] if errors else []),
            self.verdict,
            f"{sizes}, {self.n_candidates} candidates",
            f"Does it take a pairwise term, or do offsets do?\n{self.separability}",
            f"Pairs of classes that no offsets can order right on all rows; noise alone makes some.\n{self.expected}",
            *pairs,
            f"By how much the score at which one class should pass another varies.\n{self.dispersion}",
            f"Where a pairwise term helps rare classes, by that variation.\n{self.quintiles}",
            "\n".join(others) or ("" if errors else "All checks that apply passed."),
        ]
        return "\n\n".join(str(part) for part in parts if str(part))


def diagnose(
    scores: ArrayLike | Shortlist,
    labels: ArrayLike,
    class_counts: ArrayLike | None = None,
    *,
    similarity: Any = None,
    groups: Any = None,
    class_names: Any = None,
    test: ScoreSet | None = None,
    n_candidates: int = 10,
    draws: int = 200,
    seed: int = 0,
    progress: bool = False,
) -> Diagnosis:
    """Say whether these scores need a correction, which one, and whether the rows suffice to tell.

    Parameters
    ----------
    scores : array_like (n, K) or Shortlist
        The frozen classifier's scores on calibration rows, as in ``Reranker.fit``.
    labels : array_like (n,)
    class_counts, similarity, groups, class_names
        As in ``Reranker.fit``.
    test : ScoreSet, optional
        Looked through for calibration rows; only its scores are read, never its labels.
    n_candidates : int, default 10
    draws : int, default 200
        Draws of labels for the expected number of contradictory pairs.
    seed : int, default 0
        Of folds and draws.
    progress : bool, default False
        Show how far it is (needs the extra ``cli``).

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
    >>> result = diagnose(scores, labels, [60, 50, 40, 30, 20, 10], n_candidates=4, draws=20)
    >>> result.verdict.answer
    'too few rows to say'
    >>> [check.code for check in result.failed]
    ['RP111']
    """
    count, first_seed = check_count(draws, "draws"), check_count(seed, "seed", low=0)
    calibration = CalibrationSet.build(
        scores,
        labels,
        n_candidates,
        class_counts=class_counts,
        similarity=similarity,
        groups=groups,
        class_names=class_names,
    )
    inputs = CheckInputs(calibration, _dense(scores, calibration), _test_shortlist(test, calibration), first_seed)
    with progress_bar("diagnosing", STEPS, show=progress) as step:
        return diagnose_checked(inputs, count, step)


def diagnose_checked(
    inputs: CheckInputs,
    draws: int,
    step: Callable[[], None],
    auto: AutoChoice | None = None,
    chosen_on: CalibrationSet | None = None,
) -> Diagnosis:
    """Do as `diagnose`, for rows that have been checked.

    `auto` is its choice, if that is known, and `chosen_on` the rows it looked at, if not at all of them.
    """
    calibration, seed = inputs.calibration, inputs.seed
    shortlist, labels, groups = calibration.shortlist, calibration.labels, calibration.groups
    classwise = Reranker(shortlist.n_candidates, "classwise", shrinkage="eb").fit_checked(calibration)
    step()
    if auto is None:
        auto = Reranker(shortlist.n_candidates, "auto", seed=seed).fit_checked(calibration).auto_
    assert auto is not None
    step()
    rows = held_out(calibration, seed=seed)
    step()
    pairs, dispersion = contradictory_pairs(shortlist, labels), threshold_dispersion(shortlist, labels)
    step()
    return Diagnosis(
        verdict=give_verdict(calibration if chosen_on is None else chosen_on, auto),
        auto=auto,
        held_out=rows,
        separability=rows if isinstance(rows, NotApplicable) else separability(rows, calibration),
        pairs=pairs,
        expected=expected_contradictions(shortlist, labels, classwise, draws=draws, seed=seed),
        worst_pairs=pairs.worst(WORST_KEPT, class_names=calibration.table.class_names, by="rows"),
        dispersion=dispersion,
        quintiles=_quintiles(calibration, dispersion, rows),
        checks=run_checks(inputs),
        n_rows=len(labels),
        n_covered=int(calibration.covered.sum()),
        n_classes=calibration.table.n_classes,
        n_candidates=shortlist.n_candidates,
        n_groups=None if groups is None else int(groups.max()) + 1,
    )


def _quintiles(
    calibration: CalibrationSet, dispersion: Dispersion, rows: HeldOut | NotApplicable
) -> QuintileGains | NotApplicable:
    if isinstance(rows, NotApplicable):
        return rows
    given = calibration.table.class_counts
    return quintile_gains(
        dispersion,
        rows.hits["pairwise"],
        rows.hits["classwise"],
        calibration.label_counts() if given is None else given,
        groups=calibration.groups,
        sample_weight=calibration.importance,
    )


def _dense(scores: ArrayLike | Shortlist, calibration: CalibrationSet) -> AnyArray | None:
    """Return all scores in class order, if they were given."""
    if isinstance(scores, Shortlist):
        return None
    return np.atleast_2d(np.asarray(align_columns(scores, calibration.table.class_names)))


def _test_shortlist(test: ScoreSet | None, calibration: CalibrationSet) -> Shortlist | None:
    if test is None:
        return None
    if not isinstance(test, ScoreSet):
        raise InputError(f"test is {type(test).__name__}; pass a ScoreSet, such as ScoreSet(scores, labels)")
    shortlist = test.shortlist(calibration.shortlist.n_candidates, calibration.table.class_names)
    if shortlist.n_classes != calibration.table.n_classes:
        raise InputError(
            f"test has {shortlist.n_classes} classes, but scores has {calibration.table.n_classes}; "
            "pass scores of the same classifier"
        )
    return shortlist


def _pair_table(pairs: tuple[WorstPair, ...]) -> str:
    lines = [[one.first, one.second, str(one.rows_first), str(one.rows_second), f"{one.overlap:.3f}"] for one in pairs]
    return text_table(["u", "v", "rows of u", "rows of v", "overlap"], lines, text_columns=(0, 1))
