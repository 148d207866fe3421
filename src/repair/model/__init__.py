"""The results of a fit: the correction, decision-time adjustments, explanations, and records of the fit."""
