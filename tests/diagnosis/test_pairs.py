"""Contradictory pairs against a count by hand, loops and all."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair import Shortlist
from repair.diagnosis import contradictory_pairs
from repair.errors import InputError


@st.composite
def problems(draw):
    """Ragged shortlists with many equal scores, and labels of which some are not on them."""
    n, n_classes, k = draw(st.integers(1, 25)), draw(st.integers(2, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    k = min(k, n_classes)
    ids = np.array([rng.permutation(n_classes)[:k] for _ in range(n)])
    ids[rng.random(ids.shape) < draw(st.sampled_from([0.0, 0.3]))] = -1
    scores = rng.integers(-2, 3, size=ids.shape) * draw(st.sampled_from([0.1, 1.0, 1e6]))
    return Shortlist.from_candidates(ids, scores, n_classes), rng.integers(-1, n_classes, size=n)


def by_hand(shortlist, labels):
    """Return {(u, v): (rows of u, rows of v, max t, min t)} for two-way pairs."""
    found = {}
    for u, v in combinations(range(shortlist.n_classes), 2):
        gaps = {u: [], v: []}
        for ids, scores, label in zip(shortlist.ids.tolist(), shortlist.scores, labels, strict=True):
            if label in (u, v) and u in ids and v in ids:
                gaps[label].append(scores[ids.index(v)] - scores[ids.index(u)])
        if gaps[u] and gaps[v]:
            found[u, v] = (len(gaps[u]), len(gaps[v]), max(gaps[u]), min(gaps[v]))
    return found


@given(problems())
def test_pairs_are_those_counted_by_hand(problem):
    shortlist, labels = problem
    pairs = contradictory_pairs(shortlist, labels)
    columns = (pairs.rows_first, pairs.rows_second, pairs.max_t, pairs.min_t)
    ours = {pair: values for pair, *values in zip(zip(pairs.first, pairs.second, strict=True), *columns, strict=True)}
    expected = by_hand(shortlist, labels)
    assert ours == {pair: list(values) for pair, values in expected.items()}
    assert pairs.contradictory.tolist() == [high >= low for _, _, high, low in expected.values()]
    assert pairs.overlap.tolist() == [high - low for _, _, high, low in expected.values()]
    assert pairs.n_two_way == len(expected)
    assert pairs.n_contradictory == sum(high >= low for _, _, high, low in expected.values())
    assert pairs.n_covered == (shortlist.positions(labels) >= 0).sum()


def test_equal_thresholds_cross_and_a_clean_cut_does_not():
    """The theorem says t(x) ≥ t(x'): one row of each label at the same gap is a contradiction."""
    same = Shortlist.from_candidates([[0, 1], [0, 1]], [[1.0, 0.5], [2.0, 1.5]], n_classes=2)
    assert contradictory_pairs(same, [0, 1]).contradictory.tolist() == [True]
    assert contradictory_pairs(same, [0, 1]).overlap.tolist() == [0.0]
    cut = Shortlist.from_candidates([[0, 1], [0, 1]], [[1.0, 0.5], [2.0, 1.75]], n_classes=2)
    assert contradictory_pairs(cut, [0, 1]).contradictory.tolist() == [False]
    assert contradictory_pairs(cut, [1, 0]).contradictory.tolist() == [True]


def test_a_pair_with_one_label_only_is_one_way():
    shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 4, n_candidates=3)
    pairs = contradictory_pairs(shortlist, [0, 0, 1, -1])
    assert (pairs.n_two_way, pairs.n_one_way, pairs.n_covered) == (1, 2, 3)


def test_no_covered_row_is_no_pair():
    shortlist = Shortlist.from_scores([[3.0, 2.0, 1.0]] * 4, n_candidates=2)
    pairs = contradictory_pairs(shortlist, [2, 2, -1, 2])
    assert (pairs.n_two_way, pairs.n_contradictory, pairs.n_one_way, pairs.n_covered) == (0, 0, 0, 0)
    assert pairs.worst() == ()
    assert str(pairs) == "0 of 0 two-way pairs are contradictory"


def test_worst_pairs_by_overlap_and_by_rows():
    ids = [[0, 1]] * 2 + [[2, 3]] * 4 + [[1, 2]] * 2
    gaps = [-9.0, 9.0] + [-1.0, -1.0, 1.0, 1.0] + [5.0, -5.0]
    labels = [1, 0] + [3, 3, 2, 2] + [2, 1]
    shortlist = Shortlist.from_candidates(ids, [[0.0, gap] for gap in gaps], n_classes=4)
    pairs = contradictory_pairs(shortlist, labels)
    assert [(one.first, one.second, one.overlap) for one in pairs.worst()] == [("0", "1", 18.0), ("2", "3", 2.0)]
    names = ["ant", "bee", "cat", "dog"]
    (most,) = pairs.worst(1, class_names=names, by="rows")
    assert (most.first, most.second, most.rows_first, most.rows_second) == ("cat", "dog", 2, 2)
    assert "2 of 3 two-way pairs are contradictory" in str(pairs)


def test_bad_arguments_are_named():
    shortlist = Shortlist.from_scores(np.eye(3), n_candidates=2)
    with pytest.raises(InputError, match=r"ndarray; pass a Shortlist"):
        contradictory_pairs(np.eye(3), [0, 1, 2])
    with pytest.raises(InputError, match=r"labels\[1\] is 3"):
        contradictory_pairs(shortlist, [0, 3, 2])
    with pytest.raises(InputError, match="by is 'size'"):
        contradictory_pairs(shortlist, [0, 1, 2]).worst(by="size")
