"""Settings for all tests. This file also puts its folder on the path, so that any test can import
`random_robots` and `browser`."""

import importlib.util
import os

# one thread of linear algebra per test process, set before NumPy is loaded: threads that wait for
# busy cores cost far more than they save
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

import browser as real_browser
from browser import browser, page  # noqa: F401  fixtures for every folder
from carried import compiles  # noqa: F401

settings.register_profile(
    "armature",
    deadline=None,  # the first example may compile
    derandomize=True,  # the same examples on every machine
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)
settings.load_profile("armature")

NO_BROWSER = "no Chromium on this machine (Debian: apt-get install chromium)"
NO_DRIVER = "Playwright is not installed (pip install playwright)"


def why_no_browser() -> str:
    """What is missing for tests in a browser, nothing where they can run."""
    if importlib.util.find_spec("playwright") is None:
        return NO_DRIVER
    return "" if real_browser.executable() else NO_BROWSER


# Files whose single tests take longest, or wait: they begin first, so that at the end no worker
# waits for another's long test.
LONGEST = (
    "test_app_in_browser.py",
    "test_crafted.py",
    "test_dask.py",
    "test_cli_study.py",
    "test_docs.py",
    "test_examples.py",
)


def pytest_collection_modifyitems(items):
    """Long tests come first; tests in a browser run wherever there is one."""
    items.sort(
        key=lambda item: (
            LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST)
        )
    )
    missing = why_no_browser()
    for item in items:
        if missing and {"browser", "page"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.skip(reason=f"browser tests cannot run: {missing}"))


def pytest_terminal_summary(terminalreporter):
    """Say it clearly when tests in a browser did not run."""
    if why_no_browser():
        terminalreporter.write_line(f"BROWSER TESTS DID NOT RUN: {why_no_browser()}", red=True)
