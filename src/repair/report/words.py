"""The report in words: the verdict, what it rests on, and what the file holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair.arrays import BoolArray
from repair.diagnosis.applicability import NotApplicable
from repair.diagnosis.diagnose import Diagnosis
from repair.estimator import ShortlistReranker
from repair.report.evidence import Evidence
from repair.report.picture import minus, number, percent, points
from repair.statistics import PairedGain

__all__ = ["Tile", "Words", "called", "facts", "footer", "put_into_words"]

DECISION_SUPPORT = (
    "This is decision support: it orders candidates and shows what the order rests on. It decides nothing, and says "
    "nothing about rows that are unlike these."
)


@dataclass(frozen=True)
class Tile:
    """One number before and after.

    Attributes
    ----------
    name, before, after, change, interval : str
        Ready to be shown.
    direction : {"up", "down", "level"}
        Up and down only where the 95 % interval leaves zero out.
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
        What happened on held-out rows.
    advice : tuple of str
        What the calibration rows say about any correction.
    alarms : tuple of str
        Failed checks after which no number is to be trusted; they come first.
    tiles : tuple of Tile
    """

    headline: str
    sentences: tuple[str, ...]
    advice: tuple[str, ...]
    alarms: tuple[str, ...]
    tiles: tuple[Tile, ...]


def put_into_words(
    model: ShortlistReranker, evidence: Evidence | NotApplicable, diagnosis: Diagnosis, notes: tuple[str, ...]
) -> Words:
    """Say what the model does for whom, and whether it is worth having."""
    alarms = tuple(
        f"{check.code} {check.title}: {check.explanation} {check.remedy}"
        for check in diagnosis.failed
        if check.severity == "error"
    )
    advice = tuple(map(minus, str(diagnosis.verdict).splitlines()))
    if isinstance(evidence, NotApplicable):
        return Words("Too few rows to say", (f"{_capital(evidence.reason)}.", *notes), advice, alarms, ())
    everyone = np.ones(len(evidence), dtype=bool)
    strata = {"All rows": everyone, "Rare classes": evidence.rare, "Frequent classes": evidence.frequent}
    tiles = tuple(_tile(name, evidence, which) for name, which in strata.items() if which.any())
    gain = evidence.gain(everyone)
    assert isinstance(gain, PairedGain)
    return Words(_headline(evidence, gain), (*_account(model, evidence, strata), *notes), advice, alarms, tiles)


def called(model: ShortlistReranker) -> str:
    """Return what was fitted, as the subject of a sentence."""
    return model.mode_.replace("_", " ").capitalize()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _headline(evidence: Evidence, gain: PairedGain) -> str:
    if (evidence.after.order[:, 0] == 0).all():
        return "The base order is kept"
    strata = {"rare": evidence.gain(evidence.rare), "frequent": evidence.gain(evidence.frequent)}
    signs = {name: _sign(one) for name, one in strata.items()}
    losers = [name for name, sign in signs.items() if sign < 0]
    if _sign(gain) > 0 and losers:  # never a plain "it helps" where somebody pays for it
        return f"More rows are right, but {losers[0]} classes lose"
    if _sign(gain) > 0:
        return "It helps: the right class comes first more often"
    if _sign(gain) < 0:
        return "It hurts: the right class comes first less often"
    changes = [f"{name} classes {'gain' if sign > 0 else 'lose'}" for name, sign in signs.items() if sign]
    return (
        _capital(f"{' and '.join(changes)}; on balance no gain shows")
        if changes
        else "It makes no difference that shows"
    )


def _sign(gain: PairedGain | NotApplicable) -> int:
    """Return 1 or −1 where the 95 % interval leaves zero out, else 0."""
    if isinstance(gain, NotApplicable):
        return 0
    low, high = gain.interval()
    return int(low > 0) - int(high < 0)


def _account(model: ShortlistReranker, evidence: Evidence, strata: dict[str, BoolArray]) -> list[str]:
    before, after = evidence.hits_before > 0, evidence.hits_after > 0
    mended, lost = int((~before & after).sum()), int((before & ~after).sum())
    shares = [percent(evidence.mean(hits, strata["All rows"])) for hits in (evidence.hits_before, evidence.hits_after)]
    sentences = [
        f"{called(model)} puts the right class first on {shares[1]} of {len(evidence):,} {evidence.noun}; "
        f"the base order does on {shares[0]}. {mended:,} rows are mended and {lost:,} lost."
    ]
    told = [_told(name, evidence.gain(strata[name])) for name in ("Rare classes", "Frequent classes")]
    return [*sentences, " ".join(one for one in told if one)]


def _told(name: str, gain: PairedGain | NotApplicable) -> str:
    """Say in words what a stratum gains, and that it does not where the interval holds zero."""
    if isinstance(gain, NotApplicable):
        return ""
    if _sign(gain):
        return f"{name} {'gain' if _sign(gain) > 0 else 'lose'} {abs(100 * gain.gain):.1f} points."
    return f"{name} show no change beyond chance ({points(gain.gain)} points)."


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
        f"95 % interval {points(low)} to {points(high)}; {n_rows}",
        direction,
    )


def facts(model: ShortlistReranker, diagnosis: Diagnosis) -> tuple[tuple[str, str], ...]:
    """Return what was fitted, as names and values."""
    state, account = model._fitted(), model.account_
    weights = ", ".join(f"{name} {weight:+.3f}" for name, weight in model.weights_.items())
    chosen = ", ".join(f"{name} {_plain(value)}" for name, value in account.chosen.items() if value is not None)
    listed = {
        "Method": repr(model),
        "Fitted": model.mode_,
        "Weights of the terms": minus(weights) or "none",
        "Chosen by the fit": chosen or "nothing",
        "Dial": f"{model._own_dial():g}",
        "Strength": f"{model.strength_:g}",
        "Shrinkage": "none" if model.shrinkage_ is None else model.shrinkage_.kind,
        "Classes": number(state.correction.table.n_classes),
        "Candidates per row": number(state.n_candidates),
        "Rows it was fitted on": f"{account.n_rows:,}, {account.n_covered:,} with their class on the shortlist",
        "Groups": "none" if diagnosis.n_groups is None else number(diagnosis.n_groups),
        "Solver": "converged" if account.converged else "stopped before it converged",
    }
    return tuple(listed.items()) + tuple(("Note", note) for note in account.notes)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def footer(n_examples: int, evidence: Evidence | NotApplicable, *, with_texts: bool) -> tuple[str, str]:
    """Say what row-level content the file holds, and what it is for."""
    if not n_examples or isinstance(evidence, NotApplicable):
        held = (
            "This file holds no rows: class names, training counts, and counts and averages over rows. "
            "A class with very few rows can still tell of one of them."
        )
    else:
        texts = ", texts" if with_texts else ""
        held = (
            f"This file holds row-level content, because it was asked for: ids{texts}, true classes, candidates and "
            f"scores of {n_examples:,} of {len(evidence):,} {evidence.noun}. "
            "Give it only to those who may see these rows."
        )
    return held, DECISION_SUPPORT
