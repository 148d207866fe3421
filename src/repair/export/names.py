"""Names that the files of an export use."""

__all__ = ["ABOUT", "EMBEDDINGS", "GOLDEN", "IDS", "INPUTS", "LOGITS", "OUTPUTS", "PRECISIONS", "RANKED", "SCORES"]

#: What an export can take and return, and the types of its corrections.
INPUTS, OUTPUTS, PRECISIONS = ("scores", "candidates"), ("ranking", "logits"), ("float64", "float32")
#: Names of the inputs.
IDS, SCORES, EMBEDDINGS = "ids", "scores", "embeddings"
#: Names of the outputs: of a ranking, and of the adjusted logits.
RANKED, LOGITS = ("reranked_ids", "reranked_scores", "reranked_probabilities"), "reranked_logits"
#: Keys of the metadata.
ABOUT, GOLDEN = "repair.export", "repair.golden"
