"""The output of ``repair fit``: the verdict and the notes."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.checks import CheckInputs, run_checks
from repair.diagnosis.judging import judge, judge_auto
from repair.diagnosis.measured_rows import MeasuredRows
from repair.diagnosis.verdict import Verdict
from repair.evaluation.cross_fitting import CrossFit, cross_fit
from repair.model.adjustments import MACRO
from repair.rerankers.base import ShortlistReranker
from repair.stats.not_applicable import NotApplicable

__all__ = ["FitReport", "Judged", "judge_fit"]

LINE = 110


@dataclass(frozen=True, eq=False)
class Judged:
    """The verdict on a fit, and the copies of the model it was measured with, if any were fitted."""

    verdict: Verdict
    copies: CrossFit | NotApplicable | None = None


def judge_fit(model: ShortlistReranker, checked: CalibrationSet, seed: int, strata: str | None = None) -> Judged:
    """Return the verdict on a fitted model, measured on held-out rows.

    The gain includes the effect of every choice that was made during the fit.  If ``auto`` has measured
    it already, its numbers are used.
    """
    auto, checks = model.auto_, run_checks(CheckInputs(checked, random_state=seed))
    if auto is not None and _auto_measured(model):
        return Judged(judge_auto(checked, auto, checks=checks, strata=strata))
    copies = cross_fit(model, checked, random_state=seed, progress=True)
    mode, macro = model.mode_, model.dial_ == MACRO
    if isinstance(copies, NotApplicable):
        return Judged(judge(None, mode, problem=copies.reason, checks=checks), copies)
    rows = MeasuredRows.held_out(checked, copies.hits(checked.labels), strata)
    return Judged(judge(rows, mode, checks=checks, macro=macro), copies)


def _auto_measured(model: ShortlistReranker) -> bool:
    """Return whether the gain that ``auto`` reports is that of the model.

    It is measured before a head-loss limit scales the correction down, and before the dial ``"macro"``.
    """
    kept = model.auto_ is not None and model.auto_.chosen.keeps_base
    return model.dial_ != MACRO and (model.head_loss_ is None or kept)


class FitReport:
    """What ``repair fit`` tells about a fit.  Printed as text."""

    def __init__(self, model: ShortlistReranker, checked: CalibrationSet, verdict: Verdict) -> None:
        self.model, self.checked, self.verdict = model, checked, verdict

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        summary = self.model.fit_summary_
        return {
            "verdict": self.verdict,
            "mode": self.model.mode_,
            "strength": self.model.strength_,
            "weights": self.model.weights_,
            "chosen": self.model.chosen_,
            "converged": summary.converged,
            "notes": summary.notes,
            "n_rows": summary.n_rows,
            "n_covered": summary.n_covered,
            "n_classes": self.checked.table.n_classes,
            "n_candidates": self.checked.shortlist.n_candidates,
        }

    def __str__(self) -> str:
        """Return the verdict and the notes."""
        notes = (note for note in self.model.fit_summary_.notes if not self._is_in_verdict(note))
        return "\n\n".join([str(self.verdict), *(fill(note, LINE) for note in notes)])

    def _is_in_verdict(self, note: str) -> bool:
        """Return whether a note repeats the verdict, as the reason of ``auto`` does."""
        return self.model.auto_ is not None and _auto_measured(self.model) and note == self.model.auto_.reason
