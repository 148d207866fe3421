"""Cost of the extended mode, as multiples of the cost of `pairwise` with its default settings."""

import warnings

import numpy as np
from measure import PENALTY, Line, make_scores, threads, times_in_turns
from threadpoolctl import threadpool_limits

from repair import ExtendedOptions, Reranker

#: Numbers per embedding, and rows that are reranked one by one.
WIDTH, ONE_BY_ONE = 64, 100


def measure_extended(n, n_classes, k, turns=7):
    """Measure fits and reranking of the extended mode, each in turns with `pairwise`, on one thread."""
    with warnings.catch_warnings(), threads(1), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore")
        return _measured(n, n_classes, k, turns)


def _measured(n, n_classes, k, turns):
    scores, labels, counts, similarity = make_scores(n, n_classes)
    known = {"class_counts": counts, "similarity": similarity}
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(n_classes, WIDTH))[labels] + 3.0 * rng.normal(size=(n, WIDTH))
    fast = {"extended": ExtendedOptions(fast=True)}
    size = f"{n:,}×{n_classes:,}, k={k}"

    def fit(mode, embeddings=None, **options):
        return Reranker(mode, n_candidates=k, **options).fit(scores, labels, embeddings=embeddings, **known)

    taken = times_in_turns(
        {
            "pairwise": lambda: fit("pairwise"),
            "given": lambda: fit("pairwise", **PENALTY),
            "all terms": lambda: fit("extended"),
            "fast": lambda: fit("extended", **fast),
            "embeddings": lambda: fit("extended", vectors),
        },
        turns,
    )
    models = {
        "pairwise": (fit("pairwise"), None),
        "all terms": (fit("extended"), None),
        "fast": (fit("extended", **fast), None),
        "embeddings": (fit("extended", vectors), vectors),
    }
    all_rows = times_in_turns(
        {name: lambda pair=pair: pair[0].rerank(scores, embeddings=pair[1]) for name, pair in models.items()}, turns
    )
    one_row = times_in_turns(
        {name: lambda pair=pair: _one_by_one(*pair, scores) for name, pair in models.items()}, turns
    )
    return [
        _line(f"fit extended, {size}", taken, "all terms", "pairwise", 20),
        _line(f"fit extended with embeddings of {WIDTH} numbers", taken, "embeddings", "pairwise"),
        _line("fit extended, fast=True", taken, "fast", "pairwise", 10),
        _line("fit extended, fast=True", taken, "fast", "given", 10),
        _line(f"rerank with extended, {size}", all_rows, "all terms", "pairwise", 5),
        _line(f"rerank with extended, embeddings of {WIDTH} numbers", all_rows, "embeddings", "pairwise"),
        _line("rerank with extended, fast=True", all_rows, "fast", "pairwise", 4),
        _line(f"rerank {ONE_BY_ONE} rows one by one with extended", one_row, "all terms", "pairwise"),
        _line(f"rerank {ONE_BY_ONE} rows one by one with extended, fast=True", one_row, "fast", "pairwise"),
    ]


def _one_by_one(model, vectors, scores):
    for row in range(ONE_BY_ONE):
        model.rerank(scores[row], embeddings=None if vectors is None else vectors[row])


def _line(what, taken, ours, other, bar=None):
    """Return a line with both medians, and the median and range of the ratios within a turn."""
    ratios = taken[ours] / taken[other]
    ratio, spread = float(np.median(ratios)), f"{ratios.min():.1f}–{ratios.max():.1f}"
    name = "pairwise with given penalties" if other == "given" else "pairwise"
    return Line(
        f"{what}, one thread",
        f"{np.median(taken[ours]) * 1e3:.0f} ms",
        f"{name}: {np.median(taken[other]) * 1e3:.0f} ms, {ratio:.1f} ({spread}) times faster",
        None,
        "" if bar is None else f"≤ {bar} times as long",
        None if bar is None else ratio <= bar,
    )
