"""The paper's Table 1 from the score files of its authors, with our methods next to the published ones."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from repair import Base, LogitAdjustment, Reranker, ScoreSet, TauNormalization, compare
from repair.comparison.result import Comparison
from repair.errors import InputError
from repair.evaluation.metric_table import METRICS
from repair.rerankers.base import ShortlistReranker
from repair_bench.data import sizes
from repair_bench.data.author_files import AuthorScores, author_sources, read_author_scores
from repair_bench.data.layouts import GET_FROM
from repair_bench.harness.benchmark import Published
from repair_bench.published.rescaled import OnRescaledScores
from repair_bench.report.numbers import number
from repair_bench.report.table import Table
from repair_bench.sets.registry import get

__all__ = ["OURS", "Table1", "methods_for", "published_of", "run_table1", "tables_for"]

#: The columns of the paper's table.
COLUMNS = ("hit@1", "hit@3", "mrr", "rare", "frequent", "hfr")
#: Our methods, which choose their own hyperparameters.
OURS = ("Pairwise", "Extended", "Auto")
#: Methods that build their own shortlists, so their covered rows differ from those of the others.
OWN_LIST = ("Extended", "Auto")
#: The benchmark that has the paper's numbers, if its name differs from that of the score files.
BENCHMARK = {"rarebench": "rarebench_gmdb"}
CLASSWISE = "Classwise"
SIZES = {
    "inat2018": sizes.INAT2018,
    "imagenet_lt": sizes.IMAGENET_LT,
    "places_lt": sizes.PLACES_LT,
    "gmdb": sizes.GMDB,
    "rarebench": sizes.RAREBENCH,
}

Say = Callable[[str], object]


@dataclass(frozen=True, eq=False)
class Table1:
    """The comparisons of the data sets that were found, and why the others are not there.

    Attributes
    ----------
    comparisons : dict of Comparison
    missing : dict of str
    """

    comparisons: dict[str, Comparison]
    missing: dict[str, str]


def published_of(name: str) -> Published:
    """Return the paper's numbers and hyperparameters for a data set of its Table 1."""
    published = get(BENCHMARK.get(name, name)).published
    assert published is not None
    return published


def methods_for(
    scores: AuthorScores, hyperparameters: Mapping[str, float], n_candidates: int = 10
) -> dict[str, ShortlistReranker]:
    """Return the methods of the paper with its hyperparameters, and ours.

    Scores with weight norms are divided by their square roots for Classwise and REPAIR, after the shortlists were
    taken from the raw scores.  τ of LogitAdj and τ-norm is chosen on the calibration rows, as the paper says, and not
    on the test rows, as its code does.  The published runs have no shrinkage.

    Parameters
    ----------
    scores : AuthorScores
    hyperparameters : mapping
        ``lambda_a``, ``lambda_theta``, ``alpha`` and ``tau``.
    n_candidates : int, default 10
    """
    values: dict[str, Any] = dict(hyperparameters)
    classwise = {name: value for name, value in values.items() if name != "lambda_theta"}
    learned: dict[str, ShortlistReranker] = {
        "Classwise": Reranker("classwise", n_candidates=n_candidates, shrinkage=False, **classwise),
        "REPAIR": Reranker("pairwise", n_candidates=n_candidates, shrinkage=False, **values),
    }
    methods: dict[str, ShortlistReranker] = {"Base": Base(n_candidates), "LogitAdj": LogitAdjustment(n_candidates)}
    if scores.weight_norms is not None:
        methods["τ-norm"] = TauNormalization(n_candidates)
        learned = {title: OnRescaledScores(n_candidates, model) for title, model in learned.items()}
    modes = {title: Reranker(title.lower(), n_candidates=n_candidates) for title in OURS}
    return {**methods, **learned, **modes}


def run_table1(
    npz: "str | os.PathLike[str]",
    names: Sequence[str] = (),
    *,
    trials: int = 5,
    n_candidates: int = 10,
    seed: int = 0,
    resamples: int = 10_000,
    without: Sequence[str] = (),
    progress: Say | None = None,
) -> Table1:
    """Run the methods of Table 1 on every data set whose score files are there.

    Parameters
    ----------
    npz : path
        The folder that the authors' code calls ``REPAIR_DATA_ROOT``, or one with all files directly in it.
    names : sequence of str, optional
        Data sets of `repair_bench.data.author_files.READERS`.  By default all that are there.
    trials : int, default 5
        Fits on random 80 % of the calibration rows.
    n_candidates : int, default 10
    seed : int, default 0
    resamples : int, default 10000
    without : sequence of str, optional
        Methods of ours to leave out, because they take longest.
    progress : callable, optional
        Called with a line of text after each fit.
    """
    say = progress or (lambda line: None)
    for title in without:
        if title not in OURS:
            raise InputError(f"{title!r} is not one of our methods; choose from {', '.join(OURS)}")
    sources = author_sources()
    for name in names:
        if name not in sources:
            raise InputError(f"there is no data set {name!r} in Table 1; choose from {', '.join(sources)}")
    missing, comparisons = {}, {}
    for name in names or tuple(sources):
        try:
            found = sources[name].inside(npz)
        except InputError as error:
            missing[name] = str(error).partition(GET_FROM)[0]
            continue
        scores = read_author_scores(found)
        for difference in _size_differences(name, scores):
            say(f"{name}: {difference}")
        methods = {title: one for title, one in _methods(name, scores, n_candidates).items() if title not in without}
        comparisons[name] = _compared(scores, methods, trials, seed, resamples, partial(_said, say, name))
    if not comparisons:
        raise InputError(f"no data set of Table 1 has its score files: {next(iter(missing.values()))}")
    return Table1(comparisons, missing)


