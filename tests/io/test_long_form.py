"""One line per candidate."""

import warnings

import numpy as np
import pytest

from repair import InputError, InputWarning, Reranker
from repair.data.calibration_set import CalibrationSet
from repair.io import ClassFile, ColumnNames, read_score_set

pytestmark = pytest.mark.needs("pyarrow")

LONG = """query_id,class_name,score,label,group,weight,site,position
q2,dog,0.5,cat,g1,2,north,1
q1,cat,1.5,dog,g2,1,south,1
q2,cat,0.75,cat,g1,2,north,2
q1,NA,-3,dog,g2,1,south,2
"""
CLASSES = ClassFile(("dog", "NA", "cat", "yak"), counts=np.array([5.0, 4.0, 3.0, 2.0]))


def test_rows_come_in_order_of_first_appearance(write):
    read = read_score_set(write("s.csv", LONG), classes=CLASSES)
    assert read.layout == "long"
    assert read.row_ids.tolist() == ["q2", "q1"]
    assert read.rows.scores.ids.tolist() == [[2, 0], [2, 1]]
    assert read.rows.scores.scores.tolist() == [[0.75, 0.5], [1.5, -3.0]]
    assert read.rows.scores.n_classes == 4
    assert read.rows.labels.tolist() == ["cat", "dog"]
    assert read.rows.groups.tolist() == ["g1", "g2"]
    assert read.rows.sample_weight.tolist() == [2.0, 1.0]
    assert read.rows.class_counts.tolist() == [5, 4, 3, 2]
    assert read.class_names == CLASSES.names
    assert read.new_classes == ()


def test_other_columns_are_kept_where_they_say_one_thing_per_row(write):
    read = read_score_set(write("s.csv", LONG), classes=CLASSES)
    assert read.other.to_pydict() == {"site": ["north", "south"]}
    assert read.notes == ("columns that differ between the lines of a row are not kept: 'position'",)


def test_missing_values_are_values_too(save):
    columns = {"row": [1, 1, 2], "class": ["dog", "cat", "cat"], "score": [1.0, 2.0, 3.0]}
    others = {"none": [None, None, "x"], "some": ["x", None, "x"], "lists": [[1], [1], [2]]}
    read = read_score_set(save("s.parquet", {**columns, **others}), classes=CLASSES, need_labels=False)
    assert read.other.to_pydict() == {"none": [None, "x"]}
    assert read.notes == ("columns that differ between the lines of a row are not kept: 'some', 'lists'",)


def test_without_a_class_table_names_are_sorted_and_said(write):
    with pytest.warns(InputWarning, match="so the 3 names among candidates and labels are used as classes, sorted"):
        read = read_score_set(write("s.csv", LONG))
    assert read.class_names == ("NA", "cat", "dog")
    assert read.rows.class_counts is None


def test_labels_that_are_no_candidate_are_classes_too(write):
    read = read_score_set(write("s.csv", "row,class,score,label\n1,b,1,z\n1,a,2,z\n"))
    assert read.class_names == ("a", "b", "z")


def test_numbers_as_names_sort_as_numbers(write):
    read = read_score_set(write("s.csv", "row,class,score\n1,10,1\n1,9,2\n"), need_labels=False)
    assert read.class_names == ("9", "10")
    read = read_score_set(write("s.csv", "row,class,score\n1,10,1\n1,09,2\n"), need_labels=False)
    assert read.class_names == ("09", "10")


def test_ids_are_understood_where_no_class_is_called_by_a_number(write):
    read = read_score_set(write("s.csv", "row,class,score,label\n1,3,1,0\n1,0,2,0\n2,1,0,-1\n"), classes=CLASSES)
    assert read.rows.scores.ids.tolist() == [[0, 3], [1, -1]]
    assert read.rows.labels.tolist() == [0, -1]
    with pytest.raises(InputError, match=r"s.csv: line 3, column 'class', class id is 4; ids run from 0 to 3"):
        read_score_set(write("s.csv", "row,class,score,label\n1,3,1,0\n1,4,2,0\n"), classes=CLASSES)
    with pytest.raises(InputError, match="line 2, column 'label' is 4; labels are class ids from 0 to 3"):
        read_score_set(write("s.csv", "row,class,score,label\n1,3,1,4\n1,1,2,4\n"), classes=CLASSES)


