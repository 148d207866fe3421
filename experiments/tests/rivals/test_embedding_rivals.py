"""Rivals that read embeddings: neighbours, discriminant analysis, kernel ridge and heads."""

from dataclasses import replace

import numpy as np
import pytest

from repair.data.calibration_set import CalibrationSet
from repair.rerankers.rivals.gda import Gda
from repair.rerankers.rivals.neighbours import KnnInterpolation, TipAdapter
from repair.rerankers.rivals.rows import Rows
from repair_bench.rivals.heads import RetrainedHead, RetrainedHeadMixed
from repair_bench.rivals.proker import Proker

ALL = (KnnInterpolation, TipAdapter, Gda, Proker, RetrainedHead, RetrainedHeadMixed)


@pytest.mark.parametrize("rival", ALL)
def test_vectors_that_know_the_class_help(rival, world, accuracy, base_accuracy):
    def flaw(z, x, y):
        return 0.3 * z + world.rng.normal(size=z.shape)

    calibration, test = world.rows(400, flaw), world.rows(600, flaw)
    assert accuracy(rival(3).fit(calibration), test) > base_accuracy(test) + 0.1


@pytest.mark.parametrize("rival", [one for one in ALL if one is not Proker])
def test_reference_rows_help_where_calibration_rows_are_few(rival, world, accuracy):
    calibration, test, further = (world.rows(n, lambda z, x, y: 0.1 * z) for n in (40, 600, 800))
    given = replace(calibration, reference_embeddings=further.embeddings, reference_labels=further.labels)
    assert accuracy(rival(3).fit(given), test) > accuracy(rival(3).fit(calibration), test)


@pytest.mark.parametrize("rival", ALL)
def test_copies_within_a_group_do_not_pretend_that_vectors_know_the_class(rival, world):
    """Every row has nine copies in its group.  Held out row by row, its copies would reveal its label."""
    single = world.rows(40)
    noise = np.random.default_rng(1).normal(size=(40, 6))
    rows = replace(single.take(np.repeat(np.arange(40), 10)), embeddings=np.repeat(noise, 10, axis=0))
    right = []
    for groups in (np.repeat(np.arange(40), 10), None):
        found = rival().tune(Rows.of(CalibrationSet.build(replace(rows, groups=groups), 3), "this test"))
        right.append((found.scores.argmax(axis=1) == rows.labels).mean())
    assert right[0] < right[1] - 0.02


def test_wide_vectors_are_reduced(world, accuracy, base_accuracy):
    rows, test = (world.rows(n, lambda z, x, y: 0.3 * z + world.rng.normal(size=z.shape)) for n in (200, 400))
    turn = world.rng.normal(size=(6, 600))
    wide, wide_test = (replace(one, embeddings=one.embeddings @ turn) for one in (rows, test))
    for rival in (Gda, RetrainedHead):
        assert accuracy(rival(3).fit(wide), wide_test) > base_accuracy(test) + 0.05


def test_the_balanced_head_is_taken_where_it_is_more_accurate(world):
    calibration, further = world.rows(300, lambda z, x, y: 0.1 * z), world.rows(3000)
    frequent = further.take((further.labels < 2) | (np.arange(3000) % 60 == 0))
    given = replace(calibration, reference_embeddings=frequent.embeddings, reference_labels=frequent.labels)
    assert RetrainedHead(3).fit(given).chosen_.to_dict()["head"] == "balanced"
