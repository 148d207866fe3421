"""Few-TK: typed scientific keyphrases in the file format of Few-NERD, one row per mention."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from repair.errors import InputError
from repair.similarity.reading import read_text
from repair_bench.bases.base_scores import TextBase
from repair_bench.bases.sentence_base import SentenceBase
from repair_bench.data.problem import Problem
from repair_bench.harness.benchmark import Benchmark, with_sentences

__all__ = ["BENCHMARKS", "mentions"]

HOME = "github.com/AvishekLahiri/Few_TK"
OUTSIDE = "O"


def mentions(content: str) -> Iterator[tuple[int, str, str]]:
    r"""Yield (sentence number, tag, sentence with the mention between « and ») for every run of one tag.

    Parameters
    ----------
    content : str
        One token, a tab and its tag per line, with an empty line after each sentence.

    Examples
    --------
    >>> from repair_bench.sets.few_tk import mentions
    >>> list(mentions("The\tO\nAdam\tML-tool\noptimiser\tML-tool\n\n"))
    [(0, 'ML-tool', 'The « Adam optimiser »')]
    """
    sentences = [block for block in content.replace("\r", "").split("\n\n") if block.strip()]
    for number, sentence in enumerate(sentences):
        cells = [line.split("\t") for line in sentence.split("\n") if line.strip()]
        for index, cell in enumerate(cells):
            if len(cell) != 2:
                raise InputError(f"sentence {number}, token {index} is {cell!r}; expected a token, a tab and a tag")
        words, tags = [cell[0] for cell in cells], [cell[1] for cell in cells]
        for start, tag in enumerate(tags):
            if tag == OUTSIDE or (start and tags[start - 1] == tag):
                continue
            end = next((index for index in range(start, len(tags)) if tags[index] != tag), len(tags))
            marked = [*words[:start], "«", *words[start:end], "»", *words[end:]]
            yield number, tag, " ".join(marked)


def read(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the published parts.  The mentions of one sentence form a group."""
    rows, part, groups = [], [], []
    for number, name in enumerate(("train", "dev", "test")):
        found = list(mentions(read_text(folders["few_tk"] / f"{name}.txt.gz")))
        rows += found
        part += [number] * len(found)
        groups += [(number, sentence) for sentence, _, _ in found]
    names = sorted({tag for _, tag, _ in rows})
    label_of = {tag: label for label, tag in enumerate(names)}
    sentences = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    return Problem(
        tuple(names),
        np.array([label_of[tag] for _, tag, _ in rows], dtype=np.int32),
        np.array(part, dtype=np.int32),
        texts=tuple(text for _, _, text in rows),
        groups=np.array([sentences[group] for group in groups], dtype=np.int32),
    ).without_untrained_classes()


# Only the mention is embedded.  With mention and sentence, accuracy on folds of the training part and on the
# development part was 1 to 2 points lower, and with the sentence alone about 30 points lower.
MENTIONS = SentenceBase(reads="mention")
TFIDF = (
    Benchmark(
        name="few_tk",
        title="Few-TK, types of scientific keyphrases",
        home=HOME,
        folders=("few_tk",),
        read=read,
        base=TextBase(tokens="mention", sentences=MENTIONS),
        note="It stands in for Few-NERD, whose format and label scheme it shares. Every sentence counts once.",
    ),
)
BENCHMARKS = (*TFIDF, *(with_sentences(one, MENTIONS) for one in TFIDF))
