"""How a fit chooses its hyperparameters, its mode, and the strength of the correction."""
