"""What REPAIR is measured against, with the same interface as `Reranker`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from repair.calibration import CalibrationSet
from repair.class_table import ClassTable
from repair.correction import Correction
from repair.decision import Decision
from repair.errors import InputError
from repair.estimator import ShortlistReranker
from repair.fitted_state import FitAccount, FittedState
from repair.fitting import FitSettings, fitted_state
from repair.inputs import check_number
from repair.reranker import Reranker
from repair.reranker_checks import LARGEST_PENALTY
from repair.terms import Score, Term

__all__ = ["Base", "ClasswiseTemperature", "LogitAdjustment", "TauNormalization", "Temperature"]

LOGIT_GRID = tuple(round(0.05 * step, 2) for step in range(41))
NORM_GRID = tuple(round(0.05 * step, 2) for step in range(21))
#: Parameters of `Reranker` that make no sense with a temperature.
NOT_FOR_TEMPERATURE = (
    "mode", "terms", "selection", "criterion", "selection_rule", "grid", "folds", "seed", "progress",
    "max_head_loss", "head_loss_level", "strict", "strength", "shortlist_tau",
    "neighbour_index",
)  # fmt: skip
#: A temperature's inverse is kept above this, so that scaling can flatten scores but not flip them.
SMALLEST_SCALE = 1e-3


class Base(ShortlistReranker):
    """The base model's own order; what "no correction" means.

    Examples
    --------
    >>> from repair.baselines import Base
    >>> Base(n_candidates=2).fit([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0]], [0, 2]).predict([[1.0, 3.0, 2.0]]).tolist()
    [1]
    """

    mode_name = "base"

    def __init__(self, n_candidates: int = 10) -> None:
        self.n_candidates = n_candidates

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        return _state(calibration, _correction(calibration.table), self.mode_name, {})


class LogitAdjustment(ShortlistReranker):
    """g − τ·log π on the shortlist (Menon et al., 2021), τ by accuracy on the calibration set.

    Parameters
    ----------
    n_candidates : int, default 10
    tau : float, optional
        Fixed τ; by default the value in `grid` with the best accuracy over all calibration rows,
        the smallest among equals.
    grid : sequence of float, default 0, 0.05, …, 2
        Must contain 0, so that doing nothing is always among the choices.

    Examples
    --------
    >>> from repair.baselines import LogitAdjustment
    >>> scores, labels = [[2.0, 1.8, 0.0], [2.0, 1.9, 0.0], [3.0, 0.0, 0.0]], [1, 1, 0]
    >>> LogitAdjustment(n_candidates=3).fit(scores, labels, class_counts=[90, 9, 1]).predict(scores).tolist()
    [1, 1, 0]
    """

    parameters: ClassVar[tuple[str, ...]] = ("n_candidates", "tau", "grid")

    mode_name = "logit_adjustment"

    def __init__(self, n_candidates: int = 10, tau: float | None = None, grid: Sequence[float] = LOGIT_GRID) -> None:
        self.n_candidates = n_candidates
        self.tau = tau
        self.grid = grid

    def _check_parameters(self, table: ClassTable) -> None:
        super()._check_parameters(table)
        _check_search(self.tau, self.grid)
        table.require("class_counts", "LogitAdjustment")

    def _learn(self, calibration: CalibrationSet) -> FittedState:

        def with_tau(tau: float) -> Correction:
            return _correction(calibration.table, tau)

        tau = _choose(calibration, with_tau, self.tau, self.grid)
        return _state(calibration, with_tau(tau), self.mode_name, {"tau": tau})


class TauNormalization(ShortlistReranker):
    """g / ‖w‖^τ on the shortlist (Kang et al., 2020), τ by accuracy on the calibration set.

    Needs ``fit(..., weight_norms=…)``, the norms of the classifier's weight rows.

    Parameters
    ----------
    n_candidates : int, default 10
    tau : float, optional
        Fixed τ; by default chosen as in `LogitAdjustment`.
    grid : sequence of float, default 0, 0.05, …, 1
        Must contain 0.

    Examples
    --------
    >>> from repair.baselines import TauNormalization
    >>> scores, labels = [[2.0, 1.8, 0.0], [2.0, 1.9, 0.0], [3.0, 0.0, 0.0]], [1, 1, 0]
    >>> TauNormalization(n_candidates=3).fit(scores, labels, weight_norms=[2, 1, 1]).predict(scores).tolist()
    [1, 1, 0]
    """

    parameters: ClassVar[tuple[str, ...]] = ("n_candidates", "tau", "grid")

    mode_name = "tau_normalization"

    def __init__(self, n_candidates: int = 10, tau: float | None = None, grid: Sequence[float] = NORM_GRID) -> None:
        self.n_candidates = n_candidates
        self.tau = tau
        self.grid = grid

    def _check_parameters(self, table: ClassTable) -> None:
        super()._check_parameters(table)
        _check_search(self.tau, self.grid)

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        calibration.table.require("weight_norms", "TauNormalization")
        norms = calibration.table.weight_norms
        assert norms is not None
        norms = norms / np.exp(np.log(norms).mean())  # a common factor is a temperature and changes no order

        def with_tau(tau: float) -> Correction:
            with np.errstate(over="ignore", under="ignore"):
                scale = norms**-tau
            if not (np.isfinite(scale) & (scale > 0)).all():
                raise InputError(f"weight_norms differ too much for tau = {tau:g}; check them, or use a smaller tau")
            return replace(_correction(calibration.table), scale=scale)

        tau = _choose(calibration, with_tau, self.tau, self.grid)
        return _state(calibration, with_tau(tau), self.mode_name, {"tau": tau})


class Temperature(ShortlistReranker):
    """g / T with T by likelihood: changes probabilities, never the order.

    Parameters
    ----------
    n_candidates : int, default 10
    lambda_theta : float, default 5e-5
        Ridge on 1/T − 1.

    Examples
    --------
    >>> from repair.baselines import Temperature
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 0, 1, 1]
    >>> Temperature(n_candidates=2).fit(scores, labels).predict(scores).tolist()
    [0, 0, 0, 1]
    """

    parameters: ClassVar[tuple[str, ...]] = ("n_candidates", "lambda_theta")

    mode_name = "temperature"

    def __init__(self, n_candidates: int = 10, lambda_theta: float = 5e-5) -> None:
        self.n_candidates = n_candidates
        self.lambda_theta = lambda_theta

    def _check_parameters(self, table: ClassTable) -> None:
        super()._check_parameters(table)
        check_number(self.lambda_theta, "lambda_theta", 0.0, LARGEST_PENALTY, open_low=True)

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        settings = FitSettings(with_offsets=False, lambda_a=1.0, lambda_theta=float(self.lambda_theta))
        return _fit_temperature(calibration, settings, self.mode_name)


class ClasswiseTemperature(Reranker):
    """Class offsets and a temperature: g/T + a.

    The baseline the paper leaves out.  Its pairwise model contains a temperature (the mean score
    gap), so part of what pairwise gains over classwise is no more than that.

    Parameters
    ----------
    n_candidates, lambda_a, alpha, tau, shrinkage, shrinkage_groups, group_weights, dial, tol, max_iterations
        As in `Reranker`.
    lambda_theta : float, default 0.001
        Ridge on 1/T − 1.

    Examples
    --------
    >>> from repair.baselines import ClasswiseTemperature
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 1, 1]
    >>> ClasswiseTemperature(n_candidates=2).fit(scores, labels).predict(scores).tolist()
    [1, 1, 1, 1]
    """

    parameters: ClassVar[tuple[str, ...]] = tuple(
        name for name in Reranker.parameters if name not in NOT_FOR_TEMPERATURE
    )

    mode_name = "classwise_temperature"

    def __init__(
        self,
        n_candidates: int = 10,
        *,
        lambda_a: float = 1e-3,
        lambda_theta: float = 1e-3,
        alpha: float = 0.0,
        tau: float = 0.0,
        shrinkage: str | bool = False,
        shrinkage_groups: int = 1,
        group_weights: bool = True,
        dial: float = 0.0,
        tol: float = 1e-8,
        max_iterations: int = 100,
    ) -> None:
        super().__init__(
            n_candidates,
            "pairwise",
            lambda_a=lambda_a,
            lambda_theta=lambda_theta,
            alpha=alpha,
            tau=tau,
            shrinkage=shrinkage,
            shrinkage_groups=shrinkage_groups,
            group_weights=group_weights,
            dial=dial,
            tol=tol,
            max_iterations=max_iterations,
        )

    def _terms(self, table: ClassTable) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        return (), ()

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        return _fit_temperature(calibration, self._settings(calibration.table), self.mode_name)


def _correction(table: ClassTable, tau: float = 0.0) -> Correction:
    return Correction(table, tau, np.zeros(table.n_classes), (), np.zeros(0))


def _fit_temperature(calibration: CalibrationSet, settings: FitSettings, mode: str) -> FittedState:
    """Fit 1/T as 1 + the weight of the score; if that is below its bound, fit the rest at the bound.

    The loss is convex in 1/T, so the best allowed value is then the bound itself.
    """
    free = fitted_state(calibration, (Score(),), settings, mode=mode)
    scale = 1.0 + float(free.correction.weights[0])
    if scale >= SMALLEST_SCALE:
        correction = replace(free.correction, terms=(), weights=np.zeros(0), scale=np.array([scale]))
        account = replace(free.account, notes=(f"temperature = {1.0 / scale:.4g}",))
        return replace(free, correction=correction, account=account)
    bound = fitted_state(calibration, (), settings, mode=mode, scale=SMALLEST_SCALE)
    assert bound.account.objective is not None
    objective = bound.account.objective + settings.lambda_theta * (SMALLEST_SCALE - 1.0) ** 2
    note = "the scores carry no evidence of their own; the temperature is at its bound"
    return replace(bound, account=replace(bound.account, objective=objective, notes=(note,)))


def _check_search(fixed: float | None, grid: Sequence[float]) -> None:
    """Refuse a fixed value or a grid that cannot be searched."""
    if fixed is not None:
        check_number(fixed, "tau", -10.0, 10.0)
    if not isinstance(grid, Sequence | np.ndarray) or isinstance(grid, str):
        raise InputError(f"grid is {grid!r}; pass a sequence of numbers that contains 0")
    if 0.0 not in [check_number(value, "grid", -10.0, 10.0) for value in grid]:
        raise InputError("grid must contain 0, so that leaving the scores alone is among the choices")


def _choose(
    calibration: CalibrationSet, candidate: Callable[[float], Correction], fixed: float | None, grid: Sequence[float]
) -> float:
    """Return the fixed value, or the grid's best by weighted accuracy over all rows, smallest first."""
    if fixed is not None:
        return float(fixed)
    values = sorted((float(value) for value in grid), key=abs)
    importance = calibration.importance / calibration.importance.sum()
    positions = calibration.positions

    def accuracy(tau: float) -> float:
        scores = candidate(tau).scores(calibration.shortlist, Decision())
        return float(importance @ ((positions >= 0) & (scores.argmax(axis=1) == positions)))

    return max(values, key=accuracy)


def _state(calibration: CalibrationSet, correction: Correction, mode: str, chosen: dict[str, object]) -> FittedState:
    account = FitAccount(
        mode=mode,
        n_rows=len(calibration.labels),
        n_covered=int(calibration.covered.sum()),
        n_unknown=int((calibration.labels < 0).sum()),
        effective_rows=calibration.effective_rows(),
        chosen=chosen,
    )
    return FittedState(
        correction=correction,
        n_candidates=calibration.shortlist.n_candidates,
        labels_are_names=calibration.labels_are_names,
        label_counts=calibration.label_counts(),
        label_shares=calibration.label_shares(0.0),
        account=account,
    )
