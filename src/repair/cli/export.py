"""``repair export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import Dial, Json

if TYPE_CHECKING:
    from repair.export import Verification

__all__ = ["export"]

FORMATS = ("onnx", "sql")
ONNX, SQL = "ONNX", "SQL"


def export(
    model: Annotated[
        Path | None,
        typer.Argument(help="A model written by `repair fit`.", show_default=False),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="What to write: onnx or sql.", show_default=False)] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write. SQL is printed without it.", show_default=False),
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option(
            help="An exported ONNX file, alone. Replay the rows that it contains in onnxruntime, and exit with 1 if "
            "the ranking differs.",
            show_default=False,
        ),
    ] = None,
    dial: Dial = None,
    strength: Annotated[
        float | None,
        typer.Option(help="Share of the correction to apply, 0 to 1. Default: the value stored in the model."),
    ] = None,
    inputs: Annotated[
        str,
        typer.Option(
            help="What the graph takes: scores (of all classes) or candidates (ids and scores).", rich_help_panel=ONNX
        ),
    ] = "scores",
    outputs: Annotated[
        str,
        typer.Option(
            help="What it returns: ranking (ids, scores, probabilities) or logits (of all classes, −Inf off the list).",
            rich_help_panel=ONNX,
        ),
    ] = "ranking",
    dtype: Annotated[
        str, typer.Option(help="Type of the scores: float16, float32 or float64.", rich_help_panel=ONNX)
    ] = "float32",
    precision: Annotated[
        str, typer.Option(help="Type of the corrections: float64 or float32.", rich_help_panel=ONNX)
    ] = "float64",
    append_to: Annotated[
        Path | None,
        typer.Option(
            help="An ONNX classifier, behind which the graph is put, so one file contains both.",
            rich_help_panel=ONNX,
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            help="Its output with the scores. Default: the only one that fits.",
            rich_help_panel=ONNX,
            show_default=False,
        ),
    ] = None,
    output_is: Annotated[
        str | None,
        typer.Option(
            help="What that output holds: scores or probabilities, of which the logarithm is taken.",
            rich_help_panel=ONNX,
            show_default=False,
        ),
    ] = None,
    embeddings_output: Annotated[
        str | None,
        typer.Option(
            help="Its output with the embeddings. Default: they are another input.",
            rich_help_panel=ONNX,
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str, typer.Option(help="Table with the columns query_id, class and score.", rich_help_panel=SQL)
    ] = "candidates",
    class_names: Annotated[
        bool, typer.Option("--class-names", help="The column class holds names, not ids.", rich_help_panel=SQL)
    ] = False,
    json: Json = False,
) -> None:
    """Write a model as an ONNX graph or an SQL query, or verify an exported graph."""
    from repair.errors import InputError
    from repair.validation.checks import check_choice

    if verify is not None:
        if model is not None or to is not None or out is not None:
            raise InputError("--verify replays a file that was exported before; give it alone")
        _verify(verify, json)
        return
    if model is None:
        raise InputError("give a model to export, or a file to check with --verify")
    check_choice(to, "--to", FORMATS)
    settings: dict[str, Any] = {"dial": dial, "strength": strength}
    if to == "sql":
        _sql(model, out, json, table=table, classes="names" if class_names else "ids", **settings)
        return
    classifier = {"output": output, "output_is": output_is, "embeddings_output": embeddings_output}
    graph = {"inputs": inputs, "outputs": outputs, "dtype": dtype, "precision": precision}
    _onnx(model, out, json, append_to=append_to, **graph, **classifier, **settings)


def _sql(model: Path, out: Path | None, json: bool, **options: Any) -> None:
    from repair._utils.atomic_write import write_atomically
    from repair.cli.inputs import check_output
    from repair.cli.output import show, show_json
    from repair.export import to_sql
    from repair.rerankers.loading import load

    if out is not None:
        check_output(out, model)
    query = to_sql(load(model), **options)
    if out is not None:
        write_atomically(out, query.encode())
    if json:
        show_json({"query": query} if out is None else {"out": str(out), "bytes": len(query.encode())})
    else:
        show(query.rstrip() if out is None else f"Wrote the query to {out}.")


def _onnx(model: Path, out: Path | None, json: bool, *, append_to: Path | None, **options: Any) -> None:
    from repair.cli.inputs import check_output
    from repair.cli.output import show, show_json
    from repair.errors import InputError
    from repair.export import to_onnx
    from repair.rerankers.loading import load

    if out is None:
        raise InputError("give the file to write with --out FILE.onnx")
    check_output(out, model, append_to)
    made = to_onnx(load(model), out, append_to=append_to, **options)
    names = {
        "inputs": [entry.name for entry in made.graph.input],
        "outputs": [entry.name for entry in made.graph.output],
    }
    if json:
        show_json({"out": str(out), **names})
    else:
        show(f"Wrote {out}: from {', '.join(names['inputs'])} to {', '.join(names['outputs'])}.")


def _verify(path: Path, json: bool) -> None:
    from repair.cli.output import show, show_json
    from repair.export import verify_onnx

    result = verify_onnx(path)
    if json:
        show_json({**vars(result), "passed": result.passed})
    else:
        show(_sentence(path, result))
    if not result.passed:
        raise typer.Exit(1)


def _sentence(path: Path, result: Verification) -> str:
    verdict = "gives the library's ranking" if result.passed else "does not give the library's ranking"
    part = ", behind its classifier," if result.appended else ""
    return (
        f"{path}{part} {verdict}: the order is the same on {result.rows - result.changed_rows} of {result.rows} rows. "
        f"Largest difference: {result.largest_score_difference:.2g} in scores, "
        f"{result.largest_probability_difference:.2g} in probabilities."
    )
