"""All methods by name.  The names are the same on the command line, in files and in tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from repair.errors import InputError, Remedy
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.baselines import Base, ClasswiseTemperature, LogitAdjustment, TauNormalization, Temperature
from repair.rerankers.reranker import Reranker
from repair.rerankers.rivals import (
    Gda,
    KnnInterpolation,
    MatrixScaling,
    Prior2Posterior,
    TipAdapter,
    VectorScaling,
)
from repair.rerankers.rivals.rival import ScoreRival

__all__ = ["METHODS", "Method", "make_method", "title_of"]


@dataclass(frozen=True)
class Method:
    """A method that can be selected by name.

    Attributes
    ----------
    title : str
        The name shown in tables.
    kind : type
        The class of the reranker.
    fixed : mapping
        Constructor arguments that define this method.  Users cannot change them.
    needs : tuple of str
        Fields of a `ScoreSet` that the method requires.
    rival : bool, default False
        Whether it is a rival, which can be compared but neither saved nor explained.
    """

    title: str
    kind: type[ShortlistReranker]
    fixed: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    rival: bool = False


def _mode(title: str, mode: str) -> Method:
    return Method(title, Reranker, {"mode": mode})


def _rival(title: str, kind: type[ScoreRival]) -> Method:
    return Method(title, kind, {}, ("embeddings",) if kind.reads_embeddings else (), rival=True)


#: What a method that fixes `tuning` chooses itself.
TUNED = ("tau", "alpha", "lambda_a", "lambda_theta")
METHODS: dict[str, Method] = {
    "base": Method("Base", Base, {}),
    "logit_adjustment": Method("LogitAdj", LogitAdjustment, {}, ("class_counts",)),
    "tau_normalization": Method("τ-norm", TauNormalization, {}, ("weight_norms",)),
    "temperature": Method("Temperature", Temperature, {}),
    "classwise_temperature": Method("Classwise+temperature", ClasswiseTemperature, {}),
    "classwise": _mode("Classwise", "classwise"),
    "pairwise": _mode("Pairwise", "pairwise"),
    "pairwise_only": _mode("Pairwise-only", "pairwise_only"),
    "extended": _mode("Extended", "extended"),
    "auto": _mode("Auto", "auto"),
    # The paper's runs chose hyperparameters by accuracy on the rows of the fit, without shrinkage.
    "published": Method(
        "REPAIR as published", Reranker, {"mode": "pairwise", "tuning": "in_sample", "shrinkage": False}
    ),
    "vector_scaling": _rival("Vector scaling", VectorScaling),
    "matrix_scaling": _rival("Matrix scaling", MatrixScaling),
    "prior2posterior": _rival("Prior2Posterior", Prior2Posterior),
    "knn_interpolation": _rival("kNN interpolation", KnnInterpolation),
    "tip_adapter": _rival("Tip-Adapter", TipAdapter),
    "gda": _rival("GDA", Gda),
}


def make_method(name: str, n_candidates: int = 10, **options: Any) -> ShortlistReranker:
    """Return an unfitted method by name.  Options that are None keep the default of the method.

    Examples
    --------
    >>> from repair.rerankers.methods import make_method
    >>> make_method("classwise", 5, dial=0.5)
    Reranker(mode='classwise', n_candidates=5, dial=0.5)
    """
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    method = METHODS[name]
    given = {key: value for key, value in options.items() if value is not None}
    allowed = signature(method.kind).parameters
    for key in given:
        if key not in allowed:
            remedy = Remedy("drop-parameter", "leave it out, or use another method", key)
            raise InputError(f"method {name!r} has no parameter {key}", remedy)
        if key in method.fixed or ("tuning" in method.fixed and key in TUNED):
            remedy = Remedy("drop-parameter", "leave it out, or use method 'pairwise'", f"{key} pairwise")
            raise InputError(f"method {name!r} fixes or chooses {key} itself", remedy)
    return method.kind(n_candidates=n_candidates, **method.fixed, **given)  # type: ignore[call-arg]


def title_of(name: str) -> str:
    """Return the name of a method that tables show.  Names that are not in `METHODS` are returned unchanged.

    Examples
    --------
    >>> from repair.rerankers.methods import title_of
    >>> title_of("logit_adjustment"), title_of("ours")
    ('LogitAdj', 'ours')
    """
    return METHODS[name].title if name in METHODS else name
