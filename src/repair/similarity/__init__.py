"""Class similarity: how confusable two classes are, whatever the input.

`lookup` holds a similarity inside a model; the other modules build one.  Builders are imported when
first used: a model that reranks needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from repair.similarity.lookup import (
    DenseSimilarity,
    FunctionSimilarity,
    Similarity,
    SparseSimilarity,
    as_similarity,
)

if TYPE_CHECKING:
    from repair.similarity.embeddings import cosine_similarity
    from repair.similarity.hpo import (
        annotations_from_hpo3,
        hpo_information_content,
        hpo_jaccard,
        read_annotations,
    )
    from repair.similarity.ontology import Ontology
    from repair.similarity.sets import jaccard
    from repair.similarity.taxonomy import read_taxonomy, taxonomy_similarity
    from repair.similarity.wordnet import read_wordnet, wordnet_similarity

_HOME = {
    "Ontology": "ontology",
    "annotations_from_hpo3": "hpo",
    "cosine_similarity": "embeddings",
    "hpo_information_content": "hpo",
    "hpo_jaccard": "hpo",
    "jaccard": "sets",
    "read_annotations": "hpo",
    "read_taxonomy": "taxonomy",
    "read_wordnet": "wordnet",
    "taxonomy_similarity": "taxonomy",
    "wordnet_similarity": "wordnet",
}

__all__ = [
    "DenseSimilarity",
    "FunctionSimilarity",
    "Ontology",
    "Similarity",
    "SparseSimilarity",
    "annotations_from_hpo3",
    "as_similarity",
    "cosine_similarity",
    "hpo_information_content",
    "hpo_jaccard",
    "jaccard",
    "read_annotations",
    "read_taxonomy",
    "read_wordnet",
    "taxonomy_similarity",
    "wordnet_similarity",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'repair.similarity' has no attribute {name!r}")
    value = getattr(import_module(f"repair.similarity.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
