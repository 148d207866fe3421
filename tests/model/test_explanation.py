import numpy as np
import pytest

from repair import ClasswiseTemperature, InputError, LogitAdjustment, Reranker, TauNormalization


def models(problem):
    return [
        Reranker("pairwise", n_candidates=problem.k, tau=0.5),
        Reranker("classwise", n_candidates=problem.k, shrinkage="eb"),
        Reranker("pairwise_only", n_candidates=problem.k),
        LogitAdjustment(problem.k, tau=0.8),
        TauNormalization(problem.k, tau=0.5),
        ClasswiseTemperature(problem.k),
    ]


def test_contributions_add_up_and_agree_with_rerank(problem):
    norms = np.random.default_rng(0).random(20) + 0.5
    for model in models(problem):
        model.fit(problem.scores, problem.labels, weight_norms=norms, **problem.optional_fields)
        adjustments = {"dial": 0.4, "class_costs": norms, "target_prior": norms}
        for row in range(20):
            explained = model.explain(problem.scores[row], **adjustments)
            ranking = model.rerank(problem.scores[row], **adjustments)
            assert [candidate.class_id for candidate in explained.candidates] == ranking.ids[0].tolist()
            for position, candidate in enumerate(explained.candidates):
                assert candidate.score == ranking.scores[0, position]
                assert sum(candidate.contributions.values()) == pytest.approx(candidate.score, abs=1e-9)
                assert candidate.contributions["base"] == problem.scores[row, candidate.class_id]
                assert candidate.rank == position + 1


def test_overtaken_classes_are_listed(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    changed = np.flatnonzero(model.rerank(problem.scores).order[:, 0] > 0)
    assert len(changed) > 0
    for row in changed[:10]:
        explained = model.explain(problem.scores[row])
        before = {candidate.class_id: candidate.base_rank for candidate in explained.candidates}
        after = {candidate.class_id: candidate.rank for candidate in explained.candidates}
        for candidate in explained.candidates:
            class_id = candidate.class_id
            expected = {c for c in before if before[c] < before[class_id] and after[c] > after[class_id]}
            assert set(candidate.overtook) == expected
        assert explained.candidates[0].overtook


def test_every_term_is_named(problem):
    model = Reranker("pairwise", n_candidates=problem.k, tau=1.0).fit(
        problem.scores, problem.labels, **problem.optional_fields
    )
    names = list(model.explain(problem.scores[0], dial=1.0).candidates[0].contributions)
    assert names == ["base", "tau", "offset", "score_gap", "rank_gap", "similarity", "log_freq_ratio", "dial"]


def test_the_table_shows_class_names(problem):
    names = [f"species {i}" for i in range(20)]
    model = Reranker("pairwise", n_candidates=problem.k).fit(
        problem.scores, problem.labels, class_names=names, **problem.optional_fields
    )
    text = str(model.explain(problem.scores[0]))
    assert "species" in text
    assert text.splitlines()[0].split() == [
        "rank", "was", "class", "base", "offset", "score_gap", "rank_gap", "similarity", "log_freq_ratio", "score",
        "overtook",
    ]  # fmt: skip
    assert len(text.splitlines()) == problem.k + 2


def test_several_rows_raise_an_error(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    with pytest.raises(InputError, match="explain takes one row, but got 2"):
        model.explain(problem.scores[:2])


def test_padding_is_not_explained(problem):
    model = Reranker("pairwise", n_candidates=problem.k).fit(problem.scores, problem.labels, **problem.optional_fields)
    scores = np.full(20, -np.inf)
    assert str(model.explain(scores)) == "no candidates on this row"
    scores[[3, 8]] = 1.0, 2.0
    explained = model.explain(scores)
    assert {candidate.class_id for candidate in explained.candidates} == {3, 8}
