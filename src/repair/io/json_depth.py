"""Checking how deeply JSON is nested before it is parsed, because deep nesting overflows the parser's stack."""

import re
from collections.abc import Iterator

import numpy as np

from repair._utils.arrays import AnyArray
from repair.errors import InputError

__all__ = ["refuse_deep_json"]

#: Largest depth.  Scores need two levels; some tens of thousands crash the parser, and Python with it.
DEEPEST = 500
BLOCK = 1 << 24
#: All bytes except brackets, quotes and line ends.
IRRELEVANT = bytes(set(range(256)) - set(b'[]{}"\n'))
ESCAPE = re.compile(rb"\\.")  # the dot does not match a line end, which always ends a JSON text


def refuse_deep_json(content: bytes) -> None:
    """Raise an error if brackets are nested deeper than `DEEPEST`, wherever the parser may start a block."""
    depth, lowest = 0, 0
    for block in _blocks(content):
        depths = depth + np.cumsum(_steps(block), dtype=np.int64)
        if len(depths):
            floor = np.minimum(np.minimum.accumulate(depths), lowest)
            if int((depths - floor).max()) > DEEPEST:
                raise InputError(f"the JSON is nested more than {DEEPEST} levels deep; write one flat object per line")
            depth, lowest = int(depths[-1]), int(floor[-1])


def _blocks(content: bytes) -> Iterator[bytes]:
    """Yield blocks that end at line ends, because no JSON text extends over a line end."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + BLOCK)
        end = len(content) if end < 0 else end + 1
        yield content[start:end]
        start = end


def _steps(block: bytes) -> AnyArray:
    """Return +1 for every opening bracket outside of texts, and −1 for every closing one."""
    if b"\\" in block:
        block = ESCAPE.sub(b"", block)
    signs = np.frombuffer(block.translate(None, IRRELEVANT), np.uint8)
    quotes = np.cumsum(signs == ord('"'), dtype=np.int64)
    at_line_start = np.zeros(len(signs), dtype=np.int64)
    ends = np.flatnonzero(signs == ord("\n"))
    at_line_start[ends] = np.diff(quotes[ends], prepend=0)
    inside = (quotes - np.cumsum(at_line_start)) % 2 == 1  # an odd number of quotes since the start of the line
    opening = (signs == ord("[")) | (signs == ord("{"))
    closing = (signs == ord("]")) | (signs == ord("}"))
    steps: AnyArray = opening.astype(np.int8) - closing.astype(np.int8)
    steps[inside] = 0
    return steps
