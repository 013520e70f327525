"""Moves: via points, rates, end velocities, cycles, certificates and diagnoses."""

import itertools

import numpy as np
import pytest

from armature.drive import Drive, Gear, Motor
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import certify, margins
from armature.optimize.moves.curve import energy_time_curve
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.moves.ways import ways_round
from armature.optimize.transcription.guess import joint_cubic, stretched
from armature.optimize.transcription.task import Move, Via
from armature.robot.library import library

ARM = library("burgevin").with_payload(2.0)
START, GOAL = np.array([0.0, 1.2, 0.4]), np.array([1.2, 1.8, 0.7])
MIDDLE = np.array([0.5, 1.3, 0.6])
BARE = ARM.with_limits(
    {
        name: dict.fromkeys(("velocity", "acceleration", "torque"), np.inf)
        for name in ARM.joint_names
    }
)
BARE = BARE.with_drives(
    {name: Drive(Motor(0.5, 0.1), Gear(ratio=20.0)) for name in ARM.joint_names}
)


def certified(plan):
    assert plan.ok, str(plan.diagnosis)
    assert plan.certificate.ok, str(plan.certificate)
    return plan


def test_the_motion_meets_its_ends_and_its_losses_are_the_solvers_cost():
    plan = certified(minimize_energy(ARM, Move(START, GOAL, 0.9, smoothness=0.0)))
    motion = plan.trajectory
    assert np.allclose(motion.q[[0, -1]], [START, GOAL], atol=1e-8) and np.allclose(
        motion.v[[0, -1]], 0.0, atol=1e-8
    )
    assert plan.losses == pytest.approx(
        plan.result.cost, rel=1e-4
    )  # what both ends fix is left out
    assert abs(plan.ledger.residual) < 1e-6 and plan.saving > 0


def test_a_via_point_with_a_passing_time_is_passed_then():
    plan = certified(minimize_energy(ARM, Move(START, GOAL, 1.0, via=[Via(MIDDLE, at=0.437)])))
    assert (
        np.allclose(plan.trajectory(0.437).q, MIDDLE, atol=1e-7)
        and np.linalg.norm(plan.trajectory(0.437).v) > 0.1
    )


def test_a_free_passing_time_costs_no_more_than_any_given_one():
    free = certified(minimize_energy(ARM, Move(START, GOAL, 1.0, via=[Via(MIDDLE)])))
    distance = np.linalg.norm(free.trajectory.q - MIDDLE, axis=1)
    assert distance.min() < 1e-7 and free.duration == pytest.approx(1.0, rel=1e-6)
    given = [
        minimize_energy(ARM, Move(START, GOAL, 1.0, via=[Via(MIDDLE, at=t)])).energy
        for t in (0.35, 0.5, 0.65)
    ]
    assert free.energy <= min(given) * (1 + 1e-4)


def test_a_via_point_may_ask_for_a_stop():
    plan = certified(
        minimize_energy(ARM, Move(START, GOAL, 1.2, via=[Via(MIDDLE, at=0.6, velocity=0.0)]))
    )
    assert np.abs(plan.trajectory(0.6).v).max() < 1e-7


@pytest.mark.parametrize("limit", ["torque_rate", "jerk"])
def test_rates_are_limited(limit):
    free = minimize_energy(ARM, Move(START, GOAL, 0.8))
    rate = lambda plan: (
        np.abs(
            np.diff(plan.trajectory.tau if limit == "torque_rate" else plan.trajectory.a, axis=0)
        ).max(0)
        / 0.008
    )
    bound = 0.7 * rate(free)
    slower = ARM.with_limits({name: {limit: float(b)} for name, b in zip(ARM.joint_names, bound)})
    # such a limit takes the arm from rest to rest with no acceleration at its ends, which needs
    # more time
    plan = certified(minimize_energy(slower, Move(START, GOAL, 1.3)))
    step, motion = plan.trajectory.t[1], plan.trajectory
    values = motion.tau if limit == "torque_rate" else motion.a
    assert np.all(np.abs(np.diff(values, axis=0)).max(0) / step <= bound * 1.01) and np.allclose(
        motion.a[[0, -1]], 0.0, atol=1e-7
    )
    found = [plan.certificate.margins[name][limit.replace("_", " ")] for name in ARM.joint_names]
    assert (
        min(m.fraction for m in found) >= -1e-3 and min(m.fraction for m in found) < 0.05
    )  # it binds
    assert plan.baseline.name in ("joint cubic", "joint quintic") and plan.baseline.note


