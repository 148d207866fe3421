"""The methods that benchmarks compare: those of the library under the same names, and variants of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repair import ExtendedOptions, GridSearch, LogitAdjustment, Reranker
from repair.errors import InputError
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import METHODS as LIBRARY
from repair.rerankers.methods import make_method
from repair.rerankers.rivals.rival import ScoreRival
from repair.tuning.grid import PAPER_GRID
from repair_bench.harness.lambdarank import LambdaRank
from repair_bench.rivals.balanced import BalancedHeadMixed, BalancedMatrixScaling, BalancedVectorScaling
from repair_bench.rivals.heads import RetrainedHead, RetrainedHeadMixed
from repair_bench.rivals.kernel_logistic import KernelLogistic
from repair_bench.rivals.proker import Proker
from repair_bench.rivals.stack import StackAll, StackScores
from repair_bench.rivals.transductive import Bbse, EmPrior
from repair_bench.rivals.trees import LightgbmEmbeddings, LightgbmScores

__all__ = [
    "BASE",
    "EMBEDDINGS",
    "MACRO",
    "METHODS",
    "OURS",
    "QUICK",
    "RIVAL",
    "SCORES",
    "TEST_ROWS",
    "Method",
    "check_names",
    "choose",
]

#: The kinds of information that methods use.  Only methods with the same kind should be compared.
SCORES, EMBEDDINGS, TEST_ROWS = "scores", "scores and embeddings", "scores and unlabelled test rows"
#: What a method is in comparisons: the base order, one of ours, or a rival, which is a method by others or the
#: published form of REPAIR.  Methods that were fitted to aim at macro accuracy, ours and rivals', have their own table.
BASE, OURS, RIVAL, MACRO = "base", "ours", "rival", "macro"

Make = Callable[[int, Mapping[str, float] | None], ShortlistReranker]


@dataclass(frozen=True)
class Method:
    """A method of the benchmarks.

    Attributes
    ----------
    title : str
        Name of the method in tables.
    make : callable
        Takes n_candidates and the published hyperparameters (or None), and returns the unfitted method.
    needs : tuple of str
        Fields of a `ScoreSet` that the method needs.
    embeddings : bool
        Whether it gets the embeddings of the rows.
    own_list : bool
        Whether it builds its own shortlists.  Its covered rows then differ from those of the other
        methods, and only figures over all rows can be compared.
    all_classes : bool
        Whether its shortlist holds all classes.
    equal_group_weight : bool
        Whether every group counts once in the fit.
    information : str
        What the method gets besides labels and class counts: `SCORES`, `EMBEDDINGS` (which include the
        labelled training rows) or `TEST_ROWS` (the unlabelled test rows as one batch).
    role : str
        `BASE`, `OURS`, `RIVAL` or `MACRO`.
    """

    title: str
    make: Make
    needs: tuple[str, ...] = ()
    embeddings: bool = False
    own_list: bool = False
    all_classes: bool = False
    equal_group_weight: bool = True
    information: str = SCORES
    role: str = OURS

    @property
    def labels(self) -> dict[str, str]:
        """How results call the method, and what they say about it."""
        return {"title": self.title, "information": self.information, "role": self.role}


def _library(name: str, *, needs: tuple[str, ...] | None = None, **details: Any) -> Method:
    """Return a method of the library under its title."""
    method = LIBRARY[name]
    return Method(method.title, lambda k, _: make_method(name, k), method.needs if needs is None else needs, **details)


def _ridge(k: int, published: Mapping[str, float] | None) -> Reranker:
    """Return `pairwise` without shrinkage, with the published values or with penalties from cross-validation."""
    if published is not None:
        values: dict[str, Any] = dict(published)
        return Reranker("pairwise", n_candidates=k, shrinkage=False, **values)
    penalties = {"lambda_a": PAPER_GRID.lambda_a, "lambda_theta": PAPER_GRID.lambda_theta}
    return Reranker("pairwise", n_candidates=k, shrinkage=False, tuning=GridSearch(grid=penalties))


def _extended(k: int, published: Mapping[str, float] | None) -> Reranker:
    return Reranker("extended", n_candidates=k)


def _rival(title: str, rival: type[ScoreRival], information: str, role: str = RIVAL) -> Method:
    """Return a rival, which ranks all classes and takes its shortlists from its own final scores."""
    reads = rival.reads_embeddings
    needs = ("embeddings",) if reads else ()
    return Method(
        title, lambda k, _: rival(k), needs, embeddings=reads, own_list=True, information=information, role=role
    )


def _base_list(k: int, published: Mapping[str, float] | None) -> Reranker:
    return Reranker("extended", n_candidates=k, extended=ExtendedOptions(shortlist_tau=0.0, n_ranked=k))


COUNTS = ("class_counts",)
VECTORS = ("class_counts", "embeddings")
WITH_EMBEDDINGS: dict[str, Any] = {"embeddings": True, "own_list": True, "information": EMBEDDINGS, "role": RIVAL}
METHODS = {
    "base": _library("base", role=BASE),
    "logit_adjustment": _library("logit_adjustment", role=RIVAL),
    "tau_normalization": _library("tau_normalization", role=RIVAL),
    "temperature": _library("temperature", role=RIVAL),
    "classwise": _library("classwise"),
    "classwise_temperature": _library("classwise_temperature"),
    "pairwise_only": _library("pairwise_only"),
    "pairwise_ridge": Method("Pairwise, no shrinkage", _ridge),
    "pairwise": _library("pairwise"),
    # The paper's runs do not use groups: every row counts once.
    "published": _library("published", needs=COUNTS, equal_group_weight=False, role=RIVAL),
    "lambdarank": Method("LambdaRank", lambda k, _: LambdaRank(k), COUNTS, role=RIVAL),
    "extended_base_list": Method("Extended, base's list", _base_list, COUNTS),
    "extended_embeddings_base_list": Method(
        "Extended+embeddings, base's list", _base_list, VECTORS, embeddings=True, information=EMBEDDINGS
    ),
    "logit_adjustment_all": Method(
        "LogitAdj over all classes",
        lambda k, _: LogitAdjustment(k),
        COUNTS,
        own_list=True,
        all_classes=True,
        role=RIVAL,
    ),
    "auto": _library("auto", own_list=True),
    "extended": _library("extended", needs=COUNTS, own_list=True),
    "extended_embeddings": Method(
        "Extended+embeddings", _extended, VECTORS, embeddings=True, own_list=True, information=EMBEDDINGS
    ),
    "auto_embeddings": Method(
        "Auto+embeddings",
        lambda k, _: Reranker(n_candidates=k),
        VECTORS,
        embeddings=True,
        own_list=True,
        information=EMBEDDINGS,
    ),
    "vector_scaling": _library("vector_scaling", own_list=True, role=RIVAL),
    "matrix_scaling": _library("matrix_scaling", own_list=True, role=RIVAL),
    "prior2posterior": _library("prior2posterior", own_list=True, role=RIVAL),
    "kernel_logistic": _rival("Kernel logistic", KernelLogistic, SCORES),
    "lightgbm_scores": _rival("LightGBM, scores", LightgbmScores, SCORES),
    "stack_scores": _rival("Stack, scores", StackScores, SCORES),
    "knn_interpolation": _library("knn_interpolation", **WITH_EMBEDDINGS),
    "tip_adapter": _library("tip_adapter", **WITH_EMBEDDINGS),
    "gda": _library("gda", **WITH_EMBEDDINGS),
    "proker": _rival("ProKeR", Proker, EMBEDDINGS),
    "retrained_head": _rival("Retrained head", RetrainedHead, EMBEDDINGS),
    "retrained_head_mixed": _rival("Retrained head, mixed", RetrainedHeadMixed, EMBEDDINGS),
    "lightgbm_embeddings": _rival("LightGBM, embeddings", LightgbmEmbeddings, EMBEDDINGS),
    "stack_all": _rival("Stack, embeddings", StackAll, EMBEDDINGS),
    "em_prior": _rival("EM prior", EmPrior, TEST_ROWS),
    "bbse": _rival("BBSE", Bbse, TEST_ROWS),
    "vector_scaling_balanced": _rival("Vector scaling, balanced", BalancedVectorScaling, SCORES, MACRO),
    "matrix_scaling_balanced": _rival("Matrix scaling, balanced", BalancedMatrixScaling, SCORES, MACRO),
    "retrained_head_mixed_balanced": _rival("Retrained head, mixed, balanced", BalancedHeadMixed, EMBEDDINGS, MACRO),
}
#: The methods of a quick run, without those that search for long.
QUICK = (
    "base",
    "logit_adjustment",
    "tau_normalization",
    "temperature",
    "classwise",
    "pairwise_only",
    "pairwise",
    "lambdarank",
    "extended",
)


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without repetitions, or raise an error that lists all methods.

    Examples
    --------
    >>> from repair_bench.harness.methods import check_names
    >>> check_names(["base", "pairwise", "base"])
    ('base', 'pairwise')
    """
    for name in names:
        if name not in METHODS:
            raise InputError(f"there is no method {name!r}; choose from {', '.join(METHODS)}")
    return tuple(dict.fromkeys(names))


def choose(names: Sequence[str] | None, known: Mapping[str, Any], *, quick: bool = False) -> tuple[str, ...]:
    """Return the names of the methods to run: the given names, or all that the inputs allow.

    Parameters
    ----------
    names : sequence of str, optional
    known : mapping
        What is known about the classes and rows, as in ``ScoreSet.optional_fields``.
    quick : bool, default False
        If no names are given, leave out methods that search for long.

    Examples
    --------
    >>> from repair_bench.harness.methods import choose
    >>> "tau_normalization" in choose(None, {"class_counts": [3, 1], "weight_norms": None})
    False
    """
    for name in check_names(names or ()):
        for need in METHODS[name].needs:
            if known.get(need) is None:
                raise InputError(f"the method {name!r} needs {need}, which this base does not have; leave it out")
    if names:
        return tuple(dict.fromkeys(names))
    usual = QUICK if quick else tuple(METHODS)
    return tuple(one for one in usual if all(known.get(need) is not None for need in METHODS[one].needs))
