"""Searches that fail: what is found out then, which motions are known to do the task, and when the motion known is the plan."""

import math
from dataclasses import replace

import numpy as np
import pytest

from armature.optimize.certificate.certify import ALLOWED, Margin, margins
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.diagnosis import lighter
from armature.optimize.diagnosis.earlier import ROUGH, nearest_passing, warped
from armature.optimize.diagnosis.forbidden import Weighed, forbidden, lifts, weighed
from armature.optimize.diagnosis.holding import carrier, reloaded
from armature.optimize.diagnosis.lighter import carried_by, greatest_payload
from armature.optimize.planner import conclude, quick_time
from armature.optimize.planner.conclude import (
    CALMING,
    CUBIC,
    GIVEN,
    KEPT,
    PURSE,
    ROUGHLY,
    Watch,
    calmer,
    from_given,
    from_others,
    from_short,
    hurried,
    keeps,
    known,
    no_worse,
)
from armature.optimize.planner.effort import spent
from armature.optimize.planner.firm import firm
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.planner.plan import MISSED, Attempt, Planner
from armature.optimize.planner.quick_time import MUCH, least_of, shortest
from armature.optimize.planner.slower import OFTEN, Allowed, run_slower
from armature.optimize.planner.surest import run_in, short_one, slow_cubic
from armature.optimize.problem.result import Status
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import joint_cubic, stretched
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move, Via
from armature.robot.library import library
from armature.robot.model import Robot

ARM = library("burgevin").with_payload(2.0)
START, GOAL = np.array([0.0, 1.2, 0.4]), np.array([1.2, 1.8, 0.7])
WAY = 0.5 * (START + GOAL) + 0.05


@pytest.fixture(scope="module")
def early():
    """A task whose via point is to be passed far too early, and the shortest motion through it."""
    fastest = shortest(MoveProblem(ARM, Move(START, GOAL, via=[WAY]), None, 50), 1.0).best
    T = 2 * fastest.motion.duration
    return MoveProblem(ARM, Move(START, GOAL, T, via=[Via(WAY, at=0.1 * T)])), fastest


def test_the_nearest_passing_times_are_possible_and_those_asked_for_are_not(early):
    problem, fastest = early
    found = nearest_passing(problem, fastest, 1.0)
    asked, whole = problem.move.via[0].at, problem.duration / fastest.motion.duration * fastest.motion.t[fastest.problem.knots[0]]
    assert 0 < found.part < 1 and asked < found.times[0] < whole
    assert found.times[0] == pytest.approx(asked + found.part * (whole - asked))  # (P1)
    in_time = lambda at: minimize_energy(ARM, replace(problem.move, via=[Via(WAY, at=at)]))
    assert in_time(found.times[0] + 0.05 * (whole - asked)).certificate.ok
    assert not in_time(asked).ok


@pytest.mark.parametrize("seed", [2, 10])
def test_a_motion_that_is_asked_for_roughly_does_its_task(seed):
    """A loose tolerance alone accepts motions that miss their via points, so that what is easily done seems impossible."""
    robot, rng = library("seven_axis").with_payload(2.0), np.random.default_rng(seed)
    start, goal, aside = (np.round(rng.uniform(-1.2, 1.2, 7), 1) for _ in range(3))
    way = np.round(0.5 * (start + goal) + 0.2 * aside, 1)
    problem = MoveProblem(robot, Move(start, goal, 3.0, via=[Via(way, at=1.5)]), None, 50)
    for rows, meets in ((np.inf, False), (MISSED, True)):
        found = Planner(Weights(heat=1.0), replace(ROUGH, rows=rows)).attempt(problem, problem.guess())
        assert found.ok and found.meets == meets
    # passing far too early is told with a time at which a plan passes
    early = Move(start, goal, 3.0, via=[Via(way, at=0.2)])
    told = minimize_energy(robot, early).diagnosis
    assert 0.2 < told.passing[0] < 2.5
    assert minimize_energy(robot, replace(early, via=[Via(way, at=told.passing[0])])).certificate.ok