def test_numbers_are_names_where_classes_are_called_by_numbers(write):
    classes = ClassFile(("1", "0"))
    read = read_score_set(write("s.csv", "row,class,score,label\n1,1,5,0\n1,0,2,0\n"), classes=classes)
    assert read.rows.scores.ids.tolist() == [[0, 1]]
    assert read.rows.labels.tolist() == ["0"]


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("True", "False"), ("true", "false"), ("1", "")])
def test_a_column_may_mark_the_right_candidate(write, yes, no):
    text = f"row,class,score,label\na,x,1,{no}\na,y,2,{yes}\nb,x,1,{no}\nb,y,3,{no}\n"
    read = read_score_set(write("s.csv", text), classes=ClassFile(("x", "y")))
    assert read.rows.labels.tolist() == ["y", "(not among the candidates)"]


def test_a_row_without_a_marked_candidate_counts_as_uncovered(write):
    candidates = (("x", 2), ("y", 1))
    lines = [f"{row},{c},{s},{int(row < 9 and c == 'xy'[row % 2])}" for row in range(12) for c, s in candidates]
    read = read_score_set(write("s.csv", "row,class,score,label\n" + "\n".join(lines)))
    assert read.class_names == ("x", "y")
    checked = CalibrationSet.build(read.rows, 2)
    assert checked.covered.tolist() == [True] * 9 + [False] * 3


def test_marks_of_other_names_and_types(save):
    columns = {"row": [7, 7, 3], "class": ["x", "y", "y"], "score": [1.0, 2.0, 3.0], "is_true": [True, False, True]}
    read = read_score_set(save("s.parquet", columns), classes=ClassFile(("x", "y")))
    assert read.rows.labels.tolist() == ["x", "y"]
    assert read.row_ids.tolist() == [7, 3]


def test_two_right_candidates_are_refused(write):
    text = "row,class,score,label\na,x,1,1\nb,x,1,0\na,y,2,1\n"
    with pytest.raises(InputError, match="line 2, column 'label', and line 4 are both marked as true for row 'a'"):
        read_score_set(write("s.csv", text), classes=ClassFile(("x", "y")))


def test_zero_and_one_are_labels_where_they_are_classes(write):
    text = "row,class,score,label\na,0,1,1\na,1,2,1\nb,1,1,0\n"
    assert read_score_set(write("s.csv", text)).rows.labels.tolist() == ["1", "0"]


def test_zero_and_one_may_be_ids_or_marks_of_ids(write):
    ids = "row,class,score,label\na,0,1,1\na,1,2,1\nb,1,1,0\n"
    assert read_score_set(write("s.csv", ids), classes=CLASSES).rows.labels.tolist() == [1, 0]
    marks = "row,class,score,label\na,0,1,1\na,1,2,0\nb,3,1,1\n"
    assert read_score_set(write("s.csv", marks), classes=CLASSES).rows.labels.tolist() == [0, 3]


def test_labels_from_a_file_of_their_own(write):
    scores = write("s.csv", "row,class,score\nb,x,1\na,x,1\na,y,2\n")
    labels = write("l.csv", "id,true\na,y\nb,q\nc,x\n")
    read = read_score_set(scores, labels_path=labels, classes=ClassFile(("x", "y")))
    assert read.rows.labels.tolist() == ["q", "y"]
    with pytest.raises(InputError, match=r"l2.csv: row 'b' of the scores has no label; add a line"):
        read_score_set(scores, labels_path=write("l2.csv", "id,true\na,y\n"), classes=ClassFile(("x", "y")))
    with pytest.raises(InputError, match=r"l3.csv: line 2 and line 4 label the same row 'a'"):
        read_score_set(scores, labels_path=write("l3.csv", "id,true\na,y\nb,y\na,y\n"))


