"""Files of embeddings: one vector for each row, and labelled reference rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from repair.arrays import AnyArray
from repair.cli.options import ReferenceOptions
from repair.cli.output import note
from repair.errors import InputError
from repair.estimator import ShortlistReranker
from repair.io import ScoreFile
from repair.io.array_files import read_archive, read_array
from repair.io.formats import format_of, in_file
from repair.reference import check_embeddings

__all__ = ["with_reference", "with_vectors", "with_vectors_for"]

#: What the array of vectors may be called in an ``.npz`` file.
NAMES = ("embeddings", "vectors")


def with_vectors(file: ScoreFile, path: Path | None) -> ScoreFile:
    """Return the rows with the vectors of a file; by row id where both files have ids, else in their order."""
    if path is None:
        return file
    arrays = _arrays(path)
    with in_file(path):
        vectors = _vectors(arrays)
        if "row_ids" in arrays and file.row_ids is not None:
            vectors = vectors[_places(arrays["row_ids"], len(vectors), file.row_ids)]
        check_embeddings(vectors, "embeddings", len(file))
    return replace(file, rows=replace(file.rows, embeddings=vectors))


def with_vectors_for(model: ShortlistReranker, file: ScoreFile, path: Path | None) -> ScoreFile:
    """Return the rows with the vectors of a file, and say so if the fitted model looks at none."""
    if path is not None and model._fitted().correction.embedding_width is None:
        note(f"this model looks at no embeddings; {path} changes nothing")
    return with_vectors(file, path)


def with_reference(file: ScoreFile, options: ReferenceOptions) -> ScoreFile:
    """Return the rows with labelled reference rows; the labels may lie beside the vectors."""
    path, labels_path = options.reference_embeddings, options.reference_labels
    if path is None:
        if labels_path is not None:
            raise InputError("--reference-labels belong to vectors; give --reference-embeddings too")
        return file
    arrays = _arrays(path)
    labels = arrays.get("labels")
    if labels_path is not None:
        beside = _arrays(labels_path)
        labels = beside.get("labels", beside.get("")) if labels_path != path else labels
    if labels is None:
        raise InputError(f"{labels_path or path} has no array 'labels'; give --reference-labels FILE.npy, or save one")
    with in_file(path):
        vectors = _vectors(arrays)
        check_embeddings(vectors, "embeddings", labels.size)
    return replace(file, rows=replace(file.rows, reference_embeddings=vectors, reference_labels=labels))


def _arrays(path: Path) -> dict[str, AnyArray]:
    """Return a file's arrays by name; the one of an ``.npy`` file has none."""
    kind = format_of(path).kind
    with in_file(path):
        if kind == "npy":
            return {"": np.asarray(read_array(path))}
        if kind == "npz":
            return read_archive(path)
        raise InputError("vectors and their labels are read from .npy and .npz files; save them with numpy")


def _vectors(arrays: dict[str, AnyArray]) -> AnyArray:
    key = next((one for one in ("", *NAMES) if one in arrays), None)
    if key is None:
        present = ", ".join(map(repr, arrays)) or "none"
        raise InputError(f"save the vectors as array 'embeddings'; the file has {present}")
    return arrays[key]


def _places(given: AnyArray, n_vectors: int, wanted: AnyArray) -> list[int]:
    """Return where the vector of each wanted row is."""
    listed = list(map(str, given.ravel().tolist()))
    place_of = {name: place for place, name in enumerate(listed)}
    if len(listed) != n_vectors or len(place_of) != n_vectors:
        raise InputError(f"row_ids must name each of the {n_vectors} vectors once")
    missing = next((one for one in map(str, wanted.tolist()) if one not in place_of), None)
    if missing is not None:
        raise InputError(f"there is no vector for row {missing!r}; give every row one")
    return [place_of[one] for one in map(str, wanted.tolist())]