def test_a_motion_run_unevenly_passes_its_via_points_at_the_new_times(early):
    _, fastest = early
    motion, knot = fastest.motion, fastest.problem.knots[0]
    other = warped((motion, (float(motion.t[knot]),)), (0.3,), 1.0)
    assert other.t[knot] == pytest.approx(0.3) and other.duration == pytest.approx(1.0) and np.array_equal(other.q, motion.q)
    slope = np.gradient(other.q, other.t, axis=0)
    assert np.allclose(slope[3 : knot - 3], other.v[3 : knot - 3], atol=0.1 * np.abs(other.v).max())


def test_a_search_that_gets_stuck_lasts_only_as_long_as_may_help(early):
    problem, fastest = early
    short = Watch(replace(problem, move=Move(START, GOAL, 0.5 * fastest.motion.duration)), None)
    late = Watch(problem, None)
    for watch in (short, late):
        begin = spent()
        watch.look()
        assert watch.until < spent() + 0.5 and watch.until > begin
        assert not watch.possible and watch.sure is None and not watch.promising
    assert not short.fits and late.fits and 0.0 < late.passed.part < 1.0


def test_what_the_joint_cubic_does_is_not_hurried():
    assert not hurried(MoveProblem(ARM, Move(START, GOAL, 3.0))) and hurried(MoveProblem(ARM, Move(START, GOAL, 0.2)))


def test_budgets_count_work_and_not_the_clock():
    """A callback that takes its time changes nothing of what is found, and a smaller budget ends earlier."""
    task = MoveProblem(ARM, Move(START, GOAL, via=[WAY]), None, 20)
    counted, found = [], []
    for slow in (0, 20_000):
        begin = spent()
        found.append(shortest(task, 0.2, lambda line, slow=slow: sum(range(slow)) < 0).best)
        counted.append(spent() - begin)
    assert counted[0] == pytest.approx(counted[1], rel=1e-9) and counted[0] > 0.05
    assert np.array_equal(found[0].motion.q, found[1].motion.q) and len(found[0].result.iterations) == len(found[1].result.iterations)
    begin = spent()
    shortest(task, 0.02)
    assert 0.0 < spent() - begin < 0.7 * counted[0]


def test_a_known_motion_is_the_plan_where_no_search_ends():
    problem = MoveProblem(ARM, Move(START, GOAL, 1.0), "non-regenerative")
    planner = Planner(Weights(energy=1.0))
    few = replace(problem, supply="regenerative", N=50)
    cool = Planner(Weights(heat=1.0)).attempt(few, few.guess())
    plan, notes = known(planner, problem, [cool])
    assert keeps(plan) and np.array_equal(plan.motion.q, cool.motion.q) and "the cheapest motion met" in notes[0]
    assert plan.value == pytest.approx(planner.value(problem, cool.motion)) and plan.problem.supply == "non-regenerative"
    # not for another duration, another goal, or a motion that breaks limits
    assert known(planner, MoveProblem(ARM, Move(START, GOAL, 1.1)), [cool]) is None
    assert known(planner, MoveProblem(ARM.with_payload(30.0), Move(START, GOAL, 1.0)), [cool]) is None


def test_of_all_motions_met_the_cheapest_that_runs_is_known_however_its_search_ended():
    problem = MoveProblem(ARM, Move(START, GOAL, 1.0), "non-regenerative", 30)
    planner = Planner(Weights(energy=1.0), met=[])
    ended = planner.attempt(problem, problem.guess())
    cut = planner.attempt(problem, ended.result, replace(planner.precise, iterations=1))
    torn = replace(ended, motion=replace(ended.motion, v=ended.motion.v + 1e-3 * np.sin(np.pi * ended.motion.t)[:, None]), exact=0.0)
    planner.met.append(torn)  # cheaper, but its speeds do not belong to its places
    planner.attempt(replace(problem, move=Move(START, GOAL, 2.0)), problem.guess())  # another duration
    plan, _ = known(planner, problem, [])
    assert planner.met[:2] == [ended, cut] and ended.runs and not torn.runs
    assert plan.value == min(a.value for a in (ended, cut) if a.runs) and plan.ok


