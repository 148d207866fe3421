"""Input validation: checks of what users pass, and matching to the classes by name."""
