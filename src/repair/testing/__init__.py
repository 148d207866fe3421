"""Hypothesis strategies for people who test a term, an adapter or a runtime of their own (extra ``testing``)."""

from repair.testing.strategies import Bounds, score_sets, shortlists

__all__ = ["Bounds", "score_sets", "shortlists"]
