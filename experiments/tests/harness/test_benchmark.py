"""A benchmark's declaration."""

import pytest

from repair import InputError
from repair_bench.bases.base_scores import TextBase
from repair_bench.harness.benchmark import Benchmark, Published


def read(folders, seed):
    raise AssertionError("nothing is read to find the folders")


def test_the_data_are_found_below_a_folder_or_the_variable(tmp_path, monkeypatch):
    (tmp_path / "birds").mkdir()
    birds = Benchmark("birds", "Birds", "example.org", ("birds",), read, TextBase(c=2.0))
    monkeypatch.delenv("REPAIR_DATA", raising=False)
    assert birds.find(tmp_path) == {"birds": tmp_path / "birds"}
    with pytest.raises(InputError, match=r"published at example\.org"):
        birds.find()
    assert birds.state().startswith("data not here: where is the data set 'birds'?")
    monkeypatch.setenv("REPAIR_DATA", str(tmp_path))
    assert birds.state() == "ready"


def test_a_folder_from_elsewhere_names_its_own_home(tmp_path):
    (tmp_path / "birds").mkdir()
    birds = Benchmark("birds", "Birds", "a.org", ("birds", "trees"), read, TextBase(), homes={"trees": "b.org"})
    with pytest.raises(InputError, match=r"get 'trees' from b\.org"):
        birds.find(tmp_path)


def test_settings_and_hyperparameters_are_plain(tmp_path):
    birds = Benchmark("birds", "Birds", "example.org", ("birds",), read, TextBase(c=2.0))
    settings = {"c": 2.0, "class_weight": None, "tokens": "words", "sentences": None}
    assert birds.base_settings == {"base": "TextBase", **settings}
    assert birds.hyperparameters is None
    silent = Benchmark("birds", "Birds", "example.org", published=Published("a net"))
    assert silent.hyperparameters is None
    spoken = Benchmark("birds", "Birds", "example.org", published=Published("a net", {"lambda_a": 0.5}))
    assert spoken.hyperparameters == {"lambda_a": 0.5}
