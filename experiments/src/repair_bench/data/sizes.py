"""The sizes that data sets should have, and what to say if files have others."""

from dataclasses import dataclass, replace

import numpy as np

from repair._utils.arrays import AnyArray
from repair_bench.data.parts import CALIBRATION, TEST
from repair_bench.data.problem import Problem

__all__ = [
    "FEW_NERD",
    "GMDB",
    "GOEMOTIONS",
    "HUFFPOST",
    "IMAGENET_LT",
    "INAT2018",
    "MASSIVE",
    "PLACES_LT",
    "RAREBENCH",
    "Sizes",
    "with_sizes",
]


@dataclass(frozen=True)
class Sizes:
    """Sizes in the paper's table of data sets, and those of the published training lists.

    Attributes
    ----------
    classes : int
    calibration, test : int or None
        None where the paper gives no number.
    training : int or None
        Rows of the published training part, or of the paper's if it gives a number.
    largest, smallest : int or None
        Training rows of the largest and of the smallest class.
    remark : str
        What is known about a disagreement.
    """

    classes: int
    calibration: int | None = None
    test: int | None = None
    training: int | None = None
    largest: int | None = None
    smallest: int | None = None
    remark: str = ""

    def disagreements(self, n_classes: int, n_calibration: int, n_test: int, counts: AnyArray) -> list[str]:
        """Return one text per number that differs."""
        numbers = (
            ("classes", self.classes, n_classes, "the paper"),
            ("calibration rows", self.calibration, n_calibration, "the paper"),
            ("test rows", self.test, n_test, "the paper"),
            ("training rows", self.training, int(np.sum(counts)), "the published list"),
            ("training rows of the largest class", self.largest, int(np.max(counts)), "the published list"),
            ("training rows of the smallest class", self.smallest, int(np.min(counts)), "the published list"),
        )
        found = [
            f"{name}: {here:,} here, {there:,} in {where}"
            for name, there, here, where in numbers
            if there is not None and there != here
        ]
        return [*found, self.remark] if found and self.remark else found


# The numbers of training rows are those of the published lists (`longtail_class_counts` in the data folder).
GOEMOTIONS = Sizes(28)
MASSIVE = Sizes(60)
HUFFPOST = Sizes(42)
FEW_NERD = Sizes(66)
IMAGENET_LT = Sizes(1000, 20_000, 30_000, 115_846, 1280, 5)
PLACES_LT = Sizes(
    365,
    10_804,
    7_446,
    62_500,
    4980,
    5,
    "the paper calls its 18,250 rows the Places365 validation set of about 100 images per class, but that has 36,500, "
    "as has the test part of Places-LT",
)
INAT2018 = Sizes(
    8142,
    30_000,
    70_000,
    437_513,
    remark="iNaturalist 2018 has 24,426 labelled validation images, so the paper's 100,000 rows cannot be its "
    "validation part",
)
GMDB = Sizes(508, 849, 1_724, 7_844)
RAREBENCH = Sizes(508, 117, 78)


def with_sizes(problem: Problem, sizes: Sizes) -> Problem:
    """Return the problem with a note on its sizes, which says where they differ from the published ones.

    Examples
    --------
    >>> import numpy as np
    >>> from repair_bench.data.problem import Problem
    >>> from repair_bench.data.sizes import Sizes, with_sizes
    >>> with_sizes(Problem(("a", "b"), np.array([0, 1, 1]), np.array([0, 0, 2])), Sizes(3)).notes
    ('sizes differ from the published ones: classes: 2 here, 3 in the paper',)
    """
    parts = [int((problem.part == part).sum()) for part in (CALIBRATION, TEST)]
    found = sizes.disagreements(len(problem.class_names), parts[0], parts[1], problem.counts)
    note = f"sizes differ from the published ones: {'; '.join(found)}" if found else "sizes are the published ones"
    return replace(problem, notes=(*problem.notes, note))
