"""Terms in a model file: the names of the fixed ones, and the arrays of those that have learned."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from repair.arrays import AnyArray
from repair.artifact_reader import FieldReader
from repair.class_table import ClassTable
from repair.errors import InputError
from repair.terms import LEARNED_TERMS, Term, term_named
from repair.terms.competition import ScoreGap
from repair.terms.context import READS, Context
from repair.terms.head import Head
from repair.terms.neighbours import INDICES, VOTES, Neighbours

__all__ = ["described_context", "described_neighbours", "learned_arrays", "read_terms"]

#: Squared length of a vector of length 1 in float16, with room for rounding; votes of longer ones overflow.
LONGEST = 1.01


def learned_arrays(terms: Sequence[Term]) -> dict[str, AnyArray | None]:
    """Return the arrays of learned terms by their names in the file."""
    arrays: dict[str, AnyArray | None] = {}
    for term in terms:
        if isinstance(term, Context):
            arrays["context.basis"] = term.basis
            arrays["context.landmarks"] = term.landmarks
            arrays["context.matrix"] = term.matrices[0]
        if isinstance(term, Head):
            arrays["head.matrix"] = term.matrices[0]
        if isinstance(term, Neighbours):
            arrays["neighbours.vectors"] = term.vectors
            arrays["neighbours.labels"] = term.labels
            arrays["neighbours.mixture"] = term.mixture
    return arrays


def described_context(terms: Sequence[Term]) -> dict[str, Any] | None:
    """Say what the file holds of calibration rows' scores, if anything."""
    for term in terms:
        if isinstance(term, Context):
            rows, width = term.landmarks.shape
            return {"reads": term.reads, "rows": rows, "width": width, "dtype": "float32"}
    return None


def described_neighbours(terms: Sequence[Term]) -> dict[str, Any] | None:
    """Say what the file holds of labelled rows, if anything."""
    for term in terms:
        if isinstance(term, Neighbours):
            rows, width = term.vectors.shape
            return {"rows": rows, "width": width, "dtype": "float16", "index": term.index}
    return None


def read_terms(reader: FieldReader, table: ClassTable) -> tuple[Term, ...]:
    """Read the terms, refusing whatever is not as it should be."""
    terms: list[Term] = []
    for entry in reader.sequence("terms"):
        name, copies = (entry.get("name"), entry.get("copies")) if isinstance(entry, dict) else (None, None)
        if name in LEARNED_TERMS:
            if copies != 1:
                raise reader.refuse(f"term {name!r} has copies = {copies!r}")
            terms.append(_learned(str(name), reader, table))
        else:
            terms.append(_fixed(name, copies, reader, table))
    if len({term.name for term in terms}) != len(terms):
        raise reader.refuse("terms repeats a name")
    _check_widths(terms, reader)
    for name, kind in (("context", Context), ("neighbours", Neighbours)):
        if not any(isinstance(term, kind) for term in terms) and not reader.is_null(name):
            raise reader.refuse(f"{name} is described without the term {name!r}")
    return tuple(terms)


def _fixed(name: object, copies: object, reader: FieldReader, table: ClassTable) -> Term:
    try:
        term = term_named(name)  # type: ignore[arg-type]
    except InputError:
        raise reader.refuse(f"terms holds {name!r}, which this version does not know") from None
    if copies not in (1, 2) or isinstance(copies, bool) or (copies == 2 and name != "score_gap"):
        raise reader.refuse(f"term {name!r} has copies = {copies!r}")
    missing = [argument for argument in term.requires if getattr(table, argument) is None]
    if missing:
        raise reader.refuse(f"term {name!r} needs {missing[0]}, which the file lacks")
    return ScoreGap(copies=2) if copies == 2 else term


def _learned(name: str, reader: FieldReader, table: ClassTable) -> Term:
    if name == "context":
        return _context(reader, table)
    if name == "head":
        matrix = reader.array("head.matrix", ("F32",), 2)
        if len(matrix) != table.n_classes or matrix.shape[1] < 2 or not np.isfinite(matrix).all():
            raise reader.refuse(f"head.matrix of shape {matrix.shape} must hold one finite row for each class")
        return Head(matrix[np.newaxis])
    vectors = reader.array("neighbours.vectors", ("F16",), 2)
    labels = reader.array("neighbours.labels", ("I32",), 1)
    if not len(labels) or len(labels) != len(vectors) or labels.min() < 0 or labels.max() >= table.n_classes:
        raise reader.refuse("neighbours.labels must name a class for each of neighbours.vectors")
    if not np.isfinite(vectors).all() or vectors.shape[1] < 1:
        raise reader.refuse("neighbours.vectors must be finite numbers")
    if np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32).max() > LONGEST:
        raise reader.refuse("neighbours.vectors must be of length 1, or 0")
    term = Neighbours(vectors, labels, reader.vector("neighbours.mixture", len(VOTES)))
    described = None if reader.is_null("neighbours") else reader.mapping("neighbours")
    index = None if described is None else described.get("index")
    if index not in INDICES or described != {**(described_neighbours([term]) or {}), "index": index}:
        raise reader.refuse(f"neighbours is {described!r}, which is not what the arrays hold")
    return replace(term, index=str(index))


def _context(reader: FieldReader, table: ClassTable) -> Context:
    basis, landmarks, matrix = (
        reader.array(f"context.{name}", ("F32",), 2) for name in ("basis", "landmarks", "matrix")
    )
    if not all(np.isfinite(one).all() for one in (basis, landmarks, matrix)):
        raise reader.refuse("context.basis, context.landmarks and context.matrix must hold finite numbers")
    if len(basis) != table.n_classes or basis.shape[1] != landmarks.shape[1] or not landmarks.size:
        raise reader.refuse(
            f"context.basis of shape {basis.shape} must turn each class into {landmarks.shape[1]} numbers"
        )
    if matrix.shape != (table.n_classes, len(landmarks)):
        raise reader.refuse(f"context.matrix of shape {matrix.shape} must have a row a class and a column a landmark")
    if np.einsum("ij,ij->i", landmarks, landmarks).max() > LONGEST:
        raise reader.refuse("context.landmarks must be of length 1, or 0")
    described = reader.mapping("context")
    term = Context(basis, landmarks, matrix[np.newaxis], str(described.get("reads")))
    if term.reads not in READS or described != described_context([term]):
        raise reader.refuse(f"context is {described!r}, which is not what the arrays hold")
    return term


def _check_widths(terms: Sequence[Term], reader: FieldReader) -> None:
    widths = {term.embedding_width for term in terms if isinstance(term, Neighbours | Head)}
    if len(widths) > 1:
        raise reader.refuse(f"neighbours and head look at embeddings of different widths: {sorted(widths)}")
