"""The checks of a `Reranker`'s constructor arguments, made when it meets its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from repair.class_table import ClassTable
from repair.decision import LARGEST_DIAL
from repair.errors import InputError
from repair.grid import CRITERIA, RULES, Grid
from repair.inputs import check_choice, check_count, check_number
from repair.terms import choose_terms
from repair.terms.neighbours import INDICES

if TYPE_CHECKING:
    from repair.reranker import Reranker

__all__ = ["LARGEST_PENALTY", "MODES", "check_parameters"]

#: Far beyond any use, and still safe to multiply and square.
LARGEST_PENALTY = 1e50
#: What can be fitted; "auto" chooses among them.
MODES = ("base", "classwise", "pairwise", "pairwise_only", "extended")


def check_parameters(model: Reranker, table: ClassTable) -> None:
    """Refuse arguments that cannot work, alone, together, or with these classes."""
    check_choice(model.mode, "mode", (*MODES, "auto"))
    _check_what_modes_choose(model, table)
    for name in ("lambda_a", "lambda_theta"):
        if getattr(model, name) is not None:
            check_number(getattr(model, name), name, 0.0, LARGEST_PENALTY, open_low=True)
    check_number(model.tol, "tol", 0.0, open_low=True)
    check_count(model.max_iterations, "max_iterations")
    check_choice(model.shrinkage, "shrinkage", (None, False, "eb", "paper"))
    check_choice(model.selection, "selection", (None, "cv", "in_sample", "evidence"))
    check_choice(model.selection_rule, "selection_rule", RULES)
    if not callable(model.criterion):
        check_choice(model.criterion, "criterion", CRITERIA)
    check_count(model.folds, "folds", 2)
    check_count(model.seed, "seed", 0)
    check_choice(model.progress, "progress", (True, False))
    check_choice(model.neighbour_index, "neighbour_index", INDICES)
    Grid.of(model.grid)
    if model._head_loss_rule() is not None:
        table.require("class_counts", "max_head_loss")
    check_count(model.shrinkage_groups, "shrinkage_groups")
    if check_number(model.alpha, "alpha", 0.0, 1.0) > 0:
        table.require("class_counts", "alpha (rare-class upweighting)")
    if check_number(model.tau, "tau", -10.0, 10.0) != 0:
        table.require("class_counts", "tau (the pre-adjustment −τ·log π)")
    if check_number(model.dial, "dial", -LARGEST_DIAL, LARGEST_DIAL) != 0:
        table.require("class_counts", "the dial")
    if not isinstance(model.group_weights, bool):
        raise InputError(f"group_weights is {model.group_weights!r}; choose True or False")
    chosen = choose_terms(model._fixed_terms(), table)
    without = model.mode in ("base", "classwise")
    if without and model.terms is not None and chosen:
        raise InputError(f"mode {model.mode!r} has no terms, but terms={list(model.terms)}; use mode 'pairwise'")
    if not without and not chosen and model.mode != "extended":
        raise InputError(f"mode {model.mode!r} needs at least one term; name some, or use mode 'classwise'")


def _check_what_modes_choose(model: Reranker, table: ClassTable) -> None:
    """Refuse arguments that ``auto`` and ``extended`` choose themselves."""
    if model.mode in ("auto", "extended"):
        neutrals = dict.fromkeys(("alpha", "tau"), 0.0) | dict.fromkeys(
            ("selection", "lambda_a", "lambda_theta", "shrinkage")
        )
        if model.mode == "auto":
            neutrals["dial"] = 0.0
        for name, neutral in neutrals.items():
            if getattr(model, name) != neutral:
                raise InputError(f"mode {model.mode!r} chooses for itself; leave {name} out, or use another mode")
    if model.shortlist_tau is not None:
        if model.mode not in ("auto", "extended"):
            raise InputError(f"mode {model.mode!r} keeps the base's shortlist; leave shortlist_tau out")
        if check_number(model.shortlist_tau, "shortlist_tau", 0.0, 10.0) != 0:
            table.require("class_counts", "shortlist_tau (a list taken by g − τ·log(n+1))")
