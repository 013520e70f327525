"""What a search for the least time ends with: nothing shorter, from any of several starts; prices that cost nothing any more."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.arms import arms
from benchmarks.moves import standing

from armature.optimize.certificate.certify import certify
from armature.optimize.planner import contest as of_contests
from armature.optimize.planner import min_time
from armature.optimize.planner.by_durations import PATIENT, UPWARDS, by_plans, motion_in
from armature.optimize.planner.contest import LITTLE, contested, hits
from armature.optimize.planner.detours import together
from armature.optimize.planner.effort import COUNTER, spent
from armature.optimize.planner.ladder import Rung, cubic_heat, kept, prices, share, sharpened
from armature.optimize.planner.mend import SHARE, deepened, mended
from armature.optimize.moves.least_time import free_problem, least_time
from armature.optimize.planner.plan import Planner
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move, Via
from armature.robot.library import library

PLANAR = Move([0.3, -1.0], [1.4, 0.8])


def wide(robot, move, knots=100, starts=None):
    """The wider search alone, which contests belong to."""
    return least_time(robot, move, knots, None, starts, None, None, None, None, wide=True)


def test_a_motion_that_is_not_the_shortest_is_beaten_and_the_shortest_is_not():
    robot = library("planar2").with_payload(0.5)
    least = wide(robot, PLANAR)
    assert any(f"{LITTLE:g} of this time" in note for note in least.notes)
    free = free_problem(move_problem(robot, PLANAR, "regenerative", 100, free=True))
    slow = replace(free, free=False, move=replace(PLANAR, duration=1.03 * least.duration))
    planner = Planner(Weights(time=1.0), Options(tolerance=1e-6, iterations=70))
    cool = replace(planner, weights=Weights(heat=1.0)).attempt(slow, slow.guess(least.trajectory))
    assert cool.ok and kept(cool)
    contest = contested(planner, free, cool, [])
    assert kept(contest.best) and contest.best.motion.duration == pytest.approx(least.duration, rel=2e-3)
    assert certify(robot, contest.best.motion).within_limits
    again = contested(planner, free, contest.best, ["before"])
    assert again.starts >= 4 and again.best is contest.best and again.told[0] == "before" and f"{again.starts} starts" in again.told[-1]


def test_no_contest_is_told_where_the_time_allowed_ran_out():
    robot = library("planar2").with_payload(0.5)
    free = free_problem(move_problem(robot, PLANAR, "regenerative", 50, free=True))
    least = wide(robot, PLANAR, starts=1)
    slow = replace(free, free=False, move=replace(PLANAR, duration=1.1 * least.duration))
    late = Planner(Weights(time=1.0), None, None, budget=spent() - 1.0)
    cool = replace(late, weights=Weights(heat=1.0)).attempt(slow, slow.guess(least.trajectory))
    contest = contested(late, free, cool, [])
    assert contest.best is cool and contest.starts == 0 and contest.told == []


def test_something_shorter_is_followed_for_as_long_as_it_is_found(monkeypatch: pytest.MonkeyPatch):
    found = iter([*((k, []) for k in range(8)), None])
    monkeypatch.setattr(of_contests, "challenger", lambda planner, problem, best: (next(found), 5))
    contest = contested(Planner(Weights(time=1.0)), None, -1, [])  # type: ignore[arg-type]
    assert contest.best == 7 and contest.starts == 5


def test_lower_prices_shorten_a_motion_whose_limits_between_knots_are_cured():
    """The price of jerk is a part of the cost; the duration is wrong by about as much."""
    robot = library("scara")
    free = free_problem(move_problem(robot, Move([0.2, -0.8, 0.02, 0.0], [1.1, 0.9, 0.1, 1.0]), "regenerative", 100, free=True))
    planner = Planner(Weights(time=1.0), Options(tolerance=1e-6, iterations=70))
    weights = prices(free, free.duration, cubic_heat(free))
    top = planner.attempt(free, free.guess(), weights=weights(30.0))
    calm = sharpened(planner, free, top, 10.0, 10.0)
    assert calm is not None
    best, notes = mended(planner, calm)
    deep, told = deepened(planner, best, notes)
    assert isinstance(best, Rung) and isinstance(deep, Rung) and kept(best) and kept(deep)
    assert share(best) > SHARE
    assert deep.price < best.price and share(deep) < 0.5 * share(best)
    assert deep.motion.duration < best.motion.duration
    assert best.motion.duration / deep.motion.duration - 1.0 < 3.0 * share(best)
    assert told[: len(notes)] == notes


def test_plans_of_given_durations_lead_past_a_stop_that_can_hardly_be_held():
    """97.6 % of the shoulder's torque at the stop, and limits of jerk: searches for the coolest or the shortest motion do not end there."""
    robot = library("six_axis").with_payload(13.8)
    stop = Via([0.879, -0.768, 0.888, -1.932, -0.762, 0.611], velocity=0.0)
    move = Move([-0.24, 0.503, 1.246, -1.631, -0.629, -0.774], [1.843, -2.6, 1.57, -2.6, -0.544, 2.537], via=[stop])
    problem = free_problem(move_problem(robot, move, "regenerative", 50, free=True))
    found = by_plans(Planner(Weights(time=1.0)), problem, 2.8)
    assert found is not None and kept(found[0]) and found[0].motion.duration < 3.0
    assert certify(robot, found[0].motion).within_limits


