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
    StrataRule,
    TestEmbeddings,
)

if TYPE_CHECKING:
    from repair.comparison.result import Comparison
    from repair.data.score_set import ScoreSet
    from repair.rerankers.base import ShortlistReranker

__all__ = ["compare"]

#: Methods that are compared by default, if their inputs are given.
USUAL = ("base", "logit_adjustment", "classwise", "classwise_temperature", "pairwise", "auto")
WRITTEN = ("comparison.md", "comparison.tex", "comparison.csv", "comparison.json", "rows.npz")


def compare(
    calibration: Annotated[Path, typer.Argument(help="Labelled rows to fit on.", show_default=False)],
    test: Annotated[Path, typer.Argument(help="Labelled rows to compare on.", show_default=False)],
    rows: RowOptions,
    classes: ClassOptions,
    reference: ReferenceOptions,
    test_labels: Annotated[Path | None, typer.Option(help="Like --labels, for the test rows.")] = None,
    embeddings: Embeddings = None,
    test_embeddings: TestEmbeddings = None,
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods to compare, separated by commas, such as base,classwise,pairwise. Default: base, "
            "logit_adjustment, classwise, classwise_temperature, pairwise and auto, if their inputs are given. "
            "Rivals by others: vector_scaling, matrix_scaling and prior2posterior, and with embeddings "
            "knn_interpolation, tip_adapter and gda."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:PARAMETER=VALUE,…",
            help="A method with hyperparameters, such as repair:lambda_a=0.5,lambda_theta=0.01,alpha=0.3 (repair is "
            "the paper's name of pairwise). Repeat it for several. Without --methods, they are compared with base.",
        ),
    ] = None,
    method_file: Annotated[
        Path | None,
        typer.Option(
            help="TOML or JSON file with one section per method: its parameters, and an entry 'method' unless the "
            "section has the method's name."
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Fits per method, each on a random 80 % of the calibration rows.")
    ] = 5,
    n_candidates: Candidates = 10,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write the tables to, as md, tex, csv, json and npz.")
    ] = None,
    require: Annotated[
        str | None, typer.Option(help="Exit with code 1 if this method is significantly less accurate than base.")
    ] = None,
    strata: StrataRule = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Compare methods on the same test rows, with intervals, significance tests and a conclusion in words.

    With --require METHOD, the exit code is 1 if METHOD is significantly less accurate than base: the 95 % interval
    of the difference in accuracy over all rows lies below zero.
    """
    import json as encoder

    from repair.cli.inputs import check_folder, read_pair
    from repair.cli.output import show, show_json
    from repair.cli.vectors import with_reference, with_vectors
    from repair.comparison.compare import compare as run
    from repair.errors import InputError

    given = _given(method or [], method_file, n_candidates)
    first, second = read_pair(calibration, test, rows, classes, test_labels=test_labels)
    first = with_reference(with_vectors(first, embeddings), reference)
    second = with_vectors(second, test_embeddings)
    chosen = _methods(methods, n_candidates, first.rows, given)
    for name in (require, "base") if require is not None else ():
        if name not in chosen:
            raise InputError(f"--require compares {require} with base, but {name} is not among --methods; add it")
    if out is not None:
        inputs = (calibration, test, rows, classes, test_labels, reference, embeddings, test_embeddings, method_file)
        check_folder(out, WRITTEN, *inputs)
    comparison = run(
        chosen,
        first.rows,
        second.rows,
        trials=trials,
        reference="base" if "base" in chosen else None,
        strata=strata,
        random_state=seed,
        progress=True,
    )
    if out is not None:
        comparison.write(out)
    verdict = None if require is None else _required(comparison, require)
    if json:
        show_json({**encoder.loads(comparison.to_json()), "required": verdict})
    else:
        show(str(comparison))
        if verdict is not None:
            show(f"\n{verdict['sentence']}")
        if out is not None:
            show(f"\nWrote comparison.md, .tex, .csv, .json and rows.npz to {out}.")
    if verdict is not None and not verdict["passed"]:
        raise typer.Exit(1)


def _given(lines: list[str], file: Path | None, n_candidates: int) -> dict[str, ShortlistReranker]:
    """Return the methods with hyperparameters, which are checked before any rows are read."""
    from repair.cli.method_specs import method_of, methods_of_file, parse_method
    from repair.errors import InputError

    specs = [(text.strip(), *parse_method(text), f"--method {text!r}") for text in lines]
    if file is not None:
        specs += [(title, *spec, f"{file}, {title}") for title, spec in methods_of_file(file).items()]
    given: dict[str, ShortlistReranker] = {}
    for title, name, parameters, where in specs:
        if title in given:
            raise InputError(f"{where} is given twice; leave one out, or give it another name in --method-file")
        given[title] = method_of(name, parameters, n_candidates, where)
    return given


def _methods(
    listed: str | None, n_candidates: int, rows: ScoreSet, given: dict[str, ShortlistReranker]
) -> dict[str, ShortlistReranker]:
    """Return the listed methods and the given ones, or by default the usual ones whose inputs are given."""
    from repair.errors import InputError
    from repair.rerankers.methods import METHODS, make_method

    if listed is None and given:
        names = ["base"]
    elif listed is None:
        names = [name for name in USUAL if all(getattr(rows, need) is not None for need in METHODS[name].needs)]
    else:
        names = [name.strip() for name in listed.split(",") if name.strip()]
    if not names:
        raise InputError(f"--methods is empty; choose one of {', '.join(METHODS)}")
    return {**{name: make_method(name, n_candidates) for name in names}, **given}


def _required(comparison: Comparison, method: str) -> dict[str, Any]:
    """Return whether a method is not significantly less accurate than base, with a sentence that says so."""
    gap = comparison.difference(method, "base")["accuracy"]
    passed = not gap.high < 0
    sentence = (
        f"{method} {'passes' if passed else 'fails'}: its accuracy over all rows differs from that of base by "
        f"{100 * gap.estimate:+.1f} points (95 % interval {100 * gap.low:+.1f} to {100 * gap.high:+.1f})."
    )
    return {"method": method, "passed": passed, "sentence": sentence}
