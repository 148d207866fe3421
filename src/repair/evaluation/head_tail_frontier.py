"""The head–tail frontier: accuracy on rows of rare and of frequent classes at each dial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.text_tables import text_table
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import label_ids
from repair.errors import InputError
from repair.evaluation.metrics import hit_rate
from repair.model.adjustments import DIALS
from repair.rerankers.base import ShortlistReranker
from repair.stats.not_applicable import NotApplicable
from repair.stats.paired_gains import PairedGain, gain_of_weighted_rows
from repair.stats.row_weights import equal_group_weights
from repair.stats.strata import strata_of
from repair.validation.checks import check_choice, check_group_codes, numeric_array
from repair.validation.names import class_vector

__all__ = ["Frontier", "frontier_of_hits", "head_tail_frontier", "stratum_weights"]

CRITERIA = ("rare", "frequent", "accuracy", "macro")


@dataclass(frozen=True, eq=False)
class Frontier:
    """Accuracy at each dial.  It prints as a table.

    Attributes
    ----------
    dials : ndarray (d,)
        The dials.
    values : dict of ndarray (d,)
        Accuracy on rows of rare classes (``rare``), on rows of frequent classes (``frequent``) and on
        all rows (``accuracy``), and its mean over classes (``macro``).  Uncovered rows count as wrong.
    errors : dict of ndarray (d,)
        Standard error, over groups, of the difference to dial 0 on the same rows.
    hits : ndarray (d, n)
        Whether each row is right at each dial.
    weights : dict of ndarray (n,)
        Weight of each row in each value.
    groups : ndarray of int (n,) or None
        Group codes of the rows.
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
        for index, dial in enumerate(self.dials):
            cells = [
                f"{100 * self.values[name][index]:.1f} ± {100 * self.errors[name][index]:.1f}" for name in CRITERIA
            ]
            rows.append([f"{dial:g}", *cells])
        table = text_table(["dial", *CRITERIA], rows, text_columns=())
        return f"{table}\nper cent, ± one standard error of the difference to dial 0"

    def choose(self, criterion: str = "accuracy") -> float:
        """Return the dial closest to 0 that is within one paired standard error of the best.

        Parameters
        ----------
        criterion : {"accuracy", "macro", "rare", "frequent"}, default "accuracy"
            What to maximise.  Use ``"macro"`` if all classes matter equally.
        """
        check_choice(criterion, "criterion", CRITERIA)
        values = self.values[criterion]
        if np.isnan(values).any():
            raise InputError(f"there is no row to measure {criterion!r} on; use criterion='accuracy'")
        best = int(np.argmax(values))
        near = []
        for index, dial in enumerate(self.dials):
            behind = _difference(self.hits[best] - self.hits[index], self.weights[criterion], self.groups)
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
    """Measure one fitted model at several dials, without fitting again.

    Parameters
    ----------
    model : Reranker or baseline
        A model that was fitted with `class_counts`.
    scores : array_like (n, K) or Shortlist
        Base scores, as in ``rerank``.
    labels : array_like (n,)
        True classes, as in ``fit``.  To choose a dial, use rows that the model was not fitted on.
    dials : sequence of float, default 0, 0.1, …, 1
        The dials to measure.  Pass other values if you need a finer or a wider range.
    class_counts : array_like (K,), mapping or Series, optional
        Training examples per class, which define rare and frequent classes.  By default those of the
        model.  Pass it if other counts should define them.
    groups : array_like (n,), optional
        Group of each row.  Pass it if rows are not independent: each row then weighs
        1/(group size), and standard errors are computed over groups.
    embeddings : array_like (n, d), optional
        One vector per row.  Needed if the model was fitted with embeddings.

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
    >>> model = Reranker("classwise", n_candidates=5).fit(scores[:300], labels[:300], class_counts=counts)
    >>> frontier = head_tail_frontier(model, scores[300:], labels[300:], dials=(0.0, 0.5, 1.0))
    >>> bool(frontier.values["rare"][2] > frontier.values["rare"][0])
    True
    >>> frontier.choose("accuracy"), frontier.choose("macro"), frontier.choose("rare")
    (0.0, 1.0, 1.0)
    """
    shortlist = model.shortlist(scores, embeddings)
    table = model.state.correction.table
    ids = label_ids(labels, len(shortlist), table.n_classes, table.class_names)
    counts = model.class_counts_
    if class_counts is not None:
        counts = class_vector(class_counts, "class_counts", table.n_classes, table.class_names)
    tried = numeric_array(dials, "dials", 1).astype(np.float64)
    if not len(tried):
        raise InputError("dials is empty; pass at least one dial")
    if not len(ids):
        raise InputError("labels is empty; pass at least one row")
    codes = None if groups is None else check_group_codes(groups, "groups", len(ids))
    plain = hit_rate(model.rerank(shortlist, dial=0.0), ids)
    hits = np.stack([hit_rate(model.rerank(shortlist, dial=float(dial)), ids) for dial in tried])
    return frontier_of_hits(
        tried, hits, plain, stratum_weights(ids, counts, equal_group_weights(len(ids), codes)), codes
    )


def frontier_of_hits(
    dials: FloatArray, hits: FloatArray, plain: FloatArray, weights: dict[str, FloatArray], groups: IntArray | None
) -> Frontier:
    """Return the frontier, given whether each row is right at each dial and at dial 0 (`plain`)."""
    values, errors = {}, {}
    for name, row_weights in weights.items():
        values[name] = np.array([_difference(row, row_weights, groups).gain for row in hits])
        errors[name] = np.array([_difference(row - plain, row_weights, groups).error for row in hits])
    return Frontier(dials, values, errors, hits, weights, groups)


def stratum_weights(ids: IntArray, class_counts: FloatArray, weights: FloatArray) -> dict[str, FloatArray]:
    """Return the weight of each row in each value of the frontier, given its weight in the accuracy."""
    strata, known = strata_of(ids, class_counts), ids >= 0
    mass = np.bincount(ids[known], weights[known], minlength=len(class_counts))
    return {
        "rare": np.where(strata.rare, weights, 0.0),
        "frequent": np.where(strata.frequent, weights, 0.0),
        "accuracy": weights,
        "macro": np.where(known, weights / np.where(mass > 0, mass, 1.0)[ids], 0.0),
    }


def _difference(difference: FloatArray, weights: FloatArray, groups: IntArray | None) -> PairedGain:
    """Return the paired gain over the rows with a positive weight, NaN if there are none."""
    gain = gain_of_weighted_rows(difference, weights, groups)
    return PairedGain(np.nan, np.nan, 1) if isinstance(gain, NotApplicable) else gain
