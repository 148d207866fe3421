"""What each part of the extended mode brings: fitted with all of them, and with each left out."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from repair.bench.registry import get
from repair.bench.studies.parts import Scored, estimate, in_percent, paired_draws, scored
from repair.comparison_metrics import METRICS
from repair.protocol import compare
from repair.reranker import Reranker
from repair.score_set import ScoreSet
from repair.tables import markdown_table
from repair.terms import LEARNED_TERMS, PAPER_TERMS

__all__ = ["TITLE", "body", "run"]

TITLE = "What each part of the extended mode brings"
#: Those whose data are not here are left out.
SETS = ("phenopackets", "massive_lt", "few_tk", "huffpost_41", "caltech101", "flowers102")
ALL, BASE_LIST, NO_PAPER = "everything", "without the wider shortlist", "without the paper's terms"
METRIC = "accuracy"


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit every variant on all calibration rows of each set, and compare on the same test rows."""
    resamples = 200 if quick else 10_000
    found = {}
    for name in SETS:
        if get(name).state(data) == "ready":
            found[name] = _ablation(scored(name, data, quick=quick, vectors=vectors), resamples)
            say(f"{name}: done")
    return {"settings": {"resamples": resamples, "quick": quick}, "sets": found}


def _ablation(one: Scored, resamples: int) -> dict[str, Any]:
    calibration, test = one.base.sets_with_embeddings
    k = one.benchmark.n_candidates
    compared = {
        title: compare({title: model}, calibration, test, trials=1, resamples=1, seed=one.benchmark.seed)
        for title, model in _variants(calibration, k).items()
    }
    titles = list(compared)
    draws = paired_draws([compared[title].rows[title] for title in titles], one.base, resamples, one.benchmark.seed)
    column = list(METRICS).index(METRIC)
    whole = compared[ALL].full[ALL][METRIC]
    methods = {}
    for place, title in enumerate(titles):
        own, value = draws[:, place, column], compared[title].full[title][METRIC]
        methods[title] = {**estimate(value, own), "to_all": estimate(value - whole, own - draws[:, 0, column])}
    return {"title": one.benchmark.title, "n_test": len(one.base.test_labels), "methods": methods}


def _variants(calibration: ScoreSet, k: int) -> dict[str, Reranker]:
    """Return the models by title, the whole one first."""
    known = calibration.known
    needs = {"similarity": "similarity", "log_freq_ratio": "class_counts"}
    fixed = [name for name in PAPER_TERMS if name not in needs or known[needs[name]] is not None]
    learned = LEARNED_TERMS if known["embeddings"] is not None else ("context",)
    variants = {ALL: Reranker(k, "extended"), BASE_LIST: Reranker(k, "extended", shortlist_tau=0.0)}
    for name in learned:
        kept = [one for one in learned if one != name]
        variants[f"without {name}"] = Reranker(k, "extended", terms=[*fixed, *kept])
    variants["without any learned term"] = Reranker(k, "extended", terms=fixed)
    variants[NO_PAPER] = Reranker(k, "extended", terms=list(learned))
    return variants


def body(record: dict[str, Any]) -> str:
    """Return one table: the whole, and by how much each lack changes it."""
    titles: list[str] = []
    for found in record["sets"].values():
        titles += [title for title in found["methods"] if title not in titles]
    rows = []
    for title in titles:
        cells = []
        for found in record["sets"].values():
            values = found["methods"].get(title)
            shown = values if title == ALL or values is None else values["to_all"]
            cells.append("–" if shown is None else in_percent(shown, signed=title != ALL))
        rows.append([title, *cells])
    explained = (
        "Accuracy over all test rows in percent with 95 % bootstrap intervals, fitted on all calibration rows, with "
        "each benchmark's vectors as embeddings. Below the first line: the change if one part is left out. The paper "
        "has no such table; its own ablation (offsets, terms, both) is in each benchmark's section."
    )
    return "\n\n".join([explained, markdown_table(["variant", *record["sets"]], rows)])
