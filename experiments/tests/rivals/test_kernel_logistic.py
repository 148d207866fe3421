"""Kernel logistic regression on profiles."""

import numpy as np

from repair.rerankers.rivals.scaling import MatrixScaling
from repair_bench.rivals.kernel_logistic import KernelLogistic


def test_it_learns_a_correction_that_depends_on_the_whole_row(world, accuracy):
    def flaw(z, x, y):
        turned = z.copy()
        swapped = (y < 4) & (np.arange(len(y)) % 2 == 0)  # half of the rows of four classes look alike in another way
        turned[swapped] = 3.0 * np.cos(np.arange(8) * (1 + y[swapped, None]))
        return turned + 0.2 * world.rng.normal(size=z.shape)

    calibration, test = world.rows(800, flaw), world.rows(800, flaw)
    assert accuracy(KernelLogistic(3).fit(calibration), test) > accuracy(MatrixScaling(3).fit(calibration), test)
