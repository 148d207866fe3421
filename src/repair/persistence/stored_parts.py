"""The parts of a model file: the class table, the terms, the summary, the choice and the shrinkage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair._utils.json import plain
from repair.data.class_table import ClassTable
from repair.data.score_scale import AS_THEY_ARE, SCORE_TYPES, WITH_FLOOR, ScoreScale
from repair.errors import ArtifactError, InputError, Remedy
from repair.model.adjustments import check_dial
from repair.model.choice import Choice
from repair.model.shrinkage import GroupPrior, Shrinkage
from repair.model.state import FitSummary
from repair.persistence.field_reader import FieldReader
from repair.similarity import DenseSimilarity, FunctionSimilarity, Similarity, SparseSimilarity, as_similarity
from repair.terms.registry import choose_fixed_terms, names_of, term_class, term_named
from repair.terms.term import Term
from repair.validation.checks import ValueNames

__all__ = [
    "class_arrays",
    "read_choice",
    "read_class_table",
    "read_columns",
    "read_scale",
    "read_shrinkage",
    "read_summary",
    "read_terms",
    "shrinkage_arrays",
    "similarity_kind",
    "term_arrays",
]

#: Roles of the columns of a score file whose names a model remembers.
COLUMN_ROLES = ("row", "candidate", "score", "label", "group", "weight")


def class_arrays(table: ClassTable) -> dict[str, AnyArray | None]:
    """Return the class-level inputs by their names in the file.  Inputs that were not given are None."""
    arrays: dict[str, AnyArray | None] = {
        "class_counts": table.class_counts,
        "weight_norms": table.weight_norms,
        "class_groups": table.class_groups,
        "class_weights": table.class_weights,
    }
    if isinstance(table.similarity, DenseSimilarity):
        arrays["similarity.table"] = table.similarity.table
    if isinstance(table.similarity, SparseSimilarity):
        arrays["similarity.keys"] = table.similarity.keys
        arrays["similarity.values"] = table.similarity.values
    if table.class_names is not None:
        # Names are stored as arrays, because a million of them would not fit into the header of the format.
        encoded = [name.encode("utf-8", "surrogatepass") for name in table.class_names]
        arrays["class_names.utf8"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["class_names.ends"] = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return arrays


def similarity_kind(similarity: Similarity | None) -> str:
    """Return the name of this kind of similarity in the file."""
    kinds = {DenseSimilarity: "dense", SparseSimilarity: "sparse", FunctionSimilarity: "function"}
    return "none" if similarity is None else kinds[type(similarity)]


def read_class_table(reader: FieldReader, n_classes: int, similarity: Any) -> ClassTable:
    """Read the class-level inputs."""
    table = ClassTable(
        n_classes,
        class_counts=reader.optional_vector("class_counts", n_classes, low=0.0),
        similarity=_similarity(reader, n_classes, similarity),
        class_names=_read_names(reader, n_classes),
        weight_norms=reader.optional_vector("weight_norms", n_classes, low=0.0),
        class_groups=reader.optional_codes("class_groups", n_classes),
        class_weights=reader.optional_vector("class_weights", n_classes, low=0.0),
    )
    if table.class_counts is not None and not table.class_counts.sum() > 1.0:
        raise reader.refuse("class_counts must add up to more than 1")
    if table.weight_norms is not None and not (table.weight_norms > 0).all():
        raise reader.refuse("weight_norms must be positive")
    if table.class_weights is not None and not table.class_weights.any():
        raise reader.refuse("class_weights are zero everywhere")
    return table


def _similarity(reader: FieldReader, n_classes: int, given: Any) -> Similarity | None:
    kind = reader.text("similarity")
    if given is not None and kind != "function":
        raise InputError(f"similarity was passed, but {reader.path} contains one ({kind}); leave the argument out")
    if kind == "none":
        return None
    if kind == "function":
        if not callable(given):
            raise ArtifactError(
                f"{reader.path}: the model was fitted with a similarity function, which a file cannot contain",
                Remedy("pass-function", "pass it as load(path, similarity=function)"),
            )
        return as_similarity(given, n_classes)
    if kind == "dense":
        return DenseSimilarity(reader.matrix("similarity.table", n_classes))
    if kind != "sparse":
        raise reader.refuse(f"similarity is {kind!r}; expected none, dense, sparse or function")
    keys = reader.array("similarity.keys", ("I64",), 1)
    values = reader.vector("similarity.values", len(keys))
    if len(keys) and not (keys[0] >= 0 and keys[-1] < n_classes**2 and (keys[1:] > keys[:-1]).all()):
        raise reader.refuse(f"similarity.keys must increase strictly and lie between 0 and {n_classes}² − 1")
    return SparseSimilarity(keys, values, n_classes)


def term_arrays(terms: Sequence[Term]) -> dict[str, AnyArray]:
    """Return the arrays of all terms, with the name of the term as prefix."""
    return {f"{term.name}.{name}": array for term in terms for name, array in term.arrays().items()}


def read_terms(reader: FieldReader, table: ClassTable) -> tuple[Term, ...]:
    """Read the terms, or raise an error if one of them is invalid."""
    terms = [_term(entry, reader, table) for entry in reader.sequence("terms")]
    if len({term.name for term in terms}) != len(terms):
        raise reader.refuse("terms repeats a name")
    widths = {term.embedding_width for term in terms} - {None}
    if len(widths) > 1:
        raise reader.refuse(f"terms need embeddings of different widths: {sorted(map(str, widths))}")
    return tuple(terms)


def _term(entry: Any, reader: FieldReader, table: ClassTable) -> Term:
    expected = {"name", "multiplicity", "description"}
    if not isinstance(entry, dict) or set(entry) != expected or not isinstance(entry["description"], dict):
        raise reader.refuse(f"terms has the entry {entry!r}; expected name, multiplicity and description")
    name, multiplicity = entry["name"], entry["multiplicity"]
    try:
        kind = term_class(name)
    except InputError:
        if isinstance(name, str):
            raise ArtifactError(
                f"{reader.path}: the model uses the term {name!r}, which this version does not have; if it is a term "
                "of your own, import its module before you load the model"
            ) from None
        raise reader.refuse(f"terms has the entry {name!r}, which is not the name of a term") from None
    try:
        if not kind.learns:
            return _fixed(str(name), multiplicity, table)
        term = kind.from_arrays(reader.arrays_of(str(name)), entry["description"], table)
    except InputError as error:
        raise reader.refuse(f"term {name!r}: {error}") from None
    if multiplicity != 1 or plain(term.description()) != entry["description"]:
        raise reader.refuse(f"term {name!r} is described as {entry!r}, which does not match its arrays")
    return term


def _fixed(name: str, multiplicity: object, table: ClassTable) -> Term:
    """Return a fixed term.  One that replaces several equal columns is built from all of its names."""
    for field in term_named(name).requires:
        table.require(field, f"the term {name!r}")
    for names in ((name,), names_of(term_class(name))):
        (term,) = choose_fixed_terms(names, table)
        if term.name == name and term.multiplicity == multiplicity and not isinstance(multiplicity, bool):
            return term
    raise InputError(f"multiplicity is {multiplicity!r}")


def read_summary(reader: FieldReader) -> FitSummary:
    """Read the summary of the fit."""
    summary = reader.section("summary")
    notes = summary.sequence("notes")
    if not all(isinstance(note, str) for note in notes):
        raise reader.refuse("summary.notes must be a list of texts")
    n_rows, n_covered = summary.integer("n_rows", 1), summary.integer("n_covered", 1)
    n_unknown = summary.integer("n_unknown", 0)
    if n_covered + n_unknown > n_rows:
        raise reader.refuse(f"summary has {n_covered} covered and {n_unknown} unknown of {n_rows} rows")
    effective_rows = summary.number("effective_rows")
    if not effective_rows > 0:
        raise reader.refuse(f"summary.effective_rows is {effective_rows:g}, not a positive number")
    return FitSummary(
        mode=summary.text("mode"),
        n_rows=n_rows,
        n_covered=n_covered,
        n_unknown=n_unknown,
        effective_rows=effective_rows,
        objective=summary.optional_number("objective"),
        gradient_norm=summary.optional_number("gradient_norm"),
        iterations=summary.integer("iterations", 0),
        converged=summary.boolean("converged"),
        notes=tuple(notes),
    )


def read_choice(reader: FieldReader) -> Choice:
    """Read the hyperparameters that the fit chose."""
    given, names = reader.mapping("choice"), {field.name for field in fields(Choice)}
    kinds: dict[str, type | tuple[type, ...]] = {
        "mode": str,
        "shrinkage": str,
        "terms": list,
        "dial": (int, float, str),
    }
    for name, value in given.items():
        if name not in names:
            raise reader.refuse(f"choice has the entry {name!r}, which is not a hyperparameter that a fit chooses")
        kind = kinds.get(name, (int, float))
        if isinstance(value, bool) or not isinstance(value, kind):
            raise reader.refuse(f"choice.{name} is {value!r}, which has the wrong type")
    if "dial" in given:
        try:
            check_dial(given["dial"])
        except InputError as error:
            raise reader.refuse(f"choice: {error}") from None
    terms = given.get("terms")
    if terms is not None and not all(isinstance(name, str) for name in terms):
        raise reader.refuse(f"choice.terms is {terms!r}, not a list of names")
    return Choice(**{**given, **({} if terms is None else {"terms": tuple(terms)})})


def _read_names(reader: FieldReader, n_classes: int) -> tuple[str, ...] | None:
    """Read the class names, which may stand for whole numbers or booleans."""
    names = reader.names("class_names", n_classes)
    kind = reader.text("class_values") if reader.has("class_values") else "text"
    if kind == "text" or names is None:
        return names
    fits = {"int": lambda name: name.removeprefix("-").isdecimal(), "bool": lambda name: name in ("True", "False")}
    if kind not in fits or not all(map(fits[kind], names)):
        raise reader.refuse(f"class_values is {kind!r}, which does not fit the class names")
    return ValueNames(names, kind)


def read_columns(reader: FieldReader) -> dict[str, str]:
    """Read the names of the columns of the calibration file."""
    columns = reader.mapping("columns") if reader.has("columns") else {}
    for role, name in columns.items():
        if role not in COLUMN_ROLES or not isinstance(name, str):
            raise reader.refuse(f"columns.{role} is {name!r}, not the name of a column with a known role")
    return columns


def read_scale(reader: FieldReader) -> ScoreScale:
    """Read how scores are converted.  Files that were written before there were conversions have none."""
    if not reader.has("scale"):
        return AS_THEY_ARE
    described = reader.section("scale")
    kind, floor = described.text("kind"), described.number("floor")
    if kind not in SCORE_TYPES or not 0.0 <= floor <= 0.5:
        raise reader.refuse(f"scale.kind is {kind!r} and scale.floor is {floor:g}, which is not a known conversion")
    if kind in WITH_FLOOR and floor == 0.0:
        raise reader.refuse("scale.floor is 0, whose logarithm is infinite")
    return ScoreScale(kind, floor)


def shrinkage_arrays(shrinkage: Shrinkage) -> dict[str, AnyArray]:
    """Return the arrays of the group prior by their names in the file."""
    return {
        "shrinkage.groups": shrinkage.prior.groups,
        "shrinkage.means": shrinkage.prior.means,
        "shrinkage.variances": shrinkage.prior.variances,
        "shrinkage.factors": shrinkage.factors,
    }


def read_shrinkage(reader: FieldReader, n_classes: int) -> Shrinkage | None:
    """Read the group prior and the shrinkage factors, or return None if offsets were not shrunk."""
    if reader.is_null("shrinkage"):
        return None
    described = reader.section("shrinkage")
    groups = reader.array("shrinkage.groups", ("I32",), 1)
    means = reader.vector("shrinkage.means", None)
    if len(groups) != n_classes or groups.min() < 0 or groups.max() >= len(means):
        raise reader.refuse(
            f"shrinkage.groups must have one of {len(means)} group codes for each of {n_classes} classes"
        )
    prior = GroupPrior(groups, means, reader.vector("shrinkage.variances", len(means), low=0.0))
    factors = reader.vector("shrinkage.factors", n_classes, low=0.0)
    kind = described.text("kind")
    if kind not in ("eb", "paper") or factors.max() > 1.0:
        raise reader.refuse(
            f"shrinkage is {kind!r} with factors up to {factors.max():g}; expected eb or paper, and factors up to 1"
        )
    return Shrinkage(kind, prior, factors, described.integer("iterations", 0), described.boolean("converged"))
