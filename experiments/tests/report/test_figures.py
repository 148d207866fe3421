"""Figures from the JSON of a run."""

import pytest

from repair import InputError
from repair_bench.report.command import draw_figures
from repair_bench.report.figures import FIGURES, figure, save_figure
from repair_bench.report.table import AbsentError

pytestmark = pytest.mark.needs("altair", "vl_convert")


@pytest.fixture
def result(result):
    result["methods"]["Pairwise"]["trade_off"] = {
        "dials": [-1.0, 0.0, 1.0],
        "frequent": [0.9, 0.8, None],
        "rare": [0.2, 0.5, None],
        "accuracy": [0.6, 0.7, None],
    }
    return result


@pytest.mark.parametrize("kind", FIGURES)
def test_every_figure_is_drawn_in_both_forms(result, tmp_path, kind):
    written = save_figure(figure(kind, result), tmp_path / "out" / kind)
    assert [path.name for path in written] == [f"{kind}.svg", f"{kind}.png"]
    drawn = written[0].read_text(encoding="utf-8")
    assert f"birds: {figure(kind, result).to_dict()['title'].removeprefix('birds: ')}" in drawn
    assert written[1].read_bytes().startswith(b"\x89PNG")


def test_the_numbers_are_those_of_the_result(result):
    def values(kind, place=None):
        drawn = figure(kind, result).to_dict()
        return (drawn if place is None else drawn["layer"][place])["data"]["values"]

    assert values("quintiles") == [{"quintile": "Q1", "gain": 5.0, "low": 3.0, "high": 7.0}]
    assert [row["count"] for row in values("distribution", 0)] == [10, 5, 3, 1, 1]
    assert values("distribution", 1) == [{"rank": 1.5}]  # one class of five is frequent
    assert values("frontier") == [
        {"method": "Pairwise", "dial": -1.0, "frequent": 90.0, "rare": 20.0},
        {"method": "Pairwise", "dial": 0.0, "frequent": 80.0, "rare": 50.0},
    ]
    line, point = figure("frontier", result).to_dict()["layer"]
    assert "transform" not in line
    assert point["transform"] == [{"filter": "datum.dial == 0"}]
    assert [row["value"] for row in values("k") if row["metric"] == "Rare"] == [70.0, None]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("k", {"by_k": {}}),
        ("quintiles", {"quintiles": {"not_applicable": "few"}}),
        ("distribution", {"data": {}}),
        ("frontier", {"methods": {}}),
    ],
)
def test_what_a_result_lacks_is_said(result, kind, change):
    with pytest.raises(AbsentError, match="birds"):
        figure(kind, {**result, **change})


def test_one_file_holds_one_benchmark(folder):
    with pytest.raises(InputError, match="is one file, but there are 2 benchmarks"):
        draw_figures("k", folder, (), folder / "k.svg")
    written, missing = draw_figures("k", folder, ("massive",), folder / "k.svg")
    assert ([path.name for path in written], missing) == (["k.svg"], [])
