"""Similarity by the distance of two classes in WordNet's hierarchy of nouns.

ImageNet names its classes by WordNet 3.0 synsets: ``n`` and the synset's offset in the file of nouns.
"""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from repair._utils.arrays import FloatArray
from repair.errors import InputError
from repair.similarity.reading import read_text

__all__ = ["read_wordnet", "wordnet_similarity"]

#: Folder in which the Debian package wordnet-base installs WordNet 3.0.
WORDNET_FOLDER = "/usr/share/wordnet"
NOUNS_FILE = "data.noun"
#: The symbols of "is a kind of" and "is an instance of".
HYPERNYM_SIGNS = ("@", "@i")

Hypernyms = Mapping[str, tuple[str, ...]]


def wordnet_similarity(wnids: Sequence[str], hypernyms: Hypernyms) -> FloatArray:
    """Return 1 / (1 + length of the shortest path) for all pairs of noun synsets.

    The path goes up from one synset to a common ancestor and down to the other.  This is known as
    WordNet's path similarity.  A cat and a dog are four steps apart, so their similarity is 0.2.

    Parameters
    ----------
    wnids : sequence of K str
        Synset of each class, such as ``"n02123045"``.
    hypernyms : mapping from synset to the synsets directly above it
        The noun hierarchy, as returned by `read_wordnet`.

    Returns
    -------
    ndarray of float64, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal, and 0 for pairs without a common ancestor.

    Examples
    --------
    >>> above = {"animal": (), "feline": ("animal",), "cat": ("feline",), "lion": ("feline",), "dog": ("animal",)}
    >>> wordnet_similarity(["cat", "lion", "dog"], above).round(2)
    array([[1.  , 0.33, 0.25],
           [0.33, 1.  , 0.25],
           [0.25, 0.25, 1.  ]])
    """
    if isinstance(wnids, str):
        raise InputError(f"wnids is the text {wnids!r}; pass a list with one synset for each class")
    below: dict[str, tuple[list[int], list[int]]] = {}
    for position, wnid in enumerate(wnids):
        for ancestor, steps in _steps_up(wnid, position, hypernyms).items():
            classes, distances = below.setdefault(ancestor, ([], []))
            classes.append(position)
            distances.append(steps)
    shortest = np.full((len(wnids), len(wnids)), np.inf)
    for classes, distances in below.values():
        pairs = np.ix_(classes, classes)
        through = np.add.outer(distances, distances)
        shortest[pairs] = np.minimum(shortest[pairs], through)
    return 1.0 / (1.0 + shortest)


def read_wordnet(path: "str | PathLike[str]" = WORDNET_FOLDER) -> dict[str, tuple[str, ...]]:
    """Read the hypernyms of each noun synset, of classes as well as instances.

    Parameters
    ----------
    path : path, default '/usr/share/wordnet'
        WordNet's file ``data.noun`` or its folder (Debian: ``apt install wordnet-base``), or a JSON
        file that maps each synset to its first word and its hypernyms.  Files may be
        gzip-compressed.  ImageNet's synsets are those of WordNet 3.0, not of 3.1.

    Returns
    -------
    dict from synset id to tuple of synset ids
        The synsets directly above each synset.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.json"
    >>> _ = path.write_text('{"n00001740": ["entity", []], "n00001930": ["physical_entity", ["n00001740"]]}')
    >>> read_wordnet(path)
    {'n00001740': (), 'n00001930': ('n00001740',)}
    """
    text = read_text(path, NOUNS_FILE)
    file = Path(path) / NOUNS_FILE if Path(path).is_dir() else Path(path)
    hypernyms = _from_json(text, file) if text.lstrip().startswith("{") else _from_nouns(text, file)
    if not hypernyms:
        raise InputError(f"{file} contains no synsets; pass WordNet's data.noun or a JSON file of hypernyms")
    return hypernyms


def _steps_up(wnid: str, position: int, hypernyms: Hypernyms) -> dict[str, int]:
    """Return the synset and all its ancestors, with the smallest number of steps up to each."""
    steps = {wnid: 0}
    level = [wnid]
    while level:
        next_level: list[str] = []
        for synset in level:
            if synset not in hypernyms:
                where = f"wnids[{position}] is {wnid!r}" + (
                    f", whose ancestor {synset!r}" if synset != wnid else ", which"
                )
                raise InputError(
                    f"{where} is not among the {len(hypernyms)} synsets; "
                    "pass ids such as 'n01440764', of WordNet 3.0 if they are ImageNet's"
                )
            for above in hypernyms[synset]:
                if above not in steps:
                    steps[above] = steps[synset] + 1
                    next_level.append(above)
        level = next_level
    return steps


def _from_json(text: str, file: Path) -> dict[str, tuple[str, ...]]:
    try:
        return {synset: tuple(above) for synset, (_, above) in json.loads(text).items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{file} is not a file of hypernyms ({error}); expected {{synset: [word, [hypernyms]]}}"
        ) from None


def _from_nouns(text: str, file: Path) -> dict[str, tuple[str, ...]]:
    hypernyms: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.startswith(" "):  # the licence at the top is indented
            try:
                hypernyms[f"n{int(line[:8]):08d}"] = _hypernyms_of_line(line.partition(" | ")[0].split())
            except (ValueError, IndexError):
                raise InputError(f"line {number} of {file} is not a synset; pass WordNet's file data.noun") from None
    return hypernyms


def _hypernyms_of_line(fields: list[str]) -> tuple[str, ...]:
    """Return the hypernyms of one line of data.noun.

    Its fields are offset, topic, type, number of words (in hex), words, number of pointers, pointers.
    """
    first = 4 + 2 * int(fields[3], 16)
    pointers = (fields[start : start + 4] for start in range(first + 1, first + 1 + 4 * int(fields[first]), 4))
    return tuple(f"n{offset}" for symbol, offset, kind, _ in pointers if symbol in HYPERNYM_SIGNS and kind == "n")
