import numpy as np  # noqa: F401  (its library is what is limited)
from threadpoolctl import threadpool_info, threadpool_limits

from repair._utils.blas import one_blas_thread


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_the_limit_ends_with_the_last_fit():
    """Two fits overlap; the number of threads comes back only after both, whichever ends first."""
    with threadpool_limits(limits=2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}


def test_an_error_ends_the_limit_too():
    with threadpool_limits(limits=2, user_api="blas"):
        try:
            with one_blas_thread():
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
        assert threads() == {2}
