"""``mode="auto"``: the simplest correction whose held-out gain is real, or none at all.

Rungs go from Base over Classwise and Pairwise to Extended.  Each is fitted on some groups of rows and scored on
the others; one is taken only if its gain over Base is significant, and the gain that is reported
comes from running the whole choice again inside the training part of every outer fold.
"""

from dataclasses import dataclass, replace

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray, dot
from repair.calibration import CalibrationSet
from repair.coverage import choose_shortlist_tau, with_adjusted_list
from repair.decision import Decision
from repair.design import Design
from repair.extended import ExtendedProblem, fit_extended
from repair.fitting import Fit, FitSettings, fit_design
from repair.folds import group_folds
from repair.grid import PAPER_GRID, SEARCH_TOLERANCE
from repair.progress import progress_bar
from repair.statistics import PairedGain, holm, paired_gain
from repair.tables import text_table
from repair.terms import Term

__all__ = ["AutoChoice", "RungResult", "choose_mode"]

RUNGS = ("base", "classwise", "pairwise", "extended")
OUTER_FOLDS, INNER_FOLDS = 5, 4
DIALS = tuple(round(0.1 * step, 1) for step in range(11))
#: Fewer than this, and Base is kept without looking.
FEWEST_ROWS, FEWEST_GROUPS = 50, 5
LEVEL = 0.05
#: Penalties to choose from; weaker ones than the paper's, because held-out rows can refuse them.
OFFSET_PENALTIES = (2e-5, 5e-5, 1e-4, 2e-4, *PAPER_GRID.lambda_a)
WEIGHT_PENALTIES = (1e-6, 1e-5, *PAPER_GRID.lambda_theta)


@dataclass(frozen=True, eq=False)
class RungResult:
    """One rung on held-out rows.

    Attributes
    ----------
    rung : str
    lambda_a, lambda_theta, dial : float
        What was chosen for it.
    gain : PairedGain
        Accuracy over all rows, less Base's; used to choose, and optimistic by that.
    p_value : float
        Of "no gain", after Holm's correction over the rungs.
    hits : ndarray (n,)
        Whether each row was right, held out; 0 on uncovered rows.
    """

    rung: str
    lambda_a: float
    lambda_theta: float
    dial: float
    gain: PairedGain
    p_value: float
    hits: FloatArray


@dataclass(frozen=True, eq=False)
class AutoChoice:
    """What ``auto`` chose and why; prints as a table.

    Attributes
    ----------
    chosen : RungResult
    rungs : tuple of RungResult
    reason : str
    gain : PairedGain or None
        Honest gain of the whole procedure over Base, from nested folds; None if nothing was tried.
    agreed : int
        How many of the outer folds chose the same rung.
    shortlist_tau : float
        By which the extended rung takes its shortlists.
    outer : tuple of RungResult
        What was chosen without each outer fold; empty if nothing was tried.
    folds : ndarray of int32 (n,) or None
        The outer fold of each row.
    """

    chosen: RungResult
    rungs: tuple[RungResult, ...]
    reason: str
    gain: PairedGain | None
    agreed: int
    shortlist_tau: float = 0.0
    outer: tuple[RungResult, ...] = ()
    folds: IntArray | None = None

    def __str__(self) -> str:
        """Return the rungs and the reason."""
        rows = [
            [one.rung, f"{one.lambda_a:g}", f"{one.lambda_theta:g}", f"{one.dial:g}", f"{one.p_value:.3g}"]
            for one in self.rungs
        ]
        return f"{text_table(['rung', 'lambda_a', 'lambda_theta', 'dial', 'p'], rows)}\n{self.reason}"


