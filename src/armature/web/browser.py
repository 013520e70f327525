"""The page is opened in the browser without its secret on any command line, where other users of
the machine could read it.

The browser is given a file that only this user can read; the file leads on to the page.
"""

from __future__ import annotations

import atexit
import contextlib
import html
import json
import os
import tempfile
import webbrowser
from pathlib import Path


def show(address: str) -> Path:
    """Open an address with a secret in the browser; returns the file that leads there, which is
    removed when the program ends."""
    descriptor, name = tempfile.mkstemp(
        prefix="armature-", suffix=".html", dir=_folder()
    )  # mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(_page(address))
    path = Path(name)
    atexit.register(lambda: path.unlink(missing_ok=True))
    with contextlib.suppress(webbrowser.Error):  # the address was printed: it can be opened by hand
        webbrowser.open(path.as_uri())
    return path


def _folder() -> str | None:
    """Where files of this user for the time of a session belong; by default that for temporary
    files."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    return folder if folder and os.access(folder, os.W_OK) else None


def _page(address: str) -> str:
    shown = html.escape(address)
    script = json.dumps(address).replace("<", "\\u003c")
    return (
        '<!doctype html><meta charset="utf-8"><meta name="referrer"'
        f' content="no-referrer"><title>Armature</title><script>location.replace({script})</script><p><a'
        f' href="{shown}">Open Armature</a></p>\n'
    )
