"""The options of tuning that users pass: how to search a grid, and how much frequent classes may lose.

They are separate from the procedures that use them, because a model that is only loaded has options
but does no tuning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from repair._utils.arrays import AnyArray
from repair.tuning.grid import Grid
from repair.validation.checks import check_choice, check_count, check_number

if TYPE_CHECKING:
    from repair.data.ranking import Ranking

__all__ = ["IN_SAMPLE", "GridSearch", "HeadLossLimit", "Scoring"]

SCORINGS = ("accuracy", "nll", "macro")
RULES = ("best", "one_se")
#: The value of ``cv`` that scores the rows of the fit itself.
IN_SAMPLE = "in_sample"

Scoring: TypeAlias = "str | Callable[[Ranking, AnyArray], Any]"


@dataclass(frozen=True)
class GridSearch:
    """Choose τ, the penalties and α by trying every combination of a grid.

    Parameters
    ----------
    grid : mapping or Grid, optional
        Values of ``tau``, ``lambda_a``, ``lambda_theta`` and ``alpha`` to try.  The default is the
        paper's grid of 1,260 settings.  A smaller grid is faster.
    cv : int or "in_sample", default 5
        Number of folds, which keep groups whole.  ``"in_sample"`` scores the rows of the fit, as the
        paper did.  That is optimistic, so use it only to reproduce the paper's runs.
    scoring : {"accuracy", "nll", "macro"} or callable, default "accuracy"
        What to maximise: accuracy over all rows, where uncovered rows count as wrong, the
        log-likelihood of the covered rows, or accuracy averaged over classes.  All use the row
        weights.  A callable takes the `Ranking` of the covered rows and their labels, and returns
        one number per row, where higher is better.  Use ``"macro"`` if all classes matter equally.
    rule : {"best", "one_se"}, default "best"
        Whether to choose the best setting, or the one with the strongest penalties within one
        standard error of it.  Use ``"one_se"`` for a more cautious correction.

    Examples
    --------
    >>> from repair import GridSearch, Reranker
    >>> Reranker("pairwise", tuning=GridSearch({"lambda_a": (1e-3, 1e-2)}, cv=3)).tuning.cv
    3
    """

    grid: Grid | Mapping[str, Sequence[float]] | None = None
    cv: int | str = 5
    scoring: Scoring = "accuracy"
    rule: str = "best"

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", Grid.of(self.grid))
        if self.cv != IN_SAMPLE:
            check_count(self.cv, "cv", 2)
        if not callable(self.scoring):
            check_choice(self.scoring, "scoring", SCORINGS)
        check_choice(self.rule, "rule", RULES)


@dataclass(frozen=True)
class HeadLossLimit:
    """How much accuracy frequent classes may lose against the base order.

    Parameters
    ----------
    points : float
        ε, in percentage points of accuracy on rows of frequent classes.  1.0 is a good start.
    level : float in (0, 0.5], default 0.1
        δ, the allowed probability of a larger loss.  Lower it if a larger loss would be costly.
    exact : bool, default False
        Whether to fit on 60 % of the groups and test on the others, which makes the guarantee exact.
        By default the test uses cross-validation, which is approximate but fits on all rows.  Use the
        exact test if you have many rows and need to state the guarantee.
    cv : int, default 5
        Number of folds of the approximate test.  Use more folds with few rows.

    Examples
    --------
    >>> from repair import HeadLossLimit, Reranker
    >>> Reranker("pairwise", dial=1.0, head_loss=HeadLossLimit(2.0, exact=True)).head_loss.points
    2.0
    """

    points: float
    level: float = 0.1
    exact: bool = False
    cv: int = 5

    def __post_init__(self) -> None:
        check_number(self.points, "points", 0.0, 99.0)
        check_number(self.level, "level", 0.0, 0.5, open_low=True)
        check_choice(self.exact, "exact", (True, False))
        check_count(self.cv, "cv", 2)