@pytest.mark.parametrize("reached", [True, False])
def test_a_motion_that_only_exceeds_limits_between_knots_leads_to_patient_plans(reached, monkeypatch):
    """Where plans found soon keep no limits, longer durations are given more computing; not where no motion reaches the goal at all."""
    robot = library("planar2").with_payload(0.5)
    problem = free_problem(move_problem(robot, PLANAR, "regenerative", 20, free=True))
    planner = Planner(Weights(heat=1.0), Options(tolerance=1e-4, iterations=60))
    timed = replace(problem, free=False, move=replace(PLANAR, duration=2.0))
    found = planner.attempt(timed, timed.guess())
    assert found.ok
    best = found if reached else replace(found, result=replace(found.result, status=Status.INFEASIBLE))
    calls = []

    def plans(planner, problem, first, upwards=UPWARDS, each=0.0):
        calls.append((min(upwards), each))
        return (found, ["patient"]) if each == PATIENT else None

    monkeypatch.setattr(min_time, "by_durations", lambda *_: None)
    monkeypatch.setattr(min_time, "by_plans", plans)
    _, notes = min_time.settled(planner, problem, best, ["before"])
    assert notes == (["patient"] if reached else ["before"])
    assert calls == [(1.0, 0.0), (1.3, PATIENT)][: 1 + reached]


def test_less_time_is_found_by_coolest_motions_that_are_cured_as_plans_are():
    """A ur5 whose elbow sets out beyond its current between two knots: by prices alone the search ends at 1.224 s."""
    d = arms()["ur5"]
    rng = np.random.default_rng(7025)
    rng.integers(8)
    rng.integers(2)
    robot = d.loaded(d.payload * float(rng.uniform()))
    least = wide(robot, Move(standing(robot, rng), standing(robot, rng)))
    assert least.ok and least.certificate.ok and least.duration < 1.2


def test_a_contest_passes_via_points_earlier_and_later_too():
    robot = library("planar2").with_payload(0.5)
    least = wide(robot, replace(PLANAR, via=[[0.6, 0.3]]), knots=50)
    assert least.ok and "from 11 starts" in least.notes[-1]


def test_a_motion_whose_limits_hold_inside_its_steps_leads_to_a_shorter_one():
    """Cures may ask for limits in the middle of steps, which is another model: its multipliers are those of the same model."""
    robot = library("planar2").with_payload(0.5)
    problem = free_problem(move_problem(robot, PLANAR, "regenerative", 20, free=True))
    planner = Planner(Weights(heat=1.0), Options(tolerance=1e-4, iterations=60))
    timed = replace(problem, free=False, dense=True, move=replace(PLANAR, duration=2.0))
    near = planner.attempt(timed, timed.guess())
    assert near.ok
    shorter = motion_in(planner, problem, 1.9, near)
    assert shorter is not None and kept(shorter[0]) and shorter[0].motion.duration == pytest.approx(1.9)


def test_a_contest_begins_in_wide_corners_of_lossy_gears_too():
    """Lossless gears have no corners: nine starts instead of eight."""
    robot = library("planar2").with_payload(0.5)
    lossy = robot.with_drives({c.joints[0]: replace(c.drives[0], gear=replace(c.drives[0].gear, efficiency=0.8)) for c in robot.drives})
    planner = Planner(Weights(time=1.0), Options(tolerance=1e-5, iterations=70))
    counts = []
    for each in (robot, lossy):
        free = free_problem(move_problem(each, PLANAR, "regenerative", 20, free=True))
        slow = replace(free, free=False, move=replace(PLANAR, duration=2.0))
        cool = replace(planner, weights=Weights(heat=1.0)).attempt(slow, slow.guess())
        assert cool.ok
        counts.append(len(list(hits(planner, free, cool))))
    assert counts == [8, 9]


