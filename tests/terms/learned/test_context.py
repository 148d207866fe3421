import numpy as np
import pytest

from repair import ExtendedOptions, InputError, Reranker, ScoreSet, Shortlist
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.terms.learned import context
from repair.terms.learned.context import MOST_CLASSES, Context
from repair.terms.learned.profile_term import landmark_rows
from repair.terms.score_profiles import profiles_of_candidates, profiles_of_scores
from repair.terms.view import CandidateView


@pytest.fixture(params=["scores", "candidates"])
def reads(request):
    """What the term uses: the scores of all classes, or those of the candidates."""
    return request.param


def as_input(scores, k, reads):
    return scores if reads == "scores" else Shortlist.from_scores(scores, k)


def learned(problem, reads, tau=0.0, **known):
    calibration = CalibrationSet.build(
        ScoreSet(
            as_input(problem.scores, problem.k, reads), problem.labels, class_counts=problem.class_counts, **known
        ),
        problem.k,
    )
    return calibration, *Context.learn(calibration, ExtendedOptions(shortlist_tau=tau))


def made(n_classes, reads, width=5, n_landmarks=7):
    rng = np.random.default_rng(0)
    basis, landmarks, matrix = (
        rng.normal(size=shape).astype(np.float32)
        for shape in ((n_classes, width), (n_landmarks, width), (1, n_classes, n_landmarks))
    )
    return Context(basis, reads, landmarks / np.linalg.norm(landmarks, axis=1, keepdims=True), matrix)


def test_the_column_is_a_sum_over_landmarks(problem, reads):
    term, shortlist = made(20, reads), Shortlist.from_scores(problem.scores[:5], 4)
    if reads == "scores":
        vectors = problem.scores[:5] - problem.scores[:5].mean(axis=1, keepdims=True)
        shortlist = shortlist.with_row_vectors("context", profiles_of_scores(problem.scores[:5], term.basis))
    else:
        vectors, shares = np.zeros((5, 20)), np.exp(shortlist.scores)
        np.put_along_axis(vectors, shortlist.ids, np.sqrt(shares / shares.sum(axis=1, keepdims=True)), axis=1)
    column = term.column(CandidateView(shortlist, ClassTable(20), 0.0))
    profiles = vectors @ term.basis
    profiles /= np.linalg.norm(profiles, axis=1, keepdims=True)
    alike = np.exp(profiles @ term.landmarks.T - 1.0)
    expected = np.take_along_axis(alike @ term.matrices[0].T, shortlist.ids, axis=1)
    np.testing.assert_allclose(column, expected, rtol=1e-4, atol=1e-5)


def test_padding_is_zero_and_has_no_effect(make_shortlist):
    ragged, term = make_shortlist(), made(12, "candidates")
    column = term.column(CandidateView(ragged, ClassTable(12), 0.0))
    assert (column[~ragged.mask] == 0).all()
    for row in range(5):
        length = ragged.lengths[row]
        short = Shortlist.from_candidates(ragged.ids[row : row + 1, :length], ragged.scores[row : row + 1, :length], 12)
        alone = term.column(CandidateView(short, ClassTable(12), 0.0))
        np.testing.assert_allclose(alone[0], column[row, :length], rtol=1e-5)


def test_a_class_that_wins_where_another_is_strong_is_put_first(reads):
    """Class 2 is the label whenever class 1 is a strong rival, although its own score does not show that."""
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 2], size=800)
    scores = np.column_stack([rng.normal(size=800), np.where(labels == 2, 0.0, -6.0), rng.normal(size=800)])
    fitted = Reranker("extended", n_candidates=3, terms=("context",)).fit(
        as_input(scores[:400], 3, reads), labels[:400]
    )
    predicted = fitted.predict(as_input(scores[400:], 3, reads))
    assert (predicted == labels[400:]).mean() > (scores[400:].argmax(axis=1) == labels[400:]).mean() + 0.2


