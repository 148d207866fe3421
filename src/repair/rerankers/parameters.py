"""The parameters of a `Reranker`: their validation, the plan for the fit, and how a choice replaces them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from repair.data.class_table import ClassTable
from repair.errors import InputError, InputWarning, Remedy, drop_parameter, warn_user
from repair.fitting.settings import USUAL_PENALTY, FitSettings, ShrinkageOptions
from repair.fitting.shrinkage import shrinkage_groups
from repair.model.adjustments import MACRO, check_dial
from repair.model.choice import Choice
from repair.rerankers.modes import MODES, FitPlan, Mode
from repair.terms.options import ExtendedOptions
from repair.terms.registry import choose_fixed_terms, split_names
from repair.tuning.options import GridSearch, HeadLossLimit
from repair.validation.checks import check_choice, check_count, check_number

__all__ = ["LARGEST_PENALTY", "OPTION_TYPES", "Parameters", "with_choice"]

#: Largest penalty.  It is far larger than any useful one, and can still be multiplied and squared without overflow.
LARGEST_PENALTY = 1e50
#: Parameters that can be option objects, and the types of these objects.
OPTION_TYPES: dict[str, type] = {
    "tuning": GridSearch,
    "head_loss": HeadLossLimit,
    "extended": ExtendedOptions,
    "shrinkage": ShrinkageOptions,
}
#: The grid searches that have short names.  "evidence" and None do not search a grid.
SEARCHES = {"cv": GridSearch(), "in_sample": GridSearch(cv="in_sample")}
#: Parameters that a grid search or the marginal likelihood sets.
HYPERPARAMETERS = ("tau", "alpha", "lambda_a", "lambda_theta", "shrinkage")

SAME_COLUMN = (
    "score_gap and log_prob_ratio are the same column, so they were fitted as one; "
    "the weight of score_gap is the sum of both"
)


@dataclass(frozen=True, eq=False)
class Parameters:
    """The constructor's arguments, validated and converted to the types that the fit uses."""

    mode: Mode
    n_candidates: int
    term_names: tuple[str, ...] | None
    lambda_a: float | None
    lambda_theta: float | None
    alpha: float
    tau: float
    shrinkage: ShrinkageOptions | bool | None
    tuning: GridSearch | str | None
    head_loss: HeadLossLimit | None
    extended: ExtendedOptions | None
    dial: float | str | None
    strength: float | None
    random_state: int
    tol: float
    max_iter: int
    given: Mapping[str, Any]

    @classmethod
    def checked(cls, given: Mapping[str, Any]) -> Parameters:
        """Validate the arguments, each of them and their combinations.  `plan` checks what depends on the classes."""
        check_choice(given["mode"], "mode", tuple(MODES))
        mode, tuning = MODES[given["mode"]], _tuning(given["tuning"])
        head_loss, strength = _head_loss(given["head_loss"]), _number(given, "strength", 0.0, 1.0)
        _check_not_chosen_by(mode, given)
        _check_not_searched(tuning, given)
        if head_loss is not None and strength is not None:
            raise InputError(f"strength is {strength:g}, but head_loss chooses the strength; leave one of them out")
        if given["extended"] is not None:
            if not mode.uses_all_scores:
                raise InputError(f"mode {mode.name!r} does not use extended", drop_parameter("extended", "extended"))
            _check_type(given["extended"], "extended", ExtendedOptions)
        return cls(
            mode=mode,
            n_candidates=check_count(given["n_candidates"], "n_candidates"),
            term_names=_names(given["terms"]),
            lambda_a=_penalty(given, "lambda_a"),
            lambda_theta=_penalty(given, "lambda_theta"),
            alpha=check_number(given["alpha"], "alpha", 0.0, 1.0),
            tau=check_number(given["tau"], "tau", -10.0, 10.0),
            shrinkage=_shrinkage(given["shrinkage"]),
            tuning=tuning,
            head_loss=head_loss,
            extended=given["extended"],
            dial=None if given["dial"] is None else check_dial(given["dial"]),
            strength=strength,
            random_state=check_count(given["random_state"], "random_state", 0),
            tol=check_number(given["tol"], "tol", 0.0, open_low=True),
            max_iter=check_count(given["max_iter"], "max_iter"),
            given=given,
        )

    def plan(self, table: ClassTable) -> FitPlan:
        """Return the plan for a fit with these classes, or raise an error if such a fit is impossible."""
        self._require_counts(table)
        fixed, learned = split_names(self.term_names)
        terms = () if not self.mode.takes_terms else choose_fixed_terms(self._fixed_names(fixed, learned), table)
        if self.mode.needs_terms and not terms:
            raise InputError(
                f"mode {self.mode.name!r} needs at least one term",
                Remedy("name-terms", "name one in terms, or use mode 'classwise'"),
            )
        if not self.mode.takes_terms and self.term_names:
            raise InputError(
                f"mode {self.mode.name!r} has no terms, but terms={list(self.term_names)}",
                drop_parameter("terms", "pairwise"),
            )
        notes = []
        if table.class_counts is None:
            notes.append(_without_counts(left_out=bool(terms) and self.term_names is None))
        if self.alpha > 0:
            notes.append("with alpha > 0 the fit already favours rare classes; a dial or class costs are added to that")
        if any(term.multiplicity > 1 for term in terms):
            notes.append(SAME_COLUMN)
        return FitPlan(
            terms=terms,
            learned=learned,
            settings=self._settings(table),
            search=self.tuning if isinstance(self.tuning, GridSearch) else None,
            extended=self.extended or ExtendedOptions(),
            dial=self.dial,
            random_state=self.random_state,
            notes=tuple(notes),
            term_names=self.term_names,
            replan=lambda choice: self._replanned(choice, table),
        )

    def warn_about_inputs(self, table: ClassTable, plan: FitPlan) -> None:
        """Warn if a term is left out because an input is missing."""
        if table.class_counts is None and plan.terms and self.term_names is None:
            warn_user(_without_counts(left_out=True), InputWarning)

    def _replanned(self, choice: Choice, table: ClassTable) -> tuple[Mode, FitPlan]:
        other = Parameters.checked(with_choice(self.given, choice))
        return other.mode, other.plan(table)

    def _require_counts(self, table: ClassTable) -> None:
        """Raise an error if a parameter needs class counts and they are missing."""
        shortlist_tau = None if self.extended is None else self.extended.shortlist_tau
        needs = {
            "alpha (rare-class upweighting)": self.alpha > 0,
            "tau (the pre-adjustment −τ·log π)": self.tau != 0,
            # "macro" needs them only for the base order.  A fit on calibration rows learns their class shares.
            "the dial": self.mode.can_leave("base") if self.dial == MACRO else bool(self.dial),
            "head_loss": self.head_loss is not None,
            "shortlist_tau (a shortlist by g − τ·log(n+1))": bool(shortlist_tau),
        }
        for purpose, is_needed in needs.items():
            if is_needed:
                table.require("class_counts", purpose)

    def _fixed_names(self, fixed: tuple[str, ...] | None, learned: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return the names of the fixed terms, or raise an error if learned terms are named and the mode has none."""
        if learned and not self.mode.takes_learned_terms:
            raise InputError(
                f"the term {learned[0]!r} is learned from the rows, and mode {self.mode.name!r} does not accept such "
                "terms by name",
                Remedy("use-extended", "leave it out, or use mode 'extended'"),
            )
        return fixed

    def _by_evidence(self) -> bool:
        """Return whether the penalties are set by marginal likelihood: on request, or if nothing else sets them."""
        if self.mode.by_evidence or self.tuning is not None or self.mode.chooses:
            return self.mode.by_evidence or self.tuning == "evidence"
        shrinks = self.shrinkage is None or (
            isinstance(self.shrinkage, ShrinkageOptions) and self.shrinkage.kind == "eb"
        )
        return self.lambda_a is None and self.lambda_theta is None and shrinks

    def _settings(self, table: ClassTable) -> FitSettings:
        by_evidence, options = self._by_evidence(), self.shrinkage
        kind = options.kind if isinstance(options, ShrinkageOptions) else False
        bins = options.frequency_bins if isinstance(options, ShrinkageOptions) else 1
        return FitSettings(
            with_offsets=self.mode.with_offsets,
            lambda_a=USUAL_PENALTY if self.lambda_a is None else self.lambda_a,
            lambda_theta=USUAL_PENALTY if self.lambda_theta is None else self.lambda_theta,
            alpha=self.alpha,
            tau=self.tau,
            shrinkage="eb" if by_evidence else kind,
            evidence=by_evidence,
            shrinkage_groups=shrinkage_groups(table, bins),
            tol=self.tol,
            max_iter=self.max_iter,
        )


def with_choice(given: Mapping[str, Any], choice: Choice) -> dict[str, Any]:
    """Return the arguments of a `Reranker` with chosen values, without the arguments that control how to choose.

    Examples
    --------
    >>> from repair import Reranker
    >>> from repair.model.choice import Choice
    >>> from repair.rerankers.parameters import with_choice
    >>> changed = with_choice(Reranker("pairwise", tuning="cv").get_params(), Choice(tau=0.5, lambda_a=0.01))
    >>> changed["tau"], changed["lambda_a"], changed["tuning"]
    (0.5, 0.01, None)
    """
    chosen = choice.to_dict()
    shortlist_tau = chosen.pop("shortlist_tau", None)
    changed = {**given, **chosen}
    mode = MODES[changed["mode"]]
    if choice.mode is not None or any(name in chosen for name in HYPERPARAMETERS):
        changed["tuning"] = None
    if choice.strength is not None:
        changed["head_loss"] = None
    if isinstance(given["shrinkage"], ShrinkageOptions):  # the data set its strength, but not its groups
        replaced = choice.mode is not None and not mode.by_evidence  # by the ridge penalty that `auto` chose
        kind = choice.shrinkage or given["shrinkage"].kind
        changed["shrinkage"] = None if replaced else replace(given["shrinkage"], kind=kind)
    if not mode.takes_terms:
        changed["terms"] = None
    changed["extended"] = None
    if mode.uses_all_scores:
        options = given["extended"] or ExtendedOptions()
        changed["extended"] = replace(options, shortlist_tau=shortlist_tau) if shortlist_tau is not None else options
    return changed


def _check_not_chosen_by(mode: Mode, given: Mapping[str, Any]) -> None:
    """Raise an error if a parameter is set that the mode chooses itself or does not use."""
    for name in mode.chooses:
        value = given[name]
        if name == "shrinkage" and isinstance(value, ShrinkageOptions) and value.kind == "eb":
            continue  # its groups are the user's
        if _is_set(value):
            raise InputError(f"mode {mode.name!r} chooses {name} itself", drop_parameter(name))
    for name in mode.ignores:
        if _is_set(given[name]):
            raise InputError(f"mode {mode.name!r} does not use {name}", drop_parameter(name, "pairwise"))


def _check_not_searched(tuning: GridSearch | str | None, given: Mapping[str, Any]) -> None:
    """Raise an error if a hyperparameter is set that a grid search chooses, because another value would replace it."""
    for name in ("tau", "alpha", "lambda_a", "lambda_theta") if isinstance(tuning, GridSearch) else ():
        if _is_set(given[name]):
            remedy = Remedy("drop-one", f"leave {name} or tuning out", f"{name} tuning")
            raise InputError(f"tuning={given['tuning']!r} chooses {name} itself, but {name}={given[name]!r}", remedy)


def _is_set(value: object) -> bool:
    """Return whether a parameter differs from its default, which is None or the number 0."""
    return value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value != 0)


def _without_counts(*, left_out: bool) -> str:
    dropped = "the log-frequency term is left out, and " if left_out else ""
    return (
        f"class_counts was not given: {dropped}rare and frequent classes are determined from the calibration labels "
        "instead"
    )


def _names(terms: object) -> tuple[str, ...] | None:
    if terms is None:
        return None
    if isinstance(terms, str) or not isinstance(terms, Sequence):
        raise InputError(f"terms is {terms!r}; pass a sequence of names such as ('score_gap', 'rank_gap')")
    return tuple(terms)


def _number(given: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    return None if given[name] is None else check_number(given[name], name, low, high)


def _penalty(given: Mapping[str, Any], name: str) -> float | None:
    return None if given[name] is None else check_number(given[name], name, 0.0, LARGEST_PENALTY, open_low=True)


def _shrinkage(given: object) -> ShrinkageOptions | bool | None:
    if given is None or given is False or isinstance(given, ShrinkageOptions):
        return given
    check_choice(given, "shrinkage", (None, False, "eb", "paper"))
    return ShrinkageOptions(str(given))


def _tuning(given: object) -> GridSearch | str | None:
    if given is None or isinstance(given, GridSearch):
        return given
    check_choice(given, "tuning", (None, "evidence", *SEARCHES))
    return SEARCHES.get(str(given), "evidence")


def _head_loss(given: object) -> HeadLossLimit | None:
    if given is None or isinstance(given, HeadLossLimit):
        return given
    return HeadLossLimit(check_number(given, "head_loss", 0.0, 99.0))


def _check_type(value: object, name: str, kind: type) -> None:
    if not isinstance(value, kind):
        options = ", ".join(f"{field.name}=…" for field in fields(kind))
        raise InputError(f"{name} is {value!r}; pass {kind.__name__}({options})")
