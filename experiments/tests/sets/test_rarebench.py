"""RareBench: two protocols on the same test cases, and no near-copies of what trained the base."""

import numpy as np
import pytest

from repair_bench.data.phenopackets import read_cases
from repair_bench.sets.rarebench import read, read_from_source, read_others
from repair_bench.sets.registry import get


@pytest.fixture
def folders(tiny_diseases, write_lines):
    copied = read_cases(tiny_diseases / "phenopacket_store", tiny_diseases / "hpo").observed[20]  # of OMIM:2
    rows = [{"disease_ids": ["ORPHA:7", f"OMIM:{one}"], "hpo_observed": [f"HP:{5 * one}"]} for one in range(1, 6)]
    rows += [
        {"disease_ids": ["OMIM:2"], "hpo_observed": sorted(copied)},
        {"disease_ids": ["OMIM:3"], "hpo_observed": sorted(copied)},  # another disease: no copy
        {"disease_ids": ["OMIM:77"], "hpo_observed": ["HP:2"]},
    ]
    write_lines(tiny_diseases / "rarebench_public" / "public_test_set.jsonl.gz", rows)
    return get("rarebench").find(tiny_diseases)


def test_copies_and_unknown_diseases_are_left_out_and_counted(folders):
    cases = read_cases(folders["phenopacket_store"], folders["hpo"])
    others = read_others(folders["rarebench_public"], folders["hpo"], cases)
    assert others.labels.tolist() == [0, 1, 2, 3, 4, 2]
    assert others.terms[0] == {"HP:1", "HP:5"}
    assert "of 8 RareBench cases, 1 of diseases" in others.notes[0]
    assert "1 near-duplicates" in others.notes[0]
    assert others.notes[0].endswith("and 6 were kept")


def test_both_protocols_test_the_same_cases_with_the_same_training(folders):
    near, far = read(folders, 42), read_from_source(folders, 42)
    for part in (0, 2):
        one, other = ([p.texts[row] for row in np.flatnonzero(p.part == part)] for p in (near, far))
        assert one == other
    assert np.bincount(near.part)[1:].tolist() == [4, 2]
    n_source = len(read_cases(folders["phenopacket_store"], folders["hpo"]))
    assert np.bincount(far.part)[:2].sum() == n_source
    assert near.groups is None
    assert far.notes == near.notes[:1]
    assert len(np.intersect1d(far.groups[far.part == 1], far.groups[far.part != 1])) == 0


def test_what_calibration_has_seen_of_the_test_cases_is_said(tiny_diseases, write_lines):
    """Ten copies of one case: whatever the split, each test case has a twin in calibration."""
    rows = [{"disease_ids": ["OMIM:1"], "hpo_observed": ["HP:39"]}] * 10
    write_lines(tiny_diseases / "rarebench_public" / "public_test_set.jsonl.gz", rows)
    notes = read(get("rarebench").find(tiny_diseases), 42).notes
    assert (
        "of 4 test cases, 4 have a calibration case of the same disease and 4 have a near-duplicate there" in notes[1]
    )


@pytest.mark.needs("sklearn")
def test_the_real_cases_meet_both_protocols(real_slice):
    near, _, _ = real_slice("rarebench")
    far, base, found = real_slice("rarebench_source")
    assert "661 of diseases the base does not know and 34 near-duplicates" in near.notes[0]
    assert np.bincount(near.part).tolist() == [1520, 107, 71]
    assert np.bincount(far.part).tolist() == [1520, 4775, 71]
    assert found.full["Pairwise"]["nll"] < found.full["Base"]["nll"]
    assert base.calibration_groups is not None
