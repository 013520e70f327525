"""Tasks that cannot be done are told in one sentence, in time, with the number that would make them
possible."""

from dataclasses import replace

import numpy as np
import pytest

from armature.dynamics.compiled import inverse_dynamics, kinetic_energy, mass_matrix
from armature.errors import ArgumentError
from armature.optimize.certificate.certify import margins
from armature.optimize.diagnosis.diagnose import between_knots
from armature.optimize.diagnosis.forbidden import fastest, forbidden
from armature.optimize.diagnosis.holding import carrier, reloaded
from armature.optimize.diagnosis.lighter import carried_by
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.moves.ways import ways_round
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.problem.result import Status
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import joint_cubic, stretched
from armature.optimize.transcription.task import Move, Via
from armature.robot.library import library

ARM = library("burgevin").with_payload(2.0)
START, GOAL = np.array([0.0, 1.2, 0.4]), np.array([1.2, 1.8, 0.7])
DRIVEN = [name for name in library() if library(name).drives]
ITERATIONS = 5000  # of all solves until a refusal
SIX = library("six_axis").with_payload(2.0)
SIX_START, SIX_GOAL = (
    np.radians([-40, -80, 140, -60, -90, 0]),
    np.radians([60, -10, 20, -10, -90, 90]),
)


def told(robot, move, supply="regenerative"):
    """The diagnosis of a task that must fail, in time."""
    lines = []
    plan = minimize_energy(robot, move, supply, callback=lines.append)
    assert not plan.ok and plan.diagnosis is not None and len(lines) < ITERATIONS, (
        len(lines),
        str(plan),
    )
    assert np.all(np.isfinite(plan.trajectory.q)) and plan.saving is None
    return plan.diagnosis


@pytest.fixture(scope="module", params=["burgevin", "six_axis"])
def warm(request):
    """A robot, the ends of a move and its least time, everything compiled."""
    robot, start, goal = (
        (ARM, START, GOAL) if request.param == "burgevin" else (SIX, SIX_START, SIX_GOAL)
    )
    least = minimize_time(robot, Move(start, goal), starts=1).duration
    for supply in ("regenerative", "non-regenerative"):
        minimize_energy(robot, Move(start, goal, 2 * least), supply)
    return robot, start, goal, least


@pytest.mark.parametrize("supply", ["regenerative", "non-regenerative"])
@pytest.mark.parametrize("part", [0.95, 0.5, 0.02])
def test_too_short_a_duration_is_told_with_the_shortest_and_what_is_in_the_way(warm, part, supply):
    robot, start, goal, least = warm
    found = told(robot, Move(start, goal, part * least), supply)
    assert "is too short" in found.sentence and found.shortest_duration == pytest.approx(
        least, rel=0.03
    )
    assert (
        found.limit
        and found.joint in robot.joint_names
        and 0 <= found.time <= part * least * 1.001
        and found.amount > 0
    )
    assert minimize_energy(robot, Move(start, goal, 1.01 * found.shortest_duration), supply).ok


@pytest.mark.parametrize("name", ["scara", "valasek"])
def test_the_shortest_duration_told_is_possible_and_less_is_not(name):
    robot = library(name).with_payload(0.5)
    start = np.array(
        [
            0.5 * (max(x.lower, -1.0) + min(x.upper, 1.5))
            for x in (robot.joint(j).limits for j in robot.joint_names)
        ]
    )
    move = Move(start, start + 0.08 * (-1.0) ** np.arange(robot.n), 0.05)
    found = told(robot, move)
    T = found.shortest_duration
    possible = minimize_energy(robot, replace(move, duration=1.01 * T))
    assert f"{T:.4g} s" in found.sentence and possible.ok and possible.certificate.ok
    assert not minimize_energy(robot, replace(move, duration=0.97 * T)).ok