def test_the_shortest_motion_run_slower_is_the_last_resort():
    problem = MoveProblem(ARM, Move(START, GOAL, 1.0), "non-regenerative", 40)
    planner = Planner(Weights(energy=1.0))
    short = short_one(planner, problem)
    assert short is not None and short.motion.duration < 0.9 and short.worst is not None and short.worst.fraction >= -1e-3
    plan = run_in(planner, problem, short.motion)
    assert plan is not None and plan.ok and plan.runs and plan.motion.duration == pytest.approx(1.0)
    assert plan.value == pytest.approx(planner.value(problem, plan.motion)) and plan.problem.supply == "non-regenerative"
    assert run_in(planner, replace(problem, move=Move(START, GOAL, 0.8 * short.motion.duration)), short.motion) is None
    assert short_one(planner, MoveProblem(ARM, Move(START, GOAL, 1.0, start_velocity=0.1))) is None
    assert short_one(planner, MoveProblem(ARM, Move(START, GOAL, 1.0, via=[Via(WAY, at=0.5)]))) is None


def test_what_the_whole_search_for_the_least_time_does_in_less_is_not_refused(monkeypatch):
    """Where a part of that search leads to nothing, all of it decides: its motion is run slower, or leads to a calm one."""
    monkeypatch.setattr(conclude, "short_one", lambda *_: None)
    least = minimize_time(ARM, Move(START, GOAL), 40).duration
    planner = Planner(Weights(energy=1.0), met=[])
    for factor, velocity in ((1.05, 0.0), (0.9, 0.0), (1.3, 0.1)):
        watch = Watch(MoveProblem(ARM, Move(START, GOAL, factor * least, start_velocity=velocity), "non-regenerative", 40), None)
        watch.look()
        watch.possible = True  # a rough look said so
        found = from_short(planner, watch)
        assert (found is not None) == (factor > 1.0)
        if found is None:
            assert watch.fastest.motion.duration == pytest.approx(least, rel=1e-3)  # which is told
        else:
            plan, _ = found
            assert keeps(plan) and plan.runs and plan.motion.duration == pytest.approx(factor * least)
            assert velocity or plan.value == pytest.approx(planner.value(watch.problem, stretched(watch.fastest.motion, factor * least)))


def test_a_look_that_is_not_trusted_does_not_forbid_a_little_less(early):
    """Where few knots tell the same as all of them a quick look is right to two per cent or so; else it may be a tenth too long."""
    problem, fastest = early
    T = fastest.motion.duration
    for part, trusted, rough in ((1.1, True, True), (0.98, True, True), (0.95, False, True), (0.7, False, False)):
        watch = Watch(replace(problem, move=Move(START, GOAL, part * T, via=[WAY])), None)
        for watch.fastest, watch.trusted, near in ((fastest, True, trusted), (fastest, False, rough), (None, True, False)):
            assert watch.near == near


def test_a_look_that_met_something_clearly_shorter_and_lost_it_is_doubted(early, monkeypatch):
    problem, first = early
    free = replace(problem, move=Move(START, GOAL, 0.1, via=[WAY]), N=25)
    followed = quick_time.sharpened
    for lost, met in ((False, False), (False, True), (True, True)):
        ends = iter((followed, (lambda *_: None) if lost else followed))
        monkeypatch.setattr(quick_time, "sharpened", lambda *args, ends=ends: next(ends)(*args))
        monkeypatch.setattr(quick_time, "clearly_faster", lambda planner, problem, best, met=met: best if met else None)
        assert (shortest(free, 0.5).lost < math.inf) == lost
    # what is doubted is not trusted, and forbids a tenth less only than what was lost takes
    T = first.motion.duration
    for part, near in ((0.95, True), (0.85, True), (0.8, False)):
        watch = Watch(replace(problem, move=Move(START, GOAL, part * T, via=[WAY])), None)
        watch.fastest, watch.lost, watch.close = first, MUCH * T, True
        watch.agree(first)
        assert not watch.trusted and watch.near == near == (part > ROUGHLY * MUCH)


