"""Score sets from ``.npz`` and ``.npy``: whole arrays, classes by position unless ``class_names`` is there."""

from typing import Any

import numpy as np

from repair.arrays import PAD_ID, AnyArray
from repair.errors import InputError
from repair.inputs import check_class_names, numeric_array
from repair.io.class_index import ClassIndex
from repair.io.dense_tables import dense_matrix
from repair.io.rows import Rows
from repair.shortlist import Shortlist

__all__ = ["rows_of_arrays"]

CLASS_ARRAYS = ("class_counts", "class_groups", "weight_norms", "similarity")
ROW_ARRAYS = ("labels", "groups", "sample_weight", "row_ids")


def rows_of_arrays(arrays: dict[str, AnyArray], classes: ClassIndex) -> Rows:
    """Read what a ``.npz`` file holds; its classes are put into the order of the known ones by name."""
    lists = "candidate_ids" in arrays and "candidate_scores" in arrays
    if not lists and "scores" not in arrays:
        raise InputError(
            f"there is neither 'scores' nor 'candidate_ids' and 'candidate_scores'; "
            f"the file has {', '.join(map(repr, list(arrays)[:12])) or 'no arrays'}"
        )
    used = ("candidate_ids", "candidate_scores") if lists else ("scores",)
    main = numeric_array(arrays[used[0]], used[0], 2)
    if 0 in main.shape:
        raise InputError(f"{used[0]} has shape {main.shape}; save at least one row and one column")
    own_names = _own_names(arrays)
    n_file = _count_classes(arrays, main, own_names, classes, lists=lists)
    names, new, position = _align(own_names, n_file, classes)
    n_classes = n_file if names is None else len(names)
    scores: AnyArray | Shortlist
    if lists:
        scores = _shortlist(arrays, main, n_file, n_classes, position)
    else:
        if main.shape[1] != n_file:
            raise InputError(f"scores has {main.shape[1]} columns where there are {n_file} classes; make them alike")
        scores = dense_matrix(main)
        if position is not None:
            assert names is not None
            scores = _reordered(main, position, names)
    per_row: dict[str, Any] = {name: arrays[name] for name in ROW_ARRAYS if name in arrays}
    for name, values in per_row.items():
        if values.ndim != 1 or len(values) != len(main):
            raise InputError(f"{name} has shape {values.shape} where there are {len(main)} rows; save one entry each")
    if "labels" in per_row:
        per_row["labels"] = _labels(per_row["labels"], names, n_file, position)
    known = {name: _per_class(arrays[name], name, n_file, position) for name in CLASS_ARRAYS if name in arrays}
    if position is not None and (new or len(position) < n_classes):
        known = {}  # they say nothing about some of the classes; who knows the others has a table of its own
    other, notes = _others(arrays, {*used, *ROW_ARRAYS, *CLASS_ARRAYS, "class_names"}, len(main))
    return Rows(
        layout="candidates" if lists else "dense",
        scores=scores,
        class_names=names,
        new_classes=new,
        other=other,
        notes=(*notes, *_position_note(own_names, names)),
        known=known,
        **per_row,
    )


def text_array(values: AnyArray, name: str) -> AnyArray:
    """Return an array of text, bytes decoded."""
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{name} holds bytes that are not UTF-8; save text (dtype str)") from None
    return values


def _own_names(arrays: dict[str, AnyArray]) -> tuple[str, ...] | None:
    if "class_names" not in arrays:
        return None
    given = text_array(arrays["class_names"], "class_names")
    if given.ndim != 1 or given.dtype.kind != "U":
        raise InputError(f"class_names has shape {given.shape} and dtype {given.dtype}; save one text per class")
    return check_class_names(given.tolist(), len(given))


