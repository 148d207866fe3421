"""Two published patients, chosen by a rule: one that Pairwise corrects, and one that it makes worse."""

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from repair._utils.arrays import IntArray
from repair._utils.text_tables import markdown_table
from repair.data.ranking import Ranking
from repair.rerankers.baselines import Base, LogitAdjustment
from repair.rerankers.reranker import Reranker
from repair.similarity.reading import read_text
from repair_bench.data.phenopackets import CASES_FILE
from repair_bench.studies.parts import Scored, scored

__all__ = ["TITLE", "body", "run"]

TITLE = "Two patients"
SETS = ("phenopackets",)
NEEDS_ALL_SETS = True
BASE, LOGIT_ADJ, PAIRWISE = "Base", "LogitAdj", "Pairwise"
#: A related disease counts as near the top if its rank is at most this.
NEAR_TOP = 3
RULE = (
    "The related disease is the one on the shortlist whose annotated terms are most similar to those of the correct "
    "disease (Jaccard index). The recovered case comes from the covered test cases whose correct disease Pairwise "
    f"ranks first and Base does not, and whose related disease Pairwise ranks {NEAR_TOP} or better. Among these it is "
    "the one whose correct disease Base ranks lowest. The failed case is the covered test case whose correct disease "
    "Pairwise moves down furthest. Ties go to the more similar related disease, then to the first case in the file."
)


def run(
    data: "str | PathLike[str] | None", quick: bool, say: Callable[[str], object], vectors: Path | None = None
) -> dict[str, Any]:
    """Fit the methods, and choose the two cases."""
    prepared = scored(SETS[0], data, quick=quick, vectors=vectors)
    k = prepared.benchmark.n_candidates
    models = {BASE: Base(k), LOGIT_ADJ: LogitAdjustment(k), PAIRWISE: Reranker("pairwise", n_candidates=k)}
    calibration, test = prepared.base.calibration, prepared.base.test
    for model in models.values():
        model.fit(calibration.scores, calibration.labels, **calibration.optional_fields)
    rankings = {title: model.rerank(test.scores) for title, model in models.items()}
    say("fitted")
    ranks = {title: ranking.positions(prepared.base.test_labels) + 1 for title, ranking in rankings.items()}
    related, similarity = _related(rankings[BASE], prepared)
    related_ranks = {title: ranking.positions(related) + 1 for title, ranking in rankings.items()}
    names = _names(prepared.folders["phenopacket_store"])
    fixed = (ranks[PAIRWISE] == 1) & (ranks[BASE] > 1)
    kept = fixed & (related_ranks[PAIRWISE] <= NEAR_TOP)
    drop = np.where(ranks[BASE] > 0, ranks[PAIRWISE] - ranks[BASE], 0)
    chosen = {
        "recovered": _first(kept, ranks[BASE], similarity),
        "failed": _first(drop > 0, drop, similarity),
    }
    cases = {
        kind: None
        if row is None
        else {
            "correct": _name(prepared, names, int(prepared.base.test_labels[row])),
            "related": _name(prepared, names, int(related[row])),
            "similarity": float(similarity[row]),
            "ranks": {title: int(rank[row]) for title, rank in ranks.items()},
            "related_ranks": {title: int(rank[row]) for title, rank in related_ranks.items()},
            "contributions": _contributions(models[PAIRWISE], prepared, row, names),
        }
        for kind, row in chosen.items()
    }
    return {
        "settings": {"set": SETS[0], "seed": prepared.benchmark.seed, "n_candidates": k, "quick": quick, "rule": RULE},
        "counts": _counts(ranks, related_ranks),
        "cases": cases,
    }


def _related(ranking: Ranking, prepared: Scored) -> tuple[IntArray, Any]:
    """Return for each row the rival most similar to the correct class, and its similarity."""
    alike = np.asarray(prepared.base.similarity)[prepared.base.test_labels[:, None], ranking.ids]
    alike = np.where((ranking.ids == prepared.base.test_labels[:, None]) | (ranking.ids < 0), -1.0, alike)
    best = alike.argmax(axis=1)
    rows = np.arange(len(alike))
    return ranking.ids[rows, best], alike[rows, best]


