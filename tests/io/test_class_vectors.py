"""One vector per class, in the order of the known classes."""

import numpy as np
import pytest

from repair import InputError
from repair.io.class_vectors import read_class_vectors

THREE = ("cat", "lynx", "wolf")
VECTORS = {"wolf": [1.0, 0.0], "bear": [9.0, 9.0], "cat": [3.0, 4.0], "lynx": [0.0, 2.0]}
ORDERED = [VECTORS[name] for name in THREE]


def test_arrays_by_position(tmp_path):
    np.save(tmp_path / "v.npy", ORDERED)
    assert read_class_vectors(tmp_path / "v.npy", THREE).tolist() == ORDERED
    with pytest.raises(InputError, match=r"v.npy: there are 3 vectors for 2 classes; give every class one vector"):
        read_class_vectors(tmp_path / "v.npy", THREE[:2])


@pytest.mark.parametrize("key", ["embeddings", "class_embeddings", "vectors"])
def test_archives_by_name(tmp_path, key):
    np.savez(tmp_path / "v.npz", **{"class_names": list(VECTORS), key: list(VECTORS.values())})
    assert read_class_vectors(tmp_path / "v.npz", THREE).tolist() == ORDERED
    with pytest.raises(InputError, match=r"v.npz: there is no vector for class 'dog'"):
        read_class_vectors(tmp_path / "v.npz", ("cat", "dog"))


def test_archives_without_names(tmp_path):
    np.savez(tmp_path / "v.npz", embeddings=ORDERED)
    with pytest.raises(InputError, match="'class_names' and 'embeddings' are needed, but the file has 'embeddings'"):
        read_class_vectors(tmp_path / "v.npz", THREE)


@pytest.mark.needs("pyarrow")
def test_tables_by_name(write):
    lines = "\n".join(f"{name},{x},{y}" for name, (x, y) in VECTORS.items())
    assert read_class_vectors(write("v.csv", f"class,x,y\n{lines}\n"), THREE).tolist() == ORDERED
    with pytest.raises(InputError, match="there are no columns of numbers; the file has 'class'"):
        read_class_vectors(write("v.csv", "class\ncat\n"), ("cat",))
    with pytest.raises(InputError, match="there is no column of class names; the file has 'x', 'y'; name it 'class'"):
        read_class_vectors(write("v.csv", "x,y\n1,2\n"), ("cat",))
