"""Checks of what the author of a term wrote: the class when it is registered, and the columns when they are made."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.terms.term import Term

__all__ = ["check_column", "check_finite", "check_learned", "check_term_class"]

#: What a fixed term can require: the inputs that describe classes.  Learned terms can also require embeddings.
CLASS_INPUTS = tuple(field.name for field in fields(ClassTable) if field.default is None)
#: What a learned term must override.  Without one of these it could be fitted, but not kept or extended.
OF_LEARNED_TERMS = ("learn", "for_classes", "arrays", "from_arrays")


def check_term_class(kind: type[Term], name: object) -> None:
    """Raise an error if the class of a term lacks something that will be needed later."""
    if not isinstance(name, str) or not name:
        raise InputError(f"{kind.__name__} has the name {name!r}; give the class an attribute name, such as 'my_term'")
    if getattr(kind, "__abstractmethods__", ()):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise InputError(f"the term {name!r} does not override {missing}; see docs/adding-a-term.md")
    if kind.learns:
        for method in OF_LEARNED_TERMS:
            if _function(kind, method) is _function(Term, method):
                raise InputError(
                    f"the term {name!r} sets learns = True but does not override {method}; see docs/adding-a-term.md"
                )
    allowed = (*CLASS_INPUTS, "embeddings") if kind.learns else CLASS_INPUTS
    for field in kind.requires:
        if field not in allowed:
            sort = "learned" if kind.learns else "fixed"
            raise InputError(f"the term {name!r} requires {field!r}; a {sort} term can require {', '.join(allowed)}")


def check_column(term: Term, column: object, shape: tuple[int, ...]) -> FloatArray:
    """Return the column that a term made, or raise an error if it does not have one number per candidate."""
    if not isinstance(column, np.ndarray) or column.shape != shape:
        returned = f"an array of shape {column.shape}" if isinstance(column, np.ndarray) else repr(column)
        raise InputError(f"column of the term {term.name!r} returned {returned}; expected an array of shape {shape}")
    return column


def check_learned(kind: type[Term], learned: object, shape: tuple[int, int]) -> tuple[Term, FloatArray]:
    """Return what `learn` returned, or raise an error if it is not a term with its columns for the covered rows."""
    expected = f"the term and an array of shape ({shape[0]}, {shape[1]}, number of columns)"
    if not isinstance(learned, tuple) or len(learned) != 2 or not isinstance(learned[0], Term):
        raise InputError(f"learn of the term {kind.name!r} returned {type(learned).__name__}; expected {expected}")
    term, columns = learned
    if not isinstance(columns, np.ndarray) or columns.ndim != 3 or columns.shape[:2] != shape:
        returned = f"columns of shape {columns.shape}" if isinstance(columns, np.ndarray) else repr(columns)
        raise InputError(f"learn of the term {kind.name!r} returned {returned}; expected {expected}")
    return term, columns


def check_finite(terms: tuple[Term, ...], widths: tuple[int, ...], columns: AnyArray) -> None:
    """Raise an error that names the first term with a NaN or an infinite number in its columns."""
    names = np.repeat([term.name for term in terms], widths)
    for name, column in zip(names, np.moveaxis(columns, -1, 0), strict=True):
        if not np.isfinite(column).all():
            row, candidate = (int(index) for index in np.argwhere(~np.isfinite(column))[0])
            raise InputError(
                f"the term {str(name)!r} has the value {column[row, candidate]} for candidate {candidate} of covered "
                f"row {row}; a column must consist of finite numbers"
            )


def _function(kind: type, method: str) -> object:
    """Return a method without the class that it is bound to."""
    bound = getattr(kind, method)
    return getattr(bound, "__func__", bound)
