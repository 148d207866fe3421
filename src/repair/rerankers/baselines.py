"""Baselines that REPAIR is compared with.  They have the same interface as `Reranker`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.fitting.fit import fit_problem, summary_of
from repair.fitting.problem import Problem
from repair.fitting.settings import FitSettings, ShrinkageOptions
from repair.model.adjustments import Adjustments
from repair.model.choice import Choice
from repair.model.correction import Correction
from repair.model.state import FittedState
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.parameters import LARGEST_PENALTY, Parameters
from repair.rerankers.reranker import Reranker
from repair.terms.score import Score
from repair.validation.checks import check_number

__all__ = ["Base", "ClasswiseTemperature", "LogitAdjustment", "TauNormalization", "Temperature"]

LOGIT_GRID = tuple(round(0.05 * step, 2) for step in range(41))
NORM_GRID = tuple(round(0.05 * step, 2) for step in range(21))
#: Smallest inverse temperature.  It keeps the factor positive, so scaling can flatten scores but not reverse them.
SMALLEST_SCALE = 1e-3


class Baseline(ShortlistReranker):
    """Base class of the baselines, each of which fits a single kind of model."""

    #: The value of ``mode_`` after a fit.
    mode_name: ClassVar[str]

    def can_fit(self, mode: str) -> bool:
        """Return whether a fit results in a model of this mode."""
        return mode == self.mode_name

    def learn(self, calibration: CalibrationSet, *, progress: bool = False) -> FittedState:
        """Check the parameters, fit on a validated calibration set and return the fitted state."""
        self.check_parameters(calibration.table)
        return self._learn(calibration)

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        raise TypeError(f"{type(self).__name__} does not implement _learn()")


class Base(Baseline):
    """The base order, without any correction.

    Parameters
    ----------
    n_candidates : int, default 10
        Width k of the shortlist, as in `Reranker`.  Use the same value when you compare methods.

    Examples
    --------
    >>> from repair import Base
    >>> Base(n_candidates=2).fit([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0]], [0, 2]).predict([[1.0, 3.0, 2.0]]).tolist()
    [1]
    """

    mode_name = "base"

    def __init__(self, n_candidates: int = 10) -> None:
        self.n_candidates = n_candidates

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        return _state(calibration, _correction(calibration.table), self.mode_name, Choice())


class TauSearch(Baseline):
    """A baseline with one exponent τ, which is fixed or chosen by accuracy on the calibration set."""

    tau: float | None
    grid: Sequence[float]
    #: The field of a `ScoreSet` that the exponent is applied to.
    needs: ClassVar[str]

    def check_parameters(self, table: ClassTable) -> None:
        """Raise an error if the constructor's arguments are invalid or do not suit these classes."""
        super().check_parameters(table)
        _check_search(self.tau, self.grid)
        table.require(self.needs, type(self).__name__)

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        tau = _choose(calibration, lambda tau: self._with_tau(calibration.table, tau), self.tau, self.grid)
        return _state(calibration, self._with_tau(calibration.table, tau), self.mode_name, Choice(tau=tau))

    def _with_tau(self, table: ClassTable, tau: float) -> Correction:
        raise TypeError(f"{type(self).__name__} does not implement _with_tau()")


class LogitAdjustment(TauSearch):
    """Logit adjustment: g − τ·log π on the shortlist (Menon et al., 2021).

    By default τ is chosen by accuracy on the calibration set.

    Parameters
    ----------
    n_candidates : int, default 10
        Width k of the shortlist, as in `Reranker`.  Use the same value when you compare methods.
    tau : float, optional
        A fixed τ.  By default it is the value in `grid` with the best accuracy over all calibration
        rows, and among equally good values the one closest to 0.  Fix it if you know the right value.
    grid : sequence of float, default 0, 0.05, …, 2
        Values of τ to try.  It must contain 0, so leaving the scores unchanged is always an option.
        Extend it if the chosen τ is at its edge.

    Examples
    --------
    >>> from repair import LogitAdjustment
    >>> scores, labels = [[2.0, 1.8, 0.0], [2.0, 1.9, 0.0], [3.0, 0.0, 0.0]], [1, 1, 0]
    >>> LogitAdjustment(n_candidates=3).fit(scores, labels, class_counts=[90, 9, 1]).predict(scores).tolist()
    [1, 1, 0]
    """

    mode_name = "logit_adjustment"
    needs = "class_counts"

    def __init__(self, n_candidates: int = 10, tau: float | None = None, grid: Sequence[float] = LOGIT_GRID) -> None:
        self.n_candidates = n_candidates
        self.tau = tau
        self.grid = grid

    def _with_tau(self, table: ClassTable, tau: float) -> Correction:
        return _correction(table, tau)


