"""``repair inspect``."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Json, RowOptions

if TYPE_CHECKING:
    from repair.io import ScoreFile
    from repair.rerankers.base import ShortlistReranker

__all__ = ["inspect"]

#: Number of class names that are shown.
SHOWN = 5
#: Numbers of candidates at which the coverage is shown.
DEPTHS = (5, 10, 20)
#: Titles of entries whose names in the JSON output are not clear enough as text.
TITLES = {"row_level_content": "contains single rows", "about_classes": "class inputs"}


def inspect(
    file: Annotated[Path, typer.Argument(help="A model, a file of scores, or a class table.", show_default=False)],
    rows: RowOptions,
    json: Json = False,
) -> None:
    """Describe a file: the terms and metadata of a model, or the layout of a data file."""
    from repair.cli.output import show, show_json

    content = _model(file) if file.name.lower().endswith(".safetensors") else _data(file, rows)
    if json:
        show_json(content)
        return
    if "notes" in content:  # sentences contain commas, so they are joined by semicolons
        content["notes"] = "; ".join(note.rstrip(".") for note in content["notes"]) or None
        content["arrays"] = {name: "×".join(map(str, shape)) for name, shape in content["arrays"].items()}
    titles = {name: TITLES.get(name, name.replace("_", " ")) for name in content}
    width = max(map(len, titles.values()))
    show("\n".join(f"{titles[name].ljust(width)}  {_text(value)}" for name, value in content.items()))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(item)}" for name, item in value.items()) or "no"
    if isinstance(value, list | tuple):
        shown = [_text(item) for item in value[:SHOWN]]
        return ", ".join(shown) + (f", … ({len(value)})" if len(value) > SHOWN else "") or "no"
    if value is None:
        return "no"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:z.4g}" if isinstance(value, float) else str(value)


def _model(path: Path) -> dict[str, Any]:
    from repair.persistence.model_file import describe_file
    from repair.rerankers.loading import load

    model, about = load(path), describe_file(path)
    summary, table = model.fit_summary_, model.state.correction.table
    return {
        "kind": "model",
        "method": repr(model),
        "mode": model.mode_,
        "library_version": about["library_version"],
        "schema": about["schema"],
        "classes": table.n_classes,
        "class_names": table.class_names,
        "class_counts": table.class_counts is not None,
        "candidates": model.state.n_candidates,
        "ranked_per_row": model.state.width,
        "weights": model.weights_,
        "offsets": f"{model.offsets_.min():+z.3f} to {model.offsets_.max():+z.3f}",
        "tau": model.tau_,
        "temperature": model.temperature_,
        "strength": model.strength_,
        "shrinkage": None if model.shrinkage_ is None else model.shrinkage_.kind,
        "chosen": model.chosen_.to_dict(),
        "calibration_rows": summary.n_rows,
        "covered_rows": summary.n_covered,
        "effective_rows": summary.effective_rows,
        "unseen_classes": len(model.unseen_classes_),
        "converged": summary.converged,
        "gradient_norm": summary.gradient_norm,
        "scores_of_the_fit": _fitted_type(model),
        "smallest_probability": model.state.scale.floor or None,
        "columns": model.state.columns,
        "row_hashes": 0 if model.fingerprint_ is None else len(model.fingerprint_.row_hashes),
        "notes": summary.notes,
        "row_level_content": about["row_level_content"],
        **{f"kept_by_{name}": kept for name, kept in about["kept_by_terms"].items()},
        "arrays": about["arrays"],
    }


def _fitted_type(model: ShortlistReranker) -> str | None:
    """Return the type of the scores that the model expects."""
    if model.state.scale.converts:
        return model.state.scale.kind
    return None if model.fingerprint_ is None else model.fingerprint_.types.kind


def _data(path: Path, rows: RowOptions) -> dict[str, Any]:
    """Describe a file of scores or, if it cannot be read as one, a class table."""
    from repair.cli.inputs import read_rows
    from repair.errors import InputError
    from repair.io import read_class_table

    try:
        return _scores(read_rows(path, rows, need_labels=False, refuse_rankings=False))
    except InputError as error:
        try:
            classes = read_class_table(path)
        except InputError:
            raise error from None
    present = [entry.name for entry in fields(classes)[1:] if getattr(classes, entry.name) is not None]
    return {"kind": "class table", "classes": len(classes), "class_names": classes.names, "columns": present}


def _scores(file: ScoreFile) -> dict[str, Any]:
    import numpy as np

    from repair.data.score_set import CLASS_FIELDS
    from repair.data.shortlist import Shortlist

    given, other = file.rows, file.other
    scores = given.scores
    lists = isinstance(scores, Shortlist)
    sizes = scores.lengths if isinstance(scores, Shortlist) else np.isfinite(np.asarray(scores)).sum(axis=1)
    names = list(other) if isinstance(other, dict) else [] if other is None else list(other.column_names)
    class_inputs = [name for name in CLASS_FIELDS if name != "class_names"]
    scale, labels = _scale_and_labels(file)
    return {
        "kind": "scores",
        "layout": file.layout,
        "rows": len(file),
        "classes": scores.n_classes if isinstance(scores, Shortlist) else np.shape(scores)[1],
        "class_names": file.class_names,
        "candidates_per_row": f"{sizes.min()} to {sizes.max()}" + ("" if lists else " (dense)"),
        "score_type": scale,
        "columns": file.columns.given(),
        "row_ids": file.row_ids is not None,
        "labels": given.labels is not None,
        **labels,
        "groups": None if given.groups is None else len(set(map(str, given.groups))),
        "weights": given.sample_weight is not None,
        "embeddings": given.embeddings is not None,
        "about_classes": [name for name in class_inputs if getattr(given, name) is not None],
        "other_columns": names,
    }


def _scale_and_labels(file: ScoreFile) -> tuple[str, dict[str, Any]]:
    """Return the type of the scores, and what the labels say: accuracy and coverage of the base, and problems."""
    from repair.data.class_order import counts_problem, label_order_problem, lower_is_better_problem
    from repair.data.class_table import ClassTable
    from repair.data.score_scale import ScoreScale
    from repair.data.shortlist import Shortlist
    from repair.data.suspicious_inputs import first_but_never_right
    from repair.model.score_types import ScoreTypes
    from repair.validation.checks import check_labels

    rows = file.rows
    raw: Any = rows.scores
    scale = ScoreScale.of(raw, rows.score_type)
    scores = scale.apply(raw)
    dense = None if isinstance(scores, Shortlist) else scores
    shortlist = scores if dense is None else Shortlist.from_scores(dense, min(max(DEPTHS), dense.shape[1]))
    kind = scale.kind if scale.converts else ScoreTypes.of(shortlist).kind
    if rows.labels is None:
        return kind, {}
    ids, unknown = check_labels(rows.labels, len(rows), shortlist.n_classes, file.class_names)
    labelled, unknown = ids >= 0, {name: count for name, count in unknown.items() if name.isprintable()}
    if not labelled.any():
        return kind, {"labelled_rows": 0, "unknown_labels": unknown}
    known, names = ids[labelled], ClassTable(shortlist.n_classes, class_names=file.class_names)
    positions = shortlist.positions_of(ids)[labelled]
    table: Any = rows.class_counts
    never = first_but_never_right(shortlist, ids)
    problems = [problem.text for problem in (label_order_problem(shortlist, ids, names),) if problem is not None]
    if not problems:
        lower = lower_is_better_problem(shortlist, ids, dense)
        problems += [] if lower is None else [lower.text]
    counts = counts_problem(table, _rows_per_class(known, shortlist.n_classes))
    problems += [] if counts is None else [counts]
    if never is not None:
        problems.append(
            f"class {names.name_of(never[0])!r} is first on {100 * never[1]:.0f} % of the rows, never right"
        )
    deepest = shortlist.n_candidates
    return kind, {
        "labelled_rows": int(labelled.sum()),
        "unknown_labels": unknown,
        "classes_among_labels": len(set(known.tolist())),
        "base_accuracy": float((positions == 0).mean()),
        "coverage": {
            f"at {depth}": float(((positions >= 0) & (positions < depth)).mean())
            for depth in sorted({min(depth, deepest) for depth in DEPTHS})
        },
        "problems": problems,
    }


def _rows_per_class(labels: Any, n_classes: int) -> Any:
    import numpy as np

    return np.bincount(labels, minlength=n_classes).astype(np.float64)