def choose_mode(
    calibration: CalibrationSet,
    terms: tuple[Term, ...],
    settings: FitSettings,
    *,
    shortlist_tau: float | None = None,
    index: str = "exact",
    seed: int = 0,
    progress: bool = False,
) -> AutoChoice:
    """Choose a rung, its penalties and its dial, and estimate honestly what that gains.

    Parameters
    ----------
    calibration : CalibrationSet
    terms : tuple of Term
        The pairwise rung's.
    settings : FitSettings
        Tolerances and the like; penalties, α and τ are not looked at.
    shortlist_tau : float, optional
        Of the extended rung's shortlists; chosen if not given.
    index : {"exact", "approximate"}
        How the extended rung looks for neighbours.
    seed : int
    progress : bool
    """
    refusal = _too_little(calibration)
    if refusal:
        kept = _base((calibration.positions == 0).astype(np.float64))
        return AutoChoice(kept, (kept,), refusal, None, OUTER_FOLDS)
    table = _Rows.of(calibration, terms, shortlist_tau, index)
    everything = np.ones(len(calibration.labels), dtype=bool)
    outer = group_folds(len(everything), calibration.groups, OUTER_FOLDS, seed)
    nested, picks = np.zeros(len(everything)), []
    with progress_bar("choosing a mode", OUTER_FOLDS + 1, show=progress) as step:
        chosen, rungs = _choose_rung(table, everything, outer, settings)
        step()
        for fold in range(OUTER_FOLDS):
            train = outer != fold
            inner = _refold(train, calibration.groups, seed + 1 + fold)
            picked, _ = _choose_rung(table, train, inner, settings)
            picks.append(picked)
            nested[~train] = (table.held_out(picked, train, ~train, settings) - table.base_hits)[~train]
            step()
    gain = paired_gain(nested, calibration.importance, calibration.groups)
    agreed = sum(picked.rung == chosen.rung for picked in picks)
    reason = _verdict(chosen, gain, agreed)
    return AutoChoice(chosen, rungs, reason, gain, agreed, table.shortlist_tau, tuple(picks), outer)


@dataclass(frozen=True, eq=False)
class _Rows:
    """All rows once: the designs of the rungs, what each row weighs, and where Base is right."""

    calibration: CalibrationSet
    designs: dict[str, Design]
    shortlist_tau: float
    base_hits: FloatArray
    terms: tuple[Term, ...]
    index: str

    @classmethod
    def of(
        cls, calibration: CalibrationSet, terms: tuple[Term, ...], shortlist_tau: float | None, index: str
    ) -> "_Rows":
        full = Design.of(calibration, terms, 0.0)
        designs = {"classwise": replace(full, columns=full.columns[:, :, :0], copies=()), "pairwise": full}
        if not terms:
            del designs["pairwise"]
        tau = choose_shortlist_tau(calibration) if shortlist_tau is None else shortlist_tau
        designs["extended"] = ExtendedProblem.of(calibration, terms, tau, index=index).design
        hits = (calibration.positions == 0).astype(np.float64)
        return cls(calibration, designs, tau, hits, terms, index)

    @property
    def with_counts(self) -> bool:
        """Whether a dial can be turned."""
        return self.calibration.table.class_counts is not None

    def base(self) -> RungResult:
        """Return the rung that changes nothing."""
        return _base(self.base_hits)

    def hits(self, rung: str, scores: FloatArray, which: AnyArray, dial: float) -> FloatArray:
        """Return, for all rows, whether a rung's scores of some covered rows (a mask of them) are right."""
        design = self.designs[rung]
        if dial:
            scores = scores + dial * self.calibration.table.log_rarity[np.maximum(design.ids[which], 0)]
        result = np.zeros(len(self.calibration.labels))
        result[design.rows[which]] = scores.argmax(axis=1) == design.target[which]
        return result

    def held_out(self, rung: RungResult, train: AnyArray, test: AnyArray, settings: FitSettings) -> FloatArray:
        """Fit a chosen rung on some rows and return where it is right on others (0 elsewhere)."""
        if rung.rung == "base":
            return np.where(test, self.base_hits, 0.0)
        if rung.rung == "extended":
            return self._held_out_extended(rung.dial, train, test, settings)
        design = self.designs[rung.rung]
        chosen = replace(settings, lambda_a=rung.lambda_a, lambda_theta=rung.lambda_theta)
        fit = fit_design(design.take(train[design.rows]), _plain(chosen))
        which = test[design.rows]
        return self.hits(rung.rung, design.take(which).scores(fit.offsets, fit.weights), which, rung.dial)

    def _held_out_extended(self, dial: float, train: AnyArray, test: AnyArray, settings: FitSettings) -> FloatArray:
        """Do as `held_out` with terms that learn anew: columns of the common design have seen the test rows."""
        learned, rows = self.calibration.take(np.flatnonzero(train)), np.flatnonzero(test)
        held_out = with_adjusted_list(self.calibration.take(rows), self.shortlist_tau)
        wanted = _by_evidence(settings)
        correction = fit_extended(learned, self.terms, wanted, tau=self.shortlist_tau, index=self.index).correction
        lists = correction.profiled(held_out.shortlist, held_out.all_scores)
        best = correction.scores(lists, Decision(dial)).argmax(axis=1)
        result = np.zeros(len(test))
        result[rows] = held_out.covered & (best == held_out.positions)
        return result


