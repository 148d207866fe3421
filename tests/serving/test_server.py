"""The socket of the server, and what it does with its options."""

import socket

import pytest

from repair import InputError
from repair.serving import ServerOptions

pytestmark = pytest.mark.needs("fastapi", "uvicorn", "prometheus_client")


def test_the_socket_is_one_on_which_asyncio_sends_small_answers_at_once():
    """Without the protocol number, asyncio would not set TCP_NODELAY."""
    from repair.serving.server import listening_socket

    with listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_named(repair, model_files):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = repair("serve", model_files["pairwise"], "--port", port)
    assert done.code == 2
    assert done.err.startswith(f"repair: 127.0.0.1:{port}: Address already in use")


def test_an_address_that_is_not_of_this_machine_is_named(repair, model_files):
    done = repair("serve", model_files["pairwise"], "--host", "no.such.host.invalid")
    assert done.code == 2
    assert done.err.startswith("repair: no.such.host.invalid:8080: ")


def test_a_model_that_cannot_be_loaded_is_named(repair, tmp_path):
    (tmp_path / "bad.safetensors").write_bytes(b"no model")
    done = repair("serve", tmp_path / "bad.safetensors")
    assert done.code == 2
    assert "bad.safetensors" in done.err
    assert repair("serve", tmp_path / "missing.safetensors").code == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a/b"}, "name is 'a/b'; use up to 100 letters"),
        ({"name": ""}, "name is ''"),
        ({"max_rows": 0}, "max_rows is 0; it must be a whole number of at least 1"),
        ({"max_bytes": 1.5}, "max_bytes is 1.5"),
        ({"body_seconds": 0}, "body_seconds is 0; it must be a finite number above 0"),
        ({"drain_seconds": float("nan")}, "drain_seconds is nan"),
        ({"reload_seconds": -1}, "reload_seconds is -1"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        ServerOptions(**options)


def test_without_the_extra_the_error_names_it(monkeypatch):
    import sys

    from repair import MissingExtraError

    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    for name in [name for name in sys.modules if name.startswith("repair.serving.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtraError, match=r"pip install 'repair-rerank\[serve\]'"):
        from repair.serving.app import build_app  # noqa: F401
