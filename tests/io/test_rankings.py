"""Rankings to every format, and back."""

import csv
import json

import numpy as np
import pytest

from repair import InputError, InputWarning, MissingExtraError, Ranking, Shortlist
from repair.io import read_score_set, write_ranking

NAMES = ("ant", "NA", 'a,b\n"c"', "dog")
WITH_LISTS = ("r.parquet", "r.arrow", "r.feather", "r.jsonl", "r.jsonl.gz", "r.npz")
LONG = ("r.parquet", "r.arrow", "r.feather", "r.jsonl", "r.jsonl.gz", "r.csv", "r.tsv", "r.csv.gz")


@pytest.fixture
def ranking():
    shortlist = Shortlist.from_candidates([[0, 1, 2], [3, -1, -1], [2, 0, -1]], np.arange(9.0).reshape(3, 3), 4)
    return Ranking.from_scores(shortlist, np.where(shortlist.mask, -shortlist.scores, -np.inf))


PROBABILITIES = [[0.5, 0.25, 0.25], [1, 0, 0], [0.75, 0.25, 0]]


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize(
    ("name", "layout"), [*((name, "lists") for name in WITH_LISTS), *((name, "long") for name in LONG)]
)
def test_what_is_written_is_read_back(tmp_path, ranking, name, layout):
    other = {"site": ["north", "=1+1", "007"], "rank": [9, 8, 7]}
    write_ranking(
        tmp_path / name,
        ranking,
        class_names=NAMES,
        probabilities=PROBABILITIES,
        row_ids=["q1", "007", "NA"],
        other=other,
        layout=layout,
    )
    read = read_score_set(tmp_path / name, class_names=NAMES, need_labels=False)
    assert read.rows.scores.ids.tolist() == ranking.ids.tolist()
    assert read.rows.scores.scores.tolist() == ranking.scores.tolist()
    assert read.row_ids.tolist() == ["q1", "007", "NA"]
    kept = read.other if isinstance(read.other, dict) else read.other.to_pydict()
    assert list(kept["site"]) == other["site"]
    assert list(map(int, kept["input_rank" if layout == "long" else "rank"])) == [9, 8, 7]


@pytest.mark.needs("pyarrow")
def test_lists(tmp_path, ranking):
    from pyarrow import parquet

    write_ranking(tmp_path / "r.parquet", ranking, class_names=NAMES, probabilities=PROBABILITIES)
    rows = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    assert rows[2] == {
        "prediction": NAMES[2],
        "candidates": [NAMES[2], "ant"],
        "candidate_ids": [2, 0],
        "candidate_scores": [-6.0, -7.0],
        "candidate_probabilities": [0.75, 0.25],
    }


@pytest.mark.needs("pyarrow")
def test_csv_has_a_column_per_rank(tmp_path, ranking):
    write_ranking(tmp_path / "r.csv", ranking, class_names=NAMES, probabilities=PROBABILITIES, row_ids=[7, 8, 9])
    with open(tmp_path / "r.csv", newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0])[:5] == ["row", "prediction", "rank_1", "score_1", "probability_1"]
    assert rows[1]["rank_1"] == rows[1]["prediction"] == "dog"
    assert rows[1]["rank_2"] == rows[1]["score_2"] == rows[1]["probability_2"] == ""
    assert [row["row"] for row in rows] == ["7", "8", "9"]
    assert float(rows[0]["score_1"]) == ranking.scores[0, 0]


@pytest.mark.needs("pyarrow")
def test_long_csv(tmp_path, ranking):
    write_ranking(tmp_path / "r.csv", ranking, layout="long")
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"row","rank","candidate_id","score"'
    assert [line.split(",")[:3] for line in lines[1:]] == [
        [str(row), str(place + 1), str(ranking.ids[row, place])]
        for row, length in enumerate((3, 1, 2))
        for place in range(length)
    ]


def test_plain_arrays(tmp_path, ranking):
    write_ranking(tmp_path / "r.npy", ranking)
    assert np.load(tmp_path / "r.npy").tolist() == ranking.ids.tolist()
    write_ranking(tmp_path / "r.npz", ranking)
    arrays = np.load(tmp_path / "r.npz")
    assert arrays["prediction"].tolist() == ranking.best.tolist()
    write_ranking(tmp_path / "r.npz", ranking, class_names=NAMES, layout="long")
    assert np.load(tmp_path / "r.npz")["candidate"].tolist() == [NAMES[one] for one in ranking.ids[ranking.ids >= 0]]


