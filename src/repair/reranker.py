"""REPAIR: class offsets plus pairwise terms, fitted by a convex conditional logit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from repair.calibration import CalibrationSet
from repair.class_table import ClassTable
from repair.errors import InputError, InputWarning, warn_user
from repair.estimator import ShortlistReranker
from repair.fitted_state import FittedState
from repair.fitting import FitSettings, fitted_state
from repair.grid import Grid
from repair.inputs import check_number
from repair.reranker_checks import MODES, check_parameters
from repair.shrinkage import shrinkage_groups
from repair.strength import HeadLossRule, limit_head_loss
from repair.terms import LEARNED_TERMS, Term, choose_terms

if TYPE_CHECKING:
    from repair.selection import Criterion, GridSearch

__all__ = ["MODES", "Reranker"]

#: Where only one penalty is given, the other.
USUAL_PENALTY = 1e-3

SAME_COLUMN = (
    "score_gap and log_prob_ratio are the same column; "
    "they were fitted as one, and the weight of score_gap is the sum of both"
)


class Reranker(ShortlistReranker):
    """Rerank shortlists of a frozen classifier: r = g + a + mean over rivals of θ·φ.

    Parameters
    ----------
    n_candidates : int, default 10
        k, how many of the best classes to take from dense scores.
    mode : {"pairwise", "classwise", "pairwise_only", "base", "extended", "auto"}, default "pairwise"
        The paper's REPAIR (offsets and terms), its class-separable special case (offsets only),
        terms only, or no correction.  ``"auto"`` takes the simplest of base, classwise,
        pairwise and extended whose gain on held-out rows is real, and chooses its penalties and its dial; it
        may keep the base order, and `auto_` says why.  ``"extended"`` goes beyond the paper: it
        takes shortlists that miss fewer rare classes (from dense scores and `class_counts`), and
        adds evidence that is learned from the labelled rows: see `repair.extended`.
    terms : sequence of str, optional
        Pairwise features by name: ``"score_gap"``, ``"rank_gap"``, ``"log_prob_ratio"``,
        ``"similarity"``, ``"log_freq_ratio"``.  By default all that the inputs allow.  With
        ``mode="extended"`` also ``"context"``, ``"neighbours"`` and ``"head"``.
    lambda_a, lambda_theta : float, optional
        Ridge penalties on offsets and weights, added to a loss that is a weighted *mean* over
        covered rows (as a prior: precision 2·n·λ).  Where neither is given, the data choose them
        (``selection="evidence"``); where one is, the other is 0.001.
    alpha : float in [0, 1], default 0
        Share of the fit's weight that goes by 1/√(class count + 1) instead of evenly.
    tau : float, default 0
        Pre-adjustment: the model starts from g − τ·log π.
    shrinkage : {False, "eb", "paper"}, optional
        Shrink offsets towards their group's mean: inside the fit (``"eb"``), by the paper's
        formula afterwards (``"paper"``), or not (``False``, as in the published runs).  By default
        ``"eb"`` with ``selection="evidence"``, False otherwise.
    shrinkage_groups : int, default 1
        Number of frequency bins that serve as groups, unless ``fit`` gets `class_groups`.
    group_weights : bool, default True
        Whether rows weigh 1/(group size) when ``fit`` gets `groups`.
    dial : float, default 0
        Head–tail trade-off used by ``rerank`` unless it is told otherwise.
    selection : {None, "cv", "in_sample", "evidence"}, default None
        How ``fit`` chooses: the penalties by marginal likelihood, without a grid
        (``"evidence"``); τ, the penalties and α by group-aware cross-validation over `grid`, or by
        accuracy on the very rows that are fitted (the paper's way, to reproduce it).  None takes
        what you pass, and ``"evidence"`` if you pass neither a penalty nor a shrinkage without it.
    criterion : {"accuracy", "nll", "macro"} or callable, default "accuracy"
        What cross-validation looks at: see `repair.selection.search`.
    selection_rule : {"best", "one_se"}, default "best"
        The best setting, or the strongest penalties within one standard error of it.
    grid : mapping, optional
        Values of ``tau``, ``lambda_a``, ``lambda_theta`` and ``alpha`` to try; by default the
        paper's 1,260 settings.
    folds : int, default 5
    seed : int, default 0
        Of the folds.
    max_head_loss : float, optional
        ε: how many percentage points of accuracy on frequent rows may be lost against Base; 1.0
        is a good start.  The correction is then scaled down to the largest strength that stays
        within ε on held-out rows, tested upwards from 0, which is Base.  Needs `class_counts`.
    head_loss_level : float in (0, 0.5], default 0.1
        δ: how likely a larger loss may be.
    strict : bool, default False
        Fit on 60 % of the groups and test on the others, which is exact, instead of testing by
        `folds` folds, which is approximate and wastes no rows.
    strength : float in [0, 1], default 1
        Share of the correction to apply, unless `max_head_loss` chooses it.
    shortlist_tau : float, optional
        With ``mode="extended"``: take the shortlist by g − τ·log(n+1).  By default τ is chosen on
        the calibration rows so that labels are on the list; 0 takes the base's own list.
    neighbour_index : {"exact", "approximate"}, default "exact"
        With ``mode="extended"`` and embeddings: compare each row with every labelled one, or look
        for its neighbours in an index (needs the extra ``neighbours``), for millions of them.
    progress : bool, default False
        Show a progress bar while choosing (needs the extra ``cli``).
    tol : float, default 1e-8
        The solver stops when no gradient entry is larger.
    max_iterations : int, default 100
        Newton iterations at most; a `ConvergenceWarning` says if that was too few.

    Attributes
    ----------
    offsets_, weights_, objective_, gradient_norm_, converged_, mode_, coverage_, shrinkage_,
    unseen_classes_, account_
        Set by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 6, size=400)
    >>> scores = rng.normal(size=(400, 6)) + 2.0 * np.eye(6)[labels]
    >>> scores[:, 0] += 1.5  # a common class that pushes the others down
    >>> reranker = Reranker(n_candidates=4, mode="classwise").fit(scores, labels)
    >>> reranker.converged_, bool(reranker.offsets_[0] < reranker.offsets_[1:].min())
    (True, True)
    >>> reranker.rerank(scores[:2]).ids.shape
    (2, 4)
    """

    parameters: ClassVar[tuple[str, ...]] = (
        "n_candidates",
        "mode",
        "terms",
        "lambda_a",
        "lambda_theta",
        "alpha",
        "tau",
        "shrinkage",
        "shrinkage_groups",
        "group_weights",
        "dial",
        "selection",
        "criterion",
        "selection_rule",
        "grid",
        "folds",
        "seed",
        "max_head_loss",
        "head_loss_level",
        "strict",
        "strength",
        "shortlist_tau",
        "neighbour_index",
        "progress",
        "tol",
        "max_iterations",
    )

    def __init__(
        self,
        n_candidates: int = 10,
        mode: str = "pairwise",
        *,
        terms: Sequence[str] | None = None,
        lambda_a: float | None = None,
        lambda_theta: float | None = None,
        alpha: float = 0.0,
        tau: float = 0.0,
        shrinkage: str | bool | None = None,
        shrinkage_groups: int = 1,
        group_weights: bool = True,
        dial: float = 0.0,
        selection: str | None = None,
        criterion: Criterion = "accuracy",
        selection_rule: str = "best",
        grid: Mapping[str, Sequence[float]] | None = None,
        folds: int = 5,
        seed: int = 0,
        max_head_loss: float | None = None,
        head_loss_level: float = 0.1,
        strict: bool = False,
        strength: float = 1.0,
        shortlist_tau: float | None = None,
        neighbour_index: str = "exact",
        progress: bool = False,
        tol: float = 1e-8,
        max_iterations: int = 100,
    ) -> None:
        self.n_candidates = n_candidates
        self.mode = mode
        self.terms = terms
        self.lambda_a = lambda_a
        self.lambda_theta = lambda_theta
        self.alpha = alpha
        self.tau = tau
        self.shrinkage = shrinkage
        self.shrinkage_groups = shrinkage_groups
        self.group_weights = group_weights
        self.dial = dial
        self.selection = selection
        self.criterion = criterion
        self.selection_rule = selection_rule
        self.grid = grid
        self.folds = folds
        self.seed = seed
        self.max_head_loss = max_head_loss
        self.head_loss_level = head_loss_level
        self.strict = strict
        self.strength = strength
        self.shortlist_tau = shortlist_tau
        self.neighbour_index = neighbour_index
        self.progress = progress
        self.tol = tol
        self.max_iterations = max_iterations

    @property
    def mode_name(self) -> str:
        """What `mode_` is after a fit with the present parameters; with ``"auto"``, what was chosen."""
        if self.mode != "auto" or self._state is None:
            return self.mode
        return self._state.account.mode

    @property
    def uses_all_scores(self) -> bool:
        """Whether the shortlist may be chosen otherwise than by the base's scores, if all are given."""
        return self.mode in ("extended", "auto")

    def _learn(self, calibration: CalibrationSet) -> FittedState:
        rule = self._head_loss_rule()
        if rule is not None:
            return limit_head_loss(calibration, self._learn_freely, rule)
        state, _, _ = self._learn_freely(calibration)
        return replace(state, correction=replace(state.correction, strength=float(self.strength)))

    def _learn_freely(self, calibration: CalibrationSet) -> tuple[FittedState, FitSettings, float]:
        """Fit the whole correction; return it with the settings and the dial that were used."""
        terms, notes = self._terms(calibration.table)
        settings = self._settings(calibration.table)
        if self.mode in ("auto", "extended"):
            self._prepare_extended(calibration)
        if self.mode == "auto":
            return self._learn_auto(calibration, terms, settings, notes)
        if self.mode == "extended":
            state = self._learn_extended(calibration, terms, settings, notes)
            return state, settings, float(self.dial)
        if self.selection in (None, "evidence"):
            state = fitted_state(calibration, terms, settings, mode=self.mode, notes=notes)
            return state, settings, float(self.dial)
        found = self._search(calibration, terms, settings)
        settings = replace(settings, **vars(found.chosen))
        state = fitted_state(calibration, terms, settings, mode=self.mode, notes=notes)
        chosen = {**vars(found.chosen), "selection": None}
        state = replace(state, account=replace(state.account, chosen=chosen), search=found)
        return state, settings, float(self.dial)

    def _prepare_extended(self, calibration: CalibrationSet) -> None:
        """Say or refuse, before any work, what the fit with embeddings takes."""
        from repair.extended import warn_of_size
        from repair.terms.neighbour_index import require_index

        left_out = self.mode == "extended" and self.terms is not None and "neighbours" not in self.terms
        if calibration.shortlist.embeddings is None or left_out:
            return
        warn_of_size(calibration)
        if self.neighbour_index == "approximate":
            require_index()

    def _learn_extended(
        self, calibration: CalibrationSet, terms: tuple[Term, ...], settings: FitSettings, notes: tuple[str, ...]
    ) -> FittedState:
        from repair.coverage import choose_shortlist_tau
        from repair.extended import fit_extended

        tau = choose_shortlist_tau(calibration) if self.shortlist_tau is None else float(self.shortlist_tau)
        index = self.neighbour_index
        return fit_extended(calibration, terms, settings, tau=tau, names=self.terms, index=index, notes=notes)

    def _learn_auto(
        self, calibration: CalibrationSet, terms: tuple[Term, ...], settings: FitSettings, notes: tuple[str, ...]
    ) -> tuple[FittedState, FitSettings, float]:
        from repair.auto import choose_mode
        from repair.extended import fit_chosen

        found = choose_mode(
            calibration,
            terms,
            settings,
            shortlist_tau=self.shortlist_tau,
            index=self.neighbour_index,
            seed=self.seed,
            progress=self.progress,
        )
        best = found.chosen
        if best.rung == "extended":
            state, settings, dial = fit_chosen(calibration, terms, settings, notes, found, self.neighbour_index)
            if self.terms is not None:  # a frozen copy names what was learned, too
                learned = [term.name for term in state.correction.terms if term.name in LEARNED_TERMS]
                chosen = {**state.account.chosen, "terms": [*self.terms, *learned]}
                state = replace(state, account=replace(state.account, chosen=chosen))
            return state, settings, dial
        settings = replace(
            settings, with_offsets=best.rung != "base", lambda_a=best.lambda_a, lambda_theta=best.lambda_theta
        )
        kept = terms if best.rung == "pairwise" else ()
        if not kept:
            notes = tuple(one for one in notes if one != SAME_COLUMN)
        state = fitted_state(calibration, kept, settings, mode=best.rung, notes=(found.reason, *notes))
        chosen = {"mode": best.rung, "dial": best.dial}
        if best.rung != "base":
            chosen |= {"lambda_a": best.lambda_a, "lambda_theta": best.lambda_theta}
        # What was given for other rungs would be refused in a frozen copy.
        if self.shortlist_tau is not None:
            chosen["shortlist_tau"] = None
        if self.terms is not None and not kept:
            chosen["terms"] = None
        return replace(state, account=replace(state.account, chosen=chosen), auto=found), settings, best.dial

    def _search(self, calibration: CalibrationSet, terms: tuple[Term, ...], settings: FitSettings) -> GridSearch:
        from repair.selection import search

        with_counts = calibration.table.class_counts is not None
        return search(
            calibration,
            terms,
            settings,
            Grid.of(self.grid).where_it_matters(settings, terms, with_counts=with_counts),
            folds=0 if self.selection == "in_sample" else self.folds,
            criterion=self.criterion,
            rule=self.selection_rule,
            seed=self.seed,
            progress=self.progress,
        )

    @property
    def _by_evidence(self) -> bool:
        """Whether the data choose the penalties: asked for, or nothing that would replace it was given."""
        if self.mode == "extended":
            return True
        if self.selection is not None or self.mode == "auto":
            return self.selection == "evidence"
        return self.lambda_a is None and self.lambda_theta is None and self.shrinkage in (None, "eb")

    def _settings(self, table: ClassTable) -> FitSettings:
        """Return the fit's settings in the types it computes with."""
        return FitSettings(
            with_offsets=self.mode not in ("pairwise_only", "base"),
            lambda_a=float(USUAL_PENALTY if self.lambda_a is None else self.lambda_a),
            lambda_theta=float(USUAL_PENALTY if self.lambda_theta is None else self.lambda_theta),
            alpha=float(self.alpha),
            tau=float(self.tau),
            shrinkage="eb" if self._by_evidence else self.shrinkage or False,
            evidence=self._by_evidence,
            shrinkage_groups=shrinkage_groups(table, self.shrinkage_groups),
            tol=float(self.tol),
            max_iterations=int(self.max_iterations),
        )

    def _check_parameters(self, table: ClassTable) -> None:
        super()._check_parameters(table)
        check_parameters(self, table)

    def _fixed_terms(self) -> Sequence[str] | None:
        """Return the chosen terms that learn nothing before the fit."""
        if self.mode != "extended" or isinstance(self.terms, str) or not isinstance(self.terms, Sequence):
            return self.terms
        learned = [name for name in self.terms if name in LEARNED_TERMS]
        if len(set(learned)) != len(learned):
            raise InputError(f"terms repeats a name: {list(self.terms)}; list each once")
        return [name for name in self.terms if name not in LEARNED_TERMS]

    def _head_loss_rule(self) -> HeadLossRule | None:
        """Check what was asked about the loss on frequent rows."""
        rule = HeadLossRule.checked(self.max_head_loss, self.head_loss_level, self.strict, self.folds, self.seed)
        if check_number(self.strength, "strength", 0.0, 1.0) != 1.0 and rule is not None:
            raise InputError("max_head_loss chooses the strength; leave strength out")
        return rule

    def _terms(self, table: ClassTable) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        """Return the terms to fit, and what there is to say about them."""
        terms = () if self.mode in ("base", "classwise") else choose_terms(self._fixed_terms(), table)
        notes = []
        if table.class_counts is None:
            left_out = "the log-frequency term is left out, and " if terms and self.terms is None else ""
            notes.append(
                f"class_counts was not given: {left_out}class_counts_ "
                "(which tells rare from frequent) is counted from the calibration labels"
            )
            if left_out:
                warn_user(notes[0], InputWarning)
        if self.alpha > 0:
            notes.append("with alpha > 0 the fit already favours rare classes; dial and costs come on top of that")
        if any(term.copies > 1 for term in terms):
            notes.append(SAME_COLUMN)
        return terms, tuple(notes)
