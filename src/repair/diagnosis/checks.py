"""The checks of the calibration rows.  Each has a fixed code, a title, a severity and a remedy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repair.diagnosis import findings
from repair.diagnosis.findings import CheckInputs, Finding

__all__ = ["CHECKS", "Check", "CheckInputs", "failed_check", "run_checks"]

Outcome: TypeAlias = Literal["passed", "failed", "not applicable"]


@dataclass(frozen=True)
class Check:
    """One check and its outcome.

    Attributes
    ----------
    code : str
        ``"RP101"`` and so on.  A code never changes its meaning.
    title : str
        A short name.
    severity : {"info", "warning", "error"}
        How serious it is if the check fails.
    outcome : {"passed", "failed", "not applicable"}
    explanation : str
        What was found, with the numbers, or why the check is not applicable.
    remedy : str
        What to do if it fails.
    """

    code: str
    title: str
    severity: str
    outcome: Outcome
    explanation: str
    remedy: str

    @property
    def passed(self) -> bool | None:
        """Whether the check passed, or None if it is not applicable."""
        return None if self.outcome == "not applicable" else self.outcome == "passed"

    @property
    def status(self) -> str:
        """What to show: how serious the failure is, or the outcome.  Information is nothing that has failed."""
        if self.outcome != "failed":
            return self.outcome
        return "information" if self.severity == "info" else self.severity

    def __str__(self) -> str:
        """Return the status and the explanation, and the remedy if the check failed."""
        remedy = f" {self.remedy}" if self.outcome == "failed" else ""
        return f"{self.code} {self.status}, {self.title}: {self.explanation}{remedy}"


def run_checks(inputs: CheckInputs) -> tuple[Check, ...]:
    """Run every check, in the order of the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import ScoreSet
    >>> from repair.data.calibration_set import CalibrationSet
    >>> from repair.diagnosis.checks import CheckInputs, run_checks
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 4, size=100)
    >>> scores = rng.normal(size=(100, 4)) + 2 * np.eye(4)[labels]
    >>> checks = run_checks(CheckInputs(CalibrationSet.build(ScoreSet(scores, labels), 3)))
    >>> [check.code for check in checks if check.outcome == "failed"]
    []
    >>> print(checks[11])
    RP112 not applicable, group concentration: No groups were given.
    """
    return tuple(_run(spec, inputs) for spec in CHECKS)


def failed_check(code: str, explanation: str) -> Check:
    """Return a failed check with this explanation, for rows to which the check itself cannot be applied."""
    spec = next(spec for spec in CHECKS if spec.code == code)
    return Check(spec.code, spec.title, spec.severity, "failed", explanation, spec.remedy)


@dataclass(frozen=True)
class Spec:
    """The definition of a check.  `find` returns (passed, explanation), with None if it is not applicable."""

    code: str
    title: str
    severity: str
    remedy: str
    find: Callable[[CheckInputs], Finding]


def _run(spec: Spec, inputs: CheckInputs) -> Check:
    passed, explanation = spec.find(inputs)
    outcome: Outcome = "not applicable" if passed is None else "passed" if passed else "failed"
    return Check(spec.code, spec.title, spec.severity, outcome, explanation, spec.remedy)


CHECKS: tuple[Spec, ...] = (
    Spec("RP101", "coverage ceiling", "info", "Raise n_candidates, or improve the classifier.", findings.ceiling),
    Spec(
        "RP102",
        "low coverage",
        "error",
        "Check that labels and score columns are in the same class order. If they are, raise n_candidates.",
        findings.low_coverage,
    ),
    Spec(
        "RP103",
        "classes without calibration rows",
        "info",
        "Label rows of these classes. Until then their offsets are neutral.",
        findings.without_rows,
    ),
    Spec(
        "RP104",
        "few rows per class",
        "info",
        "Label more rows of rare classes, or use shrinkage='eb' or tuning='evidence'.",
        findings.few_per_class,
    ),
    Spec(
        "RP105",
        "shift of class shares",
        "warning",
        "Calibrate on rows like those you will rerank, or pass target_prior when reranking.",
        findings.shift,
    ),
    Spec(
        "RP106",
        "probabilities instead of scores",
        "error",
        "Drop score_type='logits', so their logarithm is used, or pass logits.",
        findings.probabilities,
    ),
    Spec(
        "RP107",
        "masks instead of scores",
        "error",
        "Use −Inf for a class that is not a candidate.",
        findings.masks,
    ),
    Spec(
        "RP108",
        "duplicate rows",
        "warning",
        "Drop the copies, or pass groups that keep them together. Otherwise held-out gains are too optimistic.",
        findings.duplicates,
    ),
    Spec(
        "RP109",
        "near-duplicate rows",
        "warning",
        "Find out where they come from, and pass groups that keep copies of one input together.",
        findings.near_duplicates,
    ),
    Spec("RP110", "test rows in calibration", "error", "Remove these rows from one of the sets.", findings.leakage),
    Spec("RP111", "too few rows or groups", "error", "Label more rows, from more groups.", findings.too_few),
    Spec(
        "RP112",
        "group concentration",
        "warning",
        "Label rows of other groups, because the results depend too much on this one.",
        findings.concentration,
    ),
    Spec(
        "RP113", "unknown labels", "warning", "Check the spelling, or add the classes to class_names.", findings.unknown
    ),
    Spec(
        "RP114",
        "first but never right",
        "error",
        "Remove columns that are not scores, or name the classes (class_names, on the command line --classes).",
        findings.never_right,
    ),
    Spec(
        "RP115",
        "class order of labels and scores",
        "error",
        "Put class_names, labels and score columns into the same order.",
        findings.label_order,
    ),
    Spec(
        "RP116",
        "lower scores are better",
        "error",
        "Pass the negative scores, or score_type='distances'.",
        findings.direction,
    ),
    Spec(
        "RP117",
        "order of class counts",
        "warning",
        "Pass the counts by class name, or in the order of the score columns.",
        findings.count_order,
    ),
)
