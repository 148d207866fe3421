"""Tiny data sets in the formats of the real ones."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest

from repair import Base, Reranker, compare
from repair_bench.data.sources import source
from repair_bench.sets.registry import get


def _write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def _write_lines(path, rows):
    _write_gz(path, "".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def write_gz():
    return _write_gz


@pytest.fixture
def write_lines():
    return _write_lines


def words(label, rng, noise=3):
    """A text that mostly gives its label away, with words that all share."""
    own = f"word{label}" if rng.random() < 0.8 else f"word{rng.integers(0, 8)}"
    return " ".join([own, *(f"shared{rng.integers(0, 20)}" for _ in range(noise))])


@pytest.fixture
def tiny_massive(tmp_path):
    """Return a data folder with MASSIVE's files: eight intents with a tail."""
    rng = np.random.default_rng(0)
    counts = np.array([80, 60, 40, 30, 20, 15, 10, 8])
    for part, factor in (("train", 1.0), ("validation", 1.0), ("test", 1.0)):
        labels = np.repeat(np.arange(8), (counts * factor).astype(int))
        rows = [{"text": words(one, rng), "label": int(one), "label_text": f"intent{one}"} for one in labels]
        _write_lines(tmp_path / "data" / "massive_en_us" / f"{part}.jsonl.gz", rows)
    return tmp_path / "data"


@pytest.fixture
def tiny_diseases(tmp_path):
    """Return a data folder with an ontology and cases: six diseases in four publications each."""
    rng = np.random.default_rng(1)
    terms = {"HP:1": ["root", []]} | {f"HP:{i}": [f"term {i}", ["HP:1"]] for i in range(2, 40)}
    folder = tmp_path / "data"
    _write_gz(folder / "hpo" / "hpo_terms.json.gz", json.dumps({"version": "t", "terms": terms, "replaced": {}}))
    annotated = [{"id": f"OMIM:{one}", "name": "", "hpo": [[f"HP:{5 * one}", ""]]} for one in range(1, 4)]
    _write_lines(folder / "hpo" / "disease_annotations.jsonl.gz", annotated)
    rows = []
    for disease in range(1, 7):
        for case in range(16):
            shown = rng.choice(np.arange(5 * disease, 5 * disease + 5), 2, replace=False).tolist()
            shown.append(int(rng.integers(2, 40)))
            rows.append(
                {
                    "disease_id": f"OMIM:{disease}",
                    "pmid": f"PMID:{disease}{case // 4}",
                    "hpo_observed": [f"HP:{term}" for term in sorted(set(shown))],
                }
            )
    _write_lines(folder / "phenopacket_store" / "cases.jsonl.gz", rows)
    return folder


@pytest.fixture
def real_slice(shared_data):
    """Return a function that reads a benchmark's real data and trains its base on few classes and rows.

    A dozen classes keep the training of a base within a second or two; whole runs are for the command.
    """

    def read_and_score(name, n_classes=12, **changes):
        benchmark = get(name)
        data = {shared_data(source(name).folder_names[0]).parent for name in benchmark.folders}.pop()
        problem = benchmark.read(benchmark.find(data), benchmark.seed)
        most = np.argsort(-np.bincount(problem.labels, minlength=len(problem.class_names)), kind="stable")
        small = problem.take(np.isin(problem.labels, most[:n_classes])).without_untrained_classes().quick(0)
        base = benchmark.base(replace(small, **{key: make(small) for key, make in changes.items()}))
        assert base.test_scores.shape[1] == n_classes
        found = compare(
            {"Base": Base(5), "Pairwise": Reranker("pairwise", n_candidates=5)},
            base.calibration,
            base.test,
            trials=1,
            resamples=100,
        )
        return problem, base, found

    return read_and_score
