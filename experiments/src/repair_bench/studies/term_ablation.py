"""What each part of the extended mode brings: a fit with all parts, and one without each of them."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from repair import ExtendedOptions
from repair._utils.text_tables import markdown_table
from repair.comparison.resampled_metrics import COMPARED
from repair.data.score_set import ScoreSet
from repair.rerankers.reranker import Reranker
from repair.terms.registry import DEFAULT_LEARNED_TERMS, PAPER_TERMS
from repair_bench.studies.parts import Scored, compare_each, estimate, in_percent, measure_sets

__all__ = ["TITLE", "body", "run"]

TITLE = "What each part of the extended mode brings"
#: Benchmarks of the study.  Those whose data are missing are left out.
SETS = ("phenopackets", "massive_lt", "few_tk", "huffpost_41", "caltech101", "flowers102")
NEEDS_ALL_SETS = False
ALL, BASE_LIST, NO_PAPER = "everything", "without the wider shortlist", "without the paper's terms"
METRIC = "accuracy"


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit every variant on all calibration rows of each set, and compare them on the same test rows."""
    return measure_sets(SETS, _ablation, data, quick, say, vectors)


def _ablation(prepared: Scored, resamples: int) -> dict[str, Any]:
    calibration, test = prepared.base.sets_with_embeddings
    k = prepared.benchmark.n_candidates
    variants = {title: (model, (calibration, test)) for title, model in _variants(calibration, k).items()}
    compared, draws = compare_each(variants, prepared.base, resamples, prepared.benchmark.seed)
    column = COMPARED.index(METRIC)
    whole = compared[ALL].full[ALL][METRIC]
    methods = {}
    for place, title in enumerate(compared):
        own, value = draws[:, place, column], compared[title].full[title][METRIC]
        methods[title] = {**estimate(value, own), "to_all": estimate(value - whole, own - draws[:, 0, column])}
    return {"title": prepared.benchmark.title, "n_test": len(prepared.base.test_labels), "methods": methods}


def _variants(calibration: ScoreSet, k: int) -> dict[str, Reranker]:
    """Return the models by title, the one with all parts first."""
    known = calibration.optional_fields
    needs = {"similarity": "similarity", "log_freq_ratio": "class_counts"}
    fixed = [name for name in PAPER_TERMS if name not in needs or known[needs[name]] is not None]
    needs_embeddings = ("neighbours", "head", "logistic_head", "discriminant")
    learned = tuple(
        name for name in DEFAULT_LEARNED_TERMS if known["embeddings"] is not None or name not in needs_embeddings
    )
    variants = {
        ALL: Reranker("extended", n_candidates=k),
        BASE_LIST: Reranker("extended", n_candidates=k, extended=ExtendedOptions(shortlist_tau=0.0, n_ranked=k)),
    }
    for name in learned:
        kept = [one for one in learned if one != name]
        variants[f"without {name}"] = Reranker("extended", n_candidates=k, terms=[*fixed, *kept])
    variants["without any learned term"] = Reranker("extended", n_candidates=k, terms=fixed)
    variants[NO_PAPER] = Reranker("extended", n_candidates=k, terms=list(learned))
    return variants


def body(record: dict[str, Any]) -> str:
    """Return one table: the full mode, and the change when each part is left out."""
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
        "The first line is the accuracy over all test rows in per cent, with 95 % bootstrap intervals. The other "
        "lines are the change in points if one part is left out. Every variant is fitted on all calibration rows and "
        "gets the benchmark's vectors as embeddings. The paper has no such table. Its own ablation (offsets, terms, "
        "both) is on the page of each benchmark."
    )
    return "\n\n".join([explained, markdown_table(["variant", *record["sets"]], rows)])
