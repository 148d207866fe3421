"""The methods that are compared on the synthetic problem, and the oracle."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from repair.data.ranking import Ranking
from repair.data.shortlist import Shortlist
from repair.datasets.synthetic import SyntheticProblem
from repair.evaluation.evaluate import Evaluation, evaluate
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import make_method

__all__ = ["ORACLE", "TERMS", "fit_and_score", "usual_methods"]

#: The terms that the paper uses on this problem.
TERMS = ("score_gap", "rank_gap", "similarity")
#: Names of the methods that are compared.
USUAL = ("base", "logit_adjustment", "classwise", "classwise_temperature", "pairwise_only", "pairwise")
#: Name of the ranking of the same shortlists by the true posterior.
ORACLE = "true-posterior oracle"


def usual_methods(n_candidates: int = 10) -> dict[str, ShortlistReranker]:
    """Return the pairwise mode, its parts, and the methods that it is compared with.

    Examples
    --------
    >>> from repair.demo.synthetic_methods import usual_methods
    >>> list(usual_methods())
    ['base', 'logit_adjustment', 'classwise', 'classwise_temperature', 'pairwise_only', 'pairwise']
    """
    options = {"pairwise_only": {"terms": TERMS}, "pairwise": {"terms": TERMS}}
    return {name: make_method(name, n_candidates, **options.get(name, {})) for name in USUAL}


def fit_and_score(
    problem: SyntheticProblem, methods: Mapping[str, ShortlistReranker], n_candidates: int = 10
) -> tuple[dict[str, Evaluation], dict[str, ShortlistReranker]]:
    """Fit every method on the calibration part, and evaluate it and the oracle on the test part.

    Parameters
    ----------
    problem : SyntheticProblem
    methods : mapping from name to reranker
        The methods, which are fitted in place.
    n_candidates : int, default 10
        Width k of the shortlist, for the methods and the oracle.

    Returns
    -------
    results : dict from name to Evaluation
        The oracle comes last.
    fitted : dict from name to reranker

    Examples
    --------
    >>> from repair import Base
    >>> from repair.datasets import SyntheticSettings, make_synthetic
    >>> from repair.demo.synthetic_methods import fit_and_score
    >>> problem = make_synthetic(SyntheticSettings(n_calibration=300, n_test=200))
    >>> results, _ = fit_and_score(problem, {"base": Base()})
    >>> list(results)
    ['base', 'true-posterior oracle']
    """
    known: dict[str, Any] = {"class_counts": problem.class_counts, "similarity": problem.similarity}
    part = problem.calibration
    fitted = {name: method.fit(part.scores, part.labels, **known) for name, method in methods.items()}
    shortlist = Shortlist.from_scores(problem.test.scores, n_candidates)
    rankings = {
        name: method.rerank(problem.test.scores if method.uses_all_scores else shortlist)
        for name, method in fitted.items()
    }
    truth = np.take_along_axis(problem.test.log_posterior, shortlist.ids, axis=1)
    rankings[ORACLE] = Ranking.from_scores(shortlist, truth)
    results = {name: evaluate(ranking, problem.test.labels, problem.class_counts) for name, ranking in rankings.items()}
    return results, fitted
