"""``repair bench`` passes on what the harness says."""

import pytest

pytestmark = pytest.mark.needs("typer", "pyarrow", "sklearn")


def test_what_there_is_to_run(repair):
    done = repair("bench", "list")
    assert done.code == 0
    for name in ("massive", "phenopackets", "imagenet_lt"):
        assert name in done.out


@pytest.mark.parametrize("name", ["nobody", "imagenet_lt", "massive"])
def test_what_cannot_be_run_is_refused_in_one_line(repair, name, monkeypatch, tmp_path):
    monkeypatch.delenv("REPAIR_DATA", raising=False)
    done = repair("bench", "run", name, "--cache", tmp_path / "cache", "--quick")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_a_quick_run_prints_and_writes_tables(repair, shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("REPAIR_DATA", str(shared_data("flowers102").parent))
    done = repair(
        "bench", "run", "flowers102", "--cache", tmp_path / "c", "--out", tmp_path / "o", "--quick", "--trials", "2"
    )
    assert done.code == 0, done.err
    assert "Base" in done.out
    assert (tmp_path / "o" / "flowers102.json").exists()
