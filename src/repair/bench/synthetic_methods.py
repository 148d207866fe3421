"""The methods that are compared on the synthetic problem, and the oracle beside them."""

from collections.abc import Mapping

import numpy as np

from repair.baselines import Base, ClasswiseTemperature, LogitAdjustment
from repair.bench.synthetic import SyntheticProblem
from repair.estimator import ShortlistReranker
from repair.evaluation import Evaluation, evaluate
from repair.ranking import Ranking
from repair.reranker import Reranker
from repair.shortlist import Shortlist

__all__ = ["EXTENDED", "ORACLE", "TERMS", "fit_and_score", "three_methods", "usual_methods"]

#: The features the paper uses on this problem.
TERMS = ("score_gap", "rank_gap", "similarity")
#: The name under which the true posterior's ranking of the same shortlists is reported.
ORACLE = "true-posterior oracle"
#: The mode extended on the base's own shortlists, so that it can be measured against the same oracle.
EXTENDED = "extended, base's list"


def usual_methods(n_candidates: int = 10) -> dict[str, ShortlistReranker]:
    """Return REPAIR, its parts, and what it is measured against.

    Examples
    --------
    >>> from repair.bench.synthetic_methods import usual_methods
    >>> list(usual_methods())
    ['Base', 'LogitAdj', 'Classwise', 'Classwise+temperature', 'Pairwise-only', 'REPAIR']
    """
    return {
        "Base": Base(n_candidates),
        "LogitAdj": LogitAdjustment(n_candidates),
        "Classwise": Reranker(n_candidates, "classwise"),
        "Classwise+temperature": ClasswiseTemperature(n_candidates),
        "Pairwise-only": Reranker(n_candidates, "pairwise_only", terms=TERMS),
        "REPAIR": Reranker(n_candidates, "pairwise", terms=TERMS),
    }


def three_methods(n_candidates: int = 10) -> dict[str, ShortlistReranker]:
    """Return Base, Classwise and REPAIR, for tables over many problems.

    Examples
    --------
    >>> from repair.bench.synthetic_methods import three_methods
    >>> list(three_methods())
    ['Base', 'Classwise', 'REPAIR']
    """
    usual = usual_methods(n_candidates)
    return {name: usual[name] for name in ("Base", "Classwise", "REPAIR")}


def fit_and_score(
    problem: SyntheticProblem, methods: Mapping[str, ShortlistReranker], n_candidates: int = 10
) -> tuple[dict[str, Evaluation], dict[str, ShortlistReranker]]:
    """Fit every method on the calibration part and score it, and the oracle, on the test part.

    Parameters
    ----------
    problem : SyntheticProblem
    methods : mapping from name to reranker
        They are fitted in place.
    n_candidates : int, default 10
        k, of the methods and the oracle alike.

    Returns
    -------
    results : dict from name to Evaluation
        The oracle is the last.
    fitted : dict from name to reranker

    Examples
    --------
    >>> from repair.bench.synthetic import SyntheticSettings, make_synthetic
    >>> from repair.bench.synthetic_methods import fit_and_score, three_methods
    >>> problem = make_synthetic(SyntheticSettings(n_calibration=300, n_test=200))
    >>> results, _ = fit_and_score(problem, three_methods())
    >>> list(results)
    ['Base', 'Classwise', 'REPAIR', 'true-posterior oracle']
    """
    known = {"class_counts": problem.class_counts, "similarity": problem.similarity}
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
