"""The calibration set: labelled shortlists with their weights, checked once on the way in."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray, BoolArray, FloatArray, IntArray, dot
from repair.class_table import ClassTable
from repair.errors import InputError, InputWarning, warn_user
from repair.inputs import (
    MISSING,
    are_names,
    as_array,
    check_class_names,
    check_class_vector,
    check_group_codes,
    check_labels,
    check_row_vector,
)
from repair.lazy import lazy
from repair.named import align_columns, align_to_classes, column_names
from repair.priors import LabelShares
from repair.reference import Reference, check_embeddings
from repair.shortlist import Shortlist
from repair.similarity import as_similarity

__all__ = [
    "CalibrationSet",
    "as_shortlist",
    "describe_unknown",
    "effective_number",
    "first_but_never_right",
    "look_like_probabilities",
    "masked_row",
    "tilted_weights",
]

Checked = TypeVar("Checked")

#: Below this coverage labels and columns are probably not in the same order.
LOW_COVERAGE = 1 / 3
#: Fewer covered rows than this teach mostly noise.
FEW_ROWS = 50
#: A class that is first on more rows than this is expected to be right on one of them.
MOST_ROWS = 0.5
#: A row whose scores span this many times the usual holds a mask rather than a score.
WIDE_SPAN = 1000.0


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
    all_scores : ndarray (n, K) or None
        Every class's score, where it is known and a method may want another shortlist.
    reference : Reference or None
        Further labelled rows with embeddings.
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
        embeddings: ArrayLike | None = None,
        reference_embeddings: ArrayLike | None = None,
        reference_labels: ArrayLike | None = None,
        group_weights: bool = True,
    ) -> "CalibrationSet":
        """Check everything a user passes to ``fit`` and put it together."""
        named = column_names(scores) if class_names is None else class_names
        aligned_scores = align_columns(scores, named)
        shortlist = as_shortlist(aligned_scores, n_candidates)
        if embeddings is not None:
            shortlist = shortlist.with_embeddings(embeddings)
        n_rows, n_classes = len(shortlist), shortlist.n_classes
        names = None if named is None else check_class_names(named, n_classes)

        def per_class(values: Any, name: str, *, positive: bool = False) -> FloatArray | None:
            aligned = align_to_classes(values, name, n_classes, names)
            return _checked(check_class_vector, aligned, name, n_classes, positive=positive)

        ids, unknown = check_labels(labels, n_rows, n_classes, names)
        table = ClassTable(
            n_classes,
            class_counts=per_class(class_counts, "class_counts"),
            similarity=None if similarity is None else as_similarity(similarity, n_classes),
            class_names=names,
            weight_norms=per_class(weight_norms, "weight_norms", positive=True),
            class_groups=_checked(
                check_group_codes,
                align_to_classes(class_groups, "class_groups", n_classes, names),
                "class_groups",
                n_classes,
            ),
        )
        codes = _checked(check_group_codes, groups, "groups", n_rows)
        given = _checked(check_row_vector, sample_weight, "sample_weight", n_rows)
        # Only ratios of weights matter; dividing by the largest keeps their products and sums finite.
        importance = np.ones(n_rows) if given is None else given / given.max()
        by_class = per_class(class_weights, "class_weights")
        if by_class is not None:
            importance = importance * np.where(ids >= 0, by_class[ids] / by_class.max(), 1.0)
        if codes is not None and group_weights:
            importance = importance / np.bincount(codes)[codes]
        as_names = are_names(as_array(labels, "labels"))
        dense = None if isinstance(aligned_scores, Shortlist) else as_array(aligned_scores, "scores")
        reference = _check_reference(shortlist, reference_embeddings, reference_labels, names)
        calibration = cls(shortlist, ids, table, importance, codes, unknown, as_names, dense, reference)
        calibration.refuse_hopeless()
        calibration._warn_of_traps()
        return calibration

    def take(self, rows: AnyArray) -> "CalibrationSet":
        """Return some of the rows (indices or a mask) with the weights they have here."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        return replace(
            self,
            shortlist=self.shortlist.take(rows),
            labels=self.labels[rows],
            importance=self.importance[rows],
            groups=None if groups is None else groups.astype(np.int32),
            all_scores=None if self.all_scores is None else self.all_scores[rows],
        )

    @lazy
    def positions(self) -> IntArray:
        """Return the base position of each row's label, −1 if uncovered."""
        return self.shortlist.positions_of(self.labels)

    @lazy
    def covered(self) -> BoolArray:
        """Rows whose label is on the shortlist."""
        return self.positions >= 0

    def effective_rows(self) -> float:
        """How many equally weighted covered rows, or groups, would tell as much."""
        groups = None if self.groups is None else self.groups[self.covered]
        return effective_number(self.importance[self.covered], groups)

    def label_counts(self) -> FloatArray:
        """Rows per class, covered or not."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.table.n_classes).astype(np.float64)

    def label_shares(self, alpha: float) -> LabelShares:
        """Class shares that the fit's weights stand for: what a target prior is measured against.

        Shares of the labels under the weights of the fit, smoothed towards the training shares or
        equal ones.
        """
        labels, importance = self.labels, self.importance
        if labels.min() < 0:
            known = labels >= 0
            labels, importance = labels[known], importance[known]
        rows = len(labels) * tilted_weights(importance, labels, self.table, alpha)
        mass = np.bincount(labels, rows, minlength=self.table.n_classes).astype(np.float64)
        guesses = [np.full(self.table.n_classes, 1.0 / self.table.n_classes)]
        if self.table.class_counts is not None:
            smoothed = self.table.class_counts + 1.0
            guesses.append(smoothed / smoothed.sum())
        return LabelShares(mass, tuple(guesses))

    def refuse_hopeless(self) -> None:
        """Refuse rows from which nothing can be learned."""
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
            raise InputError("all covered rows have weight 0; give at least one a positive weight")
        first = int(self.labels[np.argmax(self.covered)])
        if not (self.covered & (self.labels != first)).any():
            raise InputError(
                f"every covered calibration row has the same label ({self.table.name_of(first)}); "
                "a correction needs rows of at least two classes"
            )

    def _warn_of_traps(self) -> None:
        """Warn of inputs that can be fitted but are probably not what the user meant."""
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
                f"only {n_covered} calibration rows are covered; what is learned from them is mostly noise",
                InputWarning,
            )
        wrong = first_but_never_right(self)
        if wrong is not None:
            warn_user(
                f"class {self.table.name_of(wrong[0])!r} is first on {100 * wrong[1]:.0f} % of the rows "
                "and the label of none; is it a column that holds no scores?",
                InputWarning,
            )
        if (self.shortlist.lengths <= 1).all():
            warn_user("every row has one candidate at most; there is nothing to rerank", InputWarning)
        _warn_of_scale(self.shortlist)


def _check_reference(
    shortlist: Shortlist, embeddings: ArrayLike | None, labels: ArrayLike | None, names: tuple[str, ...] | None
) -> Reference | None:
    """Check the extra labelled rows; they make sense only beside embeddings of the calibration rows."""
    if embeddings is None and labels is None:
        return None
    if embeddings is None or labels is None:
        raise InputError("reference_embeddings and reference_labels belong together; pass both, or neither")
    if shortlist.embeddings is None:
        raise InputError("reference_embeddings need embeddings of the calibration rows too; pass embeddings=…")
    n_rows = as_array(labels, "reference_labels").size
    ids, _ = check_labels(labels, n_rows, shortlist.n_classes, names, name="reference_labels")
    vectors = check_embeddings(embeddings, "reference_embeddings", n_rows, shortlist.embeddings.shape[1])
    return Reference(vectors, ids)


def _warn_of_scale(shortlist: Shortlist) -> None:
    """Warn if the scores look like probabilities, or hold masks that should be −Inf."""
    if look_like_probabilities(shortlist):
        warn_user(
            "the scores look like probabilities (between 0 and 1, adding up to at most 1); "
            "the model adds to scores, so pass logits or np.log of the probabilities",
            InputWarning,
        )
    masked = masked_row(shortlist)
    if masked is not None:
        row, lowest = masked
        warn_user(
            f"row {row} has a candidate with score {lowest:g}, far below the others; "
            "if that means 'not a candidate', use −Inf",
            InputWarning,
        )


def look_like_probabilities(shortlist: Shortlist) -> bool:
    """Say whether all scores lie between 0 and 1 and no row's add up to more than 1."""
    if not len(shortlist) or shortlist.scores[:, 0].max() > 1.0:  # the best come first
        return False
    kept = shortlist.mask
    if not kept.any() or shortlist.scores.min(where=kept, initial=np.inf) < 0.0:
        return False
    return float(shortlist.scores.sum(axis=1, where=kept).max()) <= 1.0 + 1e-3


