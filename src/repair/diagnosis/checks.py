"""Checks of the calibration rows: each has a code that never changes, a meaning and a remedy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repair.diagnosis import findings
from repair.diagnosis.findings import CheckInputs, Finding

__all__ = ["CHECKS", "Check", "CheckInputs", "run_checks"]

Outcome: TypeAlias = Literal["passed", "failed", "not applicable"]


@dataclass(frozen=True)
class Check:
    """One check and what came out.

    Attributes
    ----------
    code : str
        ``"RP101"`` and so on; a code never changes its meaning.
    title : str
    severity : {"info", "warning", "error"}
        How much it matters if the check fails.
    outcome : {"passed", "failed", "not applicable"}
    explanation : str
        What was found, with its numbers; why, where the check is not applicable.
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
        """True or False; None where the check is not applicable."""
        return None if self.outcome == "not applicable" else self.outcome == "passed"

    def __str__(self) -> str:
        """Return the finding, and the remedy if there is something to mend."""
        remedy = f" {self.remedy}" if self.outcome == "failed" else ""
        return f"{self.code} {self.severity}, {self.title} ({self.outcome}): {self.explanation}{remedy}"


def run_checks(inputs: CheckInputs) -> tuple[Check, ...]:
    """Run every check, in the order of the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.calibration import CalibrationSet
    >>> from repair.diagnosis.checks import CheckInputs, run_checks
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 4, size=100)
    >>> scores = rng.normal(size=(100, 4)) + 2 * np.eye(4)[labels]
    >>> checks = run_checks(CheckInputs(CalibrationSet.build(scores, labels, 3), scores))
    >>> [check.code for check in checks if check.outcome == "failed"]
    []
    >>> print(checks[-3])
    RP112 warning, group concentration (not applicable): No groups were given.
    """
    return tuple(_run(spec, inputs) for spec in CHECKS)


@dataclass(frozen=True)
class Spec:
    """What is fixed about a check; `find` returns (passed, explanation), with None for not applicable."""

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
        "Check that labels and score columns are in the same class order; then raise n_candidates.",
        findings.low_coverage,
    ),
    Spec(
        "RP103",
        "classes without calibration rows",
        "info",
        "Label rows of these classes; until then their offsets are neutral.",
        findings.without_rows,
    ),
    Spec(
        "RP104",
        "few rows per class",
        "info",
        "Label more rows of rare classes, or use shrinkage='eb' or selection='evidence'.",
        findings.few_per_class,
    ),
    Spec(
        "RP105",
        "shift of class shares",
        "warning",
        "Calibrate on rows that are like the traffic, or pass target_prior when reranking.",
        findings.shift,
    ),
    Spec(
        "RP106",
        "probabilities for scores",
        "error",
        "Pass logits, or np.log of the probabilities.",
        findings.probabilities,
    ),
    Spec("RP107", "masks for scores", "error", "Use −Inf for a class that is not a candidate.", findings.masks),
    Spec(
        "RP108",
        "duplicate rows",
        "warning",
        "Drop the copies, or pass groups that hold them together; held-out gains are too good otherwise.",
        findings.duplicates,
    ),
    Spec(
        "RP109",
        "near-duplicate rows",
        "warning",
        "Find out where they come from; pass groups that hold copies of one input together.",
        findings.near_duplicates,
    ),
    Spec("RP110", "test rows in calibration", "error", "Take these rows out of one of the sets.", findings.leakage),
    Spec("RP111", "too few rows or groups", "error", "Label more rows, from more groups.", findings.too_few),
    Spec(
        "RP112",
        "group concentration",
        "warning",
        "Label rows of other groups; results depend on this one.",
        findings.concentration,
    ),
    Spec(
        "RP113", "unknown labels", "warning", "Check the spelling, or add the classes to class_names.", findings.unknown
    ),
    Spec(
        "RP114",
        "first but never right",
        "error",
        "Take columns that hold no scores out, or name the classes (class_names; on the command line --classes).",
        findings.never_right,
    ),
)
