"""Two diagnostics on the synthetic problem: gains by threshold dispersion, and what shrinkage does."""

from collections.abc import Sequence

import numpy as np

from repair.arrays import FloatArray
from repair.bench.synthetic import SyntheticProblem, SyntheticSettings, make_synthetic
from repair.bench.synthetic_methods import ORACLE, fit_and_score, three_methods
from repair.diagnosis import NotApplicable, quintile_gains, threshold_dispersion
from repair.evaluation import evaluate
from repair.metrics import rare_classes
from repair.reranker import Reranker
from repair.shortlist import Shortlist
from repair.tables import markdown_table

__all__ = ["quintile_effects", "quintile_section", "shrinkage_effects", "shrinkage_section"]

#: A ridge so weak that the offsets are maximum-likelihood estimates but for classes never seen.
WEAK = 1e-6
#: Of the shrinkage diagnostic: strong enough that there are offsets to estimate.
BIAS = 0.6


def quintile_section(seeds: Sequence[int], n_test: int) -> str:
    """Return the Markdown section on gains over Classwise by quintile of the rare classes."""
    rows = []
    for n_pairs in (0, 15):
        problems = (make_synthetic(SyntheticSettings(n_pairs=n_pairs, n_test=n_test, seed=seed)) for seed in seeds)
        usable = [found for found in map(quintile_effects, problems) if found is not None]
        means = 100 * np.mean(usable or [np.full((2, 5), np.nan)], axis=0)
        for name, values in zip(("REPAIR", "oracle"), means, strict=True):
            regime = "pairwise" if n_pairs else "separable"
            cells = ["-" if np.isnan(value) else f"{value:+.1f}" for value in values]
            rows.append([regime, f"{name} − Classwise", *cells, f"{len(usable)} of {len(seeds)}"])
    return "\n\n".join(
        [
            "## Quintiles of the rare classes by threshold dispersion",
            "ΔHit@1 in points on the covered rows of each fifth of the rare classes, from low (Q1) to high (Q5) "
            f"dispersion, averaged over seeds; {n_test:,} test rows, because 2,000 leave many rare classes without "
            "any. The oracle says what there is to gain. The paper has +6 (Q1) to +30 (Q5) in the pairwise regime, "
            "and a flat line in the other.",
            markdown_table(
                ["regime", "difference", "Q1", "Q2", "Q3", "Q4", "Q5", "usable seeds"], rows, text_columns=(0, 1)
            ),
        ]
    )


def quintile_effects(problem: SyntheticProblem) -> FloatArray | None:
    """Return ΔHit@1 of REPAIR and of the oracle over Classwise (rows) in each quintile (columns).

    None where too few rare classes have covered test rows.
    """
    results, _ = fit_and_score(problem, three_methods())
    dispersion = threshold_dispersion(Shortlist.from_scores(problem.test.scores), problem.test.labels)
    effects = []
    for name in ("REPAIR", ORACLE):
        hits, reference = (results[one].rows["hit@1"] for one in (name, "Classwise"))
        # Five bins of the usual 15 classes need nearly every one of the 80 rare classes.
        found = quintile_gains(dispersion, hits, reference, problem.class_counts, min_classes=12)
        if isinstance(found, NotApplicable):
            return None
        effects.append([one.delta.gain for one in found.bins])
    return np.array(effects)


def shrinkage_section(seeds: Sequence[int], n_test: int, rows_per_class: Sequence[int]) -> str:
    """Return the Markdown section on the variance of offsets and tail accuracy with and without shrinkage."""
    rows = []
    for per_class in rows_per_class:
        settings = [
            SyntheticSettings(n_calibration=100 * per_class, n_test=n_test, n_pairs=0, bias=BIAS, seed=seed)
            for seed in seeds
        ]
        table = np.mean([shrinkage_effects(make_synthetic(one)) for one in settings], axis=0)
        spread, error, rare, hits = table
        rows.append(
            [
                str(per_class),
                *(f"{value:.2f}" for value in (*spread, *error)),
                *(f"{100 * value:.1f}" for value in (*rare, *hits)),
            ]
        )
    kinds = ("raw", "paper", "eb")
    header = ["rows a class", *(f"{what} {kind}" for what in ("variance", "error", "Rare", "Hit@1") for kind in kinds)]
    return "\n\n".join(
        [
            "## Shrinkage",
            f"Classwise in the class-separable regime with c·τ = {BIAS}, by mean number of calibration rows a class "
            f"(the prior is Zipf's, so most classes have fewer). *raw*: ridge of {WEAK:g}, which is maximum likelihood "
            "but for classes never seen; *paper*: the paper's formula after the fit; *eb*: the group's prior inside "
            "the fit. Variance of the offsets over the rare classes, their mean squared distance from the true offsets "
            "(both up to a constant), and accuracy in percent over covered rows.",
            markdown_table(header, rows),
        ]
    )


def shrinkage_effects(problem: SyntheticProblem) -> FloatArray:
    """Return variance, squared error, Rare and Hit@1 (rows) for raw, paper and eb (columns)."""
    rare = rare_classes(problem.class_counts)
    weights = 1.0 / np.arange(1, len(rare) + 1)
    truth = BIAS * np.log(weights)
    shortlist = Shortlist.from_scores(problem.test.scores)
    columns = []
    for method in (
        Reranker(mode="classwise", lambda_a=WEAK, shrinkage=False),
        Reranker(mode="classwise", lambda_a=WEAK, shrinkage="paper"),
        Reranker(mode="classwise", shrinkage="eb"),
    ):
        method.fit(problem.calibration.scores, problem.calibration.labels, class_counts=problem.class_counts)
        result = evaluate(method.rerank(shortlist), problem.test.labels, problem.class_counts).conditional
        distance = method.offsets_ - truth
        columns.append(
            [
                float(np.var(method.offsets_[rare])),
                float(np.var(distance[rare])),
                result["rare"],
                result["hit@1"],
            ]
        )
    return np.array(columns).T
