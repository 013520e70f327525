"""A real browser for tests: the system's Chromium, driven by Playwright; WebGL is drawn in
software.

A test asks for the fixture `page` (a fresh tab) or `browser`. Requests that leave 127.0.0.1 or the
disk are noted in `page.strangers`. Screenshots go to tests/screenshots (not kept in git) by
`shot(page, name)`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",  # only WebGL is drawn by the emulated graphics card, not the page
    "--disable-gpu-rasterization",
    "--mute-audio",
]
SCREENSHOTS = Path(__file__).parent / "screenshots"
# A software renderer takes a core for every picture that nobody sees: ten a second are enough, with
# plain edges.
SLOW_SCREEN = """
window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 100);
window.cancelAnimationFrame = clearTimeout;
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, wanted) {
  return context.call(this, kind, kind.startsWith("webgl") ? {...wanted, antialias: false} : wanted);
};
"""
# Pages whose picture no test looks at draw none: WebGL's own state is kept, triangles are not drawn.
NO_PICTURE = """
for (const kind of ["drawArrays", "drawElements"])
  for (const how of ["", "Instanced"])
    WebGL2RenderingContext.prototype[kind + how] = () => {};
"""
HOME = ("http://127.0.0.1", "ws://127.0.0.1", "file:", "data:", "blob:", "about:")


def executable() -> str | None:
    """The path of a Chromium on this machine, None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once for all tests of a worker."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        yield chromium
        chromium.close()


def window(browser, width: int, height: int, **options):
    """A browser's window (Playwright's context) whose screen shows ten pictures a second."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=0.5, **options
    )
    context.add_init_script(SLOW_SCREEN)
    return context


@pytest.fixture
def page(browser):
    """A tab of its own, 1400 × 900; `page.strangers` lists the addresses it asked for outside this
    machine, `page.mistakes` its errors."""
    context = window(browser, 1400, 900)
    tab = context.new_page()
    tab.set_default_navigation_timeout(120_000)  # a busy machine starts a browser slowly
    tab.strangers, tab.mistakes = [], []
    tab.on(
        "request",
        lambda request: None if request.url.startswith(HOME) else tab.strangers.append(request.url),
    )
    tab.on(
        "websocket",
        lambda socket: None if socket.url.startswith(HOME) else tab.strangers.append(socket.url),
    )
    tab.on("pageerror", lambda error: tab.mistakes.append(str(error)))
    yield tab
    context.close()


def shot(page, name: str) -> Path:
    """A picture of the page, kept as an artefact; its path."""
    SCREENSHOTS.mkdir(exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path)
    return path
