"""The declaration of a benchmark, which the harness runs."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from repair.errors import InputError, MissingExtraError
from repair_bench.bases.base_scores import BaseScores
from repair_bench.data.layouts import Source
from repair_bench.data.problem import Problem
from repair_bench.data.sources import source
from repair_bench.harness.cache import file_marks, marks_of

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
        The base model of the paper.
    hyperparameters : mapping or str
        The paper's λ_a, λ_θ, α and τ under our names, or "not published".
    numbers : mapping of mapping
        Method → metric → number in the paper's tables, in per cent (MRR and HFR as fractions).
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
        Name on the command line.
    title : str
        A description in one line.
    home : str
        Where the data are published.
    folders : tuple of str
        The data sets it reads, by their names in `repair_bench.data.sources`.
    read : callable or None
        Function from the folders of these data sets by name and a seed to a `Problem`.  None for a placeholder.
    base : callable or None
        Function from a `Problem` to `BaseScores`.  It is a frozen dataclass whose fields are its
        settings.  It may have two methods: ``missing()`` returns what must be installed first, and
        ``files()`` returns the folder of the weights it reads.
    seed : int
        Seed for the parts.
    published : Published or None
        The paper's results.  None if the paper does not have this data set.
    n_candidates : int
        Length k of the shortlists.
    note : str
        What a reader of the results must know.
    missing : str
        What is missing, for a placeholder.
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
    note: str = ""
    missing: str = ""

    def find(self, data: "str | PathLike[str] | None" = None) -> dict[str, Path]:
        """Return the data folders by name, or raise an error if something is missing.

        Parameters
        ----------
        data : path, optional
            The folder that contains them, or the publisher's folder, instead of ``$REPAIR_DATA``.

        Examples
        --------
        >>> from repair_bench.harness.benchmark import Benchmark
        >>> Benchmark("birds", "Birds", "example.org/birds", missing="no images").find()
        Traceback (most recent call last):
            ...
        repair.errors.InputError: 'birds' cannot be run, data not here: no images (published at example.org/birds)
        """
        if self.read is None or self.base is None:
            raise InputError(f"{self.name!r} cannot be run, {self.state(data)} (published at {self.home})")
        folders = {name: source(name).find(data).folder for name in self.folders}
        missing = self.base.missing() if hasattr(self.base, "missing") else ""
        if missing:
            raise MissingExtraError(f"{self.name!r} cannot be run: {missing}")
        return folders

    def state(self, data: "str | PathLike[str] | None" = None) -> str:
        """Return whether the benchmark can be run: "ready", "data not here: …" or "base not here: …"."""
        if self.missing:
            return f"data not here: {self.missing}"
        try:
            self.find(data)
        except InputError as error:
            return f"data not here: {error}"
        except MissingExtraError as error:
            return f"base not here: {error}"
        return "ready"

    def missing_sources(self, data: "str | PathLike[str] | None" = None) -> list[Source]:
        """Return the data sets that are not there, or not complete."""
        return [source(name) for name in self.folders if not source(name).is_there(data)]

    def data_marks(self, folders: Mapping[str, Path]) -> dict[str, str]:
        """Return digests of the data files that the benchmark reads.  Other files of the folders do not count."""
        found = [source(name).inside(folders[name]) for name in self.folders]
        return marks_of([(one.folder, path) for one in found for path in one.files.values()])

    @property
    def base_settings(self) -> dict[str, Any]:
        """The name of the base model, with its settings."""
        settings: dict[str, Any] = {}
        if is_dataclass(self.base) and not isinstance(self.base, type):
            settings = asdict(self.base)
        return {"base": type(self.base).__name__, **settings}

    @property
    def base_files(self) -> dict[str, str]:
        """Digests of the files that the base model reads, such as local weights."""
        files: Callable[[], Path | None] | None = getattr(self.base, "files", None)
        folder = None if files is None else files()
        return {} if folder is None else file_marks([folder])

    @property
    def hyperparameters(self) -> dict[str, float] | None:
        """The published hyperparameters, or None."""
        given = None if self.published is None else self.published.hyperparameters
        return dict(given) if isinstance(given, Mapping) else None


def with_sentences(benchmark: Benchmark, base: Score) -> Benchmark:
    """Return the same benchmark with a base on sentence embeddings, under the name NAME_minilm.

    Examples
    --------
    >>> from repair_bench.harness.benchmark import Benchmark, with_sentences
    >>> from repair_bench.bases.sentence_base import SentenceBase
    >>> with_sentences(Benchmark("birds", "Birds", "example.org/birds"), SentenceBase()).name
    'birds_minilm'
    """
    return replace(benchmark, name=f"{benchmark.name}_minilm", title=f"{benchmark.title}, MiniLM", base=base)