def _size_differences(name: str, scores: AuthorScores) -> list[str]:
    """Return where the sizes of the files differ from those in the paper."""
    rows = len(scores.calibration_labels), len(scores.test_labels)
    return SIZES[name].disagreements(scores.test_scores.shape[1], *rows, scores.class_counts)


def _said(say: Say, name: str, done: int, total: int, label: str) -> None:
    say(f"{name}: {label} ({done} of {total})")


def _methods(name: str, scores: AuthorScores, n_candidates: int) -> dict[str, ShortlistReranker]:
    hyperparameters = published_of(name).hyperparameters
    assert isinstance(hyperparameters, Mapping)
    return methods_for(scores, hyperparameters, n_candidates)


def _compared(
    scores: AuthorScores,
    methods: dict[str, ShortlistReranker],
    trials: int,
    seed: int,
    resamples: int,
    progress: Callable[[int, int, str], object],
) -> Comparison:
    classes: dict[str, Any] = {
        "class_counts": scores.class_counts,
        "similarity": scores.similarity,
        "weight_norms": scores.weight_norms,
    }
    return compare(
        methods,
        ScoreSet(scores.calibration_scores, scores.calibration_labels, **classes),
        ScoreSet(scores.test_scores, scores.test_labels, **classes),
        trials=trials,
        resamples=resamples,
        reference="Base",
        random_state=seed,
        progress=progress,
    )


def tables_for(name: str, comparison: Comparison) -> list[Table]:
    """Return the tables of one data set: Table 1 with the paper's numbers, and the intervals.

    Parameters
    ----------
    name : str
    comparison : Comparison
    """
    printed = published_of(name).numbers
    setup = comparison.setup
    coverage = number(comparison.full["Base"]["coverage"], "coverage")
    paper = printed["Base"].get("coverage")
    header = ["method", *(METRICS[metric].title for metric in COLUMNS)]
    rows = [
        [title, *(_cell(comparison, title, metric, printed.get(title, {})) for metric in COLUMNS)]
        for title in comparison.methods
    ]
    caption = (
        f"{name}: mean ± std of {setup.trials} trials over covered rows (in brackets: the paper). {setup.n_classes:,} "
        f"classes, {setup.n_calibration:,} calibration and {setup.n_test:,} test rows, coverage {coverage} (the paper: "
        f"{paper}). {' and '.join(OWN_LIST)} build their own shortlists, so only their accuracy over all rows compares"
    )
    return [Table(caption, header, rows), _intervals(name, comparison)]


def _cell(comparison: Comparison, title: str, metric: str, printed: Mapping[str, float]) -> str:
    if title == "Base" and metric == "hfr":
        return "–"
    here = number(comparison.mean(title, metric), metric)
    std = comparison.std(title, metric)
    spread = f" ± {number(std, metric)}" if std > 0 else ""
    return f"{here}{spread} ({printed[metric]:g})" if metric in printed else f"{here}{spread}"


def _intervals(name: str, comparison: Comparison) -> Table:
    """Return the fits on all calibration rows, with 95 % intervals over the test rows, and gains over Classwise."""
    header = [
        "method",
        "Hit@1",
        "95 %",
        "Rare",
        "95 %",
        "accuracy",
        "95 %",
        "Hit@1 − Classwise",
        "accuracy − Classwise",
    ]
    rows = []
    for title in comparison.methods:
        cells = [title]
        for metric in ("hit@1", "rare", "accuracy"):
            low, high = comparison.interval(title, metric)
            cells += [
                number(comparison.full[title][metric], metric),
                f"{number(low, metric)} to {number(high, metric)}",
            ]
        gaps = None if title == CLASSWISE else comparison.difference(title, CLASSWISE)
        for metric in ("hit@1", "accuracy"):
            apart = gaps is None or (metric == "hit@1" and title in OWN_LIST)
            cells.append("–" if apart or gaps is None else _gap(gaps[metric], metric))
        rows.append(cells)
    level = round(100 * comparison.setup.level)
    caption = f"{name}: fits on all calibration rows, with {level} % bootstrap intervals over the test rows"
    return Table(caption, header, rows)


def _gap(gap: Any, metric: str) -> str:
    return f"{number(gap.estimate, metric, '+')} ({number(gap.low, metric, '+')} to {number(gap.high, metric, '+')})"
