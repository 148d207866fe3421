"""Converting results to plain data that JSON can represent, and writing it."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["json_text", "plain"]


def json_text(value: Any) -> str:
    """Return plain data as the indented text of a JSON file.  NaN and infinities raise a `ValueError`.

    Examples
    --------
    >>> from repair._utils.json import json_text
    >>> print(json_text({"τ": 0.5}))
    {
     "τ": 0.5
    }
    """
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


def plain(value: Any, *, strict: bool = False) -> Any:
    """Return `value` as dicts, lists, text, numbers, booleans and None.  NaN and infinities become None.

    A dataclass becomes the dict that its ``to_dict`` method returns, or a dict of its fields if it
    has no such method.

    Parameters
    ----------
    value : object
    strict : bool, default False
        What to do with any other type.  By default it is converted to text.  With `strict`, a
        `TypeError` is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from repair._utils.json import plain
    >>> from repair.stats.not_applicable import NotApplicable
    >>> plain({"gains": np.array([0.5, np.nan]), "quintiles": NotApplicable("12 rare classes")})
    {'gains': [0.5, None], 'quintiles': {'not_applicable': '12 rare classes'}}
    """
    if is_dataclass(value) and not isinstance(value, type):
        if hasattr(value, "to_dict"):
            return plain(value.to_dict(), strict=strict)
        return {field.name: plain(getattr(value, field.name), strict=strict) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item, strict=strict) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), strict=strict)
    if isinstance(value, list | tuple):
        return [plain(item, strict=strict) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if strict:
        raise TypeError(f"{value!r} is neither text nor a number")
    return str(value)
