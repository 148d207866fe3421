"""What used to give wrong numbers without a word, in the words of those who did it.  Now each raises or warns."""

import numpy as np
import pytest

from repair import InputError, InputWarning, Reranker, ScoreSet, Shortlist, evaluate
from repair.io import read_score_set, write_ranking

K, N = 6, 400
NAMES = tuple("abcdef")


def draw(seed=0, n=N):
    rng = np.random.default_rng(seed)
    labels = rng.choice(K, size=n, p=[0.35, 0.25, 0.16, 0.12, 0.08, 0.04])
    return rng.normal(size=(n, K)) + 3 * np.eye(K)[labels], labels


SCORES, LABELS = draw()
TEST, TEST_LABELS = draw(1)
LOG_PROBABILITIES = SCORES - np.log(np.exp(SCORES).sum(axis=1, keepdims=True))
TEST_PROBABILITIES = np.exp(TEST) / np.exp(TEST).sum(axis=1, keepdims=True)


def fit(scores=SCORES, labels=LABELS, **fields):
    return Reranker("classwise", n_candidates=K).fit(scores, labels, **fields)


def fit_logs():
    return fit(LOG_PROBABILITIES)


def evaluate_fitted_rows():
    evaluate(fit().rerank(SCORES), LABELS)


def evaluate_with(labels=TEST_LABELS, **options):
    evaluate(fit().rerank(TEST), labels, **options)


def compare_series_in_another_order():
    import pandas as pd

    order = np.random.default_rng(2).permutation(N)
    model = fit(pd.DataFrame(SCORES, columns=list(NAMES)), pd.Series(np.array(NAMES)[LABELS]).iloc[order])
    hits = (model.predict(TEST) == np.array(NAMES)[TEST_LABELS]).mean()
    assert hits > 0.8  # aligned by index; by position it would be about 0.2


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (TEST_PROBABILITIES, "probabilities"),
        (100 * TEST_PROBABILITIES, "percent"),
        (100 * TEST, "another scale|logits"),
    ],
    ids=["probabilities", "percent", "logits of another scale"],
)
@pytest.mark.parametrize("method", ["rerank", "predict"])
def test_fit_on_log_probabilities_then_another_type(new, words, method):
    with pytest.warns(InputWarning, match=words):
        getattr(fit_logs(), method)(new)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (evaluate_fitted_rows, "% of these rows are rows that the model was fitted on"),
        (lambda: evaluate_with((TEST_LABELS + 1) % K), "seem to be"),
        (lambda: evaluate_with(np.array([3, 4, 5, 0, 1, 2])[TEST_LABELS]), "different class orders"),
        (lambda: evaluate_with(class_counts=np.bincount(LABELS)[::-1]), "class_counts seem to be in another order"),
        (lambda: fit(labels=np.array(NAMES)[LABELS], class_names=NAMES[3:] + NAMES[:3]), "different class orders"),
        (lambda: fit(class_counts=np.bincount(LABELS)[::-1]), "class_counts seem to be in another order"),
        (lambda: fit(np.column_stack([SCORES, np.full(N, -9.0)]), LABELS + 1), "counted from 0"),
        (lambda: fit(-SCORES), "lower scores seem to be better"),
    ],
    ids=[
        "evaluate on the rows that were fitted",
        "evaluate with labels shifted by one",
        "evaluate with labels in another order",
        "evaluate with counts in another order",
        "class_names in the wrong order",
        "counts in the wrong order",
        "labels 1..K beside K + 1 columns",
        "distances as scores",
    ],
)
def test_a_warning_says_what_is_wrong(act, words):
    with pytest.warns(InputWarning, match=words):
        act()


def test_sound_rows_raise_no_warning(recwarn):
    evaluate_with()
    evaluate_with(class_counts=np.bincount(LABELS))
    assert [str(warning.message) for warning in recwarn if issubclass(warning.category, InputWarning)] == []


@pytest.mark.needs("pandas")
def test_a_frame_and_a_series_in_another_order_are_aligned():
    compare_series_in_another_order()


@pytest.mark.parametrize(
    ("scores", "kind"),
    [(TEST_PROBABILITIES.round(2), "probabilities"), (100 * TEST_PROBABILITIES, "percent")],
    ids=["rounded probabilities", "percent"],
)
def test_other_scores_are_recognised(scores, kind):
    model = fit(scores, TEST_LABELS)
    assert model.state.scale.kind == kind
    assert (model.predict(scores) == TEST_LABELS).mean() > 0.8


def test_sigmoid_outputs_are_not_taken_for_logits_without_a_word(recwarn):
    model = fit(1 / (1 + np.exp(-SCORES)))
    told = any("sigmoid" in str(warning.message) for warning in recwarn)
    assert told or model.state.scale.converts


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("layout", ["lists", "long"])
def test_a_file_that_rerank_wrote_is_refused(tmp_path, layout):
    ranking = fit().rerank(TEST)
    path = tmp_path / "ranked.parquet"
    write_ranking(path, ranking, class_names=NAMES, base_scores=ranking.base_scores, layout=layout)
    with pytest.raises(InputError, match="rerank"):
        read_score_set(path, class_names=NAMES, need_labels=False, refuse_rankings=True)


def test_n_candidates_cuts_shortlists():
    model = Reranker("classwise", n_candidates=3).fit(Shortlist.from_scores(SCORES, K), LABELS)
    assert model.rerank(Shortlist.from_scores(TEST, K)).ids.shape[1] == 3


@pytest.mark.needs("pyarrow")
def test_empty_labels_are_left_out(tmp_path):
    lines = [f"{row},{c},{row + n},{'' if row == 1 else 'x'}" for row in range(3) for n, c in enumerate("xy")]
    (tmp_path / "s.csv").write_text("row,class,score,label\n" + "\n".join(lines), encoding="utf-8")
    read = read_score_set(tmp_path / "s.csv")
    assert isinstance(read.rows, ScoreSet)
    assert len(read) == 2
    assert "label" in read.notes[0]
