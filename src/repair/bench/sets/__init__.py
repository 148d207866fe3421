"""One small file for each data set: how it is read and cut, and what the paper reports."""
