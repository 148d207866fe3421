import gzip
import tracemalloc

import numpy as np
import pytest

from repair import InputError, Reranker
from repair.similarity import read_taxonomy, taxonomy, taxonomy_similarity

LEVELS = ("kingdom", "phylum", "class", "order", "family", "genus", "name")


def by_pairs(paths, min_shared=1):
    result = np.eye(len(paths))
    for i, one in enumerate(paths):
        for j, other in enumerate(paths):
            shared = 0
            while shared < min(len(one), len(other)) and one[shared] == other[shared]:
                shared += 1
            if i != j and shared >= min_shared:
                result[i, j] = shared / max(len(one), len(other))
    return result


@pytest.fixture
def random_paths():
    # Few names, so the same name occurs below different parents, and some paths are equal.
    rng = np.random.default_rng(0)
    return [tuple(rng.choice(list("abc"), size=rng.integers(1, 6)).tolist()) for _ in range(60)]


@pytest.mark.parametrize("min_shared", [1, 2, 4, 9])
@pytest.mark.parametrize("block", [1, 50, 10**9])
@pytest.mark.parametrize("sparse", [False, True])
def test_all_pairs_by_the_definition(random_paths, monkeypatch, min_shared, block, sparse):
    monkeypatch.setattr(taxonomy, "BLOCK_PAIRS", block)
    found = taxonomy_similarity(random_paths, min_shared=min_shared, sparse=sparse)
    assert isinstance(found, np.ndarray) is not sparse
    table = found.toarray() if sparse else found
    np.testing.assert_array_equal(table, by_pairs(random_paths, min_shared))
    if sparse:
        assert found.has_sorted_indices
        assert found.nnz == (table > 0).sum()


def test_by_hand():
    found = taxonomy_similarity(["a;b;c", " a ; b ", "a;x;c", "z;b;c"], separator=";")
    np.testing.assert_allclose(found[0], [1, 2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(found[1], [2 / 3, 1, 1 / 3, 0])


def test_sparse_is_chosen_where_it_is_smaller():
    many = [(str(i % 10), str(i)) for i in range(2001)]
    assert not isinstance(taxonomy_similarity(many), np.ndarray)
    assert isinstance(taxonomy_similarity(many[:2000]), np.ndarray)
    together = [("life", *path) for path in many]
    assert isinstance(taxonomy_similarity(together), np.ndarray)
    assert not isinstance(taxonomy_similarity(together, min_shared=2), np.ndarray)


def test_one_class_and_none():
    assert taxonomy_similarity([("a",)]).tolist() == [[1.0]]
    assert taxonomy_similarity([]).shape == (0, 0)
    assert taxonomy_similarity([], sparse=True).shape == (0, 0)


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        (["a/b", "c"], {}, r"paths\[0\] is the text 'a/b'; pass separator"),
        ([("a",), ()], {}, r"paths\[1\] is empty; give class 1 at least its own name"),
        (["a/b", "/"], {"separator": "/"}, r"paths\[1\] is empty"),
        ([("a", "", "c")], {}, r"paths\[0\]\[1\] is empty; name every level"),
        ([("a", None)], {}, r"paths\[0\]\[1\] is None, not text"),
        ([("a",), 5], {}, r"paths\[1\] is 5; pass the names"),
        ("a/b", {"separator": "/"}, "paths is str; pass a list"),
        ([("a",)], {"min_shared": 0}, "min_shared is 0"),
        ([("a",)], {"sparse": "yes"}, "sparse is 'yes'; choose one of 'auto', True, False"),
    ],
)
def test_invalid_paths_and_options_raise_an_error(paths, options, message):
    with pytest.raises(InputError, match=message):
        taxonomy_similarity(paths, **options)


def test_reading_level_columns_and_path_columns(tmp_path):
    path = tmp_path / "classes.csv.gz"
    path.write_bytes(gzip.compress(b'id,where,family,species\n1,"x>dog",dogs,\n0,x>cat>lion,"cats, big", lion\n'))
    assert read_taxonomy(path, ["family", "species"]) == [("dogs",), ("cats, big", "lion")]
    assert read_taxonomy(path, ["family", "species"], id_column="id") == [("cats, big", "lion"), ("dogs",)]
    assert read_taxonomy(path, "where", separator=">") == [("x", "dog"), ("x", "cat", "lion")]
    with pytest.raises(InputError, match="has no column 'genus'; its columns are id, where, family, species"):
        read_taxonomy(path, ["genus"])
    with pytest.raises(InputError, match=r"has no column 'number'"):
        read_taxonomy(path, ["family"], id_column="number")
    with pytest.raises(InputError, match=r"classes\.csv\.gz: paths\[0\] is the text"):
        read_taxonomy(path, "where")


@pytest.mark.parametrize("ids", ["1,2", "0,0", "0,x"])
def test_ids_other_than_0_to_k_minus_1_raise_an_error(tmp_path, ids):
    first, second = ids.split(",")
    (tmp_path / "x.csv").write_text(f"id,name\n{first},a\n{second},b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has 2 lines, but no id [01]; ids run from 0"):
        read_taxonomy(tmp_path / "x.csv", ["name"], id_column="id")


def test_inaturalist_without_a_full_matrix(shared_data):
    path = shared_data("longtail_class_counts/inat2018_taxonomy.csv.gz")
    paths = read_taxonomy(path, LEVELS, id_column="id")
    assert len(paths) == 8142
    tracemalloc.start()
    found = taxonomy_similarity(paths, min_shared=4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (8142, 8142)
    assert found.nnz == 2_642_260  # sum of the squared sizes of the 273 orders, counted separately
    assert peak < 8142**2 * 8 / 4
    sample = np.random.default_rng(0).choice(8142, size=60, replace=False)
    close = np.concatenate([sample, np.arange(4000, 4040)])
    expected = by_pairs([paths[i] for i in close], 4)
    np.testing.assert_array_equal(found[close][:, close].toarray(), expected)
    assert (expected > 0).sum() > 300


def test_a_sparse_result_can_be_passed_to_fit(problem):
    paths = [(str(i % 3), str(i % 6), str(i)) for i in range(20)]
    fits = [
        Reranker("pairwise", n_candidates=problem.k).fit(
            problem.scores,
            problem.labels,
            class_counts=problem.class_counts,
            similarity=taxonomy_similarity(paths, sparse=sparse),
        )
        for sparse in (False, True)
    ]
    dense, sparse = (model.rerank(problem.scores).scores for model in fits)
    np.testing.assert_allclose(dense, sparse, rtol=1e-9)
