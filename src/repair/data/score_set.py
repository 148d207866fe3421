"""The score set: scores with labels and all optional information about rows and classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray
from repair.data.score_scale import LOGITS, SCORE_TYPES, ScoreScale
from repair.data.shortlist import Shortlist
from repair.errors import InputError
from repair.validation.checks import as_array, check_choice
from repair.validation.names import align_columns, column_names
from repair.validation.row_index import align_rows

__all__ = ["CLASS_FIELDS", "EMBEDDING_FIELDS", "ROW_FIELDS", "SHAPES", "ScoreSet", "as_score_set", "on_one_scale"]


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """A calibration or test set: scores, labels, and what is known about rows and classes.

    ``fit``, ``diagnose``, ``compare`` and ``write_report`` take a `ScoreSet`.  ``fit`` and
    ``diagnose`` also accept its fields as keyword arguments.

    Data frames and Series are matched by their index: labels, groups, weights and embeddings are put
    into the order of the scores.  A default index (0, 1, 2, …) is matched by position.

    Parameters
    ----------
    scores : array_like (n, K) or Shortlist
        The frozen classifier's scores g: logits or log-probabilities, or the output of
        ``predict_proba`` (see `score_type`).  A data frame with named columns is matched to the
        classes by name.  Pass a `Shortlist` where only the best candidates of each row are known.
    labels : array_like (n,), optional
        True class ids, or class names if `class_names` is given.  A row whose label is −1, or a
        name that is not a known class, counts as uncovered.
    class_counts : array_like (K,), mapping or Series, optional
        Training examples per class, n.  A mapping or Series is matched by class id or name, as are
        all other class tables.  Pass them if you can: the log-frequency term, the dial and the
        split into rare and frequent classes need them.
    similarity : array_like (K, K), scipy sparse (K, K), or callable, optional
        How alike two classes are.  A callable takes two id arrays and returns one number per pair.
        Pass it if you know it, because the term ``similarity`` needs it.
    groups : array_like (n,), optional
        Group of each row, such as its patient, document or session.  Pass it if rows are not
        independent: folds, subsamples, bootstraps and tests then keep groups whole.
    class_names : sequence of str, int or bool, optional
        One distinct name per class, in the order of the score columns, such as ``classes_`` of a
        scikit-learn classifier.  If these are whole numbers or booleans, labels are such values, too.
        If `scores` is a data frame with named columns, the default is those names.
    class_groups : array_like (K,), optional
        Group of each class, such as its parent in a taxonomy.  Shrinkage pulls class offsets
        towards the mean of their group.  By default all classes are one group.  Pass it if offsets
        within a group should be alike.
    class_weights : array_like (K,), optional
        Weight of each class's rows in the fit.  By default all classes weigh the same.  Use it if
        errors on some classes should count more in the fit.
    weight_norms : array_like (K,), optional
        Norms of the rows of the classifier's weight matrix.  Only `TauNormalization` uses them.
    sample_weight : array_like (n,), optional
        Weight of each row in the fit.  By default all rows weigh the same.  Use it if rows were
        sampled with unequal probability.
    embeddings : array_like (n, d), optional
        One vector per row, such as the classifier's last layer or a sentence embedding.  Only the
        modes ``"extended"`` and ``"auto"`` use them, and ``rerank`` then needs them too.  Pass them if
        they contain information that the scores do not.
    reference_embeddings, reference_labels : array_like (m, d) and (m,), optional
        Further labelled rows for the terms ``neighbours`` and ``head``, usually the training set.
        None of them may belong to a group of the calibration rows.
    equal_group_weight : bool, default True
        Whether each row weighs 1/(group size), so every group counts once.  Set it to False to
        reproduce results in which every row counts once although rows share groups.
    score_type : {None, "logits", "probabilities", "percent", "sigmoid", "distances"}, default None
        What the scores are.  Logits and log-probabilities are used as they are.  Probabilities and
        percentages are replaced by their logarithm, where anything below half of the smallest
        positive value counts as that half, so classes with probability 0 stay candidates.  Sigmoid
        outputs p become log(p/(1−p)), and distances or losses (lower is better) change sign.  By
        default, probabilities and percentages are detected, with a warning.  The model stores the
        type and converts new rows in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import ScoreSet
    >>> rows = ScoreSet(np.eye(3).repeat(2, axis=0), [0, 0, 1, 1, 2, 2], class_counts=[5, 3, 2])
    >>> len(rows), len(rows.take([0, 2, 4]))
    (6, 3)
    """

    # `SHAPES` and the lists of names below it are derived from the metadata: n rows, K classes, m reference rows,
    # embeddings of width d.
    scores: ArrayLike | Shortlist = field(metadata={"shape": "nK"})
    labels: ArrayLike | None = field(default=None, metadata={"shape": "n"})
    class_counts: Any = field(default=None, metadata={"shape": "K"})
    similarity: Any = field(default=None, metadata={"shape": "KK"})
    groups: Any = field(default=None, metadata={"shape": "n"})
    class_names: Any = field(default=None, metadata={"shape": "K"})
    class_groups: Any = field(default=None, metadata={"shape": "K"})
    class_weights: Any = field(default=None, metadata={"shape": "K"})
    weight_norms: Any = field(default=None, metadata={"shape": "K"})
    sample_weight: Any = field(default=None, metadata={"shape": "n"})
    embeddings: Any = field(default=None, metadata={"shape": "nd"})
    reference_embeddings: Any = field(default=None, metadata={"shape": "md"})
    reference_labels: Any = field(default=None, metadata={"shape": "m"})
    equal_group_weight: bool = True
    score_type: str | None = None

    def __post_init__(self) -> None:
        check_choice(self.equal_group_weight, "equal_group_weight", (True, False))
        check_choice(self.score_type, "score_type", (None, *SCORE_TYPES))
        for name, value in align_rows({name: getattr(self, name) for name in ROW_FIELDS}).items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.scores)  # type: ignore[arg-type]

    @property
    def optional_fields(self) -> dict[str, Any]:
        """All fields except scores and labels, by name."""
        names = (entry.name for entry in fields(self))
        return {name: getattr(self, name) for name in names if name not in ("scores", "labels")}

    def take(self, rows: Sequence[int] | AnyArray) -> ScoreSet:
        """Return some of the rows.

        Parameters
        ----------
        rows : array_like of int or bool
            Indices, whose order is kept, or a boolean mask.

        Returns
        -------
        ScoreSet
        """
        which = np.asarray(rows)
        if which.dtype == bool:
            which = np.flatnonzero(which)
        changed: dict[str, Any] = {}
        for name in ROW_FIELDS:
            value = getattr(self, name)
            if isinstance(value, Shortlist):
                changed[name] = value.take(which)
            elif hasattr(value, "iloc"):
                changed[name] = value.iloc[which]
            elif value is not None:
                changed[name] = np.asarray(value)[which]
        return replace(self, **changed)

    def shortlist(
        self, n_candidates: int, class_names: Sequence[str] | None = None, scale: ScoreScale | None = None
    ) -> Shortlist:
        """Return the shortlist of the scores.

        Parameters
        ----------
        n_candidates : int
            Largest number of candidates per row.
        class_names : sequence of str, optional
            Classes in the order that the ids of the shortlist refer to.  The columns of a data
            frame are matched to them by name.  Defaults to the names of this score set.
        scale : ScoreScale, optional
            How the scores are converted, usually that of a model.  Defaults to the scale of this score
            set, which is detected if `score_type` is None.

        Returns
        -------
        Shortlist
        """
        return self.on_log_scale(scale, class_names).given_shortlist(n_candidates)

    def given_shortlist(self, n_candidates: int) -> Shortlist:
        """Return the shortlist of scores that need no conversion."""
        if isinstance(self.scores, Shortlist):
            return self.scores.first(n_candidates)
        return Shortlist.from_scores(self.scores, n_candidates)

    def on_log_scale(self, scale: ScoreScale | None = None, class_names: Sequence[str] | None = None) -> ScoreSet:
        """Return the rows with scores that need no conversion: logits or logarithms of probabilities.

        Parameters
        ----------
        scale : ScoreScale, optional
            How the scores are converted, usually that of a model.  By default as `score_type` says, or
            as detected.  If `score_type` is given, it must be that of the scale, or ``"logits"`` for
            scores that were converted before.
        class_names : sequence of str, optional
            As in `shortlist`.

        Returns
        -------
        ScoreSet
        """
        names = column_names(self.scores) if self.class_names is None else self.class_names
        names = names if class_names is None else class_names
        scores = align_columns(self.scores, names)
        if not isinstance(scores, Shortlist):
            scores = as_array(scores, "scores")
        chosen = ScoreScale.of(scores, self.score_type) if scale is None else scale.checked(self.score_type)
        return replace(self, scores=chosen.apply(scores), class_names=names, score_type=LOGITS)


#: Shape of each array of a score set, one letter per dimension: "nK" is an array (n, K).
SHAPES: dict[str, str] = {
    entry.name: entry.metadata["shape"] for entry in fields(ScoreSet) if "shape" in entry.metadata
}
#: Fields with one entry per row.
ROW_FIELDS = tuple(name for name, shape in SHAPES.items() if shape[0] == "n")
#: Fields with one entry per class.
CLASS_FIELDS = tuple(name for name, shape in SHAPES.items() if shape[0] == "K")
#: Fields that only models with embeddings use.
EMBEDDING_FIELDS = tuple(name for name, shape in SHAPES.items() if "d" in shape or "m" in shape)


def on_one_scale(calibration: ScoreSet, *others: ScoreSet) -> tuple[ScoreSet, ...]:
    """Return rows with scores that need no conversion, all converted as the calibration scores are.

    Examples
    --------
    >>> from repair import ScoreSet
    >>> from repair.data.score_set import on_one_scale
    >>> first, second = on_one_scale(ScoreSet([[0.5, 0.5]], [0]), ScoreSet([[1.0, 0.0]], [0]))
    >>> np.exp(second.scores).tolist()
    [[1.0, 0.25]]
    """
    names = column_names(calibration.scores) if calibration.class_names is None else calibration.class_names
    scores = align_columns(calibration.scores, names)
    scale = ScoreScale.of(
        scores if isinstance(scores, Shortlist) else as_array(scores, "scores"), calibration.score_type
    )
    return tuple(rows.on_log_scale(scale, names) for rows in (calibration, *others))


def as_score_set(scores: Any, labels: Any, others: dict[str, Any]) -> ScoreSet:
    """Return the arguments of ``fit`` and similar functions as a `ScoreSet`.

    Parameters
    ----------
    scores : ScoreSet, array_like or Shortlist
        A `ScoreSet` is returned unchanged.
    labels : array_like or None
    others : dict
        The other fields by name.

    Returns
    -------
    ScoreSet

    Examples
    --------
    >>> from repair.data.score_set import as_score_set
    >>> as_score_set([[1.0, 0.0]], [0], {"class_counts": [9, 1]}).class_counts
    [9, 1]
    """
    if isinstance(scores, ScoreSet):
        extra = next((name for name, value in {"labels": labels, **others}.items() if value is not None), None)
        if extra is not None:
            raise InputError(
                f"{extra} was passed together with a ScoreSet; put it into the ScoreSet (dataclasses.replace)"
            )
        return scores
    names = [entry.name for entry in fields(ScoreSet)][2:]
    unknown = next((name for name in others if name not in names), None)
    if unknown is not None:
        raise TypeError(
            f"there is no argument {unknown!r}; the arguments about rows and classes are {', '.join(names)}"
        )
    return ScoreSet(scores, labels, **others)
