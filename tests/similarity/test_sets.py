import numpy as np
import pytest

from repair import InputError
from repair.similarity import jaccard, sets
from repair.similarity.sets import weighted_jaccard


def by_pairs(sets_, weight=lambda member: 1.0):
    n = len(sets_)
    result = np.eye(n)
    for i in range(n):
        for j in range(n):
            union = sum(map(weight, set(sets_[i]) | set(sets_[j])))
            if i != j and union:
                result[i, j] = sum(map(weight, set(sets_[i]) & set(sets_[j]))) / union
    return result


@pytest.fixture
def random_sets():
    rng = np.random.default_rng(0)
    return [set(rng.integers(30, size=rng.integers(0, 12)).tolist()) for _ in range(40)]


@pytest.mark.parametrize("block", [1, 100, 10**9])
def test_jaccard_follows_the_definition_for_any_block_size(random_sets, monkeypatch, block):
    monkeypatch.setattr(sets, "BLOCK_ENTRIES", block)
    assert any(not members for members in random_sets)
    np.testing.assert_array_equal(jaccard(random_sets), by_pairs(random_sets))


def test_weights_count_and_the_result_stays_symmetric_and_bounded(random_sets):
    weights = dict(enumerate(np.random.default_rng(1).exponential(size=30).tolist()))
    weights[3] = 0.0
    similarity = weighted_jaccard([sorted(members) for members in random_sets], weights)
    np.testing.assert_allclose(similarity, by_pairs(random_sets, weights.get), rtol=1e-12)
    np.testing.assert_array_equal(similarity, similarity.T)
    assert similarity.min() >= 0
    assert similarity.max() == 1


def test_by_hand():
    similarity = jaccard([{"a", "b"}, ["b", "b", "c"], set(), (), {"a", "b"}])
    assert similarity[0, 1] == 1 / 3
    assert similarity[0, 4] == 1.0
    assert similarity[2, 3] == 0.0
    assert (np.diag(similarity) == 1).all()


def test_no_classes_give_an_empty_matrix():
    assert jaccard([]).shape == (0, 0)


def test_iterators_are_read_once():
    np.testing.assert_array_equal(jaccard([iter("ab"), iter("bc")]), jaccard([["a", "b"], ["b", "c"]]))


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ("abc", "sets is str; pass a list"),
        ({"x": {"a"}}, "sets is dict"),
        ([{"a"}, "abc"], r"sets\[1\] is 'abc', not a collection; pass a set or list"),
        ([{"a"}, 3], r"sets\[1\] is 3"),
    ],
)
def test_anything_but_a_sequence_of_sets_raises_an_error(collections, message):
    with pytest.raises(InputError, match=message):
        jaccard(collections)
