"""Rare-disease diagnosis from phenotype terms: published patients, split by publication.

Cases of the Phenopacket Store whose disease has at least two publications and three cases.  The
base model sees the observed HPO terms with all their ancestors (TF-IDF, logistic regression) and
nothing else: gene, cohort, case id and publication give the diagnosis away.  Of each disease one
whole publication, drawn at random, is for training; all others go to calibration or test, half
each.  No publication is in two parts, and publications are the groups.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.bench.base_scores import BaseScores, TextBase
from repair.bench.parts import CALIBRATION, TEST, TRAINING
from repair.bench.places import data_folder
from repair.bench.problem import Problem
from repair.bench.term_base import BASE_C
from repair.similarity import Ontology, jaccard, read_annotations
from repair.similarity.reading import read_text

__all__ = ["Cases", "disease_similarity", "publication_problem", "read_cases", "split_by_publication", "splits"]

CASES_HOME = "github.com/monarch-initiative/phenopacket-store"
ONTOLOGY_HOME = "hpo.jax.org"
CASES_FILE = "cases.jsonl.gz"
FEWEST_PUBLICATIONS, FEWEST_CASES = 2, 3
N_SPLITS = 5


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases that take part.

    Attributes
    ----------
    diseases : tuple of str
        Disease ids, in order; labels count through them.
    labels, publications : ndarray of int, shape (n,)
    terms : tuple of frozenset of str
        Observed terms of each case with all their ancestors.
    profiles : dict
        Annotated terms with ancestors of the diseases that have any.
    observed : tuple of frozenset of str
        The terms of each case as they were written down.
    """

    diseases: tuple[str, ...]
    labels: IntArray
    publications: IntArray
    terms: tuple[frozenset[str], ...]
    profiles: dict[str, frozenset[str]]
    observed: tuple[frozenset[str], ...]

    def __len__(self) -> int:
        """Return the number of cases."""
        return len(self.labels)


def read_cases(cases: "str | PathLike[str] | None" = None, ontology: "str | PathLike[str] | None" = None) -> Cases:
    """Read the cases and the ontology, and keep the diseases that can be split.

    Parameters
    ----------
    cases, ontology : path, optional
        The folders with the cases and with terms and annotations; by default ``phenopacket_store``
        and ``hpo`` under ``$REPAIR_DATA``.

    Returns
    -------
    Cases
    """
    hpo = data_folder("hpo", ONTOLOGY_HOME, ontology)
    terms = Ontology.read(hpo)
    kept = _that_can_be_split(_records(data_folder("phenopacket_store", CASES_HOME, cases)))
    diseases = tuple(sorted({case["disease_id"] for case in kept}))
    place = {disease: label for label, disease in enumerate(diseases)}
    publications = np.unique([case["pmid"] for case in kept], return_inverse=True)[1]
    annotated = read_annotations(hpo)
    return Cases(
        diseases,
        np.array([place[case["disease_id"]] for case in kept], dtype=np.int32),
        publications.astype(np.int32),
        tuple(terms.closure(case["hpo_observed"], unknown="skip") for case in kept),
        {one: terms.closure(annotated[one], unknown="skip") for one in diseases if annotated.get(one)},
        tuple(frozenset(case["hpo_observed"]) for case in kept),
    )


def _records(folder: Path) -> list[dict[str, Any]]:
    lines = read_text(folder, CASES_FILE).split("\n")
    return [json.loads(line) for line in lines if line]


def _that_can_be_split(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    of_disease = defaultdict(list)
    for case in cases:
        of_disease[case["disease_id"]].append(case["pmid"])
    enough = {
        disease
        for disease, publications in of_disease.items()
        if len(publications) >= FEWEST_CASES and len(set(publications)) >= FEWEST_PUBLICATIONS
    }
    return [case for case in cases if case["disease_id"] in enough]


def split_by_publication(labels: IntArray, publications: IntArray, seed: int) -> IntArray:
    """Deal whole publications to training (0), calibration (1) and test (2).

    Diseases are visited in random order; one that has no publication in training yet gives one,
    drawn at random.  The others are shuffled and dealt to calibration and test in turn.

    Parameters
    ----------
    labels, publications : ndarray of int, shape (n,)
    seed : int

    Returns
    -------
    ndarray of int, shape (n,)
        The part of each case.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.bench.phenopackets import split_by_publication
    >>> labels, publications = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 3, 3])
    >>> sorted(split_by_publication(labels, publications, 0)[[0, 2]].tolist())[0]
    0
    """
    rng = np.random.default_rng(seed)
    part = np.full(int(publications.max()) + 1, -1)
    of_disease = [np.unique(publications[labels == one]) for one in range(int(labels.max()) + 1)]
    for disease in rng.permutation(len(of_disease)):
        own = of_disease[disease]
        if not (part[own] == TRAINING).any():
            part[rng.choice(own)] = TRAINING
    others = rng.permutation(np.flatnonzero(part < 0))
    part[others[::2]], part[others[1::2]] = CALIBRATION, TEST
    return part[publications].astype(np.int32)


def publication_problem(cases: Cases, seed: int) -> Problem:
    """Return the cases, dealt to parts by publication, as a benchmark's problem; publications are the groups."""
    part = split_by_publication(cases.labels, cases.publications, seed)
    return Problem(
        cases.diseases,
        cases.labels,
        part,
        texts=tuple(" ".join(sorted(terms)) for terms in cases.terms),
        groups=cases.publications,
        similarity=disease_similarity(cases, part == TRAINING),
    )


def splits(cases: Cases, n_splits: int = N_SPLITS, c: float = BASE_C) -> Iterator[BaseScores]:
    """Train the base on each split in turn, and yield its scores on calibration and test cases.

    Parameters
    ----------
    cases : Cases
    n_splits : int, default 5
        Seeds 0, 1, ….
    c : float, default 10
        Inverse penalty of the logistic regression.

    Yields
    ------
    BaseScores
    """
    for seed in range(n_splits):
        yield TextBase(c=c, tokens="terms")(publication_problem(cases, seed))


def disease_similarity(cases: Cases, training: AnyArray) -> FloatArray:
    """Return the Jaccard index of the diseases' annotated terms; of their training cases' where none are annotated."""
    profiles = []
    for label, disease in enumerate(cases.diseases):
        own = cases.profiles.get(disease)
        if not own:
            rows = np.flatnonzero(training & (cases.labels == label))
            own = frozenset().union(*(cases.terms[row] for row in rows))
        profiles.append(own)
    return jaccard(profiles)
