"""The page in a real browser: drawn, quiet, without a network, for mouse, keyboard and assistive technology."""

import pytest

pytestmark = pytest.mark.needs("playwright", "vl_convert")


DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def paths(page, few, kept, tmp_path_factory):
    """Three pages: hostile names, four classes, and a report that keeps the base order."""
    from repair.report.page import as_html

    folder = tmp_path_factory.mktemp("report")
    pages = {"usual": page, "few": as_html(few), "kept": as_html(kept.content)}
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in pages}


@pytest.fixture(scope="module")
def path(paths):
    return paths["usual"]


@pytest.fixture
def opened(chromium, paths):
    """Open a page; afterwards it must have asked for nothing and complained of nothing."""
    contexts, complaints, requests, asked = [], [], [], set()

    def open_page(name="usual", **options):
        path = paths[name]
        asked.add(path.as_uri())
        contexts.append(chromium.new_context(**options))
        shown = contexts[-1].new_page()
        shown.set_default_timeout(60_000)
        shown.on("console", lambda message: complaints.append(message.text))
        shown.on("pageerror", lambda error: complaints.append(str(error)))
        shown.on("request", lambda request: requests.append(request.url))
        shown.goto(path.as_uri())
        shown.wait_for_selector("html[data-drawn=true]", state="attached", timeout=60_000)
        return shown

    yield open_page
    for one in contexts:
        one.close()
    assert complaints == []
    assert {url.partition("#")[0] for url in requests} == asked


@pytest.fixture
def shown(opened):
    return opened(viewport=DESK)


def test_every_chart_is_drawn_and_no_name_does_harm(shown, content):
    boxes = shown.locator("[data-chart]")
    assert boxes.count() == sum(len(one.data.get("pairs", "1")) for one in content.pictures if not one.reason)
    for place in range(boxes.count()):
        box = boxes.nth(place).locator("svg").bounding_box()
        assert box["width"] > 200
        assert box["height"] > 100
        assert boxes.nth(place).locator("svg path").count() > 2
    assert shown.evaluate("window.harmed") is None


def test_classes_are_sorted_searched_and_paged(shown, content, hostile):
    names = shown.locator("#class-table tbody td:first-child")
    assert names.count() == len(content.classes.columns["name"])  # twenty fit on one page
    assert names.all_text_contents() == content.classes.columns["name"]
    header = shown.locator("#class-table").get_by_role("button", name="offset", exact=True)
    header.click()
    offsets = [float(one.replace("−", "-")) for one in shown.locator("#class-table td:last-child").all_text_contents()]
    assert offsets == sorted(offsets, reverse=True)
    assert header.locator("..").get_attribute("aria-sort") == "descending"
    header.focus()
    shown.keyboard.press("Enter")
    assert header.locator("..").get_attribute("aria-sort") == "ascending"
    shown.get_by_label("Search classes").focus()
    shown.keyboard.type("<SCRIPT>")
    shown.locator("#class-status", has_text="1 of 20 classes").wait_for()
    assert names.all_text_contents() == [hostile[0]]
    shown.get_by_label("Search classes").fill("")
    shown.get_by_label("Show").select_option("rare")
    assert names.count() == 16


def test_the_explorer_answers_to_mouse_and_keyboard(shown, content, secret):
    examples = content.examples
    about = shown.locator("#example .about")
    assert secret in about.text_content()
    first = examples.rows[0]
    lists = shown.locator("#example ol")
    names = [one.removeprefix("★ (the true class) ") for one in lists.nth(1).locator(".name").all_text_contents()]
    assert names == [examples.names[one[0]] for one in first["candidates"]]
    before = lists.nth(0).locator(".name").count()
    assert before == len(first["candidates"])
    assert shown.locator("#example .track span").count() > before
    shown.get_by_role("button", name="Next", exact=True).click()
    assert f"Row {examples.rows[1]['id']}," in about.text_content()
    shown.locator("#example-row").focus()
    shown.keyboard.press("ArrowDown")
    assert f"Row {examples.rows[2]['id']}," in about.text_content()
    shown.locator("#example-kind").select_option("broken")
    assert shown.locator("#example .badge").text_content() == "broken"
    shown.locator("#example-search").fill("no such row anywhere")
    shown.locator("#example-status", has_text="No matching row").wait_for()
    assert lists.count() == 0


