import numpy as np
import pytest

from repair import InputError
from repair.integrations.base_scores import FittedBase, class_codes, floor_of


class Decides:
    def __init__(self, answer):
        self.answer = np.asarray(answer)

    def decision_function(self, rows):
        return self.answer


class Estimates:
    def __init__(self, answer):
        self.answer = np.asarray(answer)

    def predict_proba(self, rows):
        return self.answer


class Both(Decides, Estimates):
    pass


def base(estimator, columns=(0, 1, 2), n_classes=3, method="auto"):
    return FittedBase.of(estimator, np.array(columns), n_classes, method)


def test_decisions_are_scores():
    assert base(Decides([[3.0, 1.0, 2.0]])).scores(None).tolist() == [[3, 1, 2]]


def test_one_decision_of_two_classes_becomes_two_scores():
    scores = base(Decides([3.0, -1.0]), (0, 1), 2).scores(None)
    assert (scores[:, 1] - scores[:, 0]).tolist() == [3, -1]


def test_probabilities_become_logarithms_with_a_floor():
    probabilities = np.array([[0.5, 0.5, 0.0]])
    scores = base(Estimates(probabilities)).with_floor(0.25).scores(None)
    np.testing.assert_allclose(np.exp(scores), [[0.5, 0.5, 0.25]])


def test_without_a_floor_the_scores_are_finite():
    assert np.isfinite(base(Estimates([[1.0, 0.0, 0.0]])).scores(None)).all()


def test_decisions_are_preferred_unless_probabilities_are_asked_for():
    both = Both([[0.5, 0.25, 0.25]])
    assert base(both).method == "decision_function"
    assert base(both, method="predict_proba").method == "predict_proba"


def test_a_class_that_the_base_does_not_know_is_no_candidate():
    scores = base(Decides([[3.0, 1.0]]), (2, 0)).scores(None)
    assert scores.tolist() == [[1, -np.inf, 3]]


@pytest.mark.parametrize(
    ("estimator", "method", "message"),
    [
        (object(), "auto", "object has no decision_function or predict_proba"),
        (Decides([[1.0, 2.0, 3.0]]), "predict_proba", "Decides has no predict_proba"),
    ],
)
def test_a_base_without_scores_is_refused(estimator, method, message):
    with pytest.raises(InputError, match=message):
        base(estimator, method=method)


def test_scores_of_pairs_of_classes_are_refused():
    with pytest.raises(
        InputError, match=r"shape \(1, 6\), but there are 3 classes; pass response_method='predict_proba'"
    ):
        base(Both([[1.0] * 6])).scores(None)


def test_the_floor_is_half_of_the_smallest_probability():
    assert floor_of([np.array([[0.0, 1.0]]), np.array([[0.2, 0.8]])]) == 0.1
    assert floor_of([np.array([[0.0, 1.0]])]) == 0.5
    assert floor_of([np.array([[1e-300, 1.0]])]) == 1e-12


def test_codes_of_labels():
    assert class_codes(np.array([30, 10, 7]), np.array([10, 20, 30])).tolist() == [2, 0, -1]