def _base(hits: FloatArray) -> RungResult:
    return RungResult("base", 1.0, 1.0, 0.0, PairedGain(0.0, 0.0, 1), 1.0, hits)


def _plain(settings: FitSettings) -> FitSettings:
    """Return the settings of a rung's fit: ridge penalties, no τ, no α."""
    return replace(settings, with_offsets=True, tau=0.0, alpha=0.0, shrinkage=False, evidence=False)


def _by_evidence(settings: FitSettings) -> FitSettings:
    """Return the settings of the extended rung's fit: every penalty from the marginal likelihood."""
    return replace(settings, with_offsets=True, tau=0.0, alpha=0.0, shrinkage="eb", evidence=True)


def _too_little(calibration: CalibrationSet) -> str:
    covered = int(calibration.covered.sum())
    if covered < FEWEST_ROWS:
        return f"Base is kept: {covered} covered rows are too few to tell ({FEWEST_ROWS} are needed)."
    groups = len(np.unique(calibration.groups)) if calibration.groups is not None else covered
    if groups < FEWEST_GROUPS:
        return f"Base is kept: {groups} groups are too few to tell ({FEWEST_GROUPS} are needed)."
    return ""


def _refold(train: AnyArray, groups: IntArray | None, seed: int) -> IntArray:
    """Fold the training rows anew; −1 on the others."""
    codes = None if groups is None else np.unique(groups[train], return_inverse=True)[1].astype(np.int32)
    folds = np.full(len(train), -1, dtype=np.int32)
    folds[train] = group_folds(int(train.sum()), codes, INNER_FOLDS, seed)
    return folds


def _choose_rung(
    rows: _Rows, use: AnyArray, folds: IntArray, settings: FitSettings
) -> tuple[RungResult, tuple[RungResult, ...]]:
    """Score every rung on held-out rows of `use` and take the simplest one that is really better than Base."""
    importance = np.where(use, rows.calibration.importance, 0.0)
    tried = [_score_rung(rows, rung, use, folds, importance, settings) for rung in rows.designs]
    adjusted = holm(np.array([one.gain.p_value() for one in tried]))
    tried = [replace(one, p_value=float(p)) for one, p in zip(tried, adjusted, strict=True)]
    accepted = [one for one in tried if one.p_value <= LEVEL]
    if not accepted:
        return rows.base(), (rows.base(), *tried)
    best = max(accepted, key=lambda one: one.gain.gain)
    for one in accepted:  # from the simplest up
        worse = _gain(best.hits - one.hits, importance, rows)
        if one is best or worse.p_value() > LEVEL:
            return one, (rows.base(), *tried)
    return best, (rows.base(), *tried)


def _gain(difference: FloatArray, importance: FloatArray, rows: _Rows) -> PairedGain:
    """Paired gain over the rows that have weight."""
    kept = importance > 0
    groups = rows.calibration.groups
    codes = None if groups is None else np.unique(groups[kept], return_inverse=True)[1].astype(np.int32)
    return paired_gain(difference[kept], importance[kept], codes)