def test_what_prices_lost_is_followed_to_its_end_by_durations():
    """To about what the shortest motion takes; where it cannot be followed, a good deal less may do."""
    free = replace(MoveProblem(ARM, Move(START, GOAL, 1.0), None, 25), free=True)
    planner, best = Planner(Weights(time=1.0), budget=spent() + 1.0), shortest(free, 0.5).best
    met = replace(best, motion=stretched(best.motion, 1.2 * best.motion.duration))
    assert least_of(planner, free, met, met) == pytest.approx(best.motion.duration, rel=0.05)
    assert least_of(replace(planner, budget=spent()), free, met, met) == MUCH * met.motion.duration


def test_a_search_near_the_least_time_that_keeps_its_limits_badly_ends_soon(early, monkeypatch):
    """Others have their time: those that keep them nearly, and those that leave more to save."""
    problem, fastest = early
    line = fastest.result.iterations[-1]
    for part, worst, ends in ((1.01, -0.5, True), (1.01, -0.05, False), (1.1, -0.5, False)):
        watch = Watch(replace(problem, move=Move(START, GOAL, part * fastest.motion.duration, via=[WAY])), None)
        watch.looked, watch.fastest = True, fastest
        watch.met.append(replace(fastest, exact=1.0))
        monkeypatch.setattr(type(fastest), "worst", property(lambda _, worst=worst: Margin("theta", "torque", worst, 0.0, 2.0, 1.0, "N·m")))
        watch.grant(math.inf, conclude.BRIEFLY)
        assert not watch(line)
        later = spent() + 2 * conclude.BRIEFLY
        monkeypatch.setattr(conclude, "spent", lambda later=later: later)
        assert watch(line) == ends
        monkeypatch.setattr(conclude, "spent", spent)


def test_of_motions_met_one_within_its_limits_is_at_hand_where_it_costs_hardly_more():
    problem = MoveProblem(ARM, Move(START, GOAL, 1.5), None, 40)
    kept = Planner(Weights(energy=1.0)).best(problem)
    dear, cheap, beyond = (replace(kept, exact=cost) for cost in (1.0, 0.9, 0.9995))
    other = replace(dear, motion=stretched(kept.motion, 1.6))  # of another duration
    for met, best, found in (([dear, other], beyond, dear), ([dear], cheap, None), ([other], beyond, None), (None, beyond, None)):
        assert Planner(Weights(energy=1.0), met=met).at_hand(best) is found


def test_where_two_searches_with_all_knots_agree_the_whole_search_is_not_made(monkeypatch):
    monkeypatch.setattr(conclude, "shortest_of_all", lambda *_: pytest.fail("the whole search"))
    planner, problem = Planner(Weights(energy=1.0)), MoveProblem(ARM, Move(START, GOAL, 1.0), None, 40)
    exact = short_one(planner, problem)
    watch = Watch(replace(problem, move=Move(START, GOAL, 0.95 * exact.motion.duration)), None)
    watch.looked, watch.possible, watch.close = True, False, True
    watch.fastest = replace(exact, motion=stretched(exact.motion, 1.02 * exact.motion.duration))  # told by a look, and not trusted
    assert watch.near and from_short(planner, watch) is None
    assert watch.trusted and not watch.near and watch.fastest.motion.duration == pytest.approx(exact.motion.duration)
    # a motion that keeps its limits and is shorter stays
    watch.agree(replace(exact, motion=stretched(exact.motion, 1.1 * exact.motion.duration)))
    assert watch.fastest.motion.duration == pytest.approx(exact.motion.duration)


def test_a_payload_that_only_quick_motions_fling_is_carried_by_way_of_lighter_ones(monkeypatch):
    """Here no search from the shortest motion ends, and one from a lighter payload's does."""
    problem = MoveProblem(ARM, Move(START, GOAL, 1.5), None, 40)
    carries = Planner(Weights(heat=1.0)).best(problem)
    monkeypatch.setattr(conclude, "lifts", lambda _: True)
    monkeypatch.setattr(conclude, "firm", lambda task, start, *_: start if start is carries else None)
    monkeypatch.setattr(Watch, "does", lambda *_: False)
    for certain in (False, True):
        monkeypatch.setattr(conclude, "weighed", lambda *_, certain=certain: Weighed(Diagnosis("too heavy"), carries, certain))
        watch = Watch(problem, None)
        watch.look()
        assert watch.fits and watch.possible == (not certain) and (watch.sure is carries) == (not certain)


