"""Trees and stacks."""

import numpy as np
import pytest

from repair.data.calibration_set import CalibrationSet
from repair.rerankers.rivals import rival as rival_module
from repair.rerankers.rivals.rows import Rows
from repair_bench.rivals.stack import StackAll, StackScores
from repair_bench.rivals.trees import LightgbmScores

pytestmark = pytest.mark.needs("lightgbm")


def _flaw(z, x, y):
    return 0.5 * z + 2.0 * np.cos(np.arange(8))


def test_trees_and_stacks_correct_the_scores(world, accuracy, base_accuracy):
    calibration, test = world.rows(400, _flaw), world.rows(800, _flaw)
    for rival in (LightgbmScores, StackScores, StackAll):
        assert accuracy(rival(3).fit(calibration), test) > base_accuracy(test) + 0.1


def test_a_stack_uses_the_choices_of_its_members_once(world, monkeypatch):
    rows = Rows.of(CalibrationSet.build(world.rows(120), 3), "this test")
    first = StackScores().tune(rows)
    assert set(first.parameters["members"]) <= set(StackScores.members)
    monkeypatch.setattr(LightgbmScores, "tune", lambda self, rows: pytest.fail("this was chosen before"))
    assert StackScores().tune(rows).parameters == first.parameters
    assert len(rival_module._memory) <= rival_module.REMEMBERED


def test_a_refit_with_chosen_values_gives_the_same_scores(world):
    rows, test = world.rows(150), world.rows(20)
    model = StackScores(3).fit(rows)
    rival_module._memory.clear()
    again = model.with_chosen_parameters().fit(rows)
    np.testing.assert_allclose(again.rerank(test.scores).scores, model.rerank(test.scores).scores, atol=0.5)


def test_few_rows_are_enough_to_run(world):
    rows = world.rows(60, groups=np.arange(60) % 3)
    model = StackScores(3).fit(rows)
    np.testing.assert_array_equal(model.rerank(rows.scores).best, np.asarray(rows.scores).argmax(axis=1))
