"""One Ctrl-C, whenever it comes, ends a plan with the best motion so far; a second one leaves at
once."""

import json
import os
import random
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import armature as arm
from armature.optimize.planner import pipeline
from armature.optimize.problem.interrupt import interrupted, planning, request_stop
from armature.optimize.problem.result import Status

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Ctrl-C as a signal is POSIX")

# a plan interrupted after a number of seconds of computing: busy machines change nothing
INTERRUPTED = """
import json, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a worker of pytest ignores it, and so would its child
import armature as arm
robot = arm.library("six_axis")
easy = arm.Move([0.0] * 6, [0.4] * 6, 1.5)
hard = arm.Move([0, -1.2, 1.2, 0, 0.5, 0], [1.5, -0.5, 0.8, 0.3, 0.2, 0.1], 0.6)
arm.minimize_energy(robot, easy, knots=20)
plans = {
    "energy": lambda: arm.minimize_energy(robot, hard, knots=40),
    "time": lambda: arm.minimize_time(robot, hard, knots=40),
    "ways": lambda: arm.ways_round(robot, easy, knots=20),
    "curve": lambda: arm.energy_time_curve(robot, easy, knots=20),
}
asked = json.loads(sys.argv[1])
whole = {}
for kind in {kind for kind, _ in asked}:
    found = plans[kind]()  # compiled before it is interrupted
    whole[kind] = found.status.name if hasattr(found, "status") else type(found).__name__
for kind, after in asked:
    signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_PROF, after)
    began = time.process_time()
    try:
        found = plans[kind]()
        how = found.status.name if hasattr(found, "status") else type(found).__name__
    except KeyboardInterrupt:
        how = "lost"
    late = time.process_time() - began - after
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps([kind, after, how, whole[kind], round(late, 2)]), flush=True)
"""


@pytest.fixture(autouse=True)
def terminal():
    """Ctrl-C as in a terminal: workers of pytest-xdist ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_at_any_moment_ends_the_plan_with_a_motion():
    rng = random.Random(1974)
    kinds = ["energy"] * 5 + ["time"] * 5 + ["ways", "curve"]
    asked = [(kind, round(rng.uniform(0.01, 0.8), 3)) for kind in kinds]
    command = [sys.executable, "-c", INTERRUPTED, json.dumps(asked)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stderr
    ended = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(ended) == len(asked)
    for kind, after, how, whole, late in ended:
        assert how in ("INTERRUPTED", whole), (kind, after, how)  # whole: its search was over
        assert late < 10.0, f"{kind}: {late} s of computing after an interrupt at {after} s"
    assert any(how == "INTERRUPTED" for _, _, how, _, _ in ended)


def test_after_an_interrupt_no_search_is_begun(monkeypatch):
    robot = arm.library("planar2")
    lines = []

    def stop(line):
        lines.append(line)
        if len(lines) == 3:
            signal.raise_signal(signal.SIGINT)

    begun = []
    solve = pipeline.solve
    monkeypatch.setattr(
        pipeline,
        "solve",
        lambda *args, **kwargs: begun.append(interrupted()) or solve(*args, **kwargs),
    )
    plan = arm.minimize_time(robot, arm.Move([0.0, 0.0], [1.0, 1.0]), callback=stop)
    assert plan.status is Status.INTERRUPTED and not plan.ok and plan.diagnosis is None
    assert len(lines) == 3
    assert sum(begun) <= 3  # what was about to begin ends at its first iteration
    assert np.isfinite(plan.trajectory.q).all()
    assert not interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert arm.minimize_energy(
        robot, arm.Move([0.0, 0.0], [1.0, 1.0], 1.0), knots=20
    ).ok  # the next plan is whole


def test_a_second_interrupt_leaves_at_once():
    def stop(line):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        arm.minimize_energy(
            arm.library("planar2"), arm.Move([0.0, 0.0], [1.0, 1.0], 1.0), callback=stop
        )
    assert not interrupted()


def test_handlers_of_others_and_other_threads_are_left_alone():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with planning():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    seen = []
    with planning():
        request_stop()
        thread = threading.Thread(target=lambda: seen.append(interrupted()))
        thread.start()
        thread.join()
    assert seen == [False]
