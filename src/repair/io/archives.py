"""Score sets from ``.npz`` and ``.npy`` files, with classes by position unless there is an array ``class_names``."""

from typing import Any

import numpy as np

from repair._utils.arrays import PAD_ID, AnyArray
from repair.data.embeddings import check_embeddings
from repair.data.score_set import CLASS_FIELDS, ROW_FIELDS, SHAPES
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.io.class_index import ClassIndex
from repair.io.dense_tables import dense_matrix
from repair.io.rows import Rows
from repair.validation.checks import check_class_names, numeric_array

__all__ = ["rows_of_arrays"]

#: Arrays about classes and about rows, besides the class names and the scores.
CLASS_ARRAYS = tuple(name for name in CLASS_FIELDS if name != "class_names")
ROW_ARRAYS = (*(name for name in ROW_FIELDS if name != "scores"), "row_ids")


def rows_of_arrays(arrays: dict[str, AnyArray], classes: ClassIndex) -> Rows:
    """Return the rows of a ``.npz`` file.  Its classes are matched to the known ones by name."""
    lists = "candidate_ids" in arrays and "candidate_scores" in arrays
    if not lists and "scores" not in arrays:
        raise InputError(
            "there are no scores; save an array 'scores', or 'candidate_ids' and 'candidate_scores'; "
            f"the file has {', '.join(map(repr, list(arrays)[:12])) or 'no arrays'}"
        )
    used = ("candidate_ids", "candidate_scores") if lists else ("scores",)
    main = numeric_array(arrays[used[0]], used[0], 2)
    if 0 in main.shape:
        raise InputError(f"{used[0]} has shape {main.shape}; save at least one row and one column")
    file_names = _file_names(arrays)
    n_file = _count_classes(arrays, main, file_names, classes, lists=lists)
    names, new, position = _align(file_names, n_file, classes)
    n_classes = n_file if names is None else len(names)
    scores: AnyArray | Shortlist
    if lists:
        scores = _shortlist(arrays, main, n_file, n_classes, position)
    else:
        if main.shape[1] != n_file:
            raise InputError(
                f"scores has {main.shape[1]} columns, but there are {n_file} classes; save one column per class"
            )
        scores = dense_matrix(main)
        if position is not None:
            assert names is not None
            scores = _reordered(main, position, names)
    per_row: dict[str, Any] = {name: arrays[name] for name in ROW_ARRAYS if name in arrays}
    for name, values in per_row.items():
        if values.ndim != len(SHAPES.get(name, "n")) or len(values) != len(main):
            raise InputError(f"{name} has shape {values.shape}, but there are {len(main)} rows; save one entry per row")
    if "embeddings" in per_row:
        check_embeddings(per_row["embeddings"], "embeddings", len(main))
    if "labels" in per_row:
        per_row["labels"] = _labels(per_row["labels"], names, n_file, position)
    class_fields = {name: _per_class(arrays[name], name, n_file, position) for name in CLASS_ARRAYS if name in arrays}
    if position is not None and (new or len(position) < n_classes):
        class_fields = {}  # they have no entries for some of the classes
    other, notes = _others(arrays, {*used, *ROW_ARRAYS, *CLASS_ARRAYS, "class_names"}, len(main))
    return Rows(
        layout="candidates" if lists else "dense",
        scores=scores,
        class_names=names,
        new_classes=new,
        other=other,
        notes=(*notes, *_position_note(file_names, names)),
        class_fields=class_fields,
        **per_row,
    )


def text_array(values: AnyArray, name: str) -> AnyArray:
    """Return an array of text, with bytes decoded as UTF-8."""
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{name} contains bytes that are not UTF-8; save text (dtype str)") from None
    return values


def _file_names(arrays: dict[str, AnyArray]) -> tuple[str, ...] | None:
    if "class_names" not in arrays:
        return None
    given = text_array(arrays["class_names"], "class_names")
    if given.ndim != 1 or given.dtype.kind != "U":
        raise InputError(f"class_names has shape {given.shape} and dtype {given.dtype}; save one text per class")
    return check_class_names(given.tolist(), len(given))


