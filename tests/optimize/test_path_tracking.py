"""Path tracking on (p, ṗ): three solvers that check each other, limits between knots, refusals with
the place (K4–K6)."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import toppra as ta
from benchmarks.paths import trial
from benchmarks.random_paths import SHAPES, case

import armature as arm
from armature.motion.shapes import circle, joint_path, line, polyline
from armature.optimize.anytime.improve import improve
from armature.optimize.certificate.certify import margins
from armature.optimize.path.along_path import knots_along, plain_timing, steps_along
from armature.optimize.path.fastest import duration_of, fastest, straight_rows
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.least_along import least_energy_along, least_time_along
from armature.optimize.path.path import path_model
from armature.optimize.path.phase_plane import best_profile, best_within_means, mean_excesses
from armature.optimize.path.programme import programme
from armature.optimize.path.redundant import best_self_motion, least_energy_to_pose, slope_of
from armature.optimize.path.self_motion import SelfMotion, energy_and_slope, plain_times
from armature.optimize.solver.interior import solve
from armature.optimize.transcription.guess import along
from armature.optimize.transcription.instant import instants
from armature.robot.bounds import bounds


def random_path(robot, seed: int, points: int = 4):
    """A smooth path of the joints through random configurations within their ranges."""
    b, rng = bounds(robot), np.random.default_rng(seed)
    low, high = np.maximum(b.lower, -1.2), np.minimum(b.upper, 1.2)
    q = low + (high - low) * rng.uniform(0.25, 0.75, (points, robot.n))
    if robot.name == "valasek":
        q[:, 2] = 0.6 + 0.2 * rng.uniform(-1, 1, points)
    return joint_path(q)


def worst(robot, motion) -> float:
    return min(
        (m.fraction for row in margins(robot, motion).values() for m in row.values()), default=1.0
    )


def profile_of(robot, path, duration: float, knots: int = 80):
    """The dynamic programme's and the interior solver's answers on the same steps, the latter not
    started from the former."""
    curve = FollowPath(path).curve(robot)
    steps = steps_along(curve, knots_along(curve, knots), (0.0, 0.0))
    model, start = path_model(instants(robot)), plain_timing(curve, steps.p, duration)
    top = np.full(steps.N + 1, 3.0 * float(np.max(start.s)))
    profile = best_profile(model.step, steps, top, duration=duration)
    result = solve(model.problem(steps, start, 1.0, 0.0, duration), model.guess(steps, start))
    return profile, result


@pytest.mark.parametrize("name, duration", [("valasek", 2.0), ("burgevin", 1.0), ("planar2", 2.5)])
def test_dynamic_programme_and_interior_solver_agree(name, duration):
    robot = arm.library(name)
    path = random_path(robot, 3)
    profile, result = profile_of(robot, path, duration)
    assert profile is not None and result.ok
    assert profile.duration == pytest.approx(duration, rel=1e-3)
    books = least_energy_along(robot, FollowPath(path, duration=duration)).ledger
    assert abs(profile.energy - result.cost) < 0.005 * max(abs(result.cost), books.throughput)
    assert abs(result.cost - books.energy) < 0.005 * max(abs(result.cost), books.throughput)


SHAPED = [
    ("planar2", 0),
    ("valasek", 1),
    ("valasek", 2),
    ("burgevin", 3),
    ("scara", 12),
    ("seven_axis", 5),
    ("six_axis", 6),
    ("burgevin", 7),
]


@pytest.mark.parametrize(
    "name, seed", SHAPED, ids=[f"{name}-{SHAPES[seed % len(SHAPES)]}" for name, seed in SHAPED]
)
def test_random_paths_of_joints_and_hand_keep_all_limits_between_knots_and_the_solvers_agree(
    name, seed
):
    # all shapes, robots and both supplies in turn; `python -m benchmarks paths` runs 102
    found = trial(name, seed)
    assert found.found == 2 and found.excess <= 1e-9
    assert found.apart < 0.005 and (found.below < 1e-4 or np.isnan(found.below))
    assert all("p = " in reason for reason in found.refused)


def test_dynamic_programme_is_refined_until_it_stands_and_meets_the_interior_solver():
    # smooth cost: C/N²; where nothing is taken back: C/N; in both the limit is the interior
    # solver's energy
    robot = arm.library("burgevin")
    curve = FollowPath(random_path(robot, 3)).curve(robot)
    for supply in ("regenerative", "non-regenerative"):
        found = programme(curve, 1.0, supply)
        plan = least_energy_along(robot, FollowPath(curve, duration=1.0), supply)
        assert (
            found is not None
            and found.stands
            and abs(found.limit - plan.energy) < 0.002 * plan.losses
        )
        assert (
            found.bound > plan.energy - 5e-4 * plan.losses
            and found.profile.duration == pytest.approx(1.0, rel=1e-5)
        )


def test_where_the_hull_has_a_gap_the_programme_bounds_the_energy_and_agrees_beside_it():
    # a slow run pauses, or does not: between the two durations there is no price
    robot = arm.library("planar2")
    curve = case("planar2", 13).task.path
    T = 2.8 * least_time_along(robot, FollowPath(curve)).duration
    found = programme(curve, T)
    assert found is not None and abs(found.profile.duration / T - 1) > 0.05
    plan, beside = (
        least_energy_along(robot, FollowPath(curve, duration=D))
        for D in (T, found.profile.duration)
    )
    assert (
        plan.ok
        and found.bound < plan.energy
        and abs(beside.energy - found.energy) < 0.002 * beside.losses
    )


def test_least_time_does_not_depend_on_the_supply():
    robot = arm.library("planar2")
    task = FollowPath(random_path(robot, 4))
    times = [
        least_time_along(robot, task, supply).duration
        for supply in ("regenerative", "non-regenerative")
    ]
    assert times[0] == pytest.approx(times[1], rel=1e-9)


def test_literal_method_is_never_below_the_solvers_along_a_path():
    robot = arm.library("valasek")
    path = random_path(robot, 5)
    best = least_energy_along(robot, FollowPath(path, duration=2.0))
    last = list(
        itertools.islice(improve(robot, FollowPath(path, duration=2.0), decrease=1e-6), 30)
    )[-1]
    assert best.energy - 1e-5 * best.ledger.throughput < last.energy
    assert last.energy - best.energy < 0.02 * best.ledger.throughput


def test_certificate_passes_along_a_path_of_the_hand():
    robot = arm.library("six_axis")
    hand = arm.pose(robot, np.array([0.2, -0.6, 1.2, 0.3, 0.4, 0.0]), "tool")
    path = line(hand, (hand.R, hand.p + np.array([0.1, 0.2, 0.15])))
    plan = least_energy_along(
        robot,
        FollowPath(path, duration=1.2, link="tool", seed=np.array([0.2, -0.6, 1.2, 0.3, 0.4, 0.0])),
    )
    assert plan.ok and plan.certificate.ok, plan.certificate
    where = arm.pose(robot, plan.trajectory(np.linspace(0, 1.2, 200)).q, "tool")
    along = where.p - hand.p
    d = np.array([0.1, 0.2, 0.15]) / np.linalg.norm([0.1, 0.2, 0.15])
    assert (
        np.abs(along - (along @ d)[:, None] * d).max() < 1e-5
        and np.abs(where.R - hand.R).max() < 1e-5
    )


def test_path_of_the_hand_is_smooth_though_other_branches_end_on_its_way():
    # the witness of the third derivative: differences of the second
    robot, q = arm.library("six_axis"), np.array([0.2, -0.6, 1.2, 0.3, 0.4, 0.0])
    hand = arm.pose(robot, q, "tool")
    path, p = (
        line(hand, (hand.R, hand.p + np.array([0.1, 0.2, 0.15]))),
        np.linspace(0.0, 1.0, 10001),
    )
    assert not all(branch.ok for branch in arm.follow(robot, path, "tool", seed=q).others)
    at = FollowPath(path, link="tool", seed=q).curve(robot)(p)
    slope = np.abs(np.diff(at.ddq, axis=0)).max() / p[1]
    assert np.abs(at.dddq).max() < 1.05 * slope and slope < 10 * np.abs(at.ddq).max()


def test_hand_stops_at_the_corners_of_a_polyline():
    robot = arm.library("planar2")
    q0 = np.array([0.4, 1.2])
    p = arm.pose(robot, q0, robot.tips[0]).p
    u = arm.jacobian(robot, q0, robot.tips[0])[:3]
    a, b = p + 0.08 * u[:, 0], p + 0.08 * u[:, 0] + 0.08 * u[:, 1]
    path = polyline([p, a, b])
    plan = least_time_along(robot, FollowPath(path, start=q0, link=robot.tips[0]))
    assert plan.ok and worst(robot, plan.trajectory) >= -1e-9
    hand = arm.pose(robot, plan.trajectory.q, robot.tips[0]).p
    k = int(np.argmin(np.linalg.norm(hand - a, axis=1)))
    assert np.linalg.norm(hand[k] - a) < 1e-5 and np.abs(plan.trajectory.v[k]).max() < 1e-5
    calm = least_energy_along(
        robot, FollowPath(path, duration=1.5 * plan.duration, start=q0, link=robot.tips[0])
    )
    assert (
        calm.ok
        and calm.duration == pytest.approx(1.5 * plan.duration, rel=1e-6)
        and calm.ledger.losses < plan.ledger.losses
    )
    hasty = least_energy_along(
        robot, FollowPath(path, duration=0.5 * plan.duration, start=q0, link=robot.tips[0])
    )
    assert (
        not hasty.ok
        and hasty.diagnosis is not None
        and hasty.diagnosis.shortest_duration == pytest.approx(plan.duration, rel=1e-3)
    )


def test_least_time_within_torque_and_velocity_limits_equals_toppra():
    ta.setup_logging("ERROR")
    robot, limits = frictionless("six_axis")
    path = random_path(robot, 2)
    curve = FollowPath(path).curve(robot)
    p = np.linspace(0.0, 1.0, 101)
    steps = steps_along(curve, p, (0.0, 0.0))
    rows = straight_rows(path_model(instants(robot)).step, steps).chosen(
        lambda name: name.startswith(("velocity", "torque"))
    )
    mine = duration_of(steps, fastest(steps, rows).s)
    speed = ta.constraint.JointVelocityConstraint(
        np.column_stack([-limits.velocity, limits.velocity])
    )
    torque = ta.constraint.JointTorqueConstraint(
        lambda q, v, a: arm.inverse_dynamics(robot, q, v, a),
        np.column_stack([-limits.torque, limits.torque]),
        np.zeros(robot.n),
        discretization_scheme=ta.constraint.DiscretizationType.Interpolation,
    )
    their_path = ta.SplineInterpolator(path.breaks, path(path.breaks).q, bc_type="not-a-knot")
    s = ta.algorithm.TOPPRA(
        [speed, torque], their_path, gridpoints=p, solver_wrapper="seidel"
    ).compute_parameterization(0, 0)[1]
    assert mine == pytest.approx(float(np.sum(2 * np.diff(p) / (s[1:] + s[:-1]))), rel=1e-3)


def frictionless(name: str):
    """A robot without friction whose drives never limit it, and its joints' limits."""
    robot = arm.library(name)
    robot = robot.with_friction(
        {joint: {"viscous": 0.0, "coulomb": 0.0} for joint in robot.joint_names}
    )
    strong = {}
    for c in robot.drives:
        d = c.drives[0]
        inf = np.inf
        motor = replace(
            d.motor,
            peak_current=inf,
            continuous_current=inf,
            maximum_speed=inf,
            peak_heat=inf,
            average_heat=inf,
        )
        amplifier = replace(
            d.amplifier, voltage=np.inf, peak_current=np.inf, continuous_current=np.inf
        )
        strong[c.joints[0]] = replace(
            d,
            motor=motor,
            amplifier=amplifier,
            gear=replace(d.gear, maximum_speed=inf, maximum_torque=inf),
        )
    robot = robot.with_drives(strong)
    return robot, bounds(robot)


