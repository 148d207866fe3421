import numpy as np
import pytest

from repair import Reranker
from repair.calibration import CalibrationSet
from repair.candidates import CandidateView
from repair.terms.cross_fit import FOLDS
from repair.terms.head import CONSTANT, PENALTIES, Head


def build(problem, vectors, **known):
    return CalibrationSet.build(problem.scores, problem.labels, problem.k, embeddings=vectors, **known)


def test_the_head_is_a_weighted_ridge_regression_of_the_labels(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    term, columns = Head.learn(calibration)
    vectors = calibration.shortlist.embeddings.astype(np.float64)
    features = np.column_stack([vectors, np.full(300, CONSTANT)])
    weights = 1 / np.sqrt(np.bincount(problem.labels) + 1)[problem.labels]
    weights /= weights.mean()
    gram, moments = (
        features.T @ (weights[:, None] * features),
        features.T @ (weights[:, None] * np.eye(20)[problem.labels]),
    )
    for place, penalty in enumerate(PENALTIES):
        expected = np.linalg.solve(gram + penalty * np.eye(9), moments)
        np.testing.assert_allclose(term.matrices[place], expected.T, rtol=1e-3, atol=1e-5)
    assert columns.shape == (calibration.covered.sum(), problem.k, len(PENALTIES))


def test_the_column_is_the_classifiers_value(problem, make_vectors):
    calibration = build(problem, make_vectors(problem.labels))
    one, _ = Head.learn(calibration)[0].folded(np.ones(len(PENALTIES)))
    column = one.column(CandidateView(calibration.shortlist, calibration.table, 0.0))
    features = np.append(calibration.shortlist.embeddings[5], CONSTANT)
    np.testing.assert_allclose(column[5], one.matrices[0][calibration.shortlist.ids[5]] @ features, atol=1e-5)


def test_unknown_labels_teach_nothing_and_uncovered_ones_do(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    unknown = np.where(np.arange(300) % 3 == 0, -1, problem.labels)
    calibration = CalibrationSet.build(problem.scores, unknown, 2, embeddings=vectors)
    term, columns = Head.learn(calibration)
    assert len(columns) == calibration.covered.sum() < (unknown >= 0).sum()
    kept = unknown >= 0
    fewer = CalibrationSet.build(problem.scores[kept], unknown[kept], 2, embeddings=vectors[kept])
    assert (Head.learn(fewer)[0].matrices == term.matrices).all()


def test_no_row_sees_a_label_of_its_own_group(problem, make_vectors):
    """Rare-class weights look at all labels, so the label is changed for one of an equally frequent class."""
    vectors, groups = make_vectors(problem.labels), np.arange(300) // 5
    calibration = build(problem, vectors, groups=groups)
    before = Head.learn(calibration)[1]
    first, second = swap_within_a_group(calibration, groups)
    labels = problem.labels.copy()
    labels[[first, second]] = labels[[second, first]]
    changed = CalibrationSet.build(problem.scores, labels, problem.k, embeddings=vectors, groups=groups)
    after = Head.learn(changed)[1]
    mine = groups[np.flatnonzero(calibration.covered)] == groups[first]
    np.testing.assert_allclose(after[mine], before[mine], rtol=0, atol=1e-12)
    assert np.abs(after[~mine] - before[~mine]).max() > 1e-4


def test_with_training_counts_no_row_sees_its_own_label(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    labels, calibration = problem.labels.copy(), build(problem, vectors, class_counts=problem.class_counts)
    before = Head.learn(calibration)[1]
    first = int(np.argmax(calibration.positions == 0))
    place = int(calibration.covered[:first].sum())
    labels[first] = calibration.shortlist.ids[first, 1]
    known = {"embeddings": vectors, "class_counts": problem.class_counts}
    after = Head.learn(CalibrationSet.build(problem.scores, labels, problem.k, **known))[1]
    np.testing.assert_allclose(after[place], before[place], rtol=0, atol=1e-12)
    assert np.abs(np.delete(after, place, axis=0) - np.delete(before, place, axis=0)).max() > 1e-4


def test_rows_of_weight_zero_teach_nothing(problem, make_vectors):
    vectors, weight = make_vectors(problem.labels), np.where(np.arange(300) % 4 == 0, 0.0, 1.0)
    first, second = build(problem, vectors).shortlist.ids[:, :2].T
    # Another candidate, so that the same rows are covered.
    labels = np.where((weight == 0) & (problem.labels == first), second, problem.labels)
    assert (labels != problem.labels).sum() > 10
    models = []
    for one in (problem.labels, labels):
        fitted = Reranker(6, "extended", shortlist_tau=0.0).fit(
            problem.scores, one, class_counts=problem.class_counts, embeddings=vectors, sample_weight=weight
        )
        models.append(fitted.rerank(problem.scores, embeddings=vectors).scores)
    np.testing.assert_allclose(models[0], models[1], atol=1e-6)


def swap_within_a_group(calibration, groups):
    """Return two rows of one group, each of which has the other's label on its list too."""
    for first in range(len(groups)):
        for second in range(first + 1, min(first + 5, len(groups))):
            labels, ids = calibration.labels, calibration.shortlist.ids
            on_both = {labels[first], labels[second]} <= set(ids[first]) & set(ids[second])
            if groups[first] == groups[second] and labels[first] != labels[second] and on_both:
                return first, second
    return pytest.fail("no such pair")


def test_reference_rows_teach(problem, make_vectors):
    vectors = make_vectors(problem.labels)
    plain = Head.learn(build(problem, vectors))[0].matrices
    more = build(problem, vectors, reference_embeddings=vectors[:50], reference_labels=problem.labels[:50])
    assert np.abs(Head.learn(more)[0].matrices - plain).max() > 1e-3
    nobody = build(problem, vectors, reference_embeddings=vectors[:50], reference_labels=np.full(50, -1))
    assert (Head.learn(nobody)[0].matrices == plain).all()


def test_fewer_rows_than_folds_and_new_classes(problem, make_vectors):
    rows = np.flatnonzero(problem.scores.argmax(axis=1) == problem.labels)[: FOLDS - 1]
    assert len(set(problem.labels[rows])) > 1
    calibration = CalibrationSet.build(
        problem.scores[rows], problem.labels[rows], 6, embeddings=make_vectors(problem.labels)[rows]
    )
    term, columns = Head.learn(calibration)
    assert np.isfinite(columns).all()
    assert term.embedding_width == 8
    wide = term.for_classes(21)
    assert wide.matrices.shape == (len(PENALTIES), 21, 9)
    assert (wide.matrices[:, 20] == 0).all()
