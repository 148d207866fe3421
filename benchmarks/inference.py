"""Speed of statistics: the bootstrap of a comparison, and contradictory pairs."""

import numpy as np
from measure import Line, best_of, make_candidates

from repair import Ranking, evaluate
from repair.comparison.resampled_metrics import COMPARED, resample_metrics
from repair.diagnosis import contradictory_pairs


def measure_bootstrap(n, resamples):
    """Measure the bootstrap of every metric of one method."""
    shortlist, labels, counts = make_candidates(n, 1000, 10)
    moved = shortlist.scores + np.random.default_rng(2).normal(size=shortlist.scores.shape)
    result = evaluate(Ranking.from_scores(shortlist, moved), labels, class_counts=counts)
    taken, _ = best_of(lambda: resample_metrics([result.rows], result.weights, None, resamples, 0), 1, warm=False)
    return Line(
        f"{resamples:,} bootstrap resamples of {n:,} rows × {len(COMPARED) - 1} metrics",
        f"{taken:.1f} s",
        "",
        None,
        "≤ 10 s",
        taken <= 10,
    )


def measure_pairs(n, k):
    """Measure the search for contradictory pairs."""
    shortlist, labels, _ = make_candidates(n, 1000, k)
    taken, _ = best_of(lambda: contradictory_pairs(shortlist, labels))
    return Line(f"contradictory pairs, {n:,}×{k}", f"{taken * 1e3:.0f} ms", "", None, "≤ 1 s", taken <= 1)
