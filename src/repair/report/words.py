"""The sentences of the report: the verdict, its evidence, and what the file contains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import BoolArray
from repair._utils.text_tables import minus_signs
from repair.diagnosis.diagnose import Diagnosis
from repair.diagnosis.judging import judge
from repair.diagnosis.verdict import Verdict
from repair.model.adjustments import MACRO, dial_text
from repair.report.evidence import Evidence
from repair.report.picture import number, percent, points
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain

__all__ = ["Tile", "Words", "facts", "footer", "mode_title", "summarize"]

DECISION_SUPPORT = (
    "This is decision support: it orders candidates and shows why they are in this order. It does not decide. Its "
    "numbers apply only to rows like these."
)


@dataclass(frozen=True)
class Tile:
    """An accuracy before and after.

    Attributes
    ----------
    name, before, after, change, interval : str
        Texts, ready to be shown.
    direction : {"up", "down", "level"}
        "level" if the 95 % interval of the change contains zero.
    """

    name: str
    before: str
    after: str
    change: str
    interval: str
    direction: str


@dataclass(frozen=True)
class Words:
    """The verdict.

    Attributes
    ----------
    verdict : Verdict
        The decision and its numbers.  Everything below is taken from it.
    headline : str
    sentences : tuple of str
        What changed, what the verdict rests on, and what would change it.
    advice : tuple of str
        The verdict of the diagnosis, if it is about other rows or another correction.
    alarms : tuple of str
        Failed checks that make the numbers unreliable.  They are shown first.
    tiles : tuple of Tile
    """

    verdict: Verdict
    headline: str
    sentences: tuple[str, ...]
    advice: tuple[str, ...]
    alarms: tuple[str, ...]
    tiles: tuple[Tile, ...]


def summarize(
    model: ShortlistReranker, evidence: Evidence | NotApplicable, diagnosis: Diagnosis, notes: tuple[str, ...]
) -> Words:
    """Return the verdict in words: whether the model helps, and which classes gain and lose."""
    verdict = _verdict(model, evidence, diagnosis)
    alarms = tuple(map(str, verdict.errors))
    headline, sentences = minus_signs(verdict.headline), tuple(map(minus_signs, verdict.sentences[len(alarms) :]))
    advice: tuple[str, ...] = ()
    if verdict is not diagnosis.verdict:
        of_diagnosis = diagnosis.verdict
        advice = tuple(map(minus_signs, (of_diagnosis.headline, *of_diagnosis.sentences[len(of_diagnosis.errors) :])))
    if isinstance(evidence, NotApplicable):
        return Words(verdict, headline, (*sentences, *notes), advice, alarms, ())
    all_rows = np.ones(len(evidence), dtype=bool)
    strata = {"All rows": all_rows, "Rare classes": evidence.rare, "Frequent classes": evidence.frequent}
    tiles = tuple(_tile(name, evidence, which) for name, which in strata.items() if which.any())
    return Words(verdict, headline, (_changes(model, evidence), *sentences, *notes), advice, alarms, tiles)


def _verdict(model: ShortlistReranker, evidence: Evidence | NotApplicable, diagnosis: Diagnosis) -> Verdict:
    """Return the verdict on the model.  It is that of the diagnosis if that is about the same model and rows."""
    auto = model.auto_ is not None and model.auto_ is diagnosis.auto
    if isinstance(evidence, NotApplicable):
        return diagnosis.verdict if auto else judge(None, model.mode_, problem=evidence.reason, checks=diagnosis.checks)
    dial = model.dial_ if evidence.dial is None else evidence.dial
    kept = auto and diagnosis.auto.chosen.keeps_base and dial == 0.0
    same = auto and evidence.folds is not None and model.head_loss_ is None and evidence.dial is None and dial != MACRO
    if kept or same:
        return diagnosis.verdict
    return judge(evidence.measured_rows, model.mode_, checks=diagnosis.checks, macro=dial == MACRO)


def mode_title(model: ShortlistReranker) -> str:
    """Return the title of the fitted mode, to be used as the subject of a sentence."""
    return title_of(model.mode_)


def _sign(gain: PairedGain | NotApplicable) -> int:
    """Return 1 or −1 if the 95 % interval lies above or below zero, else 0."""
    if isinstance(gain, NotApplicable):
        return 0
    low, high = gain.interval()
    return int(low > 0) - int(high < 0)


def _changes(model: ShortlistReranker, evidence: Evidence) -> str:
    before, after = evidence.hits_before > 0, evidence.hits_after > 0
    fixed, broken = int((~before & after).sum()), int((before & ~after).sum())
    everywhere = np.ones(len(evidence), dtype=bool)
    shares = [percent(evidence.mean(hits, everywhere)) for hits in (evidence.hits_before, evidence.hits_after)]
    return (
        f"{mode_title(model)} puts the true class first on {shares[1]} of {len(evidence):,} {evidence.noun}, "
        f"the base order on {shares[0]}. {fixed:,} rows were fixed and {broken:,} broken."
    )


def _tile(name: str, evidence: Evidence, which: BoolArray) -> Tile:
    gain = evidence.gain(which)
    before, after = (evidence.mean(hits, which) for hits in (evidence.hits_before, evidence.hits_after))
    if isinstance(gain, NotApplicable):
        return Tile(name, percent(before), percent(after), "–", gain.reason, "level")
    low, high = gain.interval()
    direction = ("level", "up", "down")[_sign(gain)]
    n_rows = f"{int(which.sum()):,} rows"
    return Tile(
        name,
        percent(before),
        percent(after),
        f"{points(gain.gain)} points",
        f"95 % interval {points(low)} to {points(high)}, {n_rows}",
        direction,
    )


def facts(model: ShortlistReranker, diagnosis: Diagnosis) -> tuple[tuple[str, str], ...]:
    """Return names and values that describe the fitted model."""
    state, summary = model.state, model.fit_summary_
    weights = ", ".join(f"{name} {weight:+.3f}" for name, weight in model.weights_.items())
    chosen = ", ".join(f"{name} {_plain(value)}" for name, value in model.chosen_.to_dict().items())
    listed = {
        "Method": repr(model),
        "Fitted mode": model.mode_,
        "Term weights": minus_signs(weights) or "none",
        "Chosen by the fit": chosen or "nothing",
        "Dial": dial_text(model.dial_),
        "Strength": f"{model.strength_:g}",
        "Shrinkage": "none" if model.shrinkage_ is None else model.shrinkage_.kind,
        "Classes": number(state.correction.table.n_classes),
        "Candidates per row": number(state.n_candidates),
        "Calibration rows": f"{summary.n_rows:,}, {summary.n_covered:,} of them with their true class on the shortlist",
        "Groups": "none" if diagnosis.n_groups is None else number(diagnosis.n_groups),
        "Solver": "converged" if summary.converged else "stopped before it converged",
    }
    return tuple(listed.items()) + tuple(("Note", note) for note in summary.notes)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def footer(n_examples: int, evidence: Evidence | NotApplicable, *, with_texts: bool) -> tuple[str, str]:
    """Return sentences about the row-level data in the file, and about its purpose."""
    if not n_examples or isinstance(evidence, NotApplicable):
        data = (
            "This file contains no single rows, only class names, training counts, and counts and averages over rows. "
            "For a class with very few rows, these numbers can still reveal something about a single row."
        )
    else:
        texts = ", texts" if with_texts else ""
        data = (
            f"This file contains row-level data, as requested: ids{texts}, true classes, candidates and scores of "
            f"{n_examples:,} of {len(evidence):,} {evidence.noun}. Share it only with people who may see these rows."
        )
    return data, DECISION_SUPPORT