def masked_row(shortlist: Shortlist) -> tuple[int, float] | None:
    """Return the row whose scores span the most and its lowest score, if that must be a mask."""
    scores, lengths = shortlist.scores, shortlist.lengths
    several = lengths > 1
    lowest = scores[:, -1] if shortlist.is_full else scores[np.arange(len(scores)), lengths - 1]
    span = np.subtract(scores[:, 0], lowest, out=np.zeros(len(scores)), where=several)
    row = int(np.argmax(span))
    if span[row] <= WIDE_SPAN:  # whatever the usual span is; most often so, and the median is spared
        return None
    usual = float(np.median(span[several]))
    if span[row] <= WIDE_SPAN * max(usual, 1.0) and usual <= WIDE_SPAN**2:
        return None
    return row, float(lowest[row])


def first_but_never_right(calibration: CalibrationSet) -> tuple[int, float] | None:
    """Return the class that is first on most rows although none is labelled with it, and on what share."""
    first = calibration.shortlist.ids[:, 0]
    places = np.bincount(first + 1, minlength=calibration.table.n_classes + 1)[1:]  # without the rows that have none
    most = int(np.argmax(places))
    share = float(places[most]) / max(len(first), 1)
    if share <= MOST_ROWS or (calibration.labels == most).any():
        return None
    return most, share


