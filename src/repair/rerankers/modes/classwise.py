"""``mode="classwise"``: class offsets only, the class-separable special case of the paper's model."""

from typing import ClassVar

from repair.rerankers.modes.mode import Mode

__all__ = ["ClasswiseMode"]


class ClasswiseMode(Mode):
    """One offset per class."""

    name = "classwise"
    takes_terms: ClassVar[bool] = False
    needs_terms: ClassVar[bool] = False