def slow_legs(stops: int) -> tuple[Robot, Move]:
    """A move past stops with low greatest speeds, which are reached in a step or two: few knots take some per cent too long."""
    bare = library("planar2")
    start, goal = np.array([0.2, 0.4]), np.array([1.0, -0.5])
    via = tuple(Via(start + (goal - start) * (k + 1) / (stops + 1), velocity=0.0) for k in range(stops))
    return bare.with_limits({name: {"velocity": 0.3} for name in bare.joint_names}), Move(start, goal, via=via)


@pytest.mark.parametrize("stops, knots, duration", [(1, 50, 3.05), (3, 100, 3.08)])
def test_what_few_knots_cannot_do_is_not_refused_where_all_can(stops, knots, duration):
    """At its greatest speed the elbow would take 3 s. A quick look is four per cent too long, however many legs there are."""
    robot, move = slow_legs(stops)
    task = replace(move, duration=duration)
    watch, rough = Watch(MoveProblem(robot, task), None), shortest(MoveProblem(robot, task, None, knots), 0.8).best
    assert 1.03 < rough.motion.duration / duration < 1.07
    watch.look()
    assert watch.close and not watch.trusted and watch.near and watch.fastest.motion.duration < 0.99 * rough.motion.duration
    assert minimize_energy(robot, task).certificate.ok


def test_where_few_knots_tell_the_same_as_all_a_little_less_is_refused_without_the_whole_search(monkeypatch):
    monkeypatch.setattr(conclude, "shortest_of_all", lambda *_: pytest.fail("the whole search"))
    least = minimize_time(ARM, Move(START, GOAL)).duration
    watch = Watch(MoveProblem(ARM, Move(START, GOAL, 0.965 * least)), None)
    watch.look()
    assert watch.close and watch.trusted and not watch.near
    told = minimize_energy(ARM, watch.problem.move).diagnosis
    assert least < told.shortest_duration < 1.01 * least


def test_a_search_that_ends_beside_its_goal_is_no_plan_and_others_are_made():
    """Within its tolerance, but by more than a certificate allows: it was refused without a word."""
    robot, move = slow_legs(0)
    task = replace(move, duration=3.01353)
    plan = minimize_energy(robot, task)
    assert plan.ok and plan.certificate.ok
    beside = replace(plan.trajectory, q=plan.trajectory.q + 1e-3)
    found = Attempt(MoveProblem(robot, task, None, len(beside) - 1), plan.result, beside, 0.0)
    assert found.ok and not keeps(found) and keeps(replace(found, motion=plan.trajectory))


@pytest.mark.parametrize("velocity", [0.0, 0.1])
def test_where_no_shortest_motion_keeps_its_limits_the_duration_of_the_joint_cubic_is_told(monkeypatch, velocity):
    monkeypatch.setattr(conclude, "calmer", lambda _: None)
    move = Move(START, GOAL, 0.2, start_velocity=velocity)
    told = minimize_energy(ARM, move).diagnosis
    slow = slow_cubic(MoveProblem(ARM, move))
    assert slow is not None and slow.margins[0].fraction >= -1e-3 and told.shortest_duration == slow.motion.duration
    assert f"takes {slow.motion.duration:.4g} s" in told.sentence
    assert minimize_energy(ARM, replace(move, duration=told.shortest_duration)).certificate.ok
    assert slow_cubic(MoveProblem(ARM.with_payload(30.0), move)) is None  # which no duration helps


