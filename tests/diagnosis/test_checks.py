"""Each check fires on what it is for, keeps still on a sound set, and says where it does not apply."""

import re

import numpy as np
import pytest

from repair import InputWarning, ScoreSet, Shortlist, diagnose
from repair.data.calibration_set import CalibrationSet
from repair.diagnosis.checks import CHECKS, CheckInputs, run_checks

N_CLASSES = 8
COUNTS = np.array([400, 300, 200, 100, 80, 60, 40, 20.0])


def draw(n=400, seed=0, strength=4.0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(N_CLASSES, size=n, p=COUNTS / COUNTS.sum())
    return rng.normal(size=(n, N_CLASSES)) + strength * np.eye(N_CLASSES)[labels], labels


def outcomes(scores, labels, k=4, test=None, **known):
    calibration = CalibrationSet.build(ScoreSet(scores, labels, **known), k)
    return {check.code: check for check in run_checks(CheckInputs(calibration, test))}


def failed(checks):
    return [code for code, check in checks.items() if check.outcome == "failed"]


def test_a_sound_set_passes_every_check():
    scores, labels = draw()
    test = Shortlist.from_scores(draw(seed=1)[0], 4)
    checks = outcomes(scores, labels, class_counts=COUNTS, groups=np.arange(400) % 80, test=test)
    assert {check.outcome for check in checks.values()} == {"passed"}
    assert all(check.passed for check in checks.values())


def test_codes_are_stable_and_every_check_says_what_to_do():
    assert [spec.code for spec in CHECKS] == [f"RP{number}" for number in range(101, 118)]
    assert {spec.severity for spec in CHECKS} == {"info", "warning", "error"}
    scores, labels = draw()
    for check in outcomes(scores, labels).values():
        assert check.explanation.endswith(".")
        assert check.remedy.endswith(".")


def test_what_was_not_given_cannot_be_checked():
    checks = outcomes(*draw())
    missing = {code: check for code, check in checks.items() if check.outcome == "not applicable"}
    assert list(missing) == ["RP105", "RP110", "RP112", "RP117"]
    assert {check.passed for check in missing.values()} == {None}
    assert "class_counts was not given" in str(missing["RP105"])


def test_the_ceiling_is_the_coverage_at_k_and_at_twice_k():
    scores, labels = draw(strength=1.0)
    check = outcomes(scores, labels, k=2)["RP101"]
    for k in (2, 4):
        share = Shortlist.from_scores(scores, k).coverage(labels)
        assert f"{100 * share:.1f} % with {k}" in check.explanation
    assert check.outcome == "failed"
    # A model that ranks more classes than k can be more accurate, so this is no limit for every model.
    assert check.explanation.startswith("No reranking of the candidates can exceed their coverage")
    only = outcomes(Shortlist.from_scores(scores, 2), labels)["RP101"]
    assert "only shortlists were given" in only.explanation


def test_labels_in_another_order_show_as_low_coverage():
    scores, labels = draw()
    assert "RP102" in failed(outcomes(scores, (labels + 3) % N_CLASSES, k=2))


def test_classes_without_rows_are_counted_and_named():
    scores, labels = draw()
    kept = labels < 6
    names = [f"class {letter}" for letter in "abcdefgh"]
    checks = outcomes(scores[kept], labels[kept], class_names=names)
    assert failed(checks) == ["RP103"]
    assert "2 of 8 classes have no calibration row (class g, class h)" in checks["RP103"].explanation


def test_few_rows_per_class_are_counted_by_group():
    scores, labels = draw()
    assert failed(outcomes(scores[:12], labels[:12], k=4))[-2:] == ["RP104", "RP111"]
    few_groups = outcomes(scores, labels, groups=np.arange(400) // 100)["RP104"]
    assert few_groups.outcome == "failed"
    assert "groups" in few_groups.explanation


def test_another_class_mix_is_a_shift_and_chance_is_not():
    fired = 0
    for seed in range(20):
        scores, labels = draw(seed=seed)
        fired += outcomes(scores, labels, class_counts=COUNTS)["RP105"].outcome == "failed"
    assert fired == 0
    check = outcomes(*draw(), class_counts=COUNTS[::-1])["RP105"]
    assert check.outcome == "failed"
    assert "p = 0.005" in check.explanation


def test_copies_in_groups_do_not_make_a_shift():
    """Twenty rows in twenty groups, each twenty times, know as much as twenty rows."""
    scores, labels = draw(n=20, seed=3)
    rows = np.repeat(np.arange(20), 20)
    noise = 0.01 * np.random.default_rng(0).normal(size=(400, N_CLASSES))
    known = {"class_counts": COUNTS}
    assert outcomes(scores[rows] + noise, labels[rows], **known)["RP105"].outcome == "failed"
    assert outcomes(scores[rows] + noise, labels[rows], groups=rows, **known)["RP105"].outcome == "passed"


def test_probabilities_and_masks_are_recognised():
    scores, labels = draw()
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert failed(outcomes(shares, labels, score_type="logits")) == ["RP106"]
    assert (
        outcomes(shares, labels)["RP106"].explanation
        == "The scores are probabilities, and are converted to a log scale."
    )
    masked = scores.copy()
    masked[3, np.arange(N_CLASSES) != labels[3]] = -1e9
    checks = outcomes(masked, labels)
    assert failed(checks) == ["RP107"]
    assert "Row 3 has a candidate with score -1e+09" in checks["RP107"].explanation


def test_exact_duplicates_need_all_scores_and_the_label():
    scores, labels = draw()
    copied, same = scores.copy(), labels.copy()
    copied[1:6], same[1:6] = copied[0], same[0]
    checks = outcomes(copied, same)
    assert failed(checks) == ["RP108"]
    assert "6 rows (1.5 %)" in checks["RP108"].explanation
    assert "pass groups" in str(checks["RP108"])
    together = np.maximum(np.arange(400), 5)
    assert failed(outcomes(copied, same, groups=together)) == []
    # The same shortlist, but another score beyond it: no copy, though nearly one.
    last = copied.argmin(axis=1)
    copied[np.arange(400), last] -= np.arange(400)
    assert failed(outcomes(copied, same)) == ["RP109"]


@pytest.mark.parametrize("classifier", ["trees", "neighbours", "rounded"])
def test_equal_scores_of_trees_and_neighbours_are_not_equal_rows(classifier):
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=1.5, size=(N_CLASSES, 3))

    def made(n):
        labels = rng.integers(0, N_CLASSES, size=n)
        distances = ((centres[labels] + rng.normal(size=(n, 3)))[:, None] - centres) ** 2
        shares = np.exp(-distances.sum(axis=2))
        shares /= shares.sum(axis=1, keepdims=True)
        if classifier == "rounded":
            return shares.round(2), labels
        votes = {"trees": 50, "neighbours": 5}[classifier]
        return np.stack([rng.multinomial(votes, row) for row in shares]) / votes, labels

    (scores, labels), (test_scores, test_labels) = made(1200), made(1200)
    score_type = "probabilities"
    checks = diagnose(
        scores, labels, test=ScoreSet(test_scores, test_labels), n_candidates=N_CLASSES, draws=2, score_type=score_type
    ).checks
    outcome = {check.code: check for check in checks}
    assert [outcome[code].outcome for code in ("RP108", "RP109", "RP110")] == ["passed"] * 3
    assert "can have by chance" in outcome["RP108"].explanation


def test_copies_of_rounded_scores_are_still_found():
    scores, labels = draw()
    rounded = scores.round(2)
    rounded[1:9], labels[1:9] = rounded[9:17], labels[9:17]
    test = Shortlist.from_scores(rounded[100:105], 4)
    checks = outcomes(rounded, labels, test=test)
    assert "16 rows (4.0 %)" in checks["RP108"].explanation
    assert "5 test rows" in checks["RP110"].explanation


def test_a_column_that_holds_no_scores_is_noticed():
    scores, labels = draw()
    with_ids = np.concatenate([scores, 1000.0 + np.arange(400)[:, None]], axis=1)
    with pytest.warns(InputWarning, match="first on 100 % of the rows and is never the label"):
        checks = outcomes(with_ids, labels)
    assert "RP114" in failed(checks)
    assert checks["RP114"].severity == "error"
    with_ids[:250, -1] = -5.0  # first on fewer than half of the rows: a class may be that bad
    assert "RP114" not in failed(outcomes(with_ids, labels))


def test_near_duplicates_agree_to_a_millionth():
    scores, labels = draw()
    near = scores.copy()
    near[1:6] = near[0] * (1 + 1e-9 * np.arange(1, 6))[:, None]
    labels[1:6] = labels[0]
    checks = outcomes(near, labels)
    assert failed(checks) == ["RP109"]
    assert "6 rows (1.5 %)" in checks["RP109"].explanation
    near[1:6] = near[0] * (1 + 1e-4 * np.arange(1, 6))[:, None]
    assert failed(outcomes(near, labels)) == []


def test_ragged_rows_are_compared_too():
    ids = [[0, 1], [0, 1], [0], [0], [1, 2, 3]] + [[i % 4, 4 + i % 3] for i in range(60)]
    scores = [[2.0, 1.0], [2.0, 1.0], [2.0], [2.5], [3.0, 2.0, 1.0]] + [[1.37 * i + 0.51, 1.37 * i] for i in range(60)]
    labels = np.array([0, 0, 0, 0, 1] + [i % 4 for i in range(60)])
    checks = outcomes(Shortlist.from_candidates(ids, scores, N_CLASSES), labels)
    assert "2 rows (3.1 %)" in checks["RP108"].explanation
    assert "0 rows" in checks["RP109"].explanation


def test_calibration_rows_in_the_test_set_are_found_by_their_scores():
    scores, labels = draw()
    fresh = draw(seed=1)[0]
    fresh[7] = scores[11]
    checks = outcomes(scores, labels, test=Shortlist.from_scores(fresh, 6))
    assert failed(checks) == ["RP110"]
    explanation = checks["RP110"].explanation
    assert "1 test rows (0.2 %) have the scores (up to 1e-6) of one of 1 calibration rows" in explanation


@pytest.mark.parametrize(("n", "groups", "expected"), [(60, 60, []), (45, 45, ["RP111"]), (60, 4, ["RP111", "RP112"])])
def test_too_few_rows_or_groups(n, groups, expected):
    scores, labels = draw(n=n, strength=8.0)
    checks = outcomes(scores, labels, groups=np.arange(n) % groups)
    assert [code for code in failed(checks) if code in ("RP111", "RP112")] == expected


def test_one_large_group_is_named():
    scores, labels = draw()
    check = outcomes(scores, labels, groups=np.maximum(np.arange(400) - 99, 0))["RP112"]
    assert check.outcome == "failed"
    assert "25.0 %" in check.explanation


def test_unknown_labels_are_listed():
    scores, labels = draw()
    names = np.array(list("abcdefgh"))
    given = names[labels].astype(object)
    given[:3] = "zebra"
    checks = outcomes(scores, given, class_names=list(names))
    assert failed(checks) == ["RP113"]
    assert "'zebra' (3)" in checks["RP113"].explanation


def test_the_documents_list_every_check(repository):
    text = (repository / "docs/checks.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (RP\d+) \| ([^|]+) \| (\w+) \|", text, re.M)
    assert listed == [(spec.code, spec.title, spec.severity) for spec in CHECKS]
