"""Caltech-101, Flowers-102 and CIFAR-100: parts and tails from arrays."""

import json

import numpy as np
import pytest

from repair import InputError
from repair_bench.running.benchmark_run import run
from repair_bench.sets.registry import get


@pytest.fixture
def write_features(tmp_path):
    def write(name, splits):
        rng = np.random.default_rng(0)
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        counts = {0: (300, 60, 40), 1: (20, 10, 10), 2: (20, 20, 10)}
        labels = np.concatenate([np.repeat([0, 1, 2], counts[split]) for split in splits])
        split = np.concatenate([np.full(sum(counts[one]), one) for one in splits])
        features = (4 * np.eye(3)[labels] + rng.normal(size=(len(labels), 3))).astype(np.float16)
        np.savez(
            folder / "features_efficientnet_lite0.npz",
            features=features,
            labels=labels.astype(np.int16),
            split=split.astype(np.uint8),
        )
        (folder / "meta.json").write_text(json.dumps({"class_names": ["a", "b", "c"]}))
        return tmp_path / "data"

    return write


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize(
    ("name", "splits", "sizes"), [("caltech101", (0, 2), [111, 30, 20]), ("flowers102", (0, 1, 2), [111, 40, 50])]
)
def test_the_training_part_gets_a_tail_and_the_others_stay_whole(write_features, name, splits, sizes):
    benchmark = get(name)
    problem = benchmark.read(benchmark.find(write_features(name, splits)), 42)
    assert problem.counts.tolist() == [100, 10, 1]
    assert np.bincount(problem.part).tolist() == sizes
    base = benchmark.base(problem)
    assert (base.test_scores.argmax(axis=1) == base.test_labels).mean() > 0.9
    assert base.test_embeddings.shape == (sizes[2], 3)


def test_files_that_hold_something_else_are_named(write_features):
    data = write_features("flowers102", (0, 1, 2))
    np.savez(data / "flowers102" / "features_efficientnet_lite0.npz", features=np.eye(2))
    benchmark = get("flowers102")
    with pytest.raises(InputError, match=r"features_efficientnet_lite0\.npz: it has no array 'labels' and no 'split'"):
        benchmark.read(benchmark.find(data), 42)


@pytest.fixture
def outputs(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "data" / "cifar100_outputs"
    folder.mkdir(parents=True)
    labels = np.repeat(np.arange(10), 50)
    logits = 2 * np.eye(10)[labels] + rng.normal(size=(500, 10))
    logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
    np.savez(folder / "wideresnet-16-4_test_logprobs.npz", log_probs=logits.astype(np.float32), labels=labels)
    classes = [{"index": i, "name": f"c{i}", "superclass": f"s{i // 2}"} for i in reversed(range(10))]
    (folder / "class_names.json").write_text(json.dumps(classes))
    return tmp_path / "data", logits


def test_the_simulated_prior_is_what_logit_adjustment_undoes(outputs):
    folder, logits = outputs
    benchmark = get("cifar100")
    problem = benchmark.read(benchmark.find(folder), 42)
    assert problem.class_names[:2] == ("c0", "c1")
    assert sorted(problem.counts.tolist())[::9] == [5, 500]
    assert problem.similarity[0].tolist() == [1, 1, *[0] * 8]
    prior = problem.counts / problem.counts.sum()
    np.testing.assert_allclose(problem.features - np.log(prior), logits, atol=1e-5)
    assert np.bincount(problem.part).tolist() == [0, 300, 200]
    assert "semi-synthetic" in benchmark.note.lower()


def test_outputs_that_hold_something_else_are_named(outputs):
    folder, logits = outputs
    path = folder / "cifar100_outputs" / "wideresnet-16-4_test_logprobs.npz"
    path.write_bytes(path.read_bytes()[:-30])  # a download that stopped
    with pytest.raises(InputError, match="not a complete npz file"):
        get("cifar100").read(get("cifar100").find(folder), 42)
    np.savez(folder / "cifar100_outputs" / "wideresnet-16-4_test_logprobs.npz", scores=logits)
    benchmark = get("cifar100")
    with pytest.raises(InputError, match="no array 'log_probs'"):
        benchmark.read(benchmark.find(folder), 42)


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize(("name", "sizes"), [("caltech101", [2199, 1760, 1133]), ("flowers102", [2218, 818, 819])])
def test_a_slice_of_the_real_features_trains_a_base(real_slice, name, sizes):
    problem, base, _ = real_slice(name, features=lambda small: small.features[:, ::8])
    assert np.bincount(problem.part).tolist() == sizes
    assert problem.features.shape[1] == 1280
    assert problem.counts.max() / problem.counts.min() == 100
    assert (base.test_scores.argmax(axis=1) == base.test_labels).mean() > 0.6


def test_a_slice_of_the_real_outputs_runs(shared_data, tmp_path):
    folder = shared_data("cifar100_outputs").parent
    result = run("cifar100", cache=tmp_path, data=folder, methods=("base", "logit_adjustment", "pairwise"), quick=True)
    metrics = {title: one["metrics"] for title, one in result["methods"].items()}
    assert metrics["LogitAdj"]["hit@1"]["full"] > metrics["Base"]["hit@1"]["full"]
    assert metrics["Pairwise"]["nll"]["full"] < metrics["Base"]["nll"]["full"]
