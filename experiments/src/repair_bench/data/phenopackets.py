"""Rare-disease diagnosis from phenotype terms: published patients, split by publication.

The cases come from the Phenopacket Store.  Their diseases have at least two publications and three
cases.  The base model (TF-IDF, logistic regression) sees only the observed HPO terms with all their
ancestors, because gene, cohort, case id and publication would reveal the diagnosis.  For each
disease one whole publication, drawn at random, is used for training.  All other publications go to
calibration or test, half each.  No publication is in two parts, and publications are the groups.
"""

import json
from collections import defaultdict
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.similarity import Ontology, jaccard, read_annotations
from repair.similarity.reading import read_text
from repair_bench.data.parts import CALIBRATION, TEST, TRAINING
from repair_bench.data.problem import Problem
from repair_bench.data.sources import found

__all__ = ["Cases", "disease_similarity", "publication_problem", "read_cases", "split_by_publication"]

CASES_HOME = "github.com/monarch-initiative/phenopacket-store"
CASES_FILE = "cases.jsonl.gz"
FEWEST_PUBLICATIONS, FEWEST_CASES = 2, 3


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of the benchmark.

    Attributes
    ----------
    diseases : tuple of str
        Sorted disease ids.  Labels are positions in this tuple.
    labels, publications : ndarray of int, shape (n,)
        Disease and publication of each case.
    terms : tuple of frozenset of str
        Observed terms of each case, with all their ancestors.
    profiles : dict
        Annotated terms of each disease that has any, with all their ancestors.
    observed : tuple of frozenset of str
        The terms of each case as published, without ancestors.
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
        The folder with the cases, and the folder with terms and annotations.  By default
        ``phenopacket_store`` and ``hpo`` under ``$REPAIR_DATA``.

    Returns
    -------
    Cases
    """
    hpo = found("hpo", ontology).files
    terms = Ontology.read(hpo["terms"])
    kept = _that_can_be_split(_records(found("phenopacket_store", cases).files["cases"]))
    diseases = tuple(sorted({case["disease_id"] for case in kept}))
    label_of = {disease: label for label, disease in enumerate(diseases)}
    publications = np.unique([case["pmid"] for case in kept], return_inverse=True)[1]
    annotated = read_annotations(hpo["annotations"])
    return Cases(
        diseases,
        np.array([label_of[case["disease_id"]] for case in kept], dtype=np.int32),
        publications.astype(np.int32),
        tuple(terms.closure(case["hpo_observed"], unknown="skip") for case in kept),
        {name: terms.closure(annotated[name], unknown="skip") for name in diseases if annotated.get(name)},
        tuple(frozenset(case["hpo_observed"]) for case in kept),
    )


def _records(path: Path) -> list[dict[str, Any]]:
    lines = read_text(path).split("\n")
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
    """Assign whole publications to training (0), calibration (1) and test (2).

    Diseases are visited in random order.  If a disease has no publication in training yet, one of
    its publications, drawn at random, goes there.  The other publications are shuffled and go to
    calibration and test in turn.

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
    >>> from repair_bench.data.phenopackets import split_by_publication
    >>> labels, publications = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 3, 3])
    >>> sorted(split_by_publication(labels, publications, 0)[[0, 2]].tolist())[0]
    0
    """
    rng = np.random.default_rng(seed)
    part = np.full(int(publications.max()) + 1, -1)
    of_disease = [np.unique(publications[labels == label]) for label in range(int(labels.max()) + 1)]
    for disease in rng.permutation(len(of_disease)):
        candidates = of_disease[disease]
        if not (part[candidates] == TRAINING).any():
            part[rng.choice(candidates)] = TRAINING
    others = rng.permutation(np.flatnonzero(part < 0))
    part[others[::2]], part[others[1::2]] = CALIBRATION, TEST
    return part[publications].astype(np.int32)


def publication_problem(cases: Cases, seed: int) -> Problem:
    """Return the cases as a problem, split by publication, with publications as groups."""
    part = split_by_publication(cases.labels, cases.publications, seed)
    return Problem(
        cases.diseases,
        cases.labels,
        part,
        texts=tuple(" ".join(sorted(terms)) for terms in cases.terms),
        groups=cases.publications,
        similarity=disease_similarity(cases, part == TRAINING),
    )


def disease_similarity(cases: Cases, training: AnyArray) -> FloatArray:
    """Return the Jaccard index of annotated terms; a disease without any takes the terms of its training cases."""
    profiles = []
    for label, disease in enumerate(cases.diseases):
        terms = cases.profiles.get(disease)
        if not terms:
            rows = np.flatnonzero(training & (cases.labels == label))
            terms = frozenset().union(*(cases.terms[row] for row in rows))
        profiles.append(terms)
    return jaccard(profiles)
