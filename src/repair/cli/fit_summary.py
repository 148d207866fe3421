"""The output of ``repair fit``: a verdict, a table and the notes."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

from repair._utils.text_tables import text_table
from repair.cli.output import points
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.verdict import give_verdict
from repair.evaluation.cross_fitting import CrossFit, cross_fit
from repair.evaluation.held_out_gain import HeldOutGain, held_out_gain
from repair.model.adjustments import MACRO
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain

__all__ = ["FitReport", "HeldOut", "held_out"]

LINE = 110


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The gain of a model on held-out rows, and the copies of the model it was measured with, if any were fitted.

    The gain includes the effect of every choice that was made during the fit.
    """

    gain: HeldOutGain | NotApplicable | PairedGain
    copies: CrossFit | NotApplicable | None = None


def held_out(model: ShortlistReranker, checked: CalibrationSet, seed: int) -> HeldOut:
    """Return a fitted model's gain on held-out rows.  If ``auto`` has measured it already, that gain is returned."""
    auto = model.auto_
    if auto is not None and _auto_measured(model):
        return HeldOut(NotApplicable(auto.reason) if auto.gain is None else auto.gain)
    copies = cross_fit(model, checked, random_state=seed, progress=True)
    return HeldOut(held_out_gain(copies, checked), copies)


def _auto_measured(model: ShortlistReranker) -> bool:
    """Return whether the gain that ``auto`` reports is that of the model.

    It is measured before a head-loss limit scales the correction down, and before the dial ``"macro"``.
    """
    return model.head_loss_ is None and model.dial_ != MACRO


class FitReport:
    """The verdict on a fit, with its numbers.  Printed as text."""

    def __init__(
        self, model: ShortlistReranker, checked: CalibrationSet, gain: HeldOutGain | NotApplicable | PairedGain
    ) -> None:
        self.model, self.checked = model, checked
        auto = model.auto_ if _auto_measured(model) else None
        self.judged = None if auto is None else give_verdict(checked, auto)
        self.accuracy = gain.accuracy if isinstance(gain, HeldOutGain) else gain
        by_stratum = gain if isinstance(gain, HeldOutGain) else self.judged
        kept = auto is not None and auto.chosen.keeps_base
        self.strata = {} if by_stratum is None or kept else {"rare": by_stratum.rare, "frequent": by_stratum.frequent}
        if isinstance(gain, HeldOutGain) and model.dial_ == MACRO:
            self.strata["macro"] = gain.macro
        self.base = float(checked.importance @ (checked.positions == 0)) / float(checked.importance.sum())

    def verdict(self) -> str:
        """Return one sentence: what ``auto`` chose, or whether the requested mode gains."""
        if self.judged is not None:
            return self.judged.sentence
        name = title_of(self.model.mode_)
        if isinstance(self.accuracy, NotApplicable):
            return f"{name} was fitted, but there are too few rows to measure its gain."
        low, high = self.accuracy.interval()
        if low > 0:
            return f"{name} improves accuracy on held-out rows."
        if high < 0:
            return f"{name} reduces accuracy on held-out rows."
        return f"{name} shows no measurable gain on held-out rows."

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        summary = self.model.fit_summary_
        return {
            "verdict": self.verdict(),
            "mode": self.model.mode_,
            "base_accuracy": self.base,
            "gain": self.accuracy,
            **self.strata,
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
        """Return the verdict, the table and the notes."""
        parts = [self.verdict(), self._table()]
        strata = [
            f"{'Mean over' if name == 'macro' else name.capitalize()} classes: {points(gain)}"
            for name, gain in self.strata.items()
            if isinstance(gain, PairedGain)
        ]
        parts += ["\n".join(strata)] * bool(strata)
        parts += [fill(note, LINE) for note in self.model.fit_summary_.notes]
        return "\n\n".join(parts)

    def _table(self) -> str:
        table = [["Base", f"{100 * self.base:.1f}", "", ""]]
        if isinstance(self.accuracy, PairedGain):
            low, high = (f"{100 * bound:+.1f}" for bound in self.accuracy.interval())
            gain = self.accuracy.gain
            name = title_of(self.model.mode_)
            if self.model.auto_ is not None:
                name = f"{name} ({title_of('auto').lower()})"
            table.append([name, f"{100 * (self.base + gain):.1f}", f"{100 * gain:+.1f}", f"{low} to {high}"])
        title = "Accuracy over all calibration rows in per cent. The fitted method is measured on held-out rows:"
        return f"{title}\n\n{text_table(['method', 'accuracy', 'change', '95 % interval'], table)}"
