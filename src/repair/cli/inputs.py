"""Reading the input files of a command, and checking the output files before any work is done."""

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from repair.cli.options import ClassOptions, RowOptions
from repair.cli.output import note
from repair.cli.pipes import from_pipe
from repair.cli.similarities import build_similarity
from repair.data.score_set import ScoreSet
from repair.errors import InputError, InputWarning, warn_user
from repair.io import ClassFile, ColumnNames, CsvFormat, ScoreFile, read_class_table, read_score_set
from repair.rerankers.base import ShortlistReranker

__all__ = [
    "check_folder",
    "check_output",
    "fitted_rows_problem",
    "kept_columns",
    "known_names",
    "read_calibration",
    "read_for_model",
    "read_pair",
    "read_rows",
    "warn_of_fitted_rows",
]

#: Number of new classes that a warning lists.
NAMED = 10


def read_rows(
    path: Path,
    options: RowOptions,
    *,
    classes: ClassFile | None = None,
    class_names: tuple[str, ...] | None = None,
    append: bool = False,
    need_labels: bool = True,
    refuse_rankings: bool = True,
    remembered: ColumnNames | None = None,
) -> ScoreFile:
    """Read a score file and print its notes.  A file that `repair rerank` wrote raises an error."""
    path = from_pipe(path)
    columns = ColumnNames(
        row=options.row_column,
        candidate=options.candidate_column,
        score=options.score_column,
        label=options.label_column,
        group=options.group_column,
        weight=options.weight_column,
    )
    file = read_score_set(
        path,
        classes=classes,
        columns=columns,
        labels_path=options.labels,
        class_names=class_names,
        unknown_classes="append" if append else "refuse",
        need_labels=need_labels,
        refuse_rankings=refuse_rankings,
        csv_format=csv_format(options),
        remembered=remembered,
    )
    for text in file.notes:
        note(f"{path}: {text}")
    return file if options.score_type is None else replace(file, rows=replace(file.rows, score_type=options.score_type))


def csv_format(options: RowOptions) -> CsvFormat:
    """Return how CSV files are written."""
    return CsvFormat(options.delimiter, options.decimal)


def read_classes(classes: ClassOptions, rows: RowOptions) -> ClassFile | None:
    """Read the class table, if there is one."""
    if classes.classes is None:
        return None
    return read_class_table(
        classes.classes, name=classes.class_column, count=classes.count_column, csv_format=csv_format(rows)
    )


def read_calibration(path: Path, rows: RowOptions, classes: ClassOptions) -> ScoreFile:
    """Read labelled rows, with the class table and the similarity that the options name."""
    table = read_classes(classes, rows)
    return _with_similarity(read_rows(path, rows, classes=table), classes)


def read_pair(
    calibration: Path,
    test: Path,
    rows: RowOptions,
    classes: ClassOptions,
    *,
    test_labels: Path | None = None,
    need_labels: bool = True,
) -> tuple[ScoreFile, ScoreFile]:
    """Read two score files with the same classes in the same order."""
    table = read_classes(classes, rows)
    others = replace(rows, labels=test_labels)
    calibration = from_pipe(calibration)  # it may be read twice
    first = read_rows(calibration, rows, classes=table)
    # Without a class table, the classes are those that occur in either file.
    second = read_rows(test, others, class_names=first.class_names, append=table is None, need_labels=need_labels)
    if second.new_classes:
        first = read_rows(calibration, rows, class_names=second.class_names)
    return _with_similarity(first, classes), second


def _with_similarity(file: ScoreFile, classes: ClassOptions) -> ScoreFile:
    similarity = build_similarity(classes, file.class_names)
    return file if similarity is None else replace(file, rows=replace(file.rows, similarity=similarity))


def known_names(model: ShortlistReranker) -> tuple[str, ...]:
    """Return the names of a model's classes, or their ids as text if it has no names."""
    table = model.state.correction.table
    return table.class_names or tuple(map(str, range(table.n_classes)))


def read_for_model(
    model: ShortlistReranker, path: Path, rows: RowOptions, classes: Path | None, *, need_labels: bool = True
) -> tuple[ShortlistReranker, ScoreFile]:
    """Read rows with the classes in the model's order.  Return the rows, and the model with any new classes added."""
    file = read_rows(
        path,
        rows,
        class_names=known_names(model),
        append=True,
        need_labels=need_labels,
        remembered=ColumnNames(**model.state.columns),
    )
    if not file.new_classes:
        return model, file
    groups = counts = None
    if classes is not None:
        table = read_class_table(classes, csv_format=csv_format(rows))
        groups = None if table.groups is None else dict(zip(table.names, table.groups, strict=True))
        counts = None if table.counts is None else dict(zip(table.names, table.counts.tolist(), strict=True))
    shown = ", ".join(map(repr, file.new_classes[:NAMED])) + (", …" if len(file.new_classes) > NAMED else "")
    offset = "the mean offset of all classes" if groups is None else "the mean offset of their group"
    warn_user(f"classes that are new to the model ({len(file.new_classes)}) get {offset}: {shown}", InputWarning)
    return model.with_classes(file.new_classes, groups, counts), file


def warn_of_fitted_rows(model: ShortlistReranker, rows: ScoreSet) -> None:
    """Warn if rows on which a model is to be measured are those that it was fitted on."""
    problem = fitted_rows_problem(model, rows)
    if problem is not None:
        warn_user(problem, InputWarning)


def fitted_rows_problem(model: ShortlistReranker, rows: ScoreSet) -> str | None:
    """Return what is wrong if at least half of these rows are those that the model was fitted on, else None."""
    fingerprint = model.fingerprint_
    if fingerprint is None:
        return None
    return fingerprint.shared_rows_problem(rows.shortlist(fingerprint.width, None, model.state.scale))


def kept_columns(file: ScoreFile, options: RowOptions, *, arrays: bool) -> dict[str, Any]:
    """Return labels, groups, weights and other columns of the input, under the names of the output format."""
    other = file.other
    names = [] if other is None else list(other) if isinstance(other, dict) else other.column_names
    columns = {name: other[name] for name in names}
    rows = file.rows
    roles = {
        "labels" if arrays else file.columns.label or options.label_column or "label": rows.labels,
        "groups" if arrays else file.columns.group or options.group_column or "group": rows.groups,
        "sample_weight" if arrays else file.columns.weight or options.weight_column or "weight": rows.sample_weight,
    }
    for name, values in roles.items():
        if values is not None:
            columns.setdefault(name, values)
    return columns


def check_output(path: Path, *inputs: Any) -> None:
    """Raise an error if a file cannot be written, or is an input, before any work is done.

    Inputs are paths, or option dataclasses that contain paths.
    """
    for used in _paths(inputs):
        if path.exists() and used.exists() and os.path.samefile(path, used):
            raise InputError(f"{path} is an input of this command and would be overwritten; name another output file")
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    _check_writable(path.parent)


def _paths(inputs: Iterable[Any]) -> Iterator[Path]:
    for given in inputs:
        if isinstance(given, Path):
            yield given
        elif is_dataclass(given):
            yield from (value for value in vars(given).values() if isinstance(value, Path))


def check_folder(path: Path, files: Iterable[str], *inputs: Any) -> None:
    """Raise an error if a folder cannot be created or written to, or if one of its `files` is an input."""
    for name in files:
        if (path / name).exists():
            check_output(path / name, *inputs)
    existing = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    _check_writable(existing)


def _check_writable(folder: Path) -> None:
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
