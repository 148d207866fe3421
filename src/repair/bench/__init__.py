"""Data sets and experiments: what the claims of this library are measured on.

``repair.bench.list()`` says what there is to run, ``repair.bench.run(name)`` runs it.
"""

from importlib import import_module

#: Imported when first asked for: reading one data set must not load every method.
_HOME = {"list": "describe", "run": "run"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'repair.bench' has no attribute {name!r}")
    return getattr(import_module("repair.bench.harness"), _HOME[name])
