"""Softmax regression and mixtures."""

import numpy as np

from repair.rerankers.rivals.softmax import log_loss, log_softmax, mixture_weights, softmax_regression


def test_a_regression_recovers_the_coefficients_that_made_the_labels():
    rng = np.random.default_rng(0)
    features, truth = rng.normal(size=(20_000, 3)).astype(np.float32), np.array([[1, 0, -1], [0, 1, -1], [0, 0, 0.0]])
    y = (features @ truth + rng.gumbel(size=(20_000, 3))).argmax(axis=1)
    found = softmax_regression(features, y, np.ones(20_000), 3, 0.1)
    np.testing.assert_allclose(found - found.mean(axis=1, keepdims=True), truth, atol=0.1)


def test_a_strong_penalty_leaves_the_offset():
    rng = np.random.default_rng(0)
    found = softmax_regression(
        rng.normal(size=(50, 3)).astype(np.float32), rng.integers(0, 4, size=50), np.ones(50), 4, 1e7
    )
    assert np.abs(found).max() < 1e-4


def test_a_mixture_gives_useless_columns_no_weight():
    rng = np.random.default_rng(0)
    useful, noise = rng.normal(size=(4000, 5)), rng.normal(size=(4000, 5))
    y = (2.0 * useful + rng.gumbel(size=(4000, 5))).argmax(axis=1)
    theta = mixture_weights([useful, noise, -useful], y, np.ones(4000))
    np.testing.assert_allclose(theta, [2.0, 0.0, 0.0], atol=0.15)


def test_the_loss_is_minus_the_mean_log_probability():
    scores = np.array([[1.0, 2.0], [0.0, 5.0]])
    expected = -(log_softmax(scores)[0, 1] + 3 * log_softmax(scores)[1, 0]) / 4
    np.testing.assert_allclose(log_loss(scores, np.array([1, 0]), np.array([1.0, 3.0])), expected)
