"""Tiny score files in the layouts of the paper's authors."""

import json

import numpy as np
import pytest

CLASSES = 24


def made_scores(rng, counts, n):
    """Scores that favour frequent classes, and their labels."""
    labels = rng.integers(0, len(counts), size=n)
    scores = rng.normal(size=(n, len(counts))) + 0.6 * np.log(counts)
    scores[np.arange(n), labels] += 2.0
    return scores.astype(np.float32), labels


@pytest.fixture
def author_files(tmp_path):
    """Return a folder with the files of all five data sets."""
    rng = np.random.default_rng(5)
    root, counts = tmp_path / "npz", np.round(400 / np.arange(1, CLASSES + 1)) + 1
    results = root / "results"
    for name in ("imagenet_lt", "inat", "backbone", "rarebench"):
        (results / name).mkdir(parents=True)
    (root / "data" / "imagenet_lt").mkdir(parents=True)

    logits, labels = made_scores(rng, counts, 1000)
    np.savez(results / "imagenet_lt" / "imagenet_lt_logits.npz", logits=logits, labels=labels)
    lines = [f"train/n{label:02d}/{one}.JPEG {label}" for label in range(CLASSES) for one in range(int(counts[label]))]
    (root / "data" / "imagenet_lt" / "ImageNet_LT_train.txt").write_text("\n".join(lines) + "\n")
    np.save(results / "imagenet_lt" / "wn_sim.npy", rng.random((CLASSES, CLASSES)))

    parts = {}
    for part, n in (("cal", 500), ("test", 600)):
        parts[f"{part}_logits"], parts[f"{part}_labels"] = made_scores(rng, counts, n)
    distance = np.abs(np.arange(CLASSES)[:, None] - np.arange(CLASSES)) / CLASSES
    np.savez(results / "inat" / "logits.npz", counts=counts, tax_dist=distance, **parts)

    logits, labels = made_scores(rng, counts, 900)
    places = {"test_logits": logits, "test_labels": labels, "train_counts": counts}
    np.savez(results / "backbone" / "resnet152_places_lt_logits.npz", **places)

    write_diseases(root, rng, counts)
    return root


def write_diseases(root, rng, counts):
    inference, data = root / "qwen-vl-inference/results/inference_output", root / "qwen-vl-finetune/qwenvl/data"
    inference.mkdir(parents=True)
    data.mkdir(parents=True)
    names = [f"disease {label}" for label in range(CLASSES)]
    for part, n in (("cal", 500), ("test", 600)):
        logits, labels = made_scores(rng, counts, n)
        path = inference / f"v2_kway_08b_final_{part}.logits.npz"
        np.savez(path, logits=3 + logits, true_labels=labels, disease_names=np.array(names))
    rows = [f"{name},train" for name, count in zip(names, counts, strict=True) for _ in range(int(count))]
    (data / "v2_manifest.csv").write_text("\n".join(["disease_name,split", *rows, "disease 0,test"]) + "\n")
    cards = {name: f"Face: HP:000{label % 5:04d}, HP:000{label % 7:04d}" for label, name in enumerate(names)}
    (data / "v2_disease_cards.json").write_text(json.dumps(cards))
    np.save(root / "results" / "gmdb_classifier_norms.npy", 0.5 + rng.random(CLASSES))
    logits, labels = made_scores(rng, counts, 195)
    np.savez(root / "results" / "rarebench" / "rarebench_qwen_logits.npz", logits=3 + logits, labels=labels)
    np.save(root / "results" / "rarebench" / "disease_train_counts.npy", counts)
