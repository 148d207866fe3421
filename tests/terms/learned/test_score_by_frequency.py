"""The term `score_by_frequency`: a temperature that changes with the class frequency."""

import numpy as np
import pytest

from repair import InputError, Reranker, Shortlist, load
from repair.data.class_table import ClassTable
from repair.terms.learned.score_by_frequency import ScoreByFrequency
from repair.terms.view import CandidateView

COUNTS = np.array([999.0, 99.0, 9.0])


def draw(n, seed=0):
    """The lead of the most frequent class should be twice as large, and that of the rarest class 0."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=2.0, size=(n, 3))
    lead = scores - scores.mean(axis=1, keepdims=True)
    truth = scores + lead * np.array([1.0, 0.0, -1.0])
    return scores, (truth + rng.gumbel(size=truth.shape)).argmax(axis=1)


def test_the_column_is_lead_times_relative_log_frequency():
    view = CandidateView(Shortlist.from_scores([[3.0, 1.0, 2.0]], 3), ClassTable(3, class_counts=COUNTS))
    # In base order: classes 0, 2, 1 with leads 1, 0, −1.
    np.testing.assert_allclose(
        ScoreByFrequency(np.log(100)).column(view), [[np.log(1000 / 100), 0.0, -np.log(100 / 100)]], atol=1e-12
    )


def test_padding_gets_zero():
    lists = Shortlist.from_candidates([[0, 1, -1]], [[3.0, 1.0, 0.0]], 3)
    column = ScoreByFrequency(0.0).column(CandidateView(lists, ClassTable(3, class_counts=COUNTS)))
    assert column[0, 2] == 0.0
    assert column[0, 0] != 0.0


def test_it_corrects_a_temperature_that_depends_on_frequency():
    scores, labels = draw(1500)
    fresh, truth = draw(4000, seed=1)
    hits = {}
    for name in ("without", "score_by_frequency"):
        terms = ("score_gap", "log_freq_ratio") + (() if name == "without" else (name,))
        model = Reranker("extended", n_candidates=3, terms=terms).fit(scores, labels, class_counts=COUNTS)
        hits[name] = (model.predict(fresh) == truth).mean()
    assert hits["score_by_frequency"] > hits["without"] + 0.01


def test_it_needs_class_counts():
    scores, labels = draw(100)
    with pytest.raises(InputError, match="score_by_frequency' needs class_counts"):
        Reranker("extended", n_candidates=3, terms=("score_gap", "score_by_frequency")).fit(scores, labels)
    assert "score_by_frequency" not in Reranker("extended", n_candidates=3).fit(scores, labels).weights_


def test_a_file_keeps_it_and_new_classes_leave_it_alone(tmp_path):
    scores, labels = draw(300)
    names = ["a", "b", "c"]
    model = Reranker("extended", n_candidates=3, terms=("score_gap", "score_by_frequency")).fit(
        scores, np.array(names)[labels], class_counts=COUNTS, class_names=names
    )
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert (again.rerank(scores).scores == model.rerank(scores).scores).all()
    wide = np.column_stack([scores, np.full(len(scores), -np.inf)])
    longer = model.with_classes(["d"], class_counts={"d": 5.0})
    assert (longer.rerank(wide).scores[:, :3] == model.rerank(scores).scores).all()


@pytest.mark.parametrize("centre", [None, "x", float("nan"), True])
def test_a_bad_centre_in_a_file_is_refused(centre):
    with pytest.raises(InputError, match="centre"):
        ScoreByFrequency.from_arrays({}, {"centre": centre}, ClassTable(3, class_counts=COUNTS))