@pytest.mark.parametrize("warm", ["burgevin"], indirect=True)
def test_a_duration_too_short_for_a_timed_via_point_is_told_with_passing_times_that_fit(warm):
    robot, start, goal, least = warm
    way = 0.5 * (start + goal) + 0.05
    found = told(robot, Move(start, goal, 0.6 * least, via=[Via(way, at=0.1 * least)]))
    T = 1.01 * found.shortest_duration
    assert f"{found.passing[0]:.4g} s" in found.sentence
    assert minimize_energy(
        robot, Move(start, goal, T, via=[Via(way, at=1.01 * found.passing[0])])
    ).ok
    early = told(robot, Move(start, goal, 2 * T, via=[Via(way, at=0.05 * T)]))
    assert "leave" in early.sentence and "for the way to the via point" in early.sentence
    assert minimize_energy(robot, Move(start, goal, 2 * T, via=[Via(way, at=early.passing[0])])).ok


@pytest.mark.parametrize("payload", [500.0, 1e9])
@pytest.mark.parametrize("name", DRIVEN)
def test_the_greatest_payload_can_be_held_and_no_more(name, payload):
    bare = library(name)
    q = (
        np.array(
            [
                0.5 * (max(x.lower, -1.0) + min(x.upper, 1.5))
                for x in (bare.joint(j).limits for j in bare.joint_names)
            ]
        )
        + 0.05
    )
    move = Move(q, q + 0.01, 2.0)
    held = lambda mass: forbidden(bare.with_payload(mass), move, search=False)
    found = held(payload)
    assert (
        found.sentence.startswith("The start cannot be held") and found.greatest_payload is not None
    )
    greatest = found.greatest_payload
    assert greatest == pytest.approx(
        payload - found.excess_payload
    ) and f"{greatest:.4g} kg" in str(found)
    assert held(0.999 * greatest) is None and held(1.001 * greatest + 1e-6) is not None


def test_a_payload_too_heavy_to_hold_is_told_with_one_that_can_be_moved_in_the_time():
    """The joint cubic cannot carry it, because the shoulder exceeds its mean limit: it can be swung round
    with the elbow bent."""
    bare, move = library("planar2"), Move([-2.16, -0.05], [-1.08, -0.32], 3.35)
    found = told(bare.with_payload(8.0), move)
    possible, too_heavy = (
        minimize_energy(bare.with_payload(part * found.greatest_payload), move)
        for part in (0.99, 1.02)
    )
    assert possible.ok and possible.certificate.ok and not too_heavy.ok
    slow = joint_cubic(move.start, move.goal, move.duration, joint_names=bare.joint_names)
    assert (
        carried_by(bare.with_payload(found.greatest_payload), slow) < 0.9 * found.greatest_payload
    )


def test_a_payload_told_is_moved_from_the_start_itself_and_not_from_beside_it():
    """A rough search may accept a motion that begins 3 cm away, which moves 6.1 kg instead of
    4.6."""
    bare, move = (
        library("burgevin"),
        Move([1.0467, 0.2025, 0.1670], [0.3979, 0.9391, 0.5788], 0.2841),
    )
    mass = told(bare.with_payload(15.93), move).greatest_payload
    plan = minimize_energy(bare.with_payload(mass), move)
    assert mass > 4.0 and plan.ok and plan.certificate.ok


def test_a_payload_that_only_friction_holds_is_told_with_nearly_all_that_the_drives_hold():
    """Searches with what stands by friction alone fail, and those with a little less do not."""
    bare = library("seven_axis")
    move = Move(
        [0.329, -0.702, 2.255, -0.854, 0.049, 0.385, -0.155],
        [-0.066, -1.055, 0.412, -1.818, 1.254, 1.161, -2.166],
        2.765,
    )
    most = forbidden(bare.with_payload(21.0), move, search=False).greatest_payload
    mass = told(bare.with_payload(21.0), move).greatest_payload
    plan = minimize_energy(bare.with_payload(mass), move)
    assert 0.93 * most < mass <= most and plan.ok and plan.certificate.ok


def test_a_payload_off_the_links_origin_is_reckoned_where_it_is():
    at, q = (0.0, 0.1, 0.2), [0.2, -0.6, 0.9, 0.3, 0.4, 0.0]
    held = lambda mass: forbidden(
        library("six_axis").with_payload(mass, at=at), Move(q, q, 1.0), search=False
    )
    greatest = held(60.0).greatest_payload
    assert held(0.999 * greatest) is None and held(1.001 * greatest) is not None


