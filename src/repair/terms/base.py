"""The shape every term has, and how columns are put side by side."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from repair.arrays import FloatArray
from repair.candidates import CandidateView
from repair.kernels import kernels_for

__all__ = ["Term", "add_term", "stack_columns"]


class Term(Protocol):
    """One column of the model.  Terms are frozen and hold no data: they read it from the view."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def requires(self) -> tuple[str, ...]:
        """Arguments of ``fit`` it cannot do without."""
        ...

    @property
    def copies(self) -> float:
        """How many equal columns it stands for; its penalty is divided by this."""
        ...

    def column(self, view: CandidateView) -> FloatArray:
        """Return the (n, k) column, 0 on padding."""
        ...


def add_term(term: Term, total: FloatArray, factor: float, view: CandidateView) -> None:
    """Add `factor` times a term's column to the scores: by the term's own ``add_to`` if it needs no column for that."""
    add = getattr(term, "add_to", None)
    if add is None:
        kernels_for(total.size).add_column(total, factor, term.column(view))
    else:
        add(total, factor, view)


def stack_columns(terms: Sequence[Term], view: CandidateView) -> FloatArray:
    """Return the (n, k, d) design of `terms`; rows run fastest in memory, as the fit's kernels want them."""
    n_rows, k = view.shortlist.ids.shape
    design = np.empty((len(terms), k, n_rows))
    for position, term in enumerate(terms):
        design[position] = term.column(view).T
    return design.T
