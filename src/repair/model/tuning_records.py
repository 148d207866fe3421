"""Records of the tuning: what was tried and why it was chosen.  They are not saved in the model file."""

from dataclasses import dataclass

import numpy as np

from repair._utils.arrays import FloatArray, IntArray
from repair._utils.text_tables import text_table
from repair.model.choice import Choice, Setting
from repair.stats.paired_gains import PairedGain

__all__ = ["AutoChoice", "CandidateResult", "GridSearchResult", "HeadLossTest"]


#: The corrections that ``auto`` tries and that are no mode of that name.
TITLES = {"separable": "offsets, temperature, count slope", "few_terms": "extended, few terms"}


@dataclass(frozen=True, eq=False)
class GridSearchResult:
    """The result of a grid search.  It prints as a table of the ten best settings.

    Attributes
    ----------
    settings : tuple of Setting
        All settings that were tried.
    values : ndarray (s,)
        Criterion of each setting, where higher is better.
    errors : ndarray (s,)
        Standard error over groups of the difference to the best setting, 0 in sample.
    chosen : Setting
    scoring : str
        Name of the criterion.
    rule : str
        Rule by which the setting was chosen.
    cv : int or "in_sample"
        Number of folds, or "in_sample" if the criterion was computed on the rows of the fit.
    """

    settings: tuple[Setting, ...]
    values: FloatArray
    errors: FloatArray
    chosen: Setting
    scoring: str
    rule: str
    cv: int | str

    def __str__(self) -> str:
        """Return the table."""
        order = np.argsort(-self.values, kind="stable")[:10]
        rows = []
        for position in order:
            setting = self.settings[position]
            numbers = setting.tau, setting.alpha, setting.lambda_theta, setting.lambda_a
            result = f"{self.values[position]:.4f}", f"{self.errors[position]:.4f}"
            rows.append([*(f"{number:g}" for number in numbers), *result])
        header = ["tau", "alpha", "lambda_theta", "lambda_a", self.scoring, "± to best"]
        how = "in sample" if isinstance(self.cv, str) else f"{self.cv} folds"
        return f"{text_table(header, rows, text_columns=())}\nchosen ({self.rule}, {how}): {self.chosen}"


@dataclass(frozen=True, eq=False)
class CandidateResult:
    """The result of one mode that ``auto`` tried, on held-out rows.

    Attributes
    ----------
    choice : Choice
        The mode with the penalties, the dial and the shortlist that were chosen for it.
    gain : PairedGain
        Accuracy over all rows minus that of the base order.
    p_value : float
        p-value of "the base scores are right up to a temperature", multiplied by the number of tests.
        For corrections that are never chosen, it is not multiplied.
    hits : ndarray (n,)
        Whether each row was right when it was held out, 0 on uncovered rows.
    keeps_base : bool, default False
        Whether this candidate is the base order itself.
    log_likelihood : PairedGain or None
        Mean log-probability of the label, minus that under the base scores with the best temperature.
    improvement : ndarray (n,) or None
        The difference in log-probability of each held-out row, 0 on uncovered rows.
    name : str, default ""
        ``"classwise"``, ``"separable"`` (offsets, a temperature and a slope in log counts), ``"pairwise"``,
        ``"few_terms"`` (the small correction: a temperature, logit adjustment and shrunken class offsets)
        or ``"extended"``.  The last two can be chosen.
    """

    choice: Choice
    gain: PairedGain
    p_value: float
    hits: FloatArray
    keeps_base: bool = False
    log_likelihood: PairedGain | None = None
    improvement: FloatArray | None = None
    name: str = ""

    @property
    def few_terms(self) -> bool:
        """Whether this is the small correction."""
        return self.name == "few_terms"

    @property
    def mode(self) -> str:
        """Name of the mode."""
        assert self.choice.mode is not None
        return self.choice.mode

    @property
    def dial(self) -> float | str:
        """The dial that was chosen, or 0."""
        return self.choice.dial or 0.0

    def to_dict(self) -> dict[str, object]:
        """Return the numbers, without the rows."""
        return {
            **self.choice.to_dict(),
            "name": self.name,
            "gain": self.gain,
            "log_likelihood": self.log_likelihood,
            "p_value": self.p_value,
        }


@dataclass(frozen=True, eq=False)
class AutoChoice:
    """The mode that ``auto`` chose, and why.  It prints as a table.

    Attributes
    ----------
    chosen : CandidateResult
    candidates : tuple of CandidateResult
        All modes that were tried, the base order first.
    reason : str
        Why this mode was chosen, in one sentence.
    gain : PairedGain or None
        Gain of the chosen correction over the base order on held-out rows, 0 if the base order was
        kept.  None if no mode was tried.
    agreed : int
        Number of folds in which the labels became more likely.
    outer : tuple of CandidateResult, default ()
        The choice for each fold.  It is empty if no mode was tried.
    folds : ndarray of int32 (n,) or None
        The fold of each row.
    """

    chosen: CandidateResult
    candidates: tuple[CandidateResult, ...]
    reason: str
    gain: PairedGain | None
    agreed: int
    outer: tuple[CandidateResult, ...] = ()
    folds: IntArray | None = None

    def __str__(self) -> str:
        """Return a table of the candidates, and the reason."""
        rows = []
        for candidate in self.candidates:
            low, high = (100 * end for end in candidate.gain.interval())
            likelihood = "-" if candidate.log_likelihood is None else f"{candidate.log_likelihood.gain:+.3f}"
            gain = "-" if candidate.keeps_base else f"{100 * candidate.gain.gain:+.1f} [{low:+.1f}, {high:+.1f}]"
            rows.append([TITLES.get(candidate.name, candidate.mode), gain, likelihood, f"{candidate.p_value:.3g}"])
        return f"{text_table(['mode', 'accuracy [95 %]', 'log-likelihood', 'p'], rows)}\n{self.reason}"


@dataclass(frozen=True, eq=False)
class HeadLossTest:
    """The tests by which the strength was chosen.  It prints as a table.

    Attributes
    ----------
    strength : float
        The largest strength s that passed.
    strengths, losses, p_values : ndarray
        Each s that was tested, its loss on held-out rows of frequent classes (as a share, not in
        points), and the p-value of "the loss is larger than allowed".
    n_units : int
        Number of groups with rows of frequent classes in the test, or of such rows without groups.
    reason : str
        The outcome, in one sentence.
    """

    strength: float
    strengths: FloatArray
    losses: FloatArray
    p_values: FloatArray
    n_units: int
    reason: str

    def __str__(self) -> str:
        """Return the table and the outcome."""
        cells = zip(self.strengths, self.losses, self.p_values, strict=True)
        rows = [[f"{s:.2f}", f"{100 * loss:+.2f}", f"{p:.3g}"] for s, loss, p in cells]
        return f"{text_table(['strength', 'loss (points)', 'p'], rows, text_columns=())}\n{self.reason}"