def test_another_payload_in_the_place_of_the_first_leaves_the_same_robot():
    at, q = (0.0, 0.1, 0.2), np.array([0.2, -0.6, 0.9, 0.3, 0.4, 0.0])
    heavy, light = (library("six_axis").with_payload(mass, at=at) for mass in (3.0, 1.2))
    again = reloaded(heavy, carrier(heavy), 1.2)
    assert np.allclose(
        inverse_dynamics(again, q, q, q), inverse_dynamics(light, q, q, q), rtol=1e-12, atol=1e-12
    )
    assert carrier(again).mass == pytest.approx(1.2) and carrier(again).point == pytest.approx(at)


def test_a_payload_that_cannot_be_lifted_past_the_horizontal_is_told_with_the_one_that_can():
    # it stands nearly upright and shall hang: between them it is stretched out
    heavy = library("planar2").with_payload(12.0)
    found = told(heavy, Move([0.05, 0.0], [3.1, 0.0], 4.0))
    assert (
        "cannot carry it, not even slowly" in found.sentence and 0 < found.greatest_payload < 12.0
    )
    lighter = minimize_energy(
        library("planar2").with_payload(0.99 * found.greatest_payload),
        Move([0.05, 0.0], [3.1, 0.0], 4.0),
    )
    assert lighter.ok and lighter.certificate.ok


@pytest.mark.parametrize("what", ["start", "goal", "via point"])
@pytest.mark.parametrize("name", DRIVEN)
def test_places_out_of_range_are_told_with_the_nearest_value(name, what):
    robot = library(name)
    ranges = [
        (j, robot.joint(x).limits)
        for j, x in enumerate(robot.joint_names)
        if np.isfinite(robot.joint(x).limits.upper)
    ]
    if not ranges:
        assert name == "valasek"
        return
    j, limits = ranges[-1]
    inside = np.array(
        [
            np.clip(0.1, robot.joint(x).limits.lower, robot.joint(x).limits.upper)
            for x in robot.joint_names
        ]
    )
    outside = inside.copy()
    outside[j] = limits.upper + 0.25
    move = {
        "start": Move(outside, inside, 2.0),
        "goal": Move(inside, outside, 2.0),
        "via point": Move(inside, inside + 0.01, 2.0, via=[Via(outside)]),
    }[what]
    found = told(robot, move)
    assert f"The {what} is out of range: joint {robot.joint_names[j]!r}" in found.sentence
    assert f"{limits.upper:.6g}" in found.remedy and found.amount == pytest.approx(0.25)


def test_ends_faster_than_limits_motors_or_voltage_are_told_with_the_fastest():
    assert "Take at most 3." in str(
        told(SIX, Move(SIX_START, SIX_GOAL, 2.0, goal_velocity=[4.0, 0, 0, 0, 0, 0]))
    )
    most, why = fastest(ARM, 0)
    # Burgevin's [33] and [34]: |V| ≤ 100 V and R i² ≤ 80 W with K = 1.7/0.15: (100 + √80)/K
    assert most == pytest.approx((100.0 + 80.0**0.5) / (1.7 / 0.15)) and "voltage" in why
    assert f"{most:.6g}" in str(told(ARM, Move(START, GOAL, 1.0, start_velocity=[12.0, 0.0, 0.0])))


def test_places_whose_velocity_leads_out_of_range_or_comes_from_outside_are_told():
    robot = library("planar2")
    top = robot.joint("shoulder").limits.upper
    found = told(robot, Move([top - 0.01, 0.0], [0.0, 0.0], 2.0, start_velocity=[3.0, 0.0]))
    assert (
        "cannot stop within 0.01" in found.sentence
        and found.remedy == f"Take at most {(2 * 40.0 * 0.01) ** 0.5:.4g} there."
    )
    found = told(robot, Move([0.0, 0.0], [top - 0.01, 0.0], 2.0, goal_velocity=[-3.0, 0.0]))
    assert (
        "goal comes from out of range" in found.sentence
        and "cannot have set out within 0.01" in found.sentence
    )
    for speed, words in ((0.2, "leads out of range"), (-0.2, "comes from out of range")):
        found = told(
            robot, Move([0.0, 0.0], [0.5, 0.0], 2.0, via=[Via([top, 0.0], velocity=[speed, 0.0])])
        )
        assert f"The via point {words}" in found.sentence


