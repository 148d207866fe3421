"""The subsets of RareBench under both protocols.  Each has few cases, so intervals are wide."""

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair._utils.text_tables import markdown_table
from repair.comparison.compare import compare
from repair_bench.data.parts import TEST
from repair_bench.data.phenopackets import read_cases
from repair_bench.harness.methods import METHODS
from repair_bench.sets.rarebench import FATES, read_others, target_parts
from repair_bench.studies.parts import in_percent, number_of_resamples, resampled_share, scored

__all__ = ["TITLE", "body", "run"]

TITLE = "RareBench by subset"
PROTOCOLS = {"rarebench": "calibrated on 60 % of RareBench", "rarebench_source": "calibrated on the source domain"}
SETS = tuple(PROTOCOLS)
NEEDS_ALL_SETS = True
NAMES = ("base", "logit_adjustment", "classwise", "published", "pairwise")
QUICK_NAMES = ("base", "logit_adjustment", "classwise", "pairwise")
ALL = "all subsets"


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Compare the methods on all test cases, and report each subset."""
    resamples = number_of_resamples(quick)
    found: dict[str, Any] = {}
    for name in PROTOCOLS:
        prepared = scored(name, data, vectors=vectors)  # always all rows: there are only about 70 test cases
        folders, seed = prepared.folders, prepared.benchmark.seed
        cases = read_cases(folders["phenopacket_store"], folders["hpo"])
        others = read_others(folders["rarebench_public"], folders["hpo"], cases)
        subsets = np.array(others.subsets)[target_parts(len(others.labels), seed) == TEST]
        methods = {
            METHODS[key].title: METHODS[key].make(prepared.benchmark.n_candidates, prepared.benchmark.hyperparameters)
            for key in (QUICK_NAMES if quick else NAMES)
        }
        base = prepared.base
        by_row = replace(base.test, equal_group_weight=False)
        compared = compare(methods, base.calibration, by_row, trials=1, resamples=1, strata="paper", random_state=seed)
        found[name] = {
            subset: _of_subset(compared.rows, subsets == subset if subset != ALL else subsets != "", resamples, seed)
            for subset in (*sorted(set(subsets.tolist())), ALL)
        }
        say(f"{name}: done")
    named = sorted({subset for subset, _ in others.fates})
    counts = {subset: {fate: others.fates[subset, fate] for fate in FATES} for subset in named}
    settings = {"resamples": resamples, "quick": quick, "n_candidates": prepared.benchmark.n_candidates}
    return {"settings": settings, "counts": counts, "protocols": found}


def _of_subset(rows: dict[str, dict[str, AnyArray]], which: AnyArray, resamples: int, seed: int) -> dict[str, Any]:
    n = int(which.sum())
    drawn = np.random.default_rng(seed).integers(0, n, size=(resamples, n))
    first = {key: values[which] for key, values in next(iter(rows.values())).items()}
    covered, rare = first["covered"] > 0, first["rare"].astype(bool)
    methods = {}
    for title, own in rows.items():
        hits = own["hit@1"][which]
        methods[title] = {
            "hit@1": resampled_share(hits, covered, drawn),
            "rare": resampled_share(hits, covered & rare, drawn),
            "accuracy": resampled_share(hits, np.ones(n), drawn),
        }
    sizes = {"n": n, "n_covered": int(covered.sum()), "n_covered_rare": int((covered & rare).sum())}
    return {**sizes, "coverage": resampled_share(covered, np.ones(n), drawn), "methods": methods}


def body(record: dict[str, Any]) -> str:
    """Return the tables with explanations."""
    counts = [[name, *(str(own[fate]) for fate in FATES)] for name, own in record["counts"].items()]
    parts = [
        "The names of the subsets are inferred from the order of the published file. Cases of diseases that the base "
        "does not know are left out, and so are near-duplicates of cases of the source domain:",
        markdown_table(["subset", *FATES], counts),
        "Hit@1 and Rare are over covered test cases, and accuracy is over all of them. They are in per cent, with 95 "
        "% bootstrap intervals from the cases in the subset. The subsets have few test cases. If all of them are "
        "right, or none, the interval has no width and says nothing.",
    ]
    for name, subsets in record["protocols"].items():
        rows = [
            [subset, title, *(in_percent(values[metric]) for metric in ("hit@1", "rare", "accuracy"))]
            for subset, own in subsets.items()
            for title, values in own["methods"].items()
        ]
        sizes = [
            [subset, str(own["n"]), in_percent(own["coverage"]), str(own["n_covered_rare"])]
            for subset, own in subsets.items()
        ]
        size_header = ["subset", "test cases", "coverage", "covered cases of rare classes"]
        header = ["subset", "method", "Hit@1", "Rare", "accuracy"]
        parts += [f"## `{name}`, {PROTOCOLS[name]}", markdown_table(size_header, sizes)]
        parts += [markdown_table(header, rows, text_columns=(0, 1))]
    parts.append(
        "The paper reports RareBench as a whole, with another base, other diseases and 32 covered test cases. Its "
        "Hit@1 is 59.4 (40.6 to 75.0) for Base, 66.2 (50.5 to 81.8) for Classwise and 85.6 (73.1 to 95.0) for REPAIR."
    )
    return "\n\n".join(parts)
