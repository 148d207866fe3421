import numpy as np

from repair.stats.label_shares import smoothed_shares


def test_many_rows_are_hardly_smoothed():
    counts = np.array([9000.0, 900.0, 90.0, 10.0])
    np.testing.assert_allclose(smoothed_shares(counts, [np.full(4, 0.25)]), counts / 10_000, rtol=0.05)


def test_the_guess_that_fits_is_chosen():
    rng = np.random.default_rng(0)
    long_tail = 1 / np.arange(1, 301)
    long_tail /= long_tail.sum()
    even = np.full(300, 1 / 300)
    for truth in (long_tail, even):
        counts = rng.multinomial(400, truth).astype(float)
        shares = smoothed_shares(counts, [even, long_tail])
        np.testing.assert_allclose(shares.sum(), 1.0)
        assert (shares > 0).all()
        assert np.abs(np.log(shares / truth)).mean() < 0.15
