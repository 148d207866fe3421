"""Exports: a fitted model as a PyTorch module, an ONNX graph or an SQL query, with the same order."""

from repair._utils.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from repair.export.to_onnx import to_onnx
    from repair.export.to_sql import to_sql
    from repair.export.to_torch import to_torch
    from repair.export.verify import Verification, verify_onnx

_HOME = {
    "Verification": "verify",
    "to_onnx": "to_onnx",
    "to_sql": "to_sql",
    "to_torch": "to_torch",
    "verify_onnx": "verify",
}

__all__ = ["Verification", "to_onnx", "to_sql", "to_torch", "verify_onnx"]

__getattr__, __dir__ = lazy_names("repair.export", _HOME)
