"""The planning thread: the newest wish wins, older ones are given up, and no failure ends it."""

import queue
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.errors import ArgumentError
from armature.web import planner as planners
from armature.web.mailbox import Mailbox
from armature.web.planner import Planner
from armature.web.session import first_wish


class Ear:
    """Hears what a planner tells."""

    def __init__(self):
        self.news = queue.Queue()
        self.planner = Planner(lambda what, value, wish: self.news.put((what, value, wish)))

    def until(self, wanted, seconds=60.0):
        """All news up to the first for which `wanted` holds."""
        heard, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                heard.append(self.news.get(timeout=0.2))
            except queue.Empty:
                continue
            if wanted(*heard[-1]):
                return heard
        pytest.fail(f"not told within {seconds} s; heard {[h[0] for h in heard]}")


@pytest.fixture
def ear():
    ear = Ear()
    yield ear
    ear.planner.close()
    ear.planner.join(30.0)
    assert not ear.planner.alive


@pytest.fixture
def wish():
    return first_wish(arm.library("planar2"))


def done(what, value, wish):
    return what == "busy" and value == ""


def test_plan_then_proof_then_curve(ear, wish):
    ear.planner.ask(wish, None)
    told = [(what, value) for what, value, _ in ear.until(done) if what != "busy"]
    assert [what for what, _ in told] == ["plan", "plan", "certified", "least", "curve"]
    draft, fine = told[0][1], told[1][1]
    assert len(draft.trajectory) == planners.DRAFT + 1 and len(fine.trajectory) == planners.FINE + 1
    assert fine.certificate.ok and told[3][1] < wish.duration
    curve = told[4][1]
    assert len(curve.durations) == planners.POINTS and np.isfinite(curve.energies).all()


def test_hundred_quick_changes_end_with_the_last_one(ear, wish):
    for k in range(100):
        ear.planner.ask(replace(wish, duration=0.5 + 0.01 * k), None, curve=False)
    heard = ear.until(done)
    plans = [value for what, value, _ in heard if what == "plan"]
    assert plans[-1].duration == pytest.approx(1.49) and len(plans) < 20
    assert all(what != "problem" for what, *_ in heard)


def test_newer_wish_stops_a_search_that_runs(ear, wish, monkeypatch):
    running, steps = threading.Event(), []
    search = planners.Planner._draft

    def slow(self, wish, guess, watch):
        def slowly(iteration):
            running.set()
            steps.append(iteration.number)
            time.sleep(0.05)
            watch(iteration)

        return search(self, wish, guess, slowly)

    monkeypatch.setattr(planners.Planner, "_draft", slow)
    ear.planner.ask(wish, None, curve=False)
    assert running.wait(30.0)
    before = len(steps)
    ear.planner.ask(replace(wish, duration=2.0), None, curve=False)
    plan = next(value for what, value, _ in ear.until(lambda what, *_: what == "plan") if what == "plan")
    assert plan.duration == pytest.approx(2.0)  # the first plan to be told is that of the newer wish
    assert steps[before:].index(0) <= 2  # the older search ended within two steps


@pytest.mark.parametrize("error", [RuntimeError("boom"), ArgumentError("that cannot be"), ZeroDivisionError(), MemoryError()])
def test_failing_solver_is_a_sentence_and_the_next_plan_is_made(ear, wish, monkeypatch, error):
    def fails(*_, **__):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("armature.optimize.job.Job.run", fails)
        ear.planner.ask(wish, None, curve=False)
        heard = ear.until(done)
    assert any(what == "problem" and str(error) in value for what, value, _ in heard)
    ear.planner.ask(wish, None, curve=False)
    assert any(what == "plan" and value.ok for what, value, _ in ear.until(done))


def test_close_ends_a_search_that_runs(wish):
    ear = Ear()
    ear.planner.ask(first_wish(arm.library("six_axis")), None)
    ear.until(lambda what, *_: what == "busy")
    ear.planner.close()
    ear.planner.join(60.0)
    assert not ear.planner.alive


def test_least_time_is_planned_from_one_start_and_has_no_longer_duration(ear, wish):
    ear.planner.ask(replace(wish, objective="time"), None, curve=False)
    plans = [value for what, value, _ in ear.until(done) if what == "plan"]
    reference = arm.minimize_time(wish.robot, arm.Move(wish.start, wish.goal), knots=100)
    assert plans[-1].ok and plans[-1].duration == pytest.approx(reference.duration, rel=5e-3)


def test_plan_of_a_six_axis_arm_appears_within_half_a_second_of_a_change():
    """Processor time of this thread, once kernels are compiled: from the last plan as a guess, with the knots of a drag."""
    wish = first_wish(arm.library("six_axis"))
    draft = lambda wish, guess: planners.Planner._draft(None, wish, guess, lambda iteration: None)
    last = draft(wish, None)
    times = []
    for k in range(3):
        goal = wish.goal + 0.03 * (k + 1)
        begin = time.thread_time()
        plan = draft(replace(wish, goal=goal), last.trajectory)
        times.append(time.thread_time() - begin)
        assert plan.ok
    assert min(times) < 0.5


# the mailbox -------------------------------------------------------------------------------------------------------------


def test_letters_of_one_name_are_one_letter_and_failures_do_not_end_it():
    done, failures, gate = [], [], threading.Event()
    box = Mailbox(lambda: None, failures.append)
    box.post("wait", lambda: gate.wait(10))
    for k in range(100):
        box.post("slider", lambda k=k: done.append(k))
    box.post("bad", lambda: 1 / 0)
    last = threading.Event()
    box.post("last", last.set)
    gate.set()
    assert last.wait(10)
    assert done == [99] and [type(e) for e in failures] == [ZeroDivisionError]
    box.close()
    box.join(10)
    box.post("late", lambda: done.append("late"))
    assert done == [99]


def test_ticks_come_while_asked_for():
    ticks = threading.Semaphore(0)
    box = Mailbox(ticks.release, lambda e: None, rate=100.0)
    box.ticking = True
    box.post("wake", lambda: None)
    assert all(ticks.acquire(timeout=10) for _ in range(5))
    box.close()
    box.join(10)