def test_a_motion_known_that_does_the_task_when_run_slower_is_never_refused(monkeypatch):
    """A short motion that breaks limits keeps them in more time; where searches from it lead to nothing, it is the plan itself."""
    problem = MoveProblem(ARM, Move(START, GOAL, 1.0), "non-regenerative", 40)
    planner, watch = Planner(Weights(energy=1.0), met=[]), Watch(problem, None)
    watch.look()
    lost = replace(watch.fastest, result=replace(watch.fastest.result, status=Status.STALLED))
    monkeypatch.setattr(Planner, "plan", lambda *_: (lost, []))
    monkeypatch.setattr(conclude, "firm", lambda *_: None)
    found = from_others(planner, watch, None)
    assert watch.fastest.motion.duration < 0.9 and found is not None and keeps(found[0]) and found[0].runs
    assert np.allclose(found[0].motion.q, watch.fastest.motion.q, atol=1e-9) and found[0].motion.duration == pytest.approx(1.0)


def test_a_motion_given_that_does_the_task_is_a_plan_where_no_search_ends():
    robot = library("planar2")
    given = minimize_energy(robot, Move([0.2, 0.4], [1.0, -0.5], 1.0)).trajectory
    planner = Planner(Weights(energy=1.0))
    for duration, possible in ((1.3, True), (0.1, False)):
        problem = MoveProblem(robot, Move([0.2, 0.4], [1.0, -0.5], duration), None, 100)
        found = from_given(planner, Watch(problem, None, given))
        assert (found is not None) == possible
        if found is not None:
            plan, notes = found
            assert plan.ok and plan.runs and notes == [GIVEN]
            assert plan.motion.duration == pytest.approx(duration)
    elsewhere = MoveProblem(robot, Move([0.2, 0.4], [1.0, -0.4], 1.3), None, 100)
    assert from_given(planner, Watch(elsewhere, None, given)) is None  # it does not go there
    at_end = robot.with_limits({name: {"lower": float(q)} for name, q in zip(robot.joint_names, given.q.min(0))})
    task = MoveProblem(at_end, Move([0.2, 0.4], [1.0, -0.5], 1.3), None, 60)
    found = from_given(planner, Watch(task, None, given))
    assert found is not None and found[0].motion.q.min(0) == pytest.approx(given.q.min(0))  # as it is, up to its limits


def test_what_exceeds_limits_is_run_slower_until_it_keeps_them_or_not_at_all():
    worst = lambda m: min(x.fraction for row in margins(ARM, m).values() for x in row.values())
    cubics = (joint_cubic(START, GOAL, T, joint_names=ARM.joint_names) for T in np.arange(0.7, 0.2, -0.01))
    motion = next(cubic for cubic in cubics if worst(cubic) < -0.1)
    problem = MoveProblem(ARM, Move(START, GOAL, motion.duration))
    slower = run_slower(problem, motion, Allowed())
    assert slower is not None and slower.duration > motion.duration and worst(slower) >= -1e-3
    assert run_slower(problem, motion, Allowed(), most=1.001) is None
    assert run_slower(replace(problem, move=replace(problem.move, start_velocity=0.1)), motion, Allowed()) is None  # other ends


def test_the_shortest_motion_between_moving_ends_that_is_told_keeps_limits_between_knots():
    move = Move(START, GOAL, start_velocity=[0.5, 0.2, 0.1], goal_velocity=[-0.4, 0.1, 0.0])
    fastest = shortest(MoveProblem(ARM, move, None, 10), 0.5).best
    told = calmer(fastest)
    assert fastest.ok and not OFTEN.by(fastest.margins) and OFTEN.by(told.margins)
    assert fastest.motion.duration < told.motion.duration < 1.25 * fastest.motion.duration


def test_a_payload_that_the_joint_cubic_cannot_lift_is_carried_another_way():
    """The straight way leads through the horizontal; with the elbow bent nearly all that the ends hold can be moved."""
    bare = library("planar2")
    move = Move([-2.16, -0.05], [-1.08, -0.32], 3.35)
    heavy = MoveProblem(bare.with_payload(2.0), move)
    assert lifts(heavy) and not lifts(MoveProblem(bare.with_payload(0.5), move))
    most = forbidden(bare.with_payload(8.0), move, search=False).greatest_payload
    found = greatest_payload(MoveProblem(bare.with_payload(8.0), move), most, 2.0)
    assert found.mass > 0.95 * most
    carries = reloaded(heavy.robot, carrier(heavy.robot), found.mass)
    assert carried_by(carries, found.found.motion) >= 0.99 * found.mass
    torques = [m for row in margins(carries, found.found.motion).values() for m in row.values() if m.limit == "torque"]
    assert all(m.fraction >= -ALLOWED for m in torques)  # at all places where certificates ask
    # a motion is known, so that the search for a plan decides
    weight = weighed(heavy)
    assert weight is not None and not weight.certain
    plan = minimize_energy(heavy.robot, move)
    assert plan.ok and plan.certificate.ok