def test_a_tooltip_shows_names_as_text(opened):
    shown = opened(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    mark = shown.locator("[data-chart=offsets] svg .layer_1_marks path").first
    mark.evaluate("mark => mark.scrollIntoView({ block: 'center' })")  # not under the header, which sticks
    box = mark.bounding_box()
    shown.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    shown.wait_for_selector("#tip:not([hidden])")
    assert "offset" in shown.locator("#tip").text_content()


def test_light_dark_and_print_change_colours_without_drawing_again(shown):
    def colour():
        return shown.evaluate(
            "getComputedStyle(document.querySelector('[data-chart=reliability] .mark-symbol path')).fill"
        )

    light = colour()
    toggle = shown.get_by_role("button", name="Theme")
    for _ in range(2):
        toggle.focus()
        shown.keyboard.press("Enter")
    assert toggle.text_content() == "Theme: dark"
    assert colour() != light
    shown.emulate_media(media="print")
    assert colour() == light
    assert not shown.locator("nav").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
@pytest.mark.needs("axe_playwright_python")
def test_axe_finds_no_serious_fault_and_a_phone_needs_no_sideways_scrolling(chromium, path, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    # The page's own policy would keep the inspector's script out.
    context = chromium.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme, bypass_csp=True)
    shown = context.new_page()
    shown.goto(path.as_uri())
    shown.wait_for_selector("html[data-drawn=true]", state="attached", timeout=60_000)
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.locator("figure summary").first.click()
    found = Axe().run(shown).response["violations"]
    context.close()
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_the_policy_stops_what_gets_in_anyway(chromium, path):
    context = chromium.new_context()
    shown, requests = context.new_page(), []
    shown.goto(path.as_uri())
    # What the policy refuses is announced as a request too, but never gets as far as a route.
    shown.route("http**", lambda route: (requests.append(route.request.url), route.abort()))
    refused = shown.evaluate(
        """() => new Promise((done) => {
          const refused = new Set();
          document.addEventListener("securitypolicyviolation", (event) => {
            refused.add(event.effectiveDirective);
            if (refused.size === 3) done([...refused].sort());
          });
          const script = document.createElement("script");
          script.textContent = "window.harmed = 1";
          const image = document.createElement("img");
          image.src = "https://example.invalid/x.png";
          document.body.append(script, image);
          fetch("https://example.invalid/y").catch(() => 0);
        })"""
    )
    assert refused == ["connect-src", "img-src", "script-src-elem"]
    assert shown.evaluate("window.harmed") is None
    assert requests == []
    context.close()


#: The boxes of the visible texts of every chart, without those turned by 30 degrees, whose boxes are too large.
TEXTS = """() => [...document.querySelectorAll("[data-chart]")].map((chart) => {
  const card = chart.closest("figure").getBoundingClientRect();
  const texts = [...chart.querySelectorAll("svg text:not([opacity='0'])")].filter((one) => one.textContent.trim());
  return texts.filter((one) => !/rotate\\((-30|330)\\)/.test(one.getAttribute("transform") || ""))
    .map((one) => [one.textContent, one.getBoundingClientRect()])
    .map(([text, box]) => [chart.dataset.chart, text, box.left, box.top, box.right, box.bottom, card.left, card.right]);
})"""


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", ["usual", "few", "kept"])
def test_no_text_of_a_chart_is_printed_over_another_or_outside_of_its_card(opened, name, viewport):
    charts = opened(name, viewport=viewport).evaluate(TEXTS)
    assert sum(map(len, charts)) > 50
    for texts in charts:
        for place, (chart, text, left, top, right, bottom, *card) in enumerate(texts):
            assert card[0] <= left, (chart, text)
            assert right <= card[1], (chart, text)
            for _, other, *box, _, _ in texts[:place]:
                across = min(right, box[2]) - max(left, box[0])
                down = min(bottom, box[3]) - max(top, box[1])
                assert across < 1 or down < 3, (chart, text, other)


def test_every_class_has_a_bar_of_the_same_width(opened):
    bars = opened("few", viewport=DESK).locator("[data-chart=long_tail] svg .mark-rect path")
    widths = [bars.nth(place).bounding_box()["width"] for place in range(bars.count())]
    assert len(widths) == 4
    assert min(widths) > 50
    assert max(widths) - min(widths) < 3


def test_a_word_shows_its_meaning_to_mouse_and_keyboard(opened):
    shown = opened(viewport=DESK)
    word, meaning = shown.locator("#verdict .term").first, shown.locator("#meaning")
    entry = shown.locator(f"#{word.get_attribute('aria-describedby')}").text_content()
    assert not meaning.is_visible()
    word.hover()
    meaning.wait_for()
    assert entry in meaning.text_content()
    shown.mouse.move(2, 890)
    meaning.wait_for(state="hidden")
    word.focus()
    shown.keyboard.press("Tab")
    meaning.wait_for()
    focused = shown.evaluate("document.activeElement.getAttribute('aria-describedby')")
    assert shown.locator(f"#{focused}").text_content() in meaning.text_content()
    assert shown.evaluate("document.activeElement.matches('#verdict .term')")
    shown.keyboard.press("Escape")
    meaning.wait_for(state="hidden")


def test_a_word_shows_its_meaning_to_a_finger(opened):
    shown = opened(viewport=PHONE, has_touch=True, is_mobile=True)
    word, meaning = shown.locator("#verdict .term").first, shown.locator("#meaning")
    word.tap()
    meaning.wait_for()
    box = meaning.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    shown.locator("h1").tap()
    meaning.wait_for(state="hidden")


def test_the_first_screen_of_a_phone_is_the_verdict(opened):
    shown = opened(viewport=PHONE, is_mobile=True)
    headline, tiles = shown.locator(".headline").bounding_box(), shown.locator(".tile")
    assert headline["y"] < 120
    assert tiles.count() == 3
    last = tiles.nth(2).bounding_box()
    assert last["y"] + last["height"] <= PHONE["height"]


def test_a_wide_table_says_that_it_scrolls(opened):
    shown = opened(viewport=PHONE, is_mobile=True)
    region = shown.get_by_role("region", name="Table of classes")
    hint = region.locator("xpath=preceding-sibling::p[contains(@class, 'hint')]")
    region.scroll_into_view_if_needed()
    assert hint.is_visible()
    assert "Scroll it sideways" in hint.text_content()
    assert "right" in region.get_attribute("data-more")
    assert "gradient" in region.evaluate("region => getComputedStyle(region).maskImage")
    region.evaluate("region => region.scrollTo(region.scrollWidth, 0)")
    shown.locator(".scroll:has(#class-table):not([data-more~=right])").wait_for()
    wide = opened(viewport=DESK)
    assert not wide.locator("#classes .hint").is_visible()


def test_the_explorer_says_where_the_true_class_stood_and_scrolls_visibly(opened, kept):
    shown = opened("kept", viewport=DESK)
    shown.locator("#example-kind").select_option("not on the shortlist")
    row = next(row for row in kept.content.examples.rows if row["kind"] == "not on the shortlist")
    stood = shown.locator("#example .place").text_content()
    assert stood.endswith(f"In the base order of all 8 classes it is number {row['place']}.")
    text = shown.get_by_role("region", name="Text of this row")
    assert text.evaluate("region => region.scrollHeight > region.clientHeight")
    assert text.get_attribute("data-more") == "down"
    assert "gradient" in text.evaluate("region => getComputedStyle(region).maskImage")
    text.focus()
    shown.keyboard.press("End")
    shown.locator("#example .about .scroll[data-more='']").wait_for()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_checks_are_aligned(opened, viewport):
    lefts = opened(viewport=viewport).evaluate(
        "[...document.querySelectorAll('.check > div')].map((one) => one.getBoundingClientRect().left)"
    )
    assert len(lefts) > 10
    assert max(lefts) - min(lefts) < 0.5


def test_the_pager_is_there_only_if_there_are_pages(opened):
    assert not opened(viewport=DESK).locator("#class-pager").is_visible()  # twenty classes fit on one page
