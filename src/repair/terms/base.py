"""The shape every term has, and how columns are put side by side."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from repair.arrays import FloatArray
from repair.candidates import CandidateView

__all__ = ["Term", "stack_columns"]


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


def stack_columns(terms: Sequence[Term], view: CandidateView) -> FloatArray:
    """Return the (n, k, d) design of `terms`; rows run fastest in memory, as the fit's kernels want them."""
    n_rows, k = view.shortlist.ids.shape
    design = np.empty((len(terms), k, n_rows))
    for position, term in enumerate(terms):
        design[position] = term.column(view).T
    return design.T
