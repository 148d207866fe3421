from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from repair.terms.learned.neighbour_index import build_index, nearest_in_index
from repair.terms.learned.neighbours import nearest

pytestmark = pytest.mark.needs("usearch")


def unit(n, width=12, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


@pytest.fixture(scope="module")
def indexed():
    vectors = unit(2000)
    return vectors, build_index(vectors)


def shared(first, second):
    return np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(first, second, strict=True)])


def test_nearly_all_neighbours_are_found_with_their_true_similarities(indexed):
    vectors, index = indexed
    queries = unit(40, seed=1).astype(np.float32)
    neighbours, similarities = nearest_in_index(index, queries, vectors, 30)
    expected, expected_similarities = nearest(queries, vectors.astype(np.float32), 30)
    assert shared(neighbours, expected) > 0.98
    np.testing.assert_allclose(similarities[:, 0], expected_similarities[:, 0], atol=1e-5)
    assert (np.diff(similarities, axis=1) <= 0).all()


def test_vectors_of_the_own_group_are_skipped(indexed):
    vectors, index = indexed
    groups = np.arange(2000) // 20
    queries = vectors[:40].astype(np.float32)
    neighbours, similarities = nearest_in_index(index, queries, vectors, 30, groups[:40], groups)
    assert (groups[neighbours] != groups[:40, None])[np.isfinite(similarities)].all()
    expected, _ = nearest(queries, vectors.astype(np.float32), 30, groups[:40], groups)
    assert shared(neighbours, expected) > 0.95


def test_fewer_vectors_than_neighbours():
    vectors = unit(5)
    neighbours, similarities = nearest_in_index(build_index(vectors), vectors.astype(np.float32), vectors, 30)
    assert neighbours.shape == (5, 5)
    assert np.isfinite(similarities).all()
    assert (neighbours[:, 0] == np.arange(5)).all()


def test_the_same_vectors_give_the_same_graph_and_a_single_row_the_same_neighbours(indexed):
    vectors, index = indexed
    queries = unit(20, seed=2).astype(np.float32)
    whole = nearest_in_index(index, queries, vectors, 30)
    again = nearest_in_index(build_index(vectors), queries, vectors, 30)
    assert whole[0].tobytes() == again[0].tobytes()
    alone = nearest_in_index(index, queries[7:8], vectors, 30)
    assert (alone[0][0] == whole[0][7]).all()


def test_many_threads_may_search_at_once(indexed):
    vectors, index = indexed
    queries = unit(20, seed=3).astype(np.float32)
    expected = nearest_in_index(index, queries, vectors, 30)[0]
    with ThreadPoolExecutor(16) as pool:
        results = pool.map(lambda _: nearest_in_index(index, queries, vectors, 30)[0], range(64))
        assert all((result == expected).all() for result in results)
