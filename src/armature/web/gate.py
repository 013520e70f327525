"""Who may see the page: a secret in the address, the machine's own name, and no foreign page
(requests for pages and WebSockets alike).

The address is http://127.0.0.1:port/secret/. Viser's page opens its WebSocket at the address of the
page, so that both carry the secret.
Viser itself asks nobody who they are: its server is made here with a doorman in front of every
request, and started only if he works."""

from __future__ import annotations

import contextlib
import hmac
import http
import http.client
import io
import ipaddress
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio import server as sockets
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from armature.errors import ArmatureError

MOST_MESSAGE = 8 * 2**20  # bytes of one WebSocket message
# nothing on the page may talk to another machine, and no other page may frame it
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://{host}"
    " wss://{host} data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none';"
    " object-src 'none'"
)
_making = threading.Lock()


class GateError(ArmatureError):
    """The page cannot be guarded, and is therefore not served."""


@dataclass
class Gate:
    """The doorman of one server.

    host: the address that is bound.  token: the secret of this run.  port: set when the server is
    bound.
    act: called with the path behind the token and /do/; False where it knows no such thing.
    """

    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    port: int = 0
    act: Callable[[str], bool] = lambda path: False

    @property
    def address(self) -> str:
        """What to open in the browser."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/{self.token}/"

    def why_not(self, path: str, headers: Any) -> str:
        """The reason for which a request is refused; empty for a welcome one."""
        given = path.partition("?")[0].strip("/").partition("/")[0]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return "the address lacks the secret that `armature view` printed; open that address"
        host = headers.get("Host", "")
        if not self._mine(host):
            return "the page was asked for under a name that is not this machine's"
        origin = headers.get("Origin")
        if (origin is not None or _upgrades(headers)) and origin not in (
            f"http://{host}",
            f"https://{host}",
        ):
            return "the request comes from another page"
        return ""

    def _mine(self, host: str) -> bool:
        """A Host header with our port and an address of this machine (a name could be re-pointed by
        whoever owns it)."""
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            return False
        name = name.strip("[]")
        if name in ("127.0.0.1", "localhost", "::1", self.host):
            return True
        return self.host in ("0.0.0.0", "::") and _is_address(name)

    def answer(self, request: Request) -> Response | None:
        """What is said at the door; None lets the request in, with the secret taken off its
        path."""
        if reason := self.why_not(request.path, request.headers):
            return _reply(http.HTTPStatus.FORBIDDEN, f"Refused: {reason}.\n")
        rest = request.path.partition("?")[0].strip("/").partition("/")[2]
        if rest.startswith("do/") and not _upgrades(request.headers):
            known = self.act(rest.removeprefix("do/"))
            return _reply(http.HTTPStatus.NO_CONTENT if known else http.HTTPStatus.NOT_FOUND, "")
        request.path = "/" + rest
        return None

    def checked(self, process: Callable[..., Response | None]) -> Callable[..., Response | None]:
        """Viser's way of answering requests, with the doorman in front."""

        def answer(connection: Any, request: Request) -> Response | None:
            host = request.headers.get("Host", "")
            response = self.answer(request) or process(connection, request)
            if response is not None:
                _seal(response.headers, host)
            return response

        return answer


def guarded_viser(gate: Gate, port: int) -> Any:
    """A viser server on gate.host whose every request passes the gate; `port` 0 takes a free one.
    GateError where that cannot be made."""
    import viser

    plain, made = sockets.serve, []

    def serve(handler: Any, *where: Any, process_request: Any = None, **options: Any) -> Any:
        if not str(getattr(handler, "__module__", "")).startswith("viser."):
            return plain(handler, *where, process_request=process_request, **options)
        made.append(handler)
        options["max_size"] = MOST_MESSAGE
        return plain(handler, *where, process_request=gate.checked(process_request), **options)

    with _making:
        sockets.serve = serve
        try:
            with contextlib.redirect_stdout(
                io.StringIO()
            ):  # it announces an address without the secret
                server = viser.ViserServer(host=gate.host, port=port, verbose=False)
        finally:
            sockets.serve = plain
    gate.port = server.get_port()
    if not made or not _refuses_strangers(gate):
        server.stop()
        raise GateError(
            "this version of viser cannot be guarded, so the page is not served; run: pip install"
            " 'viser>=1.1,<1.2'"
        )
    _close_share(server)
    return server


def _refuses_strangers(gate: Gate) -> bool:
    """A request without the secret is refused, one with it is welcome: tried out."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(gate.host, gate.host)
    codes = []
    for path in ("/", f"/{gate.token}/"):
        connection = http.client.HTTPConnection(host, gate.port, timeout=20)
        try:
            connection.request("GET", path)
            codes.append(connection.getresponse().status)
        except (OSError, http.client.HTTPException) as error:
            raise GateError(
                f"the server at {host}:{gate.port} does not answer ({error}); give another --port"
            ) from None
        finally:
            connection.close()
    return codes == [403, 200]


def _close_share(server: Any) -> None:
    """Viser can lend its page to the internet through a foreign server when a browser asks for it:
    never here."""
    from viser import _messages

    for kind in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(kind)


def limit_uploads(client: Any, most: int) -> None:
    """Files above `most` bytes are not accepted from this browser, whatever its page says."""
    from viser import _messages

    connection, start = client._websock_connection, client.gui._handle_file_transfer_start
    connection.unregister_handler(_messages.FileTransferStartUpload, start)

    def checked(client_id: Any, message: Any) -> None:
        if (
            0 <= message.size_bytes <= most
            and 0 <= message.part_count <= 1 + message.size_bytes // 1024
        ):
            start(client_id, message)

    connection.register_handler(_messages.FileTransferStartUpload, checked)


def _upgrades(headers: Any) -> bool:
    return "websocket" in headers.get("Upgrade", "").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _reply(status: http.HTTPStatus, text: str) -> Response:
    body = text.encode()
    headers = Headers(
        [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
    )
    return Response(status.value, status.phrase, headers, body)


def _seal(headers: Headers, host: str) -> None:
    headers["Content-Security-Policy"] = POLICY.format(
        host=host if _harmless(host) else "127.0.0.1"
    )
    headers["Referrer-Policy"] = "no-referrer"
    headers["X-Content-Type-Options"] = "nosniff"
    headers["X-Frame-Options"] = "DENY"
    headers["Cache-Control"] = "no-store"


def _harmless(host: str) -> bool:
    return all(c.isalnum() or c in ".:[]-" for c in host)
