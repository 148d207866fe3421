"""Learning curves: subsamples keep groups whole, and the summary is computed from the numbers."""

import numpy as np
import pytest

from repair_bench.report.entries import DESIGN, JUDGING
from repair_bench.sets.registry import get
from repair_bench.studies import learning_curve, run_study, study_page
from repair_bench.studies.curve_summary import AUTO, EXTENDED, LOGIT_ADJ, PAIRWISE, summarize
from repair_bench.studies.learning_curve import subsample_rows


def point(n, auto, extended, logit_adj, everything=False):
    means = {AUTO: auto, EXTENDED: extended, PAIRWISE: 0.0, LOGIT_ADJ: logit_adj}
    return {"n": n, "everything": everything, "gains": {name: {"mean": value} for name, value in means.items()}}


def test_the_study_has_all_benchmarks_that_can_be_run():
    assert set(DESIGN) | set(JUDGING) <= set(learning_curve.SETS)
    assert all(get(name).read is not None for name in learning_curve.SETS)


def test_subsamples_are_distinct_rows_and_keep_groups_whole():
    rows = subsample_rows(500, None, 125, [0, 1])
    assert len(set(rows.tolist())) == 125
    assert rows.tolist() == subsample_rows(500, None, 125, [0, 1]).tolist()
    assert rows.tolist() != subsample_rows(500, None, 125, [0, 2]).tolist()
    groups = np.random.default_rng(0).integers(0, 80, size=500)
    rows = subsample_rows(500, groups, 125, [0, 1])
    assert abs(len(rows) - 125) <= np.bincount(groups).max()
    assert not set(groups[rows]) & set(np.delete(groups, rows))
    assert len(subsample_rows(500, groups, 500, [0])) == 500


def test_the_share_held_is_a_ratio_of_mean_gains():
    sets = {
        "a": {"curve": [point(60, -1.0, 2.0, 1.0), point(125, 4.0, 5.0, 1.0), point(300, 6.0, 5.0, 1.0, True)]},
        "b": {"curve": [point(60, 0.0, -1.0, -1.0), point(90, 0.0, 1.0, 3.0, True)]},
        "c": {"curve": [point(125, -0.5, -1.0, -2.0), point(200, 0.0, -1.0, 0.0, True)]},
    }
    found = summarize(sets)
    assert found["held"]["points"] == 4
    assert found["held"]["share"] == pytest.approx((4.0 + 6.0 - 0.5 + 0.0) / (5.0 + 5.0))
    assert found["by_size"]["125"]["share"] == pytest.approx((4.0 - 0.5) / 5.0)
    assert found["by_size"]["60"]["better"] == pytest.approx(1.0)  # a loss of both counts as 0
    assert found["by_size"]["all"]["points"] == 3
    assert found["by_set"]["a"]["share"] == pytest.approx(1.0)
    assert found["by_set"]["b"]["points"] == 0
    assert found["by_set"]["c"]["share"] is None  # nothing can be gained, so there is no share
    assert found["by_set"]["c"]["lowest"] == -0.5
    assert found["lowest"] == {"set": "a", "n": 60, "gain": -1.0}


def test_without_data_the_page_says_so(tmp_path):
    record = run_study("learning_curve", data=tmp_path, quick=True)
    assert record["sets"] == {}
    assert "The data of no benchmark were found." in study_page(record)


@pytest.mark.needs("sklearn")
def test_base_scores_and_curves_are_kept(tiny_diseases, tmp_path, monkeypatch):
    monkeypatch.setattr(learning_curve, "SETS", ("phenopackets",))
    monkeypatch.setattr(learning_curve, "QUICK_SIZES", (20, 10_000))
    vectors = tmp_path / "cache" / "embeddings"
    record = run_study("learning_curve", data=tiny_diseases, quick=True, vectors=vectors)
    curve = record["sets"]["phenopackets"]["curve"]
    assert [one["n"] for one in curve[:-1]] == [20]
    assert curve[-1]["everything"]
    for one in curve:
        for gain in one["gains"].values():
            assert gain["mean"] == pytest.approx(np.mean(gain["values"]))
        assert sum(one["modes"].values()) == len(one["rows"])
    assert list((tmp_path / "cache" / "phenopackets").rglob("base.npz"))
    page = study_page(record)
    assert "### phenopackets" in page
    assert "| 20 |" in page
    monkeypatch.setattr(learning_curve, "_curve", lambda *_: pytest.fail("computed again"))
    assert run_study("learning_curve", data=tiny_diseases, quick=True, vectors=vectors) == record
