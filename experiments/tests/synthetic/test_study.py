"""The study's claims on fresh problems, and the document it writes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from repair.datasets import SyntheticSettings, make_synthetic
from repair.demo.synthetic_methods import ORACLE, usual_methods
from repair_bench.running.study_runs import run_cached_study
from repair_bench.synthetic.diagnostics import quintile_effects, shrinkage_effects
from repair_bench.synthetic.readings import READINGS
from repair_bench.synthetic.runs import run_seeds
from repair_bench.synthetic.study import StudySize

SEEDS = (10, 11, 12)


@pytest.fixture(scope="module")
def pairwise():
    return run_seeds(SyntheticSettings(), SEEDS, usual_methods)


@pytest.mark.parametrize("bias", [0.1, 0.6])
def test_classwise_and_pairwise_agree_where_the_residual_is_class_separable(bias):
    runs = run_seeds(SyntheticSettings(n_pairs=0, bias=bias), SEEDS)
    gain = runs.gain("Pairwise", "Classwise")
    assert abs(gain.gain) <= max(3 * gain.error, 0.002)
    offsets = runs.gain("Classwise", "Base")
    # With a bias worth the name both must have something to agree on.
    assert (offsets.gain > 5 * offsets.error) == (bias == 0.6)


def test_pairwise_gains_where_pairs_contradict_and_nothing_beats_the_oracle(pairwise):
    gain = pairwise.gain("Pairwise", "Classwise")
    assert gain.gain > 2 * gain.error
    for name in pairwise.results.keys() - {ORACLE}:
        lead = pairwise.gain(name, ORACLE)
        assert lead.gain < -2 * lead.error, name


def test_shares_and_rho_are_what_their_names_say(pairwise):
    base, repair, oracle = (pairwise.mean(name) for name in ("Base", "Pairwise", ORACLE))
    assert pairwise.share(ORACLE) == 1.0
    assert pairwise.share("Pairwise") == pytest.approx((repair - base) / (oracle - base))
    assert pairwise.rho("Pairwise") == pytest.approx((repair - base) / (1 - base))
    assert 0 < pairwise.rho("Pairwise") < pairwise.rho(ORACLE) < 1
    assert pairwise.spread("Pairwise") == pytest.approx(np.std(pairwise.values("Pairwise"), ddof=1))
    coverage = pairwise.mean("Base", "coverage")
    assert pairwise.accuracy("Pairwise") == pytest.approx(repair * coverage, abs=0.002)


def test_the_gain_of_unequal_methods_is_the_difference_of_their_hit_rates():
    runs = run_seeds(SyntheticSettings(n_calibration=500, n_test=400), seeds=[3])
    expected = runs.mean("Classwise") - runs.mean("Base")
    assert runs.gain("Classwise", "Base").gain == pytest.approx(expected)
    assert expected != 0


def test_shrinkage_narrows_the_offsets_most_where_rows_are_few():
    gaps = []
    for n_rows in (300, 5000):
        variance, error, _, _ = shrinkage_effects(
            make_synthetic(SyntheticSettings(n_calibration=n_rows, n_pairs=0, bias=0.6))
        )
        raw, paper, eb = variance
        assert raw > max(paper, eb)
        assert error[0] > max(error[1:])
        gaps.append(raw - eb)
    assert gaps[0] > 10 * gaps[1]


def test_quintiles_come_from_the_rare_classes_or_not_at_all():
    assert quintile_effects(make_synthetic(SyntheticSettings(n_test=200))) is None
    effects = quintile_effects(make_synthetic(SyntheticSettings(n_test=4000, n_calibration=1000)))
    assert effects.shape == (2, 5)
    assert np.abs(effects).max() < 0.5


def test_every_reading_but_the_default_changes_something():
    default = SyntheticSettings()
    for reading in READINGS[1:]:
        assert SyntheticSettings(**reading.changes) != default, reading
    assert not READINGS[0].changes
    assert len({str(reading.changes) for reading in READINGS}) == len(READINGS)


def test_the_study_writes_every_section_and_is_kept(tmp_path, monkeypatch):
    small = StudySize((0,), (5,), (15,), published=False, rows=200, rows_per_class=(2,), quick=True)
    monkeypatch.setattr("repair_bench.running.study_runs.QUICK", small)
    # What is written is looked at here, not what is found: small problems will do.
    monkeypatch.setattr(
        "repair_bench.synthetic.runs.make_synthetic",
        lambda settings: make_synthetic(replace(settings, n_calibration=500, n_test=200)),
    )
    said = []
    options = {"cache": tmp_path / "cache", "quick": True, "progress": said.append}
    record = run_cached_study("synthetic", out=tmp_path / "out", **options)
    text = record["document"]
    assert text.count("\n## ") == 8
    assert "nan" not in text
    assert "`repair bench run synthetic --quick`" in text
    assert json.loads((tmp_path / "out" / "synthetic.json").read_bytes()) == record
    assert record["study"] == "synthetic"
    assert run_cached_study("synthetic", **options) == record
    assert said == ["synthetic: study computed", "synthetic: study from the cache"]


def test_the_committed_results_are_those_of_this_version(repository):
    """The first lines of the readings are quick to run again; the rest of the document is of the same run."""
    document = (repository / "docs/results/synthetic.md").read_text(encoding="utf-8")
    runs = run_seeds(SyntheticSettings(), seeds=[0, 1])
    numbers = [f"{100 * runs.mean(name):.1f}" for name in runs.results]
    assert f"| pairwise | - | default reading | {' | '.join(numbers)} |" in document
    assert "`repair bench run synthetic`" in document
