"""The rare-disease benchmark in the harness equals the one by hand."""

import numpy as np
import pytest

from repair.bench.phenopackets import read_cases, splits
from repair.bench.registry import get

pytestmark = pytest.mark.needs("sklearn")


def test_the_harness_gives_the_scores_of_the_split_by_hand(tiny_diseases):
    benchmark = get("phenopackets")
    folders = benchmark.find(tiny_diseases)
    base = benchmark.base(benchmark.read(folders, 1))
    *_, split = splits(read_cases(folders["phenopacket_store"], folders["hpo"]), n_splits=2)
    np.testing.assert_allclose(base.test_scores, split.test.scores, atol=1e-6)
    np.testing.assert_array_equal(base.calibration_groups, split.calibration.groups)
    np.testing.assert_allclose(base.similarity, split.test.similarity)
    np.testing.assert_array_equal(base.class_counts, split.test.class_counts)
    assert base.weight_norms is not None


def test_the_real_cases_are_split_by_publication(real_slice):
    problem, base, found = real_slice("phenopackets")
    assert np.bincount(problem.part).tolist() == [1520, 2358, 2417]
    of_part = [set(problem.groups[problem.part == part]) for part in range(3)]
    assert not of_part[0] & of_part[1]
    assert not of_part[2] & (of_part[0] | of_part[1])
    assert base.calibration_groups is not None
    assert found.full["REPAIR"]["nll"] < found.full["Base"]["nll"]