def test_fastest_profile_on_a_line_of_one_joint_is_bang_bang():
    # τ = m a, |τ| ≤ F over a way d: T = 2 √(m d/F)
    robot = (
        arm.library("valasek")
        .with_gravity((0.0, 0.0, 0.0))
        .with_limits({"r": {"lower": 0.3, "upper": 3.0, "torque": 10.0}})
    )
    path = joint_path(np.array([[0.0, 0.0, 0.5], [0.0, 0.0, 1.5]]))
    curve = FollowPath(path).curve(robot)
    steps = steps_along(curve, np.linspace(0, 1, 101), (0.0, 0.0))
    found = fastest(steps, straight_rows(path_model(instants(robot)).step, steps))
    assert duration_of(steps, found.s) == pytest.approx(2 * np.sqrt(1.0 / 10.0), rel=1e-9)
    plan = least_time_along(robot, FollowPath(path))
    assert plan.ok and plan.duration == pytest.approx(2 * np.sqrt(1.0 / 10.0), rel=1e-2)


def test_torque_rate_and_jerk_are_kept():
    robot = arm.library("planar2").with_limits(
        {name: {"torque_rate": 200.0, "jerk": 300.0} for name in ("shoulder", "elbow")}
    )
    path = random_path(robot, 4)
    plan = least_time_along(robot, FollowPath(path))
    assert plan.ok, plan
    t = np.linspace(0.0, plan.duration, 20001)
    q, v, a = plan.trajectory(t)
    tau = arm.inverse_dynamics(robot, q, v, a)
    assert np.abs(np.diff(tau, axis=0) / np.diff(t)[:, None]).max() < 200.0 * (1 + 1e-3)
    assert np.abs(np.diff(a, axis=0) / np.diff(t)[:, None]).max() < 300.0 * (1 + 1e-3)
    assert plan.certificate.ok
    free = least_time_along(arm.library("planar2"), FollowPath(path))
    assert plan.duration > free.duration


