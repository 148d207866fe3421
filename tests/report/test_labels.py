"""No label is printed over another one."""

from hypothesis import given
from hypothesis import strategies as st

from repair.report.labels import Spot, place_labels

share = st.floats(0.0, 1.0, allow_subnormal=False)
ENDS = (-0.1, 1.1)


def box(label, width, height):
    """Where a label is, in pixels, if a character is 8 wide and a line 15 high."""
    lines = label.text.split("\n")
    wide, high = 8 * max(map(len, lines)), 15 * len(lines)
    x = width * (label.x + 0.1) / 1.2 + label.mark["dx"]
    y = height * (1.1 - label.y) / 1.2 + label.mark["dy"]
    left = x - {"left": 0, "center": wide / 2, "right": wide}[label.mark["align"]]
    # Vega aligns the first line.
    top = y - {"top": 0, "middle": 7.5, "bottom": 15}[label.mark["baseline"]]
    return left, top, left + wide, top + high


def meet(first, second):
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


@given(st.lists(st.tuples(share, share), min_size=2, max_size=5))
def test_labels_do_not_meet_on_a_phone_or_on_a_large_screen(points):
    spots = [Spot(f"label {place}", x, y, bold=place < 2) for place, (x, y) in enumerate(points)]
    placed = place_labels(spots, points, ENDS, ENDS, 320)
    for width in (230, 500):
        boxes = [box(label, width, 270) for label in placed]
        assert not any(meet(first, second) for place, first in enumerate(boxes) for second in boxes[:place])


def test_important_labels_at_one_point_become_one_and_others_give_way():
    spots = [Spot("base", 0.5, 0.5, bold=True), Spot("model", 0.51, 0.5, bold=True)]
    crowd = [(x / 40, y / 40) for x in range(41) for y in range(41)]
    placed = place_labels([*spots, Spot("dial", 0.5, 0.5)], crowd, ENDS, ENDS, 320)
    assert [label.text for label in placed] == ["base =\nmodel"]
    apart = [Spot("base", 0.1, 0.5, bold=True), Spot("model", 0.9, 0.5, bold=True)]
    assert len(place_labels(apart, crowd, ENDS, ENDS, 320)) == 2
