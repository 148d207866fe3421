"""General helpers that do not depend on reranking: arrays, threads, progress, files, tables and JSON."""
