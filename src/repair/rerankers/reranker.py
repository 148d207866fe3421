"""The `Reranker`: class offsets plus pairwise terms, fitted by a convex conditional logit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.fitting.settings import ShrinkageOptions
from repair.model.choice import Choice
from repair.model.state import FittedState
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.modes import MODES
from repair.rerankers.parameters import Parameters, with_choice
from repair.terms.options import ExtendedOptions
from repair.tuning.options import GridSearch, HeadLossLimit
from repair.validation.checks import check_choice

if TYPE_CHECKING:
    from repair.fitting.fit import FittedProblem

__all__ = ["Reranker"]


class Reranker(ShortlistReranker):
    """Rerank shortlists of a frozen classifier: r = g + a + mean over rivals of θ·φ.

    Parameters
    ----------
    mode : {"auto", "base", "classwise", "pairwise", "pairwise_only", "extended"}, default "auto"
        Which correction to fit.  ``"auto"`` chooses the simplest one with a significant gain on
        held-out rows, together with its penalties and dial.  It may keep the base order, and `auto_`
        says why.  ``"classwise"`` has class offsets only, ``"pairwise"`` is the paper's REPAIR
        (offsets and terms), ``"pairwise_only"`` has terms only, and ``"base"`` corrects nothing.
        ``"extended"`` goes beyond the paper: it builds shortlists that miss fewer rare classes, and
        adds terms that are learned from the labelled rows.
    n_candidates : int, default 10
        Width k of the shortlist, the number of best classes that are taken from an array of scores.
        Raise it if the true class is often not among them.
    terms : sequence of str, optional
        Pairwise terms by name: ``"score_gap"``, ``"rank_gap"``, ``"log_prob_ratio"``,
        ``"similarity"`` and ``"log_freq_ratio"``.  With ``mode="extended"`` also ``"context"``,
        ``"neighbours"`` and ``"head"``.  By default all whose inputs were given.  Name them to leave
        one out, or to use your own.
    lambda_a, lambda_theta : float, optional
        Ridge penalties on offsets and weights, added to a loss that is a weighted *mean* over
        covered rows (as a prior: precision 2·n·λ).  By default they are set by marginal likelihood.
        If only one is given, the other is 0.001.  Set them to repeat a fit with known penalties.
    alpha : float in [0, 1], default 0
        Share of the fit's weight that is distributed in proportion to 1/√(class count + 1) instead
        of equally.  Use it to reproduce the paper.  The dial has a similar effect without a new fit.
    tau : float, default 0
        Exponent τ of the pre-adjustment: the fit starts from g − τ·log π.  Values other than 0 need
        class counts.  Use it to reproduce the paper.  With the default tuning, keep 0.
    shrinkage : {None, False, "eb", "paper"} or ShrinkageOptions, default None
        Whether to shrink offsets towards the mean of their group: as part of the fit (``"eb"``), by
        the paper's formula after the fit (``"paper"``), or not at all (False, as in the published
        runs).  None means ``"eb"`` if the penalties are set by marginal likelihood, and else False.
        Use False or ``"paper"`` only to reproduce published runs.
    tuning : {None, "evidence", "cv", "in_sample"} or GridSearch, default None
        How ``fit`` chooses τ, the penalties and α.  ``"evidence"`` sets the penalties by marginal
        likelihood, without a grid.  ``"cv"`` searches the paper's grid by group-aware
        cross-validation, and ``"in_sample"`` by accuracy on the rows of the fit, as the paper did.
        Pass a `GridSearch` for another grid or criterion.  None uses the values that you pass, or
        ``"evidence"`` if you pass no penalty and `shrinkage` is None or ``"eb"``.
    head_loss : float or HeadLossLimit, optional
        Percentage points of accuracy on rows of frequent classes that may be lost against the base
        order.
        The correction is scaled down to the largest strength that stays within this limit on
        held-out rows.  By default there is no limit.  If you set one, 1.0 is a good start.  Needs
        class counts.
    extended : ExtendedOptions, optional
        Options of the extended mode, also used by ``"auto"``.  By default the mode chooses its
        shortlist and compares each row with all labelled rows.  Needed only to fix the shortlist, or
        for millions of labelled rows.
    dial : float or "macro", optional
        Head–tail trade-off that ``rerank`` uses by default.  0 aims at accuracy, and 1 gives all
        classes the same weight.  By default it is 0.  It can be
        changed after ``fit``.  Values other than 0 need class counts.  Raise it if rare classes
        matter more to you than overall accuracy.  ``"macro"`` aims at accuracy averaged over classes:
        it takes the class shares of the calibration rows out of the scores.  Use it if all classes
        matter equally.
    strength : float in [0, 1], optional
        Share of the correction that is applied.  By default it is what `head_loss` chooses, or else
        1.  It can be changed after ``fit``.  Lower it to apply a correction cautiously, or use
        `head_loss` to have it chosen.
    random_state : int, default 0
        Seed for folds and samples.  Change it to see how much results depend on the folds.
    tol : float, default 1e-8
        The solver stops when no gradient entry is larger than this.  Change it only after a
        `ConvergenceWarning`.
    max_iter : int, default 100
        Largest number of Newton iterations.  A `ConvergenceWarning` says if it was reached too early.
        Change it only after such a warning.

    Attributes
    ----------
    mode_ : str
        The mode of the fitted model.
    offsets_ : ndarray (K,)
        Fitted class offsets a, after shrinkage.
    weights_ : dict from str to float
        Fitted weight θ of each term.
    tau_ : float
        The exponent τ of the pre-adjustment in use.
    temperature_ : float
        The temperature in use, which is 1 unless a temperature was fitted.
    dial_ : float or "macro"
        The dial in effect: the parameter ``dial``, or what ``auto`` chose, or 0.
    strength_ : float
        Share of the correction that is applied: the parameter ``strength``, or what `head_loss` chose, or 1.
    classes_ : ndarray (K,)
        The classes in the order of the score columns, as names if the labels were names, else as ids.
    class_counts_ : ndarray (K,)
        Training examples per class if they were given, else calibration rows per class.
    coverage_ : float
        Share of calibration rows whose label was on the shortlist.
    unseen_classes_ : ndarray of int
        Ids of the classes about which the calibration rows have no information.  Their offset is neutral.
    chosen_ : Choice
        The hyperparameters that ``fit`` chose, by the names of the parameters.
    fit_summary_ : FitSummary
        The summary of the fit: numbers of rows, coverage, iterations and notes.
    objective_ : float or None
        Penalised weighted mean loss at the optimum, or None if nothing was optimised.
    gradient_norm_ : float or None
        Largest gradient entry where the solver stopped, or None if nothing was optimised.
    converged_ : bool
        Whether the solver reached its tolerance.
    shrinkage_ : Shrinkage or None
        Group prior and shrinkage factors, or None if offsets were not shrunk.
    auto_ : AutoChoice or None
        What ``mode="auto"`` tried, if it ran in this process.  Only the reason is saved, as a note.
    search_ : GridSearchResult or None
        The result of the grid search, if one ran in this process.  It is not saved.
    head_loss_ : HeadLossTest or None
        The tests of the head-loss limit, if they ran in this process.  Only the outcome is saved, as a note.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> scores = rng.normal(size=(400, 6)) + 2.0 * np.eye(6)[labels]
    >>> scores[:, 0] += 1.5  # a frequent class that outranks the others too often
    >>> reranker = Reranker("classwise", n_candidates=4).fit(scores, labels)
    >>> reranker.converged_, bool(reranker.offsets_[0] < reranker.offsets_[1:].min())
    (True, True)
    >>> reranker.rerank(scores[:2]).ids.shape
    (2, 4)
    """

    def __init__(
        self,
        mode: str = "auto",
        *,
        n_candidates: int = 10,
        terms: Sequence[str] | None = None,
        lambda_a: float | None = None,
        lambda_theta: float | None = None,
        alpha: float = 0.0,
        tau: float = 0.0,
        shrinkage: str | bool | ShrinkageOptions | None = None,
        tuning: str | GridSearch | None = None,
        head_loss: float | HeadLossLimit | None = None,
        extended: ExtendedOptions | None = None,
        dial: float | str | None = None,
        strength: float | None = None,
        random_state: int = 0,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.mode = mode
        self.n_candidates = n_candidates
        self.terms = terms
        self.lambda_a = lambda_a
        self.lambda_theta = lambda_theta
        self.alpha = alpha
        self.tau = tau
        self.shrinkage = shrinkage
        self.tuning = tuning
        self.head_loss = head_loss
        self.extended = extended
        self.dial = dial
        self.strength = strength
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter

    @property
    def uses_all_scores(self) -> bool:
        """Whether a fit may choose shortlists other than the classifier's own, if all scores are known."""
        check_choice(self.mode, "mode", tuple(MODES))
        return MODES[self.mode].uses_all_scores

    def can_fit(self, mode: str) -> bool:
        """Return whether a fit with the current parameters can result in a model of this mode."""
        return mode in MODES and MODES[self.mode].can_leave(mode)

    def check_parameters(self, table: ClassTable) -> None:
        """Raise an error if the constructor's arguments are invalid or do not suit these classes."""
        Parameters.checked(self.get_params()).plan(table)

    def learn(self, calibration: CalibrationSet, *, progress: bool = False) -> FittedState:
        """Fit the mode and, if there is a head-loss limit, scale the correction down to meet it."""
        parameters = Parameters.checked(self.get_params())
        plan = parameters.plan(calibration.table)
        parameters.warn_about_inputs(calibration.table, plan)
        parameters.mode.announce(calibration, plan)

        def fit(rows: CalibrationSet) -> FittedProblem:
            return parameters.mode.fit(rows, plan, progress=progress)

        if parameters.head_loss is None:
            return fit(calibration).state
        from repair.tuning.head_loss_limit import limit_head_loss

        return limit_head_loss(calibration, fit, parameters.head_loss, random_state=parameters.random_state)

    def _parameters_with(self, choice: Choice) -> dict[str, Any]:
        return with_choice(self.get_params(), choice)
