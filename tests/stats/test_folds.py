import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repair import InputError
from repair.stats.folds import group_folds, subsample, too_few_units


@given(st.integers(0, 10**6), st.integers(2, 6))
def test_no_group_is_split_and_every_fold_is_used(seed, n_folds):
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.integers(0, 40, size=200), return_inverse=True)[1]
    folds = group_folds(200, groups, n_folds, seed)
    assert set(folds) == set(range(n_folds))
    for group in np.unique(groups):
        assert len(np.unique(folds[groups == group])) == 1
    sizes = np.bincount(folds)
    assert np.ptp(sizes) <= np.bincount(groups).max()


def test_without_groups_folds_differ_by_one_row_at_most():
    sizes = np.bincount(group_folds(103, None, 5, 0))
    assert np.ptp(sizes) <= 1


def test_folds_depend_on_the_seed_only():
    groups = np.arange(60) // 2
    assert (group_folds(60, groups, 3, 7) == group_folds(60, groups, 3, 7)).all()
    assert (group_folds(60, groups, 3, 7) != group_folds(60, groups, 3, 8)).any()


def test_fewer_groups_than_folds_raise_an_error():
    with pytest.raises(InputError, match="3 groups cannot fill 5 folds"):
        group_folds(9, np.arange(9) % 3, 5, 0)


def test_held_out_gains_need_enough_rows_and_groups():
    assert too_few_units(49, None) == too_few_units(49, np.arange(60)) == ("49 covered rows", 50)
    assert too_few_units(50, np.arange(60) % 4) == ("4 groups", 5)
    assert too_few_units(50, None) is too_few_units(50, np.arange(60) % 5) is None


def test_subsamples_take_whole_groups():
    groups = np.arange(100) // 4
    rows = subsample(100, groups, 0.8, seed=1)
    assert len(rows) == 80
    assert (np.bincount(groups[rows], minlength=25) % 4 == 0).all()
    assert (np.diff(rows) > 0).all()
    assert len(subsample(10, None, 0.001, seed=0)) == 1
