"""Take the picture of the report for the README: ``python docs/report_picture.py demo/report.html docs/report.png``.

The picture also contains the verdict as text, and a test compares it with the report that `repair demo` writes.
Needs Chromium and the extra ``browser``.
"""

import re
import shutil
import struct
import sys
import zlib
from html import unescape
from pathlib import Path

SIZE = {"width": 1280, "height": 1780}
KEYWORD = b"Verdict"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
)


def verdict_of(page: str) -> str:
    """Return the text of the verdict of a report."""
    section = re.search(r'<section id="verdict".*?</section>', page, re.DOTALL)
    if section is None:
        raise SystemExit("this file has no verdict; pass a report that `repair demo` wrote")
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", section[0])).split())


def text_in(picture: bytes) -> str:
    """Return the verdict that a picture contains, or '' if there is none."""
    place = 8
    while place < len(picture):
        (length,) = struct.unpack(">I", picture[place : place + 4])
        kind, data = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        if kind == b"iTXt" and data.startswith(KEYWORD + b"\0"):
            return data.removeprefix(KEYWORD + b"\0\0\0\0\0").decode()
        place += length + 12
    return ""


def with_text(picture: bytes, text: str) -> bytes:
    """Return a PNG that also contains a text, before its last chunk, which is 12 bytes long."""
    chunk = b"iTXt" + KEYWORD + b"\0\0\0\0\0" + text.encode()
    return (
        picture[:-12] + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + picture[-12:]
    )


def take(report: Path) -> bytes:
    """Return a picture of the upper part of a report."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS.split())
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.wait_for_selector("html[data-drawn=true]", state="attached", timeout=120_000)
        picture = page.screenshot()
        browser.close()
    return picture


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(with_text(take(source), verdict_of(source.read_text("utf-8"))))