def _count_classes(
    arrays: dict[str, AnyArray],
    main: AnyArray,
    own_names: tuple[str, ...] | None,
    classes: ClassIndex,
    *,
    lists: bool,
) -> int:
    """Return how many classes the file's ids or columns refer to."""
    if own_names is not None:
        return len(own_names)
    if not lists:
        return int(main.shape[1])
    if classes.names is not None:
        return len(classes.names)
    for name in ("class_counts", "weight_norms", "similarity"):
        if name in arrays and arrays[name].ndim:
            return len(arrays[name])
    with np.errstate(invalid="ignore"):
        largest = float(np.nanmax(main, initial=1))
    labels = arrays.get("labels")
    if labels is not None and labels.dtype.kind in "iu" and labels.size:
        largest = max(largest, float(labels.max()))
    if not largest < 2**31 - 1:
        raise InputError(f"candidate_ids go up to {largest:g}; ids are whole numbers from 0 to K−1")
    return int(largest) + 1


def _align(
    own: tuple[str, ...] | None, n_file: int, classes: ClassIndex
) -> tuple[tuple[str, ...] | None, tuple[str, ...], AnyArray | None]:
    """Return the class names, the new ones, and the class id of each of the file's classes (None: the same)."""
    if classes.names is None:
        return own, (), None
    if own is None:
        if n_file != len(classes.names):
            raise InputError(
                f"the scores are for {n_file} classes, but {len(classes.names)} are known; "
                "save class_names with them, so that they can be matched by name"
            )
        return classes.names, (), None
    if own == classes.names:
        return own, (), None
    known = set(classes.names)
    new = tuple(name for name in own if name not in known)
    if new and not classes.append:
        raise InputError(
            f"class_names[{own.index(new[0])}] is {new[0]!r}, which is not among the {len(known)} known classes; "
            "add it to the class table, or check its spelling"
        )
    names = (*classes.names, *new)
    id_of = {name: position for position, name in enumerate(names)}
    return names, new, np.array([id_of[name] for name in own], dtype=np.int64)


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
            f"scores has no column for the known class {missing!r}; save one for every class, "
            "or candidate_ids and candidate_scores"
        )
    return np.asarray(scores)[:, np.argsort(position)]


def _labels(labels: AnyArray, names: tuple[str, ...] | None, n_file: int, position: AnyArray | None) -> AnyArray:
    """Return labels as ids in the order of the known classes, or as names."""
    labels = text_array(labels, "labels")
    if labels.dtype.kind == "U":
        if names is None:
            raise InputError(f"labels are names (the first is {str(labels[0])!r}); save class_names too")
        return labels.astype(object)
    given = numeric_array(labels, "labels", 1)
    usable = (given >= -1) & (given < n_file) & (given == np.floor(given))
    if not usable.all():
        row = int(np.argmin(usable))
        raise InputError(f"labels[{row}] is {given[row]}; labels are class ids from 0 to {n_file - 1}, or −1")
    ids = given.astype(np.int64)
    return ids if position is None else np.where(ids >= 0, position[ids], -1)


def _per_class(values: AnyArray, name: str, n_file: int, position: AnyArray | None) -> Any:
    if values.ndim != (2 if name == "similarity" else 1) or set(values.shape) != {n_file}:
        raise InputError(f"{name} has shape {values.shape} where there are {n_file} classes; make them alike")
    if position is None:
        return values
    back = np.argsort(position)
    return values[np.ix_(back, back)] if name == "similarity" else values[back]


def _others(arrays: dict[str, AnyArray], taken: set[str], n_rows: int) -> tuple[Any, tuple[str, ...]]:
    others = {name: values for name, values in arrays.items() if name not in taken}
    kept = {name: values for name, values in others.items() if values.ndim and len(values) == n_rows}
    dropped = ", ".join(repr(name) for name in others if name not in kept)
    return kept or None, ((f"arrays without one entry per row are not kept: {dropped}",) if dropped else ())


def _position_note(own: tuple[str, ...] | None, names: tuple[str, ...] | None) -> tuple[str, ...]:
    if own is not None or names is None:
        return ()
    return ("the file has no class_names; its classes are matched to the known ones by position",)
