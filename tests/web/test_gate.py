"""The gate, tried with real requests and a real WebSocket client: only this machine's own page with
the secret gets in."""

import http.client

import pytest
import viser
from viser import _messages
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from armature.web import gate as gates
from armature.web.gate import Gate, GateError, guarded_viser

PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture(scope="module")
def guarded():
    gate = Gate()
    server = guarded_viser(gate, 0)
    yield gate, server
    server.stop()


def get(gate, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def cases(gate):
    """What a request says → whether it is welcome: path, Host, Origin."""
    here, home, page = f"127.0.0.1:{gate.port}", f"http://127.0.0.1:{gate.port}", f"/{gate.token}/"
    return {
        "all right": (page, here, home, True),
        "localhost": (page, f"localhost:{gate.port}", f"http://localhost:{gate.port}", True),
        "no secret": ("/", here, home, False),
        "wrong secret": (f"/{'x' * len(gate.token)}/", here, home, False),
        "part of the secret": (f"/{gate.token[:-1]}/", here, home, False),
        "secret as a query": (f"/?token={gate.token}", here, home, False),
        "foreign page": (page, here, "https://example.org", False),
        "page on another port of this machine": (page, here, "http://127.0.0.1:1", False),
        "page from a file": (page, here, "null", False),
        "re-pointed name": (
            page,
            f"example.org:{gate.port}",
            f"http://example.org:{gate.port}",
            False,
        ),
        "name without port": (page, "127.0.0.1", "http://127.0.0.1", False),
    }


CASES = list(cases(Gate()))


@pytest.mark.parametrize("case", CASES)
def test_page_is_for_the_holder_of_the_secret_on_this_machine(guarded, case):
    gate, _ = guarded
    path, host, origin, welcome = cases(gate)[case]
    answer, body = get(gate, path, Host=host, Origin=origin)
    assert answer.status == (200 if welcome else 403)
    assert (b"<html" in body) is welcome


@pytest.mark.parametrize("case", CASES)
def test_websocket_is_for_the_page_itself(guarded, case):
    gate, _ = guarded
    path, host, origin, welcome = cases(gate)[case]
    # a socket to this machine that claims another name, as a browser does whose DNS was changed
    import socket

    raw = socket.create_connection(("127.0.0.1", gate.port), timeout=20)
    try:
        with connect(
            f"ws://{host}{path}", sock=raw, origin=origin, subprotocols=[PROTOCOL], open_timeout=20
        ) as ws:
            assert welcome and ws.subprotocol == PROTOCOL
    except InvalidStatus as refused:
        assert not welcome and refused.response.status_code == 403


def test_websocket_without_an_origin_is_refused(guarded):
    gate, _ = guarded
    with (
        pytest.raises(InvalidStatus),
        connect(f"ws://127.0.0.1:{gate.port}/{gate.token}/", subprotocols=[PROTOCOL]),
    ):
        pass


def test_page_may_talk_to_this_machine_only_and_be_framed_by_none(guarded):
    gate, _ = guarded
    answer, _ = get(gate, f"/{gate.token}/")
    policy = answer.headers["Content-Security-Policy"]
    assert (
        f"connect-src 'self' ws://127.0.0.1:{gate.port}" in policy
        and "frame-ancestors 'none'" in policy
    )
    assert "http:" not in policy and "https:" not in policy and "*" not in policy
    assert (
        answer.headers["Referrer-Policy"] == "no-referrer"
    )  # the secret does not leave in a header


def test_files_outside_the_page_are_not_served(guarded):
    gate, _ = guarded
    for path in (
        "../../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%5c..%5cetc/passwd",
        "/etc/passwd",
    ):
        answer, body = get(gate, f"/{gate.token}/{path}")
        assert answer.status in (403, 404) and b"root:" not in body


def test_clicks_pass_the_gate_too(guarded):
    gate, _ = guarded
    heard = []
    gate.act = lambda path: heard.append(path) is None and path == "0/duration/1.5"
    assert get(gate, f"/{gate.token}/do/0/duration/1.5")[0].status == 204
    assert get(gate, f"/{gate.token}/do/nonsense")[0].status == 404
    assert get(gate, "/do/0/duration/1.5")[0].status == 403
    assert (
        get(gate, f"/{gate.token}/do/0/duration/1.5", Origin="https://example.org")[0].status == 403
    )
    assert heard == ["0/duration/1.5", "nonsense"]


def test_no_browser_can_lend_the_page_to_the_internet(guarded):
    _, server = guarded
    handlers = server._websock_server._incoming_handlers
    assert not handlers.get(_messages.ShareUrlRequest)


def test_page_that_cannot_be_guarded_is_not_served(monkeypatch):
    serve = gates.sockets.serve

    class Unguarded(viser.ViserServer):
        """A viser whose server is made in a way that the doorman does not notice."""

        def __init__(self, **options):
            gates.sockets.serve = serve
            super().__init__(**options)

    monkeypatch.setattr(viser, "ViserServer", Unguarded)
    with pytest.raises(GateError, match="cannot be guarded"):
        guarded_viser(Gate(), 0)


def test_secrets_are_long_and_new_every_time():
    tokens = {Gate().token for _ in range(100)}
    assert len(tokens) == 100 and min(map(len, tokens)) >= 32


def test_only_addresses_name_a_server_that_is_open_to_the_network():
    gate = Gate("0.0.0.0", port=8000)
    page = f"/{gate.token}/"
    assert gate.why_not(page, {"Host": "192.168.1.7:8000"}) == ""
    assert "not this machine" in gate.why_not(page, {"Host": "example.org:8000"})
    assert gate.address.startswith("http://127.0.0.1:8000/")
