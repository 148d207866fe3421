"""Draw docs/knobs.svg: what five knobs do to rare and frequent classes, on the demonstration's test patients.

Run it from the repository's folder: ``python docs/knobs.py``.  It takes about a minute and prints the numbers, which
docs/knobs.md quotes.
"""

from pathlib import Path

import altair
import vl_convert

from repair import ExtendedOptions, Reranker, evaluate
from repair.demo.patients import HospitalSettings
from repair.demo.rare_disease import make_differential

KNOBS = ("dial", "alpha", "tau", "shortlist_tau", "head_loss")
FREQUENT, RARE = altair.Scale(domain=[65, 79]), altair.Scale(domain=[5, 23])
BLUE, GREY, DARK = "#0b66c3", "#7b8494", "#1c2430"


def main() -> None:
    """Change one knob at a time, and draw how accuracy on rows of rare and of frequent classes changes."""
    problem = make_differential(HospitalSettings())
    calibration, test = problem.calibration, problem.test

    def point(knob, setting, model, **options):
        ranking = model.rerank(test.scores, **options)
        metrics = evaluate(ranking, test.labels, test.class_counts).unconditional
        accuracy = {name: 100 * metrics[name] for name in ("rare", "frequent", "hit@1")}
        print(f"{knob:14} {setting:>4}", *(f"{name} {value:.1f}" for name, value in accuracy.items()), sep="  ")
        return {"knob": knob, "setting": setting, **accuracy}

    points = [point("base", "", Reranker("base").fit(calibration))]
    plain = Reranker("pairwise").fit(calibration)
    points += [point("dial", f"{dial:g}", plain, dial=dial) for dial in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    point("dial", "macro", plain, dial="macro")  # printed but not drawn, because it is not on the path of the dial
    for alpha in (0.0, 0.3, 0.6, 0.9):
        points.append(point("alpha", f"{alpha:g}", Reranker("pairwise", alpha=alpha).fit(calibration)))
    for tau in (0.0, 0.5, 1.0):
        points.append(point("tau", f"{tau:g}", Reranker("pairwise", tau=tau).fit(calibration)))
    for tau in (0.0, 0.5, 1.0):
        model = Reranker("extended", extended=ExtendedOptions(tau), dial=0.0).fit(calibration)
        points.append(point("shortlist_tau", f"{tau:g}", model))
    for limit in (1.0, 2.0, 5.0):
        model = Reranker("pairwise", dial=1.0, head_loss=limit).fit(calibration)
        points.append(point("head_loss", f"{limit:g}", model))
    picture = vl_convert.vegalite_to_svg(chart(points).properties(background="white").to_json())
    Path("docs/knobs.svg").write_text(picture, encoding="utf-8")


def chart(points):
    """Return one small panel per knob, all with the same axes."""
    return altair.hconcat(*(panel(knob, points) for knob in KNOBS), spacing=14).configure_view(stroke="#d5dae2")


def panel(knob, points):
    """Return the path of one knob, together with the base order."""
    is_first = knob == KNOBS[0]
    axis = altair.Axis(grid=False, tickCount=4, labelFontSize=11, titleFontSize=11, titleFontWeight="normal")
    y_axis = axis if is_first else axis.copy(deep=True)
    if not is_first:
        y_axis.labels, y_axis.title = False, None
    x = altair.X("frequent:Q", title="frequent classes right, %", scale=FREQUENT, axis=axis)
    y = altair.Y("rare:Q", title="rare classes right, %" if is_first else None, scale=RARE, axis=y_axis)
    steps = [point for point in points if point["knob"] == knob]
    path = altair.Chart(altair.Data(values=[{**point, "step": step} for step, point in enumerate(steps)]))
    lines = path.mark_line(strokeWidth=1.5, color=BLUE).encode(x=x, y=y, order="step:Q")
    dots = path.mark_point(filled=True, size=40, opacity=1, color=BLUE).encode(x=x, y=y)
    # The first setting is labelled on the right and the last on the left, so close labels do not overlap.
    labels = [
        altair.Chart(altair.Data(values=[end]))
        .mark_text(align=side, dx=shift, dy=-1, fontSize=12, color=DARK)
        .encode(x=x, y=y, text="setting:N")
        for end, side, shift in ((steps[0], "left", 7), (steps[-1], "right", -7))
    ]
    base = altair.Chart(altair.Data(values=points[:1]))
    mark = base.mark_point(filled=True, shape="diamond", size=90, color=GREY, opacity=1).encode(x=x, y=y)
    word = base.mark_text(align="right", dx=-8, fontSize=11, text="base", color="#566070").encode(x=x, y=y)
    title = altair.TitleParams(knob, fontSize=12, font="monospace")
    return altair.layer(lines, dots, *labels, mark, word).properties(width=140, height=190, title=title)


if __name__ == "__main__":
    main()
