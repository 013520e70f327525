"""The app under 200 connections, slow clients, malformed messages and closed tabs goes on serving
whoever has the secret."""

from __future__ import annotations

import contextlib
import http.client
import socket

import pytest
import viser
from websockets.sync.client import connect

from armature.web.gate import Gate, guarded_viser

PROTOCOL = f"viser-v{viser.__version__}"


@pytest.fixture
def gate():
    gate = Gate()
    server = guarded_viser(gate, 0)
    yield gate
    server.stop()


def status(gate: Gate) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", gate.port, timeout=30)
    try:
        connection.request("GET", f"/{gate.token}/")
        return connection.getresponse().status
    finally:
        connection.close()


def opened(gate: Gate, data: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", gate.port), timeout=30)
    client.sendall(data)
    return client


def test_two_hundred_slow_clients_do_not_stop_the_page(gate: Gate) -> None:
    clients = [
        opened(gate, f"GET /{gate.token}/ HTTP/1.1\r\nHost: 127".encode()) for _ in range(200)
    ]  # and never the rest
    assert status(gate) == 200
    for client in clients:
        client.close()
    assert status(gate) == 200


def test_malformed_requests_do_not_stop_the_page(gate: Gate) -> None:
    lines = [
        b"\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"x" * 100_000,
        b"\r\n" * 50,
    ]
    for line in lines:
        client = opened(gate, line)
        client.settimeout(2)
        with contextlib.suppress(OSError):
            assert b"200 OK" not in client.recv(1000)
        client.close()
    assert status(gate) == 200


def test_malformed_messages_and_closed_tabs_do_not_stop_the_page(gate: Gate) -> None:
    address = f"ws://127.0.0.1:{gate.port}/{gate.token}/"
    origin = f"http://127.0.0.1:{gate.port}"
    for message in (
        b"\xc1",
        b"",
        b"\x81" * 1000,
        "text",
        b"\xdd\xff\xff\xff\xff",
        b"\x93" + b"\x90" * 5000,
    ):
        with connect(address, origin=origin, subprotocols=[PROTOCOL], open_timeout=30) as socket:  # type: ignore[arg-type,list-item]
            socket.send(message)
    for _ in range(20):
        connect(address, origin=origin, subprotocols=[PROTOCOL], open_timeout=30).socket.close()  # type: ignore[arg-type,list-item]
    assert status(gate) == 200
