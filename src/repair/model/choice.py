"""Hyperparameters that a fit tried or chose, by the names of the constructor's parameters."""

from dataclasses import dataclass, fields

__all__ = ["Choice", "Setting"]


@dataclass(frozen=True, order=True)
class Setting:
    """One point of a hyperparameter grid."""

    tau: float
    alpha: float
    lambda_theta: float
    lambda_a: float


@dataclass(frozen=True)
class Choice:
    """Hyperparameters that ``fit`` chose.  A field is None if the user's value was kept.

    Only ``model.with_chosen_parameters()`` turns a choice back into parameters.

    Attributes
    ----------
    mode : str or None
        The mode that ``"auto"`` chose.
    tau, alpha, lambda_a, lambda_theta : float or None
        The parameters of these names in `Reranker`.
    shrinkage : str or None
        ``"eb"`` if the penalties were chosen from the data.
    dial : float, "macro" or None
        The parameter of this name in `Reranker`.
    strength : float or None
        Share of the correction that a limit on the head loss allows.
    shortlist_tau : float or None
        Exponent τ used to build the shortlists of the extended mode.
    terms : tuple of str or None
        Names of all terms, if the user had named only some of them.

    Examples
    --------
    >>> from repair.model.choice import Choice
    >>> Choice(tau=0.5, alpha=0.0).to_dict()
    {'tau': 0.5, 'alpha': 0.0}
    """

    mode: str | None = None
    tau: float | None = None
    alpha: float | None = None
    lambda_a: float | None = None
    lambda_theta: float | None = None
    shrinkage: str | None = None
    dial: float | str | None = None
    strength: float | None = None
    shortlist_tau: float | None = None
    terms: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, object]:
        """Return what was chosen, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}
