"""The way from the declaration of a benchmark to its results, with every stage cached."""
