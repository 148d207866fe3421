"""Finding the folders of the data sets.  Nothing is downloaded, and no folder is guessed."""

import os
from pathlib import Path

from repair.errors import InputError

__all__ = ["data_folder"]

#: Environment variable with the folder that has one sub-folder per data set.
VARIABLE = "REPAIR_DATA"


def data_folder(name: str, home: str, path: "str | os.PathLike[str] | None" = None) -> Path:
    """Return the folder of a data set, or raise an error that says where to get it.

    Parameters
    ----------
    name : str
        The folder's name under ``$REPAIR_DATA``.
    home : str
        Where the data set is published.  The error message names it.
    path : path, optional
        The folder itself, instead of the environment variable.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from repair_bench.data.places import data_folder
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
            f"contains {name}/; it is published at {home}"
        )
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; get {name!r} from {home}")
    return folder
