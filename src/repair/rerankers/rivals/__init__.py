"""Rivals for `compare`: methods by others that rank all classes by their own final scores."""

from repair.rerankers.rivals.gda import Gda
from repair.rerankers.rivals.neighbours import KnnInterpolation, TipAdapter
from repair.rerankers.rivals.prior2posterior import Prior2Posterior
from repair.rerankers.rivals.scaling import MatrixScaling, VectorScaling

__all__ = ["Gda", "KnnInterpolation", "MatrixScaling", "Prior2Posterior", "TipAdapter", "VectorScaling"]
