"""Base models, which score the calibration and test rows of a data set."""
