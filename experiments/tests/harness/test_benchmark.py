"""A benchmark's declaration."""

import pytest

from repair import InputError
from repair_bench.bases.base_scores import TextBase
from repair_bench.harness.benchmark import Benchmark, Published


def read(folders, seed):
    raise AssertionError("nothing is read to find the folders")


@pytest.fixture
def keyphrases(tmp_path):
    """Return a folder with the files of Few-TK."""
    (tmp_path / "few_tk").mkdir()
    for part in ("train", "dev", "test"):
        (tmp_path / "few_tk" / f"{part}.txt").write_text("Adam\tML-tool\nhelps\tO\n\n")
    return tmp_path


def test_the_data_are_found_below_a_folder_or_the_variable(keyphrases, monkeypatch):
    birds = Benchmark("birds", "Birds", "example.org", ("few_tk",), read, TextBase(c=2.0))
    monkeypatch.delenv("REPAIR_DATA", raising=False)
    assert birds.find(keyphrases) == {"few_tk": keyphrases / "few_tk"}
    assert birds.find(keyphrases / "few_tk") == {"few_tk": keyphrases / "few_tk"}
    with pytest.raises(InputError, match=r"or the folder of the publisher \(github\.com/AvishekLahiri/Few_TK\)"):
        birds.find()
    assert birds.state().startswith("data not here: where is the data set 'few_tk'?")
    monkeypatch.setenv("REPAIR_DATA", str(keyphrases))
    assert birds.state() == "ready"
    assert birds.missing_sources() == []


def test_a_folder_from_elsewhere_names_its_own_home(keyphrases):
    birds = Benchmark("birds", "Birds", "a.org", ("few_tk", "hpo"), read, TextBase())
    with pytest.raises(InputError, match=r"no file of 'hpo'; get it from hpo\.jax\.org"):
        birds.find(keyphrases)
    assert [one.name for one in birds.missing_sources(keyphrases)] == ["hpo"]


def test_only_the_files_of_the_data_set_are_marked(keyphrases):
    birds = Benchmark("birds", "Birds", "a.org", ("few_tk",), read, TextBase())
    folders = birds.find(keyphrases)
    first = birds.data_marks(folders)
    assert list(first) == ["few_tk/train.txt", "few_tk/dev.txt", "few_tk/test.txt"]
    (keyphrases / "few_tk" / "other.txt").write_text("another file")
    assert birds.data_marks(folders) == first
    (keyphrases / "few_tk" / "dev.txt").write_text("Eve\tML-tool\n\n")
    assert birds.data_marks(folders) != first


def test_settings_and_hyperparameters_are_plain(tmp_path):
    birds = Benchmark("birds", "Birds", "example.org", ("birds",), read, TextBase(c=2.0))
    settings = {"c": 2.0, "class_weight": None, "tokens": "words", "sentences": None}
    assert birds.base_settings == {"base": "TextBase", **settings}
    assert birds.hyperparameters is None
    silent = Benchmark("birds", "Birds", "example.org", published=Published("a net"))
    assert silent.hyperparameters is None
    spoken = Benchmark("birds", "Birds", "example.org", published=Published("a net", {"lambda_a": 0.5}))
    assert spoken.hyperparameters == {"lambda_a": 0.5}
