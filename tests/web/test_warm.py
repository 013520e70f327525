"""Compiling ahead in another process: what may be asked for next is in the cache, and the process
never outlives the server."""

import os
import subprocess
import sys
import time

import pytest

import armature as arm
from armature.study.worker import send
from armature.web import warm
from armature.web.planner import draft
from armature.web.wish import first_wish


def gone(pid):
    """Whether there is no such process, not even a dead one that nobody waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def test_what_may_be_asked_next_is_other_supplies_the_least_time_a_line_and_the_curve(monkeypatch):
    asked = []
    monkeypatch.setattr(
        warm,
        "draft",
        lambda wish, guess, watch: (
            asked.append((wish.supply, wish.objective, wish.way)) or draft_of(wish)
        ),
    )
    monkeypatch.setattr(
        warm, "curve", lambda wish, least, points: asked.append(("curve", wish.supply))
    )
    wish = first_wish(arm.library("planar2"))

    def draft_of(wish):
        return draft(wish, None, lambda iteration: None)

    for make in warm.next_wishes(wish):
        make()
    assert asked == [
        ("non-regenerative", "energy", "free"),
        ("regenerative", "energy", "free"),
        (None, "time", "free"),
        (None, "energy", "line"),
        ("curve", "non-regenerative"),
        ("curve", "regenerative"),
    ]


def test_kernels_come_to_the_disk_and_the_process_ends_with_the_warmer(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMATURE_CACHE", str(tmp_path))
    warmer = warm.Warmer()
    wish = first_wish(arm.library("planar2"))
    warmer.ask(wish)
    assert until(lambda: warmer._process is not None)
    pid = warmer._process.pid
    warmer.ask(wish)  # once for every robot
    assert not warmer._waiting
    assert until(lambda: len(list(tmp_path.rglob("*.kernel"))) >= 2)
    warmer.close()
    assert gone(pid) and not warmer.busy
    warmer.ask(first_wish(arm.library("scara")))
    assert not warmer.busy


def test_process_ends_when_the_server_dies_without_a_word():
    process = subprocess.Popen([sys.executable, "-m", "armature.web.warm"], stdin=subprocess.PIPE)
    send(process.stdin, first_wish(arm.library("six_axis")))
    process.stdin.close()  # as the end of the server closes it
    try:
        assert process.wait(timeout=30.0) == 0
    finally:
        process.kill()


def test_server_without_room_for_a_process_goes_on(monkeypatch):
    def full(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", full)
    warmer = warm.Warmer()
    warmer.ask(first_wish(arm.library("planar2")))
    assert until(lambda: not warmer.busy, 10.0)
    warmer.close()


@pytest.mark.parametrize("name", ["planar2", "six_axis"])
def test_robots_with_a_supply_of_their_own_are_sent_as_they_are(name):
    import pickle

    wish = first_wish(arm.library(name))
    again = pickle.loads(pickle.dumps(wish))
    assert again.robot == wish.robot and again.supply == wish.supply
