"""The sentences of the report: the verdict, its evidence, and what the file contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.text_tables import minus_signs
from repair.diagnosis.diagnose import Diagnosis
from repair.diagnosis.judging import judge
from repair.diagnosis.measured_rows import StratumGain
from repair.diagnosis.verdict import Verdict
from repair.model.adjustments import MACRO, dial_text
from repair.report.evidence import Evidence
from repair.report.picture import number, percent, points
from repair.report.turned_down import TurnedDown
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.stats.not_applicable import NotApplicable
from repair.stats.row_weights import describe_weights

__all__ = ["Tile", "Words", "facts", "footer", "mode_title", "summarize", "verdict_on"]

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
    advice_basis : str
        What the advice is about, and what the other numbers are about, or '' without advice.
    alarms : tuple of str
        Failed checks that make the numbers unreliable.  They are shown first.
    tiles : tuple of Tile
    tiles_title, tiles_basis : str
        What the tiles are about, if not about the model: the correction that was turned down, and on which rows.
    """

    verdict: Verdict
    headline: str
    sentences: tuple[str, ...]
    advice: tuple[str, ...]
    alarms: tuple[str, ...]
    tiles: tuple[Tile, ...]
    tiles_title: str = ""
    tiles_basis: str = ""
    advice_basis: str = ""


def summarize(
    model: ShortlistReranker,
    verdict: Verdict,
    evidence: Evidence | NotApplicable,
    diagnosis: Diagnosis,
    notes: tuple[str, ...],
    turned: TurnedDown | None = None,
) -> Words:
    """Return the verdict in words: whether the model helps, and which classes gain and lose."""
    changes: tuple[str, ...] = ()
    # The correction that was turned down was measured on calibration rows, so its tiles give the base order there.
    if isinstance(evidence, Evidence) and (turned is None or evidence.folds is None):
        changes = (_changes(model, evidence),)
    # The numbers are those of the verdict.  If the model has no correction, they are those of the one turned down.
    shown = verdict if turned is None else diagnosis.verdict
    support = _support(verdict, stated=() if turned is None else (str(shown.basis),))
    advice: tuple[str, ...] = ()
    if diagnosis.verdict not in (verdict, shown):
        advice = (minus_signs(diagnosis.verdict.headline), *_support(diagnosis.verdict, stated=support))
    return Words(
        verdict,
        minus_signs(verdict.headline),
        (*changes, *support, *notes),
        advice,
        tuple(map(str, verdict.errors)),
        () if shown.overall is None else tuple(map(_tile, (shown.overall, *shown.strata))),
        "" if turned is None else f"What the correction that was turned down would change: {turned.name}",
        "" if turned is None else turned.changes.basis,
        _advice_basis(verdict, diagnosis.verdict) if advice else "",
    )


def verdict_on(model: ShortlistReranker, evidence: Evidence | NotApplicable, diagnosis: Diagnosis) -> Verdict:
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


def _support(verdict: Verdict, stated: Sequence[str]) -> tuple[str, ...]:
    """Return what a verdict rests on, without its errors and without what is `stated` elsewhere."""
    sentences = map(minus_signs, verdict.sentences[len(verdict.errors) :])
    return tuple(sentence for sentence in sentences if sentence not in stated)


def _advice_basis(verdict: Verdict, of_diagnosis: Verdict) -> str:
    """Return what the diagnosis is about, and what the rest of the page is about."""
    if verdict.basis is None or of_diagnosis.basis is None:
        return ""
    described = (f"{which.correction} on {which.basis.noun}" for which in (of_diagnosis, verdict) if which.basis)
    return "This is about {}. The numbers above are about {}.".format(*described)


def mode_title(model: ShortlistReranker) -> str:
    """Return the title of the fitted mode, to be used as the subject of a sentence."""
    return title_of(model.mode_)


def _changes(model: ShortlistReranker, evidence: Evidence) -> str:
    changes = evidence.changes
    rows = f"{len(changes):,} {changes.noun}"
    weighed = describe_weights(changes.weights, changes.groups)
    everywhere = np.ones(len(changes), dtype=bool)
    before, after = (percent(changes.mean(hits, everywhere)) for hits in (changes.hits_before, changes.hits_after))
    if evidence.keeps_base:
        return f"The base order puts the true class first on {before} of {rows}.{weighed}"
    return (
        f"{mode_title(model)} puts the true class first on {after} of {rows}, the base order on {before}. "
        f"{changes.fixed:,} rows were fixed and {changes.broken:,} broken.{weighed}"
    )


def _tile(measured: StratumGain) -> Tile:
    low, high = measured.gain.interval()
    return Tile(
        measured.title,
        percent(measured.before),
        percent(measured.after),
        f"{points(measured.gain.gain)} points",
        f"95 % interval {points(low)} to {points(high)}, {measured.rows:,} rows",
        ("level", "up", "down")[measured.direction],
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
