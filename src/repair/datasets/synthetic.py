"""The paper's synthetic problem: Gaussian classes with a Zipf prior and a corrupted base model.

Because the generator is known, the true posterior is known too.  Its ranking is the best that any
reranker can do on the same shortlist, and serves as the oracle that methods are compared with.

The paper leaves some choices open.  Each is a field of `SyntheticSettings`, whose default is our
reading of the paper.
"""

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import BoolArray, FloatArray, IntArray
from repair.errors import InputError
from repair.stats.strata import number_of_rare_classes

__all__ = ["RELEASED_SCRIPT", "SyntheticPart", "SyntheticProblem", "SyntheticSettings", "make_synthetic"]


@dataclass(frozen=True)
class SyntheticSettings:
    """The constants of the generator.

    Attributes
    ----------
    n_classes : int, default 100
        Number of classes K, as in the paper.
    n_calibration : int, default 5000
        Number of calibration rows, as in the paper.
    n_test : int, default 2000
        Number of test rows, as in the paper.
    dimension : int, default 10
        Dimension of x, as in the paper.
    mean_variance : float, default 0.5
        Variance of the coordinates of the class means.  We read the paper's N(0, 0.5 I) as a
        variance.
    bias : float, default 0.1
        c in the class bias b = −c·log π.  The paper's τ is taken as 1.
    noise_variance : float, default 0.09
        Variance of the score noise ε.
    n_pairs : int, default 15
        Number of contradictory pairs, each of a rare and a frequent class of its own, so there cannot
        be more pairs than frequent classes.  Use 0 for the class-separable regime.
    pairs : tuple of (int, int), optional
        The pairs themselves, as class ids: first the class whose score moves up with the sign, then the
        one that moves down.  A class may be in several pairs.  `n_pairs`, `nearest_pairs` and
        `tail_share` then have no effect.
    nearest_pairs : bool, default True
        Whether each pair is a frequent class and the rare class nearest to it, so both are often on
        the same shortlist.  If False, the rare class is drawn at random.
    strength : float, default 3.0
        δ, by which the scores of a pair are moved apart on rows where both are on the base
        shortlist.
    sign_per_pair : bool, default False
        Whether the direction of the move is drawn for each pair of a row, or once per row.
    tail_share : float, default 0.8
        Share of the classes, rarest first, from which the rare class of a pair is taken.
    taken_again : bool, default True
        Whether the shortlist is taken again from the corrupted scores.  If False, it stays the
        shortlist of the uncorrupted scores, and all other classes score −Inf, which means "not a
        candidate".
    n_candidates : int, default 10
        Width k of the shortlist that both classes of a pair must be on.
    seed : int, default 0
        Seed for all random draws.
    """

    n_classes: int = 100
    n_calibration: int = 5000
    n_test: int = 2000
    dimension: int = 10
    mean_variance: float = 0.5
    bias: float = 0.1
    noise_variance: float = 0.09
    n_pairs: int = 15
    pairs: tuple[tuple[int, int], ...] | None = None
    nearest_pairs: bool = True
    strength: float = 3.0
    sign_per_pair: bool = False
    tail_share: float = 0.8
    taken_again: bool = True
    n_candidates: int = 10
    seed: int = 0


#: The constants of the script that was released with the paper, which are not those of its text: 20 classes, shortlists
#: of 5, a bias of 0.8, and 15 pairs over the 5 most frequent classes.  Its random numbers are others.
RELEASED_SCRIPT = SyntheticSettings(
    n_classes=20,
    n_candidates=5,
    bias=0.8,
    pairs=tuple((5 + one, one % 5) for one in range(15)),
    sign_per_pair=True,
)


@dataclass(frozen=True, eq=False)
class SyntheticPart:
    """Rows with base scores, labels and the true log posterior of every class.

    Attributes
    ----------
    scores : ndarray (n, K)
    labels : ndarray of int32 (n,)
    log_posterior : ndarray (n, K)
    """

    scores: FloatArray
    labels: IntArray
    log_posterior: FloatArray


@dataclass(frozen=True, eq=False)
class SyntheticProblem:
    """A calibration part, a test part, and the class-level inputs.

    Attributes
    ----------
    calibration, test : SyntheticPart
    class_counts : ndarray (K,)
        Expected calibration rows per class, rounded and at least 1.
    similarity : ndarray (K, K)
        Cosine similarity of the class means.
    pairs : ndarray of int32 (n_pairs, 2)
        The rare and the frequent class of each contradictory pair.
    """

    calibration: SyntheticPart
    test: SyntheticPart
    class_counts: FloatArray
    similarity: FloatArray
    pairs: IntArray


