"""All data sets that the benchmarks read, by name."""

from os import PathLike

from repair.errors import InputError
from repair_bench.data import disease_sources, image_sources, text_sources
from repair_bench.data.layouts import Found, Source

__all__ = ["SOURCES", "found", "source"]

_ALL: tuple[Source, ...] = (*text_sources.SOURCES, *image_sources.SOURCES, *disease_sources.SOURCES)
SOURCES = {one.name: one for one in _ALL}


def source(name: str) -> Source:
    """Return the data set of this name.

    Examples
    --------
    >>> from repair_bench.data.sources import source
    >>> source("goemotions").licence
    'Apache-2.0'
    """
    if name not in SOURCES:
        raise InputError(f"there is no data set {name!r}; choose from {', '.join(SOURCES)}")
    return SOURCES[name]


def found(name: str, folder: "str | PathLike[str] | None" = None) -> Found:
    """Return the files of a data set in a folder, or in ``$REPAIR_DATA``, or raise an error that says what is missing.

    Examples
    --------
    >>> from repair_bench.data.sources import found
    >>> found("massive_en_us", "nowhere")
    Traceback (most recent call last):
        ...
    repair.errors.InputError: there is no folder nowhere; get 'massive_en_us' from github.com/alexa/massive
    """
    return source(name).find() if folder is None else source(name).inside(folder)
