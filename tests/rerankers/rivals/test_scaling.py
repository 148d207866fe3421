"""Vector and matrix scaling."""

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.rerankers.rivals.rows import Rows
from repair.rerankers.rivals.scaling import MatrixScaling, VectorScaling

FACTORS, OFFSETS = np.linspace(0.5, 2.0, 8), 3.0 * np.sin(np.arange(8))


def test_vector_scaling_undoes_factors_and_offsets(world, accuracy, base_accuracy):
    def flaw(z, x, y):
        return (z - OFFSETS) / FACTORS

    calibration, test, clean = world.rows(1500, flaw), world.rows(1500, flaw), world.rows(1500)
    model = VectorScaling(3).fit(calibration)
    assert base_accuracy(test) < base_accuracy(clean) - 0.1
    assert accuracy(model, test) > base_accuracy(clean) - 0.03


def test_matrix_scaling_undoes_a_mixture_of_classes_that_vector_scaling_cannot(world, accuracy):
    confused = np.eye(8) + 0.9 * np.roll(np.eye(8), 1, axis=1)
    calibration, test = (world.rows(1500, lambda z, x, y: z @ confused) for _ in range(2))
    assert accuracy(MatrixScaling(3).fit(calibration), test) > accuracy(VectorScaling(3).fit(calibration), test) + 0.02


def test_cross_fitted_scores_come_from_models_without_the_fold(world):
    rows = world.rows(300, groups=np.arange(300) // 10)
    checked = Rows.of(CalibrationSet.build(rows, 3), "this test")
    found = VectorScaling().tune(checked)
    for fold, (training, held_out) in enumerate(checked.splits()):
        model = VectorScaling().train(training, found.parameters)
        expected = model.scores(held_out.z, None)
        np.testing.assert_allclose(found.scores[checked.folds == fold], expected, atol=0.3)
