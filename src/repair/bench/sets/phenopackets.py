"""Rare diseases from phenotype terms: published patients, whole publications in one part."""

from collections.abc import Mapping
from pathlib import Path

from repair.bench.base_scores import TextBase
from repair.bench.benchmark import Benchmark
from repair.bench.phenopackets import CASES_HOME, ONTOLOGY_HOME, publication_problem, read_cases
from repair.bench.problem import Problem
from repair.bench.term_base import BASE_C

__all__ = ["BENCHMARKS"]


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Deal publications to the parts; `repair.bench.phenopackets` says how and why."""
    cases = read_cases(folders["phenopacket_store"], folders["hpo"])
    return publication_problem(cases, seed)


BENCHMARKS = (
    Benchmark(
        name="phenopackets",
        title="Phenopacket Store, diseases from HPO terms",
        home=CASES_HOME,
        folders=("phenopacket_store", "hpo"),
        homes={"hpo": ONTOLOGY_HOME},
        read=read,
        base=TextBase(c=BASE_C, tokens="terms"),
        note="One of many splits by publication; every publication counts once.",
    ),
)
