"""Records as arrays and back."""

import io

import numpy as np
import pytest

from repair_bench.data.packing import npz_bytes, pack, unpack
from repair_bench.data.problem import Problem


@pytest.mark.parametrize("texts", [("", "å 文", "x\0y"), ("",), ()])
def test_texts_come_back_as_they_were(texts):
    made = Problem(("a",), np.zeros(len(texts), int), np.zeros(len(texts), int), texts=texts)
    assert unpack(Problem, pack(made)).texts == texts


def test_a_record_survives_a_file_without_pickle():
    made = Problem(("a", "b"), np.array([1, 0]), np.array([0, 2]), features=np.eye(2), notes=("one left out",))
    with np.load(io.BytesIO(npz_bytes(pack(made))), allow_pickle=False) as arrays:
        back = unpack(Problem, {name: arrays[name] for name in arrays.files})
    assert back.class_names == ("a", "b")
    assert back.notes == ("one left out",)
    assert back.texts is None
    np.testing.assert_array_equal(back.features, np.eye(2))
