"""What vectors made from words and vectors of a sentence model bring to a base that reads words."""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from repair._utils.text_tables import markdown_table
from repair.comparison.resampled_metrics import COMPARED
from repair.data.score_set import ScoreSet
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.reranker import Reranker
from repair_bench.bases.base_scores import TextBase
from repair_bench.harness.benchmark import Benchmark
from repair_bench.harness.methods import METHODS
from repair_bench.studies.parts import Scored, base_scores, compare_each, estimate, in_percent, measure_sets

__all__ = ["TITLE", "body", "run"]

TITLE = "What the rows' vectors bring to a base that reads words"
#: Benchmarks with a base that reads words and vectors of a sentence model.  Those without data here are left out.
SETS = ("goemotions", "massive", "massive_lt", "huffpost_natural", "huffpost_41", "few_tk")
NEEDS_ALL_SETS = False
PUBLISHED, NONE = "REPAIR as published", "Extended, no vectors"
WORDS, SENTENCES = "Extended, vectors of the base's own words", "Extended, vectors of sentences"
METRIC = "accuracy"


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit with both kinds of vectors on all calibration rows of each set, and compare on the same test rows."""
    return measure_sets(SETS, _compared, data, quick, say, vectors, _missing_model)


def _text_base(benchmark: Benchmark) -> TextBase:
    assert isinstance(benchmark.base, TextBase)
    return benchmark.base


def _missing_model(benchmark: Benchmark) -> str:
    """Return what is missing to make sentence vectors, or ''."""
    sentences = _text_base(benchmark).sentences
    return "" if sentences is None else sentences.missing()


def _compared(prepared: Scored, resamples: int) -> dict[str, Any]:
    sentences, k = prepared.base, prepared.benchmark.n_candidates
    words = base_scores(replace(_text_base(prepared.benchmark), sentences=None), prepared.problem, None)
    variants: dict[str, tuple[ShortlistReranker, tuple[ScoreSet, ScoreSet]]] = {
        PUBLISHED: (METHODS["published"].make(k, None), (sentences.calibration, sentences.test)),
        NONE: (Reranker("extended", n_candidates=k), (sentences.calibration, sentences.test)),
        WORDS: (Reranker("extended", n_candidates=k), words.sets_with_embeddings),
        SENTENCES: (Reranker("extended", n_candidates=k), sentences.sets_with_embeddings),
    }
    compared, draws = compare_each(variants, sentences, resamples, prepared.benchmark.seed)
    column = COMPARED.index(METRIC)
    values = [compared[title].full[title][METRIC] for title in variants]
    left = 1.0 - values[0]
    methods = {}
    for place, (title, value) in enumerate(zip(variants, values, strict=True)):
        own = draws[:, place, column]
        closed = estimate((value - values[0]) / left, (own - draws[:, 0, column]) / left)
        methods[title] = {**estimate(value, own), "closed": closed}
    return {"n_test": len(sentences.test_labels), "methods": methods}


def body(record: dict[str, Any]) -> str:
    """Return a table of accuracies, and one with the share of the published error that is closed."""
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
        "The base models of these benchmarks read words. Vectors made from the same words (TF-IDF, reduced by a "
        "singular value decomposition) contain hardly more than the scores. Vectors of a sentence model contain what "
        "the base does not know. A user who has such a model may prefer to train a base on it: see the benchmarks "
        "that end in `_minilm`, whose vectors are those of the base. Everything else is the same in all variants. "
        "They are fitted on all calibration rows, and Extended builds its own shortlists. The paper has no such "
        "table.\n\n"
        "Accuracy over all test rows in per cent, with 95 % bootstrap intervals:"
    )
    closing = (
        "Share of the error left by REPAIR as published that is closed, in per cent. The intervals ignore that this "
        "error is itself an estimate:"
    )
    return "\n\n".join(
        [
            explained,
            markdown_table(["benchmark", *titles], accuracy),
            closing,
            markdown_table(["benchmark", *titles[1:]], closed),
        ]
    )
