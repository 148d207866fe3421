"""What a benchmark is: a declaration in one small file, which the harness runs."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from repair.bench.base_scores import BaseScores
from repair.bench.cache import file_marks
from repair.bench.places import data_folder
from repair.bench.problem import Problem
from repair.errors import InputError, MissingExtraError

__all__ = ["NOT_PUBLISHED", "Benchmark", "Published", "Read", "Score", "with_sentences"]

NOT_PUBLISHED = "not published"

Read = Callable[[Mapping[str, Path], int], Problem]
Score = Callable[[Problem], BaseScores]


@dataclass(frozen=True)
class Published:
    """What the paper says about a data set.

    Attributes
    ----------
    base : str
        Its base model.
    hyperparameters : mapping or str
        Its λ_a, λ_θ, α and τ under our names, or "not published".
    numbers : mapping of mapping
        Method → metric → what its tables print, in percent (MRR and HFR as they are).
    """

    base: str
    hyperparameters: Mapping[str, float] | str = NOT_PUBLISHED
    numbers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """A data set, its parts, its base model, and what the paper reports.

    Attributes
    ----------
    name : str
        What it is run by.
    title : str
        One line for people.
    home : str
        Where the data are published.
    folders : tuple of str
        Their folders under ``$REPAIR_DATA``.
    read : callable or None
        From the folders by name and a seed to a `Problem`; None for a placeholder.
    base : callable or None
        From a `Problem` to `BaseScores`; a frozen dataclass, whose fields are its settings.  Two
        methods are optional: ``missing()``, what must be installed first, and ``files()``, the
        folder of the weights it reads.
    seed : int
        Of the parts.
    published : Published or None
        None where the paper has no such data set.
    n_candidates : int
    homes : mapping from str to str
        Where those folders are published that come from elsewhere than `home`.
    note : str
        What a reader of the results must know.
    missing : str
        For a placeholder: what is not here.
    """

    name: str
    title: str
    home: str
    folders: tuple[str, ...] = ()
    read: Read | None = None
    base: Score | None = None
    seed: int = 0
    published: Published | None = None
    n_candidates: int = 10
    homes: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    missing: str = ""

    def find(self, data: "str | PathLike[str] | None" = None) -> dict[str, Path]:
        """Return the data folders by name, or refuse in one sentence.

        Parameters
        ----------
        data : path, optional
            The folder that holds them, instead of ``$REPAIR_DATA``.

        Examples
        --------
        >>> from repair.bench.benchmark import Benchmark
        >>> Benchmark("birds", "Birds", "example.org/birds", missing="no images").find()
        Traceback (most recent call last):
            ...
        repair.errors.InputError: 'birds' cannot be run, data not here: no images (published at example.org/birds)
        """
        if self.read is None or self.base is None:
            raise InputError(f"{self.name!r} cannot be run, {self.state(data)} (published at {self.home})")
        folders = {
            one: data_folder(one, self.homes.get(one, self.home), None if data is None else Path(data) / one)
            for one in self.folders
        }
        lacking = self.base.missing() if hasattr(self.base, "missing") else ""
        if lacking:
            raise MissingExtraError(f"{self.name!r} cannot be run: {lacking}")
        return folders

    def state(self, data: "str | PathLike[str] | None" = None) -> str:
        """Say whether it can be run: "ready", "data not here: …" or "base not here: …"."""
        if self.missing:
            return f"data not here: {self.missing}"
        try:
            self.find(data)
        except InputError as error:
            return f"data not here: {error}"
        except MissingExtraError as error:
            return f"base not here: {error}"
        return "ready"

    @property
    def base_settings(self) -> dict[str, Any]:
        """The base model by name, with its settings."""
        own: dict[str, Any] = {}
        if is_dataclass(self.base) and not isinstance(self.base, type):
            own = asdict(self.base)
        return {"base": type(self.base).__name__, **own}

    @property
    def base_files(self) -> dict[str, list[int]]:
        """Size and time of change of the files that the base model reads: its weights, if they are local."""
        files: Callable[[], Path | None] | None = getattr(self.base, "files", None)
        folder = None if files is None else files()
        return {} if folder is None else file_marks([folder])

    @property
    def hyperparameters(self) -> dict[str, float] | None:
        """The published hyperparameters, or None."""
        given = None if self.published is None else self.published.hyperparameters
        return dict(given) if isinstance(given, Mapping) else None


def with_sentences(benchmark: Benchmark, base: Score) -> Benchmark:
    """Return the same benchmark, called NAME_minilm, with sentence embeddings as its base.

    Examples
    --------
    >>> from repair.bench.benchmark import Benchmark, with_sentences
    >>> from repair.bench.sentence_base import SentenceBase
    >>> with_sentences(Benchmark("birds", "Birds", "example.org/birds"), SentenceBase()).name
    'birds_minilm'
    """
    return replace(benchmark, name=f"{benchmark.name}_minilm", title=f"{benchmark.title}, MiniLM", base=base)
