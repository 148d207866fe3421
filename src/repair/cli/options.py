"""Options that several commands share.  A command takes them as one argument, a dataclass."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "Candidates",
    "ClassOptions",
    "Dial",
    "Embeddings",
    "Json",
    "NewClasses",
    "ReferenceOptions",
    "RowOptions",
    "Seed",
    "StrataRule",
    "TestEmbeddings",
    "read_dial",
    "spread",
]

ROWS, CLASSES, VECTORS = "Rows", "Classes", "Embeddings"

Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object, for scripts.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed for folds and random draws.")]
StrataRule = Annotated[
    str | None,
    typer.Option(
        "--strata",
        metavar="paper|mass|counts",
        help="How classes are divided by training examples. paper: the 80 % of the classes with the fewest are rare. "
        "mass: those that together have at most 20 % of the examples are rare. counts: few (below 20), medium and "
        "many (above 100). Default: paper, or mass if the paper's rare classes have more than half of the examples.",
    ),
]
Candidates = Annotated[
    int,
    typer.Option(
        min=1,
        help="Largest number of candidates per row: the classes with the best scores. "
        "Raise it if the true class is often not among them.",
    ),
]


def read_dial(text: str) -> float | str:
    """Return the dial of the command line: a number, or "macro"."""
    if text == "macro":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor 'macro'.") from None


Dial = Annotated[
    str | None,
    typer.Option(
        parser=read_dial,
        metavar="NUMBER|macro",
        help="Trade-off between frequent and rare classes: 0 favours overall accuracy, 1 weighs all classes equally, "
        "and macro aims at accuracy averaged over classes. Default: the value stored in the model.",
    ),
]
NewClasses = Annotated[
    Path | None,
    typer.Option(
        help="Class table with the groups and counts of classes that the model does not know. Without it, "
        "they get the mean offset of all classes."
    ),
]

Embeddings = Annotated[
    Path | None,
    typer.Option(
        help="File with one vector per row: .npy, or .npz with an array 'embeddings'. Vectors are in the order of the "
        "rows, or matched by row id if the .npz has an array 'row_ids'.",
        rich_help_panel=VECTORS,
    ),
]
TestEmbeddings = Annotated[
    Path | None, typer.Option(help="Like --embeddings, for the test rows.", rich_help_panel=VECTORS)
]


@dataclass(frozen=True)
class ReferenceOptions:
    """Further labelled rows that models with embeddings learn from."""

    reference_embeddings: Annotated[
        Path | None,
        typer.Option(
            help="Vectors of further labelled rows to learn from, such as the training set.", rich_help_panel=VECTORS
        ),
    ] = None
    reference_labels: Annotated[
        Path | None,
        typer.Option(
            help="Labels of the --reference-embeddings, as .npy. Not needed if that file has an array 'labels'.",
            rich_help_panel=VECTORS,
        ),
    ] = None


@dataclass(frozen=True)
class RowOptions:
    """Names of the columns of a score file, and the file of its labels."""

    row_column: Annotated[
        str | None,
        typer.Option(
            help="Column of row ids. Needed, like the other --…-column options, only if the column does not have a "
            "usual name such as row, candidate, score, label, group or weight.",
            rich_help_panel=ROWS,
        ),
    ] = None
    candidate_column: Annotated[str | None, typer.Option(help="Column of candidate classes.", rich_help_panel=ROWS)] = (
        None
    )
    score_column: Annotated[str | None, typer.Option(help="Column of scores.", rich_help_panel=ROWS)] = None
    label_column: Annotated[str | None, typer.Option(help="Column of true classes.", rich_help_panel=ROWS)] = None
    group_column: Annotated[
        str | None,
        typer.Option(
            help="Column of groups: rows that share a patient, a document or a session. Name it if rows are not "
            "independent. Groups are kept whole in folds and tests.",
            rich_help_panel=ROWS,
        ),
    ] = None
    weight_column: Annotated[str | None, typer.Option(help="Column of row weights.", rich_help_panel=ROWS)] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="Character between the fields of CSV files. Default: that of the ending, or a semicolon, tab or | if "
            "only this one is in the header.",
            rich_help_panel=ROWS,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            help="Decimal sign of CSV files, . or ,. Default: a comma if fields are separated by semicolons.",
            rich_help_panel=ROWS,
        ),
    ] = None
    score_type: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="What the scores are: logits (also log-probabilities), probabilities, percent, sigmoid, or distances "
            "(lower is better). Default: probabilities and percent are detected, and otherwise logits. A model knows "
            "the type that it was fitted on.",
            rich_help_panel=ROWS,
        ),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(
            help="File with row ids and labels, if the labels are not in the file of scores.", rich_help_panel=ROWS
        ),
    ] = None


@dataclass(frozen=True)
class ClassOptions:
    """What is known about the classes.  Users may give at most one kind of similarity."""

    classes: Annotated[
        Path | None,
        typer.Option(
            help="Class table with one line per class: its name, its training count and, if you have them, its group "
            "and its weight in the fit. Without counts, terms and options that need them are not available.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    class_column: Annotated[
        str | None,
        typer.Option(
            help="Column of class names in --classes, if it does not have a usual name such as class.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    count_column: Annotated[
        str | None,
        typer.Option(
            help="Column of training counts in --classes, if it does not have a usual name such as count.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    similarity: Annotated[
        Path | None,
        typer.Option(
            help="Similarity of the classes as a square table. Give at most one of --similarity, --taxonomy, "
            "--hpo-sets and --class-embeddings.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    taxonomy: Annotated[
        Path | None,
        typer.Option(
            help="Table of classes and their paths in a taxonomy. Similarity is the share of common levels.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    path_separator: Annotated[
        str, typer.Option(help="Text between the levels of a path in --taxonomy.", rich_help_panel=CLASSES)
    ] = "/"
    hpo_sets: Annotated[
        Path | None,
        typer.Option(
            help="Table of classes and their HPO terms. Similarity is the share of common terms.",
            rich_help_panel=CLASSES,
        ),
    ] = None
    ontology: Annotated[
        Path | None,
        typer.Option(
            help="File of HPO's terms, or its folder, for --hpo-sets. Default: the release of the package hpo3 "
            "(extra 'hpo').",
            rich_help_panel=CLASSES,
        ),
    ] = None
    class_embeddings: Annotated[
        Path | None,
        typer.Option(
            help="File with one vector per class. Similarity is the cosine of two vectors.", rich_help_panel=CLASSES
        ),
    ] = None


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass argument of a command by one option per field.

    Typer only accepts functions with plain arguments.  This lets several commands share options.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    bundles: dict[str, type] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            bundles[name] = hints[name]
            parameters += _parameters_of(hints[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def collected(**given: Any) -> None:
        for name, bundle in bundles.items():
            given[name] = bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
        command(**given)

    collected.__name__, collected.__doc__ = command.__name__, command.__doc__
    collected.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    collected.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return collected


def _parameters_of(bundle: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(bundle)
    ]
