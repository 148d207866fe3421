"""``mode="extended"``: more evidence than the paper's, in the same convex model.

The shortlist is taken so that rare classes get onto it (`repair.coverage`); to the paper's terms
come terms that learn from the labelled rows first (`repair.terms.context`, and with embeddings
`neighbours` and `head`).  Columns for the rows of the fit come from the other rows, so that the
fit sees them as a new row would.  All penalties come from the marginal likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from repair.arrays import FloatArray
from repair.calibration import CalibrationSet
from repair.coverage import list_adjustment, with_adjusted_list
from repair.design import Design
from repair.errors import InputError, InputWarning, warn_user
from repair.fit_problem import Fit, FitSettings
from repair.fitted_state import FittedState
from repair.fitting import fit_design, fitted_state, warn_if_unsettled
from repair.terms import Term
from repair.terms.context import MOST_CLASSES, Context
from repair.terms.context import possible as context_possible
from repair.terms.head import Head
from repair.terms.neighbours import Neighbours

if TYPE_CHECKING:
    from repair.auto import AutoChoice

__all__ = ["ExtendedProblem", "fit_chosen", "fit_extended", "warn_of_size"]

LearnedTerm = Context | Neighbours | Head
#: Bytes of kept vectors from which on the user is warned.
MUCH = 200_000_000
TOO_ALIKE = "it needs rows of at least two groups, with at least two candidates"


@dataclass(frozen=True, eq=False)
class ExtendedProblem:
    """All that is fitted: the rows with their columns, and the terms that the columns came from.

    Attributes
    ----------
    calibration : CalibrationSet
        With the shortlists that are used.
    design : Design
    terms : tuple of Term
        One column each, the first of the design.
    learned : tuple of LearnedTerm
        With the columns after those.
    widths : tuple of int
        How many columns each of `learned` has.
    tau : float
        Of the shortlist.
    """

    calibration: CalibrationSet
    design: Design
    terms: tuple[Term, ...]
    learned: tuple[LearnedTerm, ...]
    widths: tuple[int, ...]
    tau: float

    @classmethod
    def of(
        cls,
        calibration: CalibrationSet,
        terms: Sequence[Term],
        tau: float,
        names: Sequence[str] | None = None,
        index: str = "exact",
    ) -> "ExtendedProblem":
        """Take the shortlists, learn the terms (all that the inputs allow, or those named), line up the columns."""
        listed = with_adjusted_list(calibration, tau)
        tau = tau if listed is not calibration else 0.0
        if tau:
            _refuse_hopeless(listed, tau)
        found = [_learn(name, listed, tau, index) for name in _learnable(listed) if names is None or name in names]
        design = Design.of(listed, terms, 0.0).with_columns([columns for _, columns in found]).standardised()
        widths = tuple(columns.shape[2] for _, columns in found)
        return cls(listed, design, tuple(terms), tuple(term for term, _ in found), widths, tau)

    def folded(self, weights: FloatArray) -> tuple[tuple[Term, ...], FloatArray]:
        """Return terms of one column each for the fitted weights, and their weights."""
        n_terms = len(self.terms)
        terms, kept = list(self.terms), list(weights[:n_terms])
        blocks = np.split(weights[n_terms:], np.cumsum(self.widths)[:-1])
        for term, block in zip(self.learned, blocks, strict=False):
            one, weight = term.folded(block)
            terms.append(one)
            kept.append(weight)
        return tuple(terms), np.array(kept, dtype=np.float64)


def fit_extended(
    calibration: CalibrationSet,
    terms: Sequence[Term],
    settings: FitSettings,
    *,
    tau: float,
    names: Sequence[str] | None = None,
    index: str = "exact",
    notes: tuple[str, ...] = (),
) -> FittedState:
    """Fit the extended model and put it into a model's state."""
    _refuse_terms_without_vectors(calibration, names)
    problem = ExtendedProblem.of(calibration, terms, tau, names, index)
    fit = warn_if_unsettled(fit_design(problem.design, settings), settings)
    folded, weights = problem.folded(fit.weights)
    chosen: dict[str, object] = {"shortlist_tau": problem.tau}
    state = fitted_state(problem.calibration, folded, settings, mode="extended", notes=notes, fit=_with(fit, weights))
    return replace(
        state,
        account=replace(state.account, chosen=chosen, notes=(*notes, *_notes(problem, names))),
        list_adjustment=list_adjustment(calibration.table, problem.tau),
    )