def _score_rung(
    rows: _Rows, rung: str, use: AnyArray, folds: IntArray, importance: FloatArray, settings: FitSettings
) -> RungResult:
    design = rows.designs[rung]
    mine = folds[design.rows]
    inside = use[design.rows]
    weights = importance[design.rows]
    if rung == "extended":
        lambda_a, lambda_theta, scores = 0.0, 0.0, _held_out(design, mine, inside, settings)
    else:
        lambda_a, lambda_theta, scores = _least_loss(design, mine, inside, weights, settings)
    dials = DIALS if rows.with_counts else (0.0,)
    hits = [np.where(use, rows.hits(rung, scores[inside], inside, dial), 0.0) for dial in dials]
    best = int(np.argmax([dot(importance, one) for one in hits]))
    gaps = [_gain(hits[best] - one, importance, rows) for one in hits]
    place = next(i for i, gap in enumerate(gaps) if gap.gain <= gap.error)
    gain = _gain(hits[place] - np.where(use, rows.base_hits, 0.0), importance, rows)
    return RungResult(rung, lambda_a, lambda_theta, dials[place], gain, 1.0, hits[place])


def _parts(design: Design, folds: IntArray, inside: AnyArray) -> list[tuple[Design, Design, AnyArray]]:
    """Return for each fold the design of the others, of the fold, and the fold's places."""
    parts = []
    for fold in range(int(folds.max()) + 1):
        places = np.flatnonzero(inside & (folds == fold))
        others = np.flatnonzero(inside & (folds != fold))
        if len(places) and len(others):
            parts.append((design.take(others), design.take(places), places))
    return parts


def _held_out(design: Design, folds: IntArray, inside: AnyArray, settings: FitSettings) -> FloatArray:
    """Return held-out scores of the extended rung, which chooses its penalties itself."""
    scores = np.zeros(design.base.shape)
    for train, test, places in _parts(design, folds, inside):
        fit = fit_design(train, replace(_by_evidence(settings), tol=SEARCH_TOLERANCE))
        scores[places] = test.scores(fit.offsets, fit.weights)
    return scores


def _least_loss(
    design: Design, folds: IntArray, inside: AnyArray, weights: FloatArray, settings: FitSettings
) -> tuple[float, float, FloatArray]:
    """Return the penalties with the least weighted out-of-fold loss, and the held-out scores they give."""
    parts = _parts(design, folds, inside)
    best = (np.inf, 1.0, 1.0, np.zeros(design.base.shape))
    for lambda_theta in WEIGHT_PENALTIES if design.copies else (1.0,):
        starts: list[Fit | None] = [None] * len(parts)
        for lambda_a in sorted(OFFSET_PENALTIES, reverse=True):
            wanted = _plain(replace(settings, lambda_a=lambda_a, lambda_theta=lambda_theta, tol=SEARCH_TOLERANCE))
            scores, loss = np.zeros(design.base.shape), 0.0
            for number, (train, test, places) in enumerate(parts):
                starts[number] = fit = fit_design(train, wanted, starts[number])
                scores[places] = test.scores(fit.offsets, fit.weights)
                loss -= dot(weights[places], test.log_likelihood(scores[places]))
            if loss < best[0]:
                best = (loss, lambda_a, lambda_theta, scores)
    return best[1], best[2], best[3]


def _verdict(chosen: RungResult, gain: PairedGain, agreed: int) -> str:
    low, high = gain.interval()
    measured = (
        f"{100 * gain.gain:+.1f} points of accuracy over Base "
        f"(95 % interval {100 * low:+.1f} to {100 * high:+.1f}, nested cross-validation; "
        f"{agreed} of {OUTER_FOLDS} folds chose the same)"
    )
    if chosen.rung == "base":
        return f"Base is kept: no correction gains significantly on held-out rows. Choosing anyway gave {measured}."
    dial = f" with dial {chosen.dial:g}" if chosen.dial else ""
    return f"{chosen.rung.capitalize()} is chosen{dial}: {measured}."
