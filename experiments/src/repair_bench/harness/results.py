"""The results of a run: one comparison of all methods, and everything about it as one JSON document."""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

import repair
from repair._utils.json import plain
from repair.comparison.numbers import Setup
from repair.comparison.resampled_metrics import COMPARED, resample_metrics
from repair.comparison.result import Comparison
from repair.data.shortlist import Shortlist
from repair.diagnosis import NotApplicable, quintile_gains, threshold_dispersion
from repair.stats.row_weights import equal_group_weights
from repair.validation.checks import check_group_codes
from repair_bench.bases.base_scores import BaseScores
from repair_bench.harness.benchmark import NOT_PUBLISHED, Benchmark
from repair_bench.harness.methods import OURS
from repair_bench.harness.stages import Outcome, library_versions

__all__ = ["FIRST", "SECOND", "join", "method_record", "quintiles", "result_record"]

#: The paper's question: does the pairwise part add to the classwise one?
FIRST, SECOND = "Pairwise", "Classwise"


def join(outcomes: Mapping[str, Outcome], base: BaseScores, resamples: int) -> Comparison:
    """Join methods that were run one by one into one comparison, with paired resamples.

    Parameters
    ----------
    outcomes : mapping from title to Outcome
        Outcomes with the same rows, trials and seed.  The first is the reference.
    base : BaseScores
    resamples : int

    Returns
    -------
    Comparison
        The comparison, without fitted models.
    """
    first = next(iter(outcomes.values()))
    setup = Setup(**{**first.account["setup"], "trial_seeds": tuple(first.account["setup"]["trial_seeds"])})
    setup = replace(setup, resamples=resamples)
    n_rows = len(base.test_labels)
    codes = None if base.test_groups is None else check_group_codes(base.test_groups, "groups", n_rows)
    rows = [outcome.rows for outcome in outcomes.values()]
    return Comparison(
        methods=tuple(outcomes),
        reference=next(iter(outcomes)),
        setup=setup,
        trials={title: dict(zip(COMPARED, outcome.trials.T, strict=True)) for title, outcome in outcomes.items()},
        full={title: dict(zip(COMPARED, outcome.full.tolist(), strict=True)) for title, outcome in outcomes.items()},
        rows={title: outcome.rows for title, outcome in outcomes.items()},
        models={},
        labels=base.test_labels,
        draws=resample_metrics(rows, equal_group_weights(n_rows, codes), codes, resamples, setup.bootstrap_seed),
    )


def method_record(comparison: Comparison, title: str, others: Iterable[str] = ()) -> dict[str, Any]:
    """Return every number of one method, and how it compares with some others."""
    metrics = {}
    for metric in COMPARED:
        low, high = comparison.interval(title, metric)
        metrics[metric] = {
            "mean": comparison.mean(title, metric),
            "std": comparison.std(title, metric),
            "trials": comparison.trials[title][metric].tolist(),
            "full": comparison.full[title][metric],
            "low": low,
            "high": high,
        }
    against = {}
    for other in others:
        if other != title:
            signs, gaps = comparison.signs(title, other), comparison.difference(title, other)
            against[other] = {
                metric: {"signs": asdict(signs[metric]), "difference": asdict(gaps[metric])} for metric in COMPARED
            }
    return {"metrics": metrics, "against": against}


def quintiles(
    comparison: Comparison, base: BaseScores, n_candidates: int, first: str = FIRST, second: str = SECOND
) -> Any:
    """Return ΔHit@1 of one method over another by fifths of the rare classes, or why it is not applicable."""
    if first not in comparison.methods or second not in comparison.methods:
        return NotApplicable(f"{first} and {second} were not both run")
    shortlist = Shortlist.from_scores(base.test_scores, n_candidates)
    return quintile_gains(
        threshold_dispersion(shortlist, base.test_labels),
        comparison.rows[first]["hit@1"],
        comparison.rows[second]["hit@1"],
        base.class_counts,
        groups=base.test_groups,
    )


def result_record(
    benchmark: Benchmark,
    base: BaseScores,
    comparison: Comparison,
    accounts: Mapping[str, dict[str, Any]],
    by_k: Mapping[int, Comparison],
    found_quintiles: Any,
    settings: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Return the whole result as JSON values.  NaN becomes null.

    ``against`` holds the paired differences of our methods to every other method.  Rivals and the base
    are not compared with each other, and at other shortlist lengths no methods are.
    """
    methods = {}
    for title in comparison.methods:
        about = {name: value for name, value in accounts[title].items() if name != "setup"}
        # All pairs of methods would make the file several times as large.  Tables compare ours with others.
        others = comparison.methods if about["role"] == OURS else ()
        methods[title] = {**about, **method_record(comparison, title, others)}
    record = {
        "library": "repair",
        "version": repair.__version__,
        "versions": {"python": platform.python_version(), **library_versions()},
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "home": benchmark.home,
        "note": benchmark.note,
        "settings": {**settings, **benchmark.base_settings},
        "seconds": dict(seconds),
        "setup": asdict(comparison.setup),
        "data": _data_record(base),
        "published": _published_record(benchmark),
        "methods": methods,
        "by_k": {str(k): {title: method_record(one, title) for title in one.methods} for k, one in by_k.items()},
        "quintiles": found_quintiles,
    }
    document: dict[str, Any] = plain(record)
    return document


def _data_record(base: BaseScores) -> dict[str, Any]:
    return {
        "classes": len(base.class_names),
        "training_rows": float(np.sum(base.class_counts)),
        "class_counts": np.asarray(base.class_counts).tolist(),
        "largest_class": float(np.max(base.class_counts)),
        "smallest_class": float(np.min(base.class_counts)),
        "calibration_rows": len(base.calibration_labels),
        "test_rows": len(base.test_labels),
        "groups": base.calibration_groups is not None,
        "similarity": base.similarity is not None,
        "notes": list(base.notes),
    }


def _published_record(benchmark: Benchmark) -> dict[str, Any]:
    if benchmark.published is None:
        return {"base": None, "hyperparameters": NOT_PUBLISHED, "numbers": {}}
    known = benchmark.hyperparameters
    numbers = {method: dict(values) for method, values in benchmark.published.numbers.items()}
    return {
        "base": benchmark.published.base,
        "hyperparameters": NOT_PUBLISHED if known is None else known,
        "numbers": numbers,
    }
