"""The modes of a `Reranker`, one file each."""

from repair.rerankers.modes.auto import AutoMode
from repair.rerankers.modes.base import BaseMode
from repair.rerankers.modes.classwise import ClasswiseMode
from repair.rerankers.modes.extended import ExtendedMode
from repair.rerankers.modes.mode import FitPlan, Mode
from repair.rerankers.modes.pairwise import PairwiseMode
from repair.rerankers.modes.pairwise_only import PairwiseOnlyMode

__all__ = ["MODES", "FitPlan", "Mode"]

#: Every mode by its name, the simplest first.
MODES: dict[str, Mode] = {
    mode.name: mode
    for mode in (BaseMode(), ClasswiseMode(), PairwiseMode(), PairwiseOnlyMode(), ExtendedMode(), AutoMode())
}
