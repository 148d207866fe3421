"""The paper's rare-disease benchmarks: faces of the GestaltMatcher Database, and RareBench over its diseases.

Their classifier is a fine-tuned vision–language model, whose scores come from a file.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from repair.errors import InputError
from repair_bench.bases.base_scores import ScoresOrHead
from repair_bench.data.author_files import RAREBENCH_SHARE, read_author_scores
from repair_bench.data.gmdb import mapped_cases, read_gmdb, read_rarebench
from repair_bench.data.layouts import AUTHORS
from repair_bench.data.parts import CALIBRATION, PAPER_SEED, TEST, published_halves
from repair_bench.data.problem import Problem
from repair_bench.data.score_arrays import check_labels, read_npz
from repair_bench.data.sizes import GMDB, RAREBENCH, with_sizes
from repair_bench.data.sources import found
from repair_bench.harness.benchmark import Benchmark, Published
from repair_bench.sets import rarebench

__all__ = ["BENCHMARKS", "read", "read_rarebench_gmdb"]

RAW = (
    "All methods get the raw scores here. `repair bench table1` uses the paper's rule, in which the scores of the "
    "shortlist are divided by the square roots of the weight norms."
)
PUBLISHED = Published(
    "Qwen3.5-0.8B",
    {"lambda_a": 0.5, "lambda_theta": 0.01, "alpha": 0.3, "tau": 0.0},
    {
        "Base": {"coverage": 51.6, "hit@1": 64.0, "hit@3": 79.3, "mrr": 0.741, "rare": 62.9, "frequent": 64.7},
        "LogitAdj": {"hit@1": 70.6, "hit@3": 85.5, "mrr": 0.797, "rare": 78.8, "frequent": 65.1, "hfr": 0.422},
        "τ-norm": {"hit@1": 67.4, "hit@3": 81.6, "mrr": 0.769, "rare": 66.4, "frequent": 68.0, "hfr": 0.168},
        "Classwise": {"hit@1": 71.4, "hit@3": 85.8, "mrr": 0.801, "rare": 78.5, "frequent": 66.5, "hfr": 0.441},
        "REPAIR": {"hit@1": 72.3, "hit@3": 85.8, "mrr": 0.806, "rare": 79.6, "frequent": 67.4, "hfr": 0.510},
    },
)


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the published parts: validation images calibrate.  Nothing is random, so the seed is not used."""
    place = found("gmdb", folders["gmdb"])
    if place.layout == AUTHORS:
        return with_sizes(read_author_scores(place).problem, GMDB)
    diseases = read_gmdb(place.files)
    path = place.files["scores"]
    arrays = read_npz(path, ("calibration_scores", "test_scores", "weight_norms"))
    parts = (("calibration_scores", "val", CALIBRATION), ("test_scores", "test", TEST))
    for name, part, _ in parts:
        _check_shape(arrays[name].shape, (len(diseases.labels[part]), len(diseases.names)), f"{name} in {path}")
        check_labels(diseases.labels[part], arrays[name], str(path))
    problem = Problem(
        diseases.names,
        np.concatenate([diseases.labels[part] for _, part, _ in parts]),
        np.concatenate([np.full(len(diseases.labels[part]), code, dtype=np.int32) for _, part, code in parts]),
        features=np.concatenate([arrays[name] for name, _, _ in parts]),
        similarity=diseases.similarity,
        class_counts=diseases.counts,
        weight_norms=arrays["weight_norms"],
        notes=diseases.notes,
    )
    return with_sizes(problem, GMDB)


def read_rarebench_gmdb(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the cases that map to GMDB.  60 % at random calibrate, and rare classes are those of GMDB."""
    place = found("rarebench_gmdb", folders["rarebench_gmdb"])
    if place.layout == AUTHORS:
        return with_sizes(read_author_scores(place).problem, RAREBENCH)
    diseases = read_gmdb(place.files)
    cases = mapped_cases(read_rarebench(place.files), diseases)
    path = place.files["scores"]
    arrays = read_npz(path, ("scores", "weight_norms"))
    _check_shape(arrays["scores"].shape, (len(cases.labels), len(diseases.names)), f"scores in {path}")
    problem = Problem(
        diseases.names,
        cases.labels,
        published_halves(len(cases.labels), int(RAREBENCH_SHARE * len(cases.labels)), seed),
        features=arrays["scores"],
        similarity=diseases.similarity,
        class_counts=diseases.counts,
        weight_norms=arrays["weight_norms"],
        notes=(*diseases.notes, *cases.notes),
    )
    return with_sizes(problem, RAREBENCH)


def _check_shape(shape: tuple[int, ...], expected: tuple[int, int], where: str) -> None:
    if shape != expected:
        raise InputError(
            f"{where} has shape {shape}; expected {expected}, one row per image or case in the order of the list and "
            "one column per disease with facial terms, in the order of the syndrome ids"
        )


BENCHMARKS = (
    Benchmark(
        name="gmdb",
        title="GestaltMatcher Database, syndromes from faces",
        home="db.gestaltmatcher.org",
        folders=("gmdb",),
        read=read,
        base=ScoresOrHead(),
        published=PUBLISHED,
        note=RAW,
    ),
    Benchmark(
        name="rarebench_gmdb",
        title="RareBench cases over the diseases of GMDB, as in the paper",
        home="huggingface.co/datasets/chenxz/RareBench",
        folders=("rarebench_gmdb",),
        read=read_rarebench_gmdb,
        base=ScoresOrHead(),
        seed=PAPER_SEED,
        published=rarebench.PUBLISHED,
        note=f"Out of domain: the classifier was trained on faces, and gets only text. {RAW}",
    ),
)
