"""The objects that users fit and apply: the reranker with its modes, and the baselines with the same interface."""
