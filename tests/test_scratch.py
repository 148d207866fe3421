"""Memory that is used again must never be anyone else's at the same time."""

import gc
import threading

import numpy as np
import pytest

from repair import Reranker, scratch


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(scratch, "_free", {})


def kept():
    return sum(size * len(blocks) for size, blocks in scratch._free.items())


def address(array):
    return array.__array_interface__["data"][0]


def test_memory_is_used_again_once_the_last_view_is_gone():
    first = scratch.empty((300, 200))
    first[:] = 7.0
    place, view = address(first), first[10:20, ::2].T
    del first
    gc.collect()
    assert kept() == 0  # a view of it is still there
    second = scratch.empty((300, 200))
    second[:] = 3.0
    assert (view == 7.0).all()
    del view
    gc.collect()
    third = scratch.empty((200, 300))
    assert address(third) == place
    assert address(second) != place


def test_other_shapes_and_types_share_what_is_large_enough():
    first = scratch.empty((1000, 100))
    place = address(first)
    del first
    second = scratch.empty((1600, 124), np.dtype(np.float32))  # 793,600 bytes instead of 800,000
    assert address(second) == place
    assert (second.shape, second.dtype, second.flags.c_contiguous, second.flags.writeable) == (
        (1600, 124),
        np.float32,
        True,
        True,
    )


@pytest.mark.parametrize("shape", [(0,), (5, 0, 3), (10, 10), (scratch.KEPT // 8 + 1,)])
def test_small_and_huge_arrays_are_numpys_own(shape):
    made = scratch.empty(shape)
    assert made.shape == shape
    assert made.base is None
    del made
    assert kept() == 0


def test_no_more_is_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(scratch, "KEPT", 3 << 20)
    held = [scratch.empty((1 << 17,)) for _ in range(6)]  # a megabyte each
    del held
    assert kept() == 3 << 20


@pytest.mark.parametrize("size", [1 << 18, (1 << 18) + 1, 999_999, 8_000_000, 64 << 20])
def test_rounding_adds_an_eighth_at_most(size):
    assert size <= scratch._rounded(size) <= size * 9 / 8


def test_contiguous_copies_only_where_it_must():
    array = np.arange(40_000.0).reshape(200, 200)
    assert scratch.contiguous(array) is array
    turned = scratch.contiguous(array.T)
    assert turned.flags.c_contiguous
    assert (turned == array.T).all()


def test_threads_never_share_memory():
    wrong = []

    def work(number):
        for _ in range(300):
            mine = scratch.empty((1 << 15,))
            mine[:] = number
            if not (mine == number).all():
                wrong.append(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_a_model_keeps_its_similarity_while_others_come_and_go():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 200, size=400)
    scores = rng.normal(size=(400, 200)) + 3 * np.eye(200)[labels]
    similarity = rng.random((200, 200))
    model = Reranker(10, lambda_a=0.01).fit(scores, labels, similarity=similarity)
    before = model.rerank(scores).scores
    for _ in range(5):
        Reranker(10, lambda_a=0.01).fit(scores, labels, similarity=rng.random((200, 200)))
    assert (model.rerank(scores).scores == before).all()
