"""``python -m repair.bench list`` and ``python -m repair.bench run NAME``."""

import argparse
import sys

from repair.bench.harness import CACHE, describe, run
from repair.bench.result_tables import all_tables
from repair.errors import InputError, MissingExtraError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Parse, call and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m repair.bench")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what there is to run")
    runs = commands.add_parser("run", help="run one benchmark")
    runs.add_argument("name")
    runs.add_argument("--cache", default=CACHE, help="folder for finished stages")
    runs.add_argument("--out", help="folder for the JSON, the per-row file and the tables")
    runs.add_argument("--trials", type=int, default=5)
    runs.add_argument("--quick", action="store_true", help="a small slice: does it run?")
    given = parser.parse_args(arguments)
    try:
        if given.command == "list":
            print(describe())
        else:
            result = run(
                given.name, cache=given.cache, out=given.out, trials=given.trials, quick=given.quick, progress=_tell
            )
            print(all_tables(result), end="")
    except (InputError, MissingExtraError, OSError) as error:
        print(f"repair.bench: {error}", file=sys.stderr)
        return 2
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
