"""Deep nesting is found before the parser, which would end the process."""

import pytest

from repair import InputError
from repair.io import json_depth, read_score_set
from repair.io.json_depth import refuse_deep_json

DEEP = b'{"a":' + b"[" * 600 + b"]" * 600 + b"}\n"


@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        b'{"a": "' + b"]" * 700 + b'", "b": ' + DEEP,
        b'{"a": 1}]]]]]]]]]]]\n' * 100 + DEEP,
        b'{"open: 1}\n' + DEEP,  # a text that never ends, where a block could begin behind it
        b'{"open: 1}\\\n' + DEEP,
        b'["]",' * 600,
        b"[\n" * 600,
        b'{"a":' * 600,
        rb'["\"]",' * 600,
    ],
)
def test_deep_nesting_is_refused(content, monkeypatch):
    with pytest.raises(InputError, match="nested more than 500 levels deep"):
        refuse_deep_json(content)
    monkeypatch.setattr(json_depth, "BLOCK", 64)
    with pytest.raises(InputError, match="nested more than 500 levels deep"):
        refuse_deep_json(content)


@pytest.mark.parametrize("content", [b"", b'{"a": "["}\n' * 2000, b'{"a": "\\"[["}\n' * 2000, b"[[1], [2]]\n" * 2000])
def test_brackets_in_texts_do_not_count(content, monkeypatch):
    refuse_deep_json(content)
    monkeypatch.setattr(json_depth, "BLOCK", 64)
    refuse_deep_json(content)


@pytest.mark.needs("pyarrow")
def test_files(write):
    with pytest.raises(InputError, match=r"f\.jsonl: the JSON is nested"):
        read_score_set(write("f.jsonl", b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"))