def test_a_pattern_outside_the_shortlist_is_learned_from_all_scores():
    """The scores of other classes, far below the shortlist, decide which of two classes is the label."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, size=800)
    scores = rng.normal(size=(800, 12))
    scores[:, 2:7] += np.where(labels == 1, 1.5, -1.5)[:, None]
    scores[:, :2] += 12.0
    hits = {}
    for kind in ("scores", "candidates"):
        fitted = Reranker("extended", n_candidates=2).fit(as_input(scores[:400], 2, kind), labels[:400])
        hits[kind] = (fitted.predict(as_input(scores[400:], 2, kind)) == labels[400:]).mean()
    assert hits["scores"] > 0.9
    assert hits["candidates"] < 0.65


@pytest.mark.parametrize("grouped", [False, True])
def test_no_column_depends_on_a_label_of_its_own_group(problem, grouped, reads):
    """Replace the label of one row by another candidate: columns of its group stay the same, others change."""
    groups = np.arange(300) // 5 if grouped else np.arange(300)
    known = {"groups": groups} if grouped else {}
    calibration, _, before = learned(problem, reads, **known)
    row = int(np.flatnonzero(calibration.positions == 0)[7])
    labels = problem.labels.copy()
    labels[row] = calibration.shortlist.ids[row, 1]
    changed = CalibrationSet.build(
        ScoreSet(as_input(problem.scores, problem.k, reads), labels, class_counts=problem.class_counts, **known),
        problem.k,
    )
    after = Context.learn(changed, ExtendedOptions(shortlist_tau=0.0))[1]
    same_group = groups[np.flatnonzero(calibration.covered)] == groups[row]
    np.testing.assert_allclose(after[same_group], before[same_group], rtol=0, atol=1e-12)
    assert np.abs(after[~same_group] - before[~same_group]).max() > 1e-4


def test_columns_of_new_rows_have_the_same_spread_as_cross_fitted_ones(make_problem, reads):
    problem, fresh = make_problem(n=2000), make_problem(n=2000, seed=5)
    _, term, columns = learned(problem, reads)
    collapsed, total = term.collapsed(np.array([0.0, 1.0, 0.0]))
    shortlist = Shortlist.from_scores(fresh.scores, problem.k)
    if reads == "scores":
        shortlist = shortlist.with_row_vectors("context", profiles_of_scores(fresh.scores, term.basis))
    column = total * collapsed.column(CandidateView(shortlist, ClassTable(20), 0.0))
    assert column.std() == pytest.approx(columns[:, :, 1].std(), rel=0.15)


def test_residuals_are_those_of_the_adjusted_scores(problem):
    """With a large τ the adjusted scores favour rare classes, so frequent ones are right more often than expected."""
    calibration, term, _ = learned(problem, "scores", tau=4.0)
    view = CandidateView(
        calibration.shortlist.with_row_vectors("context", profiles_of_scores(problem.scores, term.basis)),
        calibration.table,
        0.0,
    )
    column = term.collapsed(np.ones(3))[0].column(view)
    frequent = problem.class_counts[calibration.shortlist.ids] > np.median(problem.class_counts)
    assert column[frequent].mean() > column[~frequent].mean() + 0.01


def test_the_collapsed_term_keeps_the_sum_and_new_classes_get_zeros(problem, reads):
    calibration, term, _ = learned(problem, reads)
    weights = np.array([0.4, -0.1, 2.0])
    collapsed, total = term.collapsed(weights)
    shortlist = calibration.shortlist.with_row_vectors("context", profiles_of_scores(problem.scores, term.basis))
    view = CandidateView(shortlist, calibration.table, 0.0)
    parts = [Context(term.basis, reads, term.landmarks, term.matrices[i : i + 1]).column(view) for i in range(3)]
    np.testing.assert_allclose(
        total * collapsed.column(view), sum(w * part for w, part in zip(weights, parts, strict=True)), atol=1e-4
    )
    wide = collapsed.for_classes(22)
    assert wide.matrices.shape == (1, 22, len(term.landmarks))
    assert wide.basis.shape == (22, 20)
    assert (wide.matrices[0, 20:] == 0).all()
    assert (wide.basis[20:] == 0).all()


def test_features_computed_on_demand_differ_only_by_rounding(problem, reads, monkeypatch):
    _, term, columns = learned(problem, reads)
    monkeypatch.setattr(context, "MOST_KEPT", 1)
    _, other, same = learned(problem, reads)
    # Products of other shapes round differently, and whitening magnifies that by up to 1/√NARROW.
    rounding = np.finfo(np.float32).eps / np.sqrt(context.NARROW)
    np.testing.assert_allclose(same, columns, atol=rounding * np.abs(columns).max())
    np.testing.assert_allclose(other.matrices, term.matrices, atol=1e-3 * np.abs(term.matrices).max())


def test_landmarks_include_every_best_class_of_the_base_model(problem):
    shortlist = Shortlist.from_scores(problem.scores, problem.k)
    chosen = landmark_rows(shortlist, 30)
    assert len(chosen) == len(set(chosen.tolist())) == 30
    assert set(shortlist.ids[chosen, 0]) == set(shortlist.ids[:, 0])


def test_a_model_that_uses_all_scores_raises_an_error_for_shortlists(problem):
    model = Reranker("extended", n_candidates=6).fit(problem.scores, problem.labels, class_counts=problem.class_counts)
    with pytest.raises(InputError, match="needs them; pass the whole"):
        model.rerank(Shortlist.from_scores(problem.scores, 6))


def test_it_cannot_be_learned_for_too_many_classes():
    def why_not(n_classes, k):
        ids = np.tile(np.arange(k), (2, 1))
        shortlist = Shortlist.from_candidates(ids, -ids.astype(float), n_classes)
        return Context.why_not(CalibrationSet.build(ScoreSet(shortlist, [0, 0] if k == 1 else [0, 1]), k))

    assert why_not(MOST_CLASSES, 3) == ""
    assert "more than 16384" in why_not(MOST_CLASSES + 1, 3)


def test_profiles_of_candidates_have_length_one_and_one_entry_per_candidate(problem):
    shortlist = Shortlist.from_scores(problem.scores, 5)
    profiles = profiles_of_candidates(shortlist, np.eye(20, dtype=np.float32))
    assert (np.count_nonzero(profiles, axis=1) == 5).all()
    np.testing.assert_allclose(np.linalg.norm(profiles, axis=1), 1.0, rtol=1e-5)
