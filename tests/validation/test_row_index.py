"""Frames and Series whose rows have keys are matched by these keys."""

import numpy as np
import pytest

from repair import InputError, Reranker, ScoreSet
from repair.validation.row_index import align_rows, row_index

pytestmark = pytest.mark.needs("pandas")


@pytest.fixture
def keys(problem):
    return [f"row {i}" for i in range(len(problem.labels))]


def frames(problem, keys):
    """Return scores as a frame, and labels, groups and weights as Series, all in the same order."""
    import pandas

    return {
        "scores": pandas.DataFrame(problem.scores, index=keys),
        "labels": pandas.Series(problem.labels, index=keys),
        "groups": pandas.Series(np.arange(len(keys)) // 2, index=keys),
        "sample_weight": pandas.Series(np.linspace(1, 2, len(keys)), index=keys),
    }


def test_the_same_keys_in_another_order_give_the_same_fit(problem, keys):
    ordered = frames(problem, keys)
    rng = np.random.default_rng(0)
    shuffled = {name: value.iloc[rng.permutation(len(value))] for name, value in ordered.items() if name != "scores"}
    plain = Reranker("pairwise", n_candidates=5).fit(ScoreSet(**ordered))
    model = Reranker("pairwise", n_candidates=5).fit(ordered["scores"], **shuffled)
    assert (model.offsets_ == plain.offsets_).all()


def test_embeddings_are_matched_by_the_index_too(problem, keys):
    import pandas

    vectors = pandas.DataFrame(np.random.default_rng(0).normal(size=(len(keys), 4)), index=keys)
    scores = pandas.DataFrame(problem.scores, index=keys)
    rows = ScoreSet(scores, problem.labels, embeddings=vectors.iloc[::-1])
    assert (rows.embeddings == vectors).all(axis=None)
    model = Reranker("extended", n_candidates=5).fit(rows)
    straight = model.rerank(scores, embeddings=vectors)
    assert (model.rerank(scores, embeddings=vectors.iloc[::-1]).ids == straight.ids).all()


def test_a_default_index_is_matched_by_position(problem, keys):
    import pandas

    for scores, labels in (
        (pandas.DataFrame(problem.scores), pandas.Series(problem.labels, index=keys)),
        (pandas.DataFrame(problem.scores, index=keys), pandas.Series(problem.labels)),
        (problem.scores, pandas.Series(problem.labels, index=keys)),
    ):
        assert (np.asarray(ScoreSet(scores, labels).labels) == problem.labels).all()


def test_rows_that_differ_are_named(problem, keys):
    import pandas

    scores = pandas.DataFrame(problem.scores, index=keys)
    other = pandas.Series(problem.labels, index=["x", *keys[1:]])
    with pytest.raises(InputError, match=r"scores has a row 'row 0' that labels does not have; pass the same rows, or"):
        ScoreSet(scores, other)
    with pytest.raises(InputError, match=r"labels has 3 rows, but scores has \d+; pass the same rows"):
        ScoreSet(scores, other.iloc[:3])
    twice = pandas.Series(problem.labels, index=["row 1", *keys[1:]])
    with pytest.raises(InputError, match=r"the index of labels repeats 'row 1', so the rows cannot be matched"):
        ScoreSet(scores, twice)
    same = ["row 1", *keys[1:]]  # repeated keys are no problem if both sides have them in the same order
    ScoreSet(pandas.DataFrame(problem.scores, index=same), pandas.Series(problem.labels, index=same))


def test_only_frames_have_an_index():
    import pandas

    assert row_index([1, 2]) is None
    assert row_index(np.arange(2)) is None
    assert row_index(pandas.Series([1, 2])) is None
    assert list(row_index(pandas.Series([1, 2], index=[5, 3]))) == [5, 3]
    assert align_rows({"scores": None, "labels": pandas.Series([1, 2], index=[5, 3])}) == {}
