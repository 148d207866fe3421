"""The model file: one ``.safetensors`` file with arrays and a JSON description, without pickle.

Writing is atomic.  Reading checks the type, shape and range of every field before a model is built
from it, and raises an error if the schema is not the one of this version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair._utils.atomic_write import write_atomically
from repair._utils.json import plain
from repair._utils.version import __version__
from repair.data.class_table import ClassTable
from repair.errors import ArtifactError
from repair.model.correction import Correction
from repair.model.state import FittedState
from repair.persistence.field_reader import FieldReader
from repair.persistence.stored_fingerprint import describe_fingerprint, fingerprint_arrays, read_fingerprint
from repair.persistence.stored_parts import (
    class_arrays,
    read_choice,
    read_class_table,
    read_columns,
    read_scale,
    read_shrinkage,
    read_summary,
    read_terms,
    shrinkage_arrays,
    similarity_kind,
    term_arrays,
)
from repair.stats.label_shares import LabelShares

__all__ = ["FORMAT", "ModelFile", "describe_file", "read_model", "write_model"]

FORMAT = "repair-reranker"
SCHEMA = 2


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The content of a model file.

    Attributes
    ----------
    method : str
        Name of the reranker's class.
    parameters : mapping
        Arguments of its constructor, as JSON values.
    state : FittedState
        The fitted state.
    """

    method: str
    parameters: Mapping[str, Any]
    state: FittedState


def write_model(path: str | PathLike[str], model: ModelFile) -> None:
    """Write a model to `path` atomically.  If writing fails, an existing file is unchanged."""
    from safetensors.numpy import save

    arrays = _arrays_of(model.state)
    try:
        described = json.dumps(_description_of(model), sort_keys=True, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"this {model.method} cannot be saved: {error}") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ArtifactError(f"this {model.method} cannot be saved: {name} has values that are not finite")
    write_atomically(path, save(arrays, metadata={FORMAT: described}))


@contextmanager
def read_model(
    path: str | PathLike[str], similarity: Any = None
) -> Iterator[tuple[ModelFile, Callable[[str], ArtifactError]]]:
    """Read a model file, and yield its content and a function that returns the error for an invalid field.

    The file stays open until the caller is done.  It is then checked for fields that were not read.
    """
    with FieldReader.open(path, FORMAT) as reader:
        schema = reader.integer("schema", 1)
        if schema > SCHEMA:
            raise ArtifactError(
                f"{reader.path}: schema {schema} is newer than {SCHEMA}, the newest that this version "
                f"({__version__}) can read; upgrade repair-rerank"
            )
        if schema < SCHEMA:
            raise ArtifactError(
                f"{reader.path}: schema {schema} is from an unreleased version before {__version__}; "
                "fit the model again"
            )
        reader.text("library_version")
        row_level = reader.boolean("row_level_content")
        model = ModelFile(reader.text("method"), reader.mapping("parameters"), _state_from(reader, similarity))
        if row_level != model.state.correction.holds_rows:
            raise reader.refuse(f"row_level_content is {row_level}, which contradicts the terms")
        yield model, reader.refuse
        reader.finish()


