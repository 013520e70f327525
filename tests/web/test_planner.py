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
from armature.web.wish import first_wish, hand


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
    assert wish.duration in curve.durations  # the plan is one of its points
    assert len(curve.durations) == planners.POINTS + 1 and np.isfinite(curve.energies).all()


def test_hundred_quick_changes_end_with_the_last_one(ear, wish):
    for k in range(100):
        ear.planner.ask(replace(wish, duration=0.5 + 0.01 * k), None, curve=False)
    heard = ear.until(done)
    plans = [value for what, value, _ in heard if what == "plan"]
    assert plans[-1].duration == pytest.approx(1.49) and len(plans) < 20
    assert all(what != "problem" for what, *_ in heard)


@pytest.mark.parametrize(("hurry", "most"), [(0.0, 2), (0.2, 4)])
def test_newer_wish_stops_a_search_that_has_run_for_a_moment(ear, wish, monkeypatch, hurry, most):
    running, steps = threading.Event(), []
    search = planners.draft

    def slow(wish, guess, watch, deadline=None):
        def slowly(iteration):
            running.set()
            steps.append(iteration.number)
            time.sleep(0.15)
            watch(iteration)

        return search(wish, guess, slowly)

    monkeypatch.setattr(planners, "draft", slow)
    monkeypatch.setattr(planners, "HURRY", hurry)
    ear.planner.ask(wish, None, curve=False)
    assert running.wait(30.0)
    before = len(steps)
    ear.planner.ask(replace(wish, duration=2.0), None, curve=False)
    plan = next(
        value for what, value, _ in ear.until(lambda what, *_: what == "plan") if what == "plan"
    )
    assert plan.duration == pytest.approx(
        2.0
    )  # the first plan to be told is that of the newer wish
    assert steps[before:].index(0) <= most  # the older search ended within so many steps of 150 ms


def test_plans_appear_during_a_drag_and_the_last_one_is_for_where_it_ended(ear, wish):
    ear.planner.ask(wish, None, curve=False)
    ear.until(done)
    for k in range(50):  # a hand that never rests, 1 s long
        ear.planner.ask(replace(wish, goal=wish.goal + 0.004 * k), None, curve=False)
        time.sleep(0.02)
    during = [value for what, value, _ in list(ear.news.queue) if what == "plan"]
    assert len(during) >= 3 and all(plan.ok for plan in during)
    places = [plan.trajectory.q[-1][0] for plan in during]
    assert places == sorted(places)
    plans = [value for what, value, _ in ear.until(done) if what == "plan"]
    np.testing.assert_allclose(plans[-1].trajectory.q[-1], wish.goal + 0.196, atol=1e-9)


def test_plan_that_takes_long_is_shown_unfinished_first(ear, wish, monkeypatch):
    ear.planner.ask(wish, None, curve=False)
    ear.until(done)
    monkeypatch.setattr(planners, "HURRY", 1e-4)
    ear.planner.ask(replace(wish, duration=1.3), None, curve=False)
    told = [(what, value) for what, value, _ in ear.until(done) if what in ("sketch", "plan")]
    assert [what for what, _ in told] == ["sketch", "plan", "plan"]
    assert not told[0][1].status.optimal and told[1][1].ok
    assert np.isfinite(told[0][1].trajectory.q).all()


@pytest.mark.parametrize(
    "error",
    [RuntimeError("boom"), ArgumentError("that cannot be"), ZeroDivisionError(), MemoryError()],
)
def test_failing_solver_is_a_sentence_and_the_next_plan_is_made(ear, wish, monkeypatch, error):
    def fails(*_, **__):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr("armature.job.job.Job.run", fails)
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


def test_least_time_is_quick_first_and_then_searched_for_from_many_motions(ear, wish):
    ear.planner.ask(replace(wish, objective="time"), None, curve=False)
    heard = ear.until(done)
    plans = [value for what, value, _ in heard if what == "plan"]
    reference = arm.minimize_time(wish.robot, arm.Move(wish.start, wish.goal), knots=100)
    assert plans[-1].ok and plans[-1].duration <= reference.duration * 1.001
    assert [value for what, value, _ in heard if what == "note"] == [
        "Other ways were tried: none is shorter."
    ]


def test_shorter_motion_of_the_long_search_replaces_the_quick_one_proved_and_told(
    ear, wish, monkeypatch
):
    search = planners.minimize_time

    def worse(
        robot, task, *args, starts=None, **settings
    ):  # the quick search finds another branch, slower by a tenth
        found = search(robot, task, *args, starts=starts, **settings)
        if starts is None:
            return found
        return arm.minimize_energy(robot, replace(task, duration=1.1 * found.duration), knots=40)

    monkeypatch.setattr(planners, "minimize_time", worse)
    ear.planner.ask(replace(wish, objective="time"), None, curve=False)
    told = [
        (what, value) for what, value, _ in ear.until(done) if what in ("plan", "certified", "note")
    ]
    assert [what for what, _ in told] == ["plan", "plan", "certified", "plan", "certified", "note"]
    assert told[3][1].duration < 0.95 * told[1][1].duration and told[4][1].certificate.ok
    assert f"shorter than the first one found ({told[1][1].duration:.3g} s)" in told[5][1]


@pytest.mark.parametrize("way", ["line", "arc"])
def test_hand_follows_the_way_that_is_asked_for(ear, way):
    wish = first_wish(arm.library("scara"))
    wish = replace(wish, goal=0.7 * wish.start + 0.3 * wish.goal, way=way)
    ear.planner.ask(wish, None)
    heard = ear.until(done)
    assert not [value for what, value, _ in heard if what == "problem"]
    plan = [value for what, value, _ in heard if what == "certified"][-1]
    p = arm.pose(plan.robot, plan.trajectory.q, hand(plan.robot)).p
    along, length = p[-1] - p[0], np.linalg.norm(p[-1] - p[0])
    off = np.linalg.norm(np.cross(p - p[0], along / length), axis=1)
    assert plan.ok and (
        off.max() < 1e-5 if way == "line" else 0.24 * length < off.max() < 0.26 * length
    )
    np.testing.assert_allclose(
        p[-1], arm.pose(wish.robot, wish.goal, hand(wish.robot)).p, atol=1e-6
    )


def test_plan_of_a_six_axis_arm_appears_within_half_a_second_of_a_change():
    """Processor time of this thread, once kernels are compiled: from the last plan as a guess, with
    the knots of a drag."""
    wish = first_wish(arm.library("six_axis"))
    draft = lambda wish, guess: planners.draft(wish, guess, lambda iteration: None)
    last = draft(wish, None)
    times = []
    for k in range(3):
        goal = wish.goal + 0.03 * (k + 1)
        begin = time.thread_time()
        plan = draft(replace(wish, goal=goal), last.trajectory)
        times.append(time.thread_time() - begin)
        assert plan.ok
    assert min(times) < 0.5


def test_way_that_the_hand_cannot_go_is_told_in_words(ear):
    high = first_wish(arm.library("scara"))
    ends = {
        end: np.where(np.arange(4) == 2, 0.01, getattr(high, end)) for end in ("start", "goal")
    }  # 1 cm below the top of the stroke
    wish = replace(high, **ends, way="arc")  # above the line, the stroke is too short
    ear.planner.ask(wish, None)
    (problem,) = [value for what, value, _ in ear.until(done) if what == "problem"]
    assert "stroke" in problem and "this way" in problem


# the mailbox -------------------------------------------------------------------------------------


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
