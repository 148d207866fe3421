"""Finding the folders of the data sets.  Nothing is downloaded, and no folder is guessed."""

import os
from pathlib import Path

__all__ = ["VARIABLE", "data_roots"]

#: Environment variable with the folders of the data, separated as in PATH.
VARIABLE = "REPAIR_DATA"


def data_roots(data: "str | os.PathLike[str] | None" = None) -> list[Path]:
    """Return the folders in which data sets are looked for: the given ones, or those of ``$REPAIR_DATA``.

    Examples
    --------
    >>> import os
    >>> from repair_bench.data.places import data_roots
    >>> [path.name for path in data_roots(os.pathsep.join(["here/birds", "there/fish"]))]
    ['birds', 'fish']
    """
    given = os.environ.get(VARIABLE, "") if data is None else os.fspath(data)
    return [Path(part).expanduser() for part in given.split(os.pathsep) if part]
