import numpy as np

from repair import ScoreSet, Shortlist
from repair.data.adjusted_shortlist import choose_shortlist_tau, list_adjustment, with_adjusted_list
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable


def biased(n=400, n_classes=30, bias=1.0, seed=0):
    """Scores in which class counts of n add a bias of `bias`·log(n+1)."""
    rng = np.random.default_rng(seed)
    counts = np.round(1000 / np.arange(1, n_classes + 1) ** 1.5) + 1
    labels = rng.integers(0, n_classes, size=n)
    scores = rng.normal(size=(n, n_classes)) + bias * np.log(counts + 1)
    scores[np.arange(n), labels] += 2.0
    return scores, labels, counts


def build(scores, labels, counts, k=4, **known):
    return CalibrationSet.build(ScoreSet(scores, labels, class_counts=counts, **known), k)


def test_the_adjustment_is_minus_tau_log_count():
    table = ClassTable(3, class_counts=np.array([0.0, 9.0, 99.0]))
    np.testing.assert_allclose(list_adjustment(table, 0.5), -0.5 * np.log([1, 10, 100]))
    assert list_adjustment(table, 0.0) is None


def test_a_bias_towards_frequent_classes_is_found_and_corrected():
    rows = build(*biased())
    tau = choose_shortlist_tau(rows, 4)
    assert 0.6 <= tau <= 1.4
    assert with_adjusted_list(rows, tau, 4).covered.mean() > rows.covered.mean() + 0.2


def test_without_a_bias_the_shortlist_hardly_changes():
    assert choose_shortlist_tau(build(*biased(bias=0.0)), 4) <= 0.2


def test_the_smallest_of_equally_good_taus_is_chosen():
    """With as many candidates as classes, every label is on every shortlist."""
    scores, labels, counts = biased(n_classes=4)
    assert choose_shortlist_tau(build(scores, labels, counts), 4) == 0.0


def test_rows_with_weight_zero_have_no_influence():
    scores, labels, counts = biased()
    flat, labels_flat, _ = biased(bias=0.0, seed=1)
    both = build(
        np.vstack([scores, flat]),
        np.append(labels, labels_flat),
        counts,
        sample_weight=np.append(np.zeros(400), np.ones(400)),
    )
    assert choose_shortlist_tau(both, 4) == choose_shortlist_tau(build(flat, labels_flat, counts), 4)


def test_only_some_of_many_rows_are_used(monkeypatch):
    monkeypatch.setattr("repair.data.adjusted_shortlist.MOST_ROWS", 100)
    assert 0.5 <= choose_shortlist_tau(build(*biased()), 4) <= 1.6


def test_without_all_scores_or_counts_the_shortlist_is_unchanged():
    scores, labels, counts = biased()
    listed = build(Shortlist.from_scores(scores, 4), labels, counts)
    assert choose_shortlist_tau(listed, 4) == 0.0
    assert with_adjusted_list(listed, 1.0, 8) is listed
    assert choose_shortlist_tau(CalibrationSet.build(ScoreSet(scores, labels), 4), 4) == 0.0
    rows = build(scores, labels, counts)
    assert with_adjusted_list(rows, 0.0, 4) is rows


def test_embeddings_and_labels_stay_with_their_rows():
    scores, labels, counts = biased()
    vectors = np.random.default_rng(0).normal(size=(400, 3))
    rows = build(scores, labels, counts, embeddings=vectors)
    listed = with_adjusted_list(rows, 1.0, 4)
    assert (listed.shortlist.ids != rows.shortlist.ids).any()
    np.testing.assert_allclose(listed.shortlist.embeddings, rows.shortlist.embeddings, rtol=1e-6)
    assert (listed.positions == listed.shortlist.positions_of(rows.labels)).all()


def test_longer_lists_contain_the_shorter_ones():
    rows = build(*biased())
    longer = with_adjusted_list(rows, 0.0, 9)
    assert longer.shortlist.n_candidates == 9
    assert (longer.shortlist.ids[:, :4] == rows.shortlist.ids).all()
    assert choose_shortlist_tau(rows, 30) == 0.0  # every class is on a list of all 30
