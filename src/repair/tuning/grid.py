"""Grids of hyperparameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from repair.errors import InputError
from repair.fitting.settings import FitSettings
from repair.model.choice import Setting
from repair.validation.checks import check_number

if TYPE_CHECKING:
    from repair.terms.term import Term

__all__ = ["PAPER_GRID", "SEARCH_TOLERANCE", "Grid"]

#: Tolerance of the fits within a search.  Offsets are then right to about four digits, and only a few rows change rank.
SEARCH_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Grid:
    """The values to try.  Every combination of them is tried.

    Examples
    --------
    >>> from repair.tuning.grid import PAPER_GRID
    >>> len(PAPER_GRID.settings())
    1260
    """

    tau: Sequence[float] = (0.0,)
    lambda_a: Sequence[float] = (1e-3,)
    lambda_theta: Sequence[float] = (1e-3,)
    alpha: Sequence[float] = (0.0,)

    @classmethod
    def of(cls, given: "Grid | Mapping[str, Sequence[float]] | None") -> "Grid":
        """Validate the grid that a user passed.  None means the paper's grid."""
        if given is None or isinstance(given, Grid):
            return given or PAPER_GRID
        if not isinstance(given, Mapping) or set(given) - {"tau", "lambda_a", "lambda_theta", "alpha"}:
            raise InputError(f"grid is {given!r}; pass a mapping with tau, lambda_a, lambda_theta and alpha")
        for name, values in given.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
                raise InputError(f"grid[{name!r}] is {values!r}; pass a sequence of numbers")
            for value in values:
                positive = name.startswith("lambda")
                check_number(value, f"grid[{name!r}]", -10.0 if name == "tau" else 0.0, open_low=positive)
        return cls(**{name: tuple(float(value) for value in values) for name, values in given.items()})

    def settings(self) -> tuple[Setting, ...]:
        """Return every combination.  The penalty of the offsets varies fastest, from strong to weak."""
        return tuple(
            Setting(tau, alpha, lambda_theta, lambda_a)
            for tau, alpha, lambda_theta, lambda_a in product(
                self.tau, self.alpha, self.lambda_theta, sorted(self.lambda_a, reverse=True)
            )
        )

    def where_it_matters(self, settings: FitSettings, terms: "Sequence[Term]", *, with_counts: bool) -> "Grid":
        """Return the grid with a single value for each hyperparameter that has no effect on this model."""
        free_ridge = settings.with_offsets and settings.shrinkage != "eb"
        return Grid(
            tau=self.tau if with_counts else (0.0,),
            alpha=self.alpha if with_counts else (0.0,),
            lambda_a=self.lambda_a if free_ridge else (settings.lambda_a,),
            lambda_theta=self.lambda_theta if terms else (settings.lambda_theta,),
        )


#: The paper's grid of 1,260 settings.
PAPER_GRID = Grid(
    tau=(0.0, 0.25, 0.5, 0.75, 1.0),
    lambda_a=(0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5),
    lambda_theta=(5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2),
    alpha=(0.0, 0.1, 0.3, 0.5, 0.7, 0.9),
)
