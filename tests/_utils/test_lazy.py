from repair._utils.lazy import lazy


class Thing:
    computed = 0

    @lazy
    def value(self):
        """Return how often it was computed."""
        self.computed += 1
        return self.computed


def test_computed_once_per_object():
    first, second = Thing(), Thing()
    assert (first.value, first.value, second.value) == (1, 1, 1)
    assert Thing.value.__doc__ == "Return how often it was computed."
