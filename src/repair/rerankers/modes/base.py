"""``mode="base"``: no correction."""

from typing import ClassVar

from repair.rerankers.modes.mode import Mode

__all__ = ["BaseMode"]


class BaseMode(Mode):
    """The base order."""

    name = "base"
    with_offsets: ClassVar[bool] = False
    takes_terms: ClassVar[bool] = False
    needs_terms: ClassVar[bool] = False
