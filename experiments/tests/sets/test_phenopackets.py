"""The rare-disease benchmark: one base model, whichever way its terms come."""

import numpy as np
import pytest

from repair.demo.term_classifier import base_scores, term_table
from repair_bench.data.phenopackets import read_cases
from repair_bench.sets.phenopackets import splits
from repair_bench.sets.registry import get

pytestmark = pytest.mark.needs("sklearn")


def test_the_text_base_gives_the_scores_of_the_term_base(tiny_diseases):
    """The demonstration trains on a table of terms, the benchmark on terms with blanks between: one model."""
    benchmark = get("phenopackets")
    folders = benchmark.find(tiny_diseases)
    problem = benchmark.read(folders, 1)
    base = benchmark.base(problem)
    table, _ = term_table(read_cases(folders["phenopacket_store"], folders["hpo"]).terms)
    by_hand = base_scores(table, problem.labels, problem.part == 0)
    np.testing.assert_allclose(base.test_scores, by_hand[problem.part == 2], atol=1e-6)
    np.testing.assert_array_equal(base.calibration_groups, problem.groups[problem.part == 1])


def test_splits_are_the_benchmark_with_seeds_from_0(tiny_diseases):
    benchmark = get("phenopackets")
    folders = benchmark.find(tiny_diseases)
    *_, split = splits(read_cases(folders["phenopacket_store"], folders["hpo"]), n_splits=2)
    np.testing.assert_array_equal(split.test_scores, benchmark.base(benchmark.read(folders, 1)).test_scores)


def test_the_real_cases_are_split_by_publication(real_slice):
    problem, base, found = real_slice("phenopackets")
    assert np.bincount(problem.part).tolist() == [1520, 2358, 2417]
    of_part = [set(problem.groups[problem.part == part]) for part in range(3)]
    assert not of_part[0] & of_part[1]
    assert not of_part[2] & (of_part[0] | of_part[1])
    assert base.calibration_groups is not None
    assert found.full["Pairwise"]["nll"] < found.full["Base"]["nll"]