def _first(among: Any, by: Any, similarity: Any) -> int | None:
    rows = np.flatnonzero(among)
    if not len(rows):
        return None
    return int(rows[np.lexsort((rows, -similarity[rows], -by[rows]))[0]])


def _counts(ranks: dict[str, IntArray], related: dict[str, IntArray]) -> dict[str, Any]:
    covered = ranks[BASE] > 0
    counts: dict[str, Any] = {"n_test": len(covered), "n_covered": int(covered.sum())}
    for title in (LOGIT_ADJ, PAIRWISE):
        fixed = (ranks[title] == 1) & (ranks[BASE] > 1)
        counts[title] = {
            "recovered": int(fixed.sum()),
            "related_kept": int((fixed & (related[title] <= NEAR_TOP)).sum()),
            "worse": int((covered & (ranks[title] > ranks[BASE])).sum()),
            "lost_first": int(((ranks[BASE] == 1) & (ranks[title] > 1)).sum()),
        }
    return counts


def _contributions(model: Any, prepared: Scored, row: int, names: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "disease": names.get(shown.name, shown.name),
            "rank": shown.rank,
            "base_rank": shown.base_rank,
            "contributions": {key: float(value) for key, value in shown.contributions.items()},
            "score": float(shown.score),
        }
        for shown in model.explain(prepared.base.test_scores[row]).candidates
    ]


def _names(folder: Path) -> dict[str, str]:
    """Return the names of the diseases by id, as far as the cases have them."""
    rows = [json.loads(line) for line in read_text(folder, CASES_FILE).split("\n") if line]
    return {row["disease_id"]: row["disease_label"] for row in rows if row.get("disease_label")}


def _name(prepared: Scored, names: dict[str, str], label: int) -> str:
    disease = prepared.base.class_names[label]
    return names.get(disease, disease)


def body(record: dict[str, Any]) -> str:
    """Return both cases with ranks and contributions, and how often such cases occur."""
    counts = record["counts"]
    parts = [f"Two test cases of `{SETS[0]}`, chosen by a fixed rule. {RULE}"]
    for kind, case in record["cases"].items():
        if case is None:
            parts.append(f"There is no {kind} case.")
            continue
        parts.append(
            f"## The {kind} case\n\nThe correct disease is {case['correct']}. The related disease is "
            f"{case['related']} (Jaccard index {case['similarity']:.2f})."
        )
        rows = [[title, str(case["ranks"][title]), str(case["related_ranks"][title])] for title in case["ranks"]]
        parts.append(markdown_table(["method", "rank of the correct disease", "rank of the related disease"], rows))
        terms = list(case["contributions"][0]["contributions"])
        shown = [one for one in case["contributions"] if one["rank"] <= NEAR_TOP or one["disease"] == case["correct"]]
        table = [
            [one["disease"], str(one["rank"]), str(one["base_rank"])]
            + [f"{one['contributions'][term]:+.2f}" for term in terms]
            for one in shown
        ]
        parts.append("What the terms contribute to the scores of Pairwise:")
        parts.append(markdown_table(["disease", "rank, Pairwise", "rank, Base", *terms], table))
    sentences = [
        f"- {title} ranks the correct disease first in {own['recovered']} cases in which Base does not. In "
        f"{own['related_kept']} of these the related disease is at rank {NEAR_TOP} or better. It moves the correct "
        f"disease down in {own['worse']} cases, in {own['lost_first']} of them from the first place."
        for title, own in ((title, counts[title]) for title in (LOGIT_ADJ, PAIRWISE))
    ]
    paper = (
        "The paper describes one patient. Both methods move the correct disease from rank 8 to 1. LogitAdj moves the "
        "related disease from rank 5 to 7, and REPAIR moves it to 2. One case shows what can happen, and the counts "
        "show how often."
    )
    counted = f"## How often this happens\n\nAmong the {counts['n_covered']} covered cases:"
    return "\n\n".join([*parts, counted, "\n".join(sentences), paper])
