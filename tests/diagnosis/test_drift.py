from dataclasses import replace

import numpy as np
import pytest

from repair import Base, InputError, ScoreSet, Shortlist
from repair.diagnosis import measure_drift


def draw(n, seed, n_classes=20, shares=None):
    rng = np.random.default_rng(seed)
    labels = rng.choice(n_classes, size=n, p=shares)
    return ScoreSet(rng.normal(size=(n, n_classes)) + 2 * np.eye(n_classes)[labels], labels)


@pytest.fixture(scope="module")
def model():
    return Base(5).fit(draw(800, seed=0))


def drifted(model, rows, **options):
    return {test.name for test in measure_drift(model, rows, **options).tests if test.drifted}


def test_the_level_holds_without_drift():
    """In 4,000 simulated runs 3.2 % reported drift; 12 of 100 at level 0.05 would happen once in 200 times."""
    found = [measure_drift(Base(5).fit(draw(300, seed)), draw(150, 1000 + seed)).found for seed in range(100)]
    assert sum(found) < 12


def test_another_scale_is_drift_of_the_scores(model):
    rows = draw(400, seed=1)
    assert drifted(model, replace(rows, scores=1.5 * rows.scores)) == {"gaps", "spans"}
    assert drifted(model, rows) == set()


def test_another_class_mix_is_drift_of_candidates_and_labels(model):
    shares = np.r_[np.full(10, 1.8), np.full(10, 0.2)] / 20
    rows = draw(400, seed=1, shares=shares)
    assert {"first_candidates", "labels"} <= drifted(model, rows)
    assert "labels" not in {test.name for test in measure_drift(model, replace(rows, labels=None)).tests}


def test_a_class_that_is_suddenly_on_many_lists(model):
    rows = draw(400, seed=1)
    rows.scores[:, 7] += 0.7
    drift = measure_drift(model, rows)
    (test,) = (test for test in drift.tests if test.name == "listed_candidates")
    assert test.drifted
    assert test.change.startswith("7: ")


def test_p_values_are_adjusted_and_compared_with_the_level(model):
    rows = draw(400, seed=1)
    drift = measure_drift(model, replace(rows, scores=1.15 * rows.scores), level=0.01)
    for test in drift.tests:
        assert test.p_value <= test.adjusted_p <= 1.0
        assert test.drifted == (test.adjusted_p <= 0.01)
    with pytest.raises(InputError, match="level"):
        measure_drift(model, rows, level=0.0)


def test_groups_count_once(model):
    rows = draw(30, seed=1)
    copies = replace(rows.take(np.repeat(np.arange(30), 20)), groups=np.repeat(np.arange(30), 20))
    drift = measure_drift(model, copies)
    assert (drift.n_rows, drift.found) == (30, False)
    assert measure_drift(model, replace(copies, groups=None)).found  # 30 rows that are taken for 600
    grouped = Base(5).fit(replace(draw(800, seed=0), groups=np.arange(800) // 2))
    assert "name their groups" in measure_drift(grouped, rows).notes[0]


def test_shorter_lists_are_compared_as_far_as_possible(model):
    rows = draw(400, seed=1)
    short = ScoreSet(Shortlist.from_scores(rows.scores, 3))
    drift = measure_drift(model, short)
    assert [test.name for test in drift.tests] == ["gaps", "first_candidates"]
    assert "at most 3 candidates" in drift.notes[0]


def test_what_cannot_be_compared_is_refused(model):
    with pytest.raises(InputError, match="19 new rows are compared with 800 calibration rows"):
        measure_drift(model, draw(19, seed=1))
    old = model.with_state(replace(model.state, fingerprint=None))
    with pytest.raises(InputError, match="fit the model again"):
        measure_drift(old, draw(100, seed=1))


def test_it_prints_its_conclusion_first(model):
    rows = draw(400, seed=1)
    assert str(measure_drift(model, rows)).startswith("No drift found.\n")
    text = str(measure_drift(model, replace(rows, scores=9 * rows.scores)))
    assert text.startswith("Drift found: gap between the first two scores, span of the scores.")
    assert "Note: the scores have another scale" in text
