"""What the benchmark entries are: how many data sets they come from, and which of them are made in part."""

from collections.abc import Mapping

from repair_bench.report.numbers import Result

__all__ = ["DESIGN", "JUDGING", "entries_text"]

#: Entries with a long tail that was made by leaving out rows.
MADE_TAILS = ("massive_lt", "massive_lt_minilm", "huffpost_41", "huffpost_41_minilm", "caltech101", "flowers102")
SEMI_SYNTHETIC = "cifar100"
OTHER_BASE = "_minilm"
#: Entries on whose calibration rows changes since the rivals were added may be designed.
DESIGN = (
    "massive",
    "massive_lt",
    "massive_minilm",
    "massive_lt_minilm",
    "huffpost_natural",
    "huffpost_41",
    "huffpost_natural_minilm",
    "huffpost_41_minilm",
    "flowers102",
)
#: Entries of which no row may be used for design.
JUDGING = (
    "goemotions",
    "goemotions_minilm",
    "few_tk",
    "few_tk_minilm",
    "phenopackets",
    "caltech101",
    "cifar100",
    "rarebench",
    "rarebench_source",
)


def entries_text(results: Mapping[str, Result]) -> str:
    """Return sentences that say how many data sets the entries come from, and what is not natural about them.

    Examples
    --------
    >>> from repair_bench.report.entries import entries_text
    >>> entries_text({"birds": {"home": "example.org"}, "trees": {"home": "example.org"}})
    'The 2 benchmark entries come from 1 data set, so they are not independent evidence.'
    """
    n_sets = len({record["home"] for record in results.values()})
    sets = f"{n_sets} data set{'' if n_sets == 1 else 's'}"
    shared = ", so they are not independent evidence" if n_sets < len(results) else ""
    n_entries = f"{len(results)} benchmark {'entry comes' if len(results) == 1 else 'entries come'}"
    sentences = [f"The {n_entries} from {sets}{shared}."]
    if any(name.endswith(OTHER_BASE) for name in results):
        sentences.append(
            f"Entries that end in `{OTHER_BASE}` use the rows of the entry without it, with another base model."
        )
    made = [f"`{name}`" for name in MADE_TAILS if name in results]
    if made:
        sentences.append(f"We made the long tail by leaving out rows in {', '.join(made)}.")
    if SEMI_SYNTHETIC in results:
        sentences.append(
            f"One is semi-synthetic: the long tail of `{SEMI_SYNTHETIC}` is a log prior that we added to real scores."
        )
    return " ".join(sentences)
