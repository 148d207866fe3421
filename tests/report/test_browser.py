"""The page in a real browser: drawn, quiet, without a network, for mouse, keyboard and assistive technology."""

import pytest

pytestmark = pytest.mark.needs("playwright", "vl_convert")


@pytest.fixture(scope="module")
def path(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page, "utf-8")
    return path


@pytest.fixture
def opened(chromium, path):
    """Open the page; afterwards it must have asked for nothing and complained of nothing."""
    contexts, complaints, requests = [], [], []

    def open_page(**options):
        contexts.append(chromium.new_context(**options))
        shown = contexts[-1].new_page()
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
    assert set(requests) == {path.as_uri()}


@pytest.fixture
def shown(opened):
    return opened(viewport={"width": 1280, "height": 900})


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
    shown.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.harmed = 1";
          const image = document.createElement("img");
          image.src = "https://example.invalid/x.png";
          document.body.append(script, image);
          return fetch("https://example.invalid/y").catch(() => 0);
        }"""
    )
    shown.wait_for_timeout(200)
    assert shown.evaluate("window.harmed") is None
    assert requests == []
    context.close()
