"""How time and memory grow with the size.  ``python growth.py n n_classes k`` prints one measurement."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from measure import PENALTY, Line, make_candidates

from repair import Reranker

GIGABYTE = 1e9


def status(name):
    """Return a memory figure of this process in bytes; None if the system does not provide it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        return None


def forget_peak():
    """Reset the peak memory of this process to its current memory."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def measure_once(n, n_classes, k):
    """Fit and rerank once, after a small fit that loads everything.  Return seconds and bytes."""
    small, labels, counts = make_candidates(10_000, n_classes, k)
    model = Reranker("pairwise", n_candidates=k, **PENALTY).fit(small, labels, class_counts=counts)
    model.rerank(small)
    shortlist, labels, counts = make_candidates(n, n_classes, k, seed=1)
    forget_peak()
    before = status("VmRSS")
    start = time.perf_counter()
    model = Reranker("pairwise", n_candidates=k, **PENALTY).fit(shortlist, labels, class_counts=counts)
    fitted = time.perf_counter() - start
    peak = status("VmHWM")
    start = time.perf_counter()
    model.rerank(shortlist)
    reranked = time.perf_counter() - start
    extra = None if peak is None or before is None else peak - before
    return {"fit": fitted, "rerank": reranked, "memory": extra, "iterations": model.fit_summary_.iterations}


def in_own_process(*sizes, repeats=2):
    """Run `measure_once` in a new process several times, and keep the shortest times."""
    program = [sys.executable, str(Path(__file__)), *map(str, sizes)]
    runs = [json.loads(subprocess.run(program, capture_output=True, check=True).stdout) for _ in range(repeats)]
    return runs[0] | {name: min(run[name] for run in runs) for name in ("fit", "rerank")}


def measure_growth(sizes, n_classes, k):
    """Measure the time per row for growing sizes.  With linear growth it stays the same."""
    runs = [in_own_process(n, n_classes, k) for n in sizes]
    lines = []
    for name in ("fit", "rerank"):
        per_row = [run[name] / n * 1e6 for run, n in zip(runs, sizes, strict=True)]
        shown = ", ".join(f"{one:.2f}" for one in per_row)
        what = f"{name}, k={k}, n = {', '.join(f'{n:,}' for n in sizes)}: µs per row"
        most = per_row[-1] / min(per_row)
        lines.append(Line(what, shown, f"the last divided by the best: {most:.2f}", None, "≤ 1.5", most <= 1.5))
    return lines


def measure_memory(n, n_classes, k, bar=None):
    """Measure the memory of a fit beyond its input."""
    run = in_own_process(n, n_classes, k, repeats=1)
    if run["memory"] is None:
        return Line(f"memory of a fit, n={n:,}, K={n_classes:,}, k={k}", "not known on this system")
    extra = run["memory"] / GIGABYTE
    per_slot = run["memory"] / (n * k + n_classes)
    return Line(
        f"memory of a fit beyond its input, n={n:,}, K={n_classes:,}, k={k} (4 in 5 rows covered)",
        f"{extra:.2f} GB",
        f"{per_slot:.0f} bytes per unit of n·k + K; fit {run['fit']:.1f} s",
        None,
        "" if bar is None else f"< {bar:g} GB",
        None if bar is None else extra < bar,
    )


def measure_memory_growth(sizes, k):
    """Measure memory for several (n, K) of which one grows.  It should grow at most like n·k + K."""
    runs = [in_own_process(n, n_classes, k, repeats=1)["memory"] for n, n_classes in sizes]
    rows, classes = ([pair[side] for pair in sizes] for side in (0, 1))
    if len(set(rows)) > 1:
        fixed, growing, unit, per = f"K={classes[0]:,}", f"n = {_listed(rows)}", "slot", k
    else:
        fixed, growing, unit, per = f"n={rows[0]:,}", f"K = {_listed(classes)}", "class", 1
    what = f"memory of a fit beyond its input, {fixed}, k={k}, {growing}: bytes per unit of n·k + K"
    if None in runs:
        return Line(what, "not known on this system")
    each = [memory / (n * k + n_classes) for memory, (n, n_classes) in zip(runs, sizes, strict=True)]
    grown = rows if unit == "slot" else classes
    slope = float(np.polyfit(np.array(grown, dtype=float) * per, runs, 1)[0])
    most = each[-1] / min(each)
    return Line(
        what,
        ", ".join(f"{one:.0f}" for one in each),
        f"{slope:.0f} bytes per additional {unit}; the last divided by the best: {most:.2f}",
        None,
        "≤ 1.5",
        most <= 1.5,
    )


def _listed(numbers):
    return ", ".join(f"{one:,}" for one in numbers)


if __name__ == "__main__":
    print(json.dumps(measure_once(*map(int, sys.argv[1:]))))
