"""The problem to fit: rows with their shortlists, terms, and the columns of the terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import FloatArray
from repair.data.adjusted_shortlist import choose_shortlist_tau, with_adjusted_list
from repair.data.calibration_set import CalibrationSet
from repair.errors import InputError
from repair.fitting.design_matrix import Design
from repair.fitting.list_width import number_ranked
from repair.stats.row_weights import number_of_units
from repair.terms.options import ExtendedOptions
from repair.terms.registry import choose_learned_terms
from repair.terms.term import Term
from repair.terms.term_checks import check_learned

__all__ = ["Problem"]

#: The reason why a term cannot be learned from rows of a single group.
ONE_GROUP = "it needs covered rows of at least two groups"


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows and columns of one fit.

    Attributes
    ----------
    calibration : CalibrationSet
        The calibration rows with the shortlists that are used.
    design : Design
        The covered rows with the columns of all terms.
    terms : tuple of Term
        The terms, in the order of the columns.
    widths : tuple of int
        Number of columns of each term.
    shortlist_tau : float, default 0.0
        Exponent τ used to build the shortlists.  0 gives the classifier's own shortlists.
    notes : tuple of str, default ()
        Sentences about terms that were learned or left out.
    n_candidates : int, optional
        Number of candidates that are returned.  By default all that are ranked.
    """

    calibration: CalibrationSet
    design: Design
    terms: tuple[Term, ...]
    widths: tuple[int, ...]
    shortlist_tau: float = 0.0
    notes: tuple[str, ...] = ()
    n_candidates: int | None = None

    @classmethod
    def fixed(cls, calibration: CalibrationSet, terms: Sequence[Term], tau: float = 0.0) -> Problem:
        """Return the problem with fixed terms, after the pre-adjustment `tau`."""
        return cls(calibration, Design.of(calibration, terms, tau), tuple(terms), (1,) * len(terms))

    @classmethod
    def extended(
        cls,
        calibration: CalibrationSet,
        terms: Sequence[Term],
        options: ExtendedOptions,
        names: Sequence[str] | None = None,
    ) -> Problem:
        """Build the shortlists, learn the learned terms, and compute all columns.

        The columns of learned terms are cross-fitted, so they are distributed like those of new
        rows.

        Parameters
        ----------
        calibration : CalibrationSet
        terms : sequence of Term
            The fixed terms.
        options : ExtendedOptions
        names : sequence of str, optional
            Names of the learned terms.  By default all default terms whose inputs were given.

        Returns
        -------
        Problem
        """
        kinds = choose_learned_terms(names, calibration, fast=options.fast)
        width, tau = number_ranked(calibration, options, learned=bool(kinds)), options.shortlist_tau
        tau = choose_shortlist_tau(calibration, width) if tau is None else float(tau)
        listed = with_adjusted_list(calibration, tau, width)
        tau = tau if listed is not calibration else 0.0
        if tau:
            _check_learnable(listed, tau)
        reasons = {kind.name: _why_not(kind, listed) for kind in kinds}
        resolved = replace(options, shortlist_tau=tau)
        shape = int(listed.covered.sum()), listed.shortlist.n_candidates
        learned = [check_learned(kind, kind.learn(listed, resolved), shape) for kind in kinds if not reasons[kind.name]]
        columns = [term_columns for _, term_columns in learned]
        left_out = [f"the term {name} is left out: {reason}" for name, reason in reasons.items() if reason]
        if options.n_ranked is not None and calibration.all_scores is None:
            left_out.append(f"n_ranked={options.n_ranked} has no effect, because only shortlists were given")
        return cls(
            listed,
            Design.of(listed, terms, 0.0).with_columns(columns).standardised(),
            (*terms, *(term for term, _ in learned)),
            (*(1 for _ in terms), *(term_columns.shape[2] for term_columns in columns)),
            tau,
            (*left_out, *(note for term, _ in learned for note in term.notes())),
            calibration.shortlist.n_candidates,
        )

    def scaled(self, scale: float) -> Problem:
        """Return the problem with the base scores multiplied by `scale`.  The columns do not change."""
        return replace(self, design=replace(self.design, base=scale * self.design.base))

    def collapsed(self, weights: FloatArray) -> tuple[tuple[Term, ...], FloatArray]:
        """Return terms with a single column each for these fitted weights, and the weights of the terms."""
        blocks = np.split(weights, np.cumsum(self.widths)[:-1])
        pairs = [term.collapsed(block) for term, block in zip(self.terms, blocks, strict=False)]
        return tuple(term for term, _ in pairs), np.array([weight for _, weight in pairs], dtype=np.float64)


def _why_not(kind: type[Term], rows: CalibrationSet) -> str:
    if rows.groups is not None and number_of_units(len(rows.labels), rows.groups[rows.covered]) < 2:
        return ONE_GROUP
    return kind.why_not(rows)


def _check_learnable(listed: CalibrationSet, tau: float) -> None:
    """Raise an error if the shortlists miss the labels, which can happen only with a τ set by the user."""
    try:
        listed.check_learnable()
    except InputError as error:
        raise error.within(f"with the shortlists of shortlist_tau={tau:g}") from None
