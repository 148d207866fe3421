"""Sentences, made from the numbers, on what agrees with the paper and what does not."""

from collections.abc import Mapping

from repair.evaluation.metric_table import METRICS
from repair_bench.report.numbers import CLASSWISE, PAIRWISE, Result, against, interval, number, significant

__all__ = ["agreement", "agreement_counts"]

#: The metrics on which the paper finds its REPAIR (our Pairwise) above Classwise.
CLAIMS = ("hit@1", "rare", "hfr")


def agreement(result: Result) -> str:
    """Return a list of Pairwise minus Classwise here and in the paper.  It is empty if one of them was not run."""
    pair = against(result, PAIRWISE, CLASSWISE)
    if pair is None:
        return ""
    printed = result["published"]["numbers"]
    lines = [f"- {_claim(metric, pair[metric], _paper_gap(printed, metric))}" for metric in CLAIMS]
    head = "Pairwise (the paper's REPAIR) minus Classwise, over covered rows, in points (HFR as a fraction):"
    if not printed:
        head = f"The paper has no figures for this set. In general it finds REPAIR above Classwise. {head}"
    return "\n".join([head, "", *lines])


def agreement_counts(results: Mapping[str, Result]) -> str:
    """Return on how many benchmarks the paper's claim that REPAIR is above Classwise holds, metric by metric."""
    parts = []
    for metric in CLAIMS:
        pairs = [against(one, PAIRWISE, CLASSWISE) for one in results.values()]
        gaps = [pair[metric]["difference"] for pair in pairs if pair is not None]
        defined = [gap for gap in gaps if gap["estimate"] is not None]
        if defined:
            above = sum(gap["estimate"] > 0 for gap in defined)
            up = sum(significant(gap) == 1 for gap in defined)
            down = sum(significant(gap) == -1 for gap in defined)
            parts.append(
                f"in {METRICS[metric].title} on {above} of {len(defined)} benchmarks (significantly on {up}, and "
                f"significantly below on {down})"
            )
    if not parts:
        return ""
    return f"The paper claims that REPAIR is above Classwise. In our runs Pairwise is above it {'; '.join(parts)}."


def _claim(metric: str, pair: Result, paper: float | None) -> str:
    gap, signs = pair["difference"], pair["signs"]
    title = METRICS[metric].title
    if gap["estimate"] is None:
        return f"{title}: not defined."
    shown = f"{number(gap['estimate'], metric, '+')} ({interval(gap, metric, '+')})"
    in_paper = "" if paper is None else f"{_printed(paper, metric)} in the paper, "
    expected = 1 if paper is None or paper > 0 else -1 if paper < 0 else 0
    won = f"Pairwise won {signs['wins']} of {_trials(signs)} trials."
    return f"{title}: {in_paper}{shown} here. {_verdict(gap, expected)} {won}"


def _verdict(gap: Result, expected: int) -> str:
    direction = significant(gap)
    if direction:
        same = "in the same direction" if direction == expected else "but not in the same direction"
        return f"Significant, {same} as in the paper."
    direction = (gap["estimate"] > 0) - (gap["estimate"] < 0)
    if direction == expected:
        return "Same direction as in the paper, but not significant."
    return "Not the same direction as in the paper, and not significant."


def _paper_gap(printed: Result, metric: str) -> float | None:
    values = [printed.get(method, {}).get(metric) for method in ("REPAIR", "Classwise")]
    if values[0] is None or values[1] is None:
        return None
    gap = float(values[0]) - float(values[1])
    return gap / 100 if METRICS[metric].percent else gap


def _printed(gap: float, metric: str) -> str:
    return f"{100 * gap:+.2f}".replace("-", "−") if METRICS[metric].percent else number(gap, metric, "+")


def _trials(signs: Result) -> int:
    return int(signs["wins"] + signs["losses"] + signs["ties"])
