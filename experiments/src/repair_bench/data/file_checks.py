"""Cheap checks of whether a file is what its name says.  Each returns what is wrong, or an empty text."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from repair.errors import InputError
from repair_bench.data.peek import array_shapes, first_lines, last_line, npy_shape

__all__ = [
    "Check",
    "arrays",
    "columns",
    "image_list",
    "json_lines",
    "json_object",
    "lines_of_names",
    "matrix",
    "starts_with",
    "tagged_tokens",
    "text_and_labels",
    "wrong",
]

Check = Callable[[Path], str]

#: Lines at the beginning of a file that are checked.
LINES = 20


def wrong(check: Check, path: Path) -> str:
    """Return what a check finds wrong with a file, also if the file cannot be read at all."""
    try:
        return "it is empty" if path.stat().st_size == 0 else check(path)
    except InputError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)


def _of_lines(path: Path, problem: Callable[[str], str]) -> str:
    """Check the first lines and the last one, which is cut if a download stopped."""
    lines = first_lines(path)[:LINES]
    end = last_line(path)
    for number, line in enumerate(lines, 1):
        if line.strip() and (found := problem(line)):
            return f"line {number}: {found}"
    return f"its last line: {found}; the file may be cut" if end and (found := problem(end)) else ""


def text_and_labels(path: Path) -> str:
    """Check a file of GoEmotions: text, comma-separated label ids and comment id, separated by tabs."""

    def problem(line: str) -> str:
        cells = line.split("\t")
        ids = cells[1].split(",") if len(cells) == 3 else []
        return "" if ids and all(one.isdecimal() for one in ids) else "expected text, label ids and comment id (tabs)"

    return _of_lines(path, problem)


def json_lines(*keys: str) -> Check:
    """One JSON object per line with these keys."""

    def problem(line: str) -> str:
        try:
            row = json.loads(line)
        except ValueError:
            return "not a JSON object"
        missing = [key for key in keys if not isinstance(row, dict) or key not in row]
        return f"no {' and no '.join(map(repr, missing))}" if missing else ""

    return lambda path: _of_lines(path, problem)


def json_object(*keys: str) -> Check:
    """One JSON document whose first part mentions these keys, and which is not cut."""

    def check(path: Path) -> str:
        start, end = "\n".join(first_lines(path)).lstrip(), last_line(path)
        if start[:1] not in ("{", "["):
            return "not a JSON document"
        missing = [key for key in keys if f'"{key}"' not in start]
        if missing:
            return f"no {' and no '.join(map(repr, missing))} at its beginning"
        return "" if end is None or end.rstrip()[-1:] in ("}", "]") else "the file is cut: it ends inside the document"

    return check


def tagged_tokens(coarse: Sequence[str], *, others: bool = False) -> Check:
    """One token and its tag per line, separated by a tab.  Tags are "O", or a coarse type, "-" and a fine type.

    Parameters
    ----------
    coarse : sequence of str
        The coarse types of Few-NERD.
    others : bool
        Whether the file must have other types than these.
    """

    def problem(line: str) -> str:
        return "" if line.count("\t") == 1 else "expected a token, a tab and a tag"

    def check(path: Path) -> str:
        if found := _of_lines(path, problem):
            return found
        tags = {line.rpartition("\t")[2] for line in first_lines(path) if "\t" in line} - {"O"}
        wrong_tag = next((tag for tag in sorted(tags) if (tag.partition("-")[0] in coarse) == others), None)
        return "" if wrong_tag is None else f"the tag {wrong_tag!r} belongs to another data set"

    return check


def image_list(path: Path) -> str:
    """Check a list of images: a path and a class id per line, separated by a blank."""

    def problem(line: str) -> str:
        name, _, label = line.strip().rpartition(" ")
        return "" if name and label.isdecimal() else "expected an image path, a blank and a class id"

    return _of_lines(path, problem)


def lines_of_names(path: Path) -> str:
    """One name per line."""
    return _of_lines(path, lambda line: "one name per line was expected" if "\t" in line or "{" in line else "")


def columns(*names: str, separator: str = ",") -> Check:
    """Return a check for a table whose header, after comments that start with "#", has these columns."""

    def check(path: Path) -> str:
        lines = [line for line in first_lines(path) if not line.startswith("#")]
        header = next(csv.reader(lines[:1], delimiter=separator), [])
        missing = [name for name in names if name not in header]
        return f"its header has no column {' and no '.join(map(repr, missing))}" if missing else ""

    return check


def starts_with(text: str) -> Check:
    """Return a check for a text file that begins with these words."""

    def check(path: Path) -> str:
        lines = first_lines(path)
        return "" if lines and lines[0].startswith(text) else f"it does not start with {text!r}"

    return check


def arrays(*names: str, matrices: Sequence[str] = ()) -> Check:
    """Return a check for an npz file with these arrays, none of which needs pickle."""

    def check(path: Path) -> str:
        found = array_shapes(path)
        missing = [name for name in names if name not in found]
        if missing:
            return f"it has no array {' and no '.join(map(repr, missing))}, only {', '.join(found) or 'nothing'}"
        for name in matrices:
            if len(found[name][0]) != 2:
                return f"{name} has shape {found[name][0]}; expected one row per example and one column per class"
        return ""

    return check


def matrix(dimensions: int) -> Check:
    """Return a check for an npy file of numbers."""

    def check(path: Path) -> str:
        shape, dtype = npy_shape(path)
        if dtype.kind not in "fiu":
            return f"its dtype is {dtype}; expected numbers"
        return "" if len(shape) == dimensions else f"it has shape {shape}; expected {dimensions} dimensions"

    return check
