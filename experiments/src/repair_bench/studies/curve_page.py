"""The page of the learning curves."""

from typing import Any

from repair._utils.text_tables import MARKDOWN, markdown_table
from repair_bench.studies.curve_summary import ENOUGH

__all__ = ["curve_page"]

#: The project's targets: share of the better method's gain, and mean gain in points.
HELD, LOSS = 0.9, -0.3


def curve_page(record: dict[str, Any]) -> str:
    """Return the summary, and one table per benchmark."""
    summary, subsamples = record["summary"], record["settings"]["subsamples"]
    explained = (
        "How much do `auto` and other methods gain if there are few calibration rows? Every method gets the scores, "
        "the class counts and the class similarity (where it is known), but no embeddings. It is fitted on "
        f"{subsamples} random subsamples of the calibration rows (of whole groups if the benchmark has groups) and "
        "tested on all test rows. *LogitAdj over all classes* is logit adjustment whose shortlist holds all classes. "
        "The paper has no such study."
    )
    parts = [explained, "## Does `auto` reach its targets?"]
    if summary["lowest"] is None:
        return "\n\n".join([*parts, "The data of no benchmark were found."])
    parts += [_targets(summary), _definition(), _sizes(summary), _sets(record), "## Gain over Base"]
    parts.append(
        "In points of accuracy over all test rows, mean ± standard deviation over the subsamples. The last line of "
        "each table is one fit on all calibration rows. The last column counts the modes that `auto` chose."
    )
    for name, found in record["sets"].items():
        parts += [f"### {name.translate(MARKDOWN)}", _about(found), _curve(found)]
    return "\n\n".join(parts)


def _targets(summary: dict[str, Any]) -> str:
    held, lowest = summary["held"], summary["lowest"]
    shown = "–"
    if held["share"] is not None:
        shown = f"{100 * held['share']:.0f} % ({_reached(held['share'] >= HELD)})"
    where = f"`{lowest['set']}`, {lowest['n']:,} rows"
    rows = [
        [f"share of the better gain that `auto` holds, from {ENOUGH} rows on", f"≥ {100 * HELD:.0f} %", shown],
        [
            "smallest mean gain of `auto` on any benchmark, at any size",
            f"≥ {LOSS:+.1f} points",
            f"{lowest['gain']:+.2f}, {where} ({_reached(lowest['gain'] >= LOSS)})",
        ],
    ]
    return markdown_table(["", "target", "found"], rows, text_columns=(0, 1, 2))


def _reached(passed: bool) -> str:
    return "reached" if passed else "missed"


def _definition() -> str:
    return (
        "The *better gain* of a benchmark and a number of rows is the larger mean gain of Extended and LogitAdj over "
        "all classes, or 0 if both are below Base. It is known only with the test rows in view, so it is more than any "
        "fair choice between the two can reach on average. The *share held* is the mean gain of `auto` divided by the "
        "mean better gain. Benchmarks on which much can be gained dominate it, so the gain of each is below."
    )


def _sizes(summary: dict[str, Any]) -> str:
    rows = [[size if size == "all" else f"{int(size):,}", *_held(found)] for size, found in summary["by_size"].items()]
    header = ["calibration rows", "benchmarks", "gain of auto", "better gain", "share held", "smallest gain of auto"]
    return f"**By number of calibration rows**, mean over the benchmarks\n\n{markdown_table(header, rows)}"


def _sets(record: dict[str, Any]) -> str:
    rows = [[name.translate(MARKDOWN), *_held(found)] for name, found in record["summary"]["by_set"].items()]
    header = ["benchmark", "sizes", "gain of auto", "better gain", "share held", "smallest gain of auto"]
    return f"**By benchmark**, mean over the sizes from {ENOUGH} rows on\n\n{markdown_table(header, rows)}"


def _held(found: dict[str, Any]) -> list[str]:
    if found["auto"] is None:
        return ["0", "–", "–", "–", "–"]
    share = "–" if found["share"] is None else f"{100 * found['share']:.0f} %"
    return [
        str(found["points"]),
        f"{found['auto']:+.2f}",
        f"{found['better']:+.2f}",
        share,
        f"{found['lowest']:+.2f}",
    ]


def _about(found: dict[str, Any]) -> str:
    return (
        f"{found['title']}: {found['n_classes']} classes, {found['n_calibration']:,} calibration rows"
        f"{' in groups' if found['grouped'] else ''}, {found['n_test']:,} test rows, accuracy of Base "
        f"{found['base_accuracy']:.1f} %."
    )


def _curve(found: dict[str, Any]) -> str:
    names = list(found["curve"][0]["gains"])
    rows = []
    for point in found["curve"]:
        cells = []
        for name in names:
            gain = point["gains"][name]
            cells.append(f"{gain['mean']:+.2f}" + ("" if gain["sd"] is None else f" ± {gain['sd']:.2f}"))
        modes = ", ".join(f"{mode} {count}" for mode, count in sorted(point["modes"].items()))
        rows.append([f"{point['n']:,}" + (" (all)" if point["everything"] else ""), *cells, modes])
    return markdown_table(["calibration rows", *names, "auto chose"], rows)
