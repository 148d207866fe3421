"""``mode="pairwise"``: the paper's REPAIR, class offsets plus pairwise terms."""

from repair.rerankers.modes.mode import Mode

__all__ = ["PairwiseMode"]


class PairwiseMode(Mode):
    """One offset per class, and pairwise terms, which depend on the input and on the rivals."""

    name = "pairwise"
