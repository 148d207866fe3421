"""How often ``mode="auto"`` accepts a correction that is not needed: its type-I error, by simulation.

There are two kinds of problems.  With "nothing to gain", the scores are the true log posterior, and
every correction is a false alarm.  With "class-separable", they are the log posterior plus one
number per class.  Offsets correct this, so the correction with few terms should be enough.

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
        model = Reranker("auto", n_candidates=N_CANDIDATES).fit(scores, labels, class_counts=counts)
        modes["few terms" if model.auto_.chosen.few_terms else model.mode_] += 1
    return modes


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    warnings.simplefilter("ignore", InputWarning)
    allowed = int(binom.ppf(0.975, repetitions, LEVEL))
    print(f"{repetitions} repetitions, {N_ROWS} rows, {N_CLASSES} classes; at most {allowed} false alarms allowed")
    passed = True
    for truth, bias in (("nothing to gain", 0.0), ("class-separable", 1.0)):
        modes = simulate(bias, repetitions)
        counted = ", ".join(f"{mode} {modes[mode]}" for mode in ("base", "few terms", "extended"))
        alarms = repetitions - modes["base"]
        passed &= bias > 0 or alarms <= allowed
        print(f"{truth:16} {counted}" + (f": {alarms} false alarms" if bias == 0 else ""), flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
