"""Where benchmark data lies: nothing is downloaded, and nothing is guessed silently."""

import os
from pathlib import Path

from repair.errors import InputError

__all__ = ["data_folder"]

#: Environment variable that names a folder with one sub-folder for each data set.
VARIABLE = "REPAIR_DATA"


def data_folder(name: str, home: str, path: "str | os.PathLike[str] | None" = None) -> Path:
    """Return the folder of a data set, or say where to get it.

    Parameters
    ----------
    name : str
        The folder's name under ``$REPAIR_DATA``.
    home : str
        Where the data set is published; named if it is not found.
    path : path, optional
        The folder itself, instead of the environment variable.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from repair.bench.places import data_folder
    >>> data_folder("birds", "example.org/birds", "nowhere")
    Traceback (most recent call last):
        ...
    repair.errors.InputError: there is no folder nowhere; get 'birds' from example.org/birds
    """
    if path is not None:
        folder = Path(path)
    elif os.environ.get(VARIABLE):
        folder = Path(os.environ[VARIABLE]) / name
    else:
        raise InputError(
            f"where is the data set {name!r}? Give its folder, or set {VARIABLE} to the folder that "
            f"holds {name}/; it is published at {home}"
        )
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; get {name!r} from {home}")
    return folder
