import numpy as np
import pytest

from repair import ClasswiseTemperature, InputError, LogitAdjustment, Reranker, TauNormalization


def models(problem):
    return [
        Reranker(problem.k, tau=0.5),
        Reranker(problem.k, "classwise", shrinkage="eb"),
        Reranker(problem.k, "pairwise_only"),
        LogitAdjustment(problem.k, tau=0.8),
        TauNormalization(problem.k, tau=0.5),
        ClasswiseTemperature(problem.k),
    ]


def test_contributions_add_up_and_agree_with_rerank(problem):
    norms = np.random.default_rng(0).random(20) + 0.5
    for model in models(problem):
        model.fit(problem.scores, problem.labels, weight_norms=norms, **problem.known)
        wishes = {"dial": 0.4, "class_costs": norms, "target_prior": norms}
        for row in range(20):
            explained = model.explain(problem.scores[row], **wishes)
            ranking = model.rerank(problem.scores[row], **wishes)
            assert [one.class_id for one in explained.candidates] == ranking.ids[0].tolist()
            for place, one in enumerate(explained.candidates):
                assert one.score == ranking.scores[0, place]
                assert sum(one.contributions.values()) == pytest.approx(one.score, abs=1e-9)
                assert one.contributions["base"] == problem.scores[row, one.class_id]
                assert one.rank == place + 1


def test_overtaking_is_told(problem):
    model = Reranker(problem.k).fit(problem.scores, problem.labels, **problem.known)
    changed = np.flatnonzero(model.rerank(problem.scores).order[:, 0] > 0)
    assert len(changed) > 0
    for row in changed[:10]:
        explained = model.explain(problem.scores[row])
        before = {one.class_id: one.base_rank for one in explained.candidates}
        after = {one.class_id: one.rank for one in explained.candidates}
        for one in explained.candidates:
            expected = {c for c in before if before[c] < before[one.class_id] and after[c] > after[one.class_id]}
            assert set(one.overtook) == expected
        assert explained.candidates[0].overtook


def test_every_term_is_named(problem):
    model = Reranker(problem.k, tau=1.0).fit(problem.scores, problem.labels, **problem.known)
    names = list(model.explain(problem.scores[0], dial=1.0).candidates[0].contributions)
    assert names == ["base", "tau", "offset", "score_gap", "rank_gap", "similarity", "log_freq_ratio", "dial"]


def test_the_table_speaks_in_class_names(problem):
    names = [f"species {i}" for i in range(20)]
    model = Reranker(problem.k).fit(problem.scores, problem.labels, class_names=names, **problem.known)
    text = str(model.explain(problem.scores[0]))
    assert "species" in text
    assert text.splitlines()[0].split() == [
        "rank", "was", "class", "base", "offset", "score_gap", "rank_gap", "similarity", "log_freq_ratio", "score",
        "overtook",
    ]  # fmt: skip
    assert len(text.splitlines()) == problem.k + 2


def test_one_row_at_a_time(problem):
    model = Reranker(problem.k).fit(problem.scores, problem.labels, **problem.known)
    with pytest.raises(InputError, match="explain takes one row, but got 2"):
        model.explain(problem.scores[:2])


def test_padding_is_not_explained(problem):
    model = Reranker(problem.k).fit(problem.scores, problem.labels, **problem.known)
    scores = np.full(20, -np.inf)
    assert str(model.explain(scores)) == "no candidates on this row"
    scores[[3, 8]] = 1.0, 2.0
    explained = model.explain(scores)
    assert {one.class_id for one in explained.candidates} == {3, 8}
