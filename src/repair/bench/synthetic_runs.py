"""Several methods on one synthetic setting over several seeds: means, spreads and paired gains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from repair.bench.synthetic import SyntheticSettings, make_synthetic
from repair.bench.synthetic_methods import ORACLE, fit_and_score, three_methods
from repair.estimator import ShortlistReranker
from repair.evaluation import Evaluation
from repair.statistics import PairedGain, paired_gain

__all__ = ["Runs", "run_seeds"]


@dataclass(frozen=True, eq=False)
class Runs:
    """What every method reached on every seed.

    Attributes
    ----------
    results : dict from name to list of Evaluation
        One for each seed; the oracle is among the names.
    """

    results: Mapping[str, Sequence[Evaluation]]

    def values(self, name: str, metric: str = "hit@1") -> list[float]:
        """Return a conditional metric (over covered rows), seed by seed."""
        return [one.conditional[metric] for one in self.results[name]]

    def mean(self, name: str, metric: str = "hit@1") -> float:
        """Return its mean over the seeds."""
        return float(np.mean(self.values(name, metric)))

    def spread(self, name: str, metric: str = "hit@1") -> float:
        """Return its standard deviation over the seeds; 0 for one seed."""
        values = self.values(name, metric)
        return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

    def accuracy(self, name: str) -> float:
        """Return accuracy over all rows, averaged over the seeds."""
        return float(np.mean([one.unconditional["hit@1"] for one in self.results[name]]))

    def rho(self, name: str) -> float:
        """Return the paper's ρ from mean Hit@1: gain over Base, by what Base gets wrong."""
        base = self.mean("Base")
        return (self.mean(name) - base) / (1.0 - base)

    def share(self, name: str) -> float:
        """Return the gain over Base as a share of the oracle's gain over Base."""
        base = self.mean("Base")
        return (self.mean(name) - base) / (self.mean(ORACLE) - base)

    def gain(self, first: str, second: str) -> PairedGain:
        """Return ΔHit@1 of one method over another on the covered rows of all seeds, with its error."""
        differences = []
        for one, other in zip(self.results[first], self.results[second], strict=True):
            rows = one.rows["covered"] > 0
            differences.append((one.rows["hit@1"] - other.rows["hit@1"])[rows])
        joined = np.concatenate(differences)
        return paired_gain(joined, np.ones(len(joined)), None)


def run_seeds(
    settings: SyntheticSettings,
    seeds: Sequence[int],
    methods: Callable[[int], Mapping[str, ShortlistReranker]] = three_methods,
) -> Runs:
    """Draw the problem once for each seed, fit every method and score it beside the oracle.

    Parameters
    ----------
    settings : SyntheticSettings
        Its ``n_candidates`` is k for the methods too; its seed is replaced.
    seeds : sequence of int
    methods : callable from k to a mapping of rerankers
        Base must be among them.

    Returns
    -------
    Runs

    Examples
    --------
    >>> from repair.bench.synthetic import SyntheticSettings
    >>> from repair.bench.synthetic_runs import run_seeds
    >>> runs = run_seeds(SyntheticSettings(n_calibration=400, n_test=300), seeds=[0, 1])
    >>> runs.share("Base"), len(runs.values("REPAIR"))
    (0.0, 2)
    """
    results: dict[str, list[Evaluation]] = {}
    for seed in seeds:
        problem = make_synthetic(replace(settings, seed=seed))
        scored, _ = fit_and_score(problem, methods(settings.n_candidates), settings.n_candidates)
        for name, result in scored.items():
            results.setdefault(name, []).append(result)
    return Runs(results)
