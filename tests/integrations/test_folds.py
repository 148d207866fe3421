import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.model_selection import GroupKFold, RepeatedKFold, ShuffleSplit

from repair import InputError
from repair.integrations.folds import folds_of, parameters_of_rows, take_rows

LABELS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
ROWS = np.zeros((10, 1))


def scored(folds):
    return sorted(np.concatenate([fold.test for fold in folds]).tolist())


def test_every_row_is_scored_once():
    folds = folds_of(None, ROWS, LABELS, None, {})
    assert len(folds) == 5
    assert scored(folds) == list(range(10))
    for train, test in folds:
        assert set(train) | set(test) == set(range(10))
        assert not set(train) & set(test)


def test_rare_classes_are_no_reason_to_warn_or_to_stop():
    assert len(folds_of(4, ROWS, LABELS, None, {})) == 4


def test_there_are_no_more_folds_than_rows_of_the_largest_class():
    assert len(folds_of(5, ROWS[:4], LABELS[[0, 1, 5, 6]], None, {})) == 2


def test_groups_stay_whole_and_limit_the_number_of_folds():
    groups = np.array(list("aabbccaabb"))
    folds = folds_of(5, ROWS, LABELS, groups, {})
    assert len(folds) == 3
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])


def test_a_splitter_gets_its_arguments():
    groups = np.arange(10) % 2
    folds = folds_of(GroupKFold(2), ROWS, LABELS, groups, {"groups": groups})
    assert sorted(groups[fold.test].tolist() for fold in folds) == [[0] * 5, [1] * 5]


def test_a_single_split_holds_rows_out():
    (fold,) = folds_of(ShuffleSplit(1, test_size=3, random_state=0), ROWS, LABELS, None, {})
    assert len(fold.test) == 3


def test_a_training_part_with_one_class_is_left_out():
    parts = [([0, 1, 2], [3, 4]), ([0, 5], [6, 7])]
    (fold,) = folds_of(parts, ROWS, LABELS, None, {})
    assert fold.test.tolist() == [6, 7]


@pytest.mark.parametrize(
    ("cv", "labels", "groups", "message"),
    [
        (RepeatedKFold(n_splits=2, n_repeats=2), LABELS, None, "into two test parts"),
        (1, LABELS, None, "cv is 1; it takes at least 2 folds"),
        (5, np.arange(10), None, "every class has a single row, so no row .* FrozenEstimator"),
        (5, LABELS, np.zeros(10), "or there is a single group"),
        ([([0, 1], [2, 3])], LABELS, None, "two or more classes"),
    ],
)
def test_what_is_refused(cv, labels, groups, message):
    with pytest.raises(InputError, match=message):
        folds_of(cv, ROWS, labels, groups, {})


@pytest.mark.parametrize(
    "kind", ["list", "numpy", "scipy", "pandas", "pandas series", "polars", "polars series", "pyarrow"]
)
def test_rows_of_every_kind_of_table(kind):
    module = kind.partition(" ")[0]
    library = pytest.importorskip("scipy.sparse" if module == "scipy" else module if module != "list" else "numpy")
    table = np.arange(8.0).reshape(4, 2)
    which = np.array([2, 0])
    rows, expected = {
        "list": lambda: (list("abcd"), list("ca")),
        "numpy": lambda: (table, table[which].tolist()),
        "scipy": lambda: (library.csr_matrix(table), table[which].tolist()),
        "pandas": lambda: (library.DataFrame(table, index=list("wxyz")), table[which].tolist()),
        "pandas series": lambda: (library.Series(list("abcd"), index=[3, 2, 1, 0]), list("ca")),
        "polars": lambda: (library.DataFrame(table, schema=["a", "b"]), table[which].tolist()),
        "polars series": lambda: (library.Series(list("abcd")), list("ca")),
        "pyarrow": lambda: (library.table({"a": table[:, 0], "b": table[:, 1]}), table[which].tolist()),
    }[kind]()
    taken = take_rows(rows, which)
    if kind == "scipy":
        taken = taken.toarray()
    if kind == "pyarrow":
        taken = taken.to_pandas()
    assert np.asarray(taken).tolist() == expected


def test_only_parameters_with_an_entry_per_row_are_cut():
    given = {
        "weights": np.arange(4),
        "listed": [1, 2, 3, 4],
        "short": [1, 2],
        "text": "four",
        "flag": True,
        "map": {1: 2, 3: 4},
    }
    cut = parameters_of_rows(given, np.array([3, 1]), 4)
    assert cut["weights"].tolist() == [3, 1]
    assert cut["listed"] == [4, 2]
    assert {name: cut[name] for name in ("short", "text", "flag", "map")} == {
        name: given[name] for name in ("short", "text", "flag", "map")
    }
