import numpy as np
import pytest

from repair import InputError
from repair.data.embeddings import check_embeddings


def test_vectors_get_length_one_whatever_their_size_or_type():
    for scale in (1e-30, 1.0, 1e30):
        made = check_embeddings(np.array([[3.0, 4.0], [0.0, 0.0]]) * scale, "embeddings", 2)
        assert made.dtype == np.float32
        np.testing.assert_allclose(made, [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)
    for dtype in (np.float16, np.float64, np.int64, np.uint8):
        np.testing.assert_allclose(check_embeddings(np.array([[3, 4]], dtype=dtype), "e", 1), [[0.6, 0.8]], rtol=1e-6)


def test_the_input_is_not_changed():
    vectors = np.array([[3.0, 4.0]], dtype=np.float32)
    check_embeddings(vectors, "embeddings", 1)
    assert vectors.tolist() == [[3.0, 4.0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((3, 4)), "embeddings has 3 rows, but there are 2; give one vector for each row"),
        (np.zeros((2, 3)), "embeddings has 3 columns; expected 4, as in the other embeddings"),
        (np.zeros((2, 0)), "embeddings has 0 columns"),
        (np.zeros(2), r"embeddings has shape \(2,\); expected 2 dimensions"),
        ([[0, 1, 2, np.nan], [0, 0, 0, 0]], r"embeddings\[0, 3\] is nan; embeddings must be finite"),
        ([[0, 0, 0, 0], [0, -np.inf, 2, 3]], r"embeddings\[1, 1\] is -inf"),
        ([[0, 0, 0, 0], [0, 1e39, 2, 3]], r"embeddings\[1, 1\] is 1e\+39"),
        ([["a"] * 4] * 2, "dtype"),
        (np.zeros((2, 4), dtype=complex), "dtype complex128"),
    ],
)
def test_the_error_names_the_bad_shape_or_entry(values, message):
    with pytest.raises(InputError, match=message):
        check_embeddings(values, "embeddings", 2, 4)