def warn_of_size(calibration: CalibrationSet) -> None:
    """Say before the fit if the model would keep very many labelled rows."""
    own = calibration.shortlist.embeddings
    if own is None:
        return
    more = 0 if calibration.reference is None else int((calibration.reference.labels >= 0).sum())
    n_rows, width = int((calibration.labels >= 0).sum()) + more, own.shape[1]
    size = 2 * n_rows * width
    if size > MUCH:
        warn_user(
            f"the model will keep {n_rows} labelled rows as vectors of {width} float16 numbers ({size / 1e6:.0f} MB); "
            "pass fewer reference rows or shorter vectors, or leave the term 'neighbours' out of terms",
            InputWarning,
        )


def _with(fit: Fit, weights: FloatArray) -> Fit:
    return replace(fit, weights=weights)


def _refuse_hopeless(listed: CalibrationSet, tau: float) -> None:
    """Refuse shortlists that have lost the labels; only a τ that the user gave can do that."""
    try:
        listed.refuse_hopeless()
    except InputError as error:
        raise InputError(f"with the shortlists of shortlist_tau={tau:g}, {error}") from None


def _refuse_terms_without_vectors(calibration: CalibrationSet, names: Sequence[str] | None) -> None:
    """Refuse terms that were asked for by name and have nothing to look at."""
    if names is None or calibration.shortlist.embeddings is not None:
        return
    for name in ("neighbours", "head"):
        if name in names:
            raise InputError(f"the term {name!r} needs embeddings; pass embeddings=… to fit")


def _learnable(calibration: CalibrationSet) -> tuple[str, ...]:
    """Return the learned terms that the inputs allow; rows of one single group cannot teach each other."""
    if calibration.groups is not None and len(np.unique(calibration.groups[calibration.covered])) < 2:
        return ()
    names = ["context"] if context_possible(calibration.shortlist.ids, calibration.table.n_classes) else []
    if calibration.shortlist.embeddings is not None:
        names += ["neighbours", "head"]
    return tuple(names)


def _learn(name: str, calibration: CalibrationSet, tau: float, index: str) -> tuple[LearnedTerm, FloatArray]:
    if name == "context":
        return Context.learn(calibration, tau)
    return Neighbours.learn(calibration, index) if name == "neighbours" else Head.learn(calibration)


def _notes(problem: ExtendedProblem, names: Sequence[str] | None) -> tuple[str, ...]:
    """Say what was left out, and what the model holds besides numbers a class."""
    notes = []
    learned = [term.name for term in problem.learned]
    if "context" not in learned and (names is None or "context" in names):
        n_classes = problem.calibration.table.n_classes
        why = f"{n_classes} classes are more than {MOST_CLASSES}" if n_classes > MOST_CLASSES else TOO_ALIKE
        notes.append(f"the term context is left out: {why}")
    for term in problem.learned:
        if isinstance(term, Context):
            rows, width = term.landmarks.shape
            notes.append(f"context: the model keeps the base's scores of {rows} rows, as {width} numbers each")
        if isinstance(term, Neighbours):
            n_bytes = term.vectors.nbytes + term.labels.nbytes
            size = f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"
            notes.append(f"neighbours: the model keeps {len(term.labels)} labelled rows as float16 vectors ({size})")
            if term.index == "approximate":
                notes.append("neighbours: their index is not kept; it is built when the model is first used")
    return tuple(notes)


def fit_chosen(
    calibration: CalibrationSet,
    terms: Sequence[Term],
    settings: FitSettings,
    notes: tuple[str, ...],
    found: "AutoChoice",
    index: str = "exact",
) -> tuple[FittedState, FitSettings, float]:
    """Fit the extended model that ``auto`` has chosen; return it with the settings and the dial that were used."""
    settings = replace(settings, shrinkage="eb", evidence=True)
    state = fit_extended(
        calibration, terms, settings, tau=found.shortlist_tau, index=index, notes=(found.reason, *notes)
    )
    chosen = {"mode": "extended", "dial": found.chosen.dial, **state.account.chosen}
    account = replace(state.account, chosen=chosen)
    return replace(state, account=account, auto=found), settings, found.chosen.dial