def test_a_cycle_over_its_mean_limit_is_reported_with_the_pause_that_helps():
    cool = lambda drive: replace(drive, motor=replace(drive.motor, average_heat=0.3))
    robot = ARM.with_drives({c.joints[0]: cool(c.drives[0]) for c in ARM.drives})
    cycle = Move(START, START, 1.4, via=[Via(GOAL, at=0.7, velocity=0.0)])
    minimize_energy(robot, replace(cycle, duration=2.0))
    plan = minimize_energy(robot, cycle)
    found = plan.diagnosis
    assert (
        "mean (thermal) limit" in found.sentence
        and found.limit == "average heat"
        and found.pause > 0
    )
    # what the sentence says is the mean over the motion alone; with the pause it is the limit, but
    # for what plans are left to be found with
    assert (0.3 + found.amount) * 1.4 / (1.4 + found.pause) == pytest.approx(0.98 * 0.3)
    in_time = lambda T: minimize_energy(
        robot, replace(cycle, duration=T, via=[Via(GOAL, velocity=0.0)])
    )
    assert found.shortest_duration is not None
    assert (
        in_time(found.shortest_duration).certificate.ok
        and not in_time(0.97 * found.shortest_duration).ok
    )


def test_near_limits_of_means_the_shortest_duration_is_told_to_one_per_cent():
    """The shoulder's and the elbow's continuous current decide: 0.9905 s is the least time by
    minimize_time."""
    robot, move = (
        library("planar2").with_payload(2.0),
        Move([0.0, 0.0], [np.radians(30), np.radians(40)], 0.9),
    )
    assert told(robot, move).shortest_duration == pytest.approx(0.9905, rel=0.01)
    plan = minimize_energy(robot, replace(move, duration=1.0005))
    assert plan.ok and plan.certificate.ok


def test_a_payload_too_heavy_only_for_the_continuous_current_is_told_with_one_that_is_not():
    weak = lambda drive: replace(
        drive, motor=replace(drive.motor, continuous_current=0.6 * drive.motor.continuous_current)
    )
    bare = library("planar2")
    bare = bare.with_drives({c.joints[0]: weak(c.drives[0]) for c in bare.drives})
    move = Move([0.2, 0.2], [0.35, 0.4], 1.5)
    found = told(bare.with_payload(2.0), move)
    assert found.limit == "continuous current" and found.greatest_payload is not None
    assert (
        f"{found.greatest_payload:.4g} kg" in found.sentence
        and found.excess_payload == pytest.approx(2.0 - found.greatest_payload)
    )
    lighter = minimize_energy(bare.with_payload(0.98 * found.greatest_payload), move)
    assert lighter.ok and lighter.certificate.ok


def test_excess_over_a_mean_limit_is_reported_of_the_motion_of_least_copper_loss():
    robot, move = (
        library("planar2").with_payload(2.0),
        Move([0.0, 0.0], [np.radians(30), np.radians(40)], 0.93),
    )
    found, least = minimize_energy(robot, move).diagnosis, minimize_time(robot, move).duration
    assert move.duration < least and move.duration < found.shortest_duration < 1.02 * least
    assert minimize_energy(robot, replace(move, duration=found.shortest_duration)).ok
    assert f"{found.shortest_duration:.4g} s" in str(found)
    if "mean (thermal) limit" in found.sentence:
        cubic = margins(
            robot, joint_cubic(move.start, move.goal, move.duration, joint_names=robot.joint_names)
        )[found.joint][found.limit]
        assert (
            "in the motion of least copper loss" in found.sentence
            and found.amount < cubic.value - cubic.bound
        )


def test_a_goal_that_no_posture_reaches_is_told_with_how_far_the_arm_comes():
    with pytest.raises(
        ArgumentError,
        match=(
            r"the goal cannot be reached by 'tool'.*m away.*the nearest place that it reaches is \("
        ),
    ):
        ways_round(SIX, Move(SIX_START, np.array([5.0, 0.0, 0.5]), 2.0), link="tool")


