"""A base model on sets of ontology terms: TF-IDF and logistic regression.

Terms come with all their ancestors, so that a case of "generalized seizure" is also one of
"seizure"; TF-IDF then weighs down what nearly every case has.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from repair.arrays import AnyArray, FloatArray, IntArray
from repair.errors import MissingExtraError

__all__ = ["BASE_C", "base_scores", "term_table"]

#: Weak enough a penalty that on published patients the base finds two thirds of the diagnoses among its first ten.
BASE_C = 10.0


def term_table(sets: Sequence[frozenset[str]]) -> tuple[Any, list[str]]:
    """Return a sparse 0/1 table of cases and terms, and the terms.

    Parameters
    ----------
    sets : sequence of n frozensets of str
        Each case's terms, ancestors included.

    Returns
    -------
    table : scipy CSR matrix (n, number of terms)
    vocabulary : list of str
        The terms, sorted, one per column.

    Examples
    --------
    >>> from repair.bench.term_base import term_table
    >>> table, vocabulary = term_table([frozenset({"rash", "fever"}), frozenset({"fever"})])
    >>> table.toarray().tolist(), vocabulary
    ([[1.0, 1.0], [1.0, 0.0]], ['fever', 'rash'])
    """
    from scipy.sparse import csr_matrix

    vocabulary = sorted(frozenset().union(*sets))
    place = {term: column for column, term in enumerate(vocabulary)}
    columns = [place[term] for terms in sets for term in sorted(terms)]
    starts = np.cumsum([0, *(len(terms) for terms in sets)])
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(sets), len(vocabulary))), vocabulary


def base_scores(
    table: Any, labels: IntArray, training: AnyArray, c: float = BASE_C, *, fewest_cases: int = 0
) -> FloatArray:
    """Fit TF-IDF and logistic regression on the training cases; score all.

    Parameters
    ----------
    table : scipy CSR matrix (n, number of terms)
    labels : ndarray of int (n,)
        Every class must occur in training, and there must be at least three.
    training : ndarray of bool (n,)
    c : float, default 10
        Inverse penalty of the logistic regression.
    fewest_cases : int, default 0
        Terms that fewer training cases have are left out; time goes with the number of terms.

    Returns
    -------
    ndarray of float64 (n, K)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.bench.term_base import base_scores, term_table
    >>> table, _ = term_table([frozenset({name}) for name in "abcabc"])
    >>> base_scores(table, np.array([0, 1, 2, 0, 1, 2]), np.arange(6) < 3).argmax(axis=1).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    try:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits  # scikit-learn brings it
    except ImportError:
        raise MissingExtraError(
            "training the base needs the extra 'sklearn': pip install 'repair-rerank[sklearn]'"
        ) from None
    if fewest_cases:
        table = table[:, np.asarray(table[training].sum(axis=0)).ravel() >= fewest_cases]
    weighted = TfidfTransformer().fit(table[training]).transform(table)
    # On busy cores, threads that wait for each other in every small product took four times as long as one thread.
    with threadpool_limits(limits=1):
        model = LogisticRegression(C=c, max_iter=300).fit(weighted[training], labels[training])
        scores: FloatArray = model.decision_function(weighted)
    return scores