class TauNormalization(TauSearch):
    """τ-normalisation: g / ‖w‖^τ on the shortlist (Kang et al., 2020).

    It needs ``fit(..., weight_norms=…)``, the norms of the classifier's weight rows.  By default τ is
    chosen by accuracy on the calibration set.

    Parameters
    ----------
    n_candidates : int, default 10
        Width k of the shortlist, as in `Reranker`.  Use the same value when you compare methods.
    tau : float, optional
        A fixed τ.  By default it is chosen as in `LogitAdjustment`.  Fix it if you know the right value.
    grid : sequence of float, default 0, 0.05, …, 1
        Values of τ to try.  It must contain 0.  Extend it if the chosen τ is at its edge.

    Examples
    --------
    >>> from repair import TauNormalization
    >>> scores, labels = [[2.0, 1.8, 0.0], [2.0, 1.9, 0.0], [3.0, 0.0, 0.0]], [1, 1, 0]
    >>> TauNormalization(n_candidates=3).fit(scores, labels, weight_norms=[2, 1, 1]).predict(scores).tolist()
    [1, 1, 0]
    """

    mode_name = "tau_normalization"
    needs = "weight_norms"

    def __init__(self, n_candidates: int = 10, tau: float | None = None, grid: Sequence[float] = NORM_GRID) -> None:
        self.n_candidates = n_candidates
        self.tau = tau
        self.grid = grid

    def _with_tau(self, table: ClassTable, tau: float) -> Correction:
        norms = table.weight_norms
        assert norms is not None
        with np.errstate(over="ignore", under="ignore"):
            # A common factor of all norms is a temperature, which does not change the order, so it is removed.
            scale = (norms / np.exp(np.log(norms).mean())) ** -tau
        if not (np.isfinite(scale) & (scale > 0)).all():
            raise InputError(f"weight_norms differ too much for tau = {tau:g}; check them, or use a smaller tau")
        return replace(_correction(table), scale=scale)


class Temperature(Baseline):
    """A temperature: g / T, with T fitted by likelihood.  It changes probabilities, but never the order.

    Parameters
    ----------
    n_candidates : int, default 10
        Width k of the shortlist, as in `Reranker`.  Use the same value when you compare methods.
    lambda_theta : float, default 5e-5
        Ridge penalty on 1/T − 1.  Raise it if there are so few rows that T is unreliable.

    Examples
    --------
    >>> from repair import Temperature
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 0, 1, 1]
    >>> Temperature(n_candidates=2).fit(scores, labels).predict(scores).tolist()
    [0, 0, 0, 1]
    """

    mode_name = "temperature"

    def __init__(self, n_candidates: int = 10, lambda_theta: float = 5e-5) -> None:
        self.n_candidates = n_candidates
        self.lambda_theta = lambda_theta

    def check_parameters(self, table: ClassTable) -> None:
        """Raise an error if the constructor's arguments are invalid or do not suit these classes."""
        super().check_parameters(table)
        check_number(self.lambda_theta, "lambda_theta", 0.0, LARGEST_PENALTY, open_low=True)

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        settings = FitSettings(with_offsets=False, lambda_a=1.0, lambda_theta=float(self.lambda_theta))
        return _fit_temperature(calibration, settings, self.mode_name)


