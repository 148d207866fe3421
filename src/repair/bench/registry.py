"""All benchmarks by name: those that can be run, and those whose data or models are not here."""

from importlib import import_module

from repair.bench.benchmark import Benchmark
from repair.errors import InputError

__all__ = ["benchmarks", "get"]

#: One small file each in ``repair.bench.sets``, in the order of the list.
SETS = (
    "goemotions",
    "massive",
    "phenopackets",
    "huffpost",
    "few_tk",
    "caltech101",
    "flowers102",
    "cifar100",
    "rarebench",
    "placeholders",
)


def benchmarks() -> tuple[Benchmark, ...]:
    """Return all benchmarks.

    Examples
    --------
    >>> from repair.bench.registry import benchmarks
    >>> benchmarks()[0].name
    'goemotions'
    """
    modules = [import_module(f"repair.bench.sets.{name}") for name in SETS]
    return tuple(one for module in modules for one in module.BENCHMARKS)


def get(name: str) -> Benchmark:
    """Return the benchmark called `name`, or refuse and list the names there are.

    Examples
    --------
    >>> from repair.bench.registry import get
    >>> get("goemotions").folders
    ('goemotions',)
    """
    known = {one.name: one for one in benchmarks()}
    if name not in known:
        raise InputError(f"there is no benchmark {name!r}; choose from {', '.join(known)}")
    return known[name]