def test_average_heat_is_kept_and_costs_time():
    robot = arm.library("valasek")
    path = random_path(robot, 1)
    free = least_time_along(robot, FollowPath(path))
    heat = arm.ledger(robot, free.trajectory).per_joint["r"]["copper"] / free.duration
    drive = robot.drives[2].drives[0]
    cool = robot.with_drives(
        {"r": replace(drive, motor=replace(drive.motor, average_heat=0.8 * heat))}
    )
    plan = least_time_along(cool, FollowPath(path))
    assert plan.ok and plan.duration > free.duration
    assert arm.ledger(cool, plan.trajectory).per_joint["r"][
        "copper"
    ] / plan.duration <= 0.8 * heat * (1 + 1e-4)


def test_dynamic_programme_meets_average_heat_by_prices():
    robot = arm.library("valasek")
    path = random_path(robot, 1)
    curve = FollowPath(path).curve(robot)
    steps = steps_along(curve, knots_along(curve, 60), (0.0, 0.0))
    top = np.full(steps.N + 1, 8.0)
    free = best_within_means(path_model(instants(robot)).step, steps, top, None, 1.0, 0.0)
    drive = robot.drives[2].drives[0]
    limited = lambda watts: robot.with_drives(
        {"r": replace(drive, motor=replace(drive.motor, average_heat=float(watts)))}
    )
    heat = 1.0 + mean_excesses(path_model(instants(limited(1.0))).step, free)[0]
    cool = limited(0.8 * heat)
    step = path_model(instants(cool)).step
    found = best_within_means(step, steps, top, None, 1.0, 0.0)
    assert (
        mean_excesses(step, found).max() <= 1e-3 < mean_excesses(step, free).max()
        and found.duration > free.duration
    )
    plan = least_time_along(cool, FollowPath(path))
    assert (
        plan.duration == pytest.approx(found.duration, rel=0.02)
        and "lower convex hull only" in plan.notes[-1]
    )


