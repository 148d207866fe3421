"""The simulation of `auto`: problems are what they claim to be, and shares come with correct intervals."""

import numpy as np
import pytest
from scipy.stats import binomtest

from repair import Reranker
from repair_bench.studies import auto_simulation, run_study, study_folders, study_page
from repair_bench.studies.auto_simulation import summarize_kind
from repair_bench.studies.shares import allowed_count, share, wilson
from repair_bench.studies.simulated_fits import fit_problem, measuring
from repair_bench.studies.simulated_problems import KINDS, NOTHING, draw_problem


@pytest.mark.parametrize(("count", "total"), [(0, 20), (5, 200), (190, 200), (200, 200)])
def test_the_interval_of_a_share_is_wilsons(count, total):
    expected = binomtest(count, total).proportion_ci(method="wilson")
    assert wilson(count, total) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_share_of_nothing_is_not_defined():
    assert share(0, 0)["value"] is None
    assert allowed_count(200) == 16


@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_of_fresh_rows_is_calibrated(kind):
    """The mean probability of the base's first choice is its accuracy, also where calibration rows drift."""
    fresh = draw_problem(kind, 50, 20_000, 0).fresh
    np.testing.assert_allclose(fresh.posterior.sum(axis=1), 1.0)
    first = fresh.scores.argmax(axis=1)
    expected = fresh.posterior[np.arange(20_000), first].mean()
    assert expected == pytest.approx(np.mean(first == fresh.labels), abs=0.015)
    best = fresh.posterior.max(axis=1).mean()
    assert (best - expected < 1e-12) == (kind in NOTHING)


def test_problems_differ_by_number_and_can_be_drawn_again():
    one, again, other = (draw_problem("pairs", 60, 10, number) for number in (0, 0, 1))
    np.testing.assert_array_equal(one.calibration.scores, again.calibration.scores)
    assert (one.calibration.scores != other.calibration.scores).any()


def test_the_true_gain_is_the_expected_accuracy_of_the_model():
    """With a mode that is fixed, gain and error can be computed from the labels and the posterior."""
    found = fit_problem(("offsets", 150, 4_000, 1))
    problem = draw_problem("offsets", 150, 4_000, 1)
    rows, fresh = problem.calibration, problem.fresh
    model = Reranker("extended", n_candidates=10).fit(rows.scores, rows.labels, class_counts=problem.class_counts)
    after, before = model.rerank(fresh.scores).best, fresh.scores.argmax(axis=1)
    every = np.arange(4_000)
    gain = (fresh.posterior[every, after] - fresh.posterior[every, before]).mean()
    assert found["extended"]["gain"] == pytest.approx(100 * gain)
    hits = (after == fresh.labels).astype(float) - (before == fresh.labels)
    assert found["extended"]["error"] == pytest.approx(100 * hits.std(ddof=1) / np.sqrt(4_000))
    low, high = found["interval"]
    assert found["holds"] == (low <= found["auto"]["gain"] <= high)


def one_result(mode, gain, holds, error=0.2):
    return {
        "mode": mode,
        "auto": {"gain": gain, "error": error},
        "extended": {"gain": 1.0, "error": error},
        "base_accuracy": 60.0,
        "holds": holds,
        "seconds": {"auto": 2.0, "extended": 0.1},
    }


def test_the_counts_of_a_kind():
    found = [
        one_result("base", 0.0, None),
        one_result("base", 0.0, False),
        one_result("extended", -0.35, True),
        one_result("extended", -0.5, False),
        one_result("classwise", 2.0, True),
    ]
    summary = summarize_kind(found)
    assert summary["modes"] == {"base": 2, "extended": 2, "classwise": 1}
    assert (summary["corrected"]["count"], summary["corrected"]["of"]) == (3, 5)
    assert summary["below"]["count"] == 2
    assert summary["below_two_errors"]["count"] == 1
    assert (summary["holds"]["count"], summary["holds"]["of"]) == (2, 4)
    assert (summary["holds_corrected"]["count"], summary["holds_corrected"]["of"]) == (2, 3)
    assert summary["auto"]["mean"] == pytest.approx(0.23)


def test_a_kept_block_is_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(auto_simulation, "KINDS", {"nothing": KINDS["nothing"], "offsets": KINDS["offsets"]})
    monkeypatch.setattr(auto_simulation, "QUICK_PROBLEMS", {60: 3})
    monkeypatch.setattr(auto_simulation, "BLOCK", 2)
    solved = []

    def solve(task):
        solved.append(task)
        return {"number": task[3], **one_result("base", 0.0, True)}

    monkeypatch.setattr("repair_bench.studies.simulated_fits.fit_problem", solve)
    record = run_study("auto_simulation", quick=True, vectors=tmp_path / "embeddings")
    assert [task[3] for task in solved] == [0, 1, 2, 0, 1, 2]
    assert [one["number"] for one in record["sizes"]["60"]["offsets"]["problems"]] == [0, 1, 2]
    assert run_study("auto_simulation", quick=True, vectors=tmp_path / "embeddings") == record
    assert len(solved) == 6
    page = study_page(record)
    assert "false alarms 0 (at most 1 are compatible with 5 %): reached" in page
    assert "3 of 3: 100.0 % (43.9 to 100.0)" in page


def test_the_study_reads_no_data(tmp_path):
    assert study_folders("auto_simulation", tmp_path / "nowhere") == []


def test_other_processes_give_the_same_numbers():
    task = ("nothing", 40, 200, 0)  # so few rows that Base is kept at once
    with measuring(2) as measure:
        [elsewhere] = measure([task])
    here = fit_problem(task)
    assert {**elsewhere, "seconds": None} == {**here, "seconds": None}
