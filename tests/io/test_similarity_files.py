"""Similarity files, aligned by name."""

import numpy as np
import pytest
from scipy import sparse

from repair import InputError
from repair.io import read_score_set, read_similarity

MATRIX = np.array([[1.0, 0.1, 0.2], [0.3, 1.0, 0.4], [0.5, 0.6, 1.0]])
TURNED = [[1.0, 0.5, 0.6], [0.2, 1.0, 0.1], [0.4, 0.3, 1.0]]  # as c, a, b


def test_arrays_by_position(tmp_path):
    np.save(tmp_path / "s.npy", MATRIX)
    assert read_similarity(tmp_path / "s.npy").tolist() == MATRIX.tolist()
    assert read_similarity(tmp_path / "s.npy", ("x", "y", "z")).tolist() == MATRIX.tolist()
    with pytest.raises(InputError, match=r"s.npy: similarity has shape \(3, 3\); with 2 classes"):
        read_similarity(tmp_path / "s.npy", ("x", "y"))
    np.save(tmp_path / "s.npy", MATRIX[:2])
    with pytest.raises(InputError, match="write one row and one column per class"):
        read_similarity(tmp_path / "s.npy")


def test_archives_by_name(tmp_path):
    np.savez(tmp_path / "s.npz", similarity=MATRIX, class_names=["a", "b", "c"])
    assert read_similarity(tmp_path / "s.npz", ("c", "a", "b")).tolist() == TURNED
    assert read_similarity(tmp_path / "s.npz", ("c", "a")).tolist() == [[1.0, 0.5], [0.2, 1.0]]
    with pytest.raises(InputError, match="no row for class 'd'; add a row and a column"):
        read_similarity(tmp_path / "s.npz", ("a", "d"))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices(tmp_path, make):
    sparse.save_npz(tmp_path / "s.npz", make(MATRIX))
    assert read_similarity(tmp_path / "s.npz", ("a", "b", "c")).toarray().tolist() == MATRIX.tolist()


def test_damaged_sparse_matrices(tmp_path):
    good = {"format": np.array(b"csr"), "shape": [3, 3], "data": [1.0], "indices": [1], "indptr": [0, 1, 1, 1]}
    np.savez(tmp_path / "s.npz", **good)
    assert read_similarity(tmp_path / "s.npz").toarray()[0, 1] == 1
    for change in (
        {"indices": [7]},
        {"indices": [-1]},
        {"indptr": [0, 1]},
        {"indptr": [0, 9, 9, 9]},
        {"shape": [3]},
        {"shape": [3, -3]},
        {"shape": [3, 2**40]},
        {"format": np.array(b"dia")},
        {"format": np.array(b"\xff")},
        {"data": ["x"]},
    ):
        np.savez(tmp_path / "s.npz", **{**good, **change})
        with pytest.raises(InputError):
            read_similarity(tmp_path / "s.npz")


@pytest.mark.needs("pyarrow")
def test_tables_by_name(write):
    text = ",a,b,c\nc,0.5,0.6,1\na,1,0.1,0.2\nb,0.3,1,0.4\n"
    assert read_similarity(write("s.csv", text), ("c", "a", "b")).tolist() == TURNED
    assert read_similarity(write("s.csv", "a,b\n1,0.5\n0.25,1\n"), ("b", "a")).tolist() == [[1, 0.25], [0.5, 1]]


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\na,1,2\na,3,4\n", "line 3, column '' is 'a'; write one line for each class of the header"),
        (",a,b\na,1,2\nz,3,4\n", "line 3, column '' is 'z'"),
        ("a,b,c,d\n1,2,3,4\n", "similarity has 1 lines and 4 columns"),
        (",a,b\na,1,2\nb,3,x\n", "line 3, column 'b' is 'x'; write a number"),
    ],
)
def test_bad_tables(write, text, message):
    with pytest.raises(InputError, match=f"s.csv: {message}"):
        read_similarity(write("s.csv", text))


def test_a_score_set_takes_a_path_or_a_matrix(tmp_path):
    np.savez(tmp_path / "scores.npz", scores=np.eye(3), labels=[0, 1, 2], class_names=["c", "a", "b"])
    np.savez(tmp_path / "s.npz", similarity=MATRIX, class_names=["a", "b", "c"])
    read = read_score_set(tmp_path / "scores.npz", similarity=tmp_path / "s.npz")
    assert read.rows.similarity.tolist() == TURNED
    assert read_score_set(tmp_path / "scores.npz", similarity=MATRIX).rows.similarity is MATRIX
