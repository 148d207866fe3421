"""Run the measurements, print ratios, and write results.md and results.svg.

python benchmarks/run.py            # everything; takes several minutes
python benchmarks/run.py --small    # small sizes, to see that it works; writes nothing
python benchmarks/run.py fit top_k  # some parts; writes nothing
"""

import argparse
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from extended import measure_extended
from fits import measure_fits, measure_grid
from growth import measure_growth, measure_memory, measure_memory_growth
from inference import measure_bootstrap, measure_pairs
from picture import draw
from reranking import measure_one_row, measure_rerank, measure_start, measure_top_k, measure_two_threads

from repair._utils.text_tables import text_table
from repair.tuning.grid import Grid

HERE = Path(__file__).parent
HEADER = ["what", "repair", "compared with", "ratio", "target", ""]
PARTS = ("fit", "extended", "grid", "top_k", "rerank", "growth", "statistics", "start")
FEW = Grid(tau=(0.0, 1.0), lambda_a=(0.001, 0.1), lambda_theta=(1e-3,), alpha=(0.0,))


def measure(parts, scale):
    """Yield all lines of the chosen parts."""
    plain_fit = None
    if "fit" in parts or "grid" in parts:
        lines, plain_fit = measure_fits(20_000 // scale, 1_000, 10)
        yield from lines
    if "extended" in parts:
        yield from measure_extended(20_000 // scale, 1_000, 10)
    if "grid" in parts:
        yield measure_grid(20_000 // scale, 1_000, 10, plain_fit, **({} if scale == 1 else {"grid": FEW}))
    if "top_k" in parts:
        yield from measure_top_k(20_000 // scale, 1_000, 10, 2)
        yield from measure_top_k(4_000 // scale, 8_142, 10, 3.5)
        yield from measure_top_k(400 // scale, 100_000, 10, 6, 0.55)
    if "rerank" in parts:
        yield measure_rerank(200_000 // scale, 1_000, 10, 5, dense=False)
        yield measure_two_threads(2_000_000 // scale, 1_000, 10, dense=False)
        yield measure_rerank(200_000 // scale, 1_000, 10, 1.5, dense=True)
        yield measure_two_threads(500_000 // scale, 1_000, 10, dense=True)
        yield measure_rerank(200_000 // scale, 8_142, 10, 0.5, dense=True)
        yield measure_two_threads(200_000 // scale, 8_142, 10, dense=True)
        yield measure_one_row(1_000, 10)
    if "growth" in parts:
        yield from measure_growth([n // scale for n in (10_000, 100_000, 1_000_000)], 1_000, 10)
        yield measure_memory(1_000_000 // scale, 1_000, 50, 2.5)
        yield measure_memory_growth([(n // scale, 1_000_000) for n in (50_000, 100_000, 200_000, 400_000)], 10)
        yield measure_memory_growth([(100_000 // scale, n) for n in (250_000, 500_000, 1_000_000, 2_000_000)], 10)
    if "statistics" in parts:
        yield measure_bootstrap(30_000, 10_000 // scale)
        yield measure_pairs(30_000 // scale, 10)
    if "start" in parts:
        yield from measure_start(1_000, 10)


def describe_machine():
    """Return the cores, memory, versions and commit."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE)
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    cores = sum(line.startswith("processor") for line in info)
    memory = Path("/proc/meminfo")
    size = f", {int(memory.read_text(encoding='utf-8').split()[1]) / 1e6:.0f} GB of memory" if memory.exists() else ""
    load = f", load average {os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else ""
    blas = f"; OMP_NUM_THREADS={os.environ['OMP_NUM_THREADS']}" if "OMP_NUM_THREADS" in os.environ else ""
    found = ", ".join(_versions("numpy", "scipy", "numba", "torch", "lightgbm", "xlogit"))
    return (
        f"{cores} cores{size}{load}{blas}; Python {platform.python_version()}, {found}; commit {commit.stdout.strip()}"
    )


def _versions(*names):
    for name in names:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue


def main():
    """Measure the chosen parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="what to measure; everything by default")
    parser.add_argument("--small", action="store_true", help="small sizes; writes nothing")
    wanted = parser.parse_args()
    lines = []
    for line in measure(wanted.parts or PARTS, 20 if wanted.small else 1):
        print("  ".join(line.cells()), file=sys.stderr, flush=True)
        lines.append(line)
    table = text_table(HEADER, [line.cells() for line in lines], text_columns=(0, 2, 4, 5))
    print(table)
    if wanted.small or wanted.parts:
        return
    picture = draw(lines)
    shown = ""
    if picture is not None:
        (HERE / "results.svg").write_text(picture, encoding="utf-8")
        shown = "\n![The ratios as bars](results.svg)\n"
    text = f"# Results\n\nWritten by `make bench`. {describe_machine()}.\n\n```\n{table}\n```\n{shown}"
    (HERE / "results.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
