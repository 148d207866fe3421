"""What each method of a result is and what it gets, and the best rival among those that get the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repair_bench.harness.methods import EMBEDDINGS, METHODS, OURS, RIVAL, SCORES, TEST_ROWS
from repair_bench.report.numbers import AUTO, AUTO_EMBEDDED, BASE, EMBEDDED, EXTENDED, Result

__all__ = [
    "CONTESTS",
    "Contest",
    "best_rival",
    "information_of",
    "is_ours",
    "is_rival",
    "knows_no_more",
    "rivals_of",
    "shown_information",
]

#: For results that do not say what their methods are.
BY_TITLE = {method.title: method for method in METHODS.values()}


@dataclass(frozen=True)
class Contest:
    """Our two methods and the information of the rivals that they are compared with.

    Attributes
    ----------
    information : str
        What the rivals get.
    auto, extended : str
        Titles of our methods.
    """

    information: str
    auto: str
    extended: str

    @property
    def ours(self) -> tuple[str, str]:
        """Titles of both of our methods."""
        return self.auto, self.extended

    def opponents(self, results: Iterable[Result]) -> list[str]:
        """Return all rivals with this information that were run, and the base."""
        titles = dict.fromkeys(title for record in results for title in rivals_of(record, self.information))
        return [*titles, BASE]


#: No method of ours uses unlabelled test rows, so those that get scores only are compared with rivals that do.
CONTESTS = (
    Contest(SCORES, AUTO, EXTENDED),
    Contest(EMBEDDINGS, AUTO_EMBEDDED, EMBEDDED),
    Contest(TEST_ROWS, AUTO, EXTENDED),
)


def shown_information(information: str) -> str:
    """Return what a method gets, as tables print it.

    Examples
    --------
    >>> from repair_bench.report.information import shown_information
    >>> shown_information("scores")
    'scores only'
    """
    return "scores only" if information == SCORES else information


def information_of(record: Result, title: str) -> str:
    """Return what a method gets.  Results of earlier versions do not say it, so it then follows from the title."""
    known = BY_TITLE.get(title)
    return str(record["methods"][title].get("information", SCORES if known is None else known.information))


def is_rival(record: Result, title: str) -> bool:
    """Return whether a method is a rival."""
    return _role(record, title) == RIVAL


def is_ours(record: Result, title: str) -> bool:
    """Return whether a method is one of ours."""
    return _role(record, title) == OURS


def knows_no_more(record: Result, other: str, first: str) -> bool:
    """Return whether a method gets no more than another one."""
    return information_of(record, other) in (SCORES, information_of(record, first))


def rivals_of(record: Result, information: str) -> list[str]:
    """Return the rivals that get this information."""
    return [
        title for title in record["methods"] if is_rival(record, title) and information_of(record, title) == information
    ]


def best_rival(record: Result, information: str) -> str | None:
    """Return the rival with the best held-out accuracy on calibration rows, and the first of equals.

    None if no rival with this information has such a figure.

    Examples
    --------
    >>> from repair_bench.report.information import best_rival
    >>> rival = {"role": "rival", "information": "scores"}
    >>> methods = {"a": {**rival, "calibration": {"accuracy": 0.7}}, "b": {**rival, "calibration": {"accuracy": 0.8}}}
    >>> best_rival({"methods": methods}, "scores")
    'b'
    """
    figures = {title: _held_out(record["methods"][title]) for title in rivals_of(record, information)}
    known = {title: figure for title, figure in figures.items() if figure is not None}
    return max(known, key=lambda title: known[title]) if known else None


def _held_out(method: Mapping[str, Result]) -> float | None:
    figure = (method.get("calibration") or {}).get("accuracy")
    return None if figure is None else float(figure)


def _role(record: Result, title: str) -> str:
    known = BY_TITLE.get(title)
    return str(record["methods"][title].get("role", OURS if known is None else known.role))
