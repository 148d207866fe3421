"""The calibration set: labelled shortlists with their weights, checked once on the way in."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import BoolArray, FloatArray, IntArray
from repair.class_table import ClassTable
from repair.errors import InputError, InputWarning
from repair.inputs import (
    as_array,
    check_class_names,
    check_class_vector,
    check_group_codes,
    check_labels,
    check_row_vector,
)
from repair.shortlist import Shortlist
from repair.similarity import as_similarity

__all__ = ["CalibrationSet", "as_shortlist"]

Checked = TypeVar("Checked")


def as_shortlist(scores: "ArrayLike | Shortlist", n_candidates: int) -> Shortlist:
    """Turn what a user calls scores into a shortlist; a `Shortlist` is used as it is."""
    return scores if isinstance(scores, Shortlist) else Shortlist.from_scores(scores, n_candidates)


def _checked(check: Callable[..., Checked], value: Any, *details: Any, **options: Any) -> Checked | None:
    """Apply a check to an optional argument."""
    return None if value is None else check(value, *details, **options)


@dataclass(frozen=True, eq=False)
class CalibrationSet:
    """Shortlists, labels and weights to fit on.

    Attributes
    ----------
    shortlist : Shortlist
    labels : ndarray of int32, shape (n,)
        Class ids; −1 for a label the class table does not have (an uncovered row).
    table : ClassTable
    importance : ndarray, shape (n,)
        v in the documentation: sample weight × class weight ÷ group size.
    groups : ndarray of int32 or None
        Codes of the groups that rows share.
    unknown_labels : dict
        Label names the class table does not have, with their row counts.
    labels_are_names : bool
        Whether labels came as names, so that predictions should too.
    """

    shortlist: Shortlist
    labels: IntArray
    table: ClassTable
    importance: FloatArray
    groups: IntArray | None
    unknown_labels: dict[str, int]
    labels_are_names: bool

    @classmethod
    def build(
        cls,
        scores: "ArrayLike | Shortlist",
        labels: ArrayLike,
        n_candidates: int,
        *,
        class_counts: ArrayLike | None = None,
        similarity: Any = None,
        groups: Any = None,
        class_names: Any = None,
        class_weights: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        class_groups: Any = None,
        weight_norms: ArrayLike | None = None,
        group_weights: bool = True,
    ) -> "CalibrationSet":
        """Check everything a user passes to ``fit`` and put it together."""
        shortlist = as_shortlist(scores, n_candidates)
        n_rows, n_classes = len(shortlist), shortlist.n_classes
        names = None if class_names is None else check_class_names(class_names, n_classes)
        ids, unknown = check_labels(labels, n_rows, n_classes, names)
        table = ClassTable(
            n_classes,
            class_counts=_checked(check_class_vector, class_counts, "class_counts", n_classes),
            similarity=None if similarity is None else as_similarity(similarity, n_classes),
            class_names=names,
            weight_norms=_checked(check_class_vector, weight_norms, "weight_norms", n_classes, positive=True),
            class_groups=_checked(check_group_codes, class_groups, "class_groups", n_classes),
        )
        codes = _checked(check_group_codes, groups, "groups", n_rows)
        given = _checked(check_row_vector, sample_weight, "sample_weight", n_rows)
        importance = np.ones(n_rows) if given is None else given
        by_class = _checked(check_class_vector, class_weights, "class_weights", n_classes)
        if by_class is not None:
            importance = importance * np.where(ids >= 0, by_class[ids], 1.0)
        if codes is not None and group_weights:
            importance = importance / np.bincount(codes)[codes]
        calibration = cls(
            shortlist, ids, table, importance, codes, unknown, as_array(labels, "labels").dtype.kind in "OUST"
        )
        calibration._refuse_hopeless()
        return calibration

    @cached_property
    def positions(self) -> IntArray:
        """Base position of each row's label, −1 if uncovered."""
        return self.shortlist.positions_of(self.labels)

    @cached_property
    def covered(self) -> BoolArray:
        """Rows whose label is on the shortlist."""
        return self.positions >= 0

    def row_weights(self, alpha: float) -> FloatArray:
        """Weights w of the covered rows, adding up to 1.

        ``(1−α)·v/Σv + α·v·u/Σ(v·u)`` with u = 1/√(count of the true class + 1): α moves weight
        towards rare classes without changing the total.
        """
        importance = self.importance[self.covered]
        plain: FloatArray = importance / importance.sum()
        if alpha == 0.0:
            return plain
        counts = self.table.counts("alpha (rare-class upweighting)")
        upweighted = importance / np.sqrt(counts[self.labels[self.covered]] + 1.0)
        tilted: FloatArray = upweighted / upweighted.sum()
        return (1.0 - alpha) * plain + alpha * tilted

    def label_counts(self) -> FloatArray:
        """Rows per class, covered or not."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.table.n_classes).astype(np.float64)

    def label_prior(self) -> FloatArray:
        """Weighted share of each class among the labels, smoothed by one row per class."""
        known = self.labels >= 0
        importance = self.importance[known]
        mass = np.bincount(self.labels[known], importance / importance.mean(), minlength=self.table.n_classes) + 1.0
        prior: FloatArray = mass / mass.sum()
        return prior

    def _refuse_hopeless(self) -> None:
        if self.unknown_labels:
            named = ", ".join(f"{name!r} ({rows})" for name, rows in list(self.unknown_labels.items())[:5])
            warnings.warn(
                f"{sum(self.unknown_labels.values())} rows have a label that class_names does not list: {named}"
                f"{' and others' if len(self.unknown_labels) > 5 else ''}; they count as uncovered",
                InputWarning,
                stacklevel=4,
            )
        if not self.covered.any():
            raise InputError(
                f"none of the {len(self.labels)} calibration rows has its label on the shortlist; "
                "use more candidates, or check that labels and score columns are in the same class order"
            )
        if self.importance[self.covered].sum() == 0:
            raise InputError("all covered rows have weight 0; give at least one a positive weight")
        seen = np.unique(self.labels[self.covered])
        if len(seen) == 1:
            raise InputError(
                f"every covered calibration row has the same label ({self.table.name_of(int(seen[0]))}); "
                "a correction needs rows of at least two classes"
            )