def _count_classes(
    arrays: dict[str, AnyArray],
    main: AnyArray,
    file_names: tuple[str, ...] | None,
    classes: ClassIndex,
    *,
    lists: bool,
) -> int:
    """Return the number of classes that the ids or columns of the file refer to."""
    if file_names is not None:
        return len(file_names)
    if not lists:
        return int(main.shape[1])
    if classes.names is not None:
        return len(classes.names)
    for name in CLASS_ARRAYS:
        if name in arrays and arrays[name].ndim:
            return len(arrays[name])
    with np.errstate(invalid="ignore"):
        largest = float(np.nanmax(main, initial=1))
    labels = arrays.get("labels")
    if labels is not None and labels.dtype.kind in "iu" and labels.size:
        largest = max(largest, float(labels.max()))
    if not largest < 2**31 - 1:
        raise InputError(f"the largest entry of candidate_ids is {largest:g}; ids must be whole numbers from 0 to K−1")
    return int(largest) + 1


def _align(
    file_names: tuple[str, ...] | None, n_file: int, classes: ClassIndex
) -> tuple[tuple[str, ...] | None, tuple[str, ...], AnyArray | None]:
    """Return all class names, the new ones, and the id of each class of the file, or None if ids are unchanged."""
    if classes.names is None:
        return file_names, (), None
    if file_names is None:
        if n_file != len(classes.names):
            raise InputError(
                f"the file has scores for {n_file} classes, but {len(classes.names)} classes are known; "
                "save class_names too, so the classes can be matched by name"
            )
        return classes.names, (), None
    if file_names == classes.names:
        return file_names, (), None
    table_names = set(classes.names)
    new = tuple(name for name in file_names if name not in table_names)
    if new and not classes.append:
        raise InputError(
            f"class_names[{file_names.index(new[0])}] is {new[0]!r}, which is not among the "
            f"{len(table_names)} known classes; add it to the class table, or check its spelling"
        )
    names = (*classes.names, *new)
    id_of = {name: position for position, name in enumerate(names)}
    return names, new, np.array([id_of[name] for name in file_names], dtype=np.int64)


def _shortlist(
    arrays: dict[str, AnyArray], ids: AnyArray, n_file: int, n_classes: int, position: AnyArray | None
) -> Shortlist:
    checked = Shortlist.from_candidates(ids, arrays["candidate_scores"], n_file)
    if position is None:
        return checked
    moved = np.where(checked.mask, position[checked.ids], PAD_ID)
    return Shortlist.from_candidates(moved, checked.scores, n_classes)


def _reordered(scores: AnyArray, position: AnyArray, names: tuple[str, ...]) -> AnyArray:
    if len(position) < len(names):
        missing = names[min(set(range(len(names))) - set(position.tolist()))]
        raise InputError(
            f"scores has no column for the known class {missing!r}; save one column per class, "
            "or candidate_ids and candidate_scores"
        )
    return np.asarray(scores)[:, np.argsort(position)]


def _labels(labels: AnyArray, names: tuple[str, ...] | None, n_file: int, position: AnyArray | None) -> AnyArray:
    """Return labels as ids in the order of the known classes, or as names."""
    labels = text_array(labels, "labels")
    if labels.dtype.kind == "U":
        if names is None:
            raise InputError(
                f"labels are names (the first is {str(labels[0])!r}), but there are no class_names; save them too"
            )
        return labels.astype(object)
    given = numeric_array(labels, "labels", 1)
    usable = (given >= -1) & (given < n_file) & (given == np.floor(given))
    if not usable.all():
        row = int(np.argmin(usable))
        raise InputError(f"labels[{row}] is {given[row]}; labels are class ids from 0 to {n_file - 1}, or −1")
    ids = given.astype(np.int64)
    return ids if position is None else np.where(ids >= 0, position[ids], -1)


def _per_class(values: AnyArray, name: str, n_file: int, position: AnyArray | None) -> Any:
    if values.shape != (n_file,) * len(SHAPES[name]):
        raise InputError(f"{name} has shape {values.shape}, but there are {n_file} classes; save one entry per class")
    if position is None:
        return values
    order = np.argsort(position)
    return values[np.ix_(*[order] * values.ndim)]


def _others(arrays: dict[str, AnyArray], taken: set[str], n_rows: int) -> tuple[Any, tuple[str, ...]]:
    others = {name: values for name, values in arrays.items() if name not in taken}
    kept = {name: values for name, values in others.items() if values.ndim and len(values) == n_rows}
    dropped = ", ".join(repr(name) for name in others if name not in kept)
    return kept or None, ((f"arrays without one entry per row are not kept: {dropped}",) if dropped else ())


def _position_note(file_names: tuple[str, ...] | None, names: tuple[str, ...] | None) -> tuple[str, ...]:
    if file_names is not None or names is None:
        return ()
    return ("the file has no class_names, so its classes are matched to the known ones by position",)
