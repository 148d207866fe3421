"""The trade-off between rare and frequent classes on test rows."""

import numpy as np
import pytest

from repair import Base
from repair_bench.bases.base_scores import BaseScores
from repair_bench.harness.trade_off import trade_off


def base_scores(groups=None):
    scores = np.array([[3.0, 1.0, 0.0], [3.0, 2.8, 0.0], [2.0, 0.0, 0.5], [1.0, 0.0, 0.9]])
    labels = np.array([0, 1, 0, 2])
    return BaseScores(("a", "b", "c"), np.array([90, 9, 1]), scores, scores, labels, labels, groups, groups)


def test_accuracies_move_with_the_dial_and_macro_counts_classes():
    base = base_scores()
    found = trade_off(Base(3).fit(base.calibration), base.test, base)
    neutral, turned = found["dials"].index(0.0), found["dials"].index(0.2)
    assert (found["accuracy"][neutral], found["macro"][neutral]) == pytest.approx((0.5, 1 / 3))
    assert (found["rare"][neutral], found["frequent"][neutral]) == (0.0, 1.0)
    assert (found["accuracy"][turned], found["macro"][turned]) == pytest.approx((1.0, 1.0))
    assert len({len(values) for values in found.values()}) == 1


def test_every_group_counts_once_within_its_class():
    base = base_scores(np.array([0, 1, 1, 2]))
    dials = trade_off(Base(3).fit(base.calibration), base.test, base)
    at = dials["dials"].index(0.5)  # only the row of class a that shares its group is wrong
    assert dials["accuracy"][at] == pytest.approx(2.5 / 3)
    assert dials["macro"][at] == pytest.approx((1.0 / 1.5 + 1 + 1) / 3)
