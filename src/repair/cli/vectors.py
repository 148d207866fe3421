"""Reading files of embeddings: one vector per row, and labelled reference rows."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from repair._utils.arrays import AnyArray
from repair.cli.options import ReferenceOptions
from repair.cli.output import note
from repair.data.embeddings import check_embeddings
from repair.errors import InputError
from repair.io import ScoreFile
from repair.io.array_files import read_archive, read_array
from repair.io.class_index import positions_of
from repair.io.formats import format_of, in_file
from repair.rerankers.base import ShortlistReranker

__all__ = ["with_reference", "with_vectors", "with_vectors_for"]

#: Names that the array of vectors may have in an ``.npz`` file.
NAMES = ("embeddings", "vectors")


def with_vectors(file: ScoreFile, path: Path | None) -> ScoreFile:
    """Return the rows with the vectors of a file, matched by row id if both files have ids, otherwise by order."""
    if path is None:
        return file
    arrays = _arrays(path)
    with in_file(path):
        vectors = _vectors(arrays)
        if "row_ids" in arrays and file.row_ids is not None:
            vectors = vectors[_vector_numbers(arrays["row_ids"], len(vectors), file.row_ids)]
        elif file.kept is not None and len(vectors) == len(file.kept):
            vectors = vectors[file.kept]
        check_embeddings(vectors, "embeddings", len(file))
    return replace(file, rows=replace(file.rows, embeddings=vectors))


def with_vectors_for(model: ShortlistReranker, file: ScoreFile, path: Path | None) -> ScoreFile:
    """Return the rows with the vectors of a file, and print a note if the model does not use embeddings."""
    if path is not None and model.state.correction.embedding_width is None:
        note(f"this model does not use embeddings, so {path} has no effect")
    return with_vectors(file, path)


def with_reference(file: ScoreFile, options: ReferenceOptions) -> ScoreFile:
    """Return the rows with labelled reference rows.  Vectors and labels may be in the same file."""
    path, labels_path = options.reference_embeddings, options.reference_labels
    if path is None:
        if labels_path is not None:
            raise InputError("--reference-labels needs --reference-embeddings; add that option, or drop this one")
        return file
    arrays = _arrays(path)
    labels = arrays.get("labels")
    if labels_path is not None:
        label_arrays = _arrays(labels_path)
        labels = label_arrays.get("labels", label_arrays.get("")) if labels_path != path else labels
    if labels is None:
        raise InputError(f"{labels_path or path} has no array 'labels'; add it, or give --reference-labels FILE.npy")
    with in_file(path):
        vectors = _vectors(arrays)
        check_embeddings(vectors, "embeddings", labels.size)
    return replace(file, rows=replace(file.rows, reference_embeddings=vectors, reference_labels=labels))


def _arrays(path: Path) -> dict[str, AnyArray]:
    """Return the arrays of a file by name.  The array of an ``.npy`` file has the name ''."""
    kind = format_of(path).kind
    with in_file(path):
        if kind == "npy":
            return {"": np.asarray(read_array(path))}
        if kind == "npz":
            return read_archive(path)
        raise InputError("vectors and their labels must be .npy or .npz files; save them with numpy")


def _vectors(arrays: dict[str, AnyArray]) -> AnyArray:
    key = next((name for name in ("", *NAMES) if name in arrays), None)
    if key is None:
        present = ", ".join(map(repr, arrays)) or "none"
        raise InputError(f"there is no array 'embeddings'; the file has {present}; save the vectors under this name")
    return arrays[key]


def _vector_numbers(vector_ids: AnyArray, n_vectors: int, row_ids: AnyArray) -> AnyArray:
    """Return the number of the vector of each row."""
    ids = list(map(str, vector_ids.ravel().tolist()))
    if len(ids) != n_vectors or len(set(ids)) != n_vectors:
        raise InputError(f"row_ids must have one id for each of the {n_vectors} vectors, without repetition")
    wanted = list(map(str, row_ids.tolist()))
    return positions_of(ids, wanted, lambda row_id: f"there is no vector for row {row_id!r}; give every row one vector")
