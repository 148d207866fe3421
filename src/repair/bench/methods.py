"""The methods that benchmarks compare, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repair.baselines import Base, ClasswiseTemperature, LogitAdjustment, TauNormalization, Temperature
from repair.bench.lambdarank import LambdaRank
from repair.errors import InputError
from repair.estimator import ShortlistReranker
from repair.grid import PAPER_GRID
from repair.reranker import Reranker

__all__ = ["METHODS", "QUICK", "Method", "check_names", "choose"]


@dataclass(frozen=True)
class Method:
    """A method by its name in tables.

    Attributes
    ----------
    title : str
    make : callable
        From n_candidates and the published hyperparameters (or None) to the method, unfitted.
    needs : tuple of str
        Fields of a `ScoreSet` it cannot do without.
    embeddings : bool
        Whether it gets the rows' vectors.
    own_list : bool
        Whether it takes shortlists of its own, so that its covered rows are other rows than
        those of the other methods, and only figures over all rows can be compared.
    all_classes : bool
        Whether its shortlist is all classes.
    """

    title: str
    make: Callable[[int, Mapping[str, float] | None], ShortlistReranker]
    needs: tuple[str, ...] = ()
    embeddings: bool = False
    own_list: bool = False
    all_classes: bool = False


def _ridge(k: int, published: Mapping[str, float] | None) -> Reranker:
    """REPAIR without shrinkage: the published values, or ridge penalties by cross-validation."""
    if published is not None:
        values: dict[str, Any] = dict(published)
        return Reranker(k, shrinkage=False, **values)
    penalties = {"lambda_a": PAPER_GRID.lambda_a, "lambda_theta": PAPER_GRID.lambda_theta}
    return Reranker(k, shrinkage=False, selection="cv", grid=penalties)


def _extended(k: int, published: Mapping[str, float] | None) -> Reranker:
    return Reranker(k, "extended")


def _base_list(k: int, published: Mapping[str, float] | None) -> Reranker:
    return Reranker(k, "extended", shortlist_tau=0.0)


COUNTS = ("class_counts",)
VECTORS = ("class_counts", "embeddings")
METHODS = {
    "base": Method("Base", lambda k, _: Base(k)),
    "logit_adj": Method("LogitAdj", lambda k, _: LogitAdjustment(k), COUNTS),
    "tau_norm": Method("τ-norm", lambda k, _: TauNormalization(k), ("weight_norms",)),
    "temperature": Method("Temperature", lambda k, _: Temperature(k)),
    "classwise": Method("Classwise", lambda k, _: Reranker(k, "classwise")),
    "classwise_temperature": Method("Classwise+temperature", lambda k, _: ClasswiseTemperature(k)),
    "pairwise_only": Method("Pairwise-only", lambda k, _: Reranker(k, "pairwise_only")),
    "repair_ridge": Method("REPAIR, no shrinkage", _ridge),
    "repair": Method("REPAIR", lambda k, _: Reranker(k)),
    "published": Method(
        "REPAIR as published",
        lambda k, _: Reranker(k, selection="in_sample", group_weights=False, shrinkage=False),
        COUNTS,
    ),
    "lambdarank": Method("LambdaRank", lambda k, _: LambdaRank(k), COUNTS),
    "extended_base_list": Method("extended, base's list", _base_list, COUNTS),
    "extended_embeddings_base_list": Method("extended+embeddings, base's list", _base_list, VECTORS, embeddings=True),
    "logit_adj_all": Method(
        "LogitAdj over all classes", lambda k, _: LogitAdjustment(k), COUNTS, own_list=True, all_classes=True
    ),
    "auto": Method("auto", lambda k, _: Reranker(k, "auto"), own_list=True),
    "extended": Method("extended", _extended, COUNTS, own_list=True),
    "extended_embeddings": Method("extended+embeddings", _extended, VECTORS, embeddings=True, own_list=True),
    "auto_embeddings": Method(
        "auto+embeddings", lambda k, _: Reranker(k, "auto"), VECTORS, embeddings=True, own_list=True
    ),
}
#: What a quick run compares: nothing that searches for long.
QUICK = (
    "base",
    "logit_adj",
    "tau_norm",
    "temperature",
    "classwise",
    "pairwise_only",
    "repair",
    "lambdarank",
    "extended",
)


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, each once, or refuse and list the methods there are.

    Examples
    --------
    >>> from repair.bench.methods import check_names
    >>> check_names(["base", "repair", "base"])
    ('base', 'repair')
    """
    for name in names:
        if name not in METHODS:
            raise InputError(f"there is no method {name!r}; choose from {', '.join(METHODS)}")
    return tuple(dict.fromkeys(names))


def choose(names: Sequence[str] | None, known: Mapping[str, Any], *, quick: bool = False) -> tuple[str, ...]:
    """Return the names of the methods to run: the ones asked for, or all that the inputs allow.

    Parameters
    ----------
    names : sequence of str, optional
    known : mapping
        As ``ScoreSet.known``.
    quick : bool, default False
        Leave out what searches for long, where no names are given.

    Examples
    --------
    >>> from repair.bench.methods import choose
    >>> "tau_norm" in choose(None, {"class_counts": [3, 1], "weight_norms": None})
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
