"""The whole of scikit-learn's own checks of an estimator."""

import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from repair import Reranker
from repair.integrations.sklearn import RerankedClassifier

#: Weighting a row by 2 is not the same as having it twice: folds are cut differently, a forest draws other rows, and
#: two copies of a row are more evidence than one row of weight 2.  scikit-learn expects these failures of its own
#: CalibratedClassifierCV, too.
NO_FREQUENCY_WEIGHTS = "weights say how important rows are, not how often they occur, and folds depend on the rows"
WEIGHT_CHECKS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    # With the default, `auto`, there are too few rows for a correction, and the checks pass.
    return {} if estimator.reranker is None else dict.fromkeys(WEIGHT_CHECKS, NO_FREQUENCY_WEIGHTS)


@parametrize_with_checks(
    [
        RerankedClassifier(LogisticRegression()),
        RerankedClassifier(RandomForestClassifier(5, random_state=0), reranker=Reranker("pairwise"), cv=3),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