def test_price_of_time_lies_between_least_time_and_slow():
    robot = arm.library("valasek")
    path = random_path(robot, 2)
    fast = least_time_along(robot, FollowPath(path))
    dear, cheap = (
        least_energy_along(robot, FollowPath(path, time_price=price)) for price in (20.0, 0.5)
    )
    assert dear.ok and cheap.ok and fast.duration <= dear.duration * (1 + 1e-3) < cheap.duration
    assert cheap.energy < dear.energy


def test_too_fast_is_refused_with_the_shortest_duration_place_and_limit():
    robot = arm.library("burgevin")
    path = random_path(robot, 0)
    fast = least_time_along(robot, FollowPath(path))
    plan = least_energy_along(robot, FollowPath(path, duration=0.7 * fast.duration))
    assert not plan.ok and plan.diagnosis is not None
    assert plan.diagnosis.shortest_duration == pytest.approx(fast.duration, rel=0.05)
    assert "p = " in plan.diagnosis.sentence and plan.diagnosis.joint in robot.joint_names


def test_load_that_cannot_be_held_is_refused_with_the_place():
    robot = arm.library("valasek").with_payload(12.0)
    plan = least_energy_along(robot, FollowPath(random_path(robot, 0), duration=5.0))
    assert not plan.ok and plan.diagnosis is not None
    assert "holding the arm" in plan.diagnosis.sentence and "p = " in plan.diagnosis.sentence