def describe_file(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the description of a model file, without building a model from it."""
    with FieldReader.open(path, FORMAT) as reader:
        learned = {
            str(entry["name"]): entry["description"]
            for entry in reader.sequence("terms")
            if isinstance(entry, dict) and entry.get("description")
        }
        return {
            "library_version": reader.text("library_version"),
            "schema": reader.integer("schema", 1),
            "row_level_content": reader.boolean("row_level_content"),
            "kept_by_terms": learned,
            "arrays": reader.shapes(),
        }


def _description_of(model: ModelFile) -> dict[str, Any]:
    state = model.state
    correction, shrinkage = state.correction, state.shrinkage
    return {
        "schema": SCHEMA,
        "library_version": __version__,
        "method": model.method,
        "parameters": dict(model.parameters),
        "n_classes": correction.table.n_classes,
        "n_candidates": state.n_candidates,
        "n_ranked": state.width,
        "tau": float(correction.tau),
        "strength": float(correction.strength),
        "shortlist_tau": float(state.shortlist_tau),
        "terms": [
            {"name": term.name, "multiplicity": term.multiplicity, "description": plain(term.description())}
            for term in correction.terms
        ],
        "similarity": similarity_kind(correction.table.similarity),
        "labels_are_names": state.labels_are_names,
        "class_values": getattr(correction.table.class_names, "kind", "text"),
        "summary": asdict(state.summary),
        "choice": plain(state.choice),
        "shrinkage": None
        if shrinkage is None
        else {"kind": shrinkage.kind, "iterations": shrinkage.iterations, "converged": shrinkage.converged},
        "scale": {"kind": state.scale.kind, "floor": state.scale.floor},
        "columns": dict(state.columns),
        "fingerprint": describe_fingerprint(state.fingerprint),
        "row_level_content": correction.holds_rows,
    }


def _arrays_of(state: FittedState) -> dict[str, AnyArray]:
    correction = state.correction
    arrays: dict[str, AnyArray | None] = {
        "offsets": correction.offsets,
        "weights": correction.weights,
        "scale": correction.scale,
        "label_counts": state.label_counts,
        "calibration_prior": state.calibration_prior,
        "information": state.information,
        **class_arrays(correction.table),
        **term_arrays(correction.terms),
        **({} if state.shrinkage is None else shrinkage_arrays(state.shrinkage)),
        **fingerprint_arrays(state.fingerprint),
    }
    return {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}


def _state_from(reader: FieldReader, similarity: Any) -> FittedState:
    n_classes = reader.integer("n_classes", 2)
    n_candidates = reader.integer("n_candidates", 1)
    if n_candidates > n_classes:
        raise reader.refuse(f"n_candidates is {n_candidates}, more than the {n_classes} classes")
    n_ranked = reader.integer("n_ranked", n_candidates)
    if n_ranked > n_classes:
        raise reader.refuse(f"n_ranked is {n_ranked}, more than the {n_classes} classes")
    table = read_class_table(reader, n_classes, similarity)
    prior = reader.vector("calibration_prior", n_classes, low=0.0)
    if not (prior > 0).all() or abs(float(prior.sum()) - 1.0) > 1e-6:
        raise reader.refuse("calibration_prior must be positive and add up to 1")
    names = reader.boolean("labels_are_names")
    if names and table.class_names is None:
        raise reader.refuse("labels_are_names is set, but there are no class_names")
    choice, shortlist_tau = read_choice(reader), _number_with_counts(reader, table, "shortlist_tau", 0.0)
    if shortlist_tau != (choice.shortlist_tau or 0.0):
        raise reader.refuse(f"shortlist_tau is {shortlist_tau:g}, but choice.shortlist_tau is {choice.shortlist_tau}")
    return FittedState(
        correction=_correction_from(reader, table),
        n_candidates=n_candidates,
        labels_are_names=names,
        label_counts=reader.vector("label_counts", n_classes, low=0.0),
        label_shares=LabelShares(prior),
        summary=read_summary(reader),
        choice=choice,
        information=reader.optional_vector("information", n_classes, low=0.0),
        shrinkage=read_shrinkage(reader, n_classes),
        shortlist_tau=shortlist_tau,
        n_ranked=n_ranked,
        fingerprint=read_fingerprint(reader, n_classes),
        scale=read_scale(reader),
        columns=read_columns(reader),
    )


def _correction_from(reader: FieldReader, table: ClassTable) -> Correction:
    scale = reader.vector("scale", None, low=0.0)
    if len(scale) not in (1, table.n_classes) or not (scale > 0).all():
        raise reader.refuse(f"scale must be 1 or {table.n_classes} positive numbers")
    strength = reader.number("strength")
    if not 0.0 <= strength <= 1.0:
        raise reader.refuse(f"strength is {strength:g}, not between 0 and 1")
    terms = read_terms(reader, table)
    return Correction(
        table,
        _number_with_counts(reader, table, "tau", -10.0),
        reader.vector("offsets", table.n_classes),
        terms,
        reader.vector("weights", len(terms)),
        scale,
        strength,
    )


def _number_with_counts(reader: FieldReader, table: ClassTable, name: str, low: float) -> float:
    """Read an exponent of the class counts.  If it is not 0, the class counts must exist."""
    value = reader.number(name)
    if not low <= value <= 10.0 or (value != 0.0 and table.class_counts is None):
        raise reader.refuse(f"{name} is {value:g}, which is out of range or needs class_counts")
    return value