@pytest.mark.parametrize("limit", ["torque_rate", "jerk"])
def test_the_certificate_finds_a_rate_that_is_exceeded_where_it_is(limit):
    plan = minimize_energy(ARM, Move(START, GOAL, 0.8))
    motion, inner = plan.trajectory, slice(1, -1)
    values = motion.tau if limit == "torque_rate" else motion.a
    rate = np.abs(np.diff(values[inner], axis=0)) / motion.t[1]
    k = np.unravel_index(np.argmax(rate[:, 0]), rate[:, 0].shape)[0]
    name = limit.replace("_", " ")
    slower = ARM.with_limits({"phi": {limit: float(0.5 * rate[k, 0])}})
    found = margins(
        slower,
        Trajectory(
            motion.t, motion.q, motion.v, motion.a, motion.joint_names, interpolation="linear"
        ),
    )["phi"][name]
    # at rest before its start the arm has no acceleration: the jump counts, spread over a step
    jump = (
        np.abs(motion.a[0, 0]) / motion.t[1]
        if limit == "jerk"
        else np.abs(motion.tau[0, 0]) / motion.t[1]
    )
    assert found.fraction < -0.5 and found.value >= 0.99 * max(rate[k, 0], jump)
    assert not certify(slower, motion).ok


def test_a_cubic_against_jerk_limits_is_said_to_jump_and_gives_way_to_a_quintic():
    gentle = ARM.with_limits({"theta": {"jerk": 60.0}})
    slow, fast = (minimize_energy(gentle, Move(START, GOAL, T)).baseline for T in (1.6, 0.8))
    assert not slow.feasible and slow.name == "joint cubic" and "jump of acceleration" in slow.note
    assert slow.trajectory.duration == pytest.approx(1.6)
    tight = minimize_energy(
        gentle.with_limits({"r": {"velocity": 0.35}}), Move(START, GOAL, 1.2)
    ).baseline
    assert (
        tight.feasible
        and tight.name == "joint quintic"
        and "at 1.2 s the cubic breaks limits" in tight.note
    )
    worst = min(
        m.fraction for row in margins(gentle, tight.trajectory).values() for m in row.values()
    )
    assert worst >= -1e-3 and np.allclose(tight.trajectory.a[[0, -1]], 0.0, atol=1e-9)
    assert fast.note


def test_the_slowed_baseline_is_the_shortest_that_keeps_the_limits():
    base = minimize_energy(ARM, Move(START, GOAL, 0.3)).baseline
    assert base.feasible and base.trajectory.duration > 0.3
    shorter = stretched(base.trajectory, 0.995 * base.trajectory.duration)
    worst = lambda motion: min(
        m.fraction for row in margins(ARM, motion).values() for m in row.values()
    )
    assert worst(base.trajectory) >= -1e-3 > worst(shorter)


def test_end_velocities_are_met():
    v0, v1 = np.array([0.5, 0.0, 0.1]), np.array([0.0, -0.4, 0.0])
    plan = certified(
        minimize_energy(ARM, Move(START, GOAL, 0.9, start_velocity=v0, goal_velocity=v1))
    )
    assert np.allclose(plan.trajectory.v[[0, -1]], [v0, v1], atol=1e-8)


def test_average_heat_binds_in_a_repeated_cycle():
    cycle = Move(START, START, 1.6, via=[Via(GOAL, at=0.8, velocity=0.0)])
    free = certified(minimize_energy(ARM, cycle))
    heat = [h.mean_heat for h in free.ledger.heating]
    hottest = int(np.argmax(heat))
    name = ARM.joint_names[hottest]
    coupling = next(c for c in ARM.drives if c.joints == (name,))
    from dataclasses import replace

    cooler = replace(
        coupling.drives[0],
        motor=replace(coupling.drives[0].motor, average_heat=0.9 * heat[hottest]),
    )
    limited = certified(
        minimize_energy(
            ARM.with_drives({**{c.joints[0]: c.drives[0] for c in ARM.drives}, name: cooler}), cycle
        )
    )
    assert limited.ledger.heating[hottest].mean_heat <= 0.9 * heat[hottest] * 1.001
    assert limited.energy > free.energy


