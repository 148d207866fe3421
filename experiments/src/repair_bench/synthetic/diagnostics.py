"""Two diagnostics on the synthetic problem: gains by threshold dispersion, and the effect of shrinkage."""

from collections.abc import Sequence

import numpy as np

from repair import rare_classes
from repair._utils.arrays import FloatArray
from repair._utils.text_tables import markdown_table
from repair.data.shortlist import Shortlist
from repair.datasets import SyntheticProblem, SyntheticSettings, make_synthetic
from repair.demo.synthetic_methods import ORACLE, fit_and_score
from repair.diagnosis import NotApplicable, quintile_gains, threshold_dispersion
from repair.evaluation.evaluate import evaluate
from repair.rerankers.reranker import Reranker
from repair_bench.synthetic.runs import three_methods

__all__ = ["quintile_effects", "quintile_section", "shrinkage_effects", "shrinkage_section"]

#: A penalty so weak that the offsets are maximum-likelihood estimates, except for classes without rows.
WEAK = 1e-6
#: Bias of the shrinkage diagnostic, strong enough that there are offsets to estimate.
BIAS = 0.6


def quintile_section(seeds: Sequence[int], n_test: int) -> str:
    """Return the Markdown section on gains over Classwise by quintile of the rare classes."""
    rows = []
    for n_pairs in (0, 15):
        problems = (make_synthetic(SyntheticSettings(n_pairs=n_pairs, n_test=n_test, seed=seed)) for seed in seeds)
        usable = [effects for effects in map(quintile_effects, problems) if effects is not None]
        means = 100 * np.mean(usable or [np.full((2, 5), np.nan)], axis=0)
        for name, values in zip(("Pairwise", "oracle"), means, strict=True):
            regime = "pairwise" if n_pairs else "separable"
            cells = ["-" if np.isnan(value) else f"{value:+.1f}" for value in values]
            rows.append([regime, f"{name} − Classwise", *cells, f"{len(usable)} of {len(seeds)}"])
    return "\n\n".join(
        [
            "## Quintiles of the rare classes by threshold dispersion",
            "The table shows ΔHit@1 in points on the covered rows of each fifth of the rare classes, from low (Q1) "
            f"to high (Q5) threshold dispersion, averaged over the seeds. There are {n_test:,} test rows, because "
            "with 2,000 many rare classes have none. The oracle shows how much could be gained. The paper reports +6 "
            "(Q1) to +30 (Q5) in the pairwise regime, and a flat line in the class-separable one.",
            markdown_table(
                ["regime", "difference", "Q1", "Q2", "Q3", "Q4", "Q5", "usable seeds"], rows, text_columns=(0, 1)
            ),
        ]
    )


def quintile_effects(problem: SyntheticProblem) -> FloatArray | None:
    """Return ΔHit@1 of Pairwise and of the oracle over Classwise (rows) in each quintile (columns).

    None if too few rare classes have covered test rows.
    """
    results, _ = fit_and_score(problem, three_methods())
    dispersion = threshold_dispersion(Shortlist.from_scores(problem.test.scores), problem.test.labels)
    effects = []
    for name in ("pairwise", ORACLE):
        hits, reference = (results[one].rows["hit@1"] for one in (name, "classwise"))
        # Five bins with the default of 15 classes would need nearly all of the 80 rare classes.
        found = quintile_gains(dispersion, hits, reference, problem.class_counts, min_classes=12)
        if isinstance(found, NotApplicable):
            return None
        effects.append([one.delta.gain for one in found.bins])
    return np.array(effects)


def shrinkage_section(seeds: Sequence[int], n_test: int, rows_per_class: Sequence[int]) -> str:
    """Return the Markdown section on the variance of the offsets and the tail accuracy, with and without shrinkage."""
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
    header = [
        "rows per class",
        *(f"{what} {kind}" for what in ("variance", "error", "Rare", "Hit@1") for kind in kinds),
    ]
    return "\n\n".join(
        [
            "## Shrinkage",
            f"Classwise in the class-separable regime with c·τ = {BIAS}, by the mean number of calibration rows per "
            "class. The class frequencies follow Zipf's law, so most classes have fewer rows than the mean.\n\n"
            f"- *raw*: a ridge penalty of {WEAK:g}, which is maximum likelihood except for classes without rows.\n- "
            "*paper*: the paper's shrinkage formula, applied after the fit.\n- *eb*: empirical Bayes, with a prior "
            "per group inside the fit.\n\n"
            "*Variance* is the variance of the offsets over the rare classes. *Error* is their mean squared distance "
            "from the true offsets. Both are up to a constant. Rare and Hit@1 are in per cent over covered rows.",
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
        Reranker("classwise", lambda_a=WEAK, shrinkage=False),
        Reranker("classwise", lambda_a=WEAK, shrinkage="paper"),
        Reranker("classwise", shrinkage="eb"),
    ):
        method.fit(problem.calibration.scores, problem.calibration.labels, class_counts=problem.class_counts)
        result = evaluate(
            method.rerank(shortlist), problem.test.labels, problem.class_counts, strata="paper"
        ).conditional
        distance = method.offsets_ - truth
        columns.append(
            [float(np.var(method.offsets_[rare])), float(np.var(distance[rare])), result["rare"], result["hit@1"]]
        )
    return np.array(columns).T
