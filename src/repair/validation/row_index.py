"""Matching the rows of data frames and Series by their index.

A frame of scores that was sorted or shuffled keeps the keys of its rows.  If the labels have the
same keys in another order, a match by position would give every row the label of another one.
"""

from typing import Any

from repair.errors import InputError

__all__ = ["align_rows", "row_index"]


def row_index(values: Any) -> Any:
    """Return the row index of a data frame or Series, or None if it has none or only the default numbers.

    Only pandas has such an index, and this module must not import pandas.  The `index` of a list is
    a method.
    """
    index = getattr(values, "index", None)
    if index is None or callable(index) or not hasattr(values, "iloc") or not hasattr(index, "get_indexer"):
        return None
    is_default = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return None if is_default else index


def align_rows(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that have to be put into another order, in the order of the first one that has an index.

    Fields without an index, or with the default index, are matched by position.

    Parameters
    ----------
    fields : dict from str to anything
        Values with one entry per row, by name.

    Returns
    -------
    dict
        Only the fields that change.

    Examples
    --------
    >>> from repair.validation.row_index import align_rows
    >>> align_rows({"scores": [[1.0, 2.0]], "labels": [0]})
    {}
    """
    indexed = [(name, value, row_index(value)) for name, value in fields.items() if value is not None]
    indexed = [entry for entry in indexed if entry[2] is not None]
    changed: dict[str, Any] = {}
    for name, value, index in indexed[1:]:
        first, _, wanted = indexed[0]
        if not wanted.equals(index):
            changed[name] = value.iloc[_order(index, wanted, name, first)]
    return changed


def _order(index: Any, wanted: Any, name: str, first: str) -> Any:
    """Return where each wanted row is, or raise an error that names the first row that only one of both has."""
    if len(index) != len(wanted):
        raise InputError(f"{name} has {len(index)} rows, but {first} has {len(wanted)}; pass the same rows")
    for keys, owner in ((wanted, first), (index, name)):
        if not keys.is_unique:
            twice = keys[keys.duplicated()][0]
            raise InputError(
                f"{first} and {name} have different indexes, and the index of {owner} repeats {twice!r}, so the rows "
                "cannot be matched; give every row its own key, or match by position with .reset_index(drop=True)"
            )
    order = index.get_indexer(wanted)
    if (order < 0).any():
        missing = wanted[order < 0][0]
        raise InputError(
            f"{first} has a row {missing!r} that {name} does not have; pass the same rows, or match them by position "
            "with .reset_index(drop=True)"
        )
    return order
