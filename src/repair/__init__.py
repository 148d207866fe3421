"""REPAIR: post-hoc reranking of a frozen classifier's shortlist under long-tailed classes.

Public names are imported when first used, so ``import repair``, loading a model and reranking a
row need nothing heavier than numpy and safetensors.
"""

from repair._utils.lazy_names import lazy_names
from repair._utils.version import __version__

TYPE_CHECKING = False  # not from typing, because the command must install its signal handlers quickly
if TYPE_CHECKING:
    from repair.comparison.compare import compare
    from repair.comparison.result import Comparison
    from repair.data.ranking import Ranking
    from repair.data.score_set import ScoreSet
    from repair.data.shortlist import Shortlist
    from repair.diagnosis.diagnose import Diagnosis, diagnose
    from repair.errors import (
        ArtifactError,
        ConvergenceWarning,
        InputError,
        InputWarning,
        MissingExtraError,
        NotFittedError,
    )
    from repair.evaluation.evaluate import Evaluation, evaluate
    from repair.evaluation.head_tail_frontier import Frontier, head_tail_frontier
    from repair.fitting.settings import ShrinkageOptions
    from repair.model.explanation import Explanation
    from repair.rerankers.baselines import Base, ClasswiseTemperature, LogitAdjustment, TauNormalization, Temperature
    from repair.rerankers.loading import load
    from repair.rerankers.reranker import Reranker
    from repair.stats.strata import class_strata, rare_classes
    from repair.terms.options import ExtendedOptions
    from repair.tuning.options import GridSearch, HeadLossLimit

_HOME = {
    "ShrinkageOptions": "fitting.settings",
    "HeadLossLimit": "tuning.options",
    "GridSearch": "tuning.options",
    "ExtendedOptions": "terms.options",
    "ArtifactError": "errors",
    "Base": "rerankers.baselines",
    "ClasswiseTemperature": "rerankers.baselines",
    "Comparison": "comparison.result",
    "ConvergenceWarning": "errors",
    "Diagnosis": "diagnosis.diagnose",
    "Evaluation": "evaluation.evaluate",
    "Explanation": "model.explanation",
    "Frontier": "evaluation.head_tail_frontier",
    "InputError": "errors",
    "InputWarning": "errors",
    "LogitAdjustment": "rerankers.baselines",
    "MissingExtraError": "errors",
    "NotFittedError": "errors",
    "Ranking": "data.ranking",
    "Reranker": "rerankers.reranker",
    "ScoreSet": "data.score_set",
    "Shortlist": "data.shortlist",
    "TauNormalization": "rerankers.baselines",
    "Temperature": "rerankers.baselines",
    "class_strata": "stats.strata",
    "compare": "comparison.compare",
    "diagnose": "diagnosis.diagnose",
    "evaluate": "evaluation.evaluate",
    "head_tail_frontier": "evaluation.head_tail_frontier",
    "load": "rerankers.loading",
    "rare_classes": "stats.strata",
}

__all__ = [
    "ArtifactError",
    "Base",
    "ClasswiseTemperature",
    "Comparison",
    "ConvergenceWarning",
    "Diagnosis",
    "Evaluation",
    "Explanation",
    "ExtendedOptions",
    "Frontier",
    "GridSearch",
    "HeadLossLimit",
    "InputError",
    "InputWarning",
    "LogitAdjustment",
    "MissingExtraError",
    "NotFittedError",
    "Ranking",
    "Reranker",
    "ScoreSet",
    "Shortlist",
    "ShrinkageOptions",
    "TauNormalization",
    "Temperature",
    "__version__",
    "class_strata",
    "compare",
    "diagnose",
    "evaluate",
    "head_tail_frontier",
    "load",
    "rare_classes",
]


__getattr__, __dir__ = lazy_names("repair", _HOME)
