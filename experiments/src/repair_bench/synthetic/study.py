"""The paper's synthetic experiments, repeated with an oracle as the upper bound.

``repair bench run synthetic`` writes a page with the comparison in both regimes, the component
ablation, shortlist sizes, the regime figure, quintiles, the shrinkage diagnostic, and the possible
readings of the paper's text.  It takes about six minutes of one core, half of them for the
published grid search.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from repair import ExtendedOptions
from repair._utils.text_tables import markdown_table
from repair.datasets import SyntheticSettings
from repair.demo.synthetic_methods import ORACLE, TERMS, usual_methods
from repair.rerankers.base import ShortlistReranker
from repair.rerankers.methods import title_of
from repair.rerankers.reranker import Reranker
from repair_bench.synthetic.diagnostics import quintile_section, shrinkage_section
from repair_bench.synthetic.readings import readings_section
from repair_bench.synthetic.runs import Runs, run_seeds, three_methods

__all__ = ["QUICK", "StudySize", "run_synthetic_study"]

COMMAND = "repair bench run synthetic"
#: Name of the extended mode on the base shortlists, on which it can be compared with the same oracle.
EXTENDED = "Extended, base's list"
#: The paper's Hit@1 of Base, Classwise and REPAIR, by number of pairs and shortlist size.
PAPER_SIZES = {
    0: {5: (52.6, 63.0, 63.0), 10: (45.8, 54.8, 54.8), 20: (42.6, 50.3, 50.3), 50: (41.2, 48.1, 48.1)},
    15: {5: (59.0, 68.1, 79.5), 10: (52.6, 61.1, 72.5), 20: (49.6, 57.2, 68.3), 50: (48.4, 55.2, 66.1)},
}
#: The paper's ρ of Classwise and REPAIR, by number of pairs.
PAPER_RHO = {0: "0.17 / 0.17", 15: "0.18 / 0.42"}
METRICS = ("hit@1", "hit@3", "mrr", "rare", "frequent", "hfr")


@dataclass(frozen=True)
class StudySize:
    """The size of the study.

    Attributes
    ----------
    seeds : tuple of int
        Seeds of the experiments.  The readings use the first two.
    sizes, pairs : tuple of int
        Shortlist sizes, and numbers of confuser pairs in the regime table.
    published : bool
        Whether to include Pairwise with the paper's in-sample grid search (16 s per fit).
    rows : int
        Number of test rows for the quintiles and the shrinkage diagnostic.
    rows_per_class : tuple of int
        Mean numbers of calibration rows per class in the shrinkage diagnostic.
    quick : bool
        Whether to try only a few readings.
    """

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    sizes: tuple[int, ...] = (5, 10, 20, 50)
    pairs: tuple[int, ...] = (0, 5, 10, 15, 20)
    published: bool = True
    rows: int = 10_000
    rows_per_class: tuple[int, ...] = (2, 5, 10, 20, 50, 100)
    quick: bool = False


QUICK = StudySize((0, 1), (5, 10), (0, 15), published=False, rows=4_000, rows_per_class=(2, 20), quick=True)


def run_synthetic_study(size: StudySize | None = None) -> str:
    """Run every experiment and return the page.

    Parameters
    ----------
    size : StudySize, optional

    Returns
    -------
    str
        Markdown.
    """
    chosen = size or StudySize()
    separable, pairwise = (_full_comparison(n_pairs, chosen) for n_pairs in (0, 15))
    parts = [
        _head(chosen),
        _comparison_section("Class-separable regime (no pairs)", separable),
        _comparison_section("Pairwise regime (15 pairs)", pairwise),
        _ablation_section(chosen),
        _sizes_section(chosen),
        _regime_section(chosen),
        quintile_section(chosen.seeds, chosen.rows),
        shrinkage_section(chosen.seeds, chosen.rows, chosen.rows_per_class),
        readings_section(chosen.seeds[:2], quick=chosen.quick),
    ]
    return "\n\n".join(parts) + "\n"


def _head(size: StudySize) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("repair-rerank", "numpy", "scipy", "numba"))
    return "\n\n".join(
        [
            "# The synthetic experiments",
            f"Written by `{COMMAND}{' --quick' if size.quick else ''}`. Do not edit. Seeds "
            f"{', '.join(map(str, size.seeds))}; Python {platform.python_version()}, {versions}.",
            "There are 100 classes, shortlists of k = 10, 5,000 calibration rows and 2,000 test rows, unless said "
            "otherwise. All figures are over covered rows, mean ± standard deviation over the seeds.\n\n"
            "- The *oracle* ranks the same shortlists by the true posterior. No reranker can do better on average.\n"
            "- *Share* is the gain over Base as a share of the oracle's gain.\n"
            "- *ρ* is the paper's gap closed: the gain over Base, divided by the error of Base.",
        ]
    )


def _all_methods(n_candidates: int) -> dict[str, ShortlistReranker]:
    """Return the usual methods, Extended, and Pairwise with the paper's penalties on the mean and on the sum."""
    n_rows = SyntheticSettings().n_calibration
    return usual_methods(n_candidates) | {
        EXTENDED: Reranker(
            "extended",
            n_candidates=n_candidates,
            terms=(*TERMS, "context"),
            extended=ExtendedOptions(shortlist_tau=0.0),
        ),
        "Pairwise, all terms": Reranker("pairwise", n_candidates=n_candidates),
        "Pairwise, λ = 0.001 on the mean": Reranker(
            "pairwise", n_candidates=n_candidates, terms=TERMS, lambda_a=1e-3, lambda_theta=1e-3
        ),
        "Pairwise, λ = 0.001 on the sum": Reranker(
            "pairwise", n_candidates=n_candidates, terms=TERMS, lambda_a=1e-3 / n_rows, lambda_theta=1e-3 / n_rows
        ),
    }


