"""Simulated problems for `auto`: the true posterior is known, and with it the true gain of every model."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair.datasets.synthetic import SyntheticSettings, make_synthetic

__all__ = ["KINDS", "NOTHING", "Kind", "SimulatedProblem", "SimulatedRows", "draw_problem"]

N_CLASSES, N_CANDIDATES, DIMENSION = 20, 10, 5
#: Exponent of the long tail, and training rows of the base model, from which class counts follow.
TAIL, N_TRAINING = 1.2, 2_000
N_PAIRS = 4
EMBEDDING_DIMENSION = 16


@dataclass(frozen=True, eq=False)
class SimulatedRows:
    """Rows with base scores, labels and the true posterior.

    Attributes
    ----------
    scores : ndarray (n, K)
    labels : ndarray of int (n,)
    posterior : ndarray (n, K)
        Probability of each class given everything that is known about the row.
    embeddings : ndarray (n, d), or None
    """

    scores: FloatArray
    labels: IntArray
    posterior: FloatArray
    embeddings: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class SimulatedProblem:
    """Calibration rows, fresh rows for the evaluation, and what is known about the classes.

    Attributes
    ----------
    calibration, fresh : SimulatedRows
    class_counts : ndarray (K,)
    similarity : ndarray (K, K), or None
    """

    calibration: SimulatedRows
    fresh: SimulatedRows
    class_counts: FloatArray
    similarity: FloatArray | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of problem.

    Attributes
    ----------
    title : str
        Name in tables.
    about : str
        What is simulated, in one sentence.
    draw : callable
        Function from a random generator, the number of calibration rows and the number of fresh
        rows to a `SimulatedProblem`.
    """

    title: str
    about: str
    draw: Callable[[np.random.Generator, int, int], SimulatedProblem]


def draw_problem(kind: str, n_rows: int, n_fresh: int, number: int) -> SimulatedProblem:
    """Draw one problem.  The same arguments give the same problem.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    n_rows, n_fresh : int
        Number of calibration rows and of fresh rows.
    number : int
        Number of the problem, which seeds the random draws.

    Examples
    --------
    >>> from repair_bench.studies.simulated_problems import draw_problem
    >>> problem = draw_problem("offsets", 100, 50, 0)
    >>> problem.calibration.scores.shape, problem.fresh.posterior.shape
    ((100, 20), (50, 20))
    """
    rng = np.random.default_rng([list(KINDS).index(kind), n_rows, number])
    return KINDS[kind].draw(rng, n_rows, n_fresh)


@dataclass(frozen=True, eq=False)
class _Classes:
    """Gaussian classes with a long tail."""

    prior: FloatArray
    means: FloatArray

    @classmethod
    def draw(cls, rng: np.random.Generator) -> "_Classes":
        weights = np.arange(1, N_CLASSES + 1) ** -TAIL
        return cls(weights / weights.sum(), rng.normal(size=(N_CLASSES, DIMENSION)))

    @property
    def counts(self) -> FloatArray:
        return np.maximum(np.round(N_TRAINING * self.prior), 1.0)

    def rows(self, rng: np.random.Generator, n: int, prior: FloatArray | None = None) -> SimulatedRows:
        """Draw rows, from another class mix if `prior` is given.  Scores are the log posterior of the own mix."""
        labels = rng.choice(N_CLASSES, size=n, p=self.prior if prior is None else prior).astype(np.int32)
        points = self.means[labels] + rng.normal(size=(n, DIMENSION))
        distances = ((points[:, None, :] - self.means[None]) ** 2).sum(axis=2)
        scores = np.log(self.prior) - 0.5 * distances
        scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
        return SimulatedRows(scores, labels, np.exp(scores))


def _changed(rows: SimulatedRows, factor: float, added: FloatArray | float) -> SimulatedRows:
    return SimulatedRows(factor * rows.scores + added, rows.labels, rows.posterior)


def _factor(rng: np.random.Generator) -> float:
    """Return a factor between 0.5 and 2, as often below 1 as above."""
    return float(2.0 ** rng.uniform(-1.0, 1.0))


def _nothing(rng: np.random.Generator, n_rows: int, n_fresh: int) -> SimulatedProblem:
    classes, factor = _Classes.draw(rng), _factor(rng)
    calibration, fresh = (_changed(classes.rows(rng, n), factor, 0.0) for n in (n_rows, n_fresh))
    return SimulatedProblem(calibration, fresh, classes.counts)


