import numpy as np
import pytest
from scipy import sparse

from repair import InputError, Reranker
from repair.similarity import SparseSimilarity, as_similarity


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, 12))
    values[rng.random(values.shape) < 0.6] = 0.0
    return values


def test_matrix_sparse_and_function_agree(matrix, make_shortlist):
    shortlist = make_shortlist()
    expected = as_similarity(matrix, 12).average_over_rivals(shortlist.ids, shortlist.lengths)
    assert np.abs(expected).max() > 0
    for values in (sparse.csr_matrix(matrix), sparse.coo_array(matrix), lambda y, j: matrix[y, j]):
        average = as_similarity(values, 12).average_over_rivals(shortlist.ids, shortlist.lengths)
        np.testing.assert_allclose(average, expected, atol=1e-14)


def test_the_diagonal_is_never_used(matrix, make_shortlist):
    shortlist = make_shortlist()
    other = matrix.copy()
    np.fill_diagonal(other, 1e6)
    for kind in (np.asarray, sparse.csr_matrix):
        first, second = (
            as_similarity(kind(m), 12).average_over_rivals(shortlist.ids, shortlist.lengths) for m in (matrix, other)
        )
        assert (first == second).all()


def test_direction_matters(make_shortlist):
    shortlist = make_shortlist()
    towards = np.zeros((12, 12))
    towards[3, :] = 1.0  # class 3 is similar to all others, but no other class is similar to class 3
    average = as_similarity(towards, 12).average_over_rivals(shortlist.ids, shortlist.lengths)
    has_rivals = shortlist.lengths[:, None] > 1
    assert ((average == 1.0) == ((shortlist.ids == 3) & has_rivals)).all()


def test_repeated_sparse_entries_are_added_as_in_scipy():
    entries = sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(3, 3))
    assert as_similarity(entries, 3).values.tolist() == [3.0]


def test_an_empty_sparse_matrix_is_zero(make_shortlist):
    shortlist = make_shortlist()
    held = as_similarity(sparse.csr_matrix((12, 12)), 12)
    assert (held.average_over_rivals(shortlist.ids, shortlist.lengths) == 0).all()


def test_the_function_never_gets_padding_or_a_class_paired_with_itself(make_shortlist):
    def inspect(y, j):
        assert (y >= 0).all()
        assert (j >= 0).all()
        assert (y != j).all()
        return np.zeros(len(y))

    shortlist = make_shortlist()
    as_similarity(inspect, 12).average_over_rivals(shortlist.ids, shortlist.lengths)


def test_a_million_classes_need_no_matrix():
    from repair import Shortlist

    rng = np.random.default_rng(0)
    ids = rng.integers(0, 1_000_000, size=(300, 6))
    ids = np.unique(ids, axis=1)
    scores = rng.normal(size=ids.shape)
    labels = ids[np.arange(300), (rng.random(300) * ids.shape[1]).astype(int)]
    shortlist = Shortlist.from_candidates(ids, scores, 1_000_000)
    model = Reranker("pairwise", terms=("score_gap", "similarity")).fit(
        shortlist, labels, similarity=lambda y, j: 1.0 / (1.0 + np.abs(y - j))
    )
    assert model.converged_
    held = SparseSimilarity(np.array([5 * 1_000_000 + 7]), np.array([2.0]), 1_000_000)
    pair = np.array([[5, 7], [7, 5]], dtype=np.int32)
    assert held.average_over_rivals(pair, np.array([2, 2], dtype=np.int32)).tolist() == [[2.0, 0.0], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((3, 4)), r"shape \(3, 4\); with 4 classes it must be \(4, 4\)"),
        (sparse.csr_matrix((3, 3)), r"shape \(3, 3\)"),
        (np.full((4, 4), np.nan), r"similarity\[0, 0\] is nan"),
        (sparse.csr_matrix(([np.inf], ([1], [2])), shape=(4, 4)), r"similarity\[1, 2\] is inf"),
        ("cosine", "dtype"),
    ],
)
def test_unusable_similarities_raise_an_error(values, message):
    with pytest.raises(InputError, match=message):
        as_similarity(values, 4)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda y, j: np.zeros(3), "returned 3 values for"),
        (lambda y, j: np.full(len(y), np.nan), "returned nan for classes"),
        (lambda y, j: 1.0 if y == j else 0.0, "failed on two arrays of .* class ids"),
        (lambda y: y, "failed on two arrays"),
    ],
)
def test_the_error_says_what_the_similarity_function_returned(function, message, problem):
    with pytest.raises(InputError, match=message):
        Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, similarity=function)
