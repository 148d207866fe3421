"""Class tables: every class once, by name."""

import numpy as np
import pytest

from repair import InputError, ScoreSet
from repair.io import ClassFile, read_class_table


@pytest.mark.needs("pyarrow")
def test_names_stay_text(write):
    header = "class,count,parent,weight_norm,path,weight\n"
    text = f"{header}NA,5,x,1.5,a/b,1\n007,0,y,2,a/c,0\n1e5,2.5,x,1,a,2.5\nNone,1,x,1,a,1\n"
    classes = read_class_table(write("c.csv", text))
    assert classes.names == ("NA", "007", "1e5", "None")
    assert classes.counts.tolist() == [5, 0, 2.5, 1]
    assert classes.groups == ("x", "y", "x", "x")
    assert classes.weight_norms.tolist() == [1.5, 2, 1, 1]
    assert classes.paths == ("a/b", "a/c", "a", "a")
    assert classes.weights.tolist() == [1, 0, 2.5, 1]
    assert len(classes) == 4


@pytest.mark.needs("pyarrow")
def test_only_names_are_required(write):
    classes = read_class_table(write("c.tsv", "name\tcolour\nx\tred\ny\tblue\n"))
    assert classes.names == ("x", "y")
    assert (classes.counts, classes.groups, classes.weight_norms, classes.paths, classes.weights) == (None,) * 5
    assert classes.class_fields == {}


@pytest.mark.needs("pyarrow")
def test_columns_by_option(write):
    text = "count,code,freq\n9,x,1\n8,y,2\n"
    classes = read_class_table(write("c.csv", text), name="code", count="freq", group="count")
    assert classes.names == ("x", "y")
    assert classes.counts.tolist() == [1, 2]
    assert classes.groups == ("9", "8")


@pytest.mark.needs("pyarrow")
def test_ids_set_the_order(write):
    text = "class_id,class_name,count\n2,c,30\n0,a,10\n1,b,20\n"
    classes = read_class_table(write("c.csv", text))
    assert classes.names == ("a", "b", "c")
    assert classes.counts.tolist() == [10, 20, 30]
    text = "class_id,class_name,count\n5,c,30\n0,a,10\n"
    assert read_class_table(write("c.csv", text)).names == ("c", "a")


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("name", ["c.parquet", "c.arrow"])
def test_binary_tables(save, name):
    classes = read_class_table(save(name, {"class": [12, 7], "n": [3, 4]}))
    assert classes.names == ("12", "7")
    assert classes.counts.tolist() == [3, 4]


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class,count\nx,1\ny,2\nx,3\n", "line 4, column 'class' repeats class 'x' of line 2; keep one line per class"),
        ("class,count\nx,1\n,2\n", "line 3, column 'class' is empty; write the name of the class"),
        ("class,count\nx,1\ny,-2\n", "line 3, column 'count' is -2; write a finite number that is 0 or more"),
        ("class,count\nx,1\ny,nan\n", "line 3, column 'count' is nan; write a finite"),
        ("class,count\nx,1\ny,many\n", "line 3, column 'count' is 'many'; write a number"),
        ("class,weight_norm\nx,1\ny,0\n", "line 3, column 'weight_norm' is 0; write a finite number that is positive"),
        ("class,weight\nx,1\ny,-1\n", "line 3, column 'weight' is -1; write a finite number that is 0 or more"),
        ("class,parent\nx,1\ny,\n", "line 3, column 'parent' is empty; fill it in"),
        ("klass,count\nx,1\n", "there is no column of class names; the file has 'klass', 'count'; name it with name=…"),
    ],
)
def test_bad_tables(write, text, message):
    with pytest.raises(InputError, match=f"c.csv: {message}"):
        read_class_table(write("c.csv", text))


@pytest.mark.needs("pyarrow")
def test_an_option_that_names_no_column(write):
    with pytest.raises(InputError, match=r"there is no column 'freq' for the count; the file has 'class', 'count'"):
        read_class_table(write("c.csv", "class,count\nx,1\n"), count="freq")


def test_archives(tmp_path):
    arrays = {"class_names": ["a", "b"], "class_counts": [1, 2], "class_groups": [7, 8], "weight_norms": [0.5, 1.0]}
    np.savez(tmp_path / "c.npz", **arrays, class_weights=[2.0, 0.0])
    classes = read_class_table(tmp_path / "c.npz")
    assert classes.names == ("a", "b")
    assert classes.counts.tolist() == [1, 2]
    assert classes.groups == ("7", "8")
    assert classes.weight_norms.tolist() == [0.5, 1]
    assert classes.weights.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"class_counts": [1]}, "there is no array 'class_names'; the file has 'class_counts'"),
        ({"class_names": [1, 2]}, "save one text per class"),
        ({"class_names": ["a", "a"]}, "class_names repeats 'a'"),
        ({"class_names": ["a", "b"], "class_counts": [1]}, "class_counts has shape .1,., but there are 2"),
        ({"class_names": ["a", "b"], "class_counts": [1, -1]}, r"class_counts\[1\] is -1; write a finite number"),
        ({"class_names": ["a", "b"], "weight_norms": [1, 0]}, r"weight_norms\[1\] is 0"),
    ],
)
def test_bad_archives(tmp_path, arrays, message):
    np.savez(tmp_path / "c.npz", **arrays)
    with pytest.raises(InputError, match=f"c.npz: .*{message}"):
        read_class_table(tmp_path / "c.npz")


def test_the_columns_are_fields_of_a_score_set():
    columns = [np.array([1.0, 2.0]), ("g", "h"), np.array([3.0, 4.0]), ("x", "y"), np.array([5.0, 6.0])]
    classes = ClassFile(("a", "b"), *columns).take(("b", "a"))
    rows = ScoreSet([[0.0, 1.0]], class_names=classes.names, **classes.class_fields)
    assert rows.class_counts.tolist() == [2, 1]
    assert rows.class_groups == ("h", "g")
    assert rows.weight_norms.tolist() == [4, 3]
    assert rows.class_weights.tolist() == [6, 5]


def test_arrays_have_no_names(tmp_path):
    np.save(tmp_path / "c.npy", [1, 2])
    with pytest.raises(InputError, match=r"a \.npy file has no class names"):
        read_class_table(tmp_path / "c.npy")


def test_taking_classes_by_name():
    classes = ClassFile(("a", "b", "c"), np.array([1.0, 2.0, 3.0]), paths=("x", "y", "z"))
    taken = classes.take(("c", "a"))
    assert taken.names == ("c", "a")
    assert taken.counts.tolist() == [3, 1]
    assert taken.paths == ("z", "x")
    assert taken.groups is None
    with pytest.raises(InputError, match="no line for class 'd'"):
        classes.take(("a", "d"))
