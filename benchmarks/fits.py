"""Speed of fits, compared with the paper's pseudo-code and with other libraries."""

import time

import numpy as np
import plain
from measure import PENALTY, Line, a_core_each, best_of, make_scores, threads

from repair import GridSearch, Reranker, ScoreSet, Shortlist
from repair.data.calibration_set import CalibrationSet
from repair.fitting.design_matrix import Design
from repair.terms.registry import choose_fixed_terms
from repair.tuning.grid import PAPER_GRID, Grid
from repair_bench.harness.lambdarank import LambdaRank


def measure_fits(n, n_classes, k):
    """Measure features and fit, and compare them with other implementations."""
    scores, labels, counts, similarity = make_scores(n, n_classes)
    shortlist = Shortlist.from_scores(scores, k)
    known = {"class_counts": counts, "similarity": similarity}
    size = f"{n:,}×{n_classes:,}, k={k}"

    def fit(mode, **options):
        return Reranker(mode, n_candidates=k, **options).fit(shortlist, labels, **known)

    def pseudo_code():
        return plain.fit(shortlist.ids, shortlist.scores, labels, counts, similarity, *PENALTY.values())

    model, (_, _, objective, evaluations) = fit("pairwise", **PENALTY), pseudo_code()
    with a_core_each():
        turns = [
            (best_of(lambda: fit("pairwise", **PENALTY), 5)[0], best_of(pseudo_code, 1, warm=False)[0])
            for _ in range(10)
        ]  # in turns, so a noisy moment affects both
    ours, theirs = (min(times) for times in zip(*turns, strict=True))
    note = f"objective {model.objective_ - objective:+.0e}"
    lines = [
        Line(
            f"features + fit, {size}, 5 features ({note})",
            f"{ours * 1e3:.0f} ms",
            f"pseudo-code with L-BFGS-B: {theirs * 1e3:.0f} ms ({evaluations} evaluations)",
            theirs / ours,
            "≥ 50×",
            theirs / ours >= 50 and model.objective_ <= objective,
        )
    ]
    with threads(1):
        one, _ = best_of(lambda: fit("pairwise", **PENALTY), 15)
    lines.append(Line("the same on one thread", f"{one * 1e3:.0f} ms", "the same", theirs / one))
    rival, _ = best_of(lambda: LambdaRank(k, rounds=100).fit(shortlist, labels, **known), 1)
    lines.append(_against("LightGBM lambdarank, 100 rounds", ours, rival, size))
    rival = _xlogit(shortlist, labels, known)
    lines.append(_against("xlogit (the same columns, but no offsets)", ours, rival, size))
    return lines, theirs


def _against(name, ours, rival, size):
    if rival is None:
        return Line(f"fit, {size}", f"{ours * 1e3:.0f} ms", f"{name}: not installed")
    return Line(f"fit, {size}", f"{ours * 1e3:.0f} ms", f"{name}: {rival:.1f} s", rival / ours, "> 1×", rival > ours)


def _xlogit(shortlist, labels, known):
    """Fit the weights of the columns with the conditional logit of xlogit; None if it is not installed."""
    try:
        from xlogit import MultinomialLogit
    except ImportError:
        return None
    calibration = CalibrationSet.build(ScoreSet(shortlist, labels, **known), shortlist.n_candidates)
    terms = choose_fixed_terms(None, calibration.table)
    design = Design.of(calibration, terms, 0.0)
    n, k, d = design.columns.shape
    columns = np.concatenate([design.base[:, :, None], design.columns], axis=2)[:, :, 1:].reshape(n * k, d)
    chosen = np.repeat(design.target, k)
    names = [term.name for term in terms]
    start = time.perf_counter()
    MultinomialLogit().fit(columns, chosen, names, np.tile(np.arange(k), n), np.repeat(np.arange(n), k), verbose=0)
    return time.perf_counter() - start


def measure_grid(n, n_classes, k, plain_fit, grid=PAPER_GRID, folds=5):
    """Measure the paper's grid search, every setting on every fold."""
    scores, labels, counts, similarity = make_scores(n, n_classes)
    shortlist = Shortlist.from_scores(scores, k)

    def search(searched):
        return Reranker("pairwise", n_candidates=k, tuning=GridSearch(grid=searched, cv=folds)).fit(
            shortlist, labels, class_counts=counts, similarity=similarity
        )

    search(Grid(lambda_a=(0.1,)))
    ours, _ = best_of(lambda: search(grid), 1, warm=False)
    settings = len(grid.settings())
    theirs = settings * folds * plain_fit * (folds - 1) / folds
    return Line(
        f"{settings:,} settings × {folds} folds, {n:,}×{n_classes:,}, k={k}",
        f"{ours:.0f} s",
        f"pseudo-code, extrapolated: {theirs / 60:.0f} min",
        theirs / ours,
        "≤ 150 s",
        ours <= 150,
    )
