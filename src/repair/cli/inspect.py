"""``repair inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Json, RowOptions

if TYPE_CHECKING:
    from repair.io import ScoreFile

__all__ = ["inspect"]

#: Class names that are shown.
SHOWN = 5


def inspect(
    file: Annotated[Path, typer.Argument(help="A model, scores or a class table.", show_default=False)],
    rows: RowOptions,
    json: Json = False,
) -> None:
    """Say what a file holds: a model's terms and metadata, or the layout of data."""
    from repair.cli.output import show, show_json

    found = _model(file) if file.name.lower().endswith(".safetensors") else _data(file, rows)
    if json:
        show_json(found)
        return
    if "notes" in found:  # sentences, which have commas of their own
        found["notes"] = "; ".join(found["notes"]) or None
        found["arrays"] = {name: "×".join(map(str, shape)) for name, shape in found["arrays"].items()}
    width = max(map(len, found))
    show("\n".join(f"{name.replace('_', ' ').ljust(width)}  {_text(value)}" for name, value in found.items()))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        shown = [_text(one) for one in value[:SHOWN]]
        return ", ".join(shown) + (f", … ({len(value)})" if len(value) > SHOWN else "") or "none"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _model(path: Path) -> dict[str, Any]:
    from safetensors import safe_open

    from repair.artifact import FORMAT, load
    from repair.artifact_reader import FieldReader

    model = load(path)
    with FieldReader.open(path, FORMAT) as reader:
        metadata = {"library_version": reader.text("library_version"), "schema": reader.integer("schema", 1)}
        row_level = reader.boolean("row_level_content")
        kept = {name: None if reader.is_null(name) else reader.mapping(name) for name in ("context", "neighbours")}
    with safe_open(path, framework="numpy") as tensors:
        arrays = {name: list(tensors.get_slice(name).get_shape()) for name in tensors.keys()}  # noqa: SIM118
    account, table = model.account_, model._fitted().correction.table
    return {
        "kind": "model",
        "method": repr(model),
        "mode": model.mode_,
        **metadata,
        "classes": table.n_classes,
        "class_names": table.class_names,
        "class_counts": table.class_counts is not None,
        "candidates": model._fitted().n_candidates,
        "weights": model.weights_,
        "offsets": f"{model.offsets_.min():+.3f} to {model.offsets_.max():+.3f}",
        "tau": model.tau_,
        "temperature": model.temperature_,
        "strength": model.strength_,
        "shrinkage": None if model.shrinkage_ is None else model.shrinkage_.kind,
        "chosen": account.chosen,
        "calibration_rows": account.n_rows,
        "covered_rows": account.n_covered,
        "effective_rows": account.effective_rows,
        "unseen_classes": len(model.unseen_classes_),
        "converged": account.converged,
        "gradient_norm": account.gradient_norm,
        "notes": account.notes,
        "row_level_content": row_level,
        **{f"kept_by_{name}": one for name, one in kept.items() if one is not None},
        "arrays": arrays,
    }


def _data(path: Path, rows: RowOptions) -> dict[str, Any]:
    """Describe a file of scores or, failing that, a class table."""
    from repair.cli.inputs import read_rows
    from repair.errors import InputError
    from repair.io import read_class_table

    try:
        return _scores(read_rows(path, rows, need_labels=False))
    except InputError as error:
        try:
            classes = read_class_table(path)
        except InputError:
            raise error from None
    fields = ("counts", "groups", "weight_norms", "paths")
    present = [name for name in fields if getattr(classes, name) is not None]
    return {"kind": "class table", "classes": len(classes), "class_names": classes.names, "columns": present}


def _scores(file: ScoreFile) -> dict[str, Any]:
    import numpy as np

    from repair.shortlist import Shortlist

    given, other = file.rows, file.other
    scores = given.scores
    lists = isinstance(scores, Shortlist)
    sizes = scores.lengths if isinstance(scores, Shortlist) else np.isfinite(np.asarray(scores)).sum(axis=1)
    names = list(other) if isinstance(other, dict) else [] if other is None else list(other.column_names)
    known = ("class_counts", "similarity", "class_groups", "weight_norms")
    return {
        "kind": "scores",
        "layout": file.layout,
        "rows": len(file),
        "classes": scores.n_classes if isinstance(scores, Shortlist) else np.shape(scores)[1],
        "class_names": file.class_names,
        "candidates_per_row": f"{sizes.min()} to {sizes.max()}" + ("" if lists else " (dense)"),
        "row_ids": file.row_ids is not None,
        "labels": given.labels is not None,
        "groups": None if given.groups is None else len(set(map(str, given.groups))),
        "weights": given.sample_weight is not None,
        "about_classes": [name for name in known if getattr(given, name) is not None],
        "other_columns": names,
    }
