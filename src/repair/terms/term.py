"""The interface of terms.  A term is one quantity that a correction can depend on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from repair._utils.arrays import AnyArray, FloatArray
from repair.data.calibration_set import CalibrationSet
from repair.data.class_table import ClassTable
from repair.errors import InputError
from repair.kernels import kernels_for
from repair.terms.options import ExtendedOptions
from repair.terms.view import CandidateView

__all__ = ["Term"]


class Term(ABC):
    """One column of the model.  Terms are immutable.

    A fixed term only has to override `column`.  A learned term, which learns from the labelled rows
    before the fit, sets ``learns = True`` and also overrides `learn`, `collapsed`, `for_classes`,
    `arrays` and `from_arrays`.  ``docs/adding-a-term.md`` has an example of each.

    Attributes
    ----------
    name : str
        Name by which users choose the term.
    requires : tuple of str, default ()
        Fields of a `ScoreSet` that the term needs: those that describe classes, such as
        ``"class_counts"``, and for a learned term also ``"embeddings"``.
    multiplicity : float, default 1.0
        Number of equal columns that the term replaces.  Its penalty is divided by this number.
    learns : bool, default False
        Whether the term learns from the labelled rows before the fit.
    holds_rows : bool, default False
        Whether the term keeps data of single rows.  The model file is then as confidential as those
        rows.
    """

    name: str
    requires: tuple[str, ...] = ()
    multiplicity: float = 1.0
    learns: ClassVar[bool] = False
    holds_rows: ClassVar[bool] = False

    @abstractmethod
    def column(self, view: CandidateView) -> FloatArray:
        """Return the (n, k) column for these candidates, 0 on padding."""

    def add_to(self, total: FloatArray, factor: float, view: CandidateView) -> None:
        """Add `factor` times the column to the scores `total` of the candidates, in place.

        Override it if the term can do that without a column in memory.
        """
        kernels_for(total.size).add_column(total, factor, self.column(view))

    @property
    def embedding_width(self) -> int | None:
        """Required width of the embeddings, or None if the term does not use embeddings."""
        return None

    @property
    def row_width(self) -> int | None:
        """Number of values that the term stores about all K scores of a row, or None if it uses only the candidates."""
        return None

    def row_vectors(self, scores: AnyArray) -> AnyArray:
        """Return what the term stores about all scores (n, K) of each row, shape (n, `row_width`).

        `column` reads it from ``view.shortlist.row_vectors[self.name]``.
        """
        raise TypeError(f"the term {self.name!r} does not use the scores of all classes")

    def has_row_vectors_of(self, other: Term) -> bool:
        """Return whether `row_vectors` of another term gives the same, so it need not be computed twice."""
        return False

    @classmethod
    def why_not(cls, rows: CalibrationSet) -> str:
        """Return the reason why the term cannot be learned from these rows, or '' if it can."""
        return ""

    @classmethod
    def announce(cls, rows: CalibrationSet, options: ExtendedOptions) -> None:
        """Warn about large models or raise an error for missing libraries, before any work is done."""
        return

    @classmethod
    def learn(cls, rows: CalibrationSet, options: ExtendedOptions) -> tuple[Self, FloatArray]:
        """Learn from the labelled rows.

        Parameters
        ----------
        rows : CalibrationSet
        options : ExtendedOptions

        Returns
        -------
        term : Term
        columns : ndarray (covered rows, k, c)
            One or several columns for the covered rows of the fit.  They must be cross-fitted by
            whole groups, so no row's column depends on its own label.  Otherwise the fit would give
            the term far too much weight.
        """
        raise TypeError(f"the term {cls.name!r} is not a learned term")

    def collapsed(self, weights: FloatArray) -> tuple[Self, float]:
        """Return a term with a single column, and the weight of that column.

        The weight times the column must equal the sum of the fitted `weights` times the columns
        that `learn` returned.  By convention the weight is the sum of the absolute `weights`, and the
        column their weighted mean.
        """
        if len(weights) != 1:
            raise InputError(
                f"the term {self.name!r} has {len(weights)} columns but does not override collapsed; "
                "see docs/adding-a-term.md"
            )
        return self, float(weights[0])

    def for_classes(self, n_classes: int) -> Self:
        """Return the term for a longer list of classes.  Nothing has been learned about the new ones."""
        return self

    def notes(self) -> tuple[str, ...]:
        """Return sentences about this fitted term that users should know."""
        return ()

    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays to store in the model file, by name."""
        return {}

    def description(self) -> dict[str, Any]:
        """Return the metadata to store in the model file, as plain data."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], description: Mapping[str, Any], table: ClassTable) -> Self:
        """Build the term from the stored results of `arrays` and `description`.

        The file is not trusted: check everything, and raise `InputError` for anything that is
        invalid.

        Parameters
        ----------
        arrays : mapping from str to ndarray
        description : mapping from str to plain data
        table : ClassTable
            The classes of the model.

        Returns
        -------
        Term
        """
        return cls()
