"""The convex fit: design matrix, conditional logit, Newton solver and empirical-Bayes priors."""
