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


@dataclass(frozen=True, eq=False)
class TurnedDown:
    """The best correction that was tried, although the base order was kept.

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
    """Return the correction with the largest gain if ``auto`` kept the base order, or None if it chose a correction.

    Parameters
    ----------
    auto : AutoChoice
    calibration : CalibrationSet
        The rows on which ``auto`` chose.
    """
    best = max(auto.candidates[1:], key=lambda candidate: candidate.gain.gain, default=None)
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


def _name(candidate: CandidateResult) -> str:
    title = title_of(candidate.mode)
    return f"{title} with few terms (temperature, logit adjustment and class offsets)" if candidate.few_terms else title
