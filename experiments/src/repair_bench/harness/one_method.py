"""Fitting one method and measuring it on the test rows, and what a result says about it."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from repair._utils.arrays import AnyArray
from repair._utils.json import plain
from repair.comparison.resampled_metrics import COMPARED
from repair_bench.bases.base_scores import BaseScores
from repair_bench.harness.held_out import held_out_accuracy
from repair_bench.harness.macro_frontier import macro_frontier
from repair_bench.harness.methods import MACRO, OURS, Method
from repair_bench.harness.trade_off import trade_off

__all__ = ["Say", "measure_method"]

Say = Callable[[str], object]


def measure_method(
    method: Method, model: Any, base: BaseScores, trials: int, seed: int, say: Say
) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """Fit and evaluate one method, on all calibration rows and in every trial.

    Parameters
    ----------
    method : Method
    model : ShortlistReranker
        The unfitted method.
    base : BaseScores
    trials : int
    seed : int
        Seed of the trials.
    say : callable
        Called with a line of text after each fit.

    Returns
    -------
    arrays : dict of ndarray
        ``trials`` and ``full`` in the order of `COMPARED`, and ``rows.NAME`` with one value per test row.
    account : dict
        Title, role, information, model, mode, chosen parameters, notes, seconds, setup, trade-off and the
        frontier of macro accuracy.  The seconds are process time, so they do not depend on what else the
        machine does.  ``calibration`` is the held-out accuracy on calibration rows, by which a report
        chooses the best rival without the test rows.  It is None for methods that do not take part in that
        choice: our own, and those that aim at macro accuracy.
    """
    from repair.comparison.compare import compare

    start, title = time.process_time(), method.title
    calibration, test = base.sets_with_embeddings if method.embeddings else (base.calibration, base.test)
    calibration = replace(calibration, equal_group_weight=method.equal_group_weight)
    # The subsamples depend only on the seed, so methods that are run one by one get the same ones.
    # The bootstrap resamples are drawn later, for all methods together.
    found = compare(
        {title: model},
        calibration,
        test,
        trials=trials,
        resamples=1,
        strata="paper",
        random_state=seed,
        progress=lambda done, total, label: say(f"  {label} ({done} of {total})"),
    )
    fitted = found.models[title]
    seconds = time.process_time() - start
    account = {
        "title": title,
        "role": method.role,
        "information": method.information,
        "own_list": method.own_list,
        "model": repr(model),
        "mode": fitted.mode_,
        "chosen": fitted.chosen_.to_dict(),
        "notes": list(fitted.fit_summary_.notes),
        "seconds": seconds,
        "setup": vars(found.setup),
        "calibration": None if method.role in (OURS, MACRO) else {"accuracy": held_out_accuracy(fitted, calibration)},
        "trade_off": trade_off(fitted, test, base),
        "macro_frontier": macro_frontier(fitted, test, base),
    }
    arrays: dict[str, AnyArray] = {
        "trials": np.stack([found.trials[title][metric] for metric in COMPARED], axis=1),
        "full": np.array([found.full[title][metric] for metric in COMPARED]),
        **{f"rows.{name}": values for name, values in found.rows[title].items()},
    }
    return arrays, plain(account)
