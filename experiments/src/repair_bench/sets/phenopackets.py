"""Rare diseases from phenotype terms: published patients, with each publication in one part only."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from repair.demo.term_classifier import BASE_C
from repair_bench.bases.base_scores import BaseScores, TextBase
from repair_bench.data.phenopackets import CASES_HOME, Cases, publication_problem, read_cases
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark

__all__ = ["BENCHMARKS", "splits"]

N_SPLITS = 5


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Assign publications to the parts, as explained in `repair_bench.data.phenopackets`."""
    cases = read_cases(folders["phenopacket_store"], folders["hpo"])
    return publication_problem(cases, seed)


def splits(cases: Cases, n_splits: int = N_SPLITS, c: float = BASE_C) -> Iterator[BaseScores]:
    """Train the base on each split in turn, and yield its scores on the calibration and test cases.

    Parameters
    ----------
    cases : Cases
    n_splits : int, default 5
        Number of splits, with seeds 0, 1, ….
    c : float, default 10
        Inverse penalty of the logistic regression.

    Yields
    ------
    BaseScores
    """
    for seed in range(n_splits):
        yield TextBase(c=c, tokens="terms")(publication_problem(cases, seed))


BENCHMARKS = (
    Benchmark(
        name="phenopackets",
        title="Phenopacket Store, diseases from HPO terms",
        home=CASES_HOME,
        folders=("phenopacket_store", "hpo"),
        read=read,
        base=TextBase(c=BASE_C, tokens="terms"),
        note="This is one of many possible splits by publication. Every publication counts once.",
    ),
)
