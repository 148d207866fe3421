"""``repair compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repair.cli.options import (
    Candidates,
    ClassOptions,
    Embeddings,
    Json,
    ReferenceOptions,
    RowOptions,
    Seed,
    TestEmbeddings,
)

if TYPE_CHECKING:
    from repair.comparison import Comparison

__all__ = ["compare"]

WRITTEN = ("comparison.md", "comparison.tex", "comparison.csv", "comparison.json", "rows.npz")


def compare(
    calibration: Annotated[Path, typer.Argument(help="Scores with labels, to fit on.", show_default=False)],
    test: Annotated[Path, typer.Argument(help="Scores with labels, to compare on.", show_default=False)],
    rows: RowOptions,
    classes: ClassOptions,
    reference: ReferenceOptions,
    test_labels: Annotated[Path | None, typer.Option(help="As --labels, for the test rows.")] = None,
    embeddings: Embeddings = None,
    test_embeddings: TestEmbeddings = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods, with commas: base, logit_adjustment, classwise, pairwise, auto, …")
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Fits on subsamples of the calibration rows.")] = 5,
    n_candidates: Candidates = 10,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as md, tex, csv, json and npz.")] = None,
    require: Annotated[
        str | None, typer.Option(help="End with 1 if this method is significantly less accurate than base.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare methods on the same test rows: trials, intervals and tests.

    With --require METHOD the command ends with 1 if the 95 % interval of METHOD's accuracy over all
    rows, less that of base, lies below zero.
    """
    import json as encoder

    from repair.cli.inputs import check_folder, read_pair
    from repair.cli.methods import methods_named
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_reference, with_vectors
    from repair.errors import InputError
    from repair.progress import progress_bar
    from repair.protocol import compare as run

    first, second = read_pair(calibration, test, rows, classes, test_labels=test_labels)
    first = with_reference(with_vectors(first, embeddings), reference)
    second = with_vectors(second, test_embeddings)
    chosen = methods_named(methods, n_candidates, with_counts=first.rows.class_counts is not None)
    for name in (require, "base") if require is not None else ():
        if name not in chosen:
            raise InputError(f"--require compares {require} with base, but --methods lacks {name}; add it")
    if out is not None:
        inputs = (calibration, test, rows, classes, test_labels, reference, embeddings, test_embeddings)
        check_folder(out, WRITTEN, *inputs)
    with progress_bar("comparing", len(chosen) * (1 + trials), show=True) as step:
        found = run(
            chosen,
            first.rows,
            second.rows,
            trials=trials,
            reference="base" if "base" in chosen else None,
            seed=seed,
            progress=lambda *_: step(),
        )
    if out is not None:
        found.write(out)
    verdict = None if require is None else _required(found, require)
    if json:
        show_json({**encoder.loads(found.to_json()), "required": verdict})
    else:
        show(str(found))
        if verdict is not None:
            show(f"\n{verdict['sentence']}")
        if out is not None:
            show(f"\nWrote comparison.md, .tex, .csv, .json and rows.npz to {out}.")
    if verdict is not None and not verdict["passed"]:
        raise typer.Exit(1)


def _required(found: Comparison, method: str) -> dict[str, Any]:
    """Say whether a method is at least not significantly worse than base."""
    gap = found.difference(method, "base")["accuracy"]
    passed = not gap.high < 0
    sentence = (
        f"{method} {'passes' if passed else 'fails'}: accuracy over all rows {100 * gap.estimate:+.1f} points "
        f"({100 * gap.low:+.1f} to {100 * gap.high:+.1f}) against base."
    )
    return {"method": method, "passed": passed, "sentence": sentence}
