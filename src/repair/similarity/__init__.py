"""Class similarity: how easily two classes are confused, whatever the input.

The module `lookup` holds a similarity inside a model.  The other modules build similarities.  They
are imported when first used, because a model that reranks does not need them.
"""

from typing import TYPE_CHECKING

from repair._utils.lazy_names import lazy_names
from repair.similarity.lookup import (
    DenseSimilarity,
    FunctionSimilarity,
    Similarity,
    SparseSimilarity,
    as_similarity,
)

if TYPE_CHECKING:
    from repair.similarity.cosine import cosine_similarity
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
    "cosine_similarity": "cosine",
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


__getattr__, __dir__ = lazy_names("repair.similarity", _HOME)
