"""How many classes are ranked: as many as bring labels that the row's neighbours can name."""

import numpy as np
import pytest

from repair import ExtendedOptions, Reranker, ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.fitting import list_width
from repair.fitting.list_width import number_ranked

K = 60
OPTIONS = ExtendedOptions()
COUNTS = np.arange(1.0, K + 1.0)


def make(n=400, *, lowered=False, seed=0, gain=6.0, **known):
    """Scores that put every label on a list of 10, or with `lowered` those of a third of the classes on one of 50."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, K, size=n)
    scores = rng.normal(size=(n, K)) + gain * np.eye(K)[labels]
    if lowered:
        scores[:, ::3] -= 9.0
    return CalibrationSet.build(ScoreSet(scores, labels, class_counts=COUNTS, **known), 10)


def vectors(rows, noise=0.3, seed=1):
    return np.eye(K)[rows.labels] + noise * np.random.default_rng(seed).normal(size=(len(rows.labels), K))


def test_a_list_that_misses_no_label_stays_short():
    assert number_ranked(make(), OPTIONS) == 10


def test_labels_that_rows_with_similar_scores_name_make_it_longer():
    """The scores of a third of the classes are far too low, but rows of such a class still have similar scores."""
    rows = make(lowered=True)
    assert rows.covered.mean() < 0.75
    assert number_ranked(rows, OPTIONS) == 50


def test_labels_that_nothing_can_name_do_not():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, size=400)
    rows = CalibrationSet.build(ScoreSet(rng.normal(size=(400, K)), labels, class_counts=COUNTS), 10)
    assert rows.covered.mean() < 0.4
    assert number_ranked(rows, OPTIONS) == 10


def test_rows_of_a_group_do_not_name_labels_for_each_other():
    groups = np.arange(400)
    rows = make(lowered=True)
    together = make(lowered=True, groups=rows.labels)  # every row of a class is in one group
    assert number_ranked(make(lowered=True, groups=groups), OPTIONS) == 50
    assert number_ranked(together, OPTIONS) == 10


def test_rows_of_weight_zero_do_not_count():
    rows = make(lowered=True)
    usual = rows.labels % 3 != 0
    assert number_ranked(make(lowered=True, sample_weight=usual.astype(float)), OPTIONS) == 10


def test_a_single_row_is_not_enough(monkeypatch):
    monkeypatch.setattr(list_width, "FEWEST", 10**6)
    assert number_ranked(make(lowered=True), OPTIONS) == 10


@pytest.mark.parametrize(
    ("options", "width"),
    [
        (ExtendedOptions(n_ranked=17), 17),
        (ExtendedOptions(n_ranked=3), 10),
        (ExtendedOptions(n_ranked=99), K),
        (ExtendedOptions(fast=True), 10),
    ],
)
def test_options_decide(options, width):
    assert number_ranked(make(lowered=True), options) == width


def test_without_learned_terms_or_scores_the_list_stays_short():
    rows = make(lowered=True)
    assert number_ranked(rows, OPTIONS, learned=False) == 10
    listed = CalibrationSet.build(ScoreSet(rows.shortlist, rows.labels, class_counts=COUNTS), 10)
    assert number_ranked(listed, OPTIONS) == 10


def test_with_embeddings_all_of_few_classes_are_ranked(monkeypatch):
    rows = make()
    rows = make(embeddings=vectors(rows))
    assert number_ranked(rows, OPTIONS) == K
    monkeypatch.setattr(list_width, "MOST_RANKED", 50)  # as if there were many classes
    assert number_ranked(rows, OPTIONS) == 50
    monkeypatch.setattr(list_width, "FEW_ROWS", 400)
    assert number_ranked(rows, OPTIONS) == 10


def test_with_embeddings_of_many_classes_and_rows_neighbours_decide(monkeypatch):
    monkeypatch.setattr(list_width, "MOST_RANKED", 50)
    monkeypatch.setattr(list_width, "FEW_ROWS", 400)
    labels = make(lowered=True).labels
    given = vectors(make(lowered=True))
    assert number_ranked(make(lowered=True, embeddings=given), OPTIONS) == 50
    reference = {"reference_embeddings": np.eye(K), "reference_labels": np.arange(K)}
    alone = {"groups": labels, "embeddings": given}
    assert number_ranked(make(lowered=True, **alone), OPTIONS) == 10
    assert number_ranked(make(lowered=True, **alone, **reference), OPTIONS) == 50


def test_the_model_finds_what_a_short_list_misses():
    rows, new = make(lowered=True, gain=4.0), make(lowered=True, seed=1, gain=4.0)
    hits = []
    for options in (OPTIONS, ExtendedOptions(n_ranked=10)):
        model = Reranker("extended", n_candidates=10, extended=options)
        model.fit(rows.all_scores, rows.labels, class_counts=COUNTS)
        assert model.rerank(new.all_scores).ids.shape == (400, 10)
        hits.append((model.predict(new.all_scores) == new.labels).mean())
    assert hits[0] > hits[1] + 0.1


def test_a_model_without_counts_and_a_fixed_tau():
    rows = make(lowered=True)
    bare = CalibrationSet.build(ScoreSet(rows.all_scores, rows.labels), 10)
    assert number_ranked(bare, OPTIONS) == 50
    assert number_ranked(rows, ExtendedOptions(shortlist_tau=0.0)) == 50
