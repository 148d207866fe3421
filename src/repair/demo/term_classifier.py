"""A base model on sets of ontology terms: TF-IDF and logistic regression.

Terms include all their ancestors, so a case of "generalized seizure" is also a case of "seizure".
TF-IDF gives less weight to terms that nearly every case has.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray, IntArray
from repair.errors import MissingExtraError

__all__ = ["BASE_C", "base_scores", "term_table"]

#: Inverse penalty.  With it, two thirds of the diagnoses of published patients are among the first ten.
BASE_C = 10.0


def term_table(sets: Sequence[frozenset[str]]) -> tuple[Any, list[str]]:
    """Return a sparse 0/1 matrix of cases and terms, and the terms.

    Parameters
    ----------
    sets : sequence of n frozensets of str
        Terms of each case, including ancestors.

    Returns
    -------
    table : scipy CSR matrix (n, number of terms)
    vocabulary : list of str
        The terms, sorted, one per column.

    Examples
    --------
    >>> from repair.demo.term_classifier import term_table
    >>> table, vocabulary = term_table([frozenset({"rash", "fever"}), frozenset({"fever"})])
    >>> table.toarray().tolist(), vocabulary
    ([[1.0, 1.0], [1.0, 0.0]], ['fever', 'rash'])
    """
    from scipy.sparse import csr_matrix

    vocabulary = sorted(frozenset().union(*sets))
    column_of = {term: column for column, term in enumerate(vocabulary)}
    columns = [column_of[term] for terms in sets for term in sorted(terms)]
    starts = np.cumsum([0, *(len(terms) for terms in sets)])
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(sets), len(vocabulary))), vocabulary


def base_scores(
    table: Any, labels: IntArray, training: AnyArray, c: float = BASE_C, *, fewest_cases: int = 0
) -> FloatArray:
    """Fit TF-IDF and logistic regression on the training cases, and return the scores of all cases.

    Parameters
    ----------
    table : scipy CSR matrix (n, number of terms)
    labels : ndarray of int (n,)
        Class ids.  Every class must occur in training, and there must be at least three.
    training : ndarray of bool (n,)
        Which cases are training cases.
    c : float, default 10
        Inverse penalty of the logistic regression.
    fewest_cases : int, default 0
        Terms of fewer training cases than this are left out.  Raise it to save time.

    Returns
    -------
    ndarray of float64 (n, K)

    Examples
    --------
    >>> import numpy as np
    >>> from repair.demo.term_classifier import base_scores, term_table
    >>> table, _ = term_table([frozenset({name}) for name in "abcabc"])
    >>> base_scores(table, np.array([0, 1, 2, 0, 1, 2]), np.arange(6) < 3).argmax(axis=1).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    try:
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits  # a dependency of scikit-learn
    except ImportError:
        raise MissingExtraError(
            "training the base model needs the extra 'demo': pip install 'repair-rerank[demo]'"
        ) from None
    if fewest_cases:
        table = table[:, np.asarray(table[training].sum(axis=0)).ravel() >= fewest_cases]
    weighted = TfidfTransformer().fit(table[training]).transform(table)
    # On busy cores, several threads took four times as long as one, because they wait for each other in small products.
    with threadpool_limits(limits=1):
        model = LogisticRegression(C=c, max_iter=300).fit(weighted[training], labels[training])
        scores: FloatArray = model.decision_function(weighted)
    return scores
