"""HuffPost: the cut in time, and the thinning to true shares."""

import numpy as np
import pytest

from repair import InputError
from repair_bench.sets.huffpost import read_41, read_natural


@pytest.fixture
def natural(tmp_path, write_lines):
    """Forty old rows, newest first, and ten newer ones with dates; LATE is not a class of the old ones."""
    old = [{"text": f"old {order}", "category": "AB"[order % 2], "date": None, "order": order} for order in range(40)]
    new = [
        {"text": f"new {day}", "category": "LATE" if day == 5 else "A", "date": f"2020-01-{day:02d}", "order": None}
        for day in range(10, 0, -1)
    ]
    write_lines(tmp_path / "natural_long_tail.jsonl.gz", [*new, *old])
    return {"huffpost_natural": tmp_path}


def test_the_oldest_rows_train_and_the_newest_test(natural):
    problem = read_natural(natural, 0)
    texts = np.array(problem.texts)
    assert texts[problem.part == 0].tolist() == [f"old {order}" for order in range(39, 9, -1)]
    assert texts[problem.part == 1].tolist() == [f"old {order}" for order in range(9, -1, -1)]
    assert texts[problem.part == 2].tolist() == [f"new {day}" for day in range(1, 11) if day != 5]
    assert problem.class_names == ("A", "B")
    assert problem.notes == ("classes without a training row were left out (classes: 1, rows: 1)",)


@pytest.fixture
def balanced(tmp_path, write_lines):
    rows = [{"text": f"{name} {i}", "class_name": name} for name in ("sport", "arts & co") for i in range(100)]
    write_lines(tmp_path / "headlines_41x900.jsonl.gz", [*rows, *rows[:7]])  # some twice
    (tmp_path / "category_counts_v2.csv").write_text('category,count\n"SPORT",5000\n"ARTS & CO",1000\n')
    return {"huffpost_41": tmp_path}


def test_classes_are_thinned_to_their_true_shares_and_no_text_is_in_two_parts(balanced):
    problem = read_41(balanced, 42)
    assert problem.class_names == ("arts & co", "sport")
    assert np.bincount(problem.labels).tolist() == [20, 100]
    assert len(set(problem.texts)) == 120
    assert np.bincount(problem.part[problem.labels == 1]).tolist() == [60, 20, 20]
    assert read_41(balanced, 1).texts != problem.texts


def test_a_class_without_a_true_count_is_refused(balanced):
    (balanced["huffpost_41"] / "category_counts_v2.csv").write_text("category,count\nSPORT,5000\n")
    with pytest.raises(InputError, match="'arts & co'"):
        read_41(balanced, 42)


@pytest.mark.needs("sklearn")
@pytest.mark.parametrize(
    ("name", "classes", "sizes"),
    [("huffpost_natural", 27, [17185, 4952, 4276]), ("huffpost_41", 41, [3320, 1105, 1093])],
)
def test_a_slice_of_the_real_data_trains_a_base(real_slice, name, classes, sizes):
    problem, base, found = real_slice(name)
    assert len(problem.class_names) == classes
    assert np.bincount(problem.part).tolist() == sizes
    assert base.weight_norms is not None
    assert found.full["Pairwise"]["nll"] < found.full["Base"]["nll"]
