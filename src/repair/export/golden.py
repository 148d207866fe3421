"""The golden batch: a few rows with the library's own ranking, which a file carries so that it can be checked."""

from __future__ import annotations

import io
import warnings
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, softmax
from repair.data.shortlist import Shortlist
from repair.errors import ArtifactError, InputWarning
from repair.export.plan import Plan
from repair.rerankers.base import ShortlistReranker

__all__ = ["as_text", "from_text", "golden_batch"]

ROWS = 8


def golden_batch(
    model: ShortlistReranker, plan: Plan, settings: Mapping[str, Any], *, inputs: str, dtype: str, logarithm: bool
) -> dict[str, AnyArray]:
    """Return the inputs of some rows and the library's ranking of them, by name.

    Among the rows are equal scores, a row without candidates, and short lists.  Where the scores come from makes no
    difference, because the batch checks the arithmetic and not the accuracy.
    """
    rng = np.random.default_rng(0)
    # Multiples of 1/256, because files with rounder numbers are smaller.
    drawn = np.round(rng.normal(scale=3.0, size=(ROWS, plan.n_classes)) * 256.0) / 256.0
    drawn[1] = np.round(drawn[1])
    drawn[2] = 0.0
    drawn[3, 2:] = drawn[4] = -np.inf
    if logarithm:
        drawn = softmax(drawn)
    given: dict[str, AnyArray] = {"scores": drawn.astype(dtype)}
    if plan.embedding_width is not None:
        given["embeddings"] = rng.normal(size=(ROWS, plan.embedding_width)).astype(np.float32)
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # the scores are unlike those of the calibration rows
        scores: Any = np.log(given["scores"]) if logarithm else given["scores"]
        if inputs == "candidates":
            chosen = Shortlist.from_scores(scores, plan.width)
            given["ids"], given["scores"] = chosen.ids[:, ::-1].astype(np.int64), chosen.scores[:, ::-1].astype(dtype)
            scores = Shortlist(given["ids"], given["scores"], plan.n_classes)
        ranking = _reranked(model, settings).rerank(
            scores, embeddings=given.get("embeddings"), **{k: v for k, v in settings.items() if k != "strength"}
        )
    expected: dict[str, AnyArray] = {
        "ids": ranking.ids,
        "scores": ranking.scores,
        "probabilities": ranking.probabilities,
    }
    return {
        **{f"given_{name}": array for name, array in given.items()},
        **{f"expected_{name}": array for name, array in expected.items()},
    }


def _reranked(model: ShortlistReranker, settings: Mapping[str, Any]) -> ShortlistReranker:
    """Return the model with the strength of the export."""
    strength = settings.get("strength")
    if strength is None:
        return model
    other = model.with_state(model.state)
    other.strength = strength
    return other


def as_text(batch: Mapping[str, AnyArray]) -> str:
    """Return the arrays as text, for the metadata of a file."""
    content = io.BytesIO()
    arrays: Any = dict(batch)
    np.savez_compressed(content, **arrays)
    return b64encode(content.getvalue()).decode("ascii")


def from_text(text: str) -> dict[str, AnyArray]:
    """Return the arrays of a text that `as_text` wrote, or raise an error.

    Examples
    --------
    >>> import numpy as np
    >>> from repair.export.golden import as_text, from_text
    >>> from_text(as_text({"given_scores": np.zeros((1, 2))}))["given_scores"].tolist()
    [[0.0, 0.0]]
    """
    try:
        with np.load(io.BytesIO(b64decode(text, validate=True)), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (ValueError, OSError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ArtifactError(f"the golden batch of this file is damaged ({error}); export the model again") from None
