"""Rivals that adapt to the class mix of the rows that they rerank."""

import numpy as np
import pytest

from repair.rerankers.rivals.scaling import VectorScaling
from repair_bench.rivals.transductive import Bbse, EmPrior


@pytest.mark.parametrize("rival", [EmPrior, Bbse])
def test_a_new_class_mix_is_found_from_unlabelled_rows(rival, world, accuracy):
    def flaw(z, x, y):
        return 0.4 * z

    calibration, everything = world.rows(1500, flaw), world.rows(4000, flaw)
    test = everything.take((everything.labels < 2) | (np.arange(4000) % 20 == 0))
    model = rival(3).fit(calibration)
    chosen = {**model.chosen_.to_dict()}
    weakest = {name: 0.03 if name in ("smoothing", "ridge") else value for name, value in chosen.items()}
    free = rival(3, chosen=weakest).fit(calibration)
    assert accuracy(free, test) > accuracy(VectorScaling(3).fit(calibration), test) + 0.03
    assert accuracy(model, test) >= accuracy(VectorScaling(3).fit(calibration), test)


def test_the_same_class_mix_changes_little(world, accuracy):
    calibration, test = world.rows(600), world.rows(600)
    expected = accuracy(VectorScaling(3).fit(calibration), test)
    for rival in (EmPrior, Bbse):
        assert abs(accuracy(rival(3).fit(calibration), test) - expected) < 0.02
