"""Speed of top-k and reranking, compared with numpy, torch, and simply reading the scores."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import PENALTY, Line, a_core_each, arithmetic, best_of, in_turns, make_candidates, make_scores, threads

from repair import Reranker, Shortlist


def measure_top_k(n, n_classes, k, times_numpy, share_of_bandwidth=None):
    """Measure the selection of the best k of float32 scores, on one thread."""
    scores = np.random.default_rng(0).normal(size=(n, n_classes)).astype(np.float32)
    what = f"top-{k} of {n:,}×{n_classes:,} float32, one thread"
    with threads(1):
        ours, theirs = in_turns(
            lambda: Shortlist.from_scores(scores, k), lambda: np.argpartition(scores, n_classes - k, axis=1), 5
        )
        repeated, reading = in_turns(lambda: Shortlist.from_scores(scores, k), lambda: scores.max(axis=1), 10)
        half = scores.astype(np.float16)
        from_half, _ = best_of(lambda: Shortlist.from_scores(half, k))
    shown, ratio = f"{ours * 1e3:.1f} ms", theirs / ours
    lines = [
        Line(
            what,
            shown,
            f"numpy's argpartition: {theirs * 1e3:.0f} ms",
            ratio,
            f"≥ {times_numpy:g}×",
            ratio >= times_numpy,
        )
    ]
    bound = reading / repeated
    bar, met = ("", None) if share_of_bandwidth is None else (f"≥ {share_of_bandwidth:g}×", bound >= share_of_bandwidth)
    lines.append(Line(what, f"{repeated * 1e3:.1f} ms", f"max(axis=1): {reading * 1e3:.1f} ms", bound, bar, met))
    other = _torch_top_k(scores, k)
    if other is not None:
        lines.append(Line(what, shown, f"torch.topk: {other * 1e3:.0f} ms", other / ours))
    lines.append(Line(f"{what[:-12]}, given as float16", f"{from_half * 1e3:.1f} ms"))
    return lines


def _torch_top_k(scores, k):
    try:
        import torch
    except ImportError:
        return None
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    tensor = torch.from_numpy(scores)
    taken, _ = best_of(lambda: torch.topk(tensor, k, dim=1))
    torch.set_num_threads(before)
    return taken


def measure_rerank(n, n_classes, k, bar, *, dense):
    """Measure reranked rows per second on one core, with given shortlists."""
    model, fresh, what = _to_rerank(n, n_classes, k, dense)
    with threads(1):
        one, _ = best_of(lambda: model.rerank(fresh), 15)
    rate = n / one / 1e6
    return Line(f"{what}, one core", f"{rate:.2f} M rows/s", "", None, f"≥ {bar:g} M", rate >= bar)


def measure_two_threads(n, n_classes, k, *, dense):
    """Measure the gain by two threads on two cores, and the gain of pure arithmetic on the same machine."""
    model, fresh, what = _to_rerank(n, n_classes, k, dense)

    def rerank(count):
        with threads(count):
            return best_of(lambda: model.rerank(fresh), 2, warm=False)[0]

    rerank(2)
    with a_core_each():
        taken = [(rerank(1), rerank(2), arithmetic(1), arithmetic(2)) for _ in range(15)]
    one, two, alone, together = (min(times) for times in zip(*taken, strict=True))
    return Line(
        f"{what}, two threads",
        f"{n / two / 1e6:.2f} M rows/s",
        f"one thread; pure arithmetic gains {alone / together:.2g}×",
        one / two,
        "≥ 1.7×",
        one / two >= 1.7,
    )


def _to_rerank(n, n_classes, k, dense):
    """Return a fitted model, rows to rerank, and their description."""
    shortlist, labels, counts = make_candidates(n, n_classes, k)
    kind = np.float64 if n_classes <= 1000 else np.float32
    similarity = np.random.default_rng(1).random((n_classes, n_classes), dtype=kind) if dense else None
    few = min(n, 20_000)
    model = Reranker("pairwise", n_candidates=k, **PENALTY).fit(
        shortlist.take(slice(0, few)), labels[:few], class_counts=counts, similarity=similarity
    )
    what = f"rerank {n:,} shortlists, K={n_classes:,}, k={k}, {'dense similarity' if dense else 'no similarity'}"
    return model, shortlist.take(slice(None)), what


def measure_one_row(n_classes, k, calls=500, rounds=20):
    """Measure one row through the public API, from all scores: the median, and that of the quietest round."""
    scores, labels, counts, similarity = make_scores(5000, n_classes)
    model = Reranker("pairwise", n_candidates=k, **PENALTY).fit(
        scores, labels, class_counts=counts, similarity=similarity
    )
    row, medians = scores[:1], []
    for _ in range(rounds):
        times = []
        for _ in range(calls):
            start = time.perf_counter()
            model.rerank(row)
            times.append(time.perf_counter() - start)
        medians.append(float(np.median(times)) * 1e6)
    median = float(np.median(medians))
    return Line(
        f"one row, K={n_classes:,}, k={k}, median over {rounds} rounds of {calls} calls",
        f"{median:.0f} µs",
        f"the quietest round: {min(medians):.0f} µs",
        None,
        "< 50 µs",
        median < 50,
    )


def measure_start(n_classes, k):
    """Measure a new process: the import alone, and import, load and rerank of one row."""
    scores, labels, counts, similarity = make_scores(5000, n_classes)
    model = Reranker("pairwise", n_candidates=k, **PENALTY).fit(
        scores, labels, class_counts=counts, similarity=similarity
    )
    program = "import time; t = time.perf_counter(); {} ; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        use = f"from repair import load; load({str(path)!r}).rerank([[0.5] * {n_classes}])"
        bare, alone, used = (
            min(
                float(subprocess.run([sys.executable, "-c", program.format(work)], capture_output=True).stdout)
                for _ in range(5)
            )
            for work in ("import numpy", "import repair", use)
        )
    other = f"import numpy: {bare * 1e3:.0f} ms"
    return [
        Line("new process: import repair", f"{alone * 1e3:.0f} ms", other, None, "< 300 ms", alone < 0.3),
        Line(
            f"new process: import, load, rerank a row, K={n_classes:,}",
            f"{used * 1e3:.0f} ms",
            other,
            None,
            "< 500 ms",
            used < 0.5,
        ),
    ]