@pytest.mark.needs("pyarrow")
def test_rows_without_candidates(tmp_path):
    shortlist = Shortlist.from_candidates([[0, 1], [-1, -1]], [[1.0, 2.0], [0.0, 0.0]], 2)
    ranking = Ranking.from_scores(shortlist, shortlist.scores)
    write_ranking(tmp_path / "r.jsonl", ranking, class_names=["x", "y"])
    rows = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[1] == {"prediction": None, "candidates": [], "candidate_ids": [], "candidate_scores": []}
    write_ranking(tmp_path / "r.npz", ranking, class_names=["x", "y"])
    assert np.load(tmp_path / "r.npz")["prediction"].tolist() == ["y", ""]
    with pytest.warns(InputWarning, match=r"rows without candidates \(1\) have no line"):
        write_ranking(tmp_path / "r.csv", ranking, layout="long")


@pytest.mark.needs("pyarrow")
def test_nan_is_null_in_json(tmp_path):
    shortlist = Shortlist.from_candidates([[0, 1]], [[1.0, 2.0]], 2)
    ranking = Ranking.from_scores(shortlist, [[np.nan, 1.0]])
    write_ranking(tmp_path / "r.jsonl", ranking)
    assert json.loads((tmp_path / "r.jsonl").read_text(encoding="utf-8"))["candidate_scores"] == [1.0, None]


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("name", ["r.csv", "r.jsonl", "r.parquet", "r.npz"])
def test_other_columns_of_any_type(tmp_path, ranking, name):
    import datetime
    import decimal

    import pyarrow as pa

    other = pa.table(
        {
            "day": [datetime.date(2020, 1, 1)] * 3,
            "tags": [["a"], [], None],
            "facts": [{"x": 1}, {"x": None}, None],
            "price": [decimal.Decimal("1.50")] * 3,
            "bytes": [b"\xff", b"a", None],
            "half": pa.array(np.ones(3, np.float16)),
            "prediction": ["mine"] * 3,
        }
    )
    if name == "r.npz":
        with pytest.warns(
            InputWarning, match="left out, because a .npz file cannot store them: 'tags', 'facts', 'price', 'bytes'"
        ):
            write_ranking(tmp_path / name, ranking, other=other)
        assert np.load(tmp_path / name)["input_prediction"].tolist() == ["mine"] * 3
        return
    write_ranking(tmp_path / name, ranking, other=other)
    if name == "r.csv":
        with open(tmp_path / name, newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert rows[0]["tags"] == '["a"]'
        assert rows[0]["price"] == "1.50"
        assert rows[0]["input_prediction"] == "mine"
    if name == "r.parquet":
        from pyarrow import parquet

        assert parquet.read_table(tmp_path / name).column("tags").to_pylist() == [["a"], [], None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_names": ["a"]}, "class_names has 1 entries, but there are 4 classes"),
        ({"probabilities": [[1.0]]}, r"probabilities has shape \(1, 1\), but the ranking has \(3, 3\)"),
        ({"row_ids": [1, 2]}, "row_ids has 2 entries, but the ranking has 3 rows"),
        ({"other": {"x": [1]}}, "x has 1 entries, but the ranking has 3 rows"),
        ({"other": {1: [1, 2, 3]}}, "other has a column 1; names of columns must be text"),
        ({"other": [1, 2, 3]}, "other is list; pass a pyarrow Table"),
        ({"layout": "wide"}, "layout is 'wide'; choose one of 'lists', 'long'"),
    ],
)
def test_bad_options(tmp_path, ranking, options, message):
    with pytest.raises(InputError, match=message):
        write_ranking(tmp_path / "r.npz", ranking, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("name", ["r.parquet", "r.jsonl", "r.csv"])
def test_names_that_no_file_can_hold(tmp_path, ranking, name):
    with pytest.raises(InputError, match="the ranking cannot be written as"):
        write_ranking(tmp_path / name, ranking, class_names=["a", "b", "c", "\ud800"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("pyarrow")
def test_columns_of_our_names_are_kept_under_another(tmp_path, ranking):
    other = {"row": [1, 2, 3], "input_row": [4, 5, 6], "prediction": [7, 8, 9]}
    write_ranking(tmp_path / "r.csv", ranking, row_ids=["x", "y", "z"], other=other)
    with open(tmp_path / "r.csv", newline="", encoding="utf-8") as stream:
        first = next(csv.DictReader(stream))
    kept = {name: first[name] for name in list(first)[:5]}
    assert kept == {"row": "x", "input_row": "1", "input_input_row": "4", "input_prediction": "7", "prediction": "0"}


def test_something_else_than_a_ranking(tmp_path):
    with pytest.raises(InputError, match="ranking is list; pass the result of rerank"):
        write_ranking(tmp_path / "r.npz", [[1, 2]])


def test_without_the_library(tmp_path, ranking, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="need the extra 'arrow'"):
        write_ranking(tmp_path / "r.parquet", ranking)