def effective_number(weights: FloatArray, groups: IntArray | None) -> float:
    """Return (Σw)²/Σw², where the rows of one group count as one.

    Rows of a group may be copies of each other; counting each as evidence would let the
    shrinkage trust offsets that one publication or patient decides alone.
    """
    mass: FloatArray = weights if groups is None else np.bincount(groups, weights).astype(np.float64)
    return float(mass.sum() ** 2 / dot(mass, mass))


def tilted_weights(importance: FloatArray, labels: IntArray, table: ClassTable, alpha: float) -> FloatArray:
    """Return row weights w that add up to 1.

    ``(1−α)·v/Σv + α·v·u/Σ(v·u)`` with u = 1/√(count of the true class + 1): α moves weight towards
    rare classes without changing the total.
    """
    plain: FloatArray = importance / importance.sum()
    if alpha == 0.0:
        return plain
    counts = table.counts("alpha (rare-class upweighting)")
    upweighted = importance / np.sqrt(counts[labels] + 1.0)
    tilted: FloatArray = upweighted / upweighted.sum()
    return (1.0 - alpha) * plain + alpha * tilted


def describe_unknown(unknown: dict[str, int]) -> str:
    """Return the sentence about labels that the class table does not have."""
    shown = list(unknown.items())[:5]
    named = ", ".join(f"{name!r} ({rows})" if name != MISSING else f"missing values ({rows})" for name, rows in shown)
    others = " and others" if len(unknown) > 5 else ""
    return (
        f"{sum(unknown.values())} rows have a label that class_names does not list: {named}{others}; "
        "they count as uncovered"
    )
