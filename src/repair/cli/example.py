"""``repair example``."""

from pathlib import Path
from typing import Annotated

import typer

from repair.cli.output import show

__all__ = ["example"]


def example(
    folder: Annotated[
        Path, typer.Argument(help="Folder to write to. It is created if it is missing.", show_default=False)
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files of the same names.")] = False,
) -> None:
    """Write a small example to try the commands on: calibration.csv, test.csv and classes.csv.

    The rows are simulated messages to a shop with 30 topics, of which few are frequent. The scores come from a small
    classifier that was trained on such messages and finds too few of the rare topics.
    """
    from repair._utils.atomic_write import write_atomically
    from repair.cli.inputs import check_folder
    from repair.datasets import EXAMPLE_FILES, example_files
    from repair.errors import InputError

    existing = [str(folder / name) for name in EXAMPLE_FILES if (folder / name).exists()]
    if existing and not overwrite:
        raise InputError(f"{', '.join(existing)} would be replaced; name another folder, or add --overwrite")
    check_folder(folder, EXAMPLE_FILES)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in example_files().items():
        write_atomically(folder / name, content.encode())
        show(f"Written: {folder / name} ({len(content.splitlines()) - 1} lines)")
    show("Next: repair inspect calibration.csv, or any other command of the README")
