"""One column per class, or one list of all scores."""

import numpy as np
import pytest

from repair import InputError
from repair.io import ClassFile, ColumnNames, read_score_set

pytestmark = pytest.mark.needs("pyarrow")

WIDE = "id,cat,dog,NA,label,group,comment\n007,1.5,-2,0,dog,a,fine\n008,0.5,-inf,3,NA,b,\n"


def test_numeric_columns_are_classes(write):
    read = read_score_set(write("s.csv", WIDE))
    assert read.layout == "dense"
    assert read.class_names == ("cat", "dog", "NA")
    assert read.rows.scores.tolist() == [[1.5, -2, 0], [0.5, -np.inf, 3]]
    assert read.rows.labels.tolist() == ["dog", "NA"]
    assert read.row_ids.tolist() == ["007", "008"]
    assert read.rows.groups.tolist() == ["a", "b"]
    assert read.other.to_pydict() == {"comment": ["fine", ""]}
    assert read.notes == ("there is no class table, so the 3 columns of numbers are the classes: 'cat', 'dog', 'NA'",)


def test_a_class_table_decides_which_columns_are_classes(write):
    text = "age,id,cat,dog,label\n50,1,2,3,cat\n60,4,5,6,dog\n"
    read = read_score_set(write("s.csv", text), classes=ClassFile(("dog", "id", "cat"), np.array([3.0, 2.0, 1.0])))
    assert read.rows.scores.tolist() == [[3, 1, 2], [6, 4, 5]]
    assert read.row_ids is None  # the class called "id" is no row id
    assert read.other.to_pydict() == {"age": ["50", "60"]}
    assert read.notes == ("columns of numbers that are not known classes are kept, but not read as scores: 'age'",)
    assert read.rows.class_counts.tolist() == [3, 2, 1]


def test_counts_of_a_table_follow_the_names_of_a_model(write):
    text = "cat,dog,label\n2,3,cat\n5,6,dog\n"
    classes = ClassFile(("dog", "cat"), np.array([3.0, 1.0]), groups=("g", "h"), weight_norms=np.array([1.0, 2.0]))
    read = read_score_set(write("s.csv", text), classes=classes, class_names=["cat", "dog"])
    assert read.rows.scores.tolist() == [[2, 3], [5, 6]]
    assert read.rows.class_counts.tolist() == [1, 3]
    assert read.rows.class_groups == ("h", "g")
    assert read.rows.weight_norms.tolist() == [2, 1]
    with pytest.raises(InputError, match="class table has no line for class 'emu'"):
        read_score_set(write("s.csv", "cat,emu\n1,2\n"), classes=classes, class_names=["cat", "emu"], need_labels=False)


def test_columns_by_option(write):
    text = "a,b,truth,who,w\n1,2,b,x,3\n"
    read = read_score_set(write("s.csv", text), columns=ColumnNames(row="who", label="truth", weight="w"))
    assert read.class_names == ("a", "b")
    assert read.rows.sample_weight.tolist() == [3.0]
    assert read.row_ids.tolist() == ["x"]


def test_lists_of_all_scores(save, write):
    read = read_score_set(save("s.parquet", {"scores": [[1.0, 2.0], [3.0, 4.0]], "labels": [0, 1]}))
    assert read.layout == "dense"
    assert read.rows.scores.tolist() == [[1, 2], [3, 4]]
    assert read.rows.labels.tolist() == [0, 1]
    read = read_score_set(write("s.jsonl", '{"scores": [1, -Infinity], "label": "b"}\n'), class_names=["a", "b"])
    assert read.rows.scores.tolist() == [[1, -np.inf]]
    assert read.rows.labels.tolist() == ["b"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "a,b\n1,2\n3,x\n", "line 3, column 'b' is 'x', but other lines have numbers"),
        ("s.csv", "a,b\n1,2\n3,\n", "line 3, column 'b' is '', but other lines have numbers"),
        ("s.csv", "a,b\n1,2\n3,nan\n", "line 3, column 'b' is nan; scores must be finite"),
        ("s.csv", "a,label\n1,x\n", "only 1 column contains scores. The file has 'a', 'label'. Write one column"),
        ("s.csv", "a;b|c\n1;2|3\n", "no column contains scores. The file has 'a;b.c' .are the fields separated"),
        ("s.csv", "a,b,label\n1,2,2\n3,4,0\n", "line 2, column 'label' is 2; labels are class ids from 0 to 1"),
        ("s.jsonl", '{"scores": [1, 2]}\n{"scores": [1]}\n', "line 2, column 'scores' has 1 scores, but there are 2"),
        ("s.jsonl", '{"scores": [1]}\n', "line 1, column 'scores' has 1 scores; reranking needs at least two classes"),
        ("s.jsonl", '{"scores": []}\n', "line 1, column 'scores' has 0 scores"),
        ("s.jsonl", '{"scores": [1, null]}\n', "line 1, column 'scores' is missing; write a number"),
        ("s.jsonl", '{"scores": [1, NaN]}\n', "line 1, column 'scores' is nan"),
        ("s.jsonl", '{"scores": [1, 2]}\n{"scores": null}\n', "line 2, column 'scores' is missing; write a list"),
        ("s.jsonl", '{"scores": [1, 2], "label": "x"}\n', "labels are names .such as 'x'., but candidates are ids"),
    ],
)
def test_bad_tables(write, name, text, message):
    with pytest.raises(InputError, match=f"{name}: {message}"):
        read_score_set(write(name, text), need_labels=False)


def test_a_class_without_a_column(write):
    with pytest.raises(
        InputError, match=r"no column for class 'emu' \(1 of 2 classes have no column\); the file has 'cat'"
    ):
        read_score_set(write("s.csv", "cat,dog\n1,2\n"), class_names=["cat", "emu"])


def test_an_option_that_names_no_column(write):
    with pytest.raises(InputError, match=r"there is no column 'truth' for the label; the file has 'a', 'b'"):
        read_score_set(write("s.csv", "a,b\n1,2\n"), columns=ColumnNames(label="truth"))


def test_types_that_are_no_numbers(save):
    import datetime

    days = [datetime.date(2020, 1, 1)] * 2
    with pytest.raises(InputError, match=r"column 'a' has type date32.*; write numbers"):
        read_score_set(save("s.parquet", {"a": days, "b": [1.0, 2.0]}), class_names=["a", "b"])
    with pytest.raises(InputError, match="row 1, column 'b' is missing; write a number"):
        read_score_set(save("s.parquet", {"a": [1, 2], "b": [1.0, None]}), class_names=["a", "b"])


def test_columns_without_any_value_are_no_class(save):
    import pyarrow as pa

    columns = {"a": [1.0], "b": [2.0], "empty": pa.array([None], pa.string()), "null": pa.nulls(1)}
    read = read_score_set(save("s.parquet", columns), need_labels=False)
    assert read.class_names == ("a", "b")
    assert read.other.column_names == ["empty", "null"]


def test_decimals_halves_and_integers_are_numbers(save):
    import decimal

    import pyarrow as pa

    columns = {"a": [decimal.Decimal("1.5")], "b": pa.array(np.array([2], np.float16)), "c": pa.array([3], pa.uint64())}
    assert read_score_set(save("s.parquet", columns), need_labels=False).rows.scores.tolist() == [[1.5, 2, 3]]
