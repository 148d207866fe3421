"""Options that several commands share, as dataclasses that a command takes whole."""

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
    "ReferenceOptions",
    "RowOptions",
    "Seed",
    "TestEmbeddings",
    "spread",
]

ROWS, CLASSES, VECTORS = "Rows", "Classes", "Embeddings"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int, typer.Option(min=0, help="Of folds and draws.")]
Candidates = Annotated[int, typer.Option(min=1, help="How many of the best classes to take from dense scores.")]
Dial = Annotated[
    float | None, typer.Option(help="Head–tail trade-off: 0 aims at accuracy, 1 weighs all classes alike.")
]

Embeddings = Annotated[
    Path | None,
    typer.Option(help="One vector for each row, as .npy or .npz (array embeddings).", rich_help_panel=VECTORS),
]
TestEmbeddings = Annotated[
    Path | None, typer.Option(help="As --embeddings, for the test rows.", rich_help_panel=VECTORS)
]


@dataclass(frozen=True)
class ReferenceOptions:
    """Further labelled rows, to look for neighbours among."""

    reference_embeddings: Annotated[
        Path | None,
        typer.Option(help="Vectors of further labelled rows: the training set, say.", rich_help_panel=VECTORS),
    ] = None
    reference_labels: Annotated[
        Path | None,
        typer.Option(help="Their labels as .npy, unless beside them as array labels.", rich_help_panel=VECTORS),
    ] = None


@dataclass(frozen=True)
class RowOptions:
    """What the columns of a score file are called, and where its labels are."""

    row_column: Annotated[str | None, typer.Option(help="Column of row ids.", rich_help_panel=ROWS)] = None
    candidate_column: Annotated[str | None, typer.Option(help="Column of candidates.", rich_help_panel=ROWS)] = None
    score_column: Annotated[str | None, typer.Option(help="Column of scores.", rich_help_panel=ROWS)] = None
    label_column: Annotated[str | None, typer.Option(help="Column of true classes.", rich_help_panel=ROWS)] = None
    group_column: Annotated[
        str | None, typer.Option(help="Column of groups: patient, document, …", rich_help_panel=ROWS)
    ] = None
    weight_column: Annotated[str | None, typer.Option(help="Column of row weights.", rich_help_panel=ROWS)] = None
    labels: Annotated[
        Path | None,
        typer.Option(help="File of row ids and labels, if they are not beside the scores.", rich_help_panel=ROWS),
    ] = None


@dataclass(frozen=True)
class ClassOptions:
    """What is known about the classes; at most one kind of similarity."""

    classes: Annotated[
        Path | None, typer.Option(help="Class table: name, count, group, …", rich_help_panel=CLASSES)
    ] = None
    class_column: Annotated[
        str | None, typer.Option(help="Column of class names in --classes.", rich_help_panel=CLASSES)
    ] = None
    similarity: Annotated[
        Path | None, typer.Option(help="Square table of class similarities.", rich_help_panel=CLASSES)
    ] = None
    taxonomy: Annotated[
        Path | None, typer.Option(help="Similarity from a table of class and path.", rich_help_panel=CLASSES)
    ] = None
    path_separator: Annotated[
        str, typer.Option(help="What divides the paths of --taxonomy.", rich_help_panel=CLASSES)
    ] = "/"
    hpo_sets: Annotated[
        Path | None, typer.Option(help="Similarity from a table of class and HPO terms.", rich_help_panel=CLASSES)
    ] = None
    ontology: Annotated[
        Path | None,
        typer.Option(
            help="Folder or file of HPO's terms for --hpo-sets; else the extra hpo's.", rich_help_panel=CLASSES
        ),
    ] = None
    class_embeddings: Annotated[
        Path | None, typer.Option(help="Similarity from one vector per class.", rich_help_panel=CLASSES)
    ] = None


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of the option dataclasses that it takes.

    Typer knows functions of plain arguments only; this keeps the shared ones in one place.
    """
    hints = get_type_hints(command, include_extras=True)
    own: list[inspect.Parameter] = []
    bundles: dict[str, type] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            bundles[name] = hints[name]
            own += _parameters_of(hints[name])
        else:
            own.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    def collected(**given: Any) -> None:
        for name, bundle in bundles.items():
            given[name] = bundle(**{one.name: given.pop(one.name) for one in fields(bundle)})
        command(**given)

    collected.__name__, collected.__doc__ = command.__name__, command.__doc__
    collected.__annotations__ = {one.name: one.annotation for one in own}
    collected.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    return collected


def _parameters_of(bundle: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if one.default is MISSING else one.default,
            annotation=hints[one.name],
        )
        for one in fields(bundle)
    ]
