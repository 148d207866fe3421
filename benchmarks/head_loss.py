"""Does `head_loss` keep its guarantee?  The whole procedure, repeated on simulated data.

There are thirty long-tailed classes.  The base scores favour the frequent ones, so every correction
takes rows from them.  Rows come in groups of one to three that share half of their noise.  Each
repetition draws a calibration set, fits, chooses the strength, and measures the true loss on a large
fresh sample.  A true loss above the limit is a violation.  At level 0.1 about 50 violations in 500
are expected, and the check passes with at most 70.

    python benchmarks/head_loss.py            # all settings, 500 repetitions each
    python benchmarks/head_loss.py 50         # fewer repetitions
"""

import sys
import time

import numpy as np

from repair import HeadLossLimit, Reranker, Shortlist, rare_classes
from repair._utils.arrays import softmax
from repair._utils.text_tables import text_table
from repair.stats.row_weights import rows_in_own_group

N_CLASSES, N_CANDIDATES, LAMBDA_A, LEVEL, REPETITIONS, BAR = 30, 8, 0.001, 0.1, 500, 70
FRESH_GROUPS = 12_000
COUNTS = np.round(1000 / np.arange(1, N_CLASSES + 1)) + 1
HEAD_BIAS = 0.6
#: Settings: strict, rows, limit in points, dial.
SETTINGS = (
    (False, 800, 1.0, 0.0),
    (False, 800, 3.0, 0.0),
    (False, 800, 3.0, 0.5),
    (False, 3000, 1.0, 0.0),
    (True, 800, 3.0, 0.0),
    (True, 800, 5.0, 0.5),
    (True, 3000, 1.0, 0.0),
    (True, 3000, 3.0, 0.0),
)


def draw(rng, n_groups):
    """Draw labels from a known posterior.  Base scores are its logarithm plus a bias for frequent classes."""
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 4, size=n_groups))
    shared = rng.normal(size=(n_groups, N_CLASSES))[groups]
    log_prior = np.log(COUNTS / COUNTS.sum())
    logits = log_prior + 1.2 * (shared + rng.normal(size=shared.shape))
    edges = np.cumsum(softmax(logits), axis=1)
    labels = np.minimum((rng.random((len(groups), 1)) > edges).sum(axis=1), N_CLASSES - 1)
    return logits + HEAD_BIAS * (log_prior - log_prior.mean()), labels, groups


class Fresh:
    """A large sample that stands in for the true distribution."""

    def __init__(self, rng):
        scores, self.labels, groups = draw(rng, FRESH_GROUPS)
        frequent = ~rare_classes(COUNTS)[self.labels]
        self.weights = frequent / rows_in_own_group(groups)
        self.shortlist = Shortlist.from_scores(scores, N_CANDIDATES)
        self.base = self.shortlist.ids[:, 0] == self.labels

    def loss(self, model):
        hits = model.rerank(self.shortlist).best == self.labels
        return 100 * float(self.weights @ (self.base * 1.0 - hits)) / float(self.weights.sum())


def simulate(strict, n_rows, limit, dial, repetitions, fresh):
    violations, strengths, whole = 0, [], []
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, n_rows])
        scores, labels, groups = draw(rng, round(n_rows / 2))
        model = Reranker(
            "classwise",
            n_candidates=N_CANDIDATES,
            lambda_a=LAMBDA_A,
            dial=dial,
            random_state=repetition,
            head_loss=HeadLossLimit(limit, level=LEVEL, exact=strict),
        ).fit(scores, labels, class_counts=COUNTS, groups=groups)
        violations += fresh.loss(model) > limit
        strengths.append(model.strength_)
        if repetition < 20:
            model = Reranker("classwise", n_candidates=N_CANDIDATES, lambda_a=LAMBDA_A, dial=dial)
            whole.append(fresh.loss(model.fit(scores, labels, class_counts=COUNTS, groups=groups)))
    return violations, np.array(strengths), float(np.mean(whole))


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    fresh = Fresh(np.random.default_rng(2024))
    rows, passed = [], True
    for strict, n_rows, limit, dial in SETTINGS:
        start = time.perf_counter()
        violations, strengths, whole = simulate(strict, n_rows, limit, dial, repetitions, fresh)
        passed &= violations <= BAR * repetitions / REPETITIONS
        rows.append(
            [
                "strict" if strict else "default",
                str(n_rows),
                f"{limit:g}",
                f"{dial:g}",
                f"{whole:.1f}",
                f"{violations} of {repetitions}",
                f"{100 * np.mean(strengths > 0):.0f} %",
                f"{strengths.mean():.2f}",
            ]
        )
        print(f"{rows[-1]} {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    header = ["variant", "rows", "limit", "dial", "loss at s = 1", "violations", "s > 0", "mean s"]
    print(text_table(header, rows))
    print(f"{'passed' if passed else 'FAILED'}: at most {BAR} violations in {REPETITIONS} at level {LEVEL}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
