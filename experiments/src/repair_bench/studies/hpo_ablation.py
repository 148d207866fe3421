"""Is the phenotype ontology needed?  The pairwise mode without a similarity, and with other similarities."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import FloatArray
from repair._utils.text_tables import markdown_table
from repair.comparison.resampled_metrics import COMPARED
from repair.comparison.result import Comparison
from repair.evaluation.metric_table import METRICS
from repair.rerankers.reranker import Reranker
from repair.similarity import Ontology, cosine_similarity, hpo_information_content, jaccard, read_annotations
from repair_bench.data.parts import TRAINING
from repair_bench.data.phenopackets import read_cases
from repair_bench.studies.parts import Scored, compare_each, estimate, in_percent, number_of_resamples, scored

__all__ = ["TITLE", "body", "run"]

TITLE = "Without the phenotype ontology"
SETS = ("phenopackets", "rarebench")
NEEDS_ALL_SETS = True
SHOWN = ("hit@1", "rare", "frequent", "hfr")
CLASSWISE, NONE, JACCARD = "Classwise", "Pairwise, no similarity", "Pairwise, Jaccard"
SIMGIC, COSINE = "Pairwise, simGIC", "Pairwise, cosine of the base's weights"
#: The paper's figures on GMDB: Hit@1, Rare and Frequent in per cent, and HFR.
PAPER = {
    "Classwise": (67.25, 66.61, 67.69, 0.301),
    "REPAIR with HPO": (70.55, 76.12, 66.78, 0.466),
    "REPAIR without HPO": (70.50, 76.06, 66.75, 0.466),
}


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit the pairwise mode with each similarity on the same rows."""
    trials, resamples = 2 if quick else 5, number_of_resamples(quick)
    found = {}
    for name in SETS:
        prepared = scored(name, data, quick=quick, vectors=vectors)
        found[name] = _ablation(prepared, trials, resamples)
        say(f"{name}: done")
    return {"settings": {"trials": trials, "resamples": resamples, "quick": quick}, "sets": found, "paper": PAPER}


def _ablation(prepared: Scored, trials: int, resamples: int) -> dict[str, Any]:
    calibration, test = prepared.base.calibration, prepared.base.test
    variants = {}
    for title, similarity in {CLASSWISE: None, **_similarities(prepared)}.items():
        model = Reranker(
            "classwise" if title == CLASSWISE else "pairwise", n_candidates=prepared.benchmark.n_candidates
        )
        variants[title] = model, (replace(calibration, similarity=similarity), replace(test, similarity=similarity))
    compared, draws = compare_each(variants, prepared.base, resamples, prepared.benchmark.seed, trials)
    return {
        "title": prepared.benchmark.title,
        "n_test": len(prepared.base.test_labels),
        "n_covered": int(compared[NONE].rows[NONE]["covered"].sum()),
        "methods": {
            title: {metric: _numbers(compared, draws, title, metric) for metric in SHOWN} for title in compared
        },
    }


def _numbers(compared: dict[str, Comparison], draws: FloatArray, title: str, metric: str) -> dict[str, Any]:
    titles, column = list(compared), COMPARED.index(metric)
    own, none = (draws[:, titles.index(name), column] for name in (title, NONE))
    value = compared[title].full[title][metric]
    return {
        **estimate(value, own),
        "trial_mean": compared[title].mean(title, metric),
        "trial_std": compared[title].std(title, metric),
        "to_none": estimate(value - compared[NONE].full[NONE][metric], own - none),
    }


def _similarities(prepared: Scored) -> dict[str, FloatArray | None]:
    """Return the similarities between the classes of the base, by title."""
    profiles = _profiles(prepared)
    hpo = prepared.folders["hpo"]
    assert prepared.base.class_weights is not None
    return {
        NONE: None,
        JACCARD: jaccard(profiles),
        SIMGIC: hpo_information_content(profiles, Ontology.read(hpo), read_annotations(hpo), unknown="skip"),
        COSINE: cosine_similarity(prepared.base.class_weights.astype(np.float64)),
    }


def _profiles(prepared: Scored) -> Sequence[list[str]]:
    """Return the annotated terms of each disease with ancestors, or those of its training cases if it has none."""
    annotated = read_cases(prepared.folders["phenopacket_store"], prepared.folders["hpo"]).profiles
    assert prepared.problem.texts is not None
    profiles = [set(annotated.get(name, ())) for name in prepared.problem.class_names]
    bare = [not own for own in profiles]
    for row in np.flatnonzero(prepared.problem.part == TRAINING):
        label = prepared.problem.labels[row]
        if bare[label]:
            profiles[label] |= set(prepared.problem.texts[row].split())
    return [sorted(own) for own in profiles]


def body(record: dict[str, Any]) -> str:
    """Return the tables and a summary."""
    parts = [
        "This study compares Pairwise without its similarity term and with three similarities.\n\n"
        "- *Jaccard*: the Jaccard index of the annotated terms of two diseases, as in the paper.\n- *simGIC*: the "
        "same, with every term weighted by its information content.\n- *Cosine*: the cosine of the class weights of "
        "the base model, which needs no ontology.\n\n"
        "All figures are over covered test rows, with 95 % bootstrap intervals. Differences (Δ) are to Pairwise "
        "without a similarity, on the same resamples."
    ]
    for name, found in record["sets"].items():
        rows = [[title, *_cells(metrics)] for title, metrics in found["methods"].items()]
        header = ["method", "Hit@1", "Rare", "HFR", "ΔHit@1", "ΔRare", "ΔHFR"]
        parts += [
            f"`{name}`, with {found['n_covered']} of {found['n_test']} test rows covered:",
            markdown_table(header, rows),
        ]
    parts += [_reading(record)]
    return "\n\n".join(parts)


def _cells(metrics: dict[str, Any]) -> list[str]:
    shown = ("hit@1", "rare", "hfr")
    values = [in_percent(metrics[metric], percent=metric != "hfr") for metric in shown]
    return values + [in_percent(metrics[metric]["to_none"], signed=True, percent=metric != "hfr") for metric in shown]


def _reading(record: dict[str, Any]) -> str:
    """Return what adding the paper's similarity changes here, and what removing it changes in the paper."""
    given, without = PAPER["REPAIR with HPO"], PAPER["REPAIR without HPO"]
    lines = [
        f"In the paper, removing the HPO Jaccard index on GMDB changes Hit@1 from {given[0]:.2f} to {without[0]:.2f} "
        f"and Rare from {given[1]:.2f} to {without[1]:.2f}."
    ]
    for name, found in record["sets"].items():
        gains = {metric: found["methods"][JACCARD][metric]["to_none"] for metric in ("hit@1", "rare")}
        changes = [f"{METRICS[metric].title} by {in_percent(gain, signed=True)}" for metric, gain in gains.items()]
        sure = [METRICS[metric].title for metric, gain in gains.items() if _excludes_zero(gain)]
        verdict = f"The interval of {' and '.join(sure)} excludes zero" if sure else "No interval excludes zero"
        lines.append(f"Adding it on `{name}` changes {' and '.join(changes)} points. {verdict}.")
    lines.append("The intervals are not corrected for the number of comparisons.")
    return " ".join(lines)


def _excludes_zero(gain: dict[str, Any]) -> bool:
    return gain["value"] is not None and bool(gain["low"] > 0 or gain["high"] < 0)
