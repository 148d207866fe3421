"""The head–tail frontier: what each setting of the dial gains rare rows and costs frequent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import BoolArray, FloatArray, IntArray
from repair.calibration import describe_unknown
from repair.class_table import rare_classes
from repair.errors import InputError, InputWarning, warn_user
from repair.estimator import ShortlistReranker
from repair.inputs import check_choice, check_class_vector, check_group_codes, check_labels, numeric_array
from repair.metrics import hit_rate
from repair.named import align_to_classes
from repair.shortlist import Shortlist
from repair.statistics import PairedGain, paired_gain
from repair.tables import text_table

__all__ = ["DIALS", "Frontier", "frontier_of_hits", "head_tail_frontier"]

DIALS = tuple(round(0.1 * step, 1) for step in range(11))
CRITERIA = ("rare", "frequent", "accuracy", "macro")


@dataclass(frozen=True, eq=False)
class Frontier:
    """Accuracy at every dial; prints as a table.

    Attributes
    ----------
    dials : ndarray (d,)
    values : dict of ndarray (d,)
        ``rare``, ``frequent`` and ``accuracy`` (all rows) are shares of rows ranked right,
        ``macro`` the mean over classes; an uncovered row is wrong.
    errors : dict of ndarray (d,)
        Standard error of the difference to dial 0 on the same rows, over groups.
    hits : ndarray (d, n)
        Whether each row is right at each dial.
    weights : dict of ndarray (n,)
        What each row counts for in each value.
    groups : ndarray of int (n,) or None
    """

    dials: FloatArray
    values: dict[str, FloatArray]
    errors: dict[str, FloatArray]
    hits: FloatArray
    weights: dict[str, FloatArray]
    groups: IntArray | None

    def __str__(self) -> str:
        """Return the table, in per cent."""
        rows = []
        for place, dial in enumerate(self.dials):
            cells = [
                f"{100 * self.values[name][place]:.1f} ± {100 * self.errors[name][place]:.1f}" for name in CRITERIA
            ]
            rows.append([f"{dial:g}", *cells])
        table = text_table(["dial", *CRITERIA], rows, text_columns=())
        return f"{table}\nper cent, ± one standard error of the difference to dial 0"

    def choose(self, criterion: str = "accuracy") -> float:
        """Return the dial nearest to 0 within one paired standard error of the best.

        Parameters
        ----------
        criterion : {"accuracy", "macro", "rare", "frequent"}, default "accuracy"
        """
        check_choice(criterion, "criterion", CRITERIA)
        values = self.values[criterion]
        if np.isnan(values).any():
            raise InputError(f"there is no row to measure {criterion!r} on; use criterion='accuracy'")
        best = int(np.argmax(values))
        near = []
        for place, dial in enumerate(self.dials):
            behind = _difference(self.hits[best] - self.hits[place], self.weights[criterion], self.groups)
            if behind.gain <= behind.error:
                near.append(float(dial))
        return min(near, key=abs)


def head_tail_frontier(
    model: ShortlistReranker,
    scores: ArrayLike | Shortlist,
    labels: ArrayLike,
    *,
    dials: Sequence[float] = DIALS,
    class_counts: Any = None,
    groups: Any = None,
    embeddings: ArrayLike | None = None,
) -> Frontier:
    """Measure one fitted model at several dials; nothing is fitted again.

    Parameters
    ----------
    model : Reranker or baseline
        Fitted, with `class_counts`.
    scores : array_like (n, K) or Shortlist
    labels : array_like (n,)
        As in ``fit``.  To choose a dial, use rows the model was not fitted on.
    dials : sequence of float, default 0, 0.1, …, 1
    class_counts : array_like (K,), mapping or Series, optional
        Tells rare from frequent classes; by default the model's.
    groups : array_like (n,), optional
        Rows then weigh 1/(group size), and errors are over groups.
    embeddings : array_like (n, d), optional
        Of the rows, if the model was fitted with embeddings.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, head_tail_frontier
    >>> rng = np.random.default_rng(0)
    >>> counts = np.array([400, 60, 30, 20, 10])
    >>> labels = rng.choice(5, size=600, p=counts / counts.sum())
    >>> scores = rng.normal(size=(600, 5)) + np.eye(5)[labels] + np.log(counts)
    >>> model = Reranker(5, "classwise").fit(scores[:300], labels[:300], class_counts=counts)
    >>> frontier = head_tail_frontier(model, scores[300:], labels[300:], dials=(0.0, 0.5, 1.0))
    >>> bool(frontier.values["rare"][2] > frontier.values["rare"][0])
    True
    >>> frontier.choose("accuracy"), frontier.choose("macro"), frontier.choose("rare")
    (0.0, 1.0, 1.0)
    """
    shortlist = model._shortlist(scores, embeddings)
    table = model._fitted().correction.table
    ids, unknown = check_labels(labels, len(shortlist), table.n_classes, table.class_names)
    if unknown:
        warn_user(describe_unknown(unknown), InputWarning)
    counts = model.class_counts_
    if class_counts is not None:
        aligned = align_to_classes(class_counts, "class_counts", table.n_classes, table.class_names)
        counts = check_class_vector(aligned, "class_counts", table.n_classes)
    tried = numeric_array(dials, "dials", 1).astype(np.float64)
    if not len(tried):
        raise InputError("dials is empty; pass at least one dial")
    if not len(ids):
        raise InputError("there are no rows; pass at least one")
    codes = None if groups is None else check_group_codes(groups, "groups", len(ids))
    plain = hit_rate(model.rerank(shortlist, dial=0.0), ids)
    hits = np.stack([hit_rate(model.rerank(shortlist, dial=float(dial)), ids) for dial in tried])
    return frontier_of_hits(tried, hits, plain, _row_weights(ids, rare_classes(counts), codes), codes)


def frontier_of_hits(
    dials: FloatArray, hits: FloatArray, plain: FloatArray, weights: dict[str, FloatArray], groups: IntArray | None
) -> Frontier:
    """Put a frontier together from whether each row is right at each dial, and at dial 0 (`plain`)."""
    values, errors = {}, {}
    for name, mine in weights.items():
        values[name] = np.array([_difference(row, mine, groups).gain for row in hits])
        errors[name] = np.array([_difference(row - plain, mine, groups).error for row in hits])
    return Frontier(dials, values, errors, hits, weights, groups)


def _row_weights(ids: IntArray, rare: BoolArray, groups: IntArray | None) -> dict[str, FloatArray]:
    """Return what each row counts for in each value."""
    everywhere = np.ones(len(ids)) if groups is None else 1.0 / np.bincount(groups)[groups]
    known = ids >= 0
    mass = np.bincount(ids[known], everywhere[known], minlength=len(rare))
    return {
        "rare": np.where(known & rare[ids], everywhere, 0.0),
        "frequent": np.where(known & ~rare[ids], everywhere, 0.0),
        "accuracy": everywhere,
        "macro": np.where(known, everywhere / np.where(mass > 0, mass, 1.0)[ids], 0.0),
    }


def _difference(difference: FloatArray, weights: FloatArray, groups: IntArray | None) -> PairedGain:
    """Return the paired gain over the rows that have weight; NaN if there is none."""
    kept = weights > 0
    if not kept.any():
        return PairedGain(np.nan, np.nan, 1)
    return paired_gain(difference[kept], weights[kept], None if groups is None else groups[kept])
