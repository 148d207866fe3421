import io

import pytest

from repair.progress import progress_bar

pytestmark = pytest.mark.needs("rich")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by three seconds whenever it is asked."""
    seconds = iter(range(0, 3000, 3))
    monkeypatch.setattr("repair.progress.time.monotonic", lambda: next(seconds))


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


def test_what_is_done_within_a_second_is_not_worth_a_line(capsys):
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


def test_nothing_unless_asked(capsys, clock):
    count(show=False)
    assert capsys.readouterr().err == ""