BENT = {
    "planar2": [0.4, 1.2],
    "scara": [0.3, 1.0, 0.05, 0.2],
    "valasek": [0.2, 0.4, 0.8],
    "burgevin": [0.3, 0.5, 0.5],
    "six_axis": [0.2, -0.9, 1.2, 0.3, 0.7, 0.0],
    "seven_axis": [0.2, 0.5, 0.1, 1.2, 0.1, 0.8, 0.0],
}
PLACE = r"p = (0\.\d+|0\b|\d\.?\d*e-\d+)"


def hand(name: str):
    robot = arm.library(name)
    q = np.array(BENT[name])
    return robot, q, arm.pose(robot, q, robot.tips[0])


@pytest.mark.parametrize("name", ["planar2", "scara", "burgevin", "six_axis", "seven_axis"])
def test_path_that_leaves_the_workspace_is_refused_with_the_place(name):
    robot, q, at = hand(name)
    away = at.p * np.array([1.0, 1.0, 0.0]) if name == "scara" else at.p
    with pytest.raises(arm.ArgumentError, match=PLACE):
        FollowPath(
            line(at.p, at.p + 4.0 * away / np.linalg.norm(away)), link=robot.tips[0], start=q
        ).curve(robot)


@pytest.mark.parametrize("name", ["planar2", "scara", "six_axis"])
def test_path_through_a_singularity_is_refused_with_the_place(name):
    # straight through the first axis
    robot, q, at = hand(name)
    base = (
        arm.pose(robot, q, robot.links[1].name).p
        if name == "planar2"
        else np.array([0.0, 0.0, at.p[2]])
    )
    with pytest.raises(arm.ArgumentError, match=PLACE):
        FollowPath(line(at.p, 2.0 * base - at.p), link=robot.tips[0], start=q).curve(robot)


@pytest.mark.parametrize("name", list(BENT))
def test_path_out_of_a_joints_range_is_refused_with_joint_and_place(name):
    robot, q, _ = hand(name)
    joint = robot.joint_names[1]
    narrow = robot.with_limits({joint: {"lower": q[1] - 0.1, "upper": q[1] + 0.1}})
    beyond = q.copy()
    beyond[1] += 0.3
    with pytest.raises(arm.ArgumentError, match=rf"{joint!r} at {PLACE}"):
        FollowPath(joint_path(np.array([q, beyond]))).curve(narrow)


