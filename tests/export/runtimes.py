"""Which cases each runtime refuses, and how a case becomes its arguments.

`test_parity.py` makes the table in docs/export.md from these functions.  The tests of each runtime, here and in
`tests/cases`, `tests/integrations` and `tests/serving`, run every case that is not refused, and look for the declared
message where one is.
"""

from functools import cache

import numpy as np

from repair import load
from shared_cases import CASES

RANKED = [case for case in CASES if case.refused is None]
#: The footnotes of the table.
APPROXIMATE, IN_SQL, NO_CLASSIFIER, ONLY_DIAL = 1, 2, 3, 4
#: The settings of `rerank` that only `rerank` and the exports have.
ONLY_IN_PYTHON = ("target_prior", "class_costs")
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


def why_not_in_sklearn(case):
    """Return the same for `RerankedClassifier`, whose base returns a score for every class."""
    return None if case.is_dense else (f"but there are {case.n_classes} classes", NO_CLASSIFIER)


def setting_refused(message):
    """Return a function that refuses cases with a target prior or costs, with this message about the first of them."""

    def why_not(case):
        unknown = [name for name in ONLY_IN_PYTHON if name in case.settings]
        return (message(unknown), ONLY_DIAL) if unknown else None

    return why_not


#: Whether a runtime refuses a case, by the title of its column.
RUNTIMES = {
    "numpy": never,
    "numba": never,
    "`rerank_one`": setting_refused(lambda names: f"unexpected keyword argument '{names[0]}'"),
    "scikit-learn": why_not_in_sklearn,
    "torch eager": why_not_exported,
    "torch.export": why_not_exported,
    "ONNX": why_not_exported,
    "ONNX behind a classifier": why_not_appended,
    "SQL": why_not_in_sql,
    "HTTP": setting_refused(lambda names: f"there is no (field|setting) '({'|'.join(names)})'"),
    "Arrow file": setting_refused(lambda names: f"No such option: --{names[0].replace('_', '-')}"),
    "`.npz` file": setting_refused(lambda names: f"No such option: --{names[0].replace('_', '-')}"),
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


def arrow_table(case):
    """Return the Arrow table of a case, in its own types, with shorter lists instead of padding."""
    import pyarrow as pa

    if case.is_dense:
        columns = {"scores": matrix(case.scores)}
    else:
        kept = case.ids >= 0
        offsets = np.concatenate([[0], kept.sum(axis=1).cumsum()]).astype(np.int32)
        columns = {
            "candidate_ids": pa.ListArray.from_arrays(offsets, case.ids[kept]),
            "candidate_scores": pa.ListArray.from_arrays(offsets, case.scores[kept]),
        }
    return pa.table(columns)


def matrix(values):
    """Return an array (n, m) as a column of lists."""
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


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
