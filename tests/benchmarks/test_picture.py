"""The picture of the benchmarks has something on it."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("vl_convert")


@pytest.fixture
def picture(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    names = ("measure", "picture")
    before = {name: sys.modules.pop(name, None) for name in names}
    import picture

    yield picture
    for name in names:
        sys.modules.pop(name, None)
        if before[name] is not None:
            sys.modules[name] = before[name]


def test_bars_are_as_long_as_the_logarithm_of_their_ratio(picture):
    ratios = {"ten": 10.0, "hundred": 100.0, "half": 0.5}
    lines = [picture.Line(name, "1 ms", "other: 2 ms", ratio, "≥ 1×", ratio >= 1) for name, ratio in ratios.items()]
    svg = picture.draw([*lines, picture.Line("no ratio", "1 ms")])
    bars = re.findall(r'what: (\w+); other[^>]*d="M([-\d.]+),[-\d.]+h([-\d.]+)v', svg)
    length = {name: float(width) for name, _, width in bars}
    assert length["ten"] > 50
    assert length["hundred"] == pytest.approx(2 * length["ten"], rel=1e-6)
    left = {name: float(start) for name, start, _ in bars}
    assert left["half"] < left["ten"] == pytest.approx(left["half"] + length["half"])
    assert "no ratio" not in svg
    assert picture.COLOURS[False] in svg
