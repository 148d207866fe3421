"""The methods that the command line knows by name."""

from collections.abc import Sequence
from typing import Any

from repair import baselines
from repair.errors import InputError
from repair.estimator import ShortlistReranker
from repair.reranker import MODES, Reranker

__all__ = ["make_method", "method_names", "methods_named"]

BASELINES: dict[str, Any] = {
    "base": baselines.Base,
    "logit_adjustment": baselines.LogitAdjustment,
    "tau_normalization": baselines.TauNormalization,
    "temperature": baselines.Temperature,
    "classwise_temperature": baselines.ClasswiseTemperature,
}
#: As the paper's runs chose: by accuracy on the very rows that are fitted.
PUBLISHED = {"mode": "pairwise", "selection": "in_sample", "shrinkage": False}
USUAL = ("base", "logit_adjustment", "classwise", "classwise_temperature", "pairwise", "auto")


def method_names() -> tuple[str, ...]:
    """Return every name, the baselines first."""
    return (*BASELINES, *(mode for mode in MODES if mode not in BASELINES), "auto", "published")


def make_method(name: str, n_candidates: int, **options: Any) -> ShortlistReranker:
    """Return an unfitted method; options that are None are left to it."""
    given = {key: value for key, value in options.items() if value is not None}
    if name not in method_names():
        raise InputError(f"{name!r} is no method; choose one of {', '.join(method_names())}")
    if name in BASELINES:
        strange = next((key for key in given if key not in BASELINES[name].parameters), None)
        if strange is not None:
            raise InputError(f"{name} has no --{strange.replace('_', '-')}; leave it out, or use another mode")
        made: ShortlistReranker = BASELINES[name](n_candidates, **given)
        return made
    if name == "published":
        fixed = next((key for key in given if key in PUBLISHED), None)
        if fixed is not None:
            raise InputError(f"published is what it is; leave --{fixed.replace('_', '-')} out, or use --mode pairwise")
        return Reranker(n_candidates, **{**given, **PUBLISHED})
    return Reranker(n_candidates, name, **given)


def methods_named(listed: str | None, n_candidates: int, *, with_counts: bool) -> dict[str, ShortlistReranker]:
    """Return the methods of a list with commas; by default the usual ones that the inputs allow."""
    names: Sequence[str]
    if listed is None:
        names = [name for name in USUAL if with_counts or name != "logit_adjustment"]
    else:
        names = [name.strip() for name in listed.split(",") if name.strip()]
    if not names:
        raise InputError(f"--methods names none; choose some of {', '.join(method_names())}")
    return {name: make_method(name, n_candidates) for name in names}
