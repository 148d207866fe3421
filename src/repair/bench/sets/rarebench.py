"""RareBench's public cases, scored by a base that was trained on other people's cases.

Two protocols on the same test cases: calibrated on 60 % of RareBench, as in the paper, or on the
source domain only, where nothing of RareBench is seen before the test.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repair.arrays import FloatArray, IntArray
from repair.bench.base_scores import TextBase
from repair.bench.benchmark import Benchmark, Published
from repair.bench.parts import CALIBRATION, PAPER_SEED, TEST, TRAINING
from repair.bench.phenopackets import (
    CASES_HOME,
    ONTOLOGY_HOME,
    Cases,
    disease_similarity,
    read_cases,
    split_by_publication,
)
from repair.bench.problem import Problem
from repair.bench.term_base import BASE_C
from repair.similarity import Ontology
from repair.similarity.reading import read_text

__all__ = ["BENCHMARKS", "FATES", "OtherCases", "read_others", "target_parts"]

#: RareBench's own repository holds no cases; these are the public ones it was built from.
HOME = "github.com/xiaohaomao/timgroup_disease_diagnosis"
FOLDERS = ("rarebench_public", "phenopacket_store", "hpo")
HOMES = {"phenopacket_store": CASES_HOME, "hpo": ONTOLOGY_HOME}
#: The split by publication that trains the base: the first of `repair.bench.phenopackets`.
TRAINING_SEED = 0
#: Cases of one disease whose terms are as alike as this (Jaccard index) may be one patient.
NEAR = 0.6
CALIBRATION_SHARE = 0.6
UNKNOWN, COPY, KEPT = FATES = ("unknown disease", "near-duplicate", "kept")
NUMBERS = {
    "Base": {"coverage": 42.3, "hit@1": 59.4, "hit@3": 75.0, "mrr": 0.712, "rare": 41.2, "frequent": 80.0},
    "LogitAdj": {"hit@1": 62.5, "hit@3": 71.9, "mrr": 0.712, "rare": 52.9, "frequent": 73.3, "hfr": 0.385},
    "τ-norm": {"hit@1": 56.2, "hit@3": 78.1, "mrr": 0.702, "rare": 41.2, "frequent": 73.3, "hfr": 0.0},
    "Classwise": {"hit@1": 66.2, "hit@3": 91.2, "mrr": 0.789, "rare": 54.1, "frequent": 80.0, "hfr": 0.215},
    "REPAIR": {"hit@1": 85.6, "hit@3": 92.5, "mrr": 0.899, "rare": 81.2, "frequent": 90.7, "hfr": 0.708},
}
PUBLISHED = Published(
    "Qwen3.5-0.8B (text)", {"lambda_a": 0.005, "lambda_theta": 5e-5, "alpha": 0.0, "tau": 0.0}, NUMBERS
)


@dataclass(frozen=True, eq=False)
class OtherCases:
    """Cases of the other domain that have a disease of the base, and how many were left out and why.

    `subsets` are the names that the data infer, one for each case; `fates` counts (subset, fate) over all
    cases, with the fates of `FATES`.
    """

    labels: IntArray
    terms: tuple[frozenset[str], ...]
    observed: tuple[frozenset[str], ...]
    notes: tuple[str, ...]
    subsets: tuple[str, ...]
    fates: Counter[tuple[str, str]]


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Train on the source domain, calibrate on 60 % of RareBench, test on the others."""
    return _problem(folders, seed, from_source=False)


def read_from_source(folders: Mapping[str, Path], seed: int) -> Problem:
    """Train and calibrate on the source domain, test on the same cases."""
    return _problem(folders, seed, from_source=True)


def _problem(folders: Mapping[str, Path], seed: int, *, from_source: bool) -> Problem:
    cases = read_cases(folders["phenopacket_store"], folders["hpo"])
    others = read_others(folders["rarebench_public"], folders["hpo"], cases)
    source = split_by_publication(cases.labels, cases.publications, TRAINING_SEED)
    source[source != TRAINING] = CALIBRATION
    target = target_parts(len(others.labels), seed)
    if from_source:
        target[target == CALIBRATION] = -1
    seen = () if from_source else (_seen_before(others, target),)
    kept = np.concatenate([source == TRAINING if not from_source else source >= 0, target >= 0])
    # RareBench names no publications: each of its cases is a group of its own.
    groups = np.concatenate([cases.publications, cases.publications.max() + 1 + np.arange(len(target))])
    whole = Problem(
        cases.diseases,
        np.concatenate([cases.labels, others.labels]),
        np.concatenate([source, target]),
        texts=tuple(" ".join(sorted(terms)) for terms in (*cases.terms, *others.terms)),
        groups=groups if from_source else None,
        similarity=disease_similarity(cases, source == TRAINING),
        notes=(*others.notes, *seen),
    )
    return whole.take(kept)


