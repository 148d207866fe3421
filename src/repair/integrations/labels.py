"""Labels of any kind, and what is given per label or per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray
from repair.errors import InputError

__all__ = ["checked_labels", "classes_of", "in_class_order", "names_of", "per_row"]


def checked_labels(y: Any) -> AnyArray:
    """Return labels as an array, or raise an error unless they are those of one class per row."""
    from sklearn.utils import assert_all_finite
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    labels: AnyArray = column_or_1d(y, warn=True)
    if len(labels) == 0:
        raise InputError("y has no rows; pass at least one row of at least two classes")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    return labels


def classes_of(labels: AnyArray) -> AnyArray:
    """Return the different labels, sorted, or raise an error if there is only one."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise InputError(f"y has 1 class ({classes[0]!r}); reranking needs at least two classes")
    return classes


def names_of(classes: AnyArray) -> list[str] | None:
    """Return the names that a saved reranker needs, None if its ids say as much or a class has an empty name.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.integrations.labels import names_of
    >>> names_of(np.array([10, 20])), names_of(np.array([0, 1]))
    (['10', '20'], None)
    """
    names = [str(label) for label in classes.tolist()]
    return None if "" in names or names == [str(place) for place in range(len(names))] else names


def in_class_order(values: Any, name: str, classes: AnyArray) -> Any:
    """Return a mapping or Series from labels as a list in the order of the classes, anything else unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.integrations.labels import in_class_order
    >>> in_class_order({"lynx": 12, "cat": 900}, "class_counts", np.array(["cat", "lynx"]))
    [900, 12]
    """
    if not isinstance(values, Mapping) and not hasattr(values, "to_dict"):
        return values
    by_label = dict(values) if isinstance(values, Mapping) else values.to_dict()
    labels = classes.tolist()
    wrong = next((label for label in by_label if label not in labels), None)
    missing = next((label for label in labels if label not in by_label), None)
    if wrong is not None:
        raise InputError(f"{name} has an entry for {wrong!r}, which is not one of the {len(labels)} classes")
    if missing is not None:
        raise InputError(f"{name} has no entry for class {missing!r}; every class needs one")
    return [by_label[label] for label in labels]


def per_row(values: ArrayLike | None, labels: AnyArray) -> AnyArray | None:
    """Return values as an array with one entry per label, or raise an error if they are not that."""
    from sklearn.utils.validation import check_consistent_length, column_or_1d

    if values is None:
        return None
    checked: AnyArray = column_or_1d(values)
    check_consistent_length(labels, checked)
    return checked
