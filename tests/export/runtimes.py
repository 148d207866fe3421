"""What the tests of exports share: which cases each runtime refuses, and how a case becomes its arguments.

`test_parity.py` makes the table in docs/export.md from these functions, and the tests of each runtime run every case
that they do not refuse.
"""

from functools import cache

import numpy as np

from repair import load
from shared_cases import CASES

RANKED = [case for case in CASES if case.refused is None]
#: The footnotes of the table.
APPROXIMATE, IN_SQL, NO_CLASSIFIER = 1, 2, 3
#: The terms that a query can compute.
TERMS_IN_SQL = {"score_gap", "rank_gap", "log_prob_ratio", "log_freq_ratio", "similarity", "score_by_frequency"}


@cache
def model_of(path):
    return load(path)


def never(case):
    """Refuse nothing."""
    return


def why_not_exported(case):
    """Return part of the message with which PyTorch and ONNX refuse the case's model, and its footnote, or None."""
    if "approximate" in case.traits:
        return "'neighbours' cannot be exported with the approximate index", APPROXIMATE
    return None


def why_not_appended(case):
    """Return the same for a graph behind a classifier."""
    if not case.is_dense:
        return "a classifier returns the scores of all classes", NO_CLASSIFIER
    if case.dtype == "int64":
        return "holds no floating-point numbers", NO_CLASSIFIER
    return why_not_exported(case)


def why_not_in_sql(case):
    """Return the same for SQL."""
    unknown = [term for term in case.terms if term not in TERMS_IN_SQL]
    if not unknown:
        return None
    message, _ = why_not_exported(case) or (f"the term {unknown[0]!r} cannot be exported to SQL", IN_SQL)
    return message, IN_SQL


#: Whether a runtime refuses a case, by the title of its column.
RUNTIMES = {
    "numpy": never,
    "numba": never,
    "torch eager": why_not_exported,
    "torch.export": why_not_exported,
    "ONNX": why_not_exported,
    "ONNX behind a classifier": why_not_appended,
    "SQL": why_not_in_sql,
}


def accepted(runtime):
    """Return the cases that a runtime must reproduce."""
    return [case for case in RANKED if RUNTIMES[runtime](case) is None]


def refused(runtime):
    """Return the cases that a runtime refuses."""
    return [case for case in RANKED if RUNTIMES[runtime](case) is not None]


def arguments(case):
    """Return the arrays that an export takes, in its order."""
    given = [case.scores] if case.is_dense else [case.ids, case.scores]
    reads = model_of(case.model_path).state.correction.embedding_width
    return given if reads is None else [*given, case.embeddings]


def inputs_of(case):
    return "scores" if case.is_dense else "candidates"


def settings_of(case):
    return dict(case.settings)


def representative(cases):
    """Return a few cases per model, for options that have nothing to do with what the cases contain."""
    return [case for case in cases if case.name.endswith(("/plain", "/ragged", "/lists"))]


def spread(ids, scores, n_classes):
    """Return a ranking as logits, −Inf for classes that are no candidates."""
    logits = np.full((len(ids), n_classes + 1), -np.inf)
    np.put_along_axis(logits, ids, scores, axis=1)
    return logits[:, :-1]


def check_case(case, ids, scores, probabilities, *, tolerance):
    """Compare a ranking with the expected one.  What a model does not rank of longer lists is padding."""
    width = case.expected_ids.shape[1]
    assert (np.asarray(ids)[:, width:] == -1).all()
    case.check(ids[:, :width], scores[:, :width], probabilities[:, :width], tolerance=tolerance)
