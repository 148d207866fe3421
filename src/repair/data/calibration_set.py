"""The calibration set: labelled shortlists with their weights, validated once when it is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from repair._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from repair._utils.lazy import lazy
from repair.data.class_order import order_problems
from repair.data.class_table import ClassTable
from repair.data.embeddings import Reference, check_embeddings
from repair.data.score_scale import AS_THEY_ARE, PERCENT, SIGMOID, TITLES, ScoreScale, between_0_and_1
from repair.data.score_set import ScoreSet
from repair.data.shortlist import Shortlist
from repair.data.suspicious_inputs import (
    LOW_COVERAGE,
    describe_unknown,
    first_but_never_right,
    masked_row,
)
from repair.errors import InputError, InputWarning, pass_to_fit, warn_user
from repair.similarity import as_similarity
from repair.stats.label_shares import LabelShares
from repair.stats.row_weights import effective_number, renumbered, rows_in_own_group, tilted_weights
from repair.validation.checks import (
    ValueNames,
    are_names,
    as_array,
    check_class_names,
    check_count,
    check_group_codes,
    check_labels,
    check_row_vector,
)
from repair.validation.names import align_columns, align_to_classes, class_vector, column_names

__all__ = ["CalibrationSet"]

Checked = TypeVar("Checked")

#: With fewer covered rows than this, a fit learns mostly noise.
FEW_ROWS = 50


@dataclass(frozen=True, eq=False)
class CalibrationSet:
    """Shortlists, labels and weights to fit on.

    Attributes
    ----------
    shortlist : Shortlist
        The candidates of each row.
    labels : ndarray of int32, shape (n,)
        Class ids, −1 for a label that is not a known class (an uncovered row).
    table : ClassTable
        The class-level inputs.
    importance : ndarray, shape (n,)
        Row weights, v in the documentation: sample weight × class weight ÷ group size.
    groups : ndarray of int32 or None
        Group codes of the rows.
    unknown_labels : dict
        Label names that are not known classes, with their number of rows.
    labels_are_names : bool
        Whether labels were given as names.  Predictions are then names too.
    all_scores : ndarray (n, K) or None
        The scores of all classes, if they were given.  A method can then choose other shortlists.
    reference : Reference or None
        Further labelled rows with embeddings.
    scale : ScoreScale
        How the scores were converted.  `shortlist` and `all_scores` contain converted scores.
    """

    shortlist: Shortlist
    labels: IntArray
    table: ClassTable
    importance: FloatArray
    groups: IntArray | None
    unknown_labels: dict[str, int]
    labels_are_names: bool
    all_scores: AnyArray | None = None
    reference: Reference | None = None
    scale: ScoreScale = AS_THEY_ARE

    @classmethod
    def build(cls, rows: ScoreSet, n_candidates: int) -> CalibrationSet:
        """Validate everything that was passed to ``fit`` and build the calibration set."""
        if rows.labels is None:
            raise InputError("there are no labels; pass the true class of each row")
        named = column_names(rows.scores) if rows.class_names is None else rows.class_names
        given = align_columns(rows.scores, named)
        if not isinstance(given, Shortlist):
            given = as_array(given, "scores")
        scale = ScoreScale.of(given, rows.score_type)
        if rows.score_type is None:
            _warn_of_type(given, scale)
        scores = scale.apply(given)
        shortlist = _shortlist(scores, n_candidates)
        if rows.embeddings is not None:
            shortlist = shortlist.with_embeddings(rows.embeddings)
        names = None if named is None else check_class_names(named, shortlist.n_classes)
        labels, unknown = check_labels(rows.labels, len(shortlist), shortlist.n_classes, names)
        table = _class_table(rows, shortlist.n_classes, names)
        groups = _checked(check_group_codes, rows.groups, "groups", len(shortlist))
        calibration = cls(
            shortlist,
            labels,
            table,
            _importance(rows, labels, table, groups),
            groups,
            unknown,
            isinstance(names, ValueNames) or are_names(as_array(rows.labels, "labels")),
            None if isinstance(scores, Shortlist) else scores,
            _check_reference(rows, shortlist, names),
            scale,
        )
        calibration.check_learnable()
        calibration._warn_suspicious()
        return calibration

    def take(self, rows: AnyArray) -> CalibrationSet:
        """Return some of the rows, given as indices or a mask.  Their weights are not recomputed."""
        return replace(
            self,
            shortlist=self.shortlist.take(rows),
            labels=self.labels[rows],
            importance=self.importance[rows],
            groups=None if self.groups is None else renumbered(self.groups[rows]),
            all_scores=None if self.all_scores is None else self.all_scores[rows],
        )

    def has(self, field: str) -> bool:
        """Return whether a field that a term may require was given."""
        if field == "embeddings":
            return self.shortlist.embeddings is not None
        return getattr(self.table, field) is not None

    def require(self, field: str, purpose: str) -> None:
        """Raise an error, which says what the field is needed for, unless the field was given."""
        if not self.has(field):
            raise InputError(f"{purpose} needs {field}", pass_to_fit(field))

    @lazy
    def positions(self) -> IntArray:
        """Return the base position of each row's label, −1 if uncovered."""
        return self.shortlist.positions_of(self.labels)

    @lazy
    def covered(self) -> BoolArray:
        """Rows whose label is on the shortlist."""
        return self.positions >= 0

    def effective_rows(self) -> float:
        """Return the effective number of covered rows, or of groups if there are any."""
        groups = None if self.groups is None else self.groups[self.covered]
        return effective_number(self.importance[self.covered], groups)

    def label_counts(self) -> FloatArray:
        """Return the number of rows per class, covered and uncovered."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.table.n_classes).astype(np.float64)

    @property
    def class_counts(self) -> FloatArray:
        """The training counts if they were given, else the label counts.  They define rare and frequent classes."""
        counts = self.table.class_counts
        return self.label_counts() if counts is None else counts

    def label_shares(self, alpha: float) -> LabelShares:
        """Return the class shares under the weights of the fit, to which a target prior is compared.

        They are smoothed towards the training shares or towards equal shares.
        """
        labels, importance = self.labels, self.importance
        if labels.min() < 0:
            known = labels >= 0
            labels, importance = labels[known], importance[known]
        rows = len(labels) * tilted_weights(importance, labels, self.table.class_counts, alpha)
        mass = np.bincount(labels, rows, minlength=self.table.n_classes).astype(np.float64)
        guesses = [np.full(self.table.n_classes, 1.0 / self.table.n_classes)]
        if self.table.class_counts is not None:
            smoothed = self.table.class_counts + 1.0
            guesses.append(smoothed / smoothed.sum())
        return LabelShares(mass, tuple(guesses))

    def check_learnable(self) -> None:
        """Raise an error if nothing can be learned from the rows."""
        if not self.covered.any():
            if self.unknown_labels and (self.labels < 0).all():
                example = next(iter(self.unknown_labels))
                raise InputError(
                    f"none of the labels (such as {example!r}) is among class_names "
                    f"(such as {self.table.name_of(0)!r}); check their spelling"
                )
            raise InputError(
                f"none of the {len(self.labels)} calibration rows has its label on the shortlist; "
                "use more candidates, or check that labels and score columns are in the same class order"
            )
        if not (self.covered & (self.importance > 0)).any():
            raise InputError("all covered rows have weight 0; give at least one of them a positive weight")
        first = int(self.labels[np.argmax(self.covered)])
        if not (self.covered & (self.labels != first)).any():
            raise InputError(
                f"every covered calibration row has the same label ({self.table.name_of(first)}); "
                "a correction needs rows of at least two classes"
            )

    def order_problems(self) -> tuple[str | None, str | None, str | None]:
        """Return what is wrong with the order of labels, the direction of scores and the order of class counts."""
        return order_problems(self.shortlist, self.labels, self.table, self.label_counts(), self.all_scores)

    def _warn_suspicious(self) -> None:
        """Warn about inputs that can be fitted but are probably not what was meant."""
        if self.unknown_labels:
            warn_user(describe_unknown(self.unknown_labels), InputWarning)
        share, n_covered = float(self.covered.mean()), int(self.covered.sum())
        if share < LOW_COVERAGE:
            warn_user(
                f"only {100 * share:.1f} % of the calibration rows have their label on the shortlist; "
                "check that labels and score columns are in the same class order, or use more candidates",
                InputWarning,
            )
        if n_covered < FEW_ROWS:
            warn_user(
                f"only {n_covered} calibration rows are covered; a fit on so few rows is mostly noise; label more rows",
                InputWarning,
            )
        wrong = first_but_never_right(self.shortlist, self.labels)
        if wrong is not None:
            warn_user(
                f"class {self.table.name_of(wrong[0])!r} is first on {100 * wrong[1]:.0f} % of the rows "
                "and is never the label; remove it if it is not a column of scores",
                InputWarning,
            )
        for problem in self.order_problems():
            if problem is not None:
                warn_user(problem, InputWarning)
        if (self.shortlist.lengths <= 1).all():
            warn_user("every row has at most one candidate; there is nothing to rerank", InputWarning)
        _warn_of_masks(self.shortlist)


def _checked(check: Callable[..., Checked], value: Any, *details: Any, **options: Any) -> Checked | None:
    """Apply a check to an optional argument."""
    return None if value is None else check(value, *details, **options)


def _class_table(rows: ScoreSet, n_classes: int, names: tuple[str, ...] | None) -> ClassTable:
    """Validate the class-level inputs, matched to the classes by name where they have names."""

    def per_class(name: str, *, positive: bool = False) -> FloatArray | None:
        return _checked(class_vector, getattr(rows, name), name, n_classes, names, positive=positive)

    class_groups = align_to_classes(rows.class_groups, "class_groups", n_classes, names)
    return ClassTable(
        n_classes,
        class_counts=per_class("class_counts"),
        similarity=None if rows.similarity is None else as_similarity(rows.similarity, n_classes),
        class_names=names,
        weight_norms=per_class("weight_norms", positive=True),
        class_groups=_checked(check_group_codes, class_groups, "class_groups", n_classes),
        class_weights=per_class("class_weights"),
    )


def _importance(rows: ScoreSet, labels: IntArray, table: ClassTable, groups: IntArray | None) -> FloatArray:
    """Return v: sample weight × class weight ÷ group size."""
    weights = _checked(check_row_vector, rows.sample_weight, "sample_weight", len(labels))
    # Only ratios of weights matter.  Dividing by the largest keeps their products and sums finite.
    importance = np.ones(len(labels)) if weights is None else weights / weights.max()
    by_class = table.class_weights
    if by_class is not None:
        importance = importance * np.where(labels >= 0, by_class[labels] / by_class.max(), 1.0)
    if groups is not None and rows.equal_group_weight:
        importance = importance / rows_in_own_group(groups)
    return importance


def _check_reference(rows: ScoreSet, shortlist: Shortlist, names: tuple[str, ...] | None) -> Reference | None:
    """Validate the reference rows.  They can be used only if the calibration rows have embeddings too."""
    embeddings, labels = rows.reference_embeddings, rows.reference_labels
    if embeddings is None and labels is None:
        return None
    if embeddings is None or labels is None:
        raise InputError("reference_embeddings and reference_labels belong together; pass both or neither")
    if shortlist.embeddings is None:
        problem = "reference_embeddings was passed without embeddings of the calibration rows"
        raise InputError(problem, pass_to_fit("embeddings"))
    n_rows = as_array(labels, "reference_labels").size
    ids, _ = check_labels(labels, n_rows, shortlist.n_classes, names, name="reference_labels")
    vectors = check_embeddings(embeddings, "reference_embeddings", n_rows, shortlist.embeddings.shape[1])
    return Reference(vectors, ids)


def _shortlist(scores: AnyArray | Shortlist, n_candidates: int) -> Shortlist:
    """Return the shortlists of converted scores.  Longer lists are cut, with a warning."""
    if not isinstance(scores, Shortlist):
        return Shortlist.from_scores(scores, n_candidates).as_converted()
    check_count(n_candidates, "n_candidates")
    if scores.n_candidates > n_candidates:
        warn_user(
            f"rows have up to {scores.n_candidates} candidates; the best {n_candidates} of each row are used, "
            "raise n_candidates to use more",
            InputWarning,
        )
    return scores.first(n_candidates)


def _warn_of_type(scores: AnyArray | Shortlist, scale: ScoreScale) -> None:
    """Say which type of scores was detected, or that there may be a conversion that the user should ask for."""
    if scale.converts:
        values = scores.scores[scores.mask] if isinstance(scores, Shortlist) else scores[~np.isneginf(scores)]
        factor = 100.0 if scale.kind == PERCENT else 1.0
        low = float((values < factor * scale.floor).mean())
        floored = f" ({100 * low:.2g} % of them, those below {scale.floor:.2g}, count as {scale.floor:.2g})"
        warn_user(
            f"the scores look like {TITLES[scale.kind]}, so their logarithm is used{floored if low else ''}; "
            f"say score_type='{scale.kind}' if that is right, or 'logits' to use the scores as they are",
            InputWarning,
        )
    elif not (isinstance(scores, Shortlist) and scores.converted) and between_0_and_1(scores):
        warn_user(
            "all scores lie between 0 and 1, but do not add up to 1, and are used as they are; say "
            f"score_type='{SIGMOID}' if they are outputs of sigmoids, or 'logits' if they are right as they are",
            InputWarning,
        )


def _warn_of_masks(shortlist: Shortlist) -> None:
    masked = masked_row(shortlist)
    if masked is not None:
        row, lowest = masked
        warn_user(
            f"row {row} has a candidate with score {lowest:g}, far below the others; "
            "if that means 'not a candidate', use −Inf",
            InputWarning,
        )
