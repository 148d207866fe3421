"""The data classes of the library: score sets, shortlists, rankings, calibration sets and class tables."""
