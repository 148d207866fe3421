import gzip

import pytest

from repair import InputError
from repair.similarity.reading import read_text


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_all_line_endings_become_line_feeds(tmp_path, pack):
    (tmp_path / "x").write_bytes(pack("é\r\nb\n".encode()))
    assert read_text(tmp_path / "x") == "é\nb\n"
    assert read_text(tmp_path, "x") == "é\nb\n"


def broken_in_the_middle():
    packed = bytearray(gzip.compress(bytes(range(200)) * 9, mtime=0))
    packed[30] ^= 255
    return bytes(packed)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", gzip.compress(b"\xff", mtime=0), gzip.compress(b"abc", mtime=0)[:-3], broken_in_the_middle()],
)
def test_files_that_are_not_text_raise_an_error(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InputError, match=r"x cannot be read as text .*check that the download is complete"):
        read_text(tmp_path / "x")


def test_files_that_cannot_be_opened_raise_an_os_error(tmp_path):
    with pytest.raises((IsADirectoryError, PermissionError)):  # Windows raises the latter
        read_text(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path, "x")