def _with_published(n_candidates: int) -> dict[str, ShortlistReranker]:
    published = Reranker("pairwise", n_candidates=n_candidates, terms=TERMS, shrinkage=False, tuning="in_sample")
    return _all_methods(n_candidates) | {"Pairwise, published selection": published}


def _full_comparison(n_pairs: int, size: StudySize) -> Runs:
    return run_seeds(
        SyntheticSettings(n_pairs=n_pairs), size.seeds, _with_published if size.published else _all_methods
    )


def _comparison_section(title: str, runs: Runs) -> str:
    rows = [
        [
            name,
            *(f"{100 * runs.mean(name, metric):.1f} ± {100 * runs.spread(name, metric):.1f}" for metric in METRICS),
            f"{runs.rho(name):.3f}",
            f"{100 * runs.accuracy(name):.1f}",
        ]
        for name in runs.results
    ]
    header = ["method", "Hit@1", "Hit@3", "MRR", "Rare", "Frequent", "HFR", "ρ", "accuracy"]
    lines = [_gain_line(runs, "Pairwise", other) for other in ("Classwise", "Classwise+temperature")]
    lines.append(_gain_line(runs, EXTENDED, "Pairwise"))
    room = 100 * (runs.mean(ORACLE) - runs.mean("Base"))
    share = ""
    if room > 1.5:  # a share of a smaller gain would be noise
        named = ("Classwise", "Classwise+temperature", "Pairwise", EXTENDED)
        parts = ", ".join(f"{name} {100 * runs.share(name):.0f} %" for name in named)
        share = f" Share of the oracle's gain: {parts}."
    return "\n\n".join(
        [
            f"## {title}",
            f"The coverage is {100 * runs.mean('Base', 'coverage'):.1f} %. All figures except ρ are in per cent. "
            "Accuracy is over all rows.",
            markdown_table(header, rows),
            f"The oracle gains {room:.1f} points over Base.{share} {' '.join(lines)}",
        ]
    )


def _gain_line(runs: Runs, first: str, second: str) -> str:
    gain = runs.gain(first, second)
    low, high = gain.interval()
    return (
        f"{first} − {second}: {100 * gain.gain:+.2f} points (95 % interval {100 * low:+.2f} to {100 * high:+.2f} "
        "over rows)."
    )


def _ablations(n_candidates: int) -> Mapping[str, ShortlistReranker]:
    usual = usual_methods(n_candidates)
    without = {
        f"Pairwise without {left_out}": Reranker(
            "pairwise", n_candidates=n_candidates, terms=[name for name in TERMS if name != left_out]
        )
        for left_out in TERMS
    }
    return {
        "Base": usual["base"],
        "CW-only": usual["classwise"],
        "PW-only": usual["pairwise_only"],
        "CW-only + temperature": usual["classwise_temperature"],
        "Pairwise": usual["pairwise"],
        **without,
    }