def test_that_searches_from_the_joint_cubic_fail_is_no_bound_of_the_payload(monkeypatch):
    """Here they succeed up to 3 kg, and those from a lighter payload's motion up to 8.3 kg, which is what is found."""
    limits = {"cubic": 3.0, "neighbour": 8.3}

    def moved(planner, task, sharp, load, mass, near, rigid=True):
        return lighter.Moved(mass, "neighbour", mass) if mass <= limits.get(near or "cubic", 0.0) else None

    monkeypatch.setattr(lighter, "moved", moved)
    monkeypatch.setattr(lighter, "other_ways", lambda task: ["detour"])
    found = greatest_payload(MoveProblem(ARM, Move(START, GOAL, 1.5)), 10.0, 1.0)
    assert 8.2 < found.mass <= 8.3


def test_a_plan_costs_no_more_than_the_joint_cubic_where_that_keeps_all_limits():
    problem = MoveProblem(ARM, Move(START, GOAL, 1.5), None, 60)
    planner = Planner(Weights(energy=1.0))
    way = Move(START, GOAL, 1.5, via=[Via(START + [2.0, -1.0, 1.5], at=0.7)])
    poor = planner.attempt(detour := replace(problem, move=way), detour.guess())  # the end of a search that went a long way round
    best, notes = no_worse(planner, problem, poor, ["round"])
    t = np.linspace(0.0, 1.5, 61)
    assert best.ok and keeps(best) and best.value < poor.value and notes == [CUBIC]
    assert np.allclose(best.motion(t).q, problem.cubic(t)[0], atol=1e-9)
    assert no_worse(planner, problem, good := planner.best(problem), []) == (good, [])


def test_a_rough_motion_becomes_one_that_keeps_all_limits_between_knots_whatever_its_supply():
    """From a lighter payload's motion with few knots, and from a free duration."""
    fastest = shortest(MoveProblem(ARM, Move(START, GOAL), None, 30), 0.5).best
    T = 1.04 * fastest.motion.duration
    problem = MoveProblem(ARM, Move(START, GOAL, T), "non-regenerative")
    lighter = MoveProblem(library("burgevin"), problem.move, "regenerative", 12)
    rough = Planner(Weights(heat=1.0)).attempt(lighter, lighter.guess())
    assert rough.ok and min(m.fraction for row in margins(ARM, rough.motion).values() for m in row.values()) < -0.05
    for start in (rough, fastest):
        found = firm(problem, start, 1.0)
        assert found is not None and found.ok and found.runs and found.motion.duration == pytest.approx(T)
        assert found.value == pytest.approx(Planner(Weights(energy=1.0)).value(problem, found.motion))
    # none where the task is impossible, or the start is none
    assert firm(replace(problem, move=Move(START, GOAL, 0.8 * T)), rough, 1.0) is None
    assert firm(problem, replace(rough, result=replace(rough.result, status=Status.STALLED)), 1.0) is None


@pytest.mark.parametrize("case", ["short", "early", "heavy"])
def test_without_a_motion_that_does_the_task_the_work_of_a_refusal_is_bounded(early, case):
    """The purse, one search that is under way when it is empty, and a motion that is told."""
    robot, move = {
        "short": (ARM, Move(START, GOAL, 0.2)),
        "early": (ARM, early[0].move),
        "heavy": (library("planar2").with_payload(4.0), Move([-2.2, -0.6], [1.1, 0.4], 5.0, via=[Via([0.0, 0.0], velocity=0.0)])),
    }[case]
    begin = spent()
    plan = minimize_energy(robot, move, "non-regenerative")
    assert not plan.ok and plan.diagnosis.known and spent() - begin < PURSE + KEPT + CALMING, str(plan.diagnosis)