def test_explicit_columns(write):
    text = "patient,disease,points,score,diagnosis\n1,x,5,9,y\n1,y,6,9,y\n"
    columns = ColumnNames(row="patient", candidate="disease", score="points", label="diagnosis")
    read = read_score_set(write("s.csv", text), columns=columns)
    assert read.rows.scores.scores.tolist() == [[6.0, 5.0]]
    assert read.rows.labels.tolist() == ["y"]
    assert read.other.column_names == ["score"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class,score\nx,1\n", r"there is no row column; the file has 'class', 'score'; name it with ColumnNames\(row"),
        ("row,class,score\n1,x,nan\n", "line 2, column 'score' is nan; scores must be finite"),
        ("row,class,score\n1,x,1\n1,y,inf\n", "line 3, column 'score' is inf"),
        ("row,class,score\n1,x,1e31\n", "line 2, column 'score' is 1e[+]31, beyond"),
        ("row,class,score\n1,x,\n", "line 2, column 'score' is ''; write a number"),
        ("row,class,score\n" + "1,x,1\n" * 9 + "1,y,5%\n", "line 11, column 'score' is '5%'; write a number"),
        ("row,class,score\n1,x,1\n2,x,1\n1,x,2\n", "line 2 and line 4 give class 'x' twice for one row"),
        ("row,class,score\n,x,1\n", "line 2, column 'row' is empty; write an id for every row"),
        ("row,class,score\n1,,1\n", "line 2, column 'class' is empty; write the candidate's class"),
        ("row,class,score,label\n1,x,1,x\n2,x,3,y\n1,y,2,y\n", "line 4, column 'label' is 'y', but 'x' on line 2"),
        ("row,class,score,group\n1,x,1,g\n1,y,2,h\n", "line 3, column 'group' is 'h', but 'g' on line 2"),
        ("row,class,score,weight\n1,x,1,-1\n1,y,2,-1\n", "line 2, column 'weight' is -1.0; weights must be"),
        ("row,class,score\n1,x,1\n2,x,1\n", "n_classes is 1"),
    ],
)
def test_bad_lines(write, text, message):
    with pytest.raises(InputError, match=f"s.csv: {message}"):
        read_score_set(write("s.csv", text), need_labels=False)


def test_labels_are_asked_for(write):
    path = write("s.csv", "row,class,score\n1,x,1\n1,y,2\n")
    with pytest.raises(InputError, match=r"there are no labels; the file has 'row', 'class', 'score'; name the column"):
        read_score_set(path)
    assert read_score_set(path, need_labels=False).rows.labels is None


def test_an_unknown_candidate_is_refused_or_appended(write):
    path = write("s.csv", "row,class,score,label\n1,x,1,q\n1,new,2,q\n2,newer,1,x\n2,new,0,x\n")
    with pytest.raises(InputError, match="line 3, column 'class', class 'new' is not among the 2 known classes; add"):
        read_score_set(path, class_names=["x", "y"])
    read = read_score_set(path, class_names=["x", "y"], unknown_classes="append")
    assert read.new_classes == ("new", "newer")
    assert read.class_names == ("x", "y", "new", "newer")
    assert read.rows.scores.ids.tolist() == [[2, 0], [3, 2]]
    assert read.rows.scores.n_classes == 4


def test_new_classes_take_no_half_known_counts(write):
    path = write("s.csv", "row,class,score\n1,dog,1\n1,emu,2\n")
    read = read_score_set(path, classes=CLASSES, unknown_classes="append", need_labels=False)
    assert read.rows.class_counts is None
    assert "do not cover the new classes" in read.notes[0]


def test_minus_infinity_takes_a_candidate_off(write):
    read = read_score_set(write("s.csv", "row,class,score\n1,x,-inf\n1,y,2\n"), need_labels=False)
    assert read.rows.scores.lengths.tolist() == [1]


def test_one_huge_row_among_many_small_is_refused(write, monkeypatch):
    monkeypatch.setattr("repair.io.rows.MANY_SLOTS", 100)
    lines = [f"0,c{number},1" for number in range(500)] + [f"{row},c0,1" for row in range(1, 500)]
    with pytest.raises(InputError, match="one row has 500 candidates, but 500 rows have 2"):
        read_score_set(write("s.csv", "row,class,score\n" + "\n".join(lines)), need_labels=False)


def test_what_is_read_can_be_fitted(write, problem):
    names = [f"class {number}" for number in range(20)]
    lines = [
        f"{row},{names[column]},{float(problem.scores[row, column])!r},{names[problem.labels[row]]}"
        for row in range(len(problem.labels))
        for column in range(20)
    ]
    shuffled = np.random.default_rng(0).permutation(lines)
    classes = ClassFile(tuple(names), problem.class_counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = read_score_set(write("s.csv", "row,class,score,label\n" + "\n".join(shuffled)), classes=classes)
    fitted = Reranker("classwise", n_candidates=20).fit(read.rows.scores, read.rows.labels, **read.rows.optional_fields)
    order = read.row_ids.astype(int)
    expected = Reranker("classwise", n_candidates=20).fit(problem.scores[order], problem.labels[order])
    np.testing.assert_allclose(fitted.offsets_, expected.offsets_, atol=1e-12)


def test_an_empty_column_of_labels_is_none_unless_labels_are_needed(write):
    path = write("s.csv", "row,class,score,label\n1,x,1,\n1,y,1,\n")
    assert read_score_set(path, need_labels=False).rows.labels is None
    with pytest.raises(InputError, match=r"s\.csv: every label is missing; write the true class of each row"):
        read_score_set(path)