def _ablation_section(size: StudySize) -> str:
    regimes = [run_seeds(SyntheticSettings(n_pairs=n_pairs), size.seeds, _ablations) for n_pairs in (0, 15)]
    paper = {
        "Base": ("45.8", "52.6"),
        "CW-only": ("54.8", "61.1"),
        "PW-only": ("-", "72.1"),
        "Pairwise": ("54.8", "72.5"),
    }
    rows = []
    for name in regimes[0].results:
        cells = [
            cell
            for runs, printed in zip(regimes, paper.get(name, ("-", "-")), strict=True)
            for cell in (f"{100 * runs.mean(name):.1f}", printed)
        ]
        rows.append([name, *cells])
    return "\n\n".join(
        [
            "## Component ablation",
            "Hit@1 in per cent. CW-only has no pairwise term, and PW-only has no offsets. The last lines leave out one "
            "term at a time.",
            markdown_table(["method", "separable", "paper", "pairwise", "paper"], rows),
        ]
    )


def _sizes_section(size: StudySize) -> str:
    rows = []
    for regime, n_pairs, bias in (("separable", 0, 0.1), ("separable, c·τ = 0.6", 0, 0.6), ("pairwise", 15, 0.1)):
        for k in size.sizes:
            runs = run_seeds(SyntheticSettings(n_pairs=n_pairs, bias=bias, n_candidates=k), size.seeds)
            rows.append(
                [
                    regime,
                    str(k),
                    f"{100 * runs.mean('Base', 'coverage'):.1f}",
                    *(f"{100 * runs.mean(name):.1f}" for name in (*map(title_of, three_methods()), ORACLE)),
                    f"{100 * runs.accuracy('Base'):.1f}",
                    f"{100 * runs.accuracy(ORACLE):.1f}",
                    " / ".join(f"{value:.1f}" for value in PAPER_SIZES[n_pairs][k]),
                ]
            )
    header = ["regime", "k", "coverage", "Base", "Classwise", "Pairwise", "oracle", "Base acc.", "oracle acc.", "paper"]
    return "\n\n".join(
        [
            "## Shortlist size",
            "Hit@1 is over covered rows, and accuracy (acc.) is over all rows. The last column has the paper's Hit@1 "
            "of Base / Classwise / REPAIR.\n\n"
            "In the class-separable regime the accuracy of Base over all rows cannot depend on k, so its Hit@1 falls "
            "only because coverage rises. In the pairwise regime, pairs meet on more rows as k grows. At k = 50 the "
            "accuracy of the oracle is nearly that of the Bayes classifier. Labels and inputs have the same "
            "distribution in both regimes, so it bounds both.",
            markdown_table(header, rows),
        ]
    )


def _regime_section(size: StudySize) -> str:
    rows = [
        _regime_line(str(n_pairs), SyntheticSettings(n_pairs=n_pairs), size.seeds, PAPER_RHO.get(n_pairs, "-"))
        for n_pairs in size.pairs
    ]
    rows.append(_regime_line("0, c·τ = 0.6", SyntheticSettings(n_pairs=0, bias=0.6), size.seeds, PAPER_RHO[0]))
    header = ["pairs", "Base", "Classwise", "Pairwise", "oracle", "ρ Classwise", "ρ Pairwise", "ρ oracle"]
    return "\n\n".join(
        [
            "## The regime figure",
            "Hit@1 and ρ by number of confuser pairs. *Pairwise − Classwise* is in points of Hit@1, ± one standard "
            "error over rows. The last column has the paper's ρ of Classwise / REPAIR. The last line has the bias "
            "that comes near the paper's class-separable numbers.",
            markdown_table([*header, "Pairwise − Classwise", "paper"], rows),
        ]
    )


def _regime_line(label: str, settings: SyntheticSettings, seeds: Sequence[int], paper: str) -> list[str]:
    runs = run_seeds(settings, seeds)
    gain = runs.gain("Pairwise", "Classwise")
    return [
        label,
        *(f"{100 * runs.mean(name):.1f}" for name in runs.results),
        *(f"{runs.rho(name):.3f}" for name in ("Classwise", "Pairwise", ORACLE)),
        f"{100 * gain.gain:+.2f} ± {100 * gain.error:.2f}",
        paper,
    ]
