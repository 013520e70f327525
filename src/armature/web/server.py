"""The server: a guarded viser with one desk for every browser."""

from __future__ import annotations

import contextlib
import io
import math
import threading
import warnings
from typing import Any

from armature.errors import ArgumentError, MissingExtraError
from armature.web.cell.work import CellWork
from armature.web.opening import Opening, opened
from armature.web.warm import Warmer

MOST_BROWSERS = 16
PATIENCE = 20.0  # seconds that a compilation may still take when the server ends


class Server:
    """The app, running. address: what to open in the browser, with this run's secret."""

    def __init__(self, opening: Opening | None = None, host: str = "127.0.0.1", port: int = 0):
        try:
            from armature.web.gate import Gate, guarded_viser
        except ImportError:
            raise MissingExtraError("the app", "viser", "app") from None
        # a tab that is closed while something is drawn for it is nothing to warn about
        warnings.filterwarnings(
            "ignore", message="Queued a .* on a closed connection", category=UserWarning
        )
        self._opening, self._desks = opening or opened(), {}
        cell = self._opening.cell
        self._work = CellWork(cell) if cell is not None else None
        self._warmer = Warmer()
        self._leaving: list[Any] = []  # desks whose threads are still giving up
        self._lock = threading.Lock()
        self._gate = Gate(host)
        self._gate.act = self._clicked
        self._viser = guarded_viser(self._gate, port)
        self._viser.on_client_connect(self._came)
        self._viser.on_client_disconnect(self._went)

    @property
    def address(self) -> str:
        """The page, with its secret."""
        return self._gate.address

    @property
    def desks(self) -> dict[int, Any]:
        """The desks of the browsers that are connected, by client number."""
        with self._lock:
            return dict(self._desks)

    def stop(self) -> None:
        """End it: all desks, then the server."""
        with self._lock:
            gone = [*self._desks.values(), *self._leaving]
            self._desks.clear()
        self._warmer.close()
        if self._work is not None:
            self._work.close()
        for desk in gone:
            desk.close()
        with contextlib.redirect_stdout(io.StringIO()):
            self._viser.stop()
        for desk in gone:
            desk.join(PATIENCE)

    def wait(self) -> None:
        """Serve until interrupted."""
        threading.Event().wait()

    def _came(self, client: Any) -> None:
        from armature.web.cell.desk import CellDesk
        from armature.web.desk import LARGEST_UPLOAD, Desk
        from armature.web.gate import limit_uploads

        if len(self.desks) >= MOST_BROWSERS:
            client.gui.add_markdown(
                f"**{MOST_BROWSERS} pages are open already**: close one of them and load this page"
                " again."
            )
            return
        limit_uploads(client, LARGEST_UPLOAD)
        desk: Any = (
            Desk(client, self._opening, f"do/{client.client_id}/", self._warmer)
            if self._work is None
            else CellDesk(client, self._work, self._opening.mesh_folders)
        )
        with self._lock:
            self._desks[client.client_id] = desk

    def _went(self, client: Any) -> None:
        with self._lock:
            desk = self._desks.pop(client.client_id, None)
            self._leaving = [d for d in (*self._leaving, desk) if d is not None and d.alive]
        if desk is not None:
            desk.close()

    def _clicked(self, path: str) -> bool:
        """What the page itself asks for: <client>/duration/<seconds> by a click on the curve,
        <client>/theme/<light or dark>."""
        number, _, (what, _, value) = (
            *path.partition("/")[:2],
            path.partition("/")[2].partition("/"),
        )
        desk = self.desks.get(int(number)) if number.isascii() and number.isdecimal() else None
        if desk is None:
            return False
        if what == "theme" and value in ("light", "dark"):
            desk.act("theme", value)
            return True
        with contextlib.suppress(ValueError):
            seconds = float(value) if what == "duration" else math.nan
            if 0.0 < seconds <= 1000.0:
                desk.act("duration", seconds)
                return True
        return False


def view(what: str | None = None, host: str = "127.0.0.1", port: int = 0) -> Server:
    """Start the app with a robot (name or file), a task file, a saved plan or a study; see
    `Server`."""
    if not 0 <= port <= 65535:
        raise ArgumentError(f"port = {port} must lie between 0 (any free one) and 65535")
    return Server(opened(what), host, port)