def target_parts(n_cases: int, seed: int) -> IntArray:
    """Deal 60 % of RareBench's cases to calibration and the others to test.

    Examples
    --------
    >>> from repair.bench.sets.rarebench import target_parts
    >>> sorted(target_parts(5, seed=0).tolist())
    [1, 1, 1, 2, 2]
    """
    part = np.full(n_cases, TEST, dtype=np.int32)
    part[np.random.default_rng(seed).permutation(n_cases)[: round(CALIBRATION_SHARE * n_cases)]] = CALIBRATION
    return part


def read_others(folder: Path, ontology: Path, cases: Cases) -> OtherCases:
    """Read RareBench's cases whose disease the base knows, without near-duplicates of the base's own.

    Parameters
    ----------
    folder, ontology : Path
    cases : Cases
        All of the source domain, whichever part they are in: a copy among the calibration cases
        would give a test case away as well.
    """
    closure = Ontology.read(ontology).closure
    place = {disease: label for label, disease in enumerate(cases.diseases)}
    rows = [json.loads(line) for line in read_text(folder / "public_test_set.jsonl.gz").split("\n") if line]
    labels, terms, observed, subsets = [], [], [], []
    fates: Counter[tuple[str, str]] = Counter()
    for row in rows:
        subset = row.get("subset_inferred", "all")
        label = next((place[one] for one in row["disease_ids"] if one in place), None)
        if label is None:
            fates[subset, UNKNOWN] += 1
            continue
        own = frozenset(row["hpo_observed"])
        if _closest(own, [cases.observed[case] for case in np.flatnonzero(cases.labels == label)]) >= NEAR:
            fates[subset, COPY] += 1
            continue
        fates[subset, KEPT] += 1
        subsets.append(subset)
        labels.append(label)
        terms.append(closure(own, unknown="skip"))
        observed.append(own)
    unknown, copies = (sum(n for (_, fate), n in fates.items() if fate == one) for one in (UNKNOWN, COPY))
    notes = (
        f"{len(rows)} RareBench cases: {unknown} of diseases the base does not know and {copies} near-duplicates "
        f"(same disease, Jaccard index of the terms ≥ {NEAR:g}) left out, {len(labels)} kept",
    )
    return OtherCases(np.array(labels, dtype=np.int32), tuple(terms), tuple(observed), notes, tuple(subsets), fates)


def _seen_before(others: OtherCases, part: IntArray) -> str:
    """Say how many test cases have a near-copy, or at least their disease, among the calibration cases."""
    calibration, test = np.flatnonzero(part == CALIBRATION), np.flatnonzero(part == TEST)
    alike = [
        [_closest(others.observed[row], [others.observed[one]]) for one in calibration if others.labels[one] == label]
        for row, label in zip(test, others.labels[test], strict=True)
    ]
    near = sum(max(values, default=0.0) >= NEAR for values in alike)
    return (
        f"of {len(test)} test cases {sum(map(bool, alike))} have a calibration case of the same disease, "
        f"{near} a near-duplicate; RareBench names no publications to keep apart"
    )


def _closest(own: frozenset[str], others: list[frozenset[str]]) -> float:
    """Return the largest Jaccard index with any of the others."""
    alike: FloatArray = np.array([len(own & other) / max(len(own | other), 1) for other in others] or [0.0])
    return float(alike.max())


BENCHMARKS = (
    Benchmark(
        name="rarebench",
        title="RareBench cases, base from the Phenopacket Store, calibrated on 60 % of them",
        home=HOME,
        folders=FOLDERS,
        homes=HOMES,
        read=read,
        base=TextBase(c=BASE_C, tokens="terms"),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="Out of domain, with another base and other diseases than the paper's.",
    ),
    Benchmark(
        name="rarebench_source",
        title="RareBench cases, base and calibration from the Phenopacket Store",
        home=HOME,
        folders=FOLDERS,
        homes=HOMES,
        read=read_from_source,
        base=TextBase(c=BASE_C, tokens="terms"),
        seed=PAPER_SEED,
        note="Out of domain: no RareBench case is seen before the test.",
    ),
)
