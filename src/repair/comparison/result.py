"""The result of ``compare``: its numbers, as tables and as files."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from repair._utils.atomic_write import write_atomically
from repair.comparison import tables
from repair.comparison.conclusion import conclude
from repair.comparison.numbers import ComparisonNumbers

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonNumbers):
    """The result of `compare`: several methods on the same test rows.  It prints as tables.

    The documentation of `compare` says what each number means.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods.
    reference : str
        The method that the tables compare the others with.
    setup : Setup
        How the comparison was run.
    trials : dict of dict of ndarray (trials,)
        One value per trial, by method and metric.
    full : dict of dict of float
        The value of the model fitted on all calibration rows, by method and metric.
    rows : dict of dict of ndarray (n,)
        One value of the full model per test row, by method and metric.  The metrics are those of
        ``Evaluation.rows`` and ``best``, the id of the first class.
    models : dict of ShortlistReranker
        The fitted full models.
    labels : ndarray of int (n,)
        The test labels as class ids.
    draws : ndarray (resamples, methods, metrics)
        Every metric of every full model in every bootstrap resample, in the order of ``full``.
        Macro, which is not resampled, is NaN.

    Examples
    --------
    >>> from repair import Base, Reranker, ScoreSet, compare
    >>> from repair.datasets import SyntheticSettings, make_synthetic
    >>> made = make_synthetic(SyntheticSettings(n_classes=20, n_calibration=400, n_test=300, n_pairs=5))
    >>> sets = [ScoreSet(p.scores, p.labels, class_counts=made.class_counts) for p in (made.calibration, made.test)]
    >>> methods = {"base": Base(5), "ours": Reranker("pairwise", n_candidates=5)}
    >>> comparison = compare(methods, *sets, trials=3, resamples=200)
    >>> gain = comparison.difference("ours", "base")["hit@1"]
    >>> bool(gain.low <= gain.estimate <= gain.high)
    True
    """

    def __repr__(self) -> str:
        """Return the numbers of methods, trials and test rows."""
        return f"Comparison({len(self.methods)} methods, {self.setup.trials} trials, {self.setup.n_test} test rows)"

    def __str__(self) -> str:
        """Return the tables as plain text."""
        return tables.as_text(self)

    @property
    def conclusion(self) -> str:
        """Which method has the highest accuracy, and its difference to Base and to the runner-up, in words."""
        return conclude(self)

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        return tables.as_markdown(self)

    def to_latex(self) -> str:
        """Return the tables in LaTeX.  They need the packages booktabs and amssymb."""
        return tables.as_latex(self)

    def to_csv(self) -> str:
        """Return every number, with one line per method and metric.  Differences are to the reference."""
        return tables.as_csv(self)

    def to_json(self) -> str:
        """Return every number with the setup and the version of the library.  NaN is written as null."""
        return tables.as_json(self)

    def write(self, folder: str | PathLike[str]) -> None:
        """Write ``comparison.md``, ``.tex``, ``.csv``, ``.json`` and ``rows.npz`` into a folder.

        The folder is created if it does not exist.  ``rows.npz`` has ``methods``, ``labels`` and, for each
        entry of `rows`, one (methods, n) array.  It contains results of single test rows, so store it
        only where such data may be kept.
        """
        directory = Path(folder)
        directory.mkdir(parents=True, exist_ok=True)
        texts = {"md": self.to_markdown(), "tex": self.to_latex(), "csv": self.to_csv(), "json": self.to_json()}
        for ending, text in texts.items():
            write_atomically(directory / f"comparison.{ending}", text.encode())
        write_atomically(directory / "rows.npz", tables.as_npz(self))
