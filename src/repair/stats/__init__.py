"""Folds, paired gains, row weights, strata and class shares, on plain arrays."""
