"""``repair report``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repair.cli.options import Dial, Embeddings, Json, NewClasses, ReferenceOptions, RowOptions, Seed, TestEmbeddings

if TYPE_CHECKING:
    from repair.io import ScoreFile
    from repair.report.content import Content
    from repair.rerankers.base import ShortlistReranker

__all__ = ["Figures", "Rows", "TextColumn", "report", "row_texts", "summary"]

Rows = Annotated[
    int,
    typer.Option("--rows", min=0, help="Number of single rows to explain in the report. They become part of the file."),
]
TextColumn = Annotated[str | None, typer.Option(help="Column with a text to show next to each of these rows.")]
Figures = Annotated[Path | None, typer.Option(help="Folder to also write the charts to, as SVG and PNG.")]


def report(
    model: Annotated[Path, typer.Argument(help="A model written by `repair fit`.", show_default=False)],
    calibration: Annotated[
        Path, typer.Argument(help="The labelled rows that the model was fitted on.", show_default=False)
    ],
    rows: RowOptions,
    reference: ReferenceOptions,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.", show_default=False)],
    test: Annotated[
        Path | None,
        typer.Argument(
            help="Labelled rows that the model was not fitted on. Without them, gains are measured by "
            "cross-validation on the calibration rows."
        ),
    ] = None,
    test_labels: Annotated[Path | None, typer.Option(help="Like --labels, for the test rows.")] = None,
    classes: NewClasses = None,
    embeddings: Embeddings = None,
    test_embeddings: TestEmbeddings = None,
    examples: Rows = 0,
    text_column: TextColumn = None,
    figures: Figures = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page. Default: 'REPAIR report' and the name of the mode.")
    ] = None,
    dial: Dial = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write an HTML report about a model: the verdict, charts, the classes that gained and lost, and the checks.

    The file opens in a browser without a network. All gains are measured on held-out rows.
    """
    from repair.cli.inputs import check_folder, check_output, warn_of_fitted_rows
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_reference, with_vectors
    from repair.report import write_report
    from repair.report.page import require_vega
    from repair.rerankers.loading import load

    require_vega()
    check_output(out, model, calibration, test, rows, test_labels, classes, embeddings, test_embeddings, reference)
    if figures is not None:
        check_folder(figures, (), calibration)
    reranker, first, second = _read(load(model), calibration, test, rows, test_labels, classes)
    first = with_reference(with_vectors(first, embeddings), reference)
    second = None if second is None else with_vectors(second, test_embeddings)
    if second is not None:  # without test rows, the report measures by cross-validation
        warn_of_fitted_rows(reranker, second.rows)
    judged = first if second is None else second
    content = write_report(
        out,
        reranker,
        first.rows,
        None if second is None else second.rows,
        rows=examples,
        row_ids=None if judged.row_ids is None else list(judged.row_ids),
        row_texts=row_texts(judged, text_column, examples),
        figures=figures,
        dial=dial,
        title=title,
        random_state=seed,
        progress=True,
    )
    if json:
        show_json({"report": str(out), **summary(content)})
    else:
        words = content.words
        show("\n".join([*words.alarms, f"{words.headline}.", *words.sentences]))
        show(f"\nWrote {out}{'' if figures is None else f', and its charts to {figures}'}.")


def _read(
    model: ShortlistReranker,
    calibration: Path,
    test: Path | None,
    rows: RowOptions,
    test_labels: Path | None,
    classes: Path | None,
) -> tuple[ShortlistReranker, ScoreFile, ScoreFile | None]:
    """Read both files with the classes in the model's order, and add the new classes of either file to the model."""
    from repair.cli.inputs import read_for_model

    model, first = read_for_model(model, calibration, rows, classes)
    if test is None:
        return model, first, None
    model, second = read_for_model(model, test, replace(rows, labels=test_labels), classes)
    if second.new_classes:
        _, first = read_for_model(model, calibration, rows, classes)
    return model, first, second


def row_texts(file: ScoreFile, column: str | None, examples: int) -> list[str] | None:
    """Return the texts of a column, or raise an error if it is missing or would not be shown."""
    from repair.errors import InputError

    if column is None:
        return None
    if not examples:
        raise InputError("--text-column only applies to single rows; add --rows N, or drop --text-column")
    other = file.other
    names = [] if other is None else list(other) if isinstance(other, dict) else list(other.column_names)
    if column not in names:
        listed = ", ".join(map(repr, names)) or "none"
        raise InputError(f"there is no column {column!r} with one text per row; columns that can be shown: {listed}")
    values = other[column].tolist() if isinstance(other, dict) else other[column].to_pylist()
    return ["" if value is None else str(value) for value in values]


def summary(content: Content) -> dict[str, object]:
    """Return the verdict and the main numbers, for scripts."""
    words = content.words
    failed = [check.code for check in content.checks if check.outcome == "failed"]
    return {
        "verdict": words.headline,
        "sentences": words.sentences,
        "alarms": words.alarms,
        "tiles": words.tiles,
        "failed_checks": failed,
        "pictures": [picture.key for picture in content.pictures if not picture.reason],
        "rows_shown": 0 if content.examples is None else len(content.examples.rows),
    }
