"""The public cases of RareBench, scored by a base that was trained on cases from another source.

There are two protocols with the same test cases.  One calibrates on 60 % of RareBench, as in the
paper.  The other calibrates on the source domain only, and uses no RareBench case before the test.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.demo.term_classifier import BASE_C
from repair.similarity import Ontology
from repair_bench.bases.base_scores import TextBase
from repair_bench.data.gmdb import read_rarebench
from repair_bench.data.layouts import OFFICIAL, Found
from repair_bench.data.parts import CALIBRATION, PAPER_SEED, TEST, TRAINING
from repair_bench.data.phenopackets import (
    Cases,
    disease_similarity,
    read_cases,
    split_by_publication,
)
from repair_bench.data.problem import Problem
from repair_bench.data.sources import found
from repair_bench.data.texts import read_json_lines
from repair_bench.harness.benchmark import Benchmark, Published

__all__ = ["BENCHMARKS", "FATES", "OtherCases", "read_others", "target_parts"]

#: The repository of RareBench contains no cases.  These are the public ones from which it was built.
HOME = "github.com/xiaohaomao/timgroup_disease_diagnosis"
FOLDERS = ("rarebench_public", "phenopacket_store", "hpo")
#: Seed of the split by publication that trains the base, the first of `repair_bench.sets.phenopackets`.
TRAINING_SEED = 0
#: Two cases of one disease may be the same patient if their Jaccard index is at least this.
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
    """RareBench cases with a disease that the base knows, and how many cases were left out and why.

    `subsets` has the inferred subset of each case.  `fates` counts the pairs (subset, fate) over all
    cases, where a fate is one of `FATES`.
    """

    labels: IntArray
    terms: tuple[frozenset[str], ...]
    observed: tuple[frozenset[str], ...]
    notes: tuple[str, ...]
    subsets: tuple[str, ...]
    fates: Counter[tuple[str, str]]


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Train on the source domain, calibrate on 60 % of RareBench, and test on the rest."""
    return _problem(folders, seed, from_source=False)


def read_from_source(folders: Mapping[str, Path], seed: int) -> Problem:
    """Train and calibrate on the source domain, and test on the same cases as `read`."""
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
    # RareBench does not name publications, so each of its cases is its own group.
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
    """Assign 60 % of the RareBench cases to calibration and the rest to test.

    Examples
    --------
    >>> from repair_bench.sets.rarebench import target_parts
    >>> sorted(target_parts(5, seed=0).tolist())
    [1, 1, 1, 2, 2]
    """
    part = np.full(n_cases, TEST, dtype=np.int32)
    part[np.random.default_rng(seed).permutation(n_cases)[: round(CALIBRATION_SHARE * n_cases)]] = CALIBRATION
    return part


def read_others(folder: Path, ontology: Path, cases: Cases) -> OtherCases:
    """Read the RareBench cases whose disease the base knows, without near-duplicates of source cases.

    Parameters
    ----------
    folder, ontology : Path
    cases : Cases
        All cases of the source domain, whatever their part, because a copy among the calibration
        cases would also reveal a test case.
    """
    closure = Ontology.read(ontology).closure
    label_of = {disease: label for label, disease in enumerate(cases.diseases)}
    rows = _cases(found("rarebench_public", folder))
    labels, terms, observed, subsets = [], [], [], []
    fates: Counter[tuple[str, str]] = Counter()
    for row in rows:
        subset = row["subset"]
        label = next((label_of[one] for one in row["disease_ids"] if one in label_of), None)
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
        f"of {len(rows)} RareBench cases, {unknown} of diseases the base does not know and {copies} near-duplicates "
        f"(same disease, Jaccard index of the terms ≥ {NEAR:g}) were left out, and {len(labels)} were kept",
    )
    return OtherCases(np.array(labels, dtype=np.int32), tuple(terms), tuple(observed), notes, tuple(subsets), fates)


def _cases(place: Found) -> list[dict[str, Any]]:
    """Return the cases of the public extract or of RareBench's own files, with ``subset``."""
    if place.layout == OFFICIAL:
        return read_rarebench(place.files)
    rows = read_json_lines(place.files["public_test_set"])
    return [{**row, "subset": row.get("subset_inferred", "all")} for row in rows]


def _seen_before(others: OtherCases, part: IntArray) -> str:
    """Return a note on how many test cases have a near-duplicate, or their disease, among the calibration cases."""
    calibration, test = np.flatnonzero(part == CALIBRATION), np.flatnonzero(part == TEST)
    alike = [
        [_closest(others.observed[row], [others.observed[one]]) for one in calibration if others.labels[one] == label]
        for row, label in zip(test, others.labels[test], strict=True)
    ]
    near = sum(max(values, default=0.0) >= NEAR for values in alike)
    return (
        f"of {len(test)} test cases, {sum(map(bool, alike))} have a calibration case of the same disease and {near} "
        "have a near-duplicate there. RareBench does not name publications, so these cannot be kept apart"
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
        read=read,
        base=TextBase(c=BASE_C, tokens="terms"),
        seed=PAPER_SEED,
        published=PUBLISHED,
        note="Out of domain, with another base and other diseases than in the paper.",
    ),
    Benchmark(
        name="rarebench_source",
        title="RareBench cases, base and calibration from the Phenopacket Store",
        home=HOME,
        folders=FOLDERS,
        read=read_from_source,
        base=TextBase(c=BASE_C, tokens="terms"),
        seed=PAPER_SEED,
        note="Out of domain: no RareBench case is used before the test.",
    ),
)
