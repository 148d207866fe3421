"""A report about a model from a file says what it says about the model that was saved."""

from dataclasses import replace

import numpy as np
import pytest

from repair import Reranker, ScoreSet, TauNormalization, load
from repair.report.content import gather

pytestmark = pytest.mark.needs("vl_convert")


@pytest.fixture
def rows(problem):
    return ScoreSet(
        problem.scores,
        problem.labels,
        class_counts=problem.class_counts,
        class_groups=np.arange(20) % 4,
        class_weights=np.linspace(0.5, 3.0, 20),
        weight_norms=np.linspace(1.0, 2.0, 20),
    )


@pytest.mark.parametrize(
    "model",
    [TauNormalization(6), Reranker("classwise", n_candidates=6, shrinkage="eb", lambda_a=0.01)],
    ids=lambda model: type(model).__name__,
)
def test_nothing_that_is_known_of_the_classes_is_lost(model, rows, tmp_path):
    model.fit(rows).save(tmp_path / "model")
    again = load(tmp_path / "model")
    for name in ("class_groups", "class_weights", "weight_norms", "class_counts"):
        before, after = (getattr(one.state.correction.table, name) for one in (model, again))
        np.testing.assert_array_equal(before, after)
    # The report takes what it knows of the classes from the model, so these rows need not say it again.
    given = replace(rows, class_groups=None, class_weights=None, weight_norms=None, class_counts=None)
    fresh, loaded = (gather(one, given, draws=5) for one in (model, again))
    assert fresh.words == loaded.words
    assert fresh.classes == loaded.classes


def test_copies_shrink_in_the_groups_of_the_model(rows, tmp_path):
    model = Reranker("classwise", n_candidates=6, shrinkage="eb", lambda_a=0.01).fit(rows)
    model.save(tmp_path / "model")
    from repair.data.calibration_set import CalibrationSet
    from repair.evaluation.cross_fitting import cross_fit

    again = load(tmp_path / "model")
    table = again.state.correction.table
    given = ScoreSet(rows.scores, rows.labels, class_weights=table.class_weights)
    checked = replace(CalibrationSet.build(given, 6), table=table)
    copies = cross_fit(again, checked)
    assert {len(part.model.shrinkage_.prior.means) for part in copies.parts} == {4}
