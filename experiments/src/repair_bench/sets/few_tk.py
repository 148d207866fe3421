"""Few-NERD: types of entities, and Few-TK: types of scientific keyphrases in the same format.  A row is a mention."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from repair.errors import InputError
from repair.similarity.reading import read_text
from repair_bench.bases.base_scores import TextBase
from repair_bench.bases.sentence_base import SentenceBase
from repair_bench.data.problem import Problem
from repair_bench.data.sizes import FEW_NERD, with_sizes
from repair_bench.data.sources import found
from repair_bench.harness.benchmark import Benchmark, Published, with_sentences

__all__ = ["BENCHMARKS", "mentions", "read", "read_few_nerd"]

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
    """Read the published parts of Few-TK.  The mentions of one sentence form a group."""
    return _read("few_tk", folders)


def read_few_nerd(folders: Mapping[str, Path], seed: int) -> Problem:
    """Read the supervised parts of Few-NERD.  The mentions of one sentence form a group."""
    return with_sizes(_read("few_nerd", folders), FEW_NERD)


def _read(name: str, folders: Mapping[str, Path]) -> Problem:
    files = found(name, folders[name]).files
    rows, part, groups = [], [], []
    for number, of_part in enumerate(("train", "dev", "test")):
        tagged = list(mentions(read_text(files[of_part])))
        rows += tagged
        part += [number] * len(tagged)
        groups += [(number, sentence) for sentence, _, _ in tagged]
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
NUMBERS = {
    "Base": {"hit@1": 37.13, "hit@3": 65.48, "rare": 18.60, "frequent": 39.63},
    "LogitAdj": {"hit@1": 38.14, "hit@3": 67.34, "rare": 19.90, "frequent": 40.43, "hfr": 0.132},
    "τ-norm": {"hit@1": 37.06, "hit@3": 65.30, "rare": 18.42, "frequent": 39.57, "hfr": 0.001},
    "Classwise": {"hit@1": 38.64, "hit@3": 68.82, "rare": 29.75, "frequent": 39.84, "hfr": 0.050},
    "REPAIR": {"hit@1": 39.69, "hit@3": 70.11, "rare": 31.58, "frequent": 40.78, "hfr": 0.137},
}
TFIDF = (
    Benchmark(
        name="few_nerd",
        title="Few-NERD, types of entities",
        home="github.com/thunlp/Few-NERD",
        folders=("few_nerd",),
        read=read_few_nerd,
        base=TextBase(tokens="mention", sentences=MENTIONS),
        published=Published("Qwen3.5-2B with LoRA", numbers=NUMBERS),
        note="The supervised parts, one row per mention. Every sentence counts once.",
    ),
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
