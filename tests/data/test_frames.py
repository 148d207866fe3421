"""Rankings become data frames, classes may be numbers or booleans, and evaluate shows Base."""

import pickle

import numpy as np
import pytest

from repair import InputError, Ranking, Reranker, ScoreSet, Shortlist, compare, evaluate, load
from repair.io import ColumnNames, read_score_set


@pytest.fixture
def fitted(problem):
    names = [f"c{i}" for i in range(20)]
    known = {**problem.optional_fields, "class_names": names}
    return Reranker("pairwise", n_candidates=4).fit(problem.scores, np.array(names)[problem.labels], **known)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_ranking_becomes_a_long_frame(fitted, problem, kind):
    pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    ranking = fitted.rerank(problem.scores[:3])
    frame = ranking.to_frame(["a", "b", "c"], kind=kind)
    columns = frame.to_pydict() if kind == "arrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns["row"] == ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    assert columns["rank"] == [1, 2, 3, 4] * 3
    assert columns["candidate"] == ranking.names.ravel().tolist()
    assert np.allclose(columns["probability"], ranking.probabilities.ravel())
    assert np.allclose(columns["base_score"], np.take_along_axis(problem.scores[:3], ranking.ids, axis=1).ravel())
    assert columns["base_rank"] == (ranking.order.ravel() + 1).tolist()
    assert len(ranking.first(2).to_frame(kind=kind)) == 6
    again = pickle.loads(pickle.dumps(ranking))
    assert np.allclose(again.base_scores, ranking.base_scores)


def test_a_frame_needs_one_id_per_row_and_leaves_padding_out():
    ranking = Ranking.from_scores(Shortlist.from_candidates([[1, 0], [2]], [[1.0, 0.5], [1.0]], 3), [[1, 2], [0, 0]])
    assert ranking.to_frame()["candidate_id"].tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="row_ids has 1 entries, but the ranking has 2 rows"):
        ranking.to_frame(["a"])


def test_evaluate_shows_base_and_knows_the_class_counts(fitted, problem):
    labels = np.array([f"c{i}" for i in problem.labels])
    result = evaluate(fitted.rerank(problem.scores), labels)
    expected = evaluate(fitted.rerank(problem.scores), labels, fitted.class_counts_)
    assert result.conditional == pytest.approx(expected.conditional, nan_ok=True)
    assert not np.isnan(result.conditional["rare"])
    shortlist = Shortlist.from_scores(problem.scores, 4)
    base = evaluate(Ranking.from_scores(shortlist, shortlist.scores), problem.labels, fitted.class_counts_)
    assert base.base is None
    assert result.base.conditional == pytest.approx(base.conditional, nan_ok=True)
    assert result.base.unconditional == pytest.approx(base.unconditional, nan_ok=True)
    assert "Base, all rows" in str(result)
    assert "Base" not in str(base)
    assert evaluate(fitted.rerank(problem.scores), labels, base=False).base is None


@pytest.mark.parametrize("values", [[30, 10, 20, 7], [True, False]])
def test_classes_may_be_numbers_or_booleans_as_in_scikit_learn(values, tmp_path):
    rng = np.random.default_rng(0)
    classes = np.array(values)
    ids = rng.integers(0, len(classes), size=200)
    scores = rng.normal(size=(200, len(classes))) + 2 * np.eye(len(classes))[ids]
    labels = classes[ids]
    counts = {value: 10 * position + 5 for position, value in enumerate(values)}
    model = Reranker("classwise", n_candidates=2).fit(scores, labels, class_names=classes, class_counts=counts)
    assert model.class_counts_.tolist() == list(counts.values())
    model.save(tmp_path / "m.safetensors")
    for one in (model, load(tmp_path / "m.safetensors")):
        predicted = one.predict(scores)
        assert predicted.dtype.kind == classes.dtype.kind
        assert (predicted == labels).mean() > 0.75
        assert one.classes_.tolist() == values
        assert evaluate(one.rerank(scores), labels).unconditional["hit@1"] == pytest.approx(
            (predicted == labels).mean()
        )
        nothing = one.predict(np.full((1, len(classes)), -np.inf))
        assert nothing.tolist() == [None if classes.dtype == bool else -1]
    rows = ScoreSet(scores, labels, class_names=classes)
    methods = {"ours": Reranker("classwise", n_candidates=2)}
    compared = compare(methods, rows.take(range(100)), rows.take(range(100, 200)), trials=1, resamples=10)
    assert compared.full["ours"]["hit@1"] > 0.75


def test_mixed_class_names_are_refused():
    with pytest.raises(InputError, match=r"class_names\[1\] is 'a', not text|class_names\[0\] is 1, not text"):
        Reranker("classwise").fit([[1.0, 0.0]], [0], class_names=[1, "a"])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_long_frame_is_read_and_a_ranking_of_it_has_its_row_ids(kind):
    library = pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
    columns = {"query": ["a", "a", "b", "b"], "class": ["x", "y", "y", "x"], "score": [1.0, 3.0, 2.0, 1.5],
               "label": ["y", "y", None, None]}  # fmt: skip
    frame = library.table(columns) if kind == "arrow" else library.DataFrame(columns)
    if kind == "pandas":
        frame.index = [7, 5, 3, 1]  # the index is not a column
    read = read_score_set(frame, class_names=["x", "y"])
    assert read.rows.scores.ids.tolist() == [[1, 0]]
    assert read.rows.labels.tolist() == ["y"]
    assert read.notes == ("1 rows have no label and are left out (b)",)
    everything = read_score_set(frame, class_names=["x", "y"], need_labels=False)
    assert everything.row_ids.tolist() == ["a", "b"]
    with pytest.raises(InputError, match="the data frame: there is no column 'id' for the row"):
        read_score_set(frame, columns=ColumnNames(row="id", score="score", candidate="class"))
    bad = {**columns, "score": ["1", "2", "three", "4"]}
    with pytest.raises(InputError, match="the data frame: row 2, column 'score' is 'three'"):
        read_score_set(library.table(bad) if kind == "arrow" else library.DataFrame(bad), class_names=["x", "y"])