def test_with_all_joints_bent_at_once_a_motion_is_found_that_the_joint_cubic_does_not_lead_to():
    """A random chain whose joints change sides together in its shortest motion: in half a per cent less than was found without that."""
    robot = arms()["chain1"].loaded(1.95)
    task = MoveProblem(robot, Move([-1.55, -0.88, -0.24, 0.07], [0.74, 0.85, -0.56, -1.85], duration=1.5982), "regenerative", 50)
    coolest = lambda motion: Planner(Weights(heat=1.0)).attempt(task, task.guess(motion), of_contests.QUICK, rigid=True)
    ways = together(task)
    assert not coolest(None).ok
    assert any(coolest(motion).ok for motion in ways)
    bumps = [way.q - task.straight.q for way in ways]
    assert len(ways) == 6 and all(np.all(np.abs(bump).max(axis=0) > 0.05) for bump in bumps)  # every joint takes part
    assert all(np.all(bump[[0, -1]] == 0.0) for bump in bumps)
    low, high = np.array([[robot.joint(name).limits.lower, robot.joint(name).limits.upper] for name in robot.joint_names]).T
    assert all(np.all((low < way.q) & (way.q < high)) for way in ways)


def slow_motion(part):
    """A planner, the problem of free duration, and the coolest motion in so many times the least time, about."""
    robot = library("planar2").with_payload(0.5)
    free = free_problem(move_problem(robot, PLANAR, "regenerative", 100, free=True))
    least = wide(robot, PLANAR, starts=1)
    slow = replace(free, free=False, move=replace(PLANAR, duration=part * least.duration))
    planner = Planner(Weights(time=1.0), Options(tolerance=1e-6, iterations=70))
    cool = replace(planner, weights=Weights(heat=1.0)).attempt(slow, slow.guess(stretched(least.trajectory, slow.duration)))
    assert cool.ok and kept(cool), cool.worst
    return planner, free, cool


def test_a_contest_ends_with_a_plan_of_least_energy_and_ever_shorter_motions(monkeypatch):
    """What no search for the coolest motion finds: the plan is the last challenger, and what it finds is followed."""
    planner, free, cool = slow_motion(1.1)
    monkeypatch.setattr(of_contests, "hits", lambda *_: iter(()))
    contest = contested(planner, free, cool, [])
    assert kept(contest.best) and contest.best.motion.duration < 0.95 * cool.motion.duration
    assert of_contests.by_plan(planner, free, cool.motion.duration, 0.99 * cool.motion.duration) is None  # what is longer does not count


@pytest.mark.parametrize("doubt", [0.0, np.inf])
def test_a_motion_that_cannot_be_cured_leaves_computing_to_prices_which_follow_what_promises_much(doubt, monkeypatch):
    """Cures of a hit may use all they are given; what is much shorter is mended however far it exceeds limits between knots at first."""
    planner, free, cool = slow_motion(1.1)

    def in_vain(planner, *_):
        COUNTER.spent = max(spent(), planner.budget) + 1e-3

    monkeypatch.setattr(of_contests, "motion_in", in_vain)
    monkeypatch.setattr(of_contests, "by_plan", lambda *_: None, raising=False)
    monkeypatch.setattr(of_contests, "merit", lambda low: low.motion.duration + doubt)
    contest = contested(planner, free, cool, [])
    assert kept(contest.best) and contest.best.motion.duration < 0.95 * cool.motion.duration


def test_a_motion_that_had_to_be_run_slower_is_sought_anew(monkeypatch):
    """How far limits are exceeded between knots after some passes is a matter of luck: a search that begins elsewhere may keep them."""
    planner, free, cool = slow_motion(1.1)
    weights = prices(free, free.duration, cubic_heat(free))
    fast = planner.attempt(free, free.guess(), weights=weights(1.0))
    slowed = replace(fast, motion=stretched(fast.motion, cool.motion.duration))
    assert fast.ok and fast.motion.duration < 0.95 * cool.motion.duration and kept(slowed)
    monkeypatch.setattr(of_contests, "hits", lambda *_: iter(()))
    monkeypatch.setattr(of_contests, "by_plan", lambda *_: None, raising=False)
    contest = contested(planner, free, slowed, [])
    assert kept(contest.best) and contest.best.motion.duration < 0.95 * cool.motion.duration
    assert contested(planner, free, cool, []).best is cool  # not slowed: nothing is sought
