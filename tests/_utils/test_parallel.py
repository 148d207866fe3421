import contextlib
import gc
import threading
import time
from weakref import ref

import pytest

from repair._utils.parallel import _pool, even_blocks, map_row_blocks, row_blocks, thread_count


def test_blocks_cover_every_row_once():
    blocks = row_blocks(10, 4)
    assert [list(range(10))[block] for block in blocks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert row_blocks(0, 4) == []
    assert row_blocks(3, 0) == [slice(0, 1), slice(1, 2), slice(2, 3)]


@pytest.mark.parametrize("threads", ["1", "2", "3", "50"])
def test_results_come_back_in_order(monkeypatch, threads):
    monkeypatch.setenv("REPAIR_NUM_THREADS", threads)
    assert map_row_blocks(lambda block: block.start, row_blocks(40, 3)) == list(range(0, 40, 3))


def test_several_threads_really_run(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "4")
    meeting = threading.Barrier(4, timeout=20)
    map_row_blocks(lambda block: meeting.wait(), row_blocks(4, 1))


def test_idle_threads_take_blocks_from_busy_ones(monkeypatch):
    """The first block waits until all others are done, so another thread must process the rest of its share."""
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    others = threading.Semaphore(0)

    def do(block):
        if block.start == 0:
            return all(others.acquire(timeout=20) for _ in range(7))
        others.release()
        return True

    assert map_row_blocks(do, row_blocks(8, 1)) == [True] * 8


def test_work_does_not_wait_for_a_thread_that_is_busy_elsewhere(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    release = threading.Event()
    busy = _pool(2).submit(release.wait, 20)
    try:
        assert map_row_blocks(lambda block: block.start, row_blocks(6, 1)) == list(range(6))
        assert not busy.done()
    finally:
        release.set()
    assert busy.result()


@pytest.mark.parametrize("bad", [(8,), (2, 8), (0, 4, 7)])
@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_the_error_of_the_first_bad_block_reaches_the_caller(monkeypatch, threads, bad):
    monkeypatch.setenv("REPAIR_NUM_THREADS", threads)

    def fail(block):
        if block.start in bad:
            raise KeyError(f"block {block.start}")
        return block.start

    with pytest.raises(KeyError, match=f"block {bad[0]}"):
        map_row_blocks(fail, row_blocks(9, 1))


def test_no_later_block_starts_after_one_has_failed(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    failing, done = threading.Event(), []

    def do(block):
        if block.start == 0:
            failing.set()
            raise KeyError("block 0")
        failing.wait(20)
        time.sleep(0.05)
        done.append(block.start)

    with pytest.raises(KeyError, match="block 0"):
        map_row_blocks(do, row_blocks(40, 1))
    assert len(done) <= 1


def test_an_interrupt_ends_the_work_of_all_threads(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    interrupted, done = threading.Event(), []

    def do(block):
        if block.start == 0:
            interrupted.set()
            raise KeyboardInterrupt
        interrupted.wait(20)
        time.sleep(0.05)
        done.append(block.start)

    with pytest.raises(KeyboardInterrupt):
        map_row_blocks(do, row_blocks(40, 1))
    _pool(2).submit(lambda: None).result()  # runs after the other thread has finished its block
    assert len(done) <= 1


def test_without_a_setting_the_cores_of_the_machine_are_used(monkeypatch):
    monkeypatch.delenv("REPAIR_NUM_THREADS", raising=False)
    assert thread_count() >= 1


@pytest.mark.parametrize(("n", "most"), [(1, 10), (10, 10), (11, 10), (100, 7), (5, 0)])
def test_even_blocks_cover_all_rows_and_differ_little(n, most):
    blocks = even_blocks(n, most)
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(n))
    sizes = [block.stop - block.start for block in blocks]
    assert max(sizes) <= max(most, 1)
    assert set(sizes[:-1]) <= {sizes[0]}
    assert sizes[0] - sizes[-1] < len(sizes)


class Held:
    """An object that can be weakly referenced, to see whether it is still in memory."""


def test_finished_work_is_not_kept_while_the_pool_is_busy(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    release, alive = threading.Event(), []
    busy = _pool(2).submit(release.wait, 20)

    def do(block):
        made = Held()
        alive.append(ref(made))
        return made

    try:
        map_row_blocks(do, row_blocks(6, 1))
        assert len(alive) == 6
        assert not any(reference() for reference in alive)
    finally:
        release.set()
    assert busy.result()


def test_an_error_that_was_handled_leaves_nothing_in_memory(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "2")
    held = Held()
    alive = ref(held)

    def fail(block, held=held):
        raise ValueError("bad block")

    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            map_row_blocks(fail, row_blocks(4, 1))
        del fail, held
        assert alive() is None
    finally:
        gc.enable()


def test_an_interrupt_while_helpers_are_submitted_ends_their_work(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "3")
    pool, begun, done = _pool(3), threading.Event(), []
    submit = pool.submit

    def interrupted(*work):
        if begun.is_set():
            raise KeyboardInterrupt
        submitted = submit(*work)
        begun.wait(20)
        return submitted

    def do(block):
        begun.set()
        time.sleep(0.05)
        done.append(block.start)

    monkeypatch.setattr(pool, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        map_row_blocks(do, row_blocks(60, 1))
    time.sleep(0.3)
    assert len(done) <= 2


def test_one_thread_does_all_blocks_if_no_other_can_be_started(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "4")

    def refuse(*work):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_pool(4), "submit", refuse)
    assert map_row_blocks(lambda block: block.start, row_blocks(9, 1)) == list(range(9))