@pytest.mark.parametrize("name", ["planar2", "valasek", "six_axis"])
def test_duration_too_short_for_a_motor_is_refused_with_limit_joint_and_place(name):
    robot, q, _ = hand(name)
    task = FollowPath(joint_path(np.array([q, q + 0.3])), duration=0.02)
    plan = least_energy_along(robot, task, knots=40)
    assert not plan.ok and plan.diagnosis is not None
    assert plan.diagnosis.shortest_duration > 0.02 and plan.diagnosis.joint in robot.joint_names
    assert "p = " in plan.diagnosis.sentence and plan.diagnosis.limit in plan.diagnosis.sentence


@pytest.mark.parametrize("name", ["planar2", "burgevin"])
def test_corner_passed_with_speed_is_refused_with_the_place(name):
    robot, q, at = hand(name)
    u = arm.jacobian(robot, q, robot.tips[0])[:3]
    a = at.p + 0.05 * u[:, 0]
    task = FollowPath(polyline([at.p, a, a + 0.05 * u[:, 1]]), start=q, link=robot.tips[0])
    with pytest.raises(arm.ArgumentError, match=PLACE):
        next(improve(robot, replace(task, duration=2.0)))
    with pytest.raises(arm.ArgumentError, match=f"corner.*{PLACE}"):
        arm.follow(robot, task.path, robot.tips[0], q)


def test_baseline_is_the_plain_profile_in_the_shortest_duration_that_the_limits_allow():
    robot, path = arm.library("planar2"), random_path(arm.library("planar2"), 4)
    plan = least_time_along(robot, FollowPath(path))
    base = plan.baseline
    shortest = arm.time_scaling(robot, along(path, 1.0, law="cubic")).shortest
    assert (
        base.feasible
        and base.trajectory.duration == pytest.approx(shortest, rel=1e-4)
        and base.trajectory.duration > plan.duration
    )
    assert (
        worst(robot, base.trajectory) == pytest.approx(0.0, abs=2e-4)
        and "breaks limits" in base.note
    )


def test_bad_tasks_are_refused():
    robot, path = arm.library("planar2"), joint_path(np.zeros((2, 3)) + [[0, 0, 0], [1, 1, 1]])
    with pytest.raises(arm.ArgumentError):
        FollowPath(path).curve(robot)
    with pytest.raises(arm.ArgumentError, match="'nothing'"):
        FollowPath("nothing")  # pyright: ignore[reportArgumentType]
    with pytest.raises(arm.ArgumentError, match="duration"):
        FollowPath(path, duration=-1.0)
    with pytest.raises(arm.ArgumentError, match="needs"):
        least_energy_along(robot, FollowPath(random_path(robot, 0)))


def test_circle_of_a_redundant_arm_is_planned_within_its_limits():
    robot = arm.library("seven_axis")
    q = np.array([0.0, 0.5, 0.0, 1.4, 0.0, 0.8, 0.0])
    tip = robot.tips[0]
    p = arm.pose(robot, q, tip).p
    path = circle(p, p + np.array([0.0, 0.0, 0.08]), (1.0, 0.0, 0.0), angle=np.pi)
    plan = least_energy_along(robot, FollowPath(path, duration=2.5, link=tip, start=q))
    assert plan.ok and worst(robot, plan.trajectory) >= -1e-9


SEVEN = np.array([0.0, 0.5, 0.0, 1.4, 0.0, 0.8, 0.0])


@pytest.mark.parametrize("posed", [False, True])
def test_self_motion_of_a_redundant_arm_is_chosen_by_the_energy(posed):
    # against the least norm; drawn to a home with a pull, n + 1 numbers, 24.55 J was the best on
    # this line of points
    robot, way = arm.library("seven_axis"), np.array([0.0, 0.25, 0.1])
    hand = arm.pose(robot, SEVEN, robot.tips[0])
    path = line(hand, (hand.R, hand.p + way)) if posed else line(hand.p, hand.p + way)
    task = FollowPath(path, duration=1.5, link=robot.tips[0], start=SEVEN)
    plain, best = (
        least_energy_along(robot, task, knots=30),
        best_self_motion(robot, task, tries=1 if posed else 2, knots=30),
    )
    assert (
        best.ok
        and best.energy < (33.0 if posed else 24.0)
        and best.energy < plain.energy - 0.02 * plain.ledger.throughput
    )
    assert (
        worst(robot, best.trajectory) >= -1e-9
        and "self-motion" in best.notes[-1]
        and np.allclose(best.trajectory.q[0], SEVEN)
    )
    at = arm.pose(robot, best.trajectory(np.linspace(0.0, 1.5, 100)).q, robot.tips[0])
    along, d = at.p - hand.p, way / np.linalg.norm(way)
    assert np.abs(along - (along @ d)[:, None] * d).max() < 1e-5 and np.allclose(
        along[-1], way, atol=1e-6
    )
    assert not posed or np.abs(at.R - hand.R).max() < 1e-5


