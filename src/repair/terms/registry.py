"""Finding terms by name: those in this folder, and those that users registered."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.terms.registration import REGISTERED
from repair.terms.term import Term

__all__ = [
    "DEFAULT_LEARNED_TERMS",
    "FAST_LEARNED_TERMS",
    "PAPER_TERMS",
    "choose_fixed_terms",
    "choose_learned_terms",
    "names_of",
    "split_names",
    "term_class",
    "term_named",
]

#: The paper's pairwise features, in the order of its table.
PAPER_TERMS = ("score_gap", "rank_gap", "log_prob_ratio", "similarity", "log_freq_ratio")
#: The terms that ``mode="extended"`` learns by default, in the order of the model's columns.
DEFAULT_LEARNED_TERMS = (
    "context",
    "score_head",
    "score_neighbours",
    "neighbours",
    "head",
    "logistic_head",
    "discriminant",
    "score_by_frequency",
)
#: Those that it learns with ``ExtendedOptions(fast=True)``.
FAST_LEARNED_TERMS = ("context", "neighbours", "head")

#: Where terms are defined.  The second folder is searched only if the first does not have the name.
FOLDERS = ("repair.terms", "repair.terms.learned")


def term_class(name: object) -> type[Term]:
    """Return the class of the term called `name`, or raise an error that lists all names."""
    if isinstance(name, str):
        for folder in FOLDERS:
            if name not in REGISTERED:
                _discover(folder)
        if name in REGISTERED:
            return REGISTERED[name][0]
    _discover_all()
    raise InputError(
        f"there is no term {name!r}; choose one of {', '.join(_all_names())}, or register your own with register_term"
    )


def term_named(name: str) -> Term:
    """Return the term called `name`, which must not be a learned term."""
    kind = term_class(name)
    if kind.learns:
        raise InputError(f"the term {name!r} is learned from the rows; use mode 'extended'")
    return REGISTERED[name][1]()


def split_names(names: Sequence[str] | None) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the names of the fixed and of the learned terms, or None for both if `names` is None."""
    if names is None:
        return None, None
    learned = tuple(name for name in names if term_class(name).learns)
    if len(set(names)) != len(names):
        raise InputError(f"terms repeats a name: {list(names)}; list each term once")
    return tuple(name for name in names if name not in learned), learned


def names_of(kind: type[Term]) -> tuple[str, ...]:
    """Return all names that a term is registered under.  Terms with several names can replace equal columns."""
    return tuple(name for name, (registered, _) in REGISTERED.items() if registered is kind)


def choose_fixed_terms(names: Sequence[str] | None, table: ClassTable) -> tuple[Term, ...]:
    """Return the named fixed terms, or by default all terms of the paper whose inputs were given.

    The score gap and the log-probability ratio are the same column if the probabilities are a
    softmax of the same scores.  Two equal columns with penalty λ each are equivalent to one column
    with penalty λ/2, so the two become one term with multiplicity 2.
    """
    if names is None:
        terms = [term_named(name) for name in PAPER_TERMS]
        chosen = [term for term in terms if all(getattr(table, field) is not None for field in term.requires)]
    else:
        chosen = [term_named(name) for name in names]
        for term in chosen:
            for field in term.requires:
                table.require(field, f"the term {term.name!r}")
    return _merged(chosen)


def choose_learned_terms(
    names: Sequence[str] | None, rows: CalibrationSet, *, fast: bool = False
) -> tuple[type[Term], ...]:
    """Return the named learned terms, or the default ones whose inputs were given."""
    usual = FAST_LEARNED_TERMS if fast else DEFAULT_LEARNED_TERMS
    ordered = usual if names is None else sorted(names, key=_column_order)
    kinds = [term_class(name) for name in ordered]
    if names is None:
        return tuple(kind for kind in kinds if all(rows.has(field) for field in kind.requires))
    for kind in kinds:
        for field in kind.requires:
            rows.require(field, f"the term {kind.name!r}")
    return tuple(kinds)


def _column_order(name: str) -> int:
    """Return the sort key of a learned term, so a fit does not depend on the order in which terms are named."""
    return DEFAULT_LEARNED_TERMS.index(name) if name in DEFAULT_LEARNED_TERMS else len(DEFAULT_LEARNED_TERMS)


def _merged(chosen: list[Term]) -> tuple[Term, ...]:
    """Replace terms that have the same column by one term with a multiplicity."""
    merged: list[Term] = []
    for term in chosen:
        same = [other for other in chosen if _same_column(other, term)]
        if len(same) == 1:
            merged.append(term)
        elif same[0] is term:
            representative: Any = term_named(type(term).name)
            merged.append(replace(representative, multiplicity=len(same)))
    return tuple(merged)


def _same_column(first: Term, second: Term) -> bool:
    """Return whether two terms differ only in their name."""
    return type(first) is type(second) and {**vars(first), "name": ""} == {**vars(second), "name": ""}


def _all_names() -> Iterator[str]:
    """Yield all names, those of the paper first."""
    yield from PAPER_TERMS
    yield from (name for name in sorted(REGISTERED) if name not in PAPER_TERMS)


def _discover_all() -> None:
    for folder in FOLDERS:
        _discover(folder)


@cache
def _discover(folder: str) -> None:
    """Import every module of a folder, which registers the terms that it defines."""
    for module in pkgutil.iter_modules(import_module(folder).__path__, f"{folder}."):
        import_module(module.name)