class ClasswiseTemperature(Baseline):
    """Class offsets and a temperature: g/T + a.

    The paper does not include this baseline.  Its pairwise model contains a temperature (the mean
    score gap), so part of the gain of pairwise over classwise can be the gain of a temperature.

    Parameters
    ----------
    n_candidates : int, default 10
        Width k of the shortlist, as in `Reranker`.  Use the same value when you compare methods.
    lambda_a, alpha, tau, shrinkage, dial, tol, max_iter
        As in `Reranker`, but `lambda_a` is 0.001 and `shrinkage` is False by default.
    lambda_theta : float, default 0.001
        Ridge penalty on 1/T − 1.

    Examples
    --------
    >>> from repair import ClasswiseTemperature
    >>> scores, labels = [[2.0, 1.0], [2.0, 1.0], [2.0, 1.0], [1.0, 2.0]], [0, 1, 1, 1]
    >>> ClasswiseTemperature(n_candidates=2).fit(scores, labels).predict(scores).tolist()
    [1, 1, 1, 1]
    """

    mode_name = "classwise_temperature"

    def __init__(
        self,
        n_candidates: int = 10,
        *,
        lambda_a: float = 1e-3,
        lambda_theta: float = 1e-3,
        alpha: float = 0.0,
        tau: float = 0.0,
        shrinkage: str | bool | ShrinkageOptions = False,
        dial: float | str | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.n_candidates = n_candidates
        self.lambda_a = lambda_a
        self.lambda_theta = lambda_theta
        self.alpha = alpha
        self.tau = tau
        self.shrinkage = shrinkage
        self.dial = dial
        self.tol = tol
        self.max_iter = max_iter

    def check_parameters(self, table: ClassTable) -> None:
        """Raise an error if the constructor's arguments are invalid or do not suit these classes."""
        self._settings(table)

    def _settings(self, table: ClassTable) -> FitSettings:
        # The parameters have the same names as those of the classwise mode, so they are checked as its parameters.
        return Parameters.checked(Reranker("classwise", **self.get_params()).get_params()).plan(table).settings

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        return _fit_temperature(calibration, self._settings(calibration.table), self.mode_name)


def _correction(table: ClassTable, tau: float = 0.0) -> Correction:
    return Correction(table, tau, np.zeros(table.n_classes), (), np.zeros(0))


def _fit_temperature(calibration: CalibrationSet, settings: FitSettings, mode: str) -> FittedState:
    """Fit 1/T as 1 + the weight of the score.  If it is below its bound, fit the rest with 1/T at the bound.

    The loss is convex in 1/T, so the best allowed value is then the bound itself.
    """
    free = fit_problem(Problem.fixed(calibration, (Score(),), settings.tau), settings, mode=mode)
    scale = 1.0 + float(free.correction.weights[0])
    if scale >= SMALLEST_SCALE:
        correction = replace(free.correction, terms=(), weights=np.zeros(0), scale=np.array([scale]))
        summary = replace(free.summary, notes=(f"temperature = {1.0 / scale:.4g}",))
        return replace(free, correction=correction, summary=summary)
    plain = Problem.fixed(calibration, (), settings.tau)
    bound = fit_problem(plain, settings, mode=mode, scale=SMALLEST_SCALE)
    assert bound.summary.objective is not None
    objective = bound.summary.objective + settings.lambda_theta * (SMALLEST_SCALE - 1.0) ** 2
    note = f"the scores do not help to predict the labels, so the temperature is at its bound, {1.0 / SMALLEST_SCALE:g}"
    return replace(bound, summary=replace(bound.summary, objective=objective, notes=(note,)))


def _check_search(fixed: float | None, grid: Sequence[float]) -> None:
    """Raise an error if the fixed value or the grid is invalid."""
    if fixed is not None:
        check_number(fixed, "tau", -10.0, 10.0)
    if not isinstance(grid, Sequence | np.ndarray) or isinstance(grid, str):
        raise InputError(f"grid is {grid!r}; pass a sequence of numbers that contains 0")
    if 0.0 not in [check_number(value, "grid", -10.0, 10.0) for value in grid]:
        raise InputError(f"grid is {grid!r}; it must contain 0, so leaving the scores unchanged is an option")


def _choose(
    calibration: CalibrationSet, candidate: Callable[[float], Correction], fixed: float | None, grid: Sequence[float]
) -> float:
    """Return the fixed value, or the value of the grid with the best weighted accuracy over all rows.

    Among equally good values, the one closest to 0 is returned.
    """
    if fixed is not None:
        return float(fixed)
    values = sorted((float(value) for value in grid), key=abs)
    importance = calibration.importance / calibration.importance.sum()
    positions = calibration.positions

    def accuracy(tau: float) -> float:
        scores = candidate(tau).scores(calibration.shortlist, Adjustments())
        return float(importance @ ((positions >= 0) & (scores.argmax(axis=1) == positions)))

    return max(values, key=accuracy)


def _state(calibration: CalibrationSet, correction: Correction, mode: str, choice: Choice) -> FittedState:
    return FittedState(
        correction=correction,
        n_candidates=calibration.shortlist.n_candidates,
        labels_are_names=calibration.labels_are_names,
        label_counts=calibration.label_counts(),
        label_shares=calibration.label_shares(0.0),
        summary=summary_of(calibration, mode),
        choice=choice,
    )
