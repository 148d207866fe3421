"""``verify_onnx``: replay the golden batch of an exported file in onnxruntime."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import ArtifactError, MissingExtraError
from repair.export.golden import from_text
from repair.export.names import ABOUT, GOLDEN, LOGITS, RANKED

__all__ = ["Verification", "verify_onnx"]

#: Largest difference that is explained by rounding: learned terms add up in float32.
TOLERANCE = 1e-5
PROVIDERS = ["CPUExecutionProvider"]


@dataclass(frozen=True)
class Verification:
    """The comparison of a file with the library.

    Attributes
    ----------
    rows : int
        Rows of the golden batch.
    changed_rows : int
        Rows on which the order differs although the scores differ by more than the tolerance.
    largest_score_difference, largest_probability_difference : float
        Largest differences, that of scores relative to the largest score of a row if it is above 1.  The second is 0
        if the file returns no probabilities.
    appended : bool
        Whether the file also contains a classifier, which is not part of the comparison.
    """

    rows: int
    changed_rows: int
    largest_score_difference: float
    largest_probability_difference: float
    appended: bool

    @property
    def passed(self) -> bool:
        """Whether the file gives the same ranking."""
        largest = max(self.largest_score_difference, self.largest_probability_difference)
        return self.changed_rows == 0 and largest <= TOLERANCE


def verify_onnx(path: str | PathLike[str]) -> Verification:
    """Replay the golden batch of a file that `to_onnx` wrote, and compare it with the library's ranking.

    Of a file that also contains a classifier, the part behind it is replayed.

    Parameters
    ----------
    path : path

    Returns
    -------
    Verification

    Examples
    --------
    >>> from repair.export import verify_onnx
    >>> verify_onnx("model.onnx").passed  # doctest: +SKIP
    True
    """
    try:
        import onnx
        import onnxruntime
    except ImportError:
        raise MissingExtraError("verifying needs onnx and onnxruntime; pip install 'repair-rerank[onnx]'") from None
    from repair.export.onnx_graph import behind

    name = fspath(path)
    try:
        model = onnx.load(name)
    except OSError:
        raise
    except Exception as error:  # protobuf's own errors have no common base
        raise ArtifactError(f"{name} is not an ONNX file ({error})") from None
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    if GOLDEN not in metadata or ABOUT not in metadata:
        raise ArtifactError(f"{name} has no golden batch; it was not written by repair export")
    batch = from_text(metadata[GOLDEN])
    try:
        about = json.loads(metadata[ABOUT])
        begins, dtype = dict(about["begins"]), str(about["signature"]["dtype"])
        part = behind(model, begins, {name: batch[f"given_{name}"].shape[1] for name in begins}, dtype)
        given = {tensor: batch[f"given_{name}"] for name, tensor in begins.items()}
        session = onnxruntime.InferenceSession(part.SerializeToString(), _quiet(onnxruntime), providers=PROVIDERS)
        outputs = [entry.name for entry in session.get_outputs()]
        results = dict(zip(outputs, session.run(None, given), strict=True))
        return _compared(results, batch, appended=any(key != tensor for key, tensor in begins.items()))
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise ArtifactError(f"the metadata of {name} is damaged ({error}); export the model again") from None


def _quiet(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return options


def _compared(results: dict[str, AnyArray], batch: dict[str, AnyArray], *, appended: bool) -> Verification:
    ids, scores, shares = (batch[f"expected_{part}"] for part in ("ids", "scores", "probabilities"))
    unit = np.maximum(np.abs(np.where(np.isfinite(scores), scores, 0.0)).max(axis=1, initial=0.0), 1.0)[:, None]
    if LOGITS in results:
        logits = results[LOGITS].astype(np.float64)
        expected = _dense(ids, scores, logits.shape[1])
        changed = (np.isneginf(logits) != np.isneginf(expected)).any(axis=1)
        return Verification(len(ids), int(changed.sum()), _largest(logits, expected, unit), 0.0, appended)
    ranked, returned, probabilities = (results[name] for name in RANKED)
    changed = _changed(ranked, ids, scores, TOLERANCE * unit)
    return Verification(
        len(ids),
        int(changed.sum()),
        _largest(returned.astype(np.float64), scores, unit),
        _largest(probabilities.astype(np.float64), shares, np.ones((len(ids), 1))),
        appended,
    )


def _dense(ids: AnyArray, scores: AnyArray, n_classes: int) -> AnyArray:
    logits = np.full((len(ids), n_classes + 1), -np.inf)  # the last column is for padding, −1
    np.put_along_axis(logits, ids.astype(np.int64), scores, axis=1)
    return logits[:, :-1]


def _largest(values: AnyArray, expected: AnyArray, unit: AnyArray) -> float:
    """Return the largest difference, infinite if one of two numbers is finite."""
    equal = values == expected  # also two that are −Inf
    with np.errstate(invalid="ignore"):
        differences = np.where(equal, 0.0, np.abs(values - expected) / unit)
    return float(np.nan_to_num(differences, nan=np.inf).max(initial=0.0))


def _changed(ranked: AnyArray, ids: AnyArray, scores: AnyArray, tolerance: AnyArray) -> AnyArray:
    """Return the rows on which classes changed places although their scores differ, or although they are equal."""
    if ranked.shape != ids.shape:
        return np.ones(len(ids), dtype=bool)
    same = ranked[:, :, None] == ids[:, None, :]
    place = same.argmax(axis=2)
    moved = ranked != ids
    with np.errstate(invalid="ignore"):
        gap = np.abs(np.take_along_axis(scores, place, axis=1) - scores)
    changed: AnyArray = (moved & (~same.any(axis=2) | (gap == 0.0) | ~(gap <= 2.0 * tolerance))).any(axis=1)
    return changed
