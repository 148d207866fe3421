"""Registering terms by name.  The modules of terms use it, and `repair.terms.registry` finds terms with it."""

from __future__ import annotations

from collections.abc import Callable

from repair.errors import InputError
from repair.terms.term import Term
from repair.terms.term_checks import check_term_class

__all__ = ["REGISTERED", "register_term"]

#: The class of each registered term, and the function that makes the term, by name.
REGISTERED: dict[str, tuple[type[Term], Callable[[], Term]]] = {}


def register_term(kind: type[Term], make: Callable[[], Term] | None = None, name: str | None = None) -> type[Term]:
    """Register a term by name, so it can be chosen, saved and loaded.

    Use it as a decorator.  The terms of this library are found automatically.  Your own term is
    registered when its module is imported, so import the module before you load a model that uses
    the term.

    Parameters
    ----------
    kind : subclass of Term
        The class of the term.
    make : callable, optional
        Returns the term.  By default the class is called without arguments.
    name : str, optional
        Name to register the term under.  Defaults to the ``name`` of the class.

    Returns
    -------
    subclass of Term
        `kind`, unchanged.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from repair.terms import Term, register_term
    >>> @register_term
    ... @dataclass(frozen=True)
    ... class SecondChoice(Term):
    ...     name: str = "second_choice"
    ...     def column(self, view):
    ...         return (view.ranks == 1) * 1.0
    >>> from repair import Reranker
    >>> Reranker("pairwise", terms=("score_gap", "second_choice")).terms
    ('score_gap', 'second_choice')
    """
    registered = getattr(kind, "name", None) if name is None else name
    check_term_class(kind, registered)
    assert isinstance(registered, str)
    if registered in REGISTERED and not _same_class(REGISTERED[registered][0], kind):
        first, second = (_place(other) for other in (REGISTERED[registered][0], kind))
        raise InputError(f"two terms have the name {registered!r}: {first} and {second}; rename your own")
    REGISTERED[registered] = (kind, make or kind)
    return kind


def _same_class(first: type[Term], second: type[Term]) -> bool:
    """Return whether two classes come from the same lines, as after running a notebook cell again."""
    return _place(first) == _place(second)


def _place(kind: type[Term]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
