"""A class similarity from whichever of the options was given, matched to the classes by name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from repair.arrays import AnyArray
from repair.cli.options import ClassOptions
from repair.errors import InputError, InputWarning, warn_user
from repair.inputs import numeric_array
from repair.io import read_class_table, read_similarity
from repair.io.archives import text_array
from repair.io.array_files import read_archive, read_array
from repair.io.class_files import SYNONYMS
from repair.io.columns import find_column, is_list, listed, number_column, text_column
from repair.io.formats import format_of, in_file
from repair.io.tables import FileTable, read_table

__all__ = ["build_similarity"]

KINDS = ("similarity", "taxonomy", "hpo_sets", "class_embeddings")
TERM_COLUMNS = ("terms", "hpo_terms", "hpo", "term", "hpo_term", "hpo_id")
#: Beyond this a K×K array is too large to have for nothing; the nearest classes are what meets on shortlists.
MANY_CLASSES, NEIGHBOURS = 5000, 100


def build_similarity(options: ClassOptions, names: tuple[str, ...] | None) -> Any:
    """Return the similarity for these classes, in this order; None if no option asks for one."""
    given = [f"--{kind.replace('_', '-')}" for kind in KINDS if getattr(options, kind) is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} both say how similar classes are; give one of them")
    if options.ontology is not None and options.hpo_sets is None:
        raise InputError("--ontology says where HPO's terms are; give --hpo-sets, the terms of each class, too")
    if options.similarity is not None:
        return read_similarity(options.similarity, names)
    if not given:
        return None
    if names is None:
        raise InputError(f"{given[0]} is matched by name, but the scores have class ids only; give --classes too")
    if options.taxonomy is not None:
        return _from_taxonomy(options.taxonomy, options.path_separator, names)
    if options.hpo_sets is not None:
        return _from_hpo(options.hpo_sets, options.ontology, names)
    assert options.class_embeddings is not None
    return _from_vectors(options.class_embeddings, names)


def _from_taxonomy(path: Path, separator: str, names: tuple[str, ...]) -> Any:
    from repair.similarity import taxonomy_similarity

    classes = read_class_table(path)
    with in_file(path):
        paths = classes.take(names).paths
        if paths is None:
            raise InputError("there is no column of paths; call it 'path'")
        if not separator or not any(separator in one for one in paths):
            raise InputError(f"no path has a {separator!r} (the first is {paths[0]!r}); give --path-separator")
        return taxonomy_similarity(paths, separator=separator)


def _from_hpo(path: Path, ontology: Path | None, names: tuple[str, ...]) -> Any:
    from repair.similarity import Ontology, hpo_jaccard, read_annotations

    with in_file(path):
        table = read_table(path)
        sets: Mapping[str, Sequence[str]] = read_annotations(path) if _are_annotations(table) else _term_sets(table)
        missing = [name for name in names if name not in sets]
        if len(missing) == len(names):
            raise InputError(f"none of the {len(names)} classes (such as {names[0]!r}) has HPO terms; check the names")
    if missing:
        shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
        warn_user(f"{len(missing)} classes have no HPO terms and are similar to none: {shown}", InputWarning)
    terms = Ontology.from_hpo3() if ontology is None else Ontology.read(ontology)
    return hpo_jaccard([sets.get(name, ()) for name in names], terms)


def _are_annotations(table: FileTable) -> bool:
    """Say whether each line has a list of terms with frequencies, as HPO annotates diseases."""
    if not {"id", "hpo"} <= set(table.names) or not is_list(table, "hpo"):
        return False
    entries = [one for one in table.column("hpo").to_pylist() if one]
    return bool(entries) and all(isinstance(one[0], list) for one in entries)


def _term_sets(table: FileTable) -> dict[str, Sequence[str]]:
    """Return each class's terms: a list a line, or text of one or several terms, in as many lines as you like."""
    names = _name_column(table)
    column = find_column(table, TERM_COLUMNS, {names})
    if column is None:
        raise InputError(f"there is no column of HPO terms; {listed(table)}; call it 'terms'")
    sets: dict[str, list[str]] = {}
    if is_list(table, column):
        entries = [[] if one is None else list(map(str, one)) for one in table.column(column).to_pylist()]
    else:
        entries = [re.split(r"[\s;|,]+", one.strip()) if one else [] for one in text_column(table, column).to_pylist()]
    for name, terms in zip(text_column(table, names).to_pylist(), entries, strict=True):
        sets.setdefault(str(name), []).extend(term for term in terms if term)
    return dict(sets)


def _from_vectors(path: Path, names: tuple[str, ...]) -> Any:
    from repair.similarity import cosine_similarity

    format_ = format_of(path)
    with in_file(path):
        if format_.kind == "npy":
            vectors, own = numeric_array(np.asarray(read_array(path)), "embeddings", 2), names
        elif format_.kind == "npz":
            vectors, own = _archived_vectors(read_archive(path))
        else:
            vectors, own = _tabled_vectors(read_table(path))
        if len(vectors) != len(own):
            raise InputError(f"there are {len(vectors)} vectors for {len(own)} classes; give every class one")
        place_of = {name: place for place, name in enumerate(own)}
        missing = next((name for name in names if name not in place_of), None)
        if missing is not None:
            raise InputError(f"there is no vector for class {missing!r}; give every class one")
        ordered = vectors[[place_of[name] for name in names]]
        return cosine_similarity(ordered, neighbours=NEIGHBOURS if len(names) > MANY_CLASSES else None)


def _archived_vectors(arrays: dict[str, AnyArray]) -> tuple[AnyArray, tuple[str, ...]]:
    key = next((one for one in ("embeddings", "class_embeddings", "vectors") if one in arrays), None)
    if key is None or "class_names" not in arrays:
        present = ", ".join(map(repr, arrays)) or "none"
        raise InputError(f"save arrays 'class_names' and 'embeddings'; the file has {present}")
    names = text_array(arrays["class_names"], "class_names")
    return numeric_array(arrays[key], key, 2), tuple(map(str, names.ravel().tolist()))


def _tabled_vectors(table: FileTable) -> tuple[AnyArray, tuple[str, ...]]:
    names = _name_column(table)
    columns = [number_column(table, one) for one in table.names if one != names]
    if not columns:
        raise InputError(f"there are no columns of numbers; {listed(table)}")
    return np.stack(columns, axis=1), tuple(map(str, text_column(table, names).to_pylist()))


def _name_column(table: FileTable) -> str:
    found = find_column(table, SYNONYMS["name"])
    if found is None:
        raise InputError(f"there is no column of class names; {listed(table)}; call it 'class'")
    return found
