"""The text of the page on rivals with the same information.  The numbers in its tables are computed elsewhere."""

from collections.abc import Mapping

from repair_bench.harness.methods import EMBEDDINGS, SCORES, TEST_ROWS
from repair_bench.report.entries import DESIGN, JUDGING
from repair_bench.report.information import information_of, shown_information
from repair_bench.report.numbers import Result

__all__ = ["DESCRIPTIONS", "HEADINGS", "OPENING", "TARGETS", "descriptions", "entry_roles"]

OPENING = """\
Which method should you use if you have scores and labels, or embeddings as well? Each table below compares our methods
with rivals that get the same information, and says which that is. All methods get labels of the calibration rows and
class counts.

- The *best rival* of a benchmark is the one with the highest held-out accuracy on its **calibration** rows (five folds,
  with groups kept whole). Test rows do not take part in that choice.
- Every rival chooses its hyperparameters by cross-validation on calibration rows, except LogitAdj, τ-norm, Temperature
  and REPAIR as published, which choose on the rows that they are fitted on.
- Accuracies are means over the trials. Differences, shares and significance are those of the fits on all calibration
  rows. The *share of the error closed* is the difference divided by the error that the rival leaves.
- Every fit of ours makes its choices on calibration rows only. But the extended mode was first designed while we could
  see test rows of twelve of the benchmark entries. The later changes, among them the terms `score_head`,
  `score_neighbours`, `score_by_frequency`, `logistic_head` and `discriminant`, longer lists, and the way in which
  *Auto* chooses, were designed on calibration rows of the design entries only, with one exception: a rule for the
  length of lists with embeddings was seen to do harm in the trials of `rarebench`. We then looked at small samples of a
  design entry, found the same, and limited that rule to fits with many rows. Here all lists are as before the rule."""
TARGETS = """\
## The project's own targets

We set these targets before the run. Whether each of them is reached is computed from the results. Holm's correction
treats all benchmarks and all rivals with the same information, and Base, as one family, separately in each
column. The figures of small entries vary widely, so the last column leaves them out."""
HEADINGS = {
    SCORES: """\
## Scores only

All methods of this section get the scores of the base model, labels and class counts.""",
    EMBEDDINGS: """\
## Scores and embeddings

All methods of this section except Base also get one embedding per row and the labelled training rows of the base model.
For texts the embeddings are MiniLM's, even where the base model reads only words.""",
    TEST_ROWS: """\
## Scores and unlabelled test rows

The rivals of this section adapt to the class mix of all test rows together, without their labels. Our methods here get
scores only. They rank each row by itself, so they know less.""",
}
#: One sentence per rival, in the order of the tables.
DESCRIPTIONS = {
    "Vector scaling": "multiplies the scores of each class by a factor and adds an offset (Guo et al., 2017).",
    "Matrix scaling": "adds a linear function of all scores to the score of each class (Kull et al., 2019).",
    "Prior2Posterior": "subtracts a multiple of the log of each class's mean probability (Bhat et al., 2024).",
    "Kernel logistic": "adds a kernel logistic regression on the scores of the row (Zhu and Hastie, 2005).",
    "LightGBM, scores": "ranks candidates by trees on many columns about their scores, mixed with the base.",
    "Stack, scores": "weighs the log-probabilities of the base and of the five methods above.",
    "kNN interpolation": "mixes the votes of the nearest labelled rows with the base (Khandelwal et al., 2020).",
    "Tip-Adapter": "adds votes of all labelled rows, weighted by their nearness (Zhang et al., 2022).",
    "GDA": "mixes a Gaussian discriminant analysis of the embeddings with the base (Wang et al., 2024).",
    "ProKeR": "adds a kernel ridge regression of the base's errors on the embeddings (Bendou et al., 2025).",
    "Retrained head": "is a logistic regression on all labelled embeddings, balanced or not (Kang et al., 2020).",
    "Retrained head, mixed": "mixes both such heads with the base.",
    "LightGBM, embeddings": "ranks candidates by trees on columns about scores, heads, GDA and neighbours.",
    "Stack, embeddings": "weighs the log-probabilities of the base and of the rivals with and without embeddings.",
    "EM prior": "estimates the class mix of the test rows by EM, after vector scaling (Saerens et al., 2002).",
    "BBSE": "estimates the class mix from the confusion matrix, after vector scaling (Lipton et al., 2018).",
    "Vector scaling, balanced": "is vector scaling in whose fit all classes have the same weight.",
    "Matrix scaling, balanced": "is matrix scaling in whose fit all classes have the same weight.",
    "Retrained head, mixed, balanced": "is the mixture of heads in whose fit all classes have the same weight.",
}


def descriptions(results: Mapping[str, Result]) -> str:
    """Return one line per rival that was run, below what it gets.  It is empty if none was run."""
    gets = {title: information_of(record, title) for record in results.values() for title in record["methods"]}
    parts = []
    for information in HEADINGS:
        lines = [f"- *{title}* {text}" for title, text in DESCRIPTIONS.items() if gets.get(title, "") == information]
        if lines:
            parts.append("\n".join([f"Rivals that get {shown_information(information)}:", "", *lines]))
    return "\n\n".join(parts)


def entry_roles(results: Mapping[str, Result]) -> str:
    """Return a sentence that names the design entries and the judging entries."""
    names = [", ".join(f"`{name}`" for name in part if name in results) or "none" for part in (DESIGN, JUDGING)]
    return f"Design entries: {names[0]}. Judging entries, of which no row was used for design: {names[1]}."
