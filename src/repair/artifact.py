"""The model file: one ``.safetensors`` with arrays and a JSON description, and never a pickle.

Writing is atomic.  Reading trusts nothing: every field's type, shape and range is checked before
a model is built from it, and a schema newer than this library knows is refused.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from repair import __version__
from repair.arrays import AnyArray, FloatArray
from repair.artifact_reader import FieldReader
from repair.artifact_terms import described_context, described_neighbours, learned_arrays, read_terms
from repair.class_table import ClassTable
from repair.correction import Correction
from repair.errors import ArtifactError, InputError
from repair.estimator import ShortlistReranker
from repair.files import write_atomically
from repair.fitted_state import FitAccount, FittedState
from repair.priors import LabelShares
from repair.shrinkage import GroupPrior, Shrinkage
from repair.similarity import (
    DenseSimilarity,
    FunctionSimilarity,
    Similarity,
    SparseSimilarity,
    as_similarity,
)
from repair.terms.context import Context
from repair.terms.neighbours import Neighbours

__all__ = ["load", "save_model"]

FORMAT = "repair-reranker"
SCHEMA = 1


def save_model(model: ShortlistReranker, path: "str | PathLike[str]") -> None:
    """Write a fitted model to `path`, whole or not at all."""
    from safetensors.numpy import save

    state = model._fitted()
    if type(model).__name__ not in _methods() or type(model) is not _methods()[type(model).__name__]:
        raise ArtifactError(f"{type(model).__name__} is not one of this library's methods; only those can be saved")
    arrays = _arrays_of(state)
    try:
        model._check_parameters(state.correction.table)
        description = _description_of(model, state)
        described = json.dumps(description, sort_keys=True, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ArtifactError(f"this {type(model).__name__} cannot be saved: {error}") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ArtifactError(f"this {type(model).__name__} cannot be saved: its {name} are not all finite")
    write_atomically(path, save(arrays, metadata={FORMAT: described}))


def load(path: "str | PathLike[str]", *, similarity: Any = None) -> ShortlistReranker:
    """Read a model that ``save`` wrote.

    Parameters
    ----------
    path : path
    similarity : callable, optional
        The similarity function, for a model that was fitted with one: code is never stored.

    Returns
    -------
    Reranker or one of the baselines, fitted.

    Raises
    ------
    ArtifactError
        If the file is truncated, foreign, damaged, or written by a newer schema.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from repair import Reranker, load
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 5, size=100)
    >>> scores = rng.normal(size=(100, 5)) + 2.0 * np.eye(5)[labels]
    >>> reranker = Reranker(n_candidates=3, mode="classwise").fit(scores, labels)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     reranker.save(path)
    ...     again = load(path)
    >>> bool((again.rerank(scores).ids == reranker.rerank(scores).ids).all())
    True
    """
    with FieldReader.open(path, FORMAT) as reader:
        schema = reader.integer("schema", 1)
        if schema > SCHEMA:
            raise ArtifactError(
                f"{reader.path}: schema {schema} is newer than {SCHEMA}, the newest this version "
                f"({__version__}) reads; upgrade repair-rerank"
            )
        reader.text("library_version")
        row_level = reader.boolean("row_level_content")
        state = _state_from(reader, similarity)
        if row_level != any(isinstance(term, Context | Neighbours) for term in state.correction.terms):
            raise reader.refuse(f"row_level_content is {row_level}, which is not what the terms say")
        model = _method_from(reader, state)
        reader.finish()
    model._state = state
    return model


def _methods() -> dict[str, type[ShortlistReranker]]:
    from repair import baselines
    from repair.reranker import Reranker

    known: list[type[ShortlistReranker]] = [
        Reranker,
        baselines.Base,
        baselines.LogitAdjustment,
        baselines.TauNormalization,
        baselines.Temperature,
        baselines.ClasswiseTemperature,
    ]
    return {method.__name__: method for method in known}


def _description_of(model: ShortlistReranker, state: FittedState) -> dict[str, Any]:
    correction, shrinkage = state.correction, state.shrinkage
    return {
        "schema": SCHEMA,
        "library_version": __version__,
        "method": type(model).__name__,
        "parameters": {name: _plain(getattr(model, name)) for name in model.parameters},
        "n_classes": correction.table.n_classes,
        "n_candidates": state.n_candidates,
        "tau": float(correction.tau),
        "strength": float(correction.strength),
        "terms": [{"name": term.name, "copies": term.copies} for term in correction.terms],
        "context": described_context(correction.terms),
        "neighbours": described_neighbours(correction.terms),
        "similarity": _kind_of(correction.table.similarity),
        "labels_are_names": state.labels_are_names,
        "account": asdict(state.account),
        "shrinkage": None
        if shrinkage is None
        else {"kind": shrinkage.kind, "iterations": shrinkage.iterations, "converged": shrinkage.converged},
        "row_level_content": any(isinstance(term, Context | Neighbours) for term in correction.terms),
    }


def _plain(value: Any) -> Any:
    """Turn a constructor argument into what JSON holds."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value


