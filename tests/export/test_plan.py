import numpy as np
import pytest

from repair import InputError, Reranker, ScoreSet
from repair.export.plan import plan_of


@pytest.mark.parametrize("mode", ["pairwise", "extended"])
def test_a_model_that_converts_scores_is_refused(problem, mode):
    powers = np.exp(problem.scores - problem.scores.max(axis=1, keepdims=True))
    rows = ScoreSet(powers / powers.sum(axis=1, keepdims=True), problem.labels, score_type="probabilities")
    model = Reranker(mode, n_candidates=5).fit(rows)
    with pytest.raises(InputError, match=r"fitted on probabilities, which it converts .* an export does not convert"):
        plan_of(model)
