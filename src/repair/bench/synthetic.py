"""The paper's synthetic problem: Gaussian classes with a Zipf prior and a corrupted base model.

Because the generator is known, so is the true posterior: its ranking is the best any reranker can
do on the same shortlist, and stands beside every method as the oracle.

The paper leaves choices open; each is a field of `SyntheticSettings`, and its default is our
reading, stated there.
"""

from dataclasses import dataclass

import numpy as np

from repair.arrays import BoolArray, FloatArray, IntArray

__all__ = ["SyntheticPart", "SyntheticProblem", "SyntheticSettings", "make_synthetic"]


@dataclass(frozen=True)
class SyntheticSettings:
    """The generator's constants.

    Attributes
    ----------
    n_classes, n_calibration, n_test, dimension : int
        K, rows, and the dimension of x, as in the paper.
    mean_variance : float
        Variance of the class means' coordinates; the paper's N(0, 0.5 I) read as a variance.
    bias : float
        c in the class bias b = −c·log π (the paper's τ is taken as 1).
    noise_variance : float
        Variance of the score noise ε.
    n_pairs : int
        Confuser pairs, each a rare and a frequent class; 0 is the class-separable regime.
    nearest_pairs : bool
        Whether each pair joins a frequent class with the rare class nearest to it (True), so that
        they meet on shortlists, or classes drawn at random.
    strength : float
        δ, by which a pair's scores are moved apart where both are on the base shortlist.
    sign_per_pair : bool
        Whether each pair of a row draws its own sign, or the row draws one for all.
    tail_share : float
        Share of the classes, rarest first, from which a pair's rare class may come.
    taken_again : bool
        Whether the shortlist is that of the corrupted scores, or stays that of the scores before;
        then all other classes score −Inf, which means "not a candidate".
    n_candidates : int
        k of the shortlist on which pairs must meet.
    seed : int
    """

    n_classes: int = 100
    n_calibration: int = 5000
    n_test: int = 2000
    dimension: int = 10
    mean_variance: float = 0.5
    bias: float = 0.1
    noise_variance: float = 0.09
    n_pairs: int = 15
    nearest_pairs: bool = True
    strength: float = 3.0
    sign_per_pair: bool = False
    tail_share: float = 0.8
    taken_again: bool = True
    n_candidates: int = 10
    seed: int = 0


@dataclass(frozen=True, eq=False)
class SyntheticPart:
    """Rows with base scores, labels and the true log posterior of every class."""

    scores: FloatArray
    labels: IntArray
    log_posterior: FloatArray


@dataclass(frozen=True, eq=False)
class SyntheticProblem:
    """A calibration part, a test part, and what is known about the classes."""

    calibration: SyntheticPart
    test: SyntheticPart
    class_counts: FloatArray
    similarity: FloatArray
    pairs: IntArray


def make_synthetic(settings: SyntheticSettings | None = None) -> SyntheticProblem:
    """Draw one problem.

    Parameters
    ----------
    settings : SyntheticSettings, optional

    Returns
    -------
    SyntheticProblem

    Examples
    --------
    >>> from repair.bench.synthetic import SyntheticSettings, make_synthetic
    >>> problem = make_synthetic(SyntheticSettings(n_calibration=50, n_test=20))
    >>> problem.test.scores.shape
    (20, 100)
    """
    chosen = settings or SyntheticSettings()
    rng = np.random.default_rng(chosen.seed)
    weights = 1.0 / np.arange(1, chosen.n_classes + 1)
    prior = weights / weights.sum()
    means = rng.normal(scale=np.sqrt(chosen.mean_variance), size=(chosen.n_classes, chosen.dimension))
    lengths = np.linalg.norm(means, axis=1)
    similarity = means @ means.T / np.outer(lengths, lengths)
    pairs = _choose_pairs(chosen, similarity, rng)
    return SyntheticProblem(
        _draw(chosen.n_calibration, chosen, prior, means, pairs, rng),
        _draw(chosen.n_test, chosen, prior, means, pairs, rng),
        np.maximum(np.round(chosen.n_calibration * prior), 1.0),
        similarity,
        pairs,
    )


def _choose_pairs(chosen: SyntheticSettings, similarity: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return (rare, frequent) class pairs; the prior falls with the id, so the first fifth is frequent."""
    n_frequent = chosen.n_classes - 4 * chosen.n_classes // 5
    frequent = np.sort(rng.permutation(n_frequent)[: chosen.n_pairs])
    n_rare = round(chosen.tail_share * chosen.n_classes)
    rare = rng.permutation(np.arange(chosen.n_classes - n_rare, chosen.n_classes))
    pairs = []
    for head in frequent:
        tail = rare[np.argmax(similarity[head, rare])] if chosen.nearest_pairs else rare[0]
        rare = rare[rare != tail]
        pairs.append((tail, head))
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def _draw(
    n_rows: int,
    chosen: SyntheticSettings,
    prior: FloatArray,
    means: FloatArray,
    pairs: IntArray,
    rng: np.random.Generator,
) -> SyntheticPart:
    labels = rng.choice(chosen.n_classes, size=n_rows, p=prior).astype(np.int32)
    points = means[labels] + rng.normal(size=(n_rows, chosen.dimension))
    distances = ((points[:, None, :] - means[None]) ** 2).sum(axis=2)
    log_posterior = np.log(prior) - 0.5 * distances
    log_posterior -= np.logaddexp.reduce(log_posterior, axis=1, keepdims=True)
    noise = rng.normal(scale=np.sqrt(chosen.noise_variance), size=log_posterior.shape)
    scores = log_posterior - chosen.bias * np.log(prior) + noise
    listed = _confuse(scores, pairs, chosen, rng)
    if not chosen.taken_again:
        scores[~listed] = -np.inf
    return SyntheticPart(scores, labels, log_posterior)


def _confuse(scores: FloatArray, pairs: IntArray, chosen: SyntheticSettings, rng: np.random.Generator) -> BoolArray:
    """Move the scores of each pair that meets on a shortlist apart, in place; return who was listed before."""
    cut = np.partition(scores, -chosen.n_candidates, axis=1)[:, -chosen.n_candidates, None]
    listed = scores >= cut
    shared = rng.choice([-1.0, 1.0], size=(len(scores), 1))
    signs = rng.choice([-1.0, 1.0], size=(len(scores), len(pairs))) if chosen.sign_per_pair else shared
    for position, (rare, frequent) in enumerate(pairs):
        sign = signs[:, position if chosen.sign_per_pair else 0]
        move = chosen.strength * sign * (listed[:, rare] & listed[:, frequent])
        scores[:, rare] += move
        scores[:, frequent] -= move
    return listed
