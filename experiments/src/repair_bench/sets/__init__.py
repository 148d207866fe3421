"""One small file per data set: how it is read and split, and what the paper reports."""