def test_no_motion_is_found_below_the_least_time():
    fast = certified(minimize_time(ARM, Move(START, GOAL)))
    slower = minimize_energy(ARM, Move(START, GOAL, 1.05 * fast.duration))
    shorter = minimize_energy(ARM, Move(START, GOAL, 0.98 * fast.duration))
    assert slower.ok and not shorter.ok
    assert shorter.diagnosis.shortest_duration == pytest.approx(fast.duration, rel=0.02)


def test_a_heavier_payload_takes_longer():
    times = [
        minimize_time(library("burgevin").with_payload(m), Move(START, GOAL), starts=1).duration
        for m in (0.0, 2.0, 5.0)
    ]
    assert times[0] < times[1] < times[2]


def test_curve_and_single_plans_agree():
    curve = energy_time_curve(ARM, Move(START, GOAL, smoothness=0.0), [0.7, 0.9, 1.1])
    assert curve.energies[1] == pytest.approx(
        minimize_energy(ARM, Move(START, GOAL, 0.9, smoothness=0.0)).energy, rel=1e-4
    )


def test_tasks_that_make_no_sense_are_refused_with_words():
    with pytest.raises(ArgumentError, match="needs a duration"):
        minimize_energy(ARM, Move(START, GOAL))
    with pytest.raises(ArgumentError, match=r"must be an arm\.Move"):
        minimize_energy(ARM, "home")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="must rise"):
        Move(START, GOAL, 1.0, via=[Via(MIDDLE, at=1.5)])
    with pytest.raises(ArgumentError, match="positive, finite"):
        energy_time_curve(ARM, Move(START, GOAL), [-1.0])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: Move(START, GOAL, "soon"), "duration = 'soon' must be a positive number, s"),
        (lambda: Move(START, GOAL, np.ones(2)), "must be a positive number"),
        (lambda: Via(MIDDLE, at="late"), "passing time = 'late' must be"),
        (lambda: Move(START, GOAL, 1.0, via=MIDDLE), "must be a list of configurations"),
        (
            lambda: Move(START, GOAL, 1.0, via=[Via(MIDDLE), Via(MIDDLE)]).vectors(ARM),
            "via points 1 and 2 are the same place",
        ),
        (
            lambda: Move(START, GOAL, 1.0, start_velocity={"elbo": 1.0}).vectors(ARM),
            "unknown joints",
        ),
        (lambda: minimize_energy("scara", Move(START, GOAL, 1.0)), "must be an arm.Robot"),
        (lambda: minimize_energy(ARM, Move(START, GOAL, 1.0), guess=np.zeros((5, 3))), "no motion"),
        (
            lambda: minimize_time(ARM, Move(START, GOAL), starts="all"),
            "starts = 'all' must be a whole number",
        ),
        (
            lambda: minimize_time(BARE, Move(START, GOAL)),
            "nothing limits how fast robot 'burgevin' moves: the least time is 0",
        ),
        (
            lambda: ways_round(ARM, Move(START, GOAL, 1.0), most=0),
            "most = 0 must be a whole number, 1 or more",
        ),
        (
            lambda: minimize_energy(
                ARM, Move(START, GOAL, 1.0), guess=joint_cubic([0.0], [1.0], 1.0)
            ),
            "has 1 joints",
        ),
    ],
)
def test_what_a_move_cannot_be_made_of_is_refused_with_words(ask, words):
    with pytest.raises(ArgumentError, match=words):
        ask()


