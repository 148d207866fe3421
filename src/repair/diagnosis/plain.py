"""Results as plain data that JSON can hold."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from repair.diagnosis.applicability import NotApplicable
from repair.statistics import PairedGain

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Return dicts, lists, text, numbers, booleans and None; NaN and infinities become None.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.diagnosis import NotApplicable
    >>> from repair.diagnosis.plain import plain
    >>> plain({"gains": np.array([0.5, np.nan]), "quintiles": NotApplicable("12 rare classes")})
    {'gains': [0.5, None], 'quintiles': {'not_applicable': '12 rare classes'}}
    """
    if isinstance(value, NotApplicable):
        return {"not_applicable": value.reason}
    if isinstance(value, PairedGain):
        low, high = value.interval()
        numbers = {"gain": value.gain, "error": value.error, "low": low, "high": high, "p_value": value.p_value()}
        return plain({**numbers, "freedom": value.freedom})
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