def make_synthetic(settings: SyntheticSettings | None = None) -> SyntheticProblem:
    """Draw one synthetic problem.

    Parameters
    ----------
    settings : SyntheticSettings, optional
        The constants of the generator.  Defaults to the paper's problem.

    Returns
    -------
    SyntheticProblem

    Examples
    --------
    >>> from repair.datasets.synthetic import SyntheticSettings, make_synthetic
    >>> problem = make_synthetic(SyntheticSettings(n_calibration=50, n_test=20))
    >>> problem.test.scores.shape
    (20, 100)
    """
    settings = settings or SyntheticSettings()
    rng = np.random.default_rng(settings.seed)
    weights = 1.0 / np.arange(1, settings.n_classes + 1)
    prior = weights / weights.sum()
    means = rng.normal(scale=np.sqrt(settings.mean_variance), size=(settings.n_classes, settings.dimension))
    lengths = np.linalg.norm(means, axis=1)
    similarity = means @ means.T / np.outer(lengths, lengths)
    pairs = _choose_pairs(settings, similarity, rng)
    return SyntheticProblem(
        _draw(settings.n_calibration, settings, prior, means, pairs, rng),
        _draw(settings.n_test, settings, prior, means, pairs, rng),
        np.maximum(np.round(settings.n_calibration * prior), 1.0),
        similarity,
        pairs,
    )


def _choose_pairs(settings: SyntheticSettings, similarity: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return (rare, frequent) class pairs.  The prior decreases with the id, so the first fifth is frequent."""
    if settings.pairs is not None:
        return _checked_pairs(settings.pairs, settings.n_classes)
    n_frequent = settings.n_classes - number_of_rare_classes(settings.n_classes)
    n_rare = round(settings.tail_share * settings.n_classes)
    if settings.n_pairs > min(n_frequent, n_rare):
        raise InputError(
            f"n_pairs is {settings.n_pairs}, but {settings.n_classes} classes have {n_frequent} frequent and {n_rare} "
            "rare ones, each for one pair; lower n_pairs, or name the pairs, in which classes may repeat, in pairs"
        )
    frequent_classes = np.sort(rng.permutation(n_frequent)[: settings.n_pairs])
    rare_classes = rng.permutation(np.arange(settings.n_classes - n_rare, settings.n_classes))
    pairs = []
    for frequent in frequent_classes:
        nearest = settings.nearest_pairs
        rare = rare_classes[np.argmax(similarity[frequent, rare_classes])] if nearest else rare_classes[0]
        rare_classes = rare_classes[rare_classes != rare]
        pairs.append((rare, frequent))
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def _checked_pairs(pairs: tuple[tuple[int, int], ...], n_classes: int) -> IntArray:
    for position, (first, second) in enumerate(pairs):
        if first == second or not (0 <= first < n_classes and 0 <= second < n_classes):
            raise InputError(
                f"pairs[{position}] is {(first, second)}; give two different class ids from 0 to {n_classes - 1}"
            )
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def _draw(
    n_rows: int,
    settings: SyntheticSettings,
    prior: FloatArray,
    means: FloatArray,
    pairs: IntArray,
    rng: np.random.Generator,
) -> SyntheticPart:
    labels = rng.choice(settings.n_classes, size=n_rows, p=prior).astype(np.int32)
    points = means[labels] + rng.normal(size=(n_rows, settings.dimension))
    distances = ((points[:, None, :] - means[None]) ** 2).sum(axis=2)
    log_posterior = np.log(prior) - 0.5 * distances
    log_posterior -= np.logaddexp.reduce(log_posterior, axis=1, keepdims=True)
    noise = rng.normal(scale=np.sqrt(settings.noise_variance), size=log_posterior.shape)
    scores = log_posterior - settings.bias * np.log(prior) + noise
    listed = _confuse(scores, pairs, settings, rng)
    if not settings.taken_again:
        scores[~listed] = -np.inf
    return SyntheticPart(scores, labels, log_posterior)


def _confuse(scores: FloatArray, pairs: IntArray, settings: SyntheticSettings, rng: np.random.Generator) -> BoolArray:
    """Move the scores of each pair apart, in place, on rows where both are on the shortlist.

    Returns which classes were on the shortlist of each row before.
    """
    cut = np.partition(scores, -settings.n_candidates, axis=1)[:, -settings.n_candidates, None]
    listed = scores >= cut
    shared = rng.choice([-1.0, 1.0], size=(len(scores), 1))
    signs = rng.choice([-1.0, 1.0], size=(len(scores), len(pairs))) if settings.sign_per_pair else shared
    for position, (rare, frequent) in enumerate(pairs):
        sign = signs[:, position if settings.sign_per_pair else 0]
        move = settings.strength * sign * (listed[:, rare] & listed[:, frequent])
        scores[:, rare] += move
        scores[:, frequent] -= move
    return listed
