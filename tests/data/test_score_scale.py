"""Probabilities, percentages, sigmoid outputs and distances are converted to a log scale, always in the same way."""

import warnings

import numpy as np
import pytest

from repair import (
    Base,
    InputError,
    InputWarning,
    Reranker,
    ScoreSet,
    Shortlist,
    compare,
    diagnose,
    head_tail_frontier,
    load,
)
from repair.data.score_scale import ScoreScale
from repair.rerankers.rivals import VectorScaling

N_CLASSES = 8


@pytest.fixture
def drawn():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, N_CLASSES, size=300)
    logits = rng.normal(size=(300, N_CLASSES)) + 2 * np.eye(N_CLASSES)[labels] + np.linspace(1.5, 0, N_CLASSES)
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), labels


def fit(scores, labels, **known):
    return Reranker("pairwise", n_candidates=5).fit(scores, labels, **known)


@pytest.mark.parametrize(
    ("score_type", "convert"),
    [
        ("probabilities", np.exp),
        ("percent", lambda logs: 100 * np.exp(logs)),
        ("sigmoid", lambda logs: 1 / (1 + np.exp(-logs))),
        ("distances", lambda logs: -logs),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
def test_every_type_gives_the_rankings_of_its_logits(drawn, score_type, convert, listed, tmp_path):
    logs, labels = drawn
    scores = convert(logs)
    if listed:
        ids = np.tile(np.arange(N_CLASSES), (300, 1))
        scores = Shortlist.from_candidates(ids, scores, N_CLASSES)
        model = Reranker("pairwise", n_candidates=N_CLASSES).fit(scores, labels, score_type=score_type)
        expected = Reranker("pairwise", n_candidates=N_CLASSES).fit(logs, labels)
    else:
        model, expected = fit(scores, labels, score_type=score_type), fit(logs, labels)
    model.save(tmp_path / "model.safetensors")
    wanted = expected.rerank(logs)
    np.testing.assert_allclose(model.state.scale.undo(model.state.scale.apply(convert(logs))), convert(logs))
    for one in (model, load(tmp_path / "model.safetensors")):
        assert (one.rerank(scores).ids == wanted.ids).all()
        np.testing.assert_allclose(one.rerank(scores).probabilities, wanted.probabilities, atol=1e-9)
        assert (one.predict(ScoreSet(scores)) == expected.predict(logs)).all()
        row = scores.take(0) if listed else scores[0]
        assert one.rerank(row).ids.tolist() == wanted.ids[:1].tolist()
        assert one.explain(row).candidates[0].score == pytest.approx(expected.explain(logs[0]).candidates[0].score)
        prepared = one.shortlist(scores)  # converted already, and not converted again
        assert (one.rerank(prepared.take([1, 2])).ids == wanted.ids[[1, 2]]).all()


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("kind", ["probabilities", "percent"])
def test_probabilities_and_percentages_are_detected_also_when_they_are_rounded(drawn, kind, listed):
    factor = 100.0 if kind == "percent" else 1.0
    scores = factor * np.exp(drawn[0]).round(2)
    given = Shortlist.from_scores(scores, N_CLASSES) if listed else scores
    with pytest.warns(InputWarning, match="the scores look like p.*, so their logarithm is used"):
        model = fit(given, drawn[1])
    assert model.state.scale.kind == kind
    assert model.state.scale.floor == pytest.approx(0.005)


def test_zeros_count_as_half_of_the_smallest_probability_and_stay_candidates():
    scores = np.array([[0.98, 0.02, 0.0, 0.0], [0.5, 0.25, 0.25, 0.0]] * 30)
    labels = np.array([0, 1] * 30)
    with pytest.warns(InputWarning, match=r"38 % of them, those below 0.01, count as 0.01"):
        model = Reranker("classwise", n_candidates=4).fit(scores, labels)
    ranked = model.shortlist([[1.0, 0.0, 0.0, 0.001]])
    assert np.exp(ranked.scores).round(6).tolist() == [[1.0, 0.01, 0.01, 0.01]]
    assert ranked.ids.tolist() == [[0, 1, 2, 3]]
    minus_infinity = model.shortlist([[1.0, 0.0, -np.inf, 0.0]])
    assert minus_infinity.ids.tolist() == [[0, 1, 3, -1]]


def test_saying_the_type_silences_the_note_and_logits_means_as_they_are(drawn):
    shares = np.exp(drawn[0])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(look like|lie between)")
        said = fit(shares, drawn[1], score_type="probabilities")
        raw = fit(shares, drawn[1], score_type="logits")
    assert said.state.scale.kind == "probabilities"
    assert not raw.state.scale.converts
    assert (raw.shortlist(shares).scores <= 1.0).all()
    assert (raw.shortlist(shares).scores >= 0.0).all()


@pytest.mark.parametrize("shape", [np.abs, lambda logs: 4 + logs / logs.std(), lambda logs: logs])
def test_logits_are_not_converted(drawn, shape):
    assert ScoreScale.of(shape(drawn[0]), None).kind == "logits"


def test_a_row_that_detection_does_not_look_at_can_show_that_scores_are_logits():
    scores = np.full((9000, 2), 0.5)
    scores[1] = [-3.0, 0.2]
    assert ScoreScale.of(scores, None).kind == "logits"


def test_sigmoid_outputs_and_similarities_are_pointed_out_but_not_changed(drawn):
    sigmoids = 1 / (1 + np.exp(-3 - drawn[0]))
    with pytest.warns(InputWarning, match="all scores lie between 0 and 1, but do not add up to 1.*'sigmoid'"):
        model = fit(sigmoids, drawn[1])
    assert not model.state.scale.converts


@pytest.mark.parametrize(
    ("fitted", "convert", "message"),
    [
        ("probabilities", lambda logs: logs, r"scores\[0.* is -.*must be probabilities.*np.exp of log-prob"),
        ("probabilities", lambda logs: 100 * np.exp(logs), "must be probabilities.*divide percentages by 100"),
        ("percent", lambda logs: logs, "must be percentages"),
        ("sigmoid", lambda logs: 5 - logs, "must be sigmoid outputs"),
        ("distances", lambda logs: logs, "must be distances, as in the fit"),
    ],
)
def test_scores_that_cannot_be_of_the_fitted_type_are_refused(drawn, fitted, convert, message):
    made = {"probabilities": np.exp, "percent": lambda logs: 100 * np.exp(logs), "distances": np.negative}
    scores = made.get(fitted, lambda logs: 1 / (1 + np.exp(-logs)))(drawn[0])
    model = fit(scores, drawn[1], score_type=fitted)
    for given in (convert(drawn[0]), Shortlist.from_scores(convert(drawn[0]), 3), convert(drawn[0])[0]):
        with pytest.raises(InputError, match=message):
            model.predict(given)


def test_probabilities_for_a_model_of_percentages_raise_a_warning(drawn):
    shares = np.exp(drawn[0])
    model = fit(100 * shares, drawn[1], score_type="percent")
    with pytest.warns(InputWarning, match="no score is above 1, although the model was fitted on percentages"):
        model.predict(shares)


def test_a_score_set_may_say_its_type_but_not_another_one_than_the_model(drawn):
    shares = np.exp(drawn[0])
    model = fit(shares, drawn[1], score_type="probabilities")
    expected = model.predict(shares)
    assert (model.predict(ScoreSet(shares, score_type="probabilities")) == expected).all()
    assert (model.predict(ScoreSet(drawn[0], score_type="logits")) == expected).all()
    with pytest.raises(InputError, match="score_type is 'percent', but the model was fitted on probabilities"):
        model.predict(ScoreSet(100 * shares, score_type="percent"))
    with pytest.raises(InputError, match="score_type is 'rank'; choose one of None, 'logits'"):
        ScoreSet(shares, score_type="rank")


def test_studies_convert_calibration_and_test_rows_alike(drawn):
    logs, labels = drawn
    known = {"class_counts": np.arange(8, 0, -1) * 10}
    results = []
    for scores in (logs, np.exp(logs)):
        sets = [ScoreSet(scores[part], labels[part], **known) for part in (slice(0, 200), slice(200, 300))]
        methods = {"base": Base(5), "ours": Reranker("pairwise", n_candidates=5), "vector": VectorScaling(5)}
        compared = compare(methods, *sets, trials=2, resamples=50)
        model = fit(sets[0], None)
        diagnosis = diagnose(sets[0], test=sets[1], n_candidates=5, draws=5)
        outcomes = [check.outcome for check in diagnosis.checks]
        frontier = head_tail_frontier(model, sets[1], labels[200:], dials=(0.5,))
        results.append(
            (
                compared.full,
                round(diagnosis.separability.pairwise.accuracy.gain, 6),
                outcomes,
                frontier.values["rare"].tolist(),
            )
        )
    assert results[0][0] == {name: pytest.approx(values, nan_ok=True) for name, values in results[1][0].items()}
    assert results[0][1:3] == results[1][1:3]
    assert results[0][3] == results[1][3]


def test_a_rival_converts_new_rows_too(drawn):
    logs, labels = drawn
    expected = VectorScaling(5).fit(logs, labels).predict(logs)
    assert (VectorScaling(5).fit(np.exp(logs), labels).predict(np.exp(logs)) == expected).all()
