"""The effective prior."""

import numpy as np

from repair.rerankers.rivals.prior2posterior import Prior2Posterior


def test_it_undoes_a_prior_that_the_labels_do_not_have(world, accuracy, base_accuracy):
    def flaw(z, x, y):
        return z + np.linspace(0.0, 4.0, 8)

    calibration, test = world.rows(800, flaw), world.rows(800, flaw)
    model = Prior2Posterior(3).fit(calibration)
    assert accuracy(model, test) > base_accuracy(test) + 0.1
    assert model.chosen_.to_dict()["tau"] > 0.3
