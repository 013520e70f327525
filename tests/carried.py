"""For tests of payloads that are data of kernels: the same robot with constants only, and a count
of what is compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest

from armature.kernel import machine_code
from armature.robot.model import Robot


def merged(robot: Robot) -> Robot:
    """The same robot built by hand: masses with the payload in them and no mark, so that its
    kernels have constants."""
    return replace(robot, links=tuple(replace(link, payload=None) for link in robot.links))


@pytest.fixture
def compiles(tmp_path, monkeypatch) -> list[str]:
    """What was compiled so far, from an empty cache."""
    monkeypatch.setenv("ARMATURE_CACHE", str(tmp_path / "kernels"))
    found: list[str] = []
    assemble = machine_code.assemble

    def watched(text: str) -> bytes:
        found.append(text)
        return assemble(text)

    monkeypatch.setattr(machine_code, "assemble", watched)
    return found
