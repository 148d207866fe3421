import threading

import pytest

from repair.parallel import even_blocks, map_row_blocks, row_blocks, thread_count


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


def test_an_error_in_any_block_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("REPAIR_NUM_THREADS", "3")

    def fail(block):
        if block.start == 8:
            raise KeyError("block 8")
        return block.start

    with pytest.raises(KeyError, match="block 8"):
        map_row_blocks(fail, row_blocks(9, 1))


def test_the_machine_decides_unless_told(monkeypatch):
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
