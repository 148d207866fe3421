import numpy as np
import pytest

from repair import InputError, Ranking, Shortlist
from repair.io import ColumnNames, read_score_set, write_ranking

pytestmark = pytest.mark.needs("pyarrow")

NAMES = ("ant", "bee", "cow", "dog")


@pytest.fixture
def write(tmp_path):
    def write(name, layout="lists", n_candidates=3):
        scores = np.random.default_rng(0).normal(size=(5, 4))
        shortlist = Shortlist.from_scores(scores, n_candidates)
        ranking = Ranking.from_scores(shortlist, shortlist.scores + 1)
        path = tmp_path / name
        write_ranking(path, ranking, class_names=NAMES, base_scores=ranking.scores - 1, layout=layout)
        return path

    return write


@pytest.mark.parametrize("name", ["r.csv", "r.tsv.gz", "r.jsonl", "r.parquet", "r.arrow", "r.npz"])
@pytest.mark.parametrize("layout", ["lists", "long"])
def test_a_ranking_is_recognised_in_every_format(write, name, layout):
    with pytest.raises(InputError, match="applied twice; pass the file that was given to rerank"):
        read_score_set(write(name, layout), need_labels=False, refuse_rankings=True)


def test_ranked_ids_are_not_scores(write, tmp_path):
    with pytest.raises(InputError, match="ids are not scores; pass the file of scores"):
        read_score_set(write("r.npy", n_candidates=4), need_labels=False, refuse_rankings=True)
    np.save(tmp_path / "borda.npy", np.array([[3.0, 2.0, 1.0, 0.0]]))
    assert len(read_score_set(tmp_path / "borda.npy", need_labels=False, refuse_rankings=True)) == 1


@pytest.mark.parametrize(
    ("name", "layout", "column"), [("r.csv", "long", "base_score"), ("r.jsonl", "lists", "candidate_base_scores")]
)
def test_the_base_scores_of_a_ranking_can_be_chosen(write, name, layout, column):
    path = write(name, layout)
    file = read_score_set(path, columns=ColumnNames(score=column), need_labels=False, refuse_rankings=True)
    corrected = read_score_set(path, need_labels=False)
    np.testing.assert_allclose(corrected.rows.scores.scores, file.rows.scores.scores + 1)


def test_python_may_read_a_ranking_and_is_told(write):
    assert "contain a correction already" in read_score_set(write("r.jsonl"), need_labels=False).notes[-1]


def test_lists_with_a_prediction_are_not_a_ranking(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": 1, "prediction": "ant", "candidates": ["ant", "bee"], "candidate_scores": [2.0, 1.0]}\n')
    assert len(read_score_set(path, need_labels=False, refuse_rankings=True)) == 1
