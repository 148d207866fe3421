import numpy as np
import pytest

from repair import Base, InputWarning, Reranker, Shortlist
from repair.model.fingerprint import Distribution, row_hashes


def draw(kind, n, seed, n_classes=30):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, size=n)
    logits = 3 * rng.normal(size=(n, n_classes)) + 6 * np.eye(n_classes)[labels]
    if kind == "heavy":  # the spread of one row is a hundred times that of another
        logits *= np.exp(2 * rng.normal(size=(n, 1)))
    if kind == "bimodal":
        logits *= np.where(rng.random((n, 1)) < 0.5, 0.01, 5.0)
    if kind == "positive":
        logits = 8 + logits / 6
    log_probabilities = logits - np.log(np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
    log_probabilities -= logits.max(axis=1, keepdims=True)
    if kind == "rounded":  # few values and many ties, as from trees
        return np.log(np.round(np.exp(log_probabilities), 1) + 1e-3), labels
    scores = {
        "log_probabilities": log_probabilities,
        "probabilities": np.exp(log_probabilities),
        "percent": 100 * np.exp(log_probabilities),
    }
    return scores.get(kind, logits), labels


def fitted(kind, n=400):
    return Base(10).fit(*draw(kind, n, seed=0), score_type="logits").fingerprint_  # no conversion


def problem(fingerprint, scores):
    return fingerprint.problem(Shortlist.from_scores(scores, 10))


@pytest.mark.filterwarnings("ignore::repair.InputWarning")
@pytest.mark.parametrize("kind", ["logits", "log_probabilities", "probabilities", "percent"])
def test_the_type_of_the_scores_is_recognised(kind):
    assert fitted(kind).types.kind == kind


def test_a_small_number_that_keeps_logarithms_finite_does_no_harm():
    probabilities, labels = draw("probabilities", 400, seed=0)
    assert Base(10).fit(np.log(probabilities.round(2) + 1e-6), labels).fingerprint_.types.kind == "log_probabilities"


def test_positive_logits_are_not_percentages():
    assert fitted("positive").types.kind == "logits"


@pytest.mark.filterwarnings("ignore::repair.InputWarning")
@pytest.mark.parametrize(
    "kind", ["logits", "heavy", "bimodal", "positive", "rounded", "log_probabilities", "probabilities", "percent"]
)
@pytest.mark.parametrize("n_fitted", [60, 400])
def test_new_rows_of_the_same_kind_raise_no_alarm(kind, n_fitted):
    """None in 1,900 batches per kind when it was measured; here, 25 of each size."""
    fingerprint = fitted(kind, n_fitted)
    for n in (1, 20, 100):
        for seed in range(1, 26):
            scores = draw(kind, n, seed)[0]
            assert problem(fingerprint, scores) is None
            assert fingerprint.shared_rows_problem(Shortlist.from_scores(scores, 10)) is None


@pytest.mark.filterwarnings("ignore::repair.InputWarning")
@pytest.mark.parametrize(
    ("then", "now", "remedy"),
    [
        ("log_probabilities", "probabilities", "take their logarithm"),
        ("log_probabilities", "percent", "divide them by 100 and take their logarithm"),
        ("logits", "probabilities", "take their logarithm"),
        ("logits", "percent", "divide them by 100 and take their logarithm"),
        ("probabilities", "log_probabilities", "pass probabilities"),
        ("probabilities", "logits", "pass probabilities"),
        ("probabilities", "percent", "divide them by 100"),
        ("percent", "probabilities", "multiply them by 100"),
        ("percent", "logits", "pass percentages"),
    ],
)
@pytest.mark.parametrize("n", [20, 3000])
def test_another_type_of_score_is_noticed(then, now, remedy, n):
    assert remedy in problem(fitted(then), draw(now, n, seed=1)[0])


@pytest.mark.filterwarnings("ignore::repair.InputWarning")
def test_one_row_is_enough_where_its_type_is_clear():
    probabilities = draw("probabilities", 1, seed=1)[0]
    assert "look like probabilities" in problem(fitted("log_probabilities"), probabilities)
    assert "look like percentages" in fitted("log_probabilities").problem(
        Shortlist.from_candidates([[0, 1]], [[75.0, 25.0]], 30)
    )
    assert "look like log-probabilities" in problem(fitted("probabilities"), np.log(probabilities))
    assert problem(fitted("logits"), probabilities) is None  # a row of logits may look like this


def test_log_probabilities_and_logits_of_one_classifier_give_the_same_ranking_and_no_warning():
    assert problem(fitted("log_probabilities"), draw("logits", 100, seed=1)[0]) is None
    assert problem(fitted("logits"), draw("log_probabilities", 100, seed=1)[0]) is None


@pytest.mark.parametrize("factor", [0.12, 8.0, 20.0])
def test_another_scale_is_noticed(factor):
    text = problem(fitted("logits"), factor * draw("logits", 300, seed=1)[0])
    assert "the median gap" in text
    assert "on the same scale" in text


def test_scores_twice_as_large_are_not_another_scale():
    assert problem(fitted("logits"), 2 * draw("logits", 3000, seed=1)[0]) is None


def test_shorter_lists_are_no_other_scale():
    scores = draw("logits", 300, seed=1)[0]
    assert fitted("logits").problem(Shortlist.from_scores(scores, 2)) is None


@pytest.mark.parametrize("kind", ["logits", "rounded"])
def test_the_rows_of_the_fit_are_recognised(kind):
    scores, labels = draw(kind, 400, seed=0)
    fingerprint = Base(10).fit(scores, labels).fingerprint_
    shortlist = Shortlist.from_scores(scores, 10)
    assert fingerprint.shared_rows(shortlist) == 1.0
    assert "rows that the model was fitted on" in fingerprint.shared_rows_problem(shortlist)
    few = np.concatenate([scores[:40], draw(kind, 160, seed=1)[0]])
    assert fingerprint.shared_rows(Shortlist.from_scores(few, 10)) == pytest.approx(0.2, abs=0.1)
    assert fingerprint.shared_rows_problem(Shortlist.from_scores(few, 10)) is None


def test_a_sample_of_many_rows_is_enough():
    scores, labels = draw("logits", 9000, seed=0)
    fingerprint = Base(10).fit(scores, labels).fingerprint_
    assert fingerprint.n_rows == 4096
    assert fingerprint.shared_rows(Shortlist.from_scores(scores, 10)) == pytest.approx(1.0, abs=0.1)


def test_one_row_per_group():
    scores, labels = draw("logits", 400, seed=0)
    fingerprint = Base(10).fit(scores, labels, groups=np.arange(400) // 4).fingerprint_
    assert (fingerprint.n_rows, fingerprint.grouped) == (100, True)
    assert fingerprint.first_counts.sum() == fingerprint.label_counts.sum() == 100
    assert fingerprint.shared_rows(Shortlist.from_scores(scores, 10)) == 1.0


def test_hashes_depend_on_candidates_and_scores_but_not_on_padding_or_precision():
    scores = np.array([[3.0, 1.0, 0.1], [3.0, 1.0, 0.1], [3.0, 1.1, 0.1], [1.0, 3.0, 0.1]])
    one, same, other, swapped = row_hashes(Shortlist.from_scores(scores, 3), 3)
    assert one == same
    assert len({one, other, swapped}) == 3
    assert row_hashes(Shortlist.from_scores(scores.astype(np.float32), 3), 3)[0] == one
    narrow = Shortlist.from_candidates([[0, 1]], [[3.0, 1.0]], 3)
    wide = Shortlist.from_candidates([[0, 1, -1]], [[3.0, 1.0, 0.0]], 3)
    assert row_hashes(narrow, 3) == row_hashes(wide, 3)


def test_distributions_with_ties_and_without_values():
    tied = Distribution.of(np.array([0.0, 0.0, 0.0, 1.0]))
    assert (tied.edges.tolist(), tied.shares.tolist()) == ([0.0, 1.0], [0.75, 1.0])
    assert Distribution.of(np.zeros(0)).n_values == 0


def test_new_classes_have_no_counts(problem):
    model = Reranker("classwise", n_candidates=6).fit(problem.scores, problem.labels)
    more = model.with_classes(["x", "y"]).fingerprint_
    assert len(more.first_counts) == len(more.listed_counts) == len(more.label_counts) == 22
    assert more.first_counts[20:].sum() == 0


@pytest.mark.parametrize("method", ["rerank", "predict", "predict_proba"])
def test_methods_warn(method):
    scores, labels = draw("log_probabilities", 200, seed=0)
    model = Reranker("classwise", n_candidates=10).fit(scores, labels)
    with pytest.warns(InputWarning, match="look like probabilities"):
        getattr(model, method)(np.exp(scores[:50]))


def test_models_that_build_their_own_shortlists_raise_no_alarm(recwarn):
    rng = np.random.default_rng(0)
    counts = np.round(2000 / np.arange(1, 31) ** 1.5) + 1
    labels = rng.choice(30, size=1200, p=counts / counts.sum())
    scores = rng.normal(size=(1200, 30)) + np.log(counts) + 2 * np.eye(30)[labels]
    model = Reranker("extended", n_candidates=5).fit(scores[:800], labels[:800], class_counts=counts)
    model.rerank(scores[800:])
    assert not [str(one.message) for one in recwarn if one.category is InputWarning]
