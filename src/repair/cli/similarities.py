"""Building the class similarity that the options describe, matched to the classes by name."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repair.cli.options import ClassOptions
from repair.errors import InputError, InputWarning, warn_user
from repair.io import read_class_table, read_similarity
from repair.io.class_files import class_name_column
from repair.io.class_vectors import read_class_vectors
from repair.io.columns import find_column, is_list, listed, text_column
from repair.io.formats import in_file
from repair.io.table_readers import FileTable, read_table

__all__ = ["build_similarity"]

KINDS = ("similarity", "taxonomy", "hpo_sets", "class_embeddings")
TERM_COLUMNS = ("terms", "hpo_terms", "hpo", "term", "hpo_term", "hpo_id")
#: With more classes than this, only the similarities of each class to its nearest ones are kept: a K×K array would be
#: large, and mostly similar classes meet on shortlists.
MANY_CLASSES, NEIGHBOURS = 5000, 100


def build_similarity(options: ClassOptions, names: tuple[str, ...] | None) -> Any:
    """Return the similarity of these classes, in this order, or None if no option describes one."""
    given = [f"--{kind.replace('_', '-')}" for kind in KINDS if getattr(options, kind) is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} each define the class similarity; give only one of them")
    if options.ontology is not None and options.hpo_sets is None:
        raise InputError("--ontology only applies to --hpo-sets; add --hpo-sets FILE with the HPO terms of each class")
    if options.similarity is not None:
        return read_similarity(options.similarity, names)
    if not given:
        return None
    if names is None:
        raise InputError(f"{given[0]} is matched by class name, but the scores only have class ids; add --classes FILE")
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
            raise InputError("there is no column of taxonomy paths; name it 'path'")
        if not separator or not any(separator in lineage for lineage in paths):
            raise InputError(
                f"no path contains {separator!r} (the first is {paths[0]!r}); "
                "give the text between levels as --path-separator"
            )
        return taxonomy_similarity(paths, separator=separator)


def _from_hpo(path: Path, ontology: Path | None, names: tuple[str, ...]) -> Any:
    from repair.similarity import Ontology, hpo_jaccard, read_annotations

    with in_file(path):
        table = read_table(path)
        sets: Mapping[str, Sequence[str]] = read_annotations(path) if _are_annotations(table) else _term_sets(table)
        missing = [name for name in names if name not in sets]
        if len(missing) == len(names):
            raise InputError(
                f"none of the {len(names)} classes (such as {names[0]!r}) is in this file; check the class names"
            )
    if missing:
        shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
        warn_user(f"classes without HPO terms ({len(missing)}) get similarity 0 to all others: {shown}", InputWarning)
    terms = Ontology.from_hpo3() if ontology is None else Ontology.read(ontology)
    return hpo_jaccard([sets.get(name, ()) for name in names], terms)


def _are_annotations(table: FileTable) -> bool:
    """Return whether each line has a list of pairs of term and frequency, as in HPO's disease annotations."""
    if not {"id", "hpo"} <= set(table.names) or not is_list(table, "hpo"):
        return False
    entries = [entry for entry in table.column("hpo").to_pylist() if entry]
    return bool(entries) and all(isinstance(entry[0], list) for entry in entries)


def _term_sets(table: FileTable) -> dict[str, Sequence[str]]:
    """Return the terms of each class.

    A line has a list of terms, or text with one or several terms.  A class may have several lines.
    """
    names = class_name_column(table)
    column = find_column(table, TERM_COLUMNS, {names})
    if column is None:
        raise InputError(f"there is no column of HPO terms; {listed(table)}; name it 'terms'")
    sets: dict[str, list[str]] = {}
    if is_list(table, column):
        entries = [[] if terms is None else list(map(str, terms)) for terms in table.column(column).to_pylist()]
    else:
        texts = text_column(table, column).to_pylist()
        entries = [re.split(r"[\s;|,]+", text.strip()) if text else [] for text in texts]
    for name, terms in zip(text_column(table, names).to_pylist(), entries, strict=True):
        sets.setdefault(str(name), []).extend(term for term in terms if term)
    return dict(sets)


def _from_vectors(path: Path, names: tuple[str, ...]) -> Any:
    from repair.similarity import cosine_similarity

    vectors = read_class_vectors(path, names)
    with in_file(path):
        return cosine_similarity(vectors, neighbours=NEIGHBOURS if len(names) > MANY_CLASSES else None)
