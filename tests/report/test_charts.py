"""Charts are valid, are drawn, and have the page's colours."""

import re
from importlib.resources import files

import pytest

from repair.report.charts import CHARTS, charts_of
from repair.report.figures import write_figures
from repair.report.palette import LIGHT, in_print


def specs(content):
    return [(one.key, spec) for one in content.pictures for spec in charts_of(one)]


def test_every_picture_has_a_chart_or_a_reason(content):
    assert {one.key for one in content.pictures} == set(CHARTS)
    assert all(bool(charts_of(one)) != bool(one.reason) for one in content.pictures)


@pytest.mark.needs("altair")
def test_the_specifications_are_valid(content):
    import altair

    for key, spec in specs(content):
        altair.LayerChart.from_dict(spec)  # raises on anything that the schema does not know
        assert spec["layer"], key


def test_light_colours_are_those_of_the_style_sheet():
    style = files("repair.report").joinpath("assets", "style.css").read_text("utf-8")
    declared = dict(re.findall(r"--(\w+): light-dark\((#\w+),", style))
    assert {name: declared[name] for name in LIGHT} == LIGHT


def test_colours_are_replaced_in_files_but_names_are_not(content):
    offsets = next(spec for key, spec in specs(content) if key == "offsets")
    plain = in_print(offsets)
    assert "var(--model)" in {one["name"] for one in plain["data"]["values"]}  # a class is called that
    assert "var(--" not in str({key: value for key, value in plain.items() if key != "data"})


@pytest.mark.needs("vl_convert")
def test_figures_are_written_as_svg_and_png(content, tmp_path):
    names = write_figures(content, tmp_path / "figures")
    assert {"long_tail", "by_frequency", "frontier", "offsets", "gap_closed", "coverage", "reliability"} <= set(names)
    assert "pair_1" in names
    assert {one.name for one in (tmp_path / "figures").iterdir()} == {f"{n}.{e}" for n in names for e in ("svg", "png")}
    for name in names:
        svg = (tmp_path / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert svg.startswith("<svg")
        assert "var(--" not in re.sub(r">[^<]*<", "><", svg)
        assert "<script" not in svg
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
