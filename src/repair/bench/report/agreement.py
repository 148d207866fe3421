"""What agrees with the paper and what does not, in words made from the numbers."""

from collections.abc import Mapping

from repair.bench.report.numbers import Result, against, interval, number, significant
from repair.comparison_metrics import METRICS

__all__ = ["agreement", "agreement_counts"]

FIRST, SECOND = "REPAIR", "Classwise"
#: What the paper says of the two: REPAIR is above on each of these.
CLAIMS = ("hit@1", "rare", "hfr")


def agreement(result: Result) -> str:
    """Return sentences on REPAIR against Classwise here and in the paper; empty where one was not run."""
    pair = against(result, FIRST, SECOND)
    if pair is None:
        return ""
    printed = result["published"]["numbers"]
    words = [_claim(metric, pair[metric], _paper_gap(printed, metric)) for metric in CLAIMS]
    if printed:
        head = "REPAIR against Classwise, the paper's figures first:"
    else:
        head = "The paper has no figures for this set; in general it puts REPAIR above Classwise. Here:"
    return f"{head} {'; '.join(words)}."


def agreement_counts(results: Mapping[str, Result]) -> str:
    """Return on how many benchmarks the paper's claim of REPAIR over Classwise holds, metric by metric."""
    parts = []
    for metric in CLAIMS:
        pairs = [against(one, FIRST, SECOND) for one in results.values()]
        gaps = [pair[metric]["difference"] for pair in pairs if pair is not None]
        known = [one for one in gaps if one["estimate"] is not None]
        if known:
            above = sum(one["estimate"] > 0 for one in known)
            up = sum(significant(one) == 1 for one in known)
            down = sum(significant(one) == -1 for one in known)
            parts.append(
                f"{METRICS[metric].title}: above on {above} of {len(known)} "
                f"({up} significantly; significantly below on {down})"
            )
    if not parts:
        return ""
    return f"The paper's claim that REPAIR is above Classwise, held against our runs: {'; '.join(parts)}."


def _claim(metric: str, pair: Result, paper: float | None) -> str:
    gap, signs = pair["difference"], pair["signs"]
    title = METRICS[metric].title
    if gap["estimate"] is None:
        return f"{title} is not defined"
    shown = f"{number(gap['estimate'], metric, '+')} ({interval(gap, metric, '+')})"
    said = "" if paper is None else f"{_printed(paper, metric)}, here "
    expected = 1 if paper is None or paper > 0 else -1 if paper < 0 else 0
    return f"{title} {said}{shown}: {_verdict(gap, expected)}, {signs['wins']} of {_trials(signs)} trials won"


def _verdict(gap: Result, expected: int) -> str:
    found = significant(gap)
    if found:
        return "agrees, significantly" if found == expected else "disagrees, significantly"
    direction = (gap["estimate"] > 0) - (gap["estimate"] < 0)
    return f"{'same' if direction == expected else 'not the same'} direction, not significant"


def _paper_gap(printed: Result, metric: str) -> float | None:
    values = [printed.get(one, {}).get(metric) for one in (FIRST, SECOND)]
    if values[0] is None or values[1] is None:
        return None
    gap = float(values[0]) - float(values[1])
    return gap / 100 if METRICS[metric].percent else gap


def _printed(gap: float, metric: str) -> str:
    return f"{100 * gap:+.2f}".replace("-", "−") if METRICS[metric].percent else number(gap, metric, "+")


def _trials(signs: Result) -> int:
    return int(signs["wins"] + signs["losses"] + signs["ties"])
