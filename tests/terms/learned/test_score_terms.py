"""The terms `score_head`, `score_neighbours` and `logistic_head`: what they learn, and that they do not see labels."""

from dataclasses import replace

import numpy as np
import pytest

from repair import ExtendedOptions, InputError, Reranker, ScoreSet, Shortlist, load
from repair.data.calibration_set import CalibrationSet
from repair.terms.learned.context import Context
from repair.terms.learned.head import LabelledRows
from repair.terms.learned.logistic_head import LogisticHead
from repair.terms.learned.profile_term import learn_profiles
from repair.terms.learned.score_head import ScoreHead
from repair.terms.learned.score_neighbours import MOST_ROWS, VOTES, ScoreNeighbours
from repair.terms.score_profiles import profiles_of_scores
from repair.terms.view import CandidateView

SCORE_TERMS = (ScoreHead, ScoreNeighbours)


def draw(n, seed=0, n_classes=8):
    """Class 0 is right where the score of the last class is high."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes))
    posterior = scores + 4.0 * np.tanh(2 * scores[:, -1:]) * (np.arange(n_classes) == 0)
    return scores, (posterior + rng.gumbel(size=posterior.shape)).argmax(axis=1)


def learned(kind, n=400, seed=0, **fields):
    scores, labels = draw(n, seed)
    rows = CalibrationSet.build(ScoreSet(scores, labels, class_counts=np.arange(8, 0, -1) * 10, **fields), 6)
    return rows, *kind.learn(rows, ExtendedOptions(shortlist_tau=0.0))


@pytest.mark.parametrize("name", ["score_head", "score_neighbours"])
def test_other_scores_of_a_row_tell_the_label(name):
    scores, labels = draw(600)
    fresh, truth = draw(2000, seed=1)
    model = Reranker("extended", n_candidates=8, terms=("score_gap", name)).fit(scores, labels)
    assert (model.predict(fresh) == truth).mean() > (fresh.argmax(axis=1) == truth).mean() + 0.04


@pytest.mark.parametrize("kind", SCORE_TERMS)
def test_a_column_does_not_depend_on_the_row_s_own_label(kind):
    """Another label of one row changes no column of that row."""
    scores, labels = draw(120)
    changed = labels.copy()
    shortlist = Shortlist.from_scores(scores, 8)
    changed[7] = shortlist.ids[7][shortlist.ids[7] != labels[7]][0]
    columns = [
        kind.learn(CalibrationSet.build(ScoreSet(scores, given), 8), ExtendedOptions(shortlist_tau=0.0))[1]
        for given in (labels, changed)
    ]
    assert np.array_equal(columns[0][7], columns[1][7])
    assert not np.array_equal(columns[0], columns[1])


def test_a_logistic_head_does_not_see_the_row_s_own_label_either():
    scores, labels = draw(120)
    vectors = np.random.default_rng(3).normal(size=(120, 5))
    changed = labels.copy()
    changed[7] = (labels[7] + 1) % 8
    counts = np.full(8, 10)
    columns = [
        LogisticHead.learn(
            CalibrationSet.build(ScoreSet(scores, given, embeddings=vectors, class_counts=counts), 8),
            ExtendedOptions(shortlist_tau=0.0),
        )[1]
        for given in (labels, changed)
    ]
    assert np.array_equal(columns[0][7], columns[1][7])
    assert not np.array_equal(columns[0], columns[1])


@pytest.mark.parametrize("kind", SCORE_TERMS)
def test_rows_of_one_group_do_not_inform_each_other(kind):
    """Every row twice: within a group the copies must not betray the label."""
    scores, labels = draw(100)
    twice = np.repeat(np.arange(100), 2)
    rows = CalibrationSet.build(ScoreSet(scores[twice], labels[twice], groups=twice), 8)
    _, columns = kind.learn(rows, ExtendedOptions(shortlist_tau=0.0))
    changed = labels.copy()
    shortlist = Shortlist.from_scores(scores, 8)
    changed[7] = shortlist.ids[7][shortlist.ids[7] != labels[7]][0]
    others = CalibrationSet.build(ScoreSet(scores[twice], changed[twice], groups=twice), 8)
    again = kind.learn(others, ExtendedOptions(shortlist_tau=0.0))[1]
    assert np.array_equal(columns[14:16], again[14:16])


@pytest.mark.parametrize("kind", SCORE_TERMS)
def test_a_stored_term_comes_back(kind):
    rows, term, columns = learned(kind)
    collapsed, _ = term.collapsed(np.ones(columns.shape[2]))
    again = kind.from_arrays(collapsed.arrays(), collapsed.description(), rows.table)
    assert all(np.array_equal(array, again.arrays()[name]) for name, array in collapsed.arrays().items())


@pytest.mark.parametrize("kind", SCORE_TERMS)
@pytest.mark.parametrize("name", ["basis", "matrix", "vectors", "labels", "mixture"])
def test_a_damaged_array_is_refused(kind, name):
    rows, term, columns = learned(kind)
    collapsed, _ = term.collapsed(np.ones(columns.shape[2]))
    arrays = collapsed.arrays()
    if name not in arrays:
        return
    with pytest.raises(InputError):
        kind.from_arrays({**arrays, name: arrays[name][:-1]}, collapsed.description(), rows.table)
    with pytest.raises(InputError, match="reads is 'tea leaves'"):
        kind.from_arrays(arrays, {**collapsed.description(), "reads": "tea leaves"}, rows.table)


@pytest.mark.parametrize("dense", [True, False])
def test_models_with_these_terms_are_saved_and_grow(dense, tmp_path):
    scores, labels = draw(300)
    given = scores if dense else Shortlist.from_scores(scores, 5)
    model = Reranker("extended", n_candidates=5).fit(given, labels)
    assert {"score_head", "score_neighbours"} <= set(model.weights_)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    fresh = draw(50, seed=2)[0]
    rows = fresh if dense else Shortlist.from_scores(fresh, 5)
    assert again.rerank(rows).scores.tobytes() == model.rerank(rows).scores.tobytes()


def test_fast_leaves_the_new_terms_out():
    scores, labels = draw(300)
    model = Reranker("extended", n_candidates=5, extended=ExtendedOptions(fast=True)).fit(scores, labels)
    assert not {"score_head", "score_neighbours"} & set(model.weights_)
    with pytest.raises(InputError, match="fast is 'very'"):
        ExtendedOptions(fast="very")


def test_at_most_so_many_rows_vote(monkeypatch):
    monkeypatch.setattr("repair.terms.learned.score_neighbours.MOST_ROWS", 50)
    _, term, columns = learned(ScoreNeighbours)
    assert len(term.labels) == 50 < MOST_ROWS
    assert columns.shape[0] > 300


def test_a_logistic_head_finds_what_vectors_tell():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=500)
    scores, vectors = rng.normal(size=(500, 6)), 2 * np.eye(6)[labels] + rng.normal(size=(500, 6))
    fit, new = slice(0, 300), slice(300, 500)
    model = Reranker("extended", n_candidates=6, terms=("score_gap", "logistic_head")).fit(
        scores[fit], labels[fit], embeddings=vectors[fit]
    )
    found = model.predict(scores[new], embeddings=vectors[new])
    assert (found == labels[new]).mean() > 0.6


def test_reference_rows_inform_a_logistic_head():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, size=1000)
    vectors = 2 * np.eye(20)[labels] + rng.normal(size=(1000, 20))
    scores = rng.normal(size=(1000, 6))
    own, new, reference = slice(0, 60), slice(60, 300), slice(300, 1000)
    hits = {}
    for with_reference in (False, True):
        more = {"reference_embeddings": vectors[reference], "reference_labels": labels[reference]}
        model = Reranker("extended", n_candidates=6, terms=("score_gap", "logistic_head")).fit(
            scores[own], labels[own], embeddings=vectors[own], **(more if with_reference else {})
        )
        hits[with_reference] = (model.predict(scores[new], embeddings=vectors[new]) == labels[new]).mean()
    assert hits[True] > hits[False] + 0.1


def test_a_logistic_head_is_left_out_where_it_would_take_minutes(monkeypatch):
    monkeypatch.setattr("repair.terms.learned.logistic_head.MOST_PRODUCTS", 10)
    scores, labels = draw(100)
    model = Reranker("extended", n_candidates=5).fit(scores, labels, embeddings=scores)
    assert "logistic_head" not in model.weights_
    assert any("logistic_head is left out" in note for note in model.fit_summary_.notes)


def test_the_size_of_a_logistic_head_is_checked_without_a_copy_of_the_vectors(monkeypatch):
    """The check counts the rows that the regressions would use: labelled calibration and reference rows."""
    scores, labels = draw(100)
    vectors = np.random.default_rng(0).normal(size=(100, 5))
    reference = {"reference_embeddings": vectors[:30], "reference_labels": np.where(np.arange(30) < 4, -1, labels[:30])}
    given = ScoreSet(scores, np.where(np.arange(100) < 10, -1, labels), embeddings=vectors, **reference)
    rows = CalibrationSet.build(given, 8)
    products = LabelledRows.of(rows).features.size * 8
    monkeypatch.setattr(LabelledRows, "of", None)
    monkeypatch.setattr("repair.terms.learned.logistic_head.MOST_PRODUCTS", products)
    assert LogisticHead.why_not(rows) == ""
    monkeypatch.setattr("repair.terms.learned.logistic_head.MOST_PRODUCTS", products - 1)
    assert LogisticHead.why_not(rows) == "116 rows and 8 classes are too many for it"


def test_terms_share_the_profiles_of_a_fit():
    rows, head, _ = learned(ScoreHead)
    known = learn_profiles(rows, ExtendedOptions(shortlist_tau=0.0))
    assert head.basis is known.basis
    assert learn_profiles(rows, ExtendedOptions()) is known
    assert Context.learn(rows, ExtendedOptions())[0].basis is known.basis
    assert learn_profiles(rows, ExtendedOptions(fast=True)) is not known


def test_profiles_of_new_rows_are_computed_once_for_all_terms(tmp_path, monkeypatch):
    scores, labels = draw(300)
    Reranker("extended", n_candidates=5).fit(scores, labels).save(tmp_path / "model")
    model = load(tmp_path / "model")
    expected = model.rerank(scores[:4]).scores
    calls = []

    def counted(given, basis):
        calls.append(basis)
        return profiles_of_scores(given, basis)

    monkeypatch.setattr("repair.terms.learned.profile_term.profiles_of_scores", counted)
    assert np.array_equal(model.rerank(scores[:4]).scores, expected)
    assert len(calls) == 1
    # A term with another basis needs its own profiles.
    correction = model.state.correction
    terms = [replace(term, basis=-term.basis) if term.name == "score_head" else term for term in correction.terms]
    replace(correction, terms=tuple(terms)).prepared(Shortlist.from_scores(scores[:4], 5), scores[:4])
    assert len(calls) == 3


def test_only_rows_labelled_with_a_candidate_vote():
    rows, term, _ = learned(ScoreNeighbours)
    shortlist = rows.shortlist.take(slice(0, 1)).with_row_vectors("score_neighbours", term.searched[:1])
    column = term.column(CandidateView(shortlist, rows.table, 0.0))
    elsewhere = ~np.isin(term.labels, shortlist.ids[0])
    assert elsewhere.any()
    fewer = replace(term, vectors=term.vectors[~elsewhere], labels=term.labels[~elsewhere])
    assert np.array_equal(fewer.column(CandidateView(shortlist, rows.table, 0.0)), column)
    votes = 0.0
    for number, width in VOTES:
        products = term.searched[~elsewhere] @ term.searched[0]
        kept = np.argsort(-products, kind="stable")[:number]
        weights = np.exp((products[kept].astype(np.float64) - 1.0) / width)
        voted = fewer.labels[kept] == shortlist.ids[0][:, None]
        votes += np.log((voted * weights).sum(axis=1) / weights.sum() + 1.0 / number)
    np.testing.assert_allclose(column[0], votes, rtol=1e-5)


def test_stored_rows_must_be_in_the_order_of_their_labels():
    rows, term, _ = learned(ScoreNeighbours)
    arrays = term.arrays()
    with pytest.raises(InputError, match="labels must be in ascending order"):
        ScoreNeighbours.from_arrays({**arrays, "labels": arrays["labels"][::-1].copy()}, term.description(), rows.table)
