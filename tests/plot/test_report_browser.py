"""The page in a real browser, from the disk: it moves, its controls work, it asks for nothing, and
it fits any screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

import armature as arm
from browser import shot

ROBOT = arm.library("burgevin").with_payload(2.0)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    move = arm.Move([0.0, 1.0, 0.6], [1.5, 1.4, 0.8], duration=1.4)
    good = arm.minimize_energy(ROBOT, move, "non-regenerative", knots=40).report(
        folder / "plan.html"
    )
    bad = arm.minimize_energy(ROBOT, replace(move, duration=0.05), knots=40).report(
        folder / "failed.html"
    )
    return {"good": good.as_uri(), "bad": bad.as_uri()}


def still(page, time: float) -> str:
    """The canvas at a time; WebGL keeps its picture until the task ends."""
    return page.evaluate(f"clock.seek({time}), document.getElementById('view').toDataURL()")


def test_the_robot_moves_and_the_scrubber_works(page, pages):
    page.goto(pages["good"])
    page.wait_for_function("clock.now > 0.1")  # it plays by itself
    first, second, again = still(page, 0.2), still(page, 1.0), still(page, 0.2)
    assert first != second and first == again
    assert page.locator("#play").inner_text() == "▶"  # a seek stops it
    page.locator("#time").fill("0.5")
    assert page.locator("#clock").inner_text() == "0.70 s"
    page.locator("#speed").select_option("2")
    page.locator("#play").click()
    page.wait_for_function("clock.now > 0.9")
    page.locator("#play").click()
    stopped = page.evaluate("clock.now")
    page.wait_for_timeout(80)
    assert page.evaluate("clock.now") == stopped
    shot(page, "report")
    assert not page.strangers and not page.mistakes


def test_ghost_trace_and_view_change_the_picture(page, pages):
    page.goto(pages["good"])
    with_all = still(page, 0.6)
    page.locator("#ghost").uncheck()
    without_ghost = still(page, 0.6)
    page.locator("#trace").uncheck()
    without_trace = still(page, 0.6)
    assert len({with_all, without_ghost, without_trace}) == 3
    box = page.locator("#view").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 250)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 280, steps=4)
    page.mouse.up()
    turned = still(page, 0.6)
    page.mouse.wheel(0, -400)
    nearer = still(page, 0.6)
    assert len({without_trace, turned, nearer}) == 3
    page.locator("#home").click()
    assert still(page, 0.6) == without_trace
    assert not page.mistakes


def test_all_sections_hold_their_content(page, pages):
    page.goto(pages["good"])
    assert "% less energy drawn than the joint" in page.locator("h1").inner_text()
    assert (
        page.locator(".tiles dd").count() == 6 and "passed" in page.locator(".tiles").inner_text()
    )
    page.wait_for_function(
        "document.querySelectorAll('#iterations path.line').length > 0"
    )  # charts are drawn once they have a width
    assert (
        page.locator("#joints figure").count() == 3 * 4
        and page.locator("#joints path.line.plan").count() == 12
    )
    assert page.locator("#joints line.limit").count() > 0
    assert (
        page.locator("#graf path.region").count() == 3
        and page.locator("#power figure").count() == 2
    )
    assert (
        page.locator("#flows figure").count() == 2
        and "copper" in page.locator("#flows").inner_text()
    )
    assert page.locator("#iterations path.line").count() == 4
    assert page.locator("#margins tbody tr").count() == 10
    page.locator(".more").click()
    assert page.locator("#margins tbody tr").count() > 10
    assert "sha256:" in page.locator(".provenance").inner_text()
    # a touch on a chart goes to that time
    chart = page.locator("#power figure svg").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + 60)
    assert 0.8 < page.evaluate("clock.now") < 1.2
    shot(page, "report_charts")
    assert not page.mistakes


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1400, "dark")])
def test_it_fits_phones_and_dark_rooms(page, pages, width: int, scheme: str):
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    page.goto(pages["good"])
    still(page, 0.7)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate(
        "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    )
    assert (light > 128) == (scheme == "light")
    shot(page, f"report_{width}_{scheme}")
    assert not page.mistakes


def test_a_failed_plan_says_so(page, pages):
    page.goto(pages["bad"])
    assert page.locator("h1").inner_text() == "No plan was found"
    assert len(page.locator("[role=alert]").inner_text()) > 30
    assert "must not be run" in page.locator(".words").inner_text()
    still(page, 0.1)
    shot(page, "report_failed")
    assert not page.mistakes and not page.strangers


def test_without_webgl_the_charts_remain(page, pages):
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.goto(pages["good"])
    assert page.locator("#noview").is_visible() and page.locator("#joints figure").count() == 12
    page.evaluate("clock.seek(0.5)")
    assert not page.mistakes
