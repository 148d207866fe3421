"""The plan of an export: everything that a fitted model computes, as arrays and names.

PyTorch, ONNX and SQL are all built from it, so they cannot differ in what they leave out.  What has no plan is
refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import AnyArray
from repair.data.score_scale import TITLES
from repair.errors import InputError, Remedy
from repair.export.term_plans import plan_of_term
from repair.model.adjustments import Adjustments
from repair.model.correction import Correction
from repair.rerankers.base import ShortlistReranker
from repair.validation.checks import check_number

__all__ = ["Plan", "TermPlan", "plan_of"]


@dataclass(frozen=True, eq=False)
class TermPlan:
    """One term with its weight.

    Attributes
    ----------
    name : str
        Name of the term.
    kind : str
        Name of the formula.
    weight : float
    arrays : mapping from str to str
        The name of the constant that holds each array of the formula.
    numbers : mapping
        Numbers and switches of the formula.
    """

    name: str
    kind: str
    weight: float
    arrays: Mapping[str, str]
    numbers: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Plan:
    """What a model computes.

    Attributes
    ----------
    n_classes : int
    width : int
        Number of candidates that are ranked.
    n_candidates : int
        Number of candidates that are returned.
    strength : float
        Share of the correction that is applied.
    constants : dict from str to ndarray
        All arrays by name.  ``offsets``, ``pre_adjustment`` (−τ·log π), ``scale`` and ``list_adjustment`` are there
        only if they have an effect.
    terms : tuple of TermPlan
    adjustments : tuple of str
        Constants with one number per class that are added last: dial, target prior, class costs.
    beliefs : tuple of str or None
        Those that also change the probabilities.  None if the probabilities belong to the scores themselves.
    embedding_width : int or None
        Width of the embeddings, if a term reads them.
    reads_all_scores : str or None
        Name of a term that reads the scores of all classes, if there is one.
    class_names : tuple of str or None
    mode : str
        The mode of the model.
    """

    n_classes: int
    width: int
    n_candidates: int
    strength: float
    constants: dict[str, AnyArray]
    terms: tuple[TermPlan, ...]
    adjustments: tuple[str, ...]
    beliefs: tuple[str, ...] | None
    embedding_width: int | None
    reads_all_scores: str | None
    class_names: tuple[str, ...] | None
    mode: str

    @property
    def cuts(self) -> bool:
        """Whether fewer candidates are returned than are ranked."""
        return self.n_candidates < self.width

    def check_reads_candidates(self) -> None:
        """Raise an error if the model needs the scores of all classes."""
        if self.reads_all_scores is not None:
            raise InputError(
                f"the term {self.reads_all_scores!r} reads the scores of all classes, so the export cannot take "
                "candidates",
                Remedy("export-scores", "export with inputs='scores', or fit a model on shortlists"),
            )
        if self.cuts:
            raise InputError(
                f"the model ranks {self.width} candidates and returns {self.n_candidates}, so the export cannot take "
                "lists of any length",
                Remedy("export-scores", "export with inputs='scores', or fit a model on shortlists"),
            )


def plan_of(
    model: ShortlistReranker,
    *,
    dial: float | str | None = None,
    strength: float | None = None,
    target_prior: ArrayLike | None = None,
    class_costs: ArrayLike | None = None,
) -> Plan:
    """Return the plan of a fitted model.

    Parameters
    ----------
    model : Reranker or baseline
    dial, strength, target_prior, class_costs : optional
        As in `ShortlistReranker.rerank`.  They are fixed in the export.  By default the model's own.

    Returns
    -------
    Plan
    """
    if not isinstance(model, ShortlistReranker):
        raise InputError(f"the model is {type(model).__name__}; pass a fitted Reranker or baseline")
    state = model.state
    if state.scale.converts:
        raise InputError(
            f"the model was fitted on {TITLES[state.scale.kind]}, which it converts before it ranks, and an export "
            "does not convert scores; fit the model on logits or on the logarithm of probabilities"
        )
    correction = state.correction
    if type(correction) is not Correction:
        raise InputError(f"{type(model).__name__} cannot be exported: it ranks all classes by a model of its own")
    share = model.strength_ if strength is None else check_number(strength, "strength", 0.0, 1.0)
    adjustments = state.adjustments(model.dial_ if dial is None else dial, target_prior, class_costs)
    constants = _Constants()
    table = correction.table
    width = min(state.width, table.n_classes)
    if state.list_adjustment is not None:
        constants["list_adjustment"] = state.list_adjustment
    if correction.tau != 0.0:
        constants["pre_adjustment"] = -correction.tau * table.log_prior
    if (correction.scale != 1.0).any():
        constants["scale"] = correction.scale
    if correction.offsets.any():
        constants["offsets"] = correction.offsets
    return Plan(
        n_classes=table.n_classes,
        width=width,
        n_candidates=min(state.n_candidates, width),
        strength=share,
        terms=_terms(correction, constants),
        adjustments=_vectors(adjustments.scaled(share), "", constants, correction),
        beliefs=_beliefs(adjustments, share, constants, correction),
        constants=constants.arrays,
        embedding_width=correction.embedding_width,
        reads_all_scores=next((term.name for term in correction.terms if term.row_width is not None), None),
        class_names=table.class_names,
        mode=model.mode_,
    )


class _Constants:
    """Collects arrays by name.  Equal arrays are kept once, because several terms share a large one."""

    def __init__(self) -> None:
        self.arrays: dict[str, AnyArray] = {}

    def __setitem__(self, name: str, array: AnyArray) -> None:
        self.arrays[name] = np.ascontiguousarray(array)

    def kept(self, name: str, array: AnyArray) -> str:
        """Keep an array and return its name, which is that of an equal array if there is one."""
        for other, known in self.arrays.items():
            if known.dtype == array.dtype and known.shape == array.shape and np.array_equal(known, array):
                return other
        self[name] = array
        return name


def _terms(correction: Correction, constants: _Constants) -> tuple[TermPlan, ...]:
    planned = []
    for term, weight in zip(correction.terms, correction.weights.tolist(), strict=True):
        # Terms of weight 0 are planned, too: an export must not depend on how a fit turned out.
        kind, arrays, numbers = plan_of_term(term, correction.table)
        names = {name: constants.kept(f"{term.name}_{name}", array) for name, array in arrays.items()}
        planned.append(TermPlan(term.name, kind, weight, names, numbers))
    return tuple(planned)


def _beliefs(
    adjustments: Adjustments, strength: float, constants: _Constants, correction: Correction
) -> tuple[str, ...] | None:
    """Return the adjustments of the probabilities, or None if these belong to the final scores."""
    if strength == 1.0 and adjustments.beliefs_only:
        return None
    return _vectors(adjustments.probabilities_only(), "belief_", constants, correction)


def _vectors(adjustments: Adjustments, prefix: str, constants: _Constants, correction: Correction) -> tuple[str, ...]:
    return tuple(constants.kept(prefix + name, vector) for name, vector in adjustments.by_name(correction.table))


def with_float32(plan: Plan) -> Plan:
    """Return the plan with all numbers in float32."""
    arrays = {
        name: array.astype(np.float32) if array.dtype == np.float64 else array for name, array in plan.constants.items()
    }
    return replace(plan, constants=arrays)
