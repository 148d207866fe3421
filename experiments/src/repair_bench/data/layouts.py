"""Layouts of data sets: which files belong to one, and finding them in a folder."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from repair.errors import InputError
from repair_bench.data.file_checks import Check, wrong
from repair_bench.data.places import VARIABLE, data_roots

__all__ = [
    "AUTHORS",
    "GET_FROM",
    "OFFICIAL",
    "OURS",
    "WITH_FEATURES",
    "WITH_SCORES",
    "File",
    "Found",
    "Layout",
    "Source",
    "files_of",
]

#: The layout of the publisher, that of our own extracts, and that of the score files of the paper's authors.
OFFICIAL, OURS, AUTHORS = "official", "ours", "authors' score files"
#: What comes before the publisher in an error about missing data.
GET_FROM = "; get it from "
#: Lists of images, with the scores of a classifier or the features of a network next to them.
WITH_SCORES, WITH_FEATURES = "official lists with scores", "official lists with features"


@dataclass(frozen=True)
class File:
    """A file of a layout.

    Attributes
    ----------
    name : str
        What readers call it.
    paths : tuple of str
        Paths inside the folder, of which the first that exists is taken.  A path may be a pattern with ``*``.
        A file with ``.gz`` after its name is found as well.
    check : callable
        Function from a path to what is wrong with the file, or an empty text.
    optional : bool
    """

    name: str
    paths: tuple[str, ...]
    check: Check
    optional: bool = False

    def inside(self, folder: Path) -> Path | None:
        """Return the file in a folder, or None."""
        for path in self.paths:
            for name in (path,) if path.endswith((".npz", ".npy")) else (path, f"{path}.gz"):
                matches = sorted(folder.glob(name)) if "*" in name else [folder / name]
                for match in matches:
                    if match.is_file():
                        return match
        return None


@dataclass(frozen=True)
class Layout:
    """The files of a data set as one publisher names them.

    Attributes
    ----------
    title : str
        "official", or whose layout it is.
    files : tuple of File
    named : bool
        Whether it is looked for only in a folder of the data set's own name, because other data sets have files of
        the same names.
    """

    title: str
    files: tuple[File, ...]
    named: bool = False

    def problems(self, folder: Path) -> list[str]:
        """Return what is missing or wrong, one text per file."""
        found = []
        for file in self.files:
            path = file.inside(folder)
            if path is None:
                if not file.optional:
                    found.append(f"{file.paths[0]} is missing")
            elif problem := wrong(file.check, path):
                found.append(f"{path.relative_to(folder)}: {problem}")
        return found

    def present(self, folder: Path) -> int:
        """Return how many of the files are there, whatever is in them."""
        return sum(file.inside(folder) is not None for file in self.files)


@dataclass(frozen=True, eq=False)
class Found:
    """A data set that was found.

    Attributes
    ----------
    source : Source
    layout : str
        Title of its layout.
    folder : Path
    files : dict of Path
        The files by the names that readers use.  Optional files may be missing.
    """

    source: "Source"
    layout: str
    folder: Path
    files: dict[str, Path]


@dataclass(frozen=True)
class Source:
    """A data set: where it is published, under which licence, and in which layouts it is read.

    Attributes
    ----------
    name : str
    home : str
        Where it is published.
    licence : str
    how : str
        How to get it, in one sentence.
    layouts : tuple of Layout
    folders : tuple of str
        Names that its folder may have under ``$REPAIR_DATA``, by default its own name.
    """

    name: str
    home: str
    licence: str
    how: str
    layouts: tuple[Layout, ...]
    folders: tuple[str, ...] = ()

    def find(self, data: "str | os.PathLike[str] | None" = None) -> Found:
        """Return the data set, or raise an error that says what is missing and where to get it.

        Parameters
        ----------
        data : path, optional
            The publisher's folder, or a folder that contains it, instead of ``$REPAIR_DATA``.  Several folders are
            separated as in the variable PATH.
        """
        roots = data_roots(data)
        if not roots:
            raise InputError(
                f"where is the data set {self.name!r}? Set {VARIABLE} or pass --data: the folder that contains "
                f"{self.folder_names[0]}/, or the folder of the publisher ({self.home})"
            )
        places = list(self._places(roots))
        for folder, layout in places:
            if not layout.problems(folder):
                return self._found(folder, layout)
        raise InputError(f"{self._closest(places, roots)}{GET_FROM}{self.home}")

    def is_there(self, data: "str | os.PathLike[str] | None" = None) -> bool:
        """Return whether `find` finds it."""
        try:
            self.find(data)
        except InputError:
            return False
        return True

    def inside(self, folder: "str | os.PathLike[str]") -> Found:
        """Return the data set of exactly this folder, or raise an error that names the first problem."""
        path = Path(folder)
        if not path.is_dir():
            raise InputError(f"there is no folder {path}; get {self.name!r} from {self.home}")
        for layout in self.layouts:
            if not layout.problems(path):
                return self._found(path, layout)
        raise InputError(f"{self._closest([(path, one) for one in self.layouts], [])}{GET_FROM}{self.home}")

    @property
    def folder_names(self) -> tuple[str, ...]:
        """The names that its folder may have."""
        return self.folders or (self.name,)

    def _places(self, roots: Iterable[Path]) -> Iterator[tuple[Path, Layout]]:
        for root in roots:
            for folder in (*(root / name for name in self.folder_names), root):
                if folder.is_dir():
                    for layout in self.layouts:
                        if not layout.named or folder.resolve().name in self.folder_names:
                            yield folder, layout

    def _found(self, folder: Path, layout: Layout) -> Found:
        files = {file.name: path for file in layout.files if (path := file.inside(folder)) is not None}
        return Found(self, layout.title, folder, files)

    def _closest(self, places: list[tuple[Path, Layout]], roots: list[Path]) -> str:
        """Say what is missing in the folder and layout that has most of the files."""
        missing = [root for root in roots if not root.is_dir()]
        if missing:
            return f"there is no folder {missing[0]}"
        named = [place for place in places if place[0] not in roots or place[1].present(place[0])]
        if not named:
            return f"there is no folder {roots[0] / self.folder_names[0]}, and {roots[0]} has no file of {self.name!r}"
        folder, layout = max(named, key=lambda place: (place[1].present(place[0]), -len(place[1].files)))
        problems = layout.problems(folder)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"in {folder}: {problems[0]}{more}"


def files_of(names: str, check: Check, below: tuple[str, ...] = ("",)) -> tuple[File, ...]:
    """Return one file per word, each of which may be in several sub-folders.

    Examples
    --------
    >>> from repair_bench.data.file_checks import lines_of_names
    >>> from repair_bench.data.layouts import files_of
    >>> [(file.name, file.paths) for file in files_of("a.txt b.txt", lines_of_names, ("", "data/"))]
    [('a', ('a.txt', 'data/a.txt')), ('b', ('b.txt', 'data/b.txt'))]
    """
    return tuple(
        File(name.partition(".")[0], tuple(f"{folder}{name}" for folder in below), check) for name in names.split()
    )