def test_every_leg_has_two_steps_however_few_knots_are_asked_for():
    places = [START + k / 8 * (GOAL - START) for k in range(1, 8)]
    plan = minimize_energy(
        ARM,
        Move(START, GOAL, 1.5, via=[Via(q, at=1.5 * k / 8) for k, q in enumerate(places, start=1)]),
        knots=4,
    )
    assert plan.ok and len(plan.trajectory) - 1 >= 16
    np.testing.assert_allclose(plan.trajectory(1.5 * np.arange(1, 8) / 8).q, places, atol=1e-8)


def test_one_via_point_may_stand_alone_and_velocities_may_be_named():
    move = Move(START, GOAL, 1.0, via=Via(MIDDLE), goal_velocity={ARM.joint_names[1]: 0.5})
    assert len(move.via) == 1 and move.via[0].configuration is MIDDLE
    assert np.array_equal(move.vectors(ARM).v1, [0.0, 0.5, 0.0])


def test_the_shortest_motion_says_that_passing_times_are_its_own():
    plan = minimize_time(ARM, Move(START, GOAL, 3.0, via=[Via(MIDDLE, at=2.0)]), knots=20, starts=1)
    assert plan.duration < 2.0 and any("passing times" in note for note in plan.notes)


def test_ways_round_are_different_ways_and_tell_how_they_go():
    told = []
    ways = ways_round(
        ARM,
        Move([0.0, np.pi / 2, 0.5], [np.pi, np.pi / 2, 0.5], 1.0),
        "non-regenerative",
        30,
        callback=told.append,
    )
    assert told and len(ways) > 1
    t = np.linspace(0.0, 1.0, 101)
    paths = [way.solution.trajectory(t).q for way in ways]
    for a, b in itertools.combinations(range(len(ways)), 2):
        apart = np.max(np.abs(paths[a] - paths[b]) / np.maximum(np.ptp(paths[a], axis=0), 0.3))
        assert apart > 0.05 or ways[b].energy > 1.01 * ways[a].energy
    assert [way.energy for way in ways] == sorted(way.energy for way in ways)


@pytest.mark.parametrize(
    "wrong", [{"deadline": "1"}, {"deadline": -1.0}, {"callback": 3}, {"options": 3}]
)
def test_settings_of_a_search_that_are_none_are_refused_with_words(wrong):
    for search in (minimize_energy, minimize_time):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            search(ARM, Move(START, GOAL, 1.0), **wrong)


def test_what_has_no_least_time_and_durations_that_are_none_are_told():
    with pytest.raises(ArgumentError, match="least time is 0"):
        minimize_time(ARM, Move(START, START))
    with pytest.raises(ArgumentError, match="give the move's own"):
        energy_time_curve(ARM, Move(START, GOAL, via=[Via(MIDDLE, at=0.4)]))
    with pytest.raises(ArgumentError, match="'1,2' must be positive"):
        energy_time_curve(ARM, Move(START, GOAL), "1,2")


@pytest.mark.parametrize(
    ("name", "start", "goal"),
    [("burgevin", [0.0, 1.2, 0.4], [1.2, 1.8, 0.7]), ("planar2", [0.3, -1.0], [1.2, 0.5])],
)
def test_nothing_that_is_returned_is_worse_than_a_motion_that_is_given(
    name: str, start: list[float], goal: list[float]
):
    """A shorter feasible motion, given as a guess, is the answer of a search that finds nothing
    better; likewise a cheaper one."""
    robot = library(name).with_payload(0.5)
    least = minimize_time(robot, Move(start, goal))
    again = minimize_time(robot, Move(start, goal), knots=12, guess=least)
    assert again.certificate.ok and again.duration <= least.duration * (1 + 1e-6)
    task = Move(start, goal, 2.0 * least.duration, smoothness=0.0)
    best = minimize_energy(robot, task)
    rough = minimize_energy(robot, task, knots=8, guess=best)
    assert rough.certificate.ok and rough.energy <= best.energy + 1e-6 * best.losses


def test_the_plain_plan_is_among_the_ways():
    robot, task = library("planar2"), Move([0.3, -1.0], [1.2, 0.5], 1.5, smoothness=0.0)
    plain, ways = minimize_energy(robot, task), ways_round(robot, task)
    assert plain.ok and min(way.energy for way in ways) <= plain.energy * (1 + 1e-9)
