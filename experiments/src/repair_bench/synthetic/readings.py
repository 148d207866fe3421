"""The possible readings of the paper's description of its synthetic problem, one by one and combined.

The paper leaves some constants and procedures open.  Each entry of `READINGS` changes one of them.
The grid of `COMBINED` changes the important ones together, to see whether any reading gives the
paper's numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from repair._utils.text_tables import markdown_table
from repair.datasets import SyntheticSettings
from repair.demo.synthetic_methods import ORACLE
from repair_bench.synthetic.runs import Runs, run_seeds

__all__ = ["COMBINED", "PAPER_PAIRWISE", "PAPER_SEPARABLE", "READINGS", "Reading", "readings_section"]

#: Hit@1 of Base, Classwise and REPAIR at k = 10 in the paper's table, in per cent.
PAPER_SEPARABLE = (45.8, 54.8, 54.8)
PAPER_PAIRWISE = (52.6, 61.1, 72.5)
NAMES = ("Base", "Classwise", "Pairwise")
#: Points of Hit@1 that count as near.  A mean over five seeds has a standard error of about two points.
NEAR = 3


@dataclass(frozen=True)
class Reading:
    """One choice that the text leaves open, and one answer to it.

    Attributes
    ----------
    choice, answer : str
    changes : dict
        Fields of `SyntheticSettings` that differ from the default reading.
    pairs_only : bool
        Whether the choice is about the confuser pairs, which the class-separable regime does not have.
    """

    choice: str
    answer: str
    changes: dict[str, Any] = field(default_factory=dict)
    pairs_only: bool = False


READINGS = (
    Reading("-", "default reading"),
    Reading("class means N(0, 0.5 I)", "0.5 is a standard deviation", {"mean_variance": 0.25}),
    Reading("class means N(0, 0.5 I)", "0.5 is a precision of 1/2 (variance 2)", {"mean_variance": 2.0}),
    Reading("class means N(0, 0.5 I)", "variance 1", {"mean_variance": 1.0}),
    Reading("noise N(0, 0.09)", "0.09 is a standard deviation", {"noise_variance": 0.09**2}),
    Reading("bias c·τ, with τ not given", "c·τ = 0: no bias in this regime", {"bias": 0.0}),
    Reading("bias c·τ, with τ not given", "τ = 5: c·τ = 0.5", {"bias": 0.5}),
    Reading("bias c·τ, with τ not given", "τ = 6: c·τ = 0.6", {"bias": 0.6}),
    Reading("bias c·τ, with τ not given", "τ = 10: c·τ = 1", {"bias": 1.0}),
    Reading("sign of the bias", "against rare classes, c·τ = 0.1", {"bias": -0.1}),
    Reading("sign of the bias", "against rare classes, c·τ = 1", {"bias": -1.0}),
    Reading("which pairs", "drawn at random", {"nearest_pairs": False}, pairs_only=True),
    Reading("what a tail class is", "one of the last fifth", {"tail_share": 0.2}, pairs_only=True),
    Reading("context sign", "drawn for every pair of a row", {"sign_per_pair": True}, pairs_only=True),
    Reading("shortlist after the corruption", "stays as it was", {"taken_again": False}, pairs_only=True),
)

#: The important choices.  All their combinations are tried.
COMBINED: dict[str, tuple[Any, ...]] = {
    "mean_variance": (0.25, 0.5, 1.0),
    "bias": (-0.5, 0.0, 0.1, 0.6, 1.0),
    "nearest_pairs": (True, False),
    "sign_per_pair": (False, True),
    "taken_again": (True, False),
    "tail_share": (0.8, 0.2),
}
ABOUT_PAIRS = ("nearest_pairs", "sign_per_pair", "taken_again", "tail_share")


def readings_section(seeds: Sequence[int], *, quick: bool = False) -> str:
    """Return the Markdown section: every reading on its own, then all combinations."""
    chosen = READINGS[:2] + READINGS[-1:] if quick else READINGS
    combined = {name: values[:1] for name, values in COMBINED.items()} if quick else COMBINED
    alone = [
        _reading_line(reading, separable, run_seeds(_settings(reading.changes, separable), seeds))
        for separable in (True, False)
        for reading in chosen
        if not (separable and reading.pairs_only)
    ]
    return "\n\n".join(
        [
            "## Readings of the text",
            "The paper's text leaves some choices open. Each line of the table changes one of them.\n\n"
            f"Hit@1 is over covered rows in per cent, with {len(seeds)} seed(s) each. ρ is the paper's gap closed. "
            "*Share* is Pairwise's gain over Base as a share of the oracle's gain. *Pairwise − Classwise* is in "
            "points over the covered rows of all seeds, ± one standard error.\n\n"
            "The default reading has class means with variance 0.5, a noise variance of 0.09, and c·τ = 0.1 in both "
            "regimes, which favours rare classes. It pairs a frequent class with the nearest of the other 80 %, "
            "draws one sign per row, and takes the shortlist again after the corruption.",
            markdown_table(
                ["regime", "open choice", "reading", *NAMES, "oracle", "ρ", "Pairwise − Classwise", "share"],
                alone,
                text_columns=(0, 1, 2),
            ),
            _combined_text(combined, seeds[:1]),
        ]
    )


def _settings(changes: dict[str, Any], separable: bool) -> SyntheticSettings:
    settings = SyntheticSettings(**changes)
    return replace(settings, n_pairs=0) if separable else settings


def _reading_line(reading: Reading, separable: bool, runs: Runs) -> list[str]:
    gain = runs.gain("Pairwise", "Classwise")
    return [
        "separable" if separable else "pairwise",
        reading.choice,
        reading.answer,
        *(f"{100 * runs.mean(name):.1f}" for name in (*NAMES, ORACLE)),
        f"{runs.rho('Pairwise'):.2f}",
        f"{100 * gain.gain:+.1f} ± {100 * gain.error:.1f}",
        _share(runs),
    ]


def _share(runs: Runs) -> str:
    """Return Pairwise's share of the oracle's gain, or "-" if the oracle gains too little for a share."""
    room = runs.mean(ORACLE) - runs.mean("Base")
    return f"{100 * runs.share('Pairwise'):.0f} %" if room > 0.02 else "-"


def _combinations(combined: dict[str, tuple[Any, ...]], separable: bool) -> Iterator[dict[str, Any]]:
    """Yield all combinations.  In the class-separable regime, choices about pairs are not varied."""
    values = {name: options[:1] if separable and name in ABOUT_PAIRS else options for name, options in combined.items()}
    for chosen in product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def _combined_text(combined: dict[str, tuple[Any, ...]], seeds: Sequence[int]) -> str:
    lines = [f"### All combinations, seed {seeds[0]}"]
    for separable, paper in ((True, PAPER_SEPARABLE), (False, PAPER_PAIRWISE)):
        tried = [
            (changes, run_seeds(_settings(changes, separable), seeds)) for changes in _combinations(combined, separable)
        ]
        lines.append(_verdict(tried, separable, paper))
    return "\n\n".join(lines)


def _verdict(tried: list[tuple[dict[str, Any], Runs]], separable: bool, paper: tuple[float, ...]) -> str:
    def miss(runs: Runs) -> float:
        return max(abs(100 * runs.mean(name) - target) for name, target in zip(NAMES, paper, strict=True))

    nearest, closest = min(tried, key=lambda one: miss(one[1]))
    regime = "Class-separable" if separable else "Pairwise"
    matches = sum(miss(runs) <= NEAR for _, runs in tried)
    text = [
        f"**{regime}**, {len(tried)} combinations. The paper's Hit@1 of Base, Classwise and REPAIR is "
        f"{_numbers(paper)}. In {matches} combinations all three numbers are within {NEAR} points of the paper's. The "
        f"nearest combination has {_numbers([100 * closest.mean(name) for name in NAMES])}, with the oracle at "
        f"{100 * closest.mean(ORACLE):.1f}, and its worst number is {miss(closest):.1f} points away. Its settings are "
        f"{_named(nearest, separable)}."
    ]
    if not separable:
        text += _gains(tried, paper)
    return " ".join(text)


def _gains(tried: list[tuple[dict[str, Any], Runs]], paper: tuple[float, ...]) -> list[str]:
    gains = [runs.gain("Pairwise", "Classwise") for _, runs in tried]
    wins = sum(one.gain > 2 * one.error for one in gains)
    losses = sum(one.gain < -2 * one.error for one in gains)
    largest = max(range(len(tried)), key=lambda index: gains[index].gain)
    highest = max(runs.rho("Pairwise") for _, runs in tried)
    near = [runs for _, runs in tried if all(abs(100 * runs.mean(NAMES[i]) - paper[i]) <= NEAR for i in (0, 1))]
    text = [
        f"Pairwise is above Classwise by more than two standard errors in {wins} of {len(tried)} combinations, and",
        f"below it by as much in {losses}. Its largest gain is {100 * gains[largest].gain:.1f} points, against",
        f"{paper[2] - paper[1]:.1f} in the paper, with {_named(tried[largest][0], separable=False)}. The largest ρ of",
        f"Pairwise is {highest:.2f}.",
    ]
    if near:
        hits = {name: max(100 * runs.mean(name) for runs in near) for name in ("Pairwise", ORACLE)}
        rhos = {name: max(runs.rho(name) for runs in near) for name in ("Pairwise", ORACLE)}
        text.append(
            f"In the {len(near)} combinations whose Base and Classwise are within {NEAR} points of the paper's, "
            f"Pairwise reaches at most {hits['Pairwise']:.1f} (ρ = {rhos['Pairwise']:.2f}) and the oracle at most "
            f"{hits[ORACLE]:.1f} (ρ = {rhos[ORACLE]:.2f}). The paper's REPAIR has {paper[2]} and ρ = 0.42."
        )
    return text


def _numbers(values: Sequence[float]) -> str:
    return " → ".join(f"{value:.1f}" for value in values)


def _named(changes: dict[str, Any], separable: bool) -> str:
    varied = {name: value for name, value in changes.items() if not (separable and name in ABOUT_PAIRS)}
    return ", ".join(f"`{name}` = {value}" for name, value in varied.items())