def _kind_of(similarity: Similarity | None) -> str:
    kinds = {DenseSimilarity: "dense", SparseSimilarity: "sparse", FunctionSimilarity: "function"}
    return "none" if similarity is None else kinds[type(similarity)]


def _arrays_of(state: FittedState) -> dict[str, AnyArray]:
    correction, table, shrinkage = state.correction, state.correction.table, state.shrinkage
    arrays: dict[str, AnyArray | None] = {
        "offsets": correction.offsets,
        "weights": correction.weights,
        "scale": correction.scale,
        "label_counts": state.label_counts,
        "calibration_prior": state.calibration_prior,
        "class_counts": table.class_counts,
        "information": state.information,
        "list_adjustment": state.list_adjustment,
        **learned_arrays(correction.terms),
    }
    if isinstance(table.similarity, DenseSimilarity):
        arrays["similarity.table"] = table.similarity.table
    if isinstance(table.similarity, SparseSimilarity):
        arrays["similarity.keys"] = table.similarity.keys
        arrays["similarity.values"] = table.similarity.values
    if table.class_names is not None:
        # Arrays, because a million names would not fit into the format's limited header.
        encoded = [name.encode("utf-8", "surrogatepass") for name in table.class_names]
        arrays["class_names.utf8"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays["class_names.ends"] = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    if shrinkage is not None:
        arrays["shrinkage.groups"] = shrinkage.prior.groups
        arrays["shrinkage.means"] = shrinkage.prior.means
        arrays["shrinkage.variances"] = shrinkage.prior.variances
        arrays["shrinkage.factors"] = shrinkage.factors
    return {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}


def _method_from(reader: FieldReader, state: FittedState) -> ShortlistReranker:
    name = reader.text("method")
    from repair.reranker import MODES

    methods = _methods()
    if name not in methods:
        raise reader.refuse(f"method is {name!r}, which this version does not know")
    parameters = reader.mapping("parameters")
    different = set(parameters) ^ set(methods[name].parameters)
    if different:
        raise reader.refuse(f"parameters has {sorted(different)[0]!r} too many or too few for {name}")
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    model = methods[name](**given)
    try:
        model._check_parameters(state.correction.table)
    except InputError as error:
        raise reader.refuse(f"parameters cannot be: {error}") from None
    strange = set(state.account.chosen) - set(parameters)
    if strange:
        raise reader.refuse(f"account.chosen holds {sorted(strange)[0]!r}, which {name} does not choose")
    if state.account.mode != model.mode_name and not (model.mode_name == "auto" and state.account.mode in MODES):
        raise reader.refuse(f"account.mode is {state.account.mode!r}, which is not what {name} fits")
    return model


def _state_from(reader: FieldReader, similarity: Any) -> FittedState:
    n_classes = reader.integer("n_classes", 2)
    n_candidates = reader.integer("n_candidates", 1)
    if n_candidates > n_classes:
        raise reader.refuse(f"n_candidates is {n_candidates}, more than the {n_classes} classes")
    table = ClassTable(
        n_classes,
        class_counts=reader.optional_vector("class_counts", n_classes, low=0.0),
        similarity=_similarity_from(reader, n_classes, similarity),
        class_names=reader.names("class_names", n_classes),
    )
    if table.class_counts is not None and not table.class_counts.sum() > 1.0:
        raise reader.refuse("class_counts do not add up to more than 1")
    terms = read_terms(reader, table)
    tau = reader.number("tau")
    if abs(tau) > 10.0 or (tau != 0.0 and table.class_counts is None):
        raise reader.refuse(f"tau is {tau:g}, which is out of range or lacks class_counts")
    scale = reader.vector("scale", None, low=0.0)
    if len(scale) not in (1, n_classes) or not (scale > 0).all():
        raise reader.refuse(f"scale must be 1 or {n_classes} positive numbers")
    strength = reader.number("strength")
    if not 0.0 <= strength <= 1.0:
        raise reader.refuse(f"strength is {strength:g}, not between 0 and 1")
    correction = Correction(
        table,
        tau,
        reader.vector("offsets", n_classes),
        terms,
        reader.vector("weights", len(terms)),
        scale,
        strength,
    )
    prior = reader.vector("calibration_prior", n_classes, low=0.0)
    if not (prior > 0).all() or abs(float(prior.sum()) - 1.0) > 1e-6:
        raise reader.refuse("calibration_prior must be positive and add up to 1")
    account = _account_from(reader)
    return FittedState(
        correction=correction,
        n_candidates=n_candidates,
        labels_are_names=reader.boolean("labels_are_names") and _need_names(reader, table),
        label_counts=reader.vector("label_counts", n_classes, low=0.0),
        label_shares=LabelShares(prior),
        account=account,
        information=reader.optional_vector("information", n_classes, low=0.0),
        list_adjustment=_adjustment_from(reader, table, account),
        shrinkage=_shrinkage_from(reader, n_classes),
    )


def _adjustment_from(reader: FieldReader, table: ClassTable, account: FitAccount) -> FloatArray | None:
    """Read by what shortlists are chosen; it must be what the chosen τ and the counts give."""
    adjustment = reader.optional_vector("list_adjustment", table.n_classes)
    tau = account.chosen.get("shortlist_tau")
    if isinstance(tau, bool) or not (tau is None or (isinstance(tau, int | float) and 0.0 <= tau <= 10.0)):
        raise reader.refuse(f"account.chosen.shortlist_tau is {tau!r}, not a number from 0 to 10")
    if (adjustment is not None) != bool(tau) or (tau and table.class_counts is None):
        raise reader.refuse(f"list_adjustment does not belong to shortlist_tau = {tau!r} and class_counts")
    if adjustment is not None and not np.allclose(adjustment, -float(tau or 0.0) * table.log_counts, atol=1e-9):
        raise reader.refuse("list_adjustment is not what shortlist_tau and class_counts give")
    return adjustment


def _need_names(reader: FieldReader, table: ClassTable) -> bool:
    if table.class_names is None:
        raise reader.refuse("labels_are_names is set, but there are no class_names")
    return True


def _similarity_from(reader: FieldReader, n_classes: int, given: Any) -> Similarity | None:
    kind = reader.text("similarity")
    if given is not None and kind != "function":
        raise InputError(f"similarity was passed, but {reader.path} holds its own ({kind}); leave the argument out")
    if kind == "none":
        return None
    if kind == "function":
        if not callable(given):
            raise ArtifactError(
                f"{reader.path}: the model was fitted with a similarity function, which a file cannot hold; "
                "pass it as load(path, similarity=function)"
            )
        return as_similarity(given, n_classes)
    if kind == "dense":
        return DenseSimilarity(reader.matrix("similarity.table", n_classes))
    if kind != "sparse":
        raise reader.refuse(f"similarity is {kind!r}; expected none, dense, sparse or function")
    keys = reader.array("similarity.keys", ("I64",), 1)
    values = reader.vector("similarity.values", len(keys))
    if len(keys) and not (keys[0] >= 0 and keys[-1] < n_classes**2 and (keys[1:] > keys[:-1]).all()):
        raise reader.refuse(f"similarity.keys must rise strictly from 0 to less than {n_classes}²")
    return SparseSimilarity(keys, values, n_classes)


def _account_from(reader: FieldReader) -> FitAccount:
    account = reader.section("account")
    notes = account.sequence("notes")
    if not all(isinstance(note, str) for note in notes):
        raise reader.refuse("account.notes must be text")
    n_rows = account.integer("n_rows", 1)
    n_covered = account.integer("n_covered", 1)
    n_unknown = account.integer("n_unknown", 0)
    if n_covered + n_unknown > n_rows:
        raise reader.refuse(f"account says {n_covered} covered and {n_unknown} unknown of {n_rows} rows")
    effective_rows = account.number("effective_rows")
    if not effective_rows > 0:
        raise reader.refuse(f"account.effective_rows is {effective_rows:g}")
    return FitAccount(
        mode=account.text("mode"),
        n_rows=n_rows,
        n_covered=n_covered,
        n_unknown=n_unknown,
        effective_rows=effective_rows,
        objective=account.optional_number("objective"),
        gradient_norm=account.optional_number("gradient_norm"),
        iterations=account.integer("iterations", 0),
        converged=account.boolean("converged"),
        notes=tuple(notes),
        chosen=account.mapping("chosen"),
    )


def _shrinkage_from(reader: FieldReader, n_classes: int) -> Shrinkage | None:
    if reader.is_null("shrinkage"):
        return None
    account = reader.section("shrinkage")
    groups = reader.array("shrinkage.groups", ("I32",), 1)
    means = reader.vector("shrinkage.means", None)
    if len(groups) != n_classes or groups.min() < 0 or groups.max() >= len(means):
        raise reader.refuse(f"shrinkage.groups must name one of {len(means)} groups for each of {n_classes} classes")
    prior = GroupPrior(groups, means, reader.vector("shrinkage.variances", len(means), low=0.0))
    factors = reader.vector("shrinkage.factors", n_classes, low=0.0)
    kind = account.text("kind")
    if kind not in ("eb", "paper") or factors.max() > 1.0:
        raise reader.refuse(f"shrinkage is {kind!r} with factors up to {factors.max():g}")
    return Shrinkage(kind, prior, factors, account.integer("iterations", 0), account.boolean("converged"))
