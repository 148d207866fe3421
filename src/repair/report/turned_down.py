"""The correction that ``auto`` turned down, so a report that keeps the base order shows what was given up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from repair.diagnosis.diagnose import Diagnosis
from repair.diagnosis.judging import in_question
from repair.report.changes import Changes
from repair.stats.folds import FOLDS
from repair.stats.row_weights import describe_weights

__all__ = ["TurnedDown", "turned_down"]


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


def turned_down(diagnosis: Diagnosis) -> TurnedDown | None:
    """Return the correction that the verdict of a diagnosis turned down, or None if there is none."""
    candidate = in_question(diagnosis.auto)
    if not diagnosis.auto.chosen.keeps_base or diagnosis.auto.gain is None or candidate is None:
        return None
    calibration = diagnosis.measured_on
    changes = Changes(
        calibration.labels,
        calibration.importance,
        calibration.groups,
        np.asarray(calibration.class_counts),
        np.asarray(diagnosis.auto.candidates[0].hits, dtype=np.float64),
        np.asarray(candidate.hits, dtype=np.float64),
        f"{len(calibration.labels):,} calibration rows. Each is ranked by a copy of the correction that was fitted "
        f"without it ({FOLDS} folds).{describe_weights(calibration.importance, calibration.groups)}",
        "held-out calibration rows",
    )
    return TurnedDown(diagnosis.verdict.correction, changes)
