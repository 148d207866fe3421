"""How often ``mode="auto"`` accepts a correction that is not needed: its type-I error, by simulation.

There are two kinds of problems.  With "nothing to gain", the scores are the true log posterior, and
every correction is a false alarm.  With "class-separable", they are the log posterior plus one
number per class.  Offsets correct this, and Pairwise or Extended is a false alarm.

    python benchmarks/auto_level.py [repetitions]
"""

import sys
import warnings
from collections import Counter

import numpy as np
from scipy.stats import binom

from repair import InputWarning, Reranker

N_CLASSES, N_CANDIDATES, N_ROWS = 12, 6, 400
LEVEL = 0.05


def draw(rng, bias):
    counts = np.round(400 / np.arange(1, N_CLASSES + 1) ** 1.2) + 1
    means = rng.normal(size=(N_CLASSES, 4))
    labels = rng.choice(N_CLASSES, size=N_ROWS, p=counts / counts.sum())
    features = means[labels] + rng.normal(size=(N_ROWS, 4))
    distance = ((features[:, None, :] - means) ** 2).sum(axis=2)
    scores = np.log(counts / counts.sum()) - 0.5 * distance
    return scores + bias * rng.normal(size=N_CLASSES), labels, counts


def simulate(bias, repetitions):
    modes = Counter()
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, round(10 * bias)])
        scores, labels, counts = draw(rng, bias)
        modes[Reranker("auto", n_candidates=N_CANDIDATES).fit(scores, labels, class_counts=counts).mode_] += 1
    return modes


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore", InputWarning)
    allowed = int(binom.ppf(0.975, repetitions, LEVEL))
    print(f"{repetitions} repetitions, {N_ROWS} rows, {N_CLASSES} classes; at most {allowed} false alarms allowed")
    passed = True
    for truth, bias in (("nothing to gain", 0.0), ("class-separable", 1.0)):
        modes = simulate(bias, repetitions)
        alarms = modes["pairwise"] + modes["extended"] + (modes["classwise"] if bias == 0 else 0)
        passed &= alarms <= allowed
        counted = ", ".join(f"{mode} {modes[mode]}" for mode in ("base", "classwise", "pairwise", "extended"))
        print(f"{truth:16} {counted}: {alarms} false alarms", flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
