"""What kind of numbers scores are: logits, log-probabilities, probabilities or percent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray
from repair.data.shortlist import Shortlist

__all__ = ["ON_LOG_SCALE", "TITLES", "ScoreTypes", "single_rows_problem"]

LOGITS, LOG_PROBABILITIES, PROBABILITIES, PERCENT = "logits", "log_probabilities", "probabilities", "percent"
#: How messages call each type.
TITLES = {
    LOGITS: "logits",
    LOG_PROBABILITIES: "log-probabilities",
    PROBABILITIES: "probabilities (between 0 and 1)",
    PERCENT: "percentages (between 0 and 100)",
}
#: These differ by a constant per row, which no correction depends on.
ON_LOG_SCALE = (LOGITS, LOG_PROBABILITIES)
#: Scores have a type if at least this share of the rows looks like it.  Rounding spoils a few rows.
MOST = 0.99
#: A type that this share of the other rows looks like, too, does not distinguish the two.
COMMON = 0.5
#: Logarithms that were kept finite by adding a small number to the probabilities may lie a little above 0.
SLACK = 1e-3
#: Ten probabilities that were rounded to two digits may add up to this much more than 1.
ROUNDING = 0.05
#: Percentages of a row add up to 100, apart from rounding.  On a shortlist they add up to less, but rarely to less than
#: the first of these.
LEAST_PERCENT, WHOLE_PERCENT, MOST_PERCENT = 50.0, 99.5, 100.5


@dataclass(frozen=True)
class ScoreTypes:
    """The shares of rows that look like each type of score.

    Attributes
    ----------
    log_probabilities : float
        Share of rows without a score above 0, whose exponentials add up to at most 1.
    probabilities : float
        Share of rows with all scores between 0 and 1.
    percent : float
        Share of rows with all scores between 0 and 100, some above 1, that add up to 100, or to 50 or more
        if they fall steeply.

    Examples
    --------
    >>> from repair import Shortlist
    >>> from repair.model.score_types import ScoreTypes
    >>> ScoreTypes.of(Shortlist.from_scores([[0.7, 0.2, 0.1], [0.5, 0.5, 0.0]], 3)).kind
    'probabilities'
    """

    log_probabilities: float
    probabilities: float
    percent: float

    @classmethod
    def of(cls, shortlist: Shortlist) -> ScoreTypes:
        """Measure the shares on the rows of a shortlist that have candidates."""
        filled = shortlist.lengths > 0
        if not filled.any():
            return cls(0.0, 0.0, 0.0)
        mask, scores = shortlist.mask[filled], shortlist.scores[filled]
        best = scores[:, 0]
        lowest = np.where(mask, scores, np.inf).min(axis=1)
        positive = lowest >= 0.0
        sums = np.where(mask, scores, 0.0).sum(axis=1)
        mass = np.exp(np.minimum(scores, 0.0)).sum(axis=1, where=mask)
        rows: tuple[BoolArray, ...] = (
            (best <= SLACK) & (mass <= 1.0 + ROUNDING),
            positive & (best <= 1.0 + SLACK),
            # Positive logits can add up to 100 too, but do not fall so steeply.
            positive
            & (best > 1.0 + SLACK)
            & (sums <= MOST_PERCENT)
            & ((sums >= WHOLE_PERCENT) | ((sums >= LEAST_PERCENT) & (lowest <= best / 4.0))),
        )
        return cls(*(float(like.mean()) for like in rows))

    @property
    def kind(self) -> str:
        """The type that nearly all rows look like, or else "logits"."""
        for name in (PROBABILITIES, PERCENT, LOG_PROBABILITIES):
            if getattr(self, name) >= MOST:
                return name
        return LOGITS

    def problem(self, fitted: ScoreTypes) -> str | None:
        """Return what is wrong with scores of these types for a model that was fitted on others, or None."""
        now, then = self.kind, fitted.kind
        if now == then or (now in ON_LOG_SCALE and then in ON_LOG_SCALE):
            return None
        shared = self._share(then) if now == LOGITS else fitted._share(now)
        return None if shared > COMMON else _sentence(now, then)

    def as_array(self) -> FloatArray:
        """Return the shares as an array, for the model file."""
        return np.array([self.log_probabilities, self.probabilities, self.percent])

    def _share(self, kind: str) -> float:
        return float(getattr(self, kind))


def single_rows_problem(scores: AnyArray, fitted: ScoreTypes) -> str | None:
    """Return what is wrong with the scores of a few rows, or None if they may be right.

    Only clear cases count: one row of logits can happen to look like probabilities.  This loops over
    plain numbers, which is faster than numpy for a few rows.
    """
    if fitted.log_probabilities == 1.0:
        then, look = LOG_PROBABILITIES, _linear_type
    elif fitted.probabilities == 1.0:
        then, look = PROBABILITIES, _negative_type
    else:
        return None
    for row in scores.tolist():
        now = look(row)
        if now is not None:
            return _sentence(now, then)
    return None


def _linear_type(row: Sequence[float]) -> str | None:
    """Return the type of a row that cannot be log-probabilities, because its positive scores add up to 1 or 100."""
    if not row[0] > SLACK:
        return None
    real = [score for score in row if score != -np.inf]
    total = sum(real)
    if real[-1] < 0.0:
        return None
    if total <= 1.0 + ROUNDING:
        return PROBABILITIES
    return PERCENT if WHOLE_PERCENT <= total <= MOST_PERCENT else None


def _negative_type(row: Sequence[float]) -> str | None:
    """Return the type of a row that cannot be probabilities, because even its best score is negative."""
    return LOG_PROBABILITIES if -np.inf < row[0] < 0.0 else None


def _sentence(now: str, then: str) -> str:
    return f"the scores look like {TITLES[now]}, but the model was fitted on {TITLES[then]}; {_remedy(now, then)}"


def _remedy(now: str, then: str) -> str:
    """Return how to turn scores of one type into those that the model was fitted on."""
    if then in ON_LOG_SCALE:
        divided = "divide them by 100 and " if now == PERCENT else ""
        return f"{divided}take their logarithm before you rerank"
    if now in ON_LOG_SCALE:
        return f"pass {TITLES[then]}, or fit the model again on logits, which is better"
    return "multiply them by 100" if then == PERCENT else "divide them by 100"
