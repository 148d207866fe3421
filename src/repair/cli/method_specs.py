"""Methods with hyperparameters, as ``repair compare`` takes them: ``NAME:PARAMETER=VALUE,…``, or a file of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repair.errors import InputError, RemediableError

if TYPE_CHECKING:
    from repair.rerankers.base import ShortlistReranker

__all__ = ["method_of", "methods_of_file", "parse_method"]

#: The paper's name of a method, if ours is another.
PAPER_NAMES = {"repair": "pairwise"}
WORDS = {"true": True, "false": False, "none": None}
#: In a file, the entry of a section that names its method.  By default the section has the method's name.
METHOD = "method"
#: What the constructor takes that a user cannot write as a number or a word.
NOT_ON_A_LINE = ("n_candidates", "mode", "extended", "grid", "chosen")


def parse_method(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a method that is written on one line.

    Several values are joined by "+", such as ``terms=score_gap+rank_gap``.

    Examples
    --------
    >>> from repair.cli.method_specs import parse_method
    >>> parse_method("classwise:lambda_a=0.5,shrinkage=false")
    ('classwise', {'lambda_a': 0.5, 'shrinkage': False})
    """
    name, colon, rest = text.strip().partition(":")
    parameters: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or not value:
            raise InputError(
                f"--method {text!r}: {part!r} is not PARAMETER=VALUE; write it as {name}:lambda_a=0.01,tau=1"
            )
        if key in parameters:
            raise InputError(f"--method {text!r}: {key} is given twice; leave one out")
        parameters[key] = _value(value)
    return name, parameters


def methods_of_file(path: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    r"""Return the methods of a TOML or JSON file by the names that tables show.

    Each section is one method.  Its entry ``method`` names the method, unless the section has the method's name.  All
    other entries are parameters.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from repair.cli.method_specs import methods_of_file
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "methods.toml"
    >>> _ = path.write_text('[strong]\nmethod = "pairwise"\nlambda_a = 0.5\n')
    >>> methods_of_file(path)
    {'strong': ('pairwise', {'lambda_a': 0.5})}
    """
    content = _content(path)
    if not isinstance(content, dict) or not content or not all(isinstance(one, dict) for one in content.values()):
        raise InputError(
            f"{path} does not have one section per method; write [pairwise] and below it lambda_a = 0.01 (TOML), or "
            '{"pairwise": {"lambda_a": 0.01}} (JSON)'
        )
    methods = {}
    for title, section in content.items():
        parameters = {key: value for key, value in section.items() if key != METHOD}
        methods[title] = (str(section.get(METHOD, title)), parameters)
    return methods


def method_of(name: str, parameters: Mapping[str, Any], n_candidates: int, where: str) -> ShortlistReranker:
    """Return an unfitted method, or raise an error that names the wrong parameter.

    Parameters
    ----------
    name : str
    parameters : mapping
    n_candidates : int
    where : str
        What the error message starts with: the option or the file.
    """
    from repair.rerankers.methods import METHODS, make_method
    from repair.rerankers.parameters import Parameters
    from repair.rerankers.reranker import Reranker

    ours = PAPER_NAMES.get(name, name)
    if ours not in METHODS:
        raise InputError(f"{where}: there is no method {name!r}; choose one of {', '.join((*METHODS, *PAPER_NAMES))}")
    known = [key for key in signature(METHODS[ours].kind).parameters if key not in NOT_ON_A_LINE]
    for key in parameters:
        if key not in known:
            raise InputError(f"{where}: {name} has no parameter {key!r}; it has {', '.join(known) or 'none'}")
    try:
        model = make_method(ours, n_candidates, **parameters)
        if isinstance(model, Reranker):
            Parameters.checked(model.get_params())
    except RemediableError as error:
        # Without the code of its remedy, because `compare` has no options for single parameters.
        raise InputError(f"{where}: {error}") from None
    return model


def _content(path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}); give a TOML or JSON file with --method-file") from None
    try:
        return json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix.lower() == ".json" else "TOML"
        raise InputError(f"{path} is not valid {kind} ({error}); correct it") from None


def _value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if "+" in text and not text.startswith("+") and "e+" not in text.lower():
        return tuple(text.split("+"))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
