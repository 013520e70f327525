"""`armature view` from the command line."""

import functools
import re
import signal
import subprocess
import sys
import urllib.request
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from armature.cli import view as verb
from armature.errors import ArmatureError, ArmatureWarning
from armature.optimize.transcription.task import Move
from armature.web import server as servers
from armature.web.opening import opened
from armature.web.session import Session
from armature.web.words import card


def test_command_serves_its_page_and_ends_by_ctrl_c():
    command = [sys.executable, "-m", "armature", "view", "planar2", "--no-browser"]
    # a shell that starts the tests in the background has told them to ignore Ctrl-C, which a child
    # inherits
    heard = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard
    )
    try:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{32,}/", line).group()
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130) and "Traceback" not in errors


class Noted:
    """In place of a server: notes how it would be bound."""

    address = "http://127.0.0.1:1/secret/"
    hosts: ClassVar[list[str]] = []

    def __init__(self, opening, host, port):
        self.hosts.append(host)

    def wait(self):
        raise KeyboardInterrupt

    def stop(self):
        pass


def test_page_is_bound_to_this_machine_unless_told_otherwise_with_a_warning(monkeypatch):
    monkeypatch.setattr(servers, "Server", Noted)
    verb.view("planar2", "127.0.0.1", 0, [], None, None, None, browser=False)
    with pytest.warns(ArmatureWarning, match="not encrypted"):
        verb.view("planar2", "0.0.0.0", 0, [], None, None, None, browser=False)
    assert Noted.hosts == ["127.0.0.1", "0.0.0.0"]


def test_task_file_is_opened(tmp_path):
    (tmp_path / "task.yaml").write_text(
        "robot: planar2\nmove: {start: [-0.5, 0.4], goal: [0.5, -0.4], duration: 1.1 s}\nsupply:"
        " non-regenerative\n"
    )
    wish = opened(str(tmp_path / "task.yaml")).wish
    assert (
        wish.duration == 1.1
        and wish.supply == "non-regenerative"
        and wish.goal.tolist() == [0.5, -0.4]
    )


def test_via_points_and_end_velocities_of_a_task_are_kept(tmp_path):
    via = "via: [{configuration: [0.1, 0.3], at: 0.4 s}], goal_velocity: [0.2, 0]"
    move = f"move: {{start: [-0.5, 0.4], goal: [0.5, -0.4], duration: 1 s, {via}}}"
    (tmp_path / "task.yaml").write_text(f"robot: planar2\npayload: 2 kg\n{move}\n")
    wish = opened(str(tmp_path / "task.yaml")).wish
    slower = replace(wish, duration=2.0, goal=np.array([0.6, -0.4])).task
    assert (
        isinstance(slower, Move) and slower.goal.tolist() == [0.6, -0.4] and slower.duration == 2.0
    )
    assert [stop.at for stop in slower.via] == [0.8] and slower.vectors(wish.robot).v1.tolist() == [
        0.2,
        0.0,
    ]
    assert "1 via point." in card(Session(wish), "") and "carries 2 kg of its own" in card(
        Session(wish), ""
    )


@pytest.mark.parametrize(
    "what", ["nothing.urdf", "nothing.db", "nothing.npz", "no_such_robot", "nothing.yaml"]
)
def test_what_cannot_be_opened_is_told_in_words(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArmatureError):
        opened(what)
