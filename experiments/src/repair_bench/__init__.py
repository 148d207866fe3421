"""The data sets and experiments on which the claims of this library are measured.

``repair_bench.list()`` lists the benchmarks and studies.  ``repair_bench.run(name)`` runs one benchmark.
"""

from importlib import import_module

#: Imported on first use, so that reading one data set does not load every method.
_HOME = {"list": "describe", "run": "run"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'repair_bench' has no attribute {name!r}")
    return getattr(import_module("repair_bench.running.benchmark_run"), _HOME[name])