def test_the_relaxed_motion_can_be_looked_at():
    plan = minimize_energy(ARM, Move(START, GOAL, 0.2))
    assert not plan.ok and plan.trajectory.duration == pytest.approx(0.2)
    assert np.abs(plan.trajectory.q[0] - START).max() < 0.05 and np.isfinite(plan.energy)
    assert not plan.certificate.ok or np.abs(plan.trajectory.q[-1] - GOAL).max() > 1e-3


def test_a_search_without_a_plan_is_never_certified():
    """Its best try keeps limits and can be simulated, but need not arrive."""
    plan = minimize_energy(
        library("burgevin"), Move([0.0, 1.5, 0.8], [2.0, 1.2, 0.9], 0.05), knots=20
    )
    assert not plan.ok and not plan.certificate.ok and "found no plan" in str(plan.certificate)


def test_a_limit_exceeded_between_knots_is_told_with_the_duration_in_which_the_motion_keeps_it():
    task = posed(ARM, Move(START, GOAL, 0.28), "regenerative", 6)
    pipeline = Pipeline(Weights(energy=1.0))
    fast = pipeline.solve(task, task.guess(), pipeline.settings.end, pipeline.settings.end)
    found = between_knots(fast)
    assert (
        fast.ok
        and found.limit == fast.worst.limit
        and f"{found.shortest_duration:.4g} s is feasible" in found.sentence
    )
    slower = stretched(fast.motion, found.shortest_duration)
    assert min(m.fraction for row in margins(ARM, slower).values() for m in row.values()) >= -1e-3
    assert fast.motion.duration < found.shortest_duration < 1.2 * fast.motion.duration


def test_a_search_that_is_given_up_says_that_no_motion_was_found_and_one_that_was_stopped_that_it_was(
    warm,
):
    robot, start, goal, least = warm
    move = Move(start, goal, 0.5 * least)
    assert minimize_energy(robot, move).status is Status.INFEASIBLE
    stopped = minimize_energy(robot, move, callback=lambda line: line.number >= 3)
    assert stopped.status is Status.INTERRUPTED and stopped.diagnosis is None


def test_a_motion_needs_some_steps():
    with pytest.raises(ArgumentError, match="knots = 0"):
        minimize_energy(library("burgevin"), Move([0.0, 1.5, 0.8], [2.0, 1.2, 0.9], 1.0), knots=0)


def test_what_is_said_of_an_impossible_task_says_nothing_of_energy():
    short, away = (
        minimize_energy(library("planar2"), Move([0.0, 0.0], goal, T))
        for goal, T in (([1.0, 1.0], 0.05), ([1.0, 99.0], 1.0))
    )
    assert not short.ok and "too short" in str(short) and "energy drawn" not in str(short)
    assert (
        not away.ok
        and "No motion was searched for" in str(away)
        and "out of range" in str(away)
        and "energy drawn" not in str(away)
    )


@pytest.mark.parametrize("quantity", ["velocity", "acceleration", "torque"])
def test_a_limit_of_zero_on_a_joint_that_must_move_is_told_at_once(quantity):
    robot = ARM.with_limits({"theta": {quantity: 0.0}})
    found = forbidden(robot, Move(START, GOAL, 2.0))
    assert (
        found is not None
        and found.joint == "theta"
        and f"limit of {quantity} is 0" in found.sentence
    )
    stays = forbidden(robot, Move(START, [GOAL[0], START[1], GOAL[2]], 2.0), search=False)
    assert stays is None or "cannot move" not in stays.sentence


@pytest.mark.parametrize("size, possible", [(-0.5, False), (-1e-4, True)])
def test_a_negative_inertia_is_refused_where_it_makes_the_kinetic_energy_negative(size, possible):
    robot = library("planar2")
    inertia = (size, size, size, 0.0, 0.0, 0.0)
    name = robot.links[-1].name
    links = tuple(replace(x, inertia=inertia) if x.name == name else x for x in robot.links)
    robot = replace(robot, links=links)
    _, directions = np.linalg.eigh(mass_matrix(robot, [0.0, 0.0]))
    assert (kinetic_energy(robot, [0.0, 0.0], directions[:, 0]) > 0.0) == possible
    plan = minimize_energy(robot, Move([0.0, 0.0], [0.4, 0.4], 1.0), knots=20)
    assert plan.ok == possible
    assert possible or name in plan.diagnosis.sentence
