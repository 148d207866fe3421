"""Learned terms, which learn from the labelled rows before the fit.  There is one file per term."""
