"""The list of benchmarks: complete, and honest about what is missing."""

import pytest

from repair import InputError, Reranker
from repair.evaluation.metric_table import METRICS
from repair_bench.harness.methods import METHODS
from repair_bench.report.numbers import PAPER_TITLES
from repair_bench.sets.registry import benchmarks, get


def test_every_name_is_there_once():
    names = [one.name for one in benchmarks()]
    assert len(set(names)) == len(names)
    assert {"massive_lt", "huffpost_natural", "few_tk", "few_tk_minilm", "rarebench_source", "gmdb", "qwen"} <= set(
        names
    )
    with pytest.raises(InputError, match="there is no benchmark 'imagenet'; choose from goemotions, goemotions_minilm"):
        get("imagenet")


@pytest.mark.parametrize("benchmark", benchmarks(), ids=lambda one: one.name)
def test_a_benchmark_can_be_run_or_says_what_is_missing(benchmark):
    assert (benchmark.read is None) == (benchmark.base is None) == bool(benchmark.missing)
    assert benchmark.home
    assert bool(benchmark.folders) != bool(benchmark.missing)


@pytest.mark.parametrize("benchmark", [one for one in benchmarks() if one.published], ids=lambda one: one.name)
def test_the_papers_figures_have_our_names_and_a_plausible_size(benchmark):
    titles = {method.title for method in METHODS.values()}
    for method, values in benchmark.published.numbers.items():
        assert PAPER_TITLES.get(method, method) in titles
        for metric, value in values.items():
            assert 0 <= value <= (100 if METRICS[metric].percent else 1)
            assert not METRICS[metric].percent or value == 0 or value > 1  # in percent, not a share
    if benchmark.hyperparameters is not None:
        assert set(benchmark.hyperparameters) == {"lambda_a", "lambda_theta", "alpha", "tau"}
        assert Reranker("pairwise", shrinkage=False, **benchmark.hyperparameters).lambda_a > 0


def test_every_benchmark_of_the_paper_has_a_row():
    names = {one.name for one in benchmarks()}
    vision, rare = {"inat2018", "imagenet_lt", "places_lt"}, {"gmdb", "rarebench_gmdb"}
    assert vision | rare | {"goemotions", "massive", "huffpost", "few_nerd"} <= names


def test_the_papers_own_seed_is_used_where_it_names_one():
    assert {get(name).seed for name in ("imagenet_lt", "places_lt", "rarebench", "rarebench_source")} == {42}
