"""Running benchmarks and studies, one or several at a time, and storing their results."""
