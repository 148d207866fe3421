"""The scripts of `make bench` find what they measure: names that moved are noticed here, not after an hour."""

import importlib
import sys

import pytest

SCRIPTS = (
    "auto_level",
    "export",
    "extended",
    "fits",
    "growth",
    "head_loss",
    "inference",
    "measure",
    "picture",
    "plain",
    "reranking",
    "run",
    "serving",
)


@pytest.mark.needs("repair_bench", "altair")
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_imported(repository, monkeypatch, name):
    monkeypatch.syspath_prepend(repository / "benchmarks")
    for script in SCRIPTS:
        monkeypatch.delitem(sys.modules, script, raising=False)
    importlib.import_module(name)


def test_every_script_is_listed(repository):
    assert sorted(path.stem for path in (repository / "benchmarks").glob("*.py")) == sorted(SCRIPTS)
