"""Reading a file from standard input and writing one to standard output, both named `-`."""

import atexit
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["PIPE", "from_pipe", "to_pipe"]

PIPE = Path("-")
#: How the content of a file that has no name begins.  Anything else is CSV.
STARTS = ((b"PK", ".npz"), (b"\x93NUMPY", ".npy"), (b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"{", ".jsonl"))
#: Excel workbooks are zip archives, as .npz files are, and contain a part of this name.
EXCEL = b"[Content_Types].xml"


def from_pipe(path: Path) -> Path:
    """Return the path, or that of a temporary copy of standard input if it is `-`."""
    if path != PIPE:
        return path
    content = sys.stdin.buffer.read()
    ending = next((ending for start, ending in STARTS if content.startswith(start)), ".csv")
    if ending == ".npz" and EXCEL in content:
        ending = ".xlsx"
    folder = Path(tempfile.mkdtemp(prefix="repair-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / f"stdin{ending}"
    copy.write_bytes(content)
    return copy


@contextmanager
def to_pipe(path: Path) -> Iterator[Path]:
    """Yield the path to write to, and print what was written if it is `-`, which means CSV."""
    if path != PIPE:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="repair-") as folder:
        copy = Path(folder) / "stdout.csv"
        yield copy
        sys.stdout.flush()
        sys.stdout.buffer.write(copy.read_bytes())
        sys.stdout.buffer.flush()
