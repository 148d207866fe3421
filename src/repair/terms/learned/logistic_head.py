"""Logistic head: logistic regressions of the labels on the embeddings, trained on all labelled rows.

There are two, one in which every row counts the same and one with rare classes upweighted, and the
fit mixes them.  Where the ridge regressions of `repair.terms.learned.head` have to fit every label
equally well, logistic regression concentrates on the rows near a decision boundary.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.data.calibration_set import CalibrationSet
from repair.kernels import best_kernels
from repair.stats.row_weights import renumbered
from repair.terms.learned.cross_fitted_logit import ROWS_PER_BLOCK, SoftmaxRows, cross_fitted
from repair.terms.learned.head import Head, LabelledRows
from repair.terms.options import ExtendedOptions
from repair.terms.registration import register_term

__all__ = ["LogisticHead"]

#: Penalty of both regressions, in rows.
PENALTY = 0.1
#: With more products of rows, classes and numbers per embedding than this, the regressions would take longer than all
#: other terms together.
MOST_PRODUCTS = 1e9


@register_term
@dataclass(frozen=True, eq=False)
class LogisticHead(Head):
    """The candidate's score in logistic regressions on the row's embedding.

    Attributes
    ----------
    matrices : ndarray of float32 (number of regressions, K, d + 1)
        Weights of each regression.  After the fit there is only one, their weighted mean.
    """

    name: str = "logistic_head"
    learns: ClassVar[bool] = True

    @classmethod
    def why_not(cls, rows: CalibrationSet) -> str:
        """Return the reason why the term cannot be learned from these rows, or '' if it can."""
        embeddings, n_classes = rows.shortlist.embeddings, rows.table.n_classes
        assert embeddings is not None
        n_rows = int((rows.labels >= 0).sum())
        if rows.reference is not None:
            n_rows += int((rows.reference.labels >= 0).sum())
        if n_rows * (embeddings.shape[1] + 1) * n_classes > MOST_PRODUCTS:
            return f"{n_rows} rows and {n_classes} classes are too many for it"
        return ""

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Train on all labelled rows, and return the covered rows' columns, each from a fit without the row's fold."""
        labelled = LabelledRows.of(rows)
        features = labelled.features
        moments, directions = _rotate(features)
        n_own = len(labelled.own)
        further = np.arange(n_own, len(labelled.labels))
        groups = None if rows.groups is None else renumbered(rows.groups[labelled.own])
        ids, weightings = rows.shortlist.ids[labelled.own], (labelled.kept.astype(np.float64), labelled.class_weights)

        def train(which: slice) -> tuple[AnyArray, FloatArray]:
            weights = weightings[which.start]
            problem = SoftmaxRows(features, labelled.labels, weights, rows.table.n_classes, PENALTY, None, moments)
            if len(further):  # the reference rows say most, and no fold leaves them out
                problem = replace(problem, start=problem.fit(further)[0])
            return cross_fitted(problem.fit, features[:n_own], ids, groups, further)

        best_kernels()  # load them before several threads do
        matrices, columns = zip(*map_row_blocks(train, [slice(0, 1), slice(1, 2)]), strict=True)
        covered = rows.covered[labelled.own]
        return cls(np.concatenate(matrices) @ directions.T), np.concatenate(columns, axis=2)[covered]


def _rotate(features: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Replace the features by those along their main directions, and return their mean squares and the directions.

    A rotation changes neither the regressions nor their penalty, but the solver needs fewer iterations.
    """
    values, vectors = np.linalg.eigh((features.T @ features).astype(np.float64) / len(features))
    directions = vectors.astype(np.float32)
    for block in row_blocks(len(features), ROWS_PER_BLOCK):
        features[block] = features[block] @ directions
    return np.maximum(values, 0.0), directions
