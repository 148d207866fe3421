from repair.lazy import lazy


class Thing:
    asked = 0

    @lazy
    def value(self):
        """Say how often it was asked."""
        self.asked += 1
        return self.asked


def test_computed_once_per_object():
    one, other = Thing(), Thing()
    assert (one.value, one.value, other.value) == (1, 1, 1)
    assert Thing.value.__doc__ == "Say how often it was asked."
