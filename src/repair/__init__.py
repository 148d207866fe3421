"""REPAIR: post-hoc reranking of a frozen classifier's shortlist under long-tailed classes.

Public names are imported when first used, so that ``import repair``, loading a model and
reranking a row need nothing heavier than numpy and safetensors.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repair.artifact import load
    from repair.baselines import Base, ClasswiseTemperature, LogitAdjustment, TauNormalization, Temperature
    from repair.comparison import Comparison
    from repair.diagnosis.diagnose import Diagnosis, diagnose
    from repair.errors import (
        ArtifactError,
        ConvergenceWarning,
        InputError,
        InputWarning,
        MissingExtraError,
        NotFittedError,
    )
    from repair.evaluation import Evaluation, evaluate
    from repair.explanation import Explanation
    from repair.frontier import Frontier, head_tail_frontier
    from repair.metrics import rare_classes
    from repair.protocol import compare
    from repair.ranking import Ranking
    from repair.reranker import Reranker
    from repair.score_set import ScoreSet
    from repair.shortlist import Shortlist

__version__ = "0.1.0"

_HOME = {
    "ArtifactError": "errors",
    "Base": "baselines",
    "ClasswiseTemperature": "baselines",
    "Comparison": "comparison",
    "ConvergenceWarning": "errors",
    "Diagnosis": "diagnosis",
    "Evaluation": "evaluation",
    "Explanation": "explanation",
    "Frontier": "frontier",
    "InputError": "errors",
    "InputWarning": "errors",
    "LogitAdjustment": "baselines",
    "MissingExtraError": "errors",
    "NotFittedError": "errors",
    "Ranking": "ranking",
    "Reranker": "reranker",
    "ScoreSet": "score_set",
    "Shortlist": "shortlist",
    "TauNormalization": "baselines",
    "Temperature": "baselines",
    "compare": "protocol",
    "diagnose": "diagnosis",
    "evaluate": "evaluation",
    "head_tail_frontier": "frontier",
    "load": "artifact",
    "rare_classes": "metrics",
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
    "Frontier",
    "InputError",
    "InputWarning",
    "LogitAdjustment",
    "MissingExtraError",
    "NotFittedError",
    "Ranking",
    "Reranker",
    "ScoreSet",
    "Shortlist",
    "TauNormalization",
    "Temperature",
    "__version__",
    "compare",
    "diagnose",
    "evaluate",
    "head_tail_frontier",
    "load",
    "rare_classes",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'repair' has no attribute {name!r}")
    value = getattr(import_module(f"repair.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
