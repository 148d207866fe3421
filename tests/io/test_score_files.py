"""Finding the file, its format and its layout."""

import os
import subprocess
import sys

import numpy as np
import pytest

from repair import InputError
from repair.io import ColumnNames, read_score_set
from repair.io.formats import format_of


def test_endings_tell_the_format():
    assert format_of("A.CSV").kind == "csv"
    assert format_of("a.tsv.gz").delimiter == "\t"
    assert format_of("a.tsv.gz").compressed
    assert format_of("a.b.feather").kind == "arrow"
    assert format_of("a.xlsx").kind == "xlsx"
    for name in ("a.xls", "csv", "a.npz.gz", "a.pkl"):
        with pytest.raises(InputError, match=r"the ending of the name is not a known format; use one of \.npz"):
            format_of(name)


@pytest.mark.parametrize("name", ["s.npz", "s.npy", "s.csv", "s.jsonl", "s.parquet", "s.arrow"])
@pytest.mark.needs("pyarrow")
def test_a_missing_file_is_the_systems_own_error(tmp_path, name):
    with pytest.raises(FileNotFoundError):
        read_score_set(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises((IsADirectoryError, PermissionError)):  # Windows raises the latter
        read_score_set(tmp_path / name)


@pytest.mark.needs("pyarrow")
@pytest.mark.system("named pipes")
@pytest.mark.parametrize("name", ["s.npz", "s.csv", "s.parquet"])
def test_a_pipe_is_refused_at_once(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="not a regular file"):
        read_score_set(tmp_path / name)


def test_options_are_checked(tmp_path):
    with pytest.raises(InputError, match="unknown_classes is 'ignore'; choose one of 'refuse', 'append'"):
        read_score_set(tmp_path / "s.npz", unknown_classes="ignore")
    with pytest.raises(InputError, match="ColumnNames has 'x' as row and as label"):
        ColumnNames(row="x", label="x")
    with pytest.raises(InputError, match=r"ColumnNames\(row=3\) is not text"):
        ColumnNames(row=3)
    with pytest.raises(InputError, match="class_names repeats 'a'"):
        read_score_set(tmp_path / "s.npz", class_names=["a", "a"])


@pytest.mark.needs("pyarrow")
def test_classes_called_like_the_columns_of_long_form(write):
    read = read_score_set(write("s.csv", "row,class,score\n1,2,3\n"), class_names=["class", "score"], need_labels=False)
    assert read.layout == "dense"
    read = read_score_set(write("s.csv", "row,class,score\n1,x,3\n"), class_names=["x", "score"], need_labels=False)
    assert read.layout == "long"


@pytest.mark.needs("pyarrow")
def test_labels_in_a_parquet_with_gaps_are_whole_numbers(save):
    """A pandas column of ids with a gap is a column of floats."""
    columns = {"scores": [[1.0, 2.0]] * 3, "label": [1.0, None, 0.0]}
    path = save("s.parquet", columns)
    assert read_score_set(path, need_labels=False).rows.labels.tolist() == [1, -1, 0]
    assert read_score_set(path).rows.labels.tolist() == [1, 0]  # the row without a label is left out


@pytest.mark.needs("pyarrow")
def test_large_row_ids_that_json_rounds_are_refused(write):
    lines = "".join(f'{{"row": {10**30 + n}, "class": "x", "score": 1}}\n' for n in (0, 1))
    with pytest.raises(InputError, match="column 'row' has type double; write it as text"):
        read_score_set(write("s.jsonl", lines), class_names=["x", "y"], need_labels=False)


PROGRAM = """
import sys
import repair.io
assert "pyarrow" not in sys.modules
sys.modules["pyarrow"] = None
from repair.io import read_score_set, write_ranking
read = read_score_set(sys.argv[1])
from repair import Ranking, Shortlist
shortlist = Shortlist.from_scores(read.rows.scores, 2)
write_ranking(sys.argv[2], Ranking.from_scores(shortlist, shortlist.scores), class_names=["a", "b", "c"])
"""


def test_arrays_need_no_arrow(tmp_path):
    np.savez(tmp_path / "in.npz", scores=np.eye(3), labels=[0, 1, 2])
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "in.npz"), str(tmp_path / "out.npz")],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert np.load(tmp_path / "out.npz")["prediction"].tolist() == ["a", "b", "c"]
