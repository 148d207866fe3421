"""Explanations of the words of a report.  They come from the glossary of the documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

__all__ = ["Entry", "Marker", "entries"]

#: Words that everybody understands without an explanation.
PLAIN = frozenset({"row", "term", "mode", "trial"})


@dataclass(frozen=True)
class Entry:
    """One line of the glossary.

    Attributes
    ----------
    name : str
        The name of the concept.
    forms : tuple of str
        The name, and other forms of it that occur in sentences.
    codes : tuple of str
        Names in code, such as those of terms.
    meaning : str
    """

    name: str
    forms: tuple[str, ...]
    codes: tuple[str, ...]
    meaning: str

    @property
    def key(self) -> str:
        """The id of the entry on the page."""
        kind = "term" if self.forms else "code"
        return f"{kind}-" + re.sub(r"\W+", "-", self.name.lower()).strip("-")

    @property
    def title(self) -> str:
        """The name and its other forms, or the name in code."""
        return ", ".join(self.forms or self.codes)


@cache
def entries() -> tuple[Entry, ...]:
    """Return the entries of the glossary, in its order.

    Examples
    --------
    >>> from repair.report.glossary import entries
    >>> next(entry for entry in entries() if entry.name == "covered row").meaning
    'a row whose true class is on the shortlist; all other rows are uncovered'
    """
    # A copy of docs/glossary.md, which is not part of an installed package.  A test compares the two.
    text = files("repair.report").joinpath("assets", "glossary.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return tuple(_entry(*line.strip("| ").split(" | ", 1)) for line in lines[1:])


def _entry(names: str, rest: str) -> Entry:
    meaning = rest.rpartition("| ")[2]
    forms: list[str] = []
    codes: list[str] = []
    for name in re.sub(r" \([^)]*\)", "", names).split(", "):
        (codes if name.startswith("`") else forms).append(name.strip("`"))
    return Entry((forms or codes)[0], tuple(forms), tuple(codes), re.sub(r"[`*]", "", meaning))


class Marker:
    """Turns the words of a text that the glossary explains into buttons that show their meaning.

    A word is marked once per part of the page.  `used` collects the entries to list on the page.
    """

    def __init__(self) -> None:
        self.used: dict[str, Entry] = {}
        self._marked: set[str] = set()

    def start(self) -> None:
        """Begin a part of the page, in which every word may be marked again."""
        self._marked.clear()

    def __call__(self, text: str) -> str:
        """Return the text as HTML.

        Examples
        --------
        >>> from repair.report.glossary import Marker
        >>> Marker()("On <b> covered rows")
        'On &lt;b&gt; <button type="button" class="term" aria-describedby="term-covered-row">covered rows</button>'
        """
        by_form, pattern = _forms()
        parts, end = [], 0
        for match in pattern.finditer(text):
            entry = by_form[match[1].lower()]
            if entry.key in self._marked:
                continue
            self._marked.add(entry.key)
            self.used[entry.key] = entry
            parts.append(escape(text[end : match.start()]))
            parts.append(
                f'<button type="button" class="term" aria-describedby="{entry.key}">{escape(match[0])}</button>'
            )
            end = match.end()
        return "".join([*parts, escape(text[end:])])

    def use_code(self, code: str) -> str | None:
        """Return the key of the entry with this name in code, or None.  The entry will be listed on the page."""
        entry = next((one for one in entries() if code in one.codes), None)
        if entry is None:
            return None
        self.used[entry.key] = entry
        return entry.key


def _singular(form: str) -> str:
    """Return a name of several words without its plural, which the pattern allows."""
    return form.removesuffix("s") if " " in form and not form.endswith("ss") else form


@cache
def _forms() -> tuple[dict[str, Entry], re.Pattern[str]]:
    by_form: dict[str, Entry] = {}
    for entry in entries():
        for form in entry.forms:
            if form not in PLAIN:
                by_form.setdefault(_singular(form.lower()), entry)
    longest_first = sorted(by_form, key=len, reverse=True)
    return by_form, re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest_first))})(?:es|s)?(?!\w)", re.IGNORECASE)
