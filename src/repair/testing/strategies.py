"""Random shortlists and score sets with everything that a model may meet: ties, padding, −Inf, absent fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from repair._utils.arrays import PAD_ID, PAD_SCORE, AnyArray, FloatArray
from repair.data.score_set import ScoreSet
from repair.data.shortlist import Shortlist
from repair.errors import InputError, MissingExtraError
from repair.validation.checks import SCORE_LIMIT, check_count

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
except ImportError:
    raise MissingExtraError(
        "repair.testing needs the extra 'testing' (hypothesis): pip install 'repair-rerank[testing]'"
    ) from None

__all__ = ["Bounds", "score_sets", "shortlists"]

#: A number, or the smallest and the largest one to draw.
Bounds: TypeAlias = "int | tuple[int, int]"
Draw: TypeAlias = Callable[..., Any]

#: Scores that are equal often, and those between which a wrong order shows.
TIED, USUAL = 3, 30.0
#: The optional fields of a `ScoreSet` that describe classes.
CLASS_FIELDS = ("class_counts", "similarity", "class_names", "class_groups", "class_weights", "weight_norms")


def shortlists(
    *,
    n_rows: Bounds = (1, 6),
    n_classes: Bounds = (2, 9),
    n_candidates: Bounds = (1, 6),
    ragged: bool = True,
    extremes: bool = False,
) -> st.SearchStrategy[Shortlist]:
    """Return a strategy for shortlists: ties, rows of unequal length, and candidates in any order of ids.

    Failing examples shrink to few rows, few candidates and small whole scores.

    Parameters
    ----------
    n_rows, n_classes, n_candidates : int or (int, int)
        Sizes, or their smallest and largest values.  There are never more candidates than classes.
    ragged : bool, default True
        Whether rows can have fewer candidates than others, or none.
    extremes : bool, default False
        Whether scores reach from the smallest to the largest numbers that are allowed, ±1e30.

    Returns
    -------
    hypothesis.strategies.SearchStrategy

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> from repair import Ranking
    >>> from repair.testing import shortlists
    >>> @settings(max_examples=20, deadline=None, database=None)
    ... @given(shortlists())
    ... def test_a_constant_keeps_the_base_order(shortlist):
    ...     ranking = Ranking.from_scores(shortlist, 0.0 * (shortlist.ids >= 0))
    ...     assert (ranking.ids == shortlist.ids).all()
    >>> test_a_constant_keeps_the_base_order()
    """
    rows, classes, candidates = _sizes(n_rows, 1), _sizes(n_classes, 2), _sizes(n_candidates, 1)

    @st.composite
    def build(draw: Draw) -> Shortlist:
        n, total = draw(rows), draw(classes)
        k = min(draw(candidates), total)
        # The places of random keys are ids in any order, and shrink to 0, 1, 2, …
        keys = draw(hnp.arrays(np.int64, (n, total), elements=st.integers(0, 99)))
        ids = np.argsort(keys, axis=1, kind="stable")[:, :k]
        scores = draw(hnp.arrays(np.float64, (n, k), elements=_scores(extremes)))
        if ragged:
            lengths = draw(hnp.arrays(np.int64, n, elements=st.integers(0, k)))
            ids = np.where(np.arange(k) < lengths[:, None], ids, PAD_ID)
        return Shortlist.from_candidates(ids, scores, total)

    return build()


def score_sets(
    *,
    n_rows: Bounds = (10, 40),
    n_classes: Bounds = (2, 9),
    n_candidates: Bounds = (2, 6),
    dense: bool | None = None,
    with_embeddings: bool | None = None,
) -> st.SearchStrategy[ScoreSet]:
    """Return a strategy for score sets that every model can be fitted on.

    Scores are a dense array (float16, float32 or float64, with ties and −Inf) or a `Shortlist`.  Labels are
    ids or names, some of them off the shortlist or unknown, but at least two classes are covered.  Every
    other field may be there or not.  Numbers come from a generator whose seed is drawn, so failing examples
    shrink to few rows, classes and fields, but not to simple numbers.

    Parameters
    ----------
    n_rows, n_classes, n_candidates : int or (int, int)
        Sizes, or their smallest and largest values, at least 2.  `n_candidates` is the width of shortlists.
    dense : bool, optional
        Whether the scores of all classes are known.  By default sometimes.
    with_embeddings : bool, optional
        Whether there is a vector per row.  By default sometimes.

    Returns
    -------
    hypothesis.strategies.SearchStrategy

    Examples
    --------
    >>> from hypothesis import given, settings
    >>> from repair import Reranker
    >>> from repair.testing import score_sets
    >>> @settings(max_examples=5, deadline=None, database=None)
    ... @given(score_sets(with_embeddings=False))
    ... def test_every_row_gets_a_label(rows):
    ...     model = Reranker("classwise", n_candidates=2).fit(rows)
    ...     assert len(model.predict(rows.scores)) == len(rows)
    >>> test_every_row_gets_a_label()
    """
    rows, classes, candidates = _sizes(n_rows, 2), _sizes(n_classes, 2), _sizes(n_candidates, 2)

    @st.composite
    def build(draw: Draw) -> ScoreSet:
        n, total = draw(rows), draw(classes)
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        scores = _dense_scores(rng, n, total, ties=draw(st.booleans()), gaps=draw(st.booleans()))
        labels = _labels(rng, scores)
        fields = {name: _class_field(name, rng, total) for name in CLASS_FIELDS if draw(st.booleans())}
        if "class_names" in fields and draw(st.booleans()):
            labels = np.array([*fields["class_names"], "unknown"], dtype=object)[labels]
        if draw(st.booleans()):
            fields["groups"] = rng.integers(0, max(2, n // 3), size=n)
            fields["equal_group_weight"] = draw(st.booleans())
        if draw(st.booleans()):
            fields["sample_weight"] = np.round(rng.exponential(size=n), 2) + 0.01
        if draw(st.booleans()) if with_embeddings is None else with_embeddings:
            fields["embeddings"] = rng.normal(size=(n, draw(st.integers(1, 4)))).astype(np.float32)
        if draw(st.booleans()) if dense is None else dense:
            kind = draw(st.sampled_from((np.float64, np.float32, np.float16)))
            return ScoreSet(scores.astype(kind), labels, **fields)
        width = min(draw(candidates), total)
        return ScoreSet(Shortlist.from_scores(scores, width), labels, **fields)

    return build()


def _sizes(bounds: Bounds, smallest: int) -> st.SearchStrategy[int]:
    low, high = (bounds, bounds) if isinstance(bounds, int) else bounds
    check_count(low, "the smallest size", smallest)
    if high < low:
        raise InputError(f"sizes run from {low} to {high}; pass the smaller one first")
    return st.integers(low, high)


def _scores(extremes: bool) -> st.SearchStrategy[float]:
    tied = st.integers(-TIED, TIED).map(float)
    if extremes:
        return tied | st.floats(-SCORE_LIMIT, SCORE_LIMIT) | st.sampled_from((SCORE_LIMIT, -SCORE_LIMIT, -0.0, 5e-324))
    return tied | st.floats(-USUAL, USUAL, width=16)


def _dense_scores(rng: np.random.Generator, n: int, total: int, *, ties: bool, gaps: bool) -> FloatArray:
    """Return scores of all classes with at least two candidates per row."""
    scores = rng.normal(size=(n, total)) * 2.0
    if ties:
        scores = np.round(scores)
    if gaps:
        missing = rng.random(scores.shape) < 0.4
        kept = rng.permuted(np.tile(np.arange(total), (n, 1)), axis=1)[:, :2]
        np.put_along_axis(missing, kept, False, axis=1)
        scores = np.where(missing, PAD_SCORE, scores)
    return scores.astype(np.float16).astype(np.float64)  # the same order in every precision


def _labels(rng: np.random.Generator, scores: FloatArray) -> AnyArray:
    """Return ids, −1 for some rows.  The labels of the first two rows differ and are among their two best classes."""
    n, total = scores.shape
    labels = np.where(rng.random(n) < 0.5, scores.argmax(axis=1), rng.integers(-1, total, size=n))
    best = np.argsort(-scores, axis=1, kind="stable")
    labels[0] = best[0, 0]
    labels[1] = best[1, 0] if best[1, 0] != labels[0] else best[1, 1]
    return labels


def _class_field(name: str, rng: np.random.Generator, total: int) -> Any:
    if name == "class_counts":
        return rng.integers(0, 500, size=total) + (np.arange(total) == 0) * 2
    if name == "similarity":
        return rng.random((total, total))
    if name == "class_names":
        return [f"class {place}" for place in range(total)]
    if name == "class_groups":
        return rng.integers(0, 3, size=total)
    return np.round(rng.random(total) + 0.1, 2)  # weights and norms
