import io
import os
import select

import pytest

from repair._utils.progress import progress_bar

pytestmark = pytest.mark.needs("rich")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances by three seconds on every call."""
    seconds = iter(range(0, 3000, 3))
    monkeypatch.setattr("repair._utils.progress.time.monotonic", lambda: next(seconds))


def count(show=True):
    with progress_bar("counting", 4, show=show) as step:
        for _ in range(4):
            step()


def test_plain_lines_with_rate_and_time_left(capsys, clock):
    count()
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert lines[0] == "counting: 1/4, 0.33/s, 9 s left"
    assert lines[-1].startswith("counting: 4/4, ")


def test_work_that_takes_less_than_a_second_prints_nothing(capsys):
    count()
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    count()
    shown = stream.getvalue()
    assert "counting" in shown
    assert "4/4" in shown
    assert "/s" in shown
    assert "\x1b[31m" not in shown


def test_nothing_is_printed_without_show(capsys, clock):
    count(show=False)
    assert capsys.readouterr().err == ""


@pytest.mark.system("pseudo-terminals")
def test_a_signal_leaves_the_terminal_as_it_was(start_program):
    """Rich hides the cursor while it draws a bar."""
    program = (
        "import os, signal\n"
        "from repair._utils.progress import progress_bar\n"
        "from repair._utils.signals import end_at_signals\n"
        "end_at_signals()\n"
        "with progress_bar('counting', 3, show=True):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
    )
    ours, theirs = os.openpty()
    try:
        process = start_program(program, stderr=theirs, env={**os.environ, "TERM": "xterm"})
        assert process.wait(timeout=60) == 143
        shown = b""
        while select.select([ours], [], [], 0.2)[0]:  # one read may return only a part
            shown += os.read(ours, 10_000)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"\x1b[?25l" in shown
    assert shown.endswith(b"\r\x1b[2K\x1b[?25h")