def _nothing_embeddings(rng: np.random.Generator, n_rows: int, n_fresh: int) -> SimulatedProblem:
    plain = _nothing(rng, n_rows, n_fresh)
    calibration, fresh = (
        SimulatedRows(
            rows.scores, rows.labels, rows.posterior, rng.normal(size=(len(rows.labels), EMBEDDING_DIMENSION))
        )
        for rows in (plain.calibration, plain.fresh)
    )
    return SimulatedProblem(calibration, fresh, plain.class_counts)


def _offsets(rng: np.random.Generator, n_rows: int, n_fresh: int) -> SimulatedProblem:
    classes, factor = _Classes.draw(rng), _factor(rng)
    shift = rng.uniform(0.2, 1.5) * rng.normal(size=N_CLASSES)
    calibration, fresh = (_changed(classes.rows(rng, n), factor, factor * shift) for n in (n_rows, n_fresh))
    return SimulatedProblem(calibration, fresh, classes.counts)


def _pairs(rng: np.random.Generator, n_rows: int, n_fresh: int) -> SimulatedProblem:
    made = make_synthetic(
        SyntheticSettings(
            n_classes=N_CLASSES,
            n_calibration=n_rows,
            n_test=n_fresh,
            n_pairs=N_PAIRS,
            strength=float(rng.uniform(0.5, 3.0)),
            n_candidates=N_CANDIDATES,
            seed=int(rng.integers(2**31)),
        )
    )
    calibration, fresh = (
        SimulatedRows(part.scores, part.labels, np.exp(part.log_posterior)) for part in (made.calibration, made.test)
    )
    weights = 1.0 / np.arange(1, N_CLASSES + 1)  # the generator's counts depend on the number of calibration rows
    counts = np.maximum(np.round(N_TRAINING * weights / weights.sum()), 1.0)
    return SimulatedProblem(calibration, fresh, counts, made.similarity)


def _class_mix_drift(rng: np.random.Generator, n_rows: int, n_fresh: int) -> SimulatedProblem:
    classes, shift = _Classes.draw(rng), rng.uniform(0.0, 1.0) * rng.normal(size=N_CLASSES)
    drifted = classes.prior * np.exp(rng.uniform(0.1, 0.5) * rng.normal(size=N_CLASSES))
    calibration = _changed(classes.rows(rng, n_rows, drifted / drifted.sum()), 1.0, shift)
    return SimulatedProblem(calibration, _changed(classes.rows(rng, n_fresh), 1.0, shift), classes.counts)


def _noise_drift(rng: np.random.Generator, n_rows: int, n_fresh: int) -> SimulatedProblem:
    classes, shift = _Classes.draw(rng), rng.uniform(0.0, 1.0) * rng.normal(size=N_CLASSES)
    parts = []
    for n, spread in ((n_rows, rng.uniform(0.0, 1.0)), (n_fresh, rng.uniform(0.0, 1.0))):
        parts.append(_changed(classes.rows(rng, n), 1.0, shift + spread * rng.normal(size=(n, N_CLASSES))))
    return SimulatedProblem(parts[0], parts[1], classes.counts)


#: The kinds in which every correction is a false alarm.
NOTHING = ("nothing", "nothing_embeddings")
KINDS = {
    "nothing": Kind(
        "nothing to gain",
        "The scores are the true log posterior times a factor between 0.5 and 2.",
        _nothing,
    ),
    "nothing_embeddings": Kind(
        "nothing to gain, random embeddings",
        f"As before, and every row has a random embedding of {EMBEDDING_DIMENSION} numbers.",
        _nothing_embeddings,
    ),
    "offsets": Kind(
        "offsets only",
        "The scores are the log posterior plus one normal number per class (standard deviation 0.2 to 1.5), all times "
        "a factor between 0.5 and 2.",
        _offsets,
    ),
    "pairs": Kind(
        "contradictory pairs",
        f"The paper's generator with {N_PAIRS} pairs of a rare and a frequent class. On rows that have both on the "
        "shortlist, their scores are moved apart by 0.5 to 3 in a random direction.",
        _pairs,
    ),
    "class_mix_drift": Kind(
        "drift of the class mix",
        "The scores are the log posterior plus one normal number per class (standard deviation 0 to 1). The log prior "
        "of the calibration rows differs from that of the fresh rows by normal numbers (standard deviation 0.1 to "
        "0.5).",
        _class_mix_drift,
    ),
    "noise_drift": Kind(
        "drift of the score noise",
        "The scores are the log posterior plus one number per class, as before, plus normal noise. Its standard "
        "deviation is between 0 and 1, and is drawn separately for calibration rows and fresh rows.",
        _noise_drift,
    ),
}
