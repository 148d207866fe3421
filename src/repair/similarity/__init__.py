"""Class similarity: how confusable two classes are, whatever the input."""

from repair.similarity.lookup import (
    DenseSimilarity,
    FunctionSimilarity,
    Similarity,
    SparseSimilarity,
    as_similarity,
)

__all__ = ["DenseSimilarity", "FunctionSimilarity", "Similarity", "SparseSimilarity", "as_similarity"]
