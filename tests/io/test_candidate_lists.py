"""Lists of candidates and scores in one line per row."""

import pytest

from repair import InputError
from repair.io import ColumnNames, read_score_set

pytestmark = pytest.mark.needs("pyarrow")


def test_names_of_any_number(write):
    text = (
        '{"id": "a", "candidates": ["dog", "cat"], "candidate_scores": [1, 2.5], "label": "cat", "site": 1}\n'
        '{"id": "b", "candidates": ["emu"], "candidate_scores": [0], "label": "yak", "site": 2}\n'
        '{"id": "c", "candidates": [], "candidate_scores": [], "label": "dog", "site": 3}\n'
    )
    read = read_score_set(write("s.jsonl", text), class_names=["cat", "dog", "emu"])
    assert read.layout == "candidates"
    assert read.rows.scores.ids.tolist() == [[0, 1], [2, -1], [-1, -1]]
    assert read.rows.labels.tolist() == ["cat", "yak", "dog"]
    assert read.row_ids.tolist() == ["a", "b", "c"]
    assert read.other.to_pydict() == {"site": [1, 2, 3]}


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_ids_in_every_kind_of_list(save, kind):
    import pyarrow as pa

    make = {"list": pa.list_, "large": pa.large_list, "fixed": lambda inner: pa.list_(inner, 2)}[kind]
    columns = {
        "candidate_ids": pa.array([[-1, 1], [0, -1]], make(pa.int32())),
        "candidate_scores": pa.array([[1.0, 2.0], [5.0, 7.0]], make(pa.float32())),
        "label": [3, 5],
    }
    read = read_score_set(save("s.arrow", columns))
    assert read.rows.scores.ids.tolist() == [[1], [0]]
    assert read.rows.scores.scores.tolist() == [[2.0], [5.0]]  # the scores of padding are nobody's
    assert read.rows.scores.n_classes == 6  # the label 5 counts
    assert read.class_names is None
    assert read.rows.labels.tolist() == [3, 5]


def test_names_win_over_ids(save):
    columns = {"candidate_ids": [[0, 1]], "candidates": [["dog", "cat"]], "candidate_scores": [[1.0, 2.0]]}
    read = read_score_set(save("s.parquet", columns), class_names=["cat", "dog"], need_labels=False)
    assert read.rows.scores.ids.tolist() == [[0, 1]]
    assert read.other is None


def test_columns_by_option(save):
    columns = {"ids": [[4, 2]], "logits": [[1.0, 2.0]]}
    options = ColumnNames(candidate="ids", score="logits")
    assert read_score_set(save("s.parquet", columns), columns=options, need_labels=False).rows.scores.ids.tolist() == [
        [2, 4]
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"candidates": [["a"], ["a", "b"]], "candidate_scores": [[1.0], [1.0]]},
            "row 1 has 2 entries in 'candidates'",
        ),
        (
            {"candidates": [["a", "b"]]},
            "there are lists of candidates .'candidates'., but there is no column with lists of scores",
        ),
        ({"candidates": [["a", "b"]], "candidate_scores": [1.0]}, ".*no column with lists of scores"),
        ({"candidates": [["a", None]], "candidate_scores": [[1.0, 2.0]]}, "row 0, .* has a missing candidate"),
        ({"candidates": [["a", ""]], "candidate_scores": [[1.0, 2.0]]}, "row 0, .* has a candidate without a name"),
        ({"candidates": [["a"], None], "candidate_scores": [[1.0], []]}, "row 1, column 'candidates' is missing"),
        ({"candidates": [["a", "a"]], "candidate_scores": [[1.0, 2.0]]}, "row 0 gives class 'a' twice for one row"),
        ({"candidates": [["a", "z"]], "candidate_scores": [[1.0, 2.0]]}, "row 0, .* class 'z' is not among the 2"),
        (
            {"candidate_ids": [[0, 2]], "candidate_scores": [[1.0, 2.0]]},
            "row 0, .* has class id 2; ids run from 0 to 1",
        ),
        ({"candidate_ids": [[0, -2]], "candidate_scores": [[1.0, 2.0]]}, "row 0, .* has class id -2"),
        ({"candidate_ids": [[0, 0]], "candidate_scores": [[1.0, 2.0]]}, "row 0 gives class 'a' twice"),
        ({"candidate_ids": [[0.5, 1.0]], "candidate_scores": [[1.0, 2.0]]}, "column 'candidate_ids' has type double"),
        ({"candidate_ids": [[0], [1]], "candidate_scores": [[1.0], [float("nan")]]}, "row 1, .* is nan; scores must"),
        ({"candidate_ids": [[0, 1]], "candidate_scores": [["x", "y"]]}, "row 0, column 'candidate_scores' is 'x'"),
    ],
)
def test_bad_lists(save, columns, message):
    with pytest.raises(InputError, match=f"s.parquet: {message}"):
        read_score_set(save("s.parquet", columns), class_names=["a", "b"], need_labels=False)


def test_huge_ids_are_refused_without_a_class_list(save):
    columns = {"candidate_ids": [[0, 2**40]], "candidate_scores": [[1.0, 2.0]]}
    with pytest.raises(InputError, match=f"has class id {2**40}"):
        read_score_set(save("s.parquet", columns), need_labels=False)


def test_new_names_are_appended(save):
    columns = {"candidates": [["z", "a"]], "candidate_scores": [[1.0, 2.0]]}
    read = read_score_set(
        save("s.parquet", columns), class_names=["a", "b"], unknown_classes="append", need_labels=False
    )
    assert read.new_classes == ("z",)
    assert read.rows.scores.ids.tolist() == [[0, 2]]
