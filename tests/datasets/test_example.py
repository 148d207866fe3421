"""The example that `repair example` writes has a long tail, and a correction helps its rare classes."""

import numpy as np
import pytest

from repair import Base, Reranker, evaluate
from repair.datasets import EXAMPLE_FILES, example_files, make_example


def accuracy(model, rows):
    return evaluate(model.rerank(rows.scores), rows.labels, class_counts=rows.class_counts).unconditional


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_correction_helps_rare_classes_and_overall(seed):
    calibration, test = make_example(seed)
    before, after = (accuracy(model.fit(calibration), test) for model in (Base(), Reranker("pairwise")))
    assert after["rare"] > before["rare"] + 0.03
    assert after["hit@1"] > before["hit@1"]


def test_there_is_a_long_tail_and_every_class_occurs():
    calibration, test = make_example()
    counts = calibration.class_counts
    assert counts[0] >= 30 * counts[-1] > 0
    for rows in (calibration, test):
        assert set(rows.labels) == set(rows.class_names)


def test_a_seed_gives_the_same_rows_and_another_seed_others():
    first, again, other = (make_example(seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.scores, again.scores)
    assert not np.array_equal(first.labels, other.labels)


@pytest.mark.needs("pyarrow")
def test_the_files_contain_the_rows(tmp_path):
    from repair.io import read_class_table, read_score_set

    files = example_files()
    assert tuple(files) == EXAMPLE_FILES
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    classes = read_class_table(tmp_path / "classes.csv")
    for name, rows in zip(EXAMPLE_FILES, make_example(), strict=False):
        found = read_score_set(tmp_path / name, classes=classes).rows
        names = np.array(found.class_names)
        assert tuple(names) == rows.class_names
        np.testing.assert_array_equal(found.class_counts, rows.class_counts)
        best = names[found.scores.ids[:, 0]]
        np.testing.assert_array_equal(best, names[rows.scores.argmax(axis=1)])
        assert list(found.labels) == list(rows.labels)
