"""`armature view`: the app in the browser."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import typer

from armature.cli.inputs import ARG, DRIVES, SCENE, arguments_of
from armature.cli.output import answer, say
from armature.errors import ArmatureWarning

LOCAL = ("127.0.0.1", "localhost", "::1")


def view(
    what: str | None = typer.Argument(
        None,
        help="robot (name or file), task, program or cell file, saved plan, or study; by default a"
        " six-axis arm",
    ),
    host: str = typer.Option(
        "127.0.0.1",
        help="address to serve at; others than this machine's own are open to the network",
    ),
    port: int = typer.Option(0, help="port; any free one by default", min=0, max=65535),
    meshes: list[Path] = typer.Option(
        [], help="folder that meshes may be read from, besides the robot's own; may be repeated"
    ),
    drives: Path | None = DRIVES,
    arg: list[str] | None = ARG,
    scene: Path | None = SCENE,
    browser: bool = typer.Option(True, help="open the page in the browser"),
) -> None:
    """Plan in the browser: drag the start and the goal, see the motion, what it costs and whether
    it is proved. Works offline."""
    from armature.web.browser import show
    from armature.web.opening import opened
    from armature.web.server import Server

    if host not in LOCAL:
        text = (
            f"served at {host}: whoever learns the address can use this page, and what goes over"
            " the network is not encrypted"
        )
        warnings.warn(text, ArmatureWarning, stacklevel=2)
    server = Server(opened(what, tuple(meshes), drives, arguments_of(arg), scene), host, port)
    try:
        say(
            f"Open {server.address}",
            "The address holds a secret: it is for you alone. End with Ctrl-C.",
        )
        answer({"address": server.address})
        sys.stdout.flush()  # whoever started this in a pipe waits for the address
        if browser:
            show(server.address)
        server.wait()
    except KeyboardInterrupt:
        say("")
    finally:
        server.stop()
