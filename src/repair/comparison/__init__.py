"""``compare``: results of several methods on the same test rows, with intervals and tests."""
