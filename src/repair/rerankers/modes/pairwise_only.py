"""``mode="pairwise_only"``: pairwise terms without class offsets, one of the paper's ablations."""

from typing import ClassVar

from repair.rerankers.modes.mode import Mode

__all__ = ["PairwiseOnlyMode"]


class PairwiseOnlyMode(Mode):
    """Pairwise terms, which depend on the input and on the rivals, without offsets."""

    name = "pairwise_only"
    with_offsets: ClassVar[bool] = False
