"""The number of contradictory pairs to expect by chance if a classwise model were the truth."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repair._utils.arrays import FloatArray, IntArray, read_only, softmax
from repair._utils.parallel import map_row_blocks, row_blocks
from repair.data.shortlist import Shortlist
from repair.diagnosis.pairs import contradictory_pairs
from repair.diagnosis.shared_shortlists import Meetings, covered_rows, numbers_fit
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.rerankers.base import ShortlistReranker
from repair.validation.checks import check_count

__all__ = ["ExpectedContradictions", "expected_contradictions"]


@dataclass(frozen=True, eq=False)
class ExpectedContradictions:
    """The observed number of contradictory pairs, and the number expected if the model were the truth.

    Attributes
    ----------
    observed : int
        The count with the actual labels.
    drawn : ndarray of int32 (draws,)
        The count with each draw of labels from the model.
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
        """Observed − expected: the number of pairs that the model does not explain by chance."""
        return self.observed - self.expected

    @property
    def p_value(self) -> float:
        """Monte-Carlo p-value: (1 + number of draws that reach the observed count) / (draws + 1)."""
        return float((1 + (self.drawn >= self.observed).sum()) / (len(self.drawn) + 1))

    def __str__(self) -> str:
        """Return the comparison in one sentence."""
        return (
            f"{self.observed} contradictory pairs. "
            f"If offsets were enough, {self.expected:.1f} ± {self.deviation:.1f} would arise by chance "
            f"(excess {self.excess:+.1f}, p = {self.p_value:.3g}, {len(self.drawn)} draws)."
        )


def expected_contradictions(
    shortlist: Shortlist, labels: ArrayLike, model: ShortlistReranker, *, draws: int = 200, random_state: int = 0
) -> ExpectedContradictions:
    """Compare the count of contradictory pairs with the one expected if `model` were the truth.

    The labels of the covered rows are drawn from the model's q(y | x, S), and the pairs are counted
    again.  Rows are drawn independently.  If rows of a group are copies, the expected count is
    therefore too high and the p-value too large.

    Parameters
    ----------
    shortlist : Shortlist
        Candidates with the base scores g.
    labels : array_like of int (n,)
        Class ids.  Uncovered rows, whose label is −1 or not on the shortlist, are ignored.
    model : fitted reranker without pairwise terms
        ``Reranker("classwise", shrinkage="eb")``, fitted on these rows with α = 0, is the best choice.
        A fixed ridge penalty gives rare classes too much probability, so it expects too many pairs
        and hides an excess.  A very small penalty expects too few pairs and produces a false
        excess.  Overconfident scores produce an excess too.  A fitted temperature does not help,
        because the contradictory pairs themselves raise the temperature, which hides them.
    draws : int, default 200
        Number of draws.  More draws take longer and give a more precise p-value.
    random_state : int, default 0
        Seed for the draws.  Each draw has its own random stream, so the result does not depend on
        the number of threads.

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
    >>> model = Reranker("classwise", shrinkage="eb").fit(shortlist, labels)
    >>> result = expected_contradictions(shortlist, labels, model, draws=50)
    >>> result.observed, bool(result.p_value > 0.05)
    (28, True)
    """
    count, first_seed = check_count(draws, "draws"), check_count(random_state, "random_state", low=0)
    observed = contradictory_pairs(shortlist, labels).n_contradictory
    _check_no_pairwise_terms(model)
    _, rows, _ = covered_rows(shortlist, labels)
    covered = shortlist.take(rows)
    chances = _cumulated_chances(covered, model)
    meetings = Meetings.of(covered) if numbers_fit(covered) else None

    def count_in(draw: slice) -> int:
        rng = np.random.default_rng([first_seed, draw.start])
        # The label is the first candidate whose cumulative probability exceeds the random number.
        drawn = (chances <= rng.random((len(chances), 1))).sum(axis=1, dtype=np.int32)
        if meetings is None:  # count from scratch in every draw, which is slower but needs little memory
            return contradictory_pairs(covered, covered.ids[np.arange(len(covered)), drawn]).n_contradictory
        return _count(meetings, drawn)

    drawn = np.array(map_row_blocks(count_in, row_blocks(count, 1)), dtype=np.int32)
    return ExpectedContradictions(observed, read_only(drawn))


def _check_no_pairwise_terms(model: ShortlistReranker) -> None:
    if not isinstance(model, ShortlistReranker):
        raise InputError(f"model is {type(model).__name__}; pass a fitted Reranker(mode='classwise', shrinkage='eb')")
    if model.weights_:
        raise InputError(
            f"model has the pairwise terms {list(model.weights_)}, so it can explain contradictory pairs; "
            "pass a fitted Reranker(mode='classwise', shrinkage='eb')"
        )


def _cumulated_chances(shortlist: Shortlist, model: ShortlistReranker) -> FloatArray:
    """Return the cumulative sums of q(y | x, S) in base order, which are exactly 1 from the last candidate on."""
    if len(shortlist) == 0:
        return np.empty(shortlist.ids.shape)
    ranking = model.rerank(shortlist, dial=0.0)
    scores = np.empty(ranking.scores.shape)
    np.put_along_axis(scores, ranking.order, ranking.scores, axis=1)
    sums = np.cumsum(softmax(scores), axis=1)
    chances: FloatArray = sums / sums[:, -1:]
    return chances


def _count(meetings: Meetings, positions: IntArray) -> int:
    """Count the contradictory pairs if the labels are at these base positions."""
    shortlist = meetings.shortlist
    kernels = kernels_for(shortlist.ids.size)
    largest = np.full((len(meetings), 2), -np.inf)
    kernels.largest_leads(meetings.kept, shortlist.ids, shortlist.scores, shortlist.lengths, positions, largest)
    # If one of the labels does not occur, its lead is −Inf, and the pair does not count.
    return int((largest[:, 0] >= -largest[:, 1]).sum())
