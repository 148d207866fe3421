"""Scores with their labels and what is known about rows and classes: one set of data, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import AnyArray
from repair.errors import InputError
from repair.named import align_columns
from repair.shortlist import Shortlist

__all__ = ["ScoreSet"]

#: Fields with one entry per row; the others describe classes.
ROW_FIELDS = ("scores", "labels", "groups", "sample_weight", "embeddings")


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """A calibration or test set: what ``fit`` takes, held together.

    Attributes
    ----------
    scores : array_like (n, K) or Shortlist
    labels : array_like (n,)
    class_counts, similarity, class_names, class_groups, weight_norms
        What is known about the classes, as in ``Reranker.fit``; None where nothing is.
    groups, sample_weight, embeddings
        What is known about the rows.
    reference_embeddings, reference_labels
        Further labelled rows for ``mode="extended"``.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import ScoreSet
    >>> rows = ScoreSet(np.eye(3).repeat(2, axis=0), [0, 0, 1, 1, 2, 2], class_counts=[5, 3, 2])
    >>> len(rows), len(rows.take([0, 2, 4]))
    (6, 3)
    """

    scores: ArrayLike | Shortlist
    labels: ArrayLike
    class_counts: Any = None
    similarity: Any = None
    groups: Any = None
    class_names: Any = None
    class_groups: Any = None
    weight_norms: Any = None
    sample_weight: Any = None
    embeddings: Any = None
    reference_embeddings: Any = None
    reference_labels: Any = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.scores)  # type: ignore[arg-type]

    @property
    def known(self) -> dict[str, Any]:
        """Everything but scores and labels, as keywords for ``fit``."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("scores", "labels")}

    def take(self, rows: Sequence[int] | AnyArray) -> ScoreSet:
        """Return some of the rows, in the order given."""
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

    def shortlist(self, n_candidates: int, class_names: Sequence[str] | None = None) -> Shortlist:
        """Return the shortlist; its columns in the order of `class_names`, if both have names."""
        scores = align_columns(self.scores, self.class_names if class_names is None else class_names)
        if isinstance(scores, Shortlist):
            return scores
        if n_candidates < 1:
            raise InputError(f"n_candidates is {n_candidates}; it must be at least 1")
        return Shortlist.from_scores(scores, n_candidates)
