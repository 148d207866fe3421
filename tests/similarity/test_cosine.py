import numpy as np
import pytest

from repair import InputError
from repair.similarity import cosine, cosine_similarity


@pytest.fixture
def vectors():
    return np.random.default_rng(0).normal(size=(50, 8))


def by_pairs(vectors):
    return np.array([[a @ b / np.sqrt(a @ a * (b @ b)) for b in vectors] for a in vectors])


def test_all_pairs(vectors):
    similarity = cosine_similarity(vectors)
    np.testing.assert_allclose(similarity, by_pairs(vectors), atol=1e-14)
    np.testing.assert_array_equal(similarity, similarity.T)
    assert (np.diag(similarity) == 1).all()
    assert similarity.min() < 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_the_dtype_does_not_matter(dtype):
    vectors = np.random.default_rng(1).integers(-9, 9, size=(20, 5)).astype(dtype)
    np.testing.assert_array_equal(cosine_similarity(vectors), cosine_similarity(vectors.astype(np.float64)))


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e300])
def test_length_does_not_matter(vectors, scale):
    np.testing.assert_allclose(cosine_similarity(vectors * scale), cosine_similarity(vectors), atol=1e-14)


@pytest.mark.parametrize("neighbours", [1, 3, 49, 500])
@pytest.mark.parametrize("block", [1, 350, 10**9])
def test_neighbours_are_kept_in_both_directions(vectors, monkeypatch, neighbours, block):
    monkeypatch.setattr(cosine, "BLOCK_ENTRIES", block)
    full = by_pairs(vectors)
    np.fill_diagonal(full, np.inf)
    rank = np.argsort(np.argsort(-full, axis=1, kind="stable"), axis=1)
    kept = (rank <= neighbours) | (rank <= neighbours).T
    np.fill_diagonal(full, 1.0)
    similarity = cosine_similarity(vectors, neighbours=neighbours)
    np.testing.assert_allclose(similarity.toarray(), np.where(kept, full, 0.0), atol=1e-14)
    assert similarity.nnz == kept.sum()
    assert (similarity != similarity.T).nnz == 0


def test_negative_neighbours_are_kept():
    similarity = cosine_similarity([[1.0, 0.0], [-1.0, 0.1]], neighbours=1).toarray()
    assert similarity[0, 1] == similarity[1, 0] < -0.9


def test_of_equally_similar_classes_the_lower_ids_are_kept():
    similarity = cosine_similarity([[1.0, 0.0]] * 5, neighbours=2).toarray()
    assert similarity[4].tolist() == [1, 1, 0, 0, 1]
    assert similarity[0].tolist() == [1, 1, 1, 1, 1]


def test_one_class():
    assert cosine_similarity([[2.0]]).tolist() == [[1.0]]
    assert cosine_similarity([[2.0]], neighbours=3).toarray().tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([[1.0], [0.0]], {}, r"vectors\[1\] is zero and has no direction; give class 1 a vector"),
        ([[1.0], [np.nan], [np.inf]], {}, r"vectors\[1\] has entries that are not finite"),
        ([1.0, 2.0], {}, r"vectors has shape \(2,\); expected 2 dimensions"),
        (np.empty((3, 0)), {}, r"vectors has shape \(3, 0\); pass one vector"),
        ([[1.0], [2.0]], {"neighbours": 0}, "neighbours is 0"),
        ([["a"], ["b"]], {}, "vectors has dtype"),
    ],
)
def test_vectors_without_an_angle_raise_an_error(vectors, options, message):
    with pytest.raises(InputError, match=message):
        cosine_similarity(vectors, **options)
