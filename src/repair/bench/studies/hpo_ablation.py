"""Does it take the phenotype ontology?  REPAIR with the similarity left out, or made in other ways."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair.arrays import FloatArray
from repair.bench.parts import TRAINING
from repair.bench.phenopackets import read_cases
from repair.bench.studies.parts import Scored, estimate, in_percent, paired_draws, scored
from repair.comparison import Comparison
from repair.comparison_metrics import METRICS
from repair.protocol import compare
from repair.reranker import Reranker
from repair.similarity import Ontology, cosine_similarity, hpo_information_content, jaccard, read_annotations
from repair.tables import markdown_table

__all__ = ["TITLE", "body", "run"]

TITLE = "Without the phenotype ontology"
SETS = ("phenopackets", "rarebench")
SHOWN = ("hit@1", "rare", "frequent", "hfr")
CLASSWISE, NONE, JACCARD = "Classwise", "REPAIR, no similarity", "REPAIR, Jaccard"
SIMGIC, COSINE = "REPAIR, simGIC", "REPAIR, cosine of the base's weights"
#: The paper's GMDB: Hit@1, Rare, Frequent in percent, and HFR.
PAPER = {
    "Classwise": (67.25, 66.61, 67.69, 0.301),
    "REPAIR with HPO": (70.55, 76.12, 66.78, 0.466),
    "REPAIR without HPO": (70.50, 76.06, 66.75, 0.466),
}


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit REPAIR with each similarity on the same rows."""
    trials, resamples = (2, 200) if quick else (5, 10_000)
    found = {}
    for name in SETS:
        one = scored(name, data, quick=quick, vectors=vectors)
        found[name] = _ablation(one, trials, resamples)
        say(f"{name}: done")
    return {"settings": {"trials": trials, "resamples": resamples, "quick": quick}, "sets": found, "paper": PAPER}


def _ablation(one: Scored, trials: int, resamples: int) -> dict[str, Any]:
    compared: dict[str, Comparison] = {}
    for title, similarity in {CLASSWISE: None, **_similarities(one)}.items():
        model = Reranker(one.benchmark.n_candidates, "classwise" if title == CLASSWISE else "pairwise")
        sets = (replace(rows, similarity=similarity) for rows in (one.base.calibration, one.base.test))
        compared[title] = compare({title: model}, *sets, trials=trials, resamples=1, seed=one.benchmark.seed)
    rows = [found.rows[title] for title, found in compared.items()]
    draws = paired_draws(rows, one.base, resamples, one.benchmark.seed)
    return {
        "title": one.benchmark.title,
        "n_test": len(one.base.test_labels),
        "n_covered": int(compared[NONE].rows[NONE]["covered"].sum()),
        "methods": {
            title: {metric: _numbers(compared, draws, title, metric) for metric in SHOWN} for title in compared
        },
    }


def _numbers(compared: dict[str, Comparison], draws: FloatArray, title: str, metric: str) -> dict[str, Any]:
    titles, column = list(compared), list(METRICS).index(metric)
    own, none = (draws[:, titles.index(one), column] for one in (title, NONE))
    value = compared[title].full[title][metric]
    return {
        **estimate(value, own),
        "trial_mean": compared[title].mean(title, metric),
        "trial_std": compared[title].std(title, metric),
        "to_none": estimate(value - compared[NONE].full[NONE][metric], own - none),
    }


def _similarities(one: Scored) -> dict[str, FloatArray | None]:
    """Return the similarities by title, of the classes that the base knows."""
    profiles = _profiles(one)
    hpo = one.folders["hpo"]
    assert one.base.class_weights is not None
    return {
        NONE: None,
        JACCARD: jaccard(profiles),
        SIMGIC: hpo_information_content(profiles, Ontology.read(hpo), read_annotations(hpo), unknown="skip"),
        COSINE: cosine_similarity(one.base.class_weights.astype(np.float64)),
    }


def _profiles(one: Scored) -> Sequence[list[str]]:
    """Return each disease's annotated terms with ancestors; those of its training cases where none are annotated."""
    annotated = read_cases(one.folders["phenopacket_store"], one.folders["hpo"]).profiles
    assert one.problem.texts is not None
    profiles = [set(annotated.get(name, ())) for name in one.problem.class_names]
    bare = [not own for own in profiles]
    for row in np.flatnonzero(one.problem.part == TRAINING):
        label = one.problem.labels[row]
        if bare[label]:
            profiles[label] |= set(one.problem.texts[row].split())
    return [sorted(own) for own in profiles]


def body(record: dict[str, Any]) -> str:
    """Return the tables and what they say."""
    parts = [
        "REPAIR's similarity term left out, or filled with: the Jaccard index of the diseases' annotated terms (the "
        "paper's), the same with every term counting by its information content (simGIC), or the cosine of the base "
        "model's own class weights, which needs no ontology. Over covered test rows, with 95 % bootstrap intervals; "
        "differences are to REPAIR without a similarity, on the same resamples."
    ]
    for name, found in record["sets"].items():
        rows = [[title, *_cells(metrics)] for title, metrics in found["methods"].items()]
        header = ["method", "Hit@1", "Rare", "HFR", "ΔHit@1", "ΔRare", "ΔHFR"]
        parts += [
            f"`{name}`, {found['n_covered']} of {found['n_test']} test rows covered:",
            markdown_table(header, rows),
        ]
    parts += [_reading(record)]
    return "\n\n".join(parts)


def _cells(metrics: dict[str, Any]) -> list[str]:
    shown = ("hit@1", "rare", "hfr")
    values = [in_percent(metrics[metric], percent=metric != "hfr") for metric in shown]
    return values + [in_percent(metrics[metric]["to_none"], signed=True, percent=metric != "hfr") for metric in shown]


def _reading(record: dict[str, Any]) -> str:
    """Say what adding the paper's similarity did, beside what removing it did in the paper."""
    given, without = PAPER["REPAIR with HPO"], PAPER["REPAIR without HPO"]
    lines = [
        f"The paper removes the HPO Jaccard index on GMDB: Hit@1 {given[0]:.2f} → {without[0]:.2f}, Rare "
        f"{given[1]:.2f} → {without[1]:.2f}."
    ]
    for name, found in record["sets"].items():
        gains = {one: found["methods"][JACCARD][one]["to_none"] for one in ("hit@1", "rare")}
        told = [f"{METRICS[one].title} {in_percent(gain, signed=True)}" for one, gain in gains.items()]
        sure = [METRICS[one].title for one, gain in gains.items() if _excludes_zero(gain)]
        verdict = f"the interval of {' and '.join(sure)} leaves out 0" if sure else "no interval leaves out 0"
        lines.append(f"Adding it on `{name}` changes {' and '.join(told)}: {verdict}.")
    lines.append("Intervals are not corrected for the number of comparisons.")
    return " ".join(lines)


def _excludes_zero(gain: dict[str, Any]) -> bool:
    return gain["value"] is not None and bool(gain["low"] > 0 or gain["high"] < 0)