def test_slope_of_the_energy_by_the_self_motion_equals_differences():
    robot = arm.library("seven_axis").with_friction(
        {n: {"viscous": 0.5, "coulomb": 0.0} for n in arm.library("seven_axis").joint_names}
    )
    p = arm.pose(robot, SEVEN, robot.tips[0]).p
    path = line(p, p + np.array([0.0, 0.25, 0.1]))
    curve = FollowPath(path, link=robot.tips[0], start=SEVEN).curve(robot)
    chart, timed = (
        SelfMotion(curve, path, robot.tips[0], instants(robot), True),
        plain_times(curve, 1.5),
    )
    places, rng = chart.places(timed.p), np.random.default_rng(0)
    c, d = 0.05 * rng.normal(size=(2, places.B.shape[1], 7))
    energy = lambda c: energy_and_slope(chart, places, timed, c)[0]
    slope = np.sum(energy_and_slope(chart, places, timed, c)[1] * d)
    assert slope == pytest.approx(
        (energy(c + 1e-4 * d) - energy(c - 1e-4 * d)) / 2e-4, rel=0.1
    )  # gears turn round smoothly


def test_goal_of_a_redundant_arm_is_chosen_on_its_self_motion():
    robot, tip = arm.library("seven_axis"), arm.library("seven_axis").tips[0]
    goal = arm.pose(robot, np.array([0.5, 0.8, 0.2, 1.0, 0.3, 0.6, 0.2]), tip)
    best = least_energy_to_pose(robot, SEVEN, goal, tip, 1.5, knots=30, most=2)
    tried = [
        arm.minimize_energy(robot, arm.Move(SEVEN, q, 1.5), knots=30)
        for q in arm.inverse_kinematics(robot, goal, tip, SEVEN, most=2)
    ]
    assert best.ok and best.energy < min(plan.energy for plan in tried if plan.ok) - 0.1
    last = arm.pose(robot, best.trajectory.q[-1], tip)
    assert np.allclose(last.p, goal.p, atol=1e-8) and np.allclose(last.R, goal.R, atol=1e-8)
    # (G1) against plans to goals beside, of the same optimum: each begins with the plan itself
    end, step = best.trajectory.q[-1], 0.02 * np.eye(7)[3]
    beside = lambda q: arm.minimize_energy(
        robot, arm.Move(SEVEN, q, 1.5, smoothness=0.0), knots=30, guess=best
    )
    up, down = beside(end + step).energy, beside(end - step).energy
    assert slope_of(instants(robot), best.trajectory)[3] == pytest.approx(
        (up - down) / 0.04, rel=0.05
    )


def test_goal_configuration_of_a_pose_is_chosen_by_the_energy():
    robot = arm.library("planar2")
    start, tip = np.array([0.2, 0.9]), robot.tips[0]
    goal = arm.pose(robot, np.array([0.9, 0.6]), tip).p
    best = least_energy_to_pose(robot, start, goal, tip, 1.5)
    assert best.ok and np.allclose(arm.pose(robot, best.trajectory.q[-1], tip).p, goal, atol=1e-6)
    for other in arm.inverse_kinematics(robot, goal, tip, seed=start):
        plan = arm.minimize_energy(robot, arm.Move(start, other, 1.5))
        assert not plan.ok or best.energy <= plan.energy + 1e-6
