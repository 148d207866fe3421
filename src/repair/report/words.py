"""The sentences of the report: the verdict, its evidence, and what the file contains."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import BoolArray
from repair._utils.text_tables import minus_signs
from repair.diagnosis.diagnose import Diagnosis
from repair.model.adjustments import dial_text
from repair.report.changes import Changes
from repair.report.evidence import Evidence
from repair.report.picture import number, percent, points
from repair.report.turned_down import TurnedDown
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain
from repair.stats.row_weights import describe_weights

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
    headline : str
    sentences : tuple of str
        What changed on held-out rows.
    advice : tuple of str
        The verdict of the diagnosis: which correction the calibration rows support.
    advice_basis : str
        How the numbers of the advice differ from the others, or '' if they are the same.
    alarms : tuple of str
        Failed checks of severity "error", which make all numbers unreliable.  They are shown first.
    tiles : tuple of Tile
    tiles_title, tiles_basis : str
        What the tiles are about, if not about the model: the correction that was turned down, and on which rows.
    """

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
    evidence: Evidence | NotApplicable,
    diagnosis: Diagnosis,
    notes: tuple[str, ...],
    turned: TurnedDown | None = None,
) -> Words:
    """Return the verdict: whether the model helps, and which classes gain and lose."""
    alarms = tuple(
        f"{check.code} {check.title}: {check.explanation} {check.remedy}"
        for check in diagnosis.failed
        if check.severity == "error"
    )
    advice = tuple(map(minus_signs, str(diagnosis.verdict).splitlines()))
    if isinstance(evidence, NotApplicable):
        return Words("Too few rows to measure a gain", (f"{_capital(evidence.reason)}.", *notes), advice, alarms, ())
    gain = evidence.gain(np.ones(len(evidence), dtype=bool))
    assert isinstance(gain, PairedGain)
    words = Words(
        _headline(evidence, gain),
        (*_changes(model, evidence), *notes),
        advice,
        alarms,
        _tiles(evidence.changes),
        advice_basis=_advice_basis(model, evidence, diagnosis),
    )
    if turned is None:
        return words
    title = f"What the correction that was turned down would change: {turned.name}"
    return replace(words, tiles=_tiles(turned.changes), tiles_title=title, tiles_basis=turned.changes.basis)


def _advice_basis(model: ShortlistReranker, evidence: Evidence, diagnosis: Diagnosis) -> str:
    """Return what the diagnosis is about, if not about the same model on the same rows as the rest of the page."""
    chosen, on = title_of(diagnosis.auto.chosen.mode), "held-out calibration rows"
    same_rows, same_model = evidence.noun == on, model.auto_ is not None
    if same_rows and same_model:
        return ""
    other = f"{chosen}, which mode auto chooses here" if not same_model else "the same choice"
    return f"This is about {other}, on {on}. The numbers above are about {mode_title(model)} on {evidence.noun}."


def _tiles(changes: Changes) -> tuple[Tile, ...]:
    return tuple(_tile(name, changes, which) for name, which in changes.strata.items())


def mode_title(model: ShortlistReranker) -> str:
    """Return the title of the fitted mode, to be used as the subject of a sentence."""
    return title_of(model.mode_)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _headline(evidence: Evidence, gain: PairedGain) -> str:
    if (evidence.after.order[:, 0] == 0).all():
        return "The base order is kept"
    strata = {"rare": evidence.gain(evidence.rare), "frequent": evidence.gain(evidence.frequent)}
    signs = {name: _sign(one) for name, one in strata.items()}
    losers = [name for name, sign in signs.items() if sign < 0]
    if _sign(gain) > 0 and losers:  # never only that it helps if some classes lose
        return f"Overall accuracy improves, but {losers[0]} classes lose"
    if _sign(gain) > 0:
        return "The correction helps: the true class comes first more often"
    if _sign(gain) < 0:
        return "The correction hurts: the true class comes first less often"
    changes = [f"{name} classes {'gain' if sign > 0 else 'lose'}" for name, sign in signs.items() if sign]
    if not changes:
        return "No measurable difference"
    return _capital(f"{' and '.join(changes)}; no measurable change overall")


def _sign(gain: PairedGain | NotApplicable) -> int:
    """Return 1 or −1 if the 95 % interval lies above or below zero, else 0."""
    if isinstance(gain, NotApplicable):
        return 0
    low, high = gain.interval()
    return int(low > 0) - int(high < 0)


def _changes(model: ShortlistReranker, evidence: Evidence) -> list[str]:
    changes = evidence.changes
    rows = f"{len(changes):,} {changes.noun}"
    weighed = describe_weights(changes.weights, changes.groups)
    everything = np.ones(len(changes), dtype=bool)
    shares = [percent(changes.mean(hits, everything)) for hits in (changes.hits_before, changes.hits_after)]
    if evidence.keeps_base:
        return [f"The base order puts the true class first on {shares[0]} of {rows}.{weighed}"]
    sentences = [
        f"{mode_title(model)} puts the true class first on {shares[1]} of {rows}, the base order on {shares[0]}. "
        f"{changes.fixed:,} rows were fixed and {changes.broken:,} broken.{weighed}"
    ]
    by_stratum = [
        _stratum_change(title, changes.gain(which)) for title, which in changes.strata.items() if title != "All rows"
    ]
    return [*sentences, " ".join(sentence for sentence in by_stratum if sentence)]


def _stratum_change(name: str, gain: PairedGain | NotApplicable) -> str:
    """Return a sentence about the gain of a stratum, or about its absence if the interval contains zero."""
    if isinstance(gain, NotApplicable):
        return ""
    low, high = gain.interval()
    interval = f"95 % interval {points(low)} to {points(high)}"
    if _sign(gain):
        return f"{name} {'gain' if _sign(gain) > 0 else 'lose'} {abs(100 * gain.gain):.1f} points ({interval})."
    return f"{name} show no measurable change ({points(gain.gain)} points, {interval})."


def _tile(name: str, changes: Changes, which: BoolArray) -> Tile:
    gain = changes.gain(which)
    before, after = (changes.mean(hits, which) for hits in (changes.hits_before, changes.hits_after))
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
