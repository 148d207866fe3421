"""What vectors of words and vectors of sentences bring to a base that reads words."""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from repair.bench.base_scores import BaseScores, TextBase
from repair.bench.methods import METHODS
from repair.bench.registry import get
from repair.bench.studies.parts import base_scores, estimate, in_percent, paired_draws, scored
from repair.comparison_metrics import METRICS
from repair.protocol import compare
from repair.reranker import Reranker
from repair.score_set import ScoreSet
from repair.tables import markdown_table

__all__ = ["TITLE", "body", "run"]

TITLE = "What the rows' vectors bring to a base that reads words"
#: Benchmarks whose base reads words and whose vectors are of sentences; those whose data are not here are left out.
SETS = ("goemotions", "massive", "massive_lt", "huffpost_natural", "huffpost_41", "few_tk")
PUBLISHED, NONE = "REPAIR as published", "extended, no vectors"
WORDS, SENTENCES = "extended, vectors of the base's own words", "extended, vectors of sentences"
METRIC = "accuracy"


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit with either kind of vectors on all calibration rows of each set, and compare on the same test rows."""
    resamples = 200 if quick else 10_000
    found = {}
    for name in SETS:
        benchmark = get(name)
        assert isinstance(benchmark.base, TextBase)
        lacking = "" if benchmark.base.sentences is None else benchmark.base.sentences.missing()
        if benchmark.state(data) != "ready" or lacking:
            say(f"{name}: left out, {lacking or benchmark.state(data)}")
            continue
        one = scored(name, data, quick=quick, vectors=vectors)
        of_words = base_scores(replace(benchmark.base, sentences=None), one.problem, None)
        found[name] = _compared(one.base, of_words, benchmark.n_candidates, resamples, benchmark.seed)
        say(f"{name}: done")
    return {"settings": {"resamples": resamples, "quick": quick}, "sets": found}


def _compared(sentences: BaseScores, words: BaseScores, k: int, resamples: int, seed: int) -> dict[str, Any]:
    variants: dict[str, tuple[Any, tuple[ScoreSet, ScoreSet]]] = {
        PUBLISHED: (METHODS["published"].make(k, None), (sentences.calibration, sentences.test)),
        NONE: (Reranker(k, "extended"), (sentences.calibration, sentences.test)),
        WORDS: (Reranker(k, "extended"), words.sets_with_embeddings),
        SENTENCES: (Reranker(k, "extended"), sentences.sets_with_embeddings),
    }
    compared = {
        title: compare({title: model}, *sets, trials=1, resamples=1, seed=seed)
        for title, (model, sets) in variants.items()
    }
    draws = paired_draws([compared[title].rows[title] for title in variants], sentences, resamples, seed)
    column = list(METRICS).index(METRIC)
    values = [compared[title].full[title][METRIC] for title in variants]
    left = 1.0 - values[0]
    methods = {}
    for place, (title, value) in enumerate(zip(variants, values, strict=True)):
        own = draws[:, place, column]
        closed = estimate((value - values[0]) / left, (own - draws[:, 0, column]) / left)
        methods[title] = {**estimate(value, own), "closed": closed}
    return {"n_test": len(sentences.test_labels), "methods": methods}


def body(record: dict[str, Any]) -> str:
    """Return a table of accuracies, and one of the published error's share that is closed."""
    sets = record["sets"]
    titles = (PUBLISHED, NONE, WORDS, SENTENCES)
    accuracy = [[name, *(in_percent(one["methods"][title]) for title in titles)] for name, one in sets.items()]
    closed = [
        [name, *(in_percent(one["methods"][title]["closed"], signed=True) for title in titles[1:])]
        for name, one in sets.items()
    ]
    if sets:
        shares = [[one["methods"][title]["closed"]["value"] for one in sets.values()] for title in titles[1:]]
        closed.append(["mean", *(f"{100 * sum(column) / len(column):+.1f}" for column in shares)])
    explained = (
        "The bases of these benchmarks read words. Vectors made of the same words (TF-IDF, narrowed) tell hardly more "
        "than the scores; vectors of a sentence model know what the base does not, and a user who has such a model may "
        "prefer to train a base on it: see the benchmarks `…_minilm`, whose vectors are the base's own. All else is "
        "the same: all calibration rows, own shortlists, accuracy over all test rows in percent with 95 % bootstrap "
        "intervals. The paper has no such table."
    )
    share = "Share of the error that REPAIR as published leaves, and that is closed; the interval leaves out that this "
    return "\n\n".join(
        [
            explained,
            markdown_table(["benchmark", *titles], accuracy),
            f"{share}error is an estimate:",
            markdown_table(["benchmark", *titles[1:]], closed),
        ]
    )
