import numpy as np
import pytest

from repair import ExtendedOptions, Reranker, ScoreSet
from repair.data.calibration_set import CalibrationSet
from repair.terms.learned.cross_fitted_ridge import FOLDS
from repair.terms.learned.head import CONSTANT, PENALTIES, Head
from repair.terms.view import CandidateView


def build(problem, vectors, **known):
    return CalibrationSet.build(ScoreSet(problem.scores, problem.labels, embeddings=vectors, **known), problem.k)


def test_the_head_is_a_weighted_ridge_regression_of_the_labels(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, columns = Head.learn(calibration, ExtendedOptions())
    vectors = calibration.shortlist.embeddings.astype(np.float64)
    features = np.column_stack([vectors, np.full(300, CONSTANT)])
    weights = 1 / np.sqrt(np.bincount(problem.labels) + 1)[problem.labels]
    weights /= weights.mean()
    gram, moments = (
        features.T @ (weights[:, None] * features),
        features.T @ (weights[:, None] * np.eye(20)[problem.labels]),
    )
    for number, penalty in enumerate(PENALTIES):
        expected = np.linalg.solve(gram + penalty * np.eye(9), moments)
        np.testing.assert_allclose(term.matrices[number], expected.T, rtol=1e-3, atol=1e-5)
    assert columns.shape == (calibration.covered.sum(), problem.k, len(PENALTIES))


def test_the_column_is_the_score_of_the_classifier(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, _ = Head.learn(calibration, ExtendedOptions())[0].collapsed(np.ones(len(PENALTIES)))
    column = term.column(CandidateView(calibration.shortlist, calibration.table, 0.0))
    features = np.append(calibration.shortlist.embeddings[5], CONSTANT)
    np.testing.assert_allclose(column[5], term.matrices[0][calibration.shortlist.ids[5]] @ features, atol=1e-5)


def test_unknown_labels_are_ignored_and_uncovered_rows_are_used(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    unknown = np.where(np.arange(300) % 3 == 0, -1, problem.labels)
    calibration = CalibrationSet.build(ScoreSet(problem.scores, unknown, embeddings=vectors), 2)
    term, columns = Head.learn(calibration, ExtendedOptions())
    assert len(columns) == calibration.covered.sum() < (unknown >= 0).sum()
    kept = unknown >= 0
    fewer = CalibrationSet.build(ScoreSet(problem.scores[kept], unknown[kept], embeddings=vectors[kept]), 2)
    assert (Head.learn(fewer, ExtendedOptions())[0].matrices == term.matrices).all()


def test_no_column_depends_on_a_label_of_its_own_group(problem, make_vectors):
    """The class weights depend on all labels, so two labels of a group are swapped, which keeps the counts."""
    vectors, groups = make_vectors(problem.labels), np.arange(300) // 5
    calibration = build(problem, vectors, groups=groups)
    before = Head.learn(calibration, ExtendedOptions())[1]
    first, second = swap_within_a_group(calibration, groups)
    labels = problem.labels.copy()
    labels[[first, second]] = labels[[second, first]]
    changed = CalibrationSet.build(ScoreSet(problem.scores, labels, embeddings=vectors, groups=groups), problem.k)
    after = Head.learn(changed, ExtendedOptions())[1]
    same_group = groups[np.flatnonzero(calibration.covered)] == groups[first]
    np.testing.assert_allclose(after[same_group], before[same_group], rtol=0, atol=1e-12)
    assert np.abs(after[~same_group] - before[~same_group]).max() > 1e-4


def test_with_training_counts_no_column_depends_on_its_own_label(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    labels, calibration = problem.labels.copy(), build(problem, vectors, class_counts=problem.class_counts)
    before = Head.learn(calibration, ExtendedOptions())[1]
    first = int(np.argmax(calibration.positions == 0))
    row = int(calibration.covered[:first].sum())
    labels[first] = calibration.shortlist.ids[first, 1]
    known = {"embeddings": vectors, "class_counts": problem.class_counts}
    after = Head.learn(CalibrationSet.build(ScoreSet(problem.scores, labels, **known), problem.k), ExtendedOptions())[1]
    np.testing.assert_allclose(after[row], before[row], rtol=0, atol=1e-12)
    assert np.abs(np.delete(after, row, axis=0) - np.delete(before, row, axis=0)).max() > 1e-4


def test_rows_with_weight_zero_are_ignored(problem, make_vectors):
    vectors, weight = make_vectors(problem.labels), np.where(np.arange(300) % 4 == 0, 0.0, 1.0)
    first, second = build(problem, vectors).shortlist.ids[:, :2].T
    # The other label is a candidate too, so the same rows are covered.
    labels = np.where((weight == 0) & (problem.labels == first), second, problem.labels)
    assert (labels != problem.labels).sum() > 10
    models = []
    for fit_labels in (problem.labels, labels):
        fitted = Reranker("extended", n_candidates=6, extended=ExtendedOptions(shortlist_tau=0.0)).fit(
            problem.scores, fit_labels, class_counts=problem.class_counts, embeddings=vectors, sample_weight=weight
        )
        models.append(fitted.rerank(problem.scores, embeddings=vectors).scores)
    np.testing.assert_allclose(models[0], models[1], atol=1e-6)


def swap_within_a_group(calibration, groups):
    """Return two rows of one group with different labels that are both on both shortlists."""
    for first in range(len(groups)):
        for second in range(first + 1, min(first + 5, len(groups))):
            labels, ids = calibration.labels, calibration.shortlist.ids
            on_both = {labels[first], labels[second]} <= set(ids[first]) & set(ids[second])
            if groups[first] == groups[second] and labels[first] != labels[second] and on_both:
                return first, second
    return pytest.fail("no such pair")


def test_reference_rows_are_used(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    plain = Head.learn(build(problem, vectors), ExtendedOptions())[0].matrices
    more = build(problem, vectors, reference_embeddings=vectors[:50], reference_labels=problem.labels[:50])
    assert np.abs(Head.learn(more, ExtendedOptions())[0].matrices - plain).max() > 1e-3
    unlabelled = build(problem, vectors, reference_embeddings=vectors[:50], reference_labels=np.full(50, -1))
    assert (Head.learn(unlabelled, ExtendedOptions())[0].matrices == plain).all()


def test_fewer_rows_than_folds_and_new_classes(problem, make_vectors):
    rows = np.flatnonzero(problem.scores.argmax(axis=1) == problem.labels)[: FOLDS - 1]
    assert len(set(problem.labels[rows])) > 1
    calibration = CalibrationSet.build(
        ScoreSet(problem.scores[rows], problem.labels[rows], embeddings=make_vectors(problem.labels)[rows]), 6
    )
    term, columns = Head.learn(calibration, ExtendedOptions())
    assert np.isfinite(columns).all()
    assert term.embedding_width == 8
    wide = term.for_classes(21)
    assert wide.matrices.shape == (len(PENALTIES), 21, 9)
    assert (wide.matrices[:, 20] == 0).all()
