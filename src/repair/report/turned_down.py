"""The correction that ``auto`` turned down, so a report that keeps the base order shows what was given up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.model.tuning_records import AutoChoice, CandidateResult
from repair.report.changes import Changes
from repair.rerankers.methods import title_of
from repair.stats.folds import FOLDS
from repair.stats.row_weights import describe_weights

__all__ = ["TurnedDown", "turned_down"]

#: The base order is the first candidate of ``auto``.  Only so many of the last ones can be chosen.
CHOOSABLE = 2


@dataclass(frozen=True, eq=False)
class TurnedDown:
    """The correction that ``auto`` would have chosen next, although it kept the base order.

    Attributes
    ----------
    name : str
        Its name, to be used in a sentence.
    changes : Changes
        What it would have changed on held-out calibration rows.
    """

    name: str
    changes: Changes


def turned_down(auto: AutoChoice, calibration: CalibrationSet) -> TurnedDown | None:
    """Return the correction that ``auto`` would have chosen next, or None if it did not keep the base order.

    That is the one under which the held-out labels are most likely.  The one with the largest gain in
    accuracy would look better than it is, because it is the largest of several.

    Parameters
    ----------
    auto : AutoChoice
    calibration : CalibrationSet
        The rows on which ``auto`` chose.
    """
    best = max(auto.candidates[1:][-CHOOSABLE:], key=_likelihood, default=None)
    if not auto.chosen.keeps_base or best is None or len(best.hits) != len(calibration.labels):
        return None
    n_rows = len(calibration.labels)
    changes = Changes(
        calibration.labels,
        calibration.importance,
        calibration.groups,
        np.asarray(calibration.class_counts),
        np.asarray(auto.candidates[0].hits, dtype=np.float64),
        np.asarray(best.hits, dtype=np.float64),
        f"{n_rows:,} calibration rows. Each is ranked by a copy of the correction that was fitted without it ({FOLDS} "
        f"folds).{describe_weights(calibration.importance, calibration.groups)}",
        "held-out calibration rows",
    )
    return TurnedDown(_name(best), changes)


def _likelihood(candidate: CandidateResult) -> float:
    assert candidate.log_likelihood is not None
    return candidate.log_likelihood.gain


def _name(candidate: CandidateResult) -> str:
    title = title_of(candidate.mode)
    return f"{title} with few terms (temperature, logit adjustment and class offsets)" if candidate.few_terms else title
