"""What the tests of exports share: how each runtime is run on a shared case, and what it refuses."""

from functools import cache

import numpy as np

from repair import load
from shared_cases import CASES

RANKED = [case for case in CASES if case.refused is None]


@cache
def model_of(path):
    return load(path)


def why_not_exported(case):
    """Return part of the message with which every export of the case's model is refused, or None."""
    if "approximate" in case.traits:
        return "'neighbours' cannot be exported with the approximate index"
    return None


def arguments(case):
    """Return the arrays that an export takes, in its order."""
    given = [case.scores] if case.is_dense else [case.ids, case.scores]
    reads = model_of(case.model_path).state.correction.embedding_width
    return given if reads is None else [*given, case.embeddings]


def inputs_of(case):
    return "scores" if case.is_dense else "candidates"


def settings_of(case):
    return dict(case.settings)


def spread(ids, scores, n_classes):
    """Return a ranking as logits, −Inf for classes that are no candidates."""
    logits = np.full((len(ids), n_classes + 1), -np.inf)
    np.put_along_axis(logits, ids, scores, axis=1)
    return logits[:, :-1]
