"""The contradictory pairs that chance alone would bring, if fixed offsets were the truth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair.arrays import FloatArray, IntArray, read_only
from repair.diagnosis.meetings import Meetings, covered_rows, numbers_fit
from repair.diagnosis.pairs import contradictory_pairs
from repair.errors import InputError
from repair.estimator import ShortlistReranker, softmax
from repair.inputs import check_count
from repair.kernels import kernels_for
from repair.parallel import map_row_blocks, row_blocks
from repair.shortlist import Shortlist

__all__ = ["ExpectedContradictions", "expected_contradictions"]


@dataclass(frozen=True, eq=False)
class ExpectedContradictions:
    """The observed number of contradictory pairs beside what a classwise truth would give.

    Attributes
    ----------
    observed : int
    drawn : ndarray of int32 (draws,)
        The count in each draw of labels from the model.
    """

    observed: int
    drawn: IntArray

    @property
    def expected(self) -> float:
        """Mean count over the draws."""
        return float(self.drawn.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation of the count over the draws (divisor draws − 1)."""
        return float(self.drawn.std(ddof=1)) if len(self.drawn) > 1 else float("nan")

    @property
    def excess(self) -> float:
        """Observed − expected: the pairs that chance under the model does not explain."""
        return self.observed - self.expected

    @property
    def p_value(self) -> float:
        """Monte-Carlo p-value (1 + draws that reach the observed count) / (draws + 1)."""
        return float((1 + (self.drawn >= self.observed).sum()) / (len(self.drawn) + 1))

    def __str__(self) -> str:
        """Return the comparison in one sentence."""
        return (
            f"{self.observed} contradictory pairs, "
            f"{self.expected:.1f} ± {self.deviation:.1f} expected under the model: "
            f"excess {self.excess:+.1f}, p = {self.p_value:.3g} ({len(self.drawn)} draws)"
        )


def expected_contradictions(
    shortlist: Shortlist, labels: ArrayLike, model: ShortlistReranker, *, draws: int = 200, seed: int = 0
) -> ExpectedContradictions:
    """Compare the count of contradictory pairs with the one expected if `model` were the truth.

    Labels of the covered rows are drawn from the model's q(y | x, S), and pairs counted again.
    Rows are drawn independently; where rows of a group are copies, the expected count is too high
    and the p-value too cautious.

    Parameters
    ----------
    shortlist : Shortlist
        Raw base scores g.
    labels : array_like of int (n,)
        Class ids; only covered rows are looked at, and drawn.
    model : fitted reranker without pairwise terms
        ``Reranker(mode="classwise", shrinkage="eb")`` fitted on these rows with α = 0 serves best.
        A fixed ridge gives rare classes too much probability and so expects too many pairs
        (it hides an excess); no penalty to speak of expects too few (it invents one).  Scores that are
        too sure of themselves show as an excess too; but a fitted temperature is flattened by
        the very pairs that are looked for, and hides them.
    draws : int, default 200
    seed : int, default 0
        Every draw has its own stream, so the result depends on no thread count.

    Returns
    -------
    ExpectedContradictions

    Examples
    --------
    >>> import numpy as np
    >>> from repair import Reranker, Shortlist
    >>> from repair.diagnosis import expected_contradictions
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(500, 8))
    >>> labels = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)  # drawn from the softmax
    >>> shortlist = Shortlist.from_scores(scores, n_candidates=5)
    >>> model = Reranker(mode="classwise", shrinkage="eb").fit(shortlist, labels)
    >>> result = expected_contradictions(shortlist, labels, model, draws=50)
    >>> result.observed, bool(result.p_value > 0.05)
    (28, True)
    """
    count, first_seed = check_count(draws, "draws"), check_count(seed, "seed", low=0)
    observed = contradictory_pairs(shortlist, labels).n_contradictory
    _refuse_pairwise(model)
    _, rows, _ = covered_rows(shortlist, labels)
    covered = shortlist.take(rows)
    chances = _cumulated_chances(covered, model)
    meetings = Meetings.of(covered) if numbers_fit(covered) else None

    def one(draw: slice) -> int:
        rng = np.random.default_rng([first_seed, draw.start])
        # The first candidate whose cumulated chance exceeds the random number.
        drawn = (chances <= rng.random((len(chances), 1))).sum(axis=1, dtype=np.int32)
        if meetings is None:  # sorts the pairs in every draw: slower, but with little memory
            return contradictory_pairs(covered, covered.ids[np.arange(len(covered)), drawn]).n_contradictory
        return _count(meetings, drawn)

    drawn = np.array(map_row_blocks(one, row_blocks(count, 1)), dtype=np.int32)
    return ExpectedContradictions(observed, read_only(drawn))


def _refuse_pairwise(model: ShortlistReranker) -> None:
    if not isinstance(model, ShortlistReranker):
        raise InputError(f"model is {type(model).__name__}; pass a fitted Reranker(mode='classwise', shrinkage='eb')")
    if model.weights_:
        raise InputError(
            f"model has the pairwise terms {list(model.weights_)}, so contradictions are part of what it expects; "
            "pass a fitted Reranker(mode='classwise', shrinkage='eb')"
        )


def _cumulated_chances(shortlist: Shortlist, model: ShortlistReranker) -> FloatArray:
    """Return the running sums of q(y | x, S) in base order; exactly 1 from the last candidate on."""
    if len(shortlist) == 0:
        return np.empty(shortlist.ids.shape)
    ranking = model.rerank(shortlist, dial=0.0)
    scores = np.empty(ranking.scores.shape)
    np.put_along_axis(scores, ranking.order, ranking.scores, axis=1)
    sums = np.cumsum(softmax(scores), axis=1)
    chances: FloatArray = sums / sums[:, -1:]
    return chances


def _count(meetings: Meetings, positions: IntArray) -> int:
    """Count contradictory pairs if the label of each row stands at these base positions."""
    shortlist = meetings.shortlist
    kernels = kernels_for(shortlist.ids.size)
    largest = np.full((len(meetings), 2), -np.inf)
    kernels.largest_leads(meetings.kept, shortlist.ids, shortlist.scores, shortlist.lengths, positions, largest)
    # −Inf, the lead of a label that no row has, never crosses anything.
    return int((largest[:, 0] >= -largest[:, 1]).sum())
