"""What the strategies draw, and that they draw everything that they promise."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from repair import InputError, ScoreSet, Shortlist
from repair.data.calibration_set import CalibrationSet
from repair.testing import score_sets, shortlists


@given(shortlists(n_rows=(2, 5), n_classes=(3, 7), n_candidates=(1, 9)))
def test_sizes_of_shortlists(shortlist):
    assert 2 <= len(shortlist) <= 5
    assert 3 <= shortlist.n_classes <= 7
    assert 1 <= shortlist.n_candidates <= shortlist.n_classes


@given(shortlists(ragged=False, n_candidates=3, n_classes=5))
def test_full_shortlists(shortlist):
    assert shortlist.is_full
    assert shortlist.ids.shape[1] == 3


@given(score_sets(n_rows=(2, 8)))
def test_every_score_set_can_be_fitted_on(rows):
    checked = CalibrationSet.build(rows, 2)
    assert len(np.unique(checked.labels[checked.covered])) >= 2


def drawn(strategy, condition):
    """Return an example, or fail because there is none among a thousand."""
    few = settings(
        max_examples=1000,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    return find(strategy, condition, settings=few)


@pytest.mark.parametrize(
    "condition",
    [
        lambda one: not one.is_full,
        lambda one: (one.lengths == 0).any() and (one.lengths > 0).any(),
        lambda one: one.n_candidates > 1 and (np.diff(one.scores[one.lengths > 1][:, :2], axis=1) == 0).any(),
        lambda one: one.n_candidates > 1 and (np.diff(one.ids[one.lengths > 1][:, :2], axis=1) < 0).any(),
        lambda one: one.n_candidates == one.n_classes,
        lambda one: one.n_candidates < one.n_classes,
        lambda one: len(one) == 1,
    ],
    ids=["ragged", "empty row", "tie", "unsorted", "all classes", "some classes", "one row"],
)
def test_shortlists_of_every_kind(condition):
    assert isinstance(drawn(shortlists(), condition), Shortlist)


def test_extreme_scores():
    largest = drawn(shortlists(extremes=True), lambda one: (np.abs(one.scores[one.mask]) == 1e30).any())
    assert np.isfinite(largest.scores[largest.mask]).all()


@pytest.mark.parametrize(
    "condition",
    [
        lambda rows: isinstance(rows.scores, Shortlist),
        lambda rows: not isinstance(rows.scores, Shortlist) and rows.scores.dtype == np.float16,
        lambda rows: not isinstance(rows.scores, Shortlist) and np.isneginf(rows.scores).any(),
        lambda rows: rows.labels.dtype == object and (rows.labels == "unknown").any(),
        lambda rows: rows.labels.dtype != object and (rows.labels == -1).any(),
        lambda rows: rows.groups is not None and not rows.equal_group_weight,
        lambda rows: rows.embeddings is not None and rows.similarity is not None and rows.sample_weight is not None,
        lambda rows: all(value is None or value is True for value in rows.optional_fields.values()),
    ],
    ids=["lists", "float16", "-inf", "names", "ids", "groups", "many fields", "no fields"],
)
def test_score_sets_of_every_kind(condition):
    assert isinstance(drawn(score_sets(), condition), ScoreSet)


@given(score_sets(dense=True, with_embeddings=True))
def test_what_is_asked_for_is_there(rows):
    assert rows.scores.shape[0] == len(rows.embeddings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: shortlists(n_rows=0), "the smallest size"),
        (lambda: score_sets(n_classes=1), "the smallest size"),
        (lambda: shortlists(n_rows=(5, 2)), "sizes run from 5 to 2"),
    ],
)
def test_impossible_sizes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_without_hypothesis_the_extra_is_named():
    program = "import sys; sys.modules['hypothesis'] = None; import repair.testing"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingExtraError: repair.testing needs the extra 'testing'" in done.stderr
