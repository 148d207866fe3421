"""Threshold dispersion against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair import Base, Shortlist
from repair.diagnosis import contradictory_pairs, expected_contradictions, threshold_dispersion
from repair.errors import InputError


def by_hand(shortlist, labels, min_meetings):
    """Return the standard deviation of each pair over covered rows, and D of each row."""
    gaps = {}
    rows = [
        dict(zip(ids[:m].tolist(), scores[:m].tolist(), strict=True))
        for ids, scores, m in zip(shortlist.ids, shortlist.scores, shortlist.lengths, strict=True)
    ]
    for row, label in zip(rows, labels, strict=True):
        if label in row:
            for u in row:
                for v in row:
                    if u < v:
                        gaps.setdefault((u, v), []).append(row[v] - row[u])
    deviations = {pair: np.std(np.array(values, np.longdouble)) for pair, values in gaps.items()}

    def largest(row, label):
        pairs = [(min(label, j), max(label, j)) for j in row if j != label and label in row]
        return max((deviations[pair] for pair in pairs if len(gaps[pair]) >= min_meetings), default=np.nan)

    return (
        deviations,
        {pair: len(values) for pair, values in gaps.items()},
        [float(largest(row, label)) for row, label in zip(rows, labels, strict=True)],
    )


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    n_classes=st.integers(2, 7),
    k=st.integers(1, 5),
    shift=st.sampled_from([0.0, 1e6]),
    padding=st.sampled_from([0.0, 0.4]),
    min_meetings=st.integers(1, 5),
)
def test_dispersion_is_its_definition(seed, n, n_classes, k, shift, padding, min_meetings):
    """Also for scores around 1e6, and classes 1e6 apart."""
    rng = np.random.default_rng(seed)
    k = min(k, n_classes)
    ids = np.array([rng.permutation(n_classes)[:k] for _ in range(n)])
    scores = rng.normal(size=ids.shape) + shift * (1 + ids)
    ids[rng.random(ids.shape) < padding] = -1
    labels = rng.integers(-1, n_classes, size=n)
    shortlist = Shortlist.from_candidates(ids, scores, n_classes)
    deviations, meetings, rows = by_hand(shortlist, labels, min_meetings)
    ours = threshold_dispersion(shortlist, labels, min_meetings=min_meetings)
    pairs = list(zip(ours.first.tolist(), ours.second.tolist(), strict=True))
    assert pairs == sorted(deviations)
    assert ours.meetings.tolist() == [meetings[pair] for pair in pairs]
    expected = [float(deviations[pair]) for pair in pairs]
    np.testing.assert_allclose(ours.deviations, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(ours.rows, rows, rtol=1e-8, atol=1e-9)
    for label in range(n_classes):
        values = np.array(rows)[(labels == label) & ~np.isnan(rows)]
        np.testing.assert_allclose(ours.classes[label], values.mean() if len(values) else np.nan, rtol=1e-8, atol=1e-9)


def test_blocks_and_kept_numbers_change_nothing(make_shortlist, monkeypatch):
    shortlist = make_shortlist(n=200)
    labels = shortlist.ids[:, 0]
    whole = threshold_dispersion(shortlist, labels)
    monkeypatch.setattr("repair.diagnosis.shared_shortlists.PAIRS_PER_BLOCK", 30)
    monkeypatch.setattr("repair.diagnosis.shared_shortlists.KEPT_NUMBERS", 0)
    cut = threshold_dispersion(shortlist, labels)
    for name in ("first", "second", "meetings", "deviations", "rows", "classes"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(cut, name))


def test_by_hand_with_a_pair_that_meets_too_seldom():
    """Pair {0, 1} has gaps 1, 3 (deviation 1); {0, 2} meets once, far apart, and is not used."""
    ids = [[0, 1, -1], [0, 1, 2], [1, 2, -1]]
    scores = [[0.0, 1.0, 0.0], [0.0, 3.0, 90.0], [5.0, 5.0, 0.0]]
    shortlist = Shortlist.from_candidates(ids, scores, n_classes=4)
    result = threshold_dispersion(shortlist, [0, 0, 0], min_meetings=2)
    assert result.rows[:2].tolist() == [1.0, 1.0]
    assert np.isnan(result.rows[2])  # label 0 is not on its list
    assert result.meetings.tolist() == [2, 1, 1]  # and so {1, 2} has met once only
    assert result.classes[0] == 1.0
    assert np.isnan(result.classes[1:]).all()
    assert result.labels.tolist() == [0, 0, -1]
    assert (result.min_meetings, result.n_used) == (2, 1)
    assert str(result) == (
        "threshold dispersion of 1 classes, median 1.000 (1 of 3 pairs are on the same shortlist at least 2 times)"
    )


def test_the_default_is_five_meetings():
    shortlist = Shortlist.from_scores([[0.0, 1.0]] * 4 + [[0.0, 6.0]], n_candidates=2)
    assert threshold_dispersion(shortlist, [0] * 5).classes[0] == pytest.approx(2.0)
    assert np.isnan(threshold_dispersion(shortlist, [0] * 4 + [-1]).classes[0])
    assert "of 0 classes (0 of 1 pairs" in str(threshold_dispersion(shortlist, [0] * 4 + [-1]))


def test_a_large_problem_works():
    """30,000 rows, 1,000 classes, ten candidates: what the paper's data sets look like."""
    rng = np.random.default_rng(0)
    ids = (rng.integers(0, 1000, size=(30_000, 1)) + np.arange(0, 500, 50)) % 1000
    shortlist = Shortlist.from_candidates(ids, rng.normal(size=ids.shape), 1000)
    labels = shortlist.ids[np.arange(30_000), rng.integers(0, 10, size=30_000)]
    dispersion = threshold_dispersion(shortlist, labels)
    assert dispersion.meetings.sum() == 30_000 * 45
    assert np.isfinite(dispersion.classes).all()
    pairs = contradictory_pairs(shortlist, labels)
    assert pairs.rows_first.sum() + pairs.rows_second.sum() <= 30_000 * 9
    result = expected_contradictions(shortlist, labels, Base().fit(shortlist, labels), draws=2)
    assert result.observed == pairs.n_contradictory > 1000


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="min_meetings is 0"):
        threshold_dispersion(Shortlist.from_scores(np.eye(3), 2), [0, 1, 2], min_meetings=0)
    with pytest.raises(InputError, match="expected one label for each of 3 rows"):
        threshold_dispersion(Shortlist.from_scores(np.eye(3), 2), [0, 1])
