"""The paper's synthetic experiments, with several readings of what its text leaves open."""
