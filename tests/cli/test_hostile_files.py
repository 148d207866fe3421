"""Truncated and hostile files: exit code 2, one line, and no output; or, if they are sound, a result."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.needs("typer", "pyarrow")

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
SOURCES = ("test.csv", "test.parquet", "test.npz")


def check(done, out):
    assert done.code in (0, 2), done.err
    lines = [line for line in done.err.splitlines() if not line.startswith(("warning: ", "note: "))]
    if done.code == 2:
        assert len(lines) == 1
        assert lines[0].startswith("repair: ")
        assert done.out == ""
        assert not out.exists()
    else:
        assert lines == []
    return done.code


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_binary_scores_are_refused(repair, data, fitted, tmp_path, name, share):
    content = (data / name).read_bytes()
    source, out = tmp_path / name, tmp_path / "r.jsonl"
    source.write_bytes(content[: int(share * len(content))])
    code = check(repair("rerank", fitted, source, "-o", out), out)
    if not name.endswith(".csv") or share == 0.0:  # a CSV file that ends early may still be one
        assert code == 2


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_models_are_refused(repair, data, fitted, tmp_path, share):
    content = fitted.read_bytes()
    model, out = tmp_path / "m.safetensors", tmp_path / "r.jsonl"
    model.write_bytes(content[: int(share * len(content))])
    assert check(repair("rerank", model, data / "test.csv", "-o", out), out) == 2
    assert check(repair("inspect", model), out) == 2


@FUZZ
@given(
    changes=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=4),
    source=st.sampled_from(SOURCES),
)
def test_changed_bytes_in_scores(repair, data, fitted, tmp_path, changes, source):
    content = bytearray((data / source).read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    path, out = tmp_path / source, tmp_path / "r.jsonl"
    path.write_bytes(content)
    out.unlink(missing_ok=True)
    check(repair("rerank", fitted, path, "-o", out), out)


@FUZZ
@given(changes=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=4))
def test_changed_bytes_in_models(repair, data, fitted, tmp_path, changes):
    content = bytearray(fitted.read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    model, out = tmp_path / "m.safetensors", tmp_path / "r.jsonl"
    model.write_bytes(content)
    out.unlink(missing_ok=True)
    check(repair("rerank", model, data / "test.parquet", "-o", out), out)


@FUZZ
@given(
    content=st.binary(max_size=200),
    name=st.sampled_from(["f.csv", "f.jsonl", "f.npz", "f.npy", "f.parquet", "f.arrow", "f.csv.gz"]),
)
def test_any_bytes_are_refused_as_calibration(repair, tmp_path, content, name):
    path, out = tmp_path / name, tmp_path / "m.safetensors"
    path.write_bytes(content)
    assert check(repair("fit", path, "-o", out, "--mode", "classwise"), out) == 2


@FUZZ
@given(cells=st.lists(st.lists(st.text(max_size=8), min_size=4, max_size=4), max_size=6))
def test_any_cells_in_long_form(repair, fitted, tmp_path, cells):
    import csv

    path, out = tmp_path / "f.csv", tmp_path / "r.csv"
    with open(path, "w", newline="", encoding="utf-8", errors="surrogatepass") as stream:
        csv.writer(stream).writerows([["row", "class", "score", "label"], *cells])
    out.unlink(missing_ok=True)
    check(repair("rerank", fitted, path, "-o", out), out)
