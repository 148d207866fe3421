"""Taking a model file apart and damaging it.  Each module has its own model, the fixture `good`."""

import json
import struct

import pytest
from hypothesis import strategies as st
from safetensors.numpy import load as read
from safetensors.numpy import save as write

from repair import ArtifactError, load

FORMAT = "repair-reranker"


@pytest.fixture
def parts(good, tmp_path):
    """The file's arrays and description, and a function that writes them back and loads the result."""
    path = tmp_path / "model.safetensors"
    good.save(path)
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    described = json.loads(json.loads(content[8 : 8 + length])["__metadata__"][FORMAT])
    arrays = read(content)

    def reload():
        path.write_bytes(write(arrays, metadata={FORMAT: json.dumps(described)}))
        return load(path)

    reload()
    return arrays, described, reload


@pytest.fixture
def load_damaged(good, tmp_path):
    """A function that changes up to four bytes of the file.  It returns the model, or None if it was refused."""

    def change_and_load(data):
        path = tmp_path / "model"
        good.save(path)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(content))
        try:
            return load(path)
        except ArtifactError:
            return None

    return change_and_load
