"""All benchmarks by name: those that can be run, and those whose data or models are missing here."""

from repair.errors import InputError
from repair_bench.harness.benchmark import Benchmark
from repair_bench.sets import (
    caltech101,
    cifar100,
    few_tk,
    flowers102,
    gmdb,
    goemotions,
    huffpost,
    imagenet_lt,
    inat2018,
    massive,
    phenopackets,
    placeholders,
    places_lt,
    rarebench,
)

__all__ = ["benchmarks", "get"]

#: One file per data set, in the order of `repair bench list`.
SETS = (
    goemotions,
    massive,
    phenopackets,
    huffpost,
    few_tk,
    caltech101,
    flowers102,
    cifar100,
    rarebench,
    inat2018,
    imagenet_lt,
    places_lt,
    gmdb,
    placeholders,
)


def benchmarks() -> tuple[Benchmark, ...]:
    """Return all benchmarks.

    Examples
    --------
    >>> from repair_bench.sets.registry import benchmarks
    >>> benchmarks()[0].name
    'goemotions'
    """
    return tuple(benchmark for data_set in SETS for benchmark in data_set.BENCHMARKS)


def get(name: str) -> Benchmark:
    """Return the benchmark called `name`, or raise an error that lists all names.

    Examples
    --------
    >>> from repair_bench.sets.registry import get
    >>> get("goemotions").folders
    ('goemotions',)
    """
    by_name = {benchmark.name: benchmark for benchmark in benchmarks()}
    if name not in by_name:
        raise InputError(f"there is no benchmark {name!r}; choose from {', '.join(by_name)}")
    return by_name[name]
