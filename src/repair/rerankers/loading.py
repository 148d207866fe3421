"""``load``: read a model file and return the fitted reranker."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

from repair.errors import InputError
from repair.persistence.model_file import read_model
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.parameters import OPTION_TYPES

__all__ = ["load"]

#: The methods whose models can be loaded, and the module of each, which is imported only if it is needed.
MODULES = {
    "Reranker": "reranker",
    **dict.fromkeys(
        ("Base", "LogitAdjustment", "TauNormalization", "Temperature", "ClasswiseTemperature"), "baselines"
    ),
}


def load(path: str | PathLike[str], *, similarity: Any = None) -> ShortlistReranker:
    """Read a model that was written with ``save``.

    Parameters
    ----------
    path : path
        The model file.
    similarity : callable, optional
        The similarity function, needed if the model was fitted with one, because code is never stored.

    Returns
    -------
    ShortlistReranker
        The fitted `Reranker` or baseline.

    Raises
    ------
    ArtifactError
        If the file is truncated or damaged, is not a model file, or has a newer or older schema than
        this version reads.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from repair import Reranker, load
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 5, size=100)
    >>> scores = rng.normal(size=(100, 5)) + 2.0 * np.eye(5)[labels]
    >>> reranker = Reranker("classwise", n_candidates=3).fit(scores, labels)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.safetensors")
    ...     reranker.save(path)
    ...     again = load(path)
    >>> bool((again.rerank(scores).ids == reranker.rerank(scores).ids).all())
    True
    """
    with read_model(path, similarity) as (stored, refuse):
        if stored.method not in MODULES:
            raise refuse(f"method is {stored.method!r}, which is not a method of this version")
        method = getattr(import_module(f"repair.rerankers.{MODULES[stored.method]}"), stored.method)
        try:
            model: ShortlistReranker = method(
                **{name: _restored(name, value) for name, value in stored.parameters.items()}
            )
            model.check_parameters(stored.state.correction.table)
        except (TypeError, InputError) as error:
            raise refuse(f"the parameters of {stored.method} cannot be used: {error}") from None
        if set(stored.parameters) != set(model.get_params()):
            missing = sorted(set(model.get_params()) - set(stored.parameters))
            raise refuse(f"parameter {missing[0]!r} is missing")
        if not model.can_fit(stored.state.summary.mode):
            raise refuse(f"the mode is {stored.state.summary.mode!r}, which {stored.method} cannot fit")
    return model.with_state(stored.state)


def _restored(name: str, value: Any) -> Any:
    """Return a constructor's argument from its JSON value."""
    if isinstance(value, dict) and name in OPTION_TYPES:
        return OPTION_TYPES[name](**value)
    return tuple(value) if isinstance(value, list) else value
