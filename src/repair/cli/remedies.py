"""The command line's wording of remedies, looked up by the remedy's code."""

from collections.abc import Callable

from repair.errors import RemediableError

__all__ = ["in_options"]

#: For each argument of ``fit``, the options that replace it on the command line.
FIT_OPTIONS = {
    "class_counts": "give --classes with a column 'count'",
    "similarity": "give --similarity, --taxonomy, --hpo-sets or --class-embeddings",
    "weight_norms": "give --classes with a column 'weight_norm'",
    "embeddings": "give --embeddings FILE",
}
#: For each code, a function from the remedy's detail to its wording.
SENTENCES: dict[str, Callable[[str], str]] = {
    "pass-to-fit": lambda argument: FIT_OPTIONS.get(
        argument, f"{argument} cannot be given on the command line; use Python"
    ),
    "pass-embeddings": lambda _: "give --embeddings FILE",
    "pass-all-scores": lambda _: "give a file with a score for every class, or fit a model on shortlists",
    "drop-parameter": lambda detail: _drop_parameter(*detail.split()),
    "drop-one": lambda names: f"drop {' or '.join(_option(name) for name in names.split())}",
    "choose-value": lambda values: f"choose one of {', '.join(values.split())}",
    "name-terms": lambda _: "name one with --terms, or use --mode classwise",
    "use-extended": lambda _: "leave it out of --terms, or use --mode extended",
    "fit-again": lambda argument: f"fit the model again: {FIT_OPTIONS[argument]} to repair fit",
    "pass-function": lambda _: "such a model can be used in Python only",
    "pass-matrix": lambda _: "fit with --similarity FILE",
    "use-exact-index": lambda _: "fit it in Python with the exact index, or with repair fit, which uses it",
    "export-scores": lambda _: "export with --inputs scores, or fit a model on shortlists",
    "name-output": lambda names: f"give --output, one of {names}",
    "say-probabilities": lambda _: (
        "export the classifier's logits (skl2onnx: options={id(last_step): {'raw_scores': True}}), or give "
        "--output-is probabilities to take the logarithm first, as for the calibration rows, or --output-is scores if "
        "they are scores"
    ),
    "name-column": lambda role: f"name it with --{role}-column",
    "name-columns": lambda roles: f"name them with {', '.join(f'--{role}-column' for role in roles.split())}",
    "name-class-column": lambda _: "name it with --class-column",
    "pass-unranked": lambda column: (
        "pass the file that was given to repair rerank"
        + (f", or add --score-column {column} to use the base scores of its candidates" if column else "")
    ),
    "give-labels": lambda _: "name the column with --label-column, or give a file of row ids and labels with --labels",
}


def in_options(error: RemediableError) -> str:
    """Return an error's message with its remedy in terms of command-line options.

    Examples
    --------
    >>> from repair.cli.remedies import in_options
    >>> from repair.errors import InputError, pass_to_fit
    >>> in_options(InputError("the dial needs class_counts", pass_to_fit("class_counts")))
    "the dial needs class_counts; give --classes with a column 'count'"
    """
    if error.remedy is None or error.remedy.code not in SENTENCES:
        return str(error)
    return f"{error.problem}; {SENTENCES[error.remedy.code](error.remedy.detail)}"


def _drop_parameter(name: str, mode: str = "") -> str:
    return f"drop {_option(name)}, or use {f'--mode {mode}' if mode else 'another --mode'}"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
