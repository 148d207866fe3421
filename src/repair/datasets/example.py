"""A small example: messages to a shop, sorted into topics by a classifier that favours the frequent ones.

The messages are simulated as points around one centre per topic.  The classifier is a softmax
regression that was trained on a long-tailed sample.  We stopped it early on purpose, so it finds too
few of the rare topics and a correction helps.  The example shows how the library is used.  It is not
evidence of how much it helps on other data.
"""

import csv
import io
from collections.abc import Iterable

import numpy as np

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.score_set import ScoreSet

__all__ = ["EXAMPLE_FILES", "example_files", "make_example"]

#: Topics, the most frequent first.
TOPICS = (
    "where is my parcel",
    "return an item",
    "refund not received",
    "change my order",
    "cancel my order",
    "item arrived damaged",
    "cannot log in",
    "wrong item delivered",
    "payment declined",
    "discount code does not work",
    "parcel marked as delivered",
    "change delivery address",
    "charged twice",
    "invoice needed",
    "size advice",
    "item out of stock",
    "part missing",
    "delete my account",
    "gift card balance",
    "change my email address",
    "warranty claim",
    "customs fees",
    "pick up in a shop",
    "exchange for another size",
    "newsletter too often",
    "report a review",
    "order from abroad",
    "suspicious email",
    "recycle old device",
    "praise for an employee",
)
#: Training messages of the most frequent topic.  The i-th topic has this number divided by i.
MOST = 600
DIMENSION = 12
#: Standard deviation of the topics' centres.  The messages of a topic scatter with standard deviation 1.
SPREAD = 0.9
#: Steps of gradient descent, and their size.  With so few, rare topics have hardly been learned.
STEPS = 60
STEP_SIZE = 1.0
N_ROWS = 1500
#: Candidates per message that the files contain.
LISTED = 10
EXAMPLE_FILES = ("calibration.csv", "test.csv", "classes.csv")


def make_example(seed: int = 0) -> tuple[ScoreSet, ScoreSet]:
    """Draw the example: 30 topics of messages to a shop, of which few are frequent.

    Parameters
    ----------
    seed : int, default 0
        Seed for all random draws.

    Returns
    -------
    calibration, test : ScoreSet
        1,500 rows each, with scores of all classes, labels and class names as text, and the number of
        training examples per class.

    Examples
    --------
    >>> from repair.datasets import make_example
    >>> calibration, test = make_example()
    >>> calibration.scores.shape, str(calibration.labels[0])
    ((1500, 30), 'gift card balance')
    """
    rng = np.random.default_rng(seed)
    counts = np.round(MOST / np.arange(1, len(TOPICS) + 1)).astype(int)
    centres = rng.normal(scale=SPREAD, size=(len(TOPICS), DIMENSION))
    labels = np.repeat(np.arange(len(TOPICS)), counts)
    weights = _train(_messages(centres, labels, rng), labels)
    parts = []
    for _ in range(2):
        labels = rng.choice(len(TOPICS), size=N_ROWS, p=counts / counts.sum())
        scores = _log_softmax(_messages(centres, labels, rng) @ weights)
        parts.append(ScoreSet(scores, np.array(TOPICS)[labels], class_names=TOPICS, class_counts=counts))
    return parts[0], parts[1]


def example_files(seed: int = 0) -> dict[str, str]:
    """Return the content of the example's CSV files by name: calibration and test rows, and the class table.

    The rows are in long form: one line per candidate, and ten candidates per row.

    Examples
    --------
    >>> from repair.datasets import example_files
    >>> print(example_files()["classes.csv"][:36])
    class_name,count
    where is my parcel,
    """
    calibration, test = make_example(seed)
    classes = [("class_name", "count"), *zip(TOPICS, calibration.class_counts, strict=True)]
    return dict(zip(EXAMPLE_FILES, (_long_form(calibration, "c"), _long_form(test, "t"), _csv(classes)), strict=True))


def _messages(centres: FloatArray, labels: AnyArray, rng: np.random.Generator) -> FloatArray:
    """Return one point per label, with a constant column for the intercept."""
    points = centres[labels] + rng.normal(size=(len(labels), centres.shape[1]))
    return np.column_stack([points, np.ones(len(labels))])


def _train(messages: FloatArray, labels: AnyArray) -> FloatArray:
    """Return the weights of a softmax regression after a few steps of gradient descent."""
    truth = np.eye(len(TOPICS))[labels]
    weights = np.zeros((messages.shape[1], len(TOPICS)))
    for _ in range(STEPS):
        errors = np.exp(_log_softmax(messages @ weights)) - truth
        weights -= STEP_SIZE * messages.T @ errors / len(messages)
    return weights


def _log_softmax(logits: FloatArray) -> FloatArray:
    result: FloatArray = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return result


def _long_form(rows: ScoreSet, letter: str) -> str:
    lines: list[list[object]] = [["query_id", "class_name", "score", "label"]]
    for number, (scores, label) in enumerate(zip(np.asarray(rows.scores), np.asarray(rows.labels), strict=True)):
        for topic in np.argsort(-scores, kind="stable")[:LISTED]:
            lines.append([f"{letter}{number}", TOPICS[topic], f"{scores[topic]:.4f}", label])
    return _csv(lines)


def _csv(lines: Iterable[Iterable[object]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue()
