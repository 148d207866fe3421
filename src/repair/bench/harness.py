"""Run a benchmark from data to tables, and list what there is to run."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from repair.arrays import AnyArray
from repair.bench.base_scores import BaseScores
from repair.bench.benchmark import Score
from repair.bench.cache import Cache, Made
from repair.bench.methods import METHODS, choose
from repair.bench.packing import npz_bytes
from repair.bench.registry import benchmarks, get
from repair.bench.report.result_tables import all_tables
from repair.bench.results import join, quintiles, result_record
from repair.bench.stages import Stages
from repair.bench.study_runs import list_studies
from repair.comparison import Comparison
from repair.comparison_tables import row_arrays
from repair.files import write_atomically
from repair.inputs import check_count
from repair.tables import text_table

__all__ = ["describe", "run"]

CACHE = ".repair-bench"
RESULTS = f"{CACHE}/results"
LENGTHS = (5, 10, 20, 50)
#: Methods for which other shortlist lengths are run.
BY_LENGTH = ("base", "logit_adj", "classwise", "repair")


def describe(data: "str | PathLike[str] | None" = None) -> str:
    """Return a table of all benchmarks and studies: name, title, whether it can be run.

    Parameters
    ----------
    data : path, optional
        The folder with the data sets, instead of ``$REPAIR_DATA``.
    """
    rows = [[one.name, one.title, one.state(data)] for one in benchmarks()]
    rows += [list(one) for one in list_studies(data)]
    return text_table(["name", "benchmark", "state"], rows, text_columns=(0, 1, 2))


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
    resamples: int = 10_000,
    progress: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Run one benchmark: data, base scores, protocol.

    Parameters
    ----------
    name : str
        One of ``describe()``.
    cache : path, default ".repair-bench"
        Where finished stages are kept; an interrupted run goes on from there.
    out : path, optional
        Folder for ``NAME.json``, ``NAME_rows.npz`` (how each test row fared) and ``NAME.txt``.
    data : path, optional
        The folder with the data sets, instead of ``$REPAIR_DATA``.
    methods : sequence of str, optional
        Names in `repair.bench.methods`; by default all that the base allows.
    base : callable, optional
        Another base model, from a `Problem` to `BaseScores`: a frozen dataclass such as
        ``TextBase(c=10.0)``, whose fields tell the cache one base from another.
    trials : int, default 5
    seed : int, optional
        Of the parts; by default the benchmark's own.
    quick : bool, default False
        A small slice of the rows, two trials, the fast methods, one shortlist length: does it run?
    lengths : sequence of int, optional
        Shortlist lengths to compare; by default 5, 10, 20 and 50, those above the number of
        classes left out.
    resamples : int, default 10000
    progress : callable, optional
        Called with a line of text after each step.

    Returns
    -------
    dict
        The content of ``NAME.json``; `repair.bench.report` makes tables, figures and a document of it.
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
        methods=choose(methods, scored.sets_with_embeddings[0].known, quick=quick),
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
    """What the protocol is to run."""

    methods: tuple[str, ...]
    lengths: tuple[int, ...]
    trials: int
    resamples: int


def _joined(stages: Stages, scored: BaseScores, plan: Plan, base_seconds: float) -> Made:
    """Run every method at every length and put the whole into one document, with what each test row got."""
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
    """Write the document, the per-row outputs and the tables into a folder, which is made if missing."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    document = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / f"{result['benchmark']}.json", document.encode())
    write_atomically(folder / f"{result['benchmark']}_rows.npz", npz_bytes(rows))
    write_atomically(folder / f"{result['benchmark']}.txt", all_tables(result).encode())
