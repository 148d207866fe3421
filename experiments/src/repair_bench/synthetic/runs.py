"""Several methods on one synthetic setting over several seeds: means, spreads and paired gains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair.datasets import SyntheticSettings, make_synthetic
from repair.demo.synthetic_methods import ORACLE, fit_and_score, usual_methods
from repair.evaluation.evaluate import Evaluation
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.stats.paired_gains import PairedGain, paired_gain

__all__ = ["Runs", "run_seeds", "three_methods"]


@dataclass(frozen=True, eq=False)
class Runs:
    """The evaluations of every method on every seed.

    Attributes
    ----------
    results : dict from title to list of Evaluation
        One evaluation per seed.  The oracle is among the titles.
    """

    results: Mapping[str, Sequence[Evaluation]]

    def values(self, name: str, metric: str = "hit@1") -> list[float]:
        """Return a metric over covered rows, one value per seed."""
        return [one.conditional[metric] for one in self.results[name]]

    def mean(self, name: str, metric: str = "hit@1") -> float:
        """Return the mean of a metric over the seeds."""
        return float(np.mean(self.values(name, metric)))

    def spread(self, name: str, metric: str = "hit@1") -> float:
        """Return the standard deviation of a metric over the seeds, or 0 with one seed."""
        values = self.values(name, metric)
        return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

    def accuracy(self, name: str) -> float:
        """Return accuracy over all rows, averaged over the seeds."""
        return float(np.mean([one.unconditional["hit@1"] for one in self.results[name]]))

    def rho(self, name: str) -> float:
        """Return the paper's ρ (gap closed) from mean Hit@1: the gain over Base, divided by the error of Base."""
        base = self.mean("Base")
        return (self.mean(name) - base) / (1.0 - base)

    def share(self, name: str) -> float:
        """Return the gain over Base as a share of the oracle's gain over Base."""
        base = self.mean("Base")
        return (self.mean(name) - base) / (self.mean(ORACLE) - base)

    def gain(self, first: str, second: str) -> PairedGain:
        """Return ΔHit@1 of one method over another on the covered rows of all seeds, with its standard error."""
        differences = []
        for one, other in zip(self.results[first], self.results[second], strict=True):
            rows = one.rows["covered"] > 0
            differences.append((one.rows["hit@1"] - other.rows["hit@1"])[rows])
        joined = np.concatenate(differences)
        return paired_gain(joined, np.ones(len(joined)), None)


def three_methods(n_candidates: int = 10) -> dict[str, ShortlistReranker]:
    """Return base, classwise and pairwise, for tables over many problems.

    Examples
    --------
    >>> from repair_bench.synthetic.runs import three_methods
    >>> list(three_methods())
    ['base', 'classwise', 'pairwise']
    """
    usual = usual_methods(n_candidates)
    return {name: usual[name] for name in ("base", "classwise", "pairwise")}


def run_seeds(
    settings: SyntheticSettings,
    seeds: Sequence[int],
    methods: Callable[[int], Mapping[str, ShortlistReranker]] = three_methods,
) -> Runs:
    """Draw the problem once per seed, and fit and evaluate every method together with the oracle.

    Parameters
    ----------
    settings : SyntheticSettings
        Its ``n_candidates`` is also the k of the methods.  Its seed is replaced.
    seeds : sequence of int
    methods : callable from k to a mapping of rerankers
        The methods to fit.  Base must be among them.

    Returns
    -------
    Runs

    Examples
    --------
    >>> from repair.datasets import SyntheticSettings
    >>> from repair_bench.synthetic.runs import run_seeds
    >>> runs = run_seeds(SyntheticSettings(n_calibration=400, n_test=300), seeds=[0, 1])
    >>> runs.share("Base"), len(runs.values("Pairwise"))
    (0.0, 2)
    """
    results: dict[str, list[Evaluation]] = {}
    for seed in seeds:
        problem = make_synthetic(replace(settings, seed=seed))
        scored, _ = fit_and_score(problem, methods(settings.n_candidates), settings.n_candidates)
        for name, result in scored.items():
            results.setdefault(title_of(name), []).append(result)
    return Runs(results)
