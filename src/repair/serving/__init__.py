"""Serving a model over HTTP (needs the extra ``serve``).

`build_app` returns the ASGI application, for servers of your own.  `serve` runs it, as ``repair serve`` does.
"""

from repair._utils.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repair.serving.app import build_app
    from repair.serving.options import ServerOptions
    from repair.serving.server import serve

__all__ = ["ServerOptions", "build_app", "serve"]

__getattr__, __dir__ = lazy_names("repair.serving", {"ServerOptions": "options", "build_app": "app", "serve": "server"})
