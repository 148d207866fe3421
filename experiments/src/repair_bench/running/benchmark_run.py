"""Running a benchmark from data to tables, and listing the benchmarks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from repair._utils.arrays import AnyArray
from repair._utils.atomic_write import write_atomically
from repair._utils.json import json_text
from repair._utils.text_tables import text_table
from repair.comparison.result import Comparison
from repair.comparison.tables import row_arrays
from repair.validation.checks import check_count
from repair_bench.bases.base_scores import BaseScores
from repair_bench.data.layouts import GET_FROM
from repair_bench.data.packing import npz_bytes
from repair_bench.harness.benchmark import Score
from repair_bench.harness.cache import Cache, Made
from repair_bench.harness.methods import METHODS, choose
from repair_bench.harness.results import join, quintiles, result_record
from repair_bench.harness.stages import Stages
from repair_bench.report.result_tables import all_tables
from repair_bench.running.study_runs import list_studies
from repair_bench.sets.registry import benchmarks, get

__all__ = ["describe", "run"]

CACHE = ".repair-bench"
RESULTS = f"{CACHE}/results"
LENGTHS = (5, 10, 20, 50)
#: Methods that are also run with other shortlist lengths.
BY_LENGTH = ("base", "logit_adjustment", "classwise", "pairwise")


def describe(data: "str | PathLike[str] | None" = None) -> str:
    """Return a table of all benchmarks and studies, whether each can be run, and where to get what is missing.

    The files are looked into: whether they are there and complete, and whether their first lines are as they should be.

    Parameters
    ----------
    data : path, optional
        The folder with the data sets or that of their publisher, instead of ``$REPAIR_DATA``.  Several folders are
        separated as in the variable PATH.
    """
    rows = [[one.name, one.title, one.state(data)] for one in benchmarks()]
    rows += [list(one) for one in list_studies(data)]
    # Where to get the data is said below the table, once for each data set.
    rows = [[*cells, state.partition(GET_FROM)[0]] for *cells, state in rows]
    table = text_table(["name", "benchmark", "state"], rows, text_columns=(0, 1, 2))
    missing = {source.name: source for one in benchmarks() for source in one.missing_sources(data)}
    if not missing:
        return table
    lines = [f"  {one.name}: {one.home} (licence: {one.licence}). {one.how}" for one in missing.values()]
    return "\n".join([table, "", "Where to get the data sets that are not here (more in docs/data-sets.md):", *lines])


def run(
    name: str,
    *,
    cache: "str | PathLike[str]" = CACHE,
    out: "str | PathLike[str] | None" = None,
    data: "str | PathLike[str] | None" = None,
    methods: Sequence[str] | None = None,
    base: Score | None = None,
    trials: int = 5,
    seed: int | None = None,
    quick: bool = False,
    lengths: Sequence[int] | None = None,
    resamples: int = 20_000,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Run one benchmark: read the data, compute the base scores, compare the methods.

    Parameters
    ----------
    name : str
        One of the names in ``describe()``.
    cache : path, default ".repair-bench"
        Folder in which finished stages are kept.  An interrupted run continues from there.
    out : path, optional
        Folder for ``NAME.json``, ``NAME_rows.npz`` (one value per test row) and ``NAME.txt``.
    data : path, optional
        The folder with the data sets, instead of ``$REPAIR_DATA``.
    methods : sequence of str, optional
        Names in `repair_bench.harness.methods`.  By default all that the base allows.
    base : callable, optional
        Another base model, which maps a `Problem` to `BaseScores`.  It is a frozen dataclass such as
        ``TextBase(c=10.0)``, whose fields identify it in the cache.
    trials : int, default 5
        Number of fits on subsamples of the calibration rows.
    seed : int, optional
        Seed for the parts and the trials.  By default the benchmark's own.
    quick : bool, default False
        Use few rows, two trials, the fast methods and one shortlist length, only to see whether the
        benchmark runs.
    lengths : sequence of int, optional
        Shortlist lengths to compare, by default 5, 10, 20 and 50.  Lengths above the number of
        classes are left out.
    resamples : int, default 20000
        Number of bootstrap resamples of the test rows.
    progress : callable, optional
        Called with a line of text after each step.

    Returns
    -------
    dict
        The content of ``NAME.json``, from which `repair_bench.report` makes tables, figures and pages.
    """
    benchmark = get(name) if base is None else replace(get(name), base=base)
    folders = benchmark.find(data)
    trials = min(2, check_count(trials, "trials")) if quick else check_count(trials, "trials")
    resamples = min(1000, resamples) if quick else resamples
    parts_seed = benchmark.seed if seed is None else check_count(seed, "seed", 0)
    say = progress or (lambda line: None)
    stages = Stages(benchmark, folders, Cache(cache), parts_seed, quick, say)
    scored, base_seconds = stages.base_scores()
    wanted = ((benchmark.n_candidates,) if quick else LENGTHS) if lengths is None else lengths
    plan = Plan(
        methods=choose(methods, scored.sets_with_embeddings[0].optional_fields, quick=quick),
        lengths=tuple(check_count(k, "k") for k in wanted if k <= len(scored.class_names)),
        trials=trials,
        resamples=resamples,
    )

    def make() -> Made:
        return _joined(stages, scored, plan, base_seconds)

    arrays, result = stages.record(asdict(plan), make)
    if out is not None:
        write(result, arrays, out)
    return result


@dataclass(frozen=True)
class Plan:
    """The methods, shortlist lengths, trials and resamples of a run."""

    methods: tuple[str, ...]
    lengths: tuple[int, ...]
    trials: int
    resamples: int


def _joined(stages: Stages, scored: BaseScores, plan: Plan, base_seconds: float) -> Made:
    """Run every method at every length, and return the outputs per test row and the JSON document."""
    benchmark = stages.benchmark
    compared, accounts = _compare(stages, scored, plan, plan.methods, benchmark.n_candidates)
    seconds = {"base": base_seconds, "methods": _seconds(accounts), "other lengths": 0.0}
    by_k, by_length = {}, [one for one in BY_LENGTH if one in plan.methods]
    for k in plan.lengths if by_length else ():
        by_k[k], others = _compare(stages, scored, plan, by_length, k)
        seconds["other lengths"] += _seconds(others) if k != benchmark.n_candidates else 0.0
    settings = {
        "seed": stages.seed,
        "trials": plan.trials,
        "quick": stages.quick,
        "n_candidates": benchmark.n_candidates,
        "resamples": plan.resamples,
    }
    found = quintiles(compared, scored, benchmark.n_candidates)
    return row_arrays(compared), result_record(benchmark, scored, compared, accounts, by_k, found, settings, seconds)


def _compare(
    stages: Stages, base: BaseScores, plan: Plan, names: Sequence[str], n_candidates: int
) -> tuple[Comparison, dict[str, dict[str, Any]]]:
    outcomes = {METHODS[one].title: stages.outcome(one, base, n_candidates, plan.trials, stages.seed) for one in names}
    return join(outcomes, base, plan.resamples), {title: outcome.account for title, outcome in outcomes.items()}


def _seconds(accounts: Mapping[str, dict[str, Any]]) -> float:
    return float(sum(one["seconds"] for one in accounts.values()))


def write(result: dict[str, Any], rows: Mapping[str, AnyArray], out: "str | PathLike[str]") -> None:
    """Write the JSON document, the outputs per row and the tables into a folder, which is created if needed."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{result['benchmark']}.json", json_text(result).encode())
    write_atomically(folder / f"{result['benchmark']}_rows.npz", npz_bytes(rows))
    write_atomically(folder / f"{result['benchmark']}.txt", all_tables(result).encode())
