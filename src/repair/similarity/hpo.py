"""Similarity of diseases by their phenotypes in the Human Phenotype Ontology (HPO).

A term implies all its ancestors: a patient with a generalized seizure has a seizure.  So every
comparison here first adds the ancestors, and two diseases can share terms at every level.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike

import numpy as np

from repair._utils.arrays import FloatArray
from repair.errors import InputError
from repair.similarity.ontology import Ontology, built_hpo3
from repair.similarity.reading import file_of, read_text
from repair.similarity.sets import check_sets, jaccard, weighted_jaccard

__all__ = [
    "Ontology",
    "annotations_from_hpo3",
    "hpo_information_content",
    "hpo_jaccard",
    "jaccard",
    "read_annotations",
]

#: Files with annotations that are looked for in a folder, gzip-compressed or not.
ANNOTATIONS_FILES = ("disease_annotations.jsonl", "phenotype.hpoa")
#: Columns of phenotype.hpoa.
HPOA_COLUMNS = ("database_id", "qualifier", "hpo_id", "frequency", "aspect")
PHENOTYPIC_ABNORMALITY = "HP:0000118"
#: The HPO frequency term "excluded": the disease does not have the phenotype.
EXCLUDED = "HP:0040285"


def read_annotations(path: "str | PathLike[str]") -> dict[str, tuple[str, ...]]:
    """Read the phenotypes of each disease from a file.

    Phenotypes with a frequency of zero are left out, for example ``0/12``: looked for in twelve
    patients and found in none.

    Parameters
    ----------
    path : path
        The file, gzip-compressed or not, or a folder that contains ``phenotype.hpoa`` or
        ``disease_annotations.jsonl.gz``.  ``phenotype.hpoa`` is the file that HPO publishes.  Of it,
        annotations that say NOT are left out, and those that are no phenotypes (inheritance, onset).
        In the other file, each line is a JSON object with ``id`` and ``hpo``, a list of pairs of term id
        and frequency, both as text.

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
    text = read_text(file_of(path, ANNOTATIONS_FILES))
    if not text.lstrip().startswith("{"):
        return _of_hpoa(text, path)
    annotations: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
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


def _of_hpoa(text: str, path: object) -> dict[str, tuple[str, ...]]:
    """Return the phenotypes of each disease in phenotype.hpoa, without those that a disease does not have."""
    lines = csv.DictReader((line for line in text.splitlines() if not line.startswith("#")), delimiter="\t")
    missing = [column for column in HPOA_COLUMNS if column not in (lines.fieldnames or ())]
    if missing:
        raise InputError(
            f"{path} is not a file of annotated diseases: it has no column {' and no '.join(map(repr, missing))}; "
            "expected phenotype.hpoa of 2021 or later, or one JSON object per line"
        )
    annotations: dict[str, dict[str, None]] = {}
    for number, line in enumerate(lines, 1):
        if None in line.values():
            raise InputError(f"annotation {number} of {path} is cut; check that the download is complete")
        if line["aspect"] == "P" and line["qualifier"] != "NOT" and not _is_never(line["frequency"]):
            annotations.setdefault(line["database_id"], {})[line["hpo_id"]] = None
    return {disease: tuple(terms) for disease, terms in annotations.items()}


def annotations_from_hpo3(*, phenotypes_only: bool = True) -> dict[str, tuple[str, ...]]:
    """Return the phenotypes of all OMIM and Orphanet diseases in the package ``hpo3``.

    Parameters
    ----------
    phenotypes_only : bool, default True
        Whether to leave out modes of inheritance, ages of onset and similar terms.  Two diseases
        are not easier to confuse because both are recessive, so change this only if you need all
        annotations.

    Returns
    -------
    dict from disease id (``OMIM:…``, ``ORPHA:…``) to tuple of term ids

    Examples
    --------
    >>> annotations_from_hpo3()["OMIM:609258"]  # doctest: +SKIP
    ('HP:0000545',)
    """
    hpo3 = built_hpo3()
    ontology = Ontology.from_hpo3()
    annotations: dict[str, tuple[str, ...]] = {}
    for source, diseases in (("OMIM", hpo3.omim_diseases), ("ORPHA", hpo3.orpha_diseases)):
        for disease in sorted(diseases, key=lambda disease: int(disease.id)):
            terms = (f"HP:{number:07d}" for number in sorted(disease.hpo))
            annotations[f"{source}:{disease.id}"] = tuple(
                term
                for term in terms
                if not phenotypes_only or PHENOTYPIC_ABNORMALITY in ontology.ancestors(term, unknown="skip")
            )
    return annotations


def hpo_jaccard(term_sets: Sequence[Iterable[str]], ontology: Ontology, *, unknown: str = "raise") -> FloatArray:
    """Return the share of common phenotypes, including ancestors, for all pairs of diseases.

    Parameters
    ----------
    term_sets : sequence of K collections of term ids
        Phenotypes of each class.
    ontology : Ontology
        Ontology that defines the ancestors of each term.
    unknown : {'raise', 'skip'}, default 'raise'
        Whether ids that the ontology does not have raise an error or are ignored.  Use 'skip' if
        the terms come from another release.

    Returns
    -------
    ndarray of float64, shape (K, K)
        The Jaccard index of the terms with their ancestors, see `jaccard`.

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
    """Return the share of common information content for all pairs of diseases (simGIC).

    In `hpo_jaccard`, a shared root term counts as much as a shared rare sign.  Here each term is
    weighted by its information content (IC), −log of the share of diseases that have the term or one
    of its descendants.  The root has weight 0, and a sign of one disease in ten thousand has weight
    9.2.  The similarity is the Jaccard index with these weights, Σ IC(common) / Σ IC(either).  It is
    called simGIC in Pesquita et al., "Metrics for GO based protein semantic similarity: a systematic
    evaluation", BMC Bioinformatics 9 (2008).  Unlike averages of best-matching terms it is symmetric,
    lies between 0 and 1, and costs one sparse product.

    Parameters
    ----------
    term_sets : sequence of K collections of term ids
        Phenotypes of each class.
    ontology : Ontology
        Ontology that defines the ancestors of each term.
    annotations : mapping from disease to term ids, optional
        Diseases from which the information content is estimated.  Defaults to `term_sets`, which
        gives a poor estimate if there are few classes.  A term that none of the diseases has counts
        as if one had it.
    unknown : {'raise', 'skip'}, default 'raise'
        Whether ids that the ontology does not have raise an error or are ignored.  Use 'skip' if
        the terms come from another release.

    Returns
    -------
    ndarray of float64, shape (K, K)
        Symmetric, from 0 to 1, with 1 on the diagonal, and 0 for pairs whose terms have no
        information content.

    Examples
    --------
    The root is shared by all three classes and has weight 0.  "rash" is shared by two of them.

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
    # Sorted, because the order of a set differs between processes, and with it the last bit of a sum.
    all_terms = sorted(set().union(*closures))
    counts = np.array([max(n_having[term], 1) for term in all_terms], dtype=np.float64)
    content = np.log(max(n_diseases, 1) / counts) if len(counts) else counts
    return weighted_jaccard([sorted(terms) for terms in closures], dict(zip(all_terms, content.tolist(), strict=True)))


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
