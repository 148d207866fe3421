"""Public names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package : str
        Full name of the package.
    homes : mapping from str to str
        For each public name, the module inside the package that defines it.

    Returns
    -------
    tuple of two callables
        The module-level functions ``__getattr__`` and ``__dir__``.

    Examples
    --------
    >>> from repair._utils.lazy_names import lazy_names
    >>> find, _ = lazy_names("repair", {"Shortlist": "data.shortlist"})
    >>> find("Shortlist").__name__
    'Shortlist'
    """

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, listed
