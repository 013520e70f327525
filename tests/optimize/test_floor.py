"""Plans stay above the floor, at every instant, and say so; ends below it are refused with link and
depth."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.dynamics.positioning.heights import part_heights
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.clearance import proved_heights
from armature.optimize.certificate.self_collision import segment_distance, self_collisions
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.planner.floor import Ground, floor_at, planned_above, through
from armature.robot.cover import with_floor
from armature.scene.floor import LIMIT

START, GOAL = np.radians([-40, -80, 140, -60, -90, 0]), np.radians([60, -40, 60, -20, -90, 90])
LINKS = {
    "forearm": (0.19, 0.0, 0.0),
    "wrist1": (0.0, 0.09, 0.0),
    "wrist2": (0.0, 0.0, -0.09),
    "flange": (0.0, 0.06, 0.0),
}
# name: radius, length, axis of the library's cylinders
SHAPES = {
    "forearm": (0.04, 0.4, 0),
    "wrist1": (0.04, 0.1, 1),
    "wrist2": (0.04, 0.1, 2),
    "flange": (0.035, 0.04, 1),
}


def arm_with_part() -> arm.Robot:
    return arm.library("six_axis").with_payload(3.0)


def lowest_point(robot: arm.Robot, motion: Trajectory, count: int = 2000) -> float:
    """By points on the rims of the links' cylinders, from their poses alone."""
    q = motion(np.linspace(0.0, motion.duration, count)).q
    low, angle = np.inf, np.linspace(0.0, 2 * np.pi, 73)
    for link, (radius, length, axis) in SHAPES.items():
        rim = np.zeros((2, 73, 3))
        rim[:, :, axis] = np.array([-length, length])[:, None] / 2
        rim[:, :, (axis + 1) % 3], rim[:, :, (axis + 2) % 3] = (
            radius * np.cos(angle),
            radius * np.sin(angle),
        )
        pose = arm.pose(robot, q, link)
        points = (
            np.einsum("ki,mi->km", pose.R[:, 2], rim.reshape(-1, 3) + LINKS[link])
            + pose.p[:, 2, None]
        )
        low = min(low, float(points.min()))
    return low


@pytest.fixture(scope="module")
def plans() -> dict[str, arm.Solution]:
    robot = arm_with_part()
    move = lambda floor: arm.Move(START, GOAL, 1.6, floor=floor)
    return {
        str(floor): arm.minimize_energy(robot, move(floor), "non-regenerative", knots=60)
        for floor in (None, "auto", -0.05)
    }


def test_a_plan_that_would_go_through_the_floor_stays_above_it(plans: dict[str, arm.Solution]):
    free, kept = plans["None"], plans["auto"]
    assert lowest_point(free.robot, free.trajectory) < -0.1
    assert kept.ok and kept.certificate.ok and lowest_point(kept.robot, kept.trajectory) >= 0.0
    assert kept.energy > free.energy and any("kept above the floor" in note for note in kept.notes)
    margin = min(
        (row[LIMIT] for row in kept.certificate.margins.values() if LIMIT in row),
        key=lambda m: m.fraction,
    )
    assert 0.0 <= margin.value <= lowest_point(kept.robot, kept.trajectory) + 1e-3
    assert any(
        "floor at z = 0 m (assumed, under the base); it carries base" in note
        for note in kept.certificate.notes
    )


def test_a_lower_floor_costs_less_and_is_kept_too(plans: dict[str, arm.Solution]):
    lower = plans["-0.05"]
    assert lower.certificate.ok and lowest_point(lower.robot, lower.trajectory) >= -0.05
    assert plans["None"].energy < lower.energy < plans["auto"].energy


def test_another_floor_compiles_nothing(
    plans: dict[str, arm.Solution], monkeypatch: pytest.MonkeyPatch
):
    from armature.kernel import machine_code

    assert plans["auto"].ok
    monkeypatch.setattr(machine_code, "assemble", lambda *_: pytest.fail("something was compiled"))
    plan = arm.minimize_energy(
        arm_with_part(), arm.Move(START, GOAL, 1.6, floor=-0.02), "non-regenerative", knots=60
    )
    assert plan.ok and lowest_point(plan.robot, plan.trajectory) >= -0.02


def test_a_goal_that_touches_the_floor_hardly_takes_more_time():
    robot, goal = arm_with_part(), np.radians([60, -10, 20, -10, -90, 90])
    free, kept = (
        arm.minimize_time(robot, arm.Move(START, goal, floor=floor), knots=60, starts=1)
        for floor in (None, "auto")
    )
    z = kept.robot.floor.height
    assert kept.ok and lowest_point(robot, kept.trajectory) >= z - 1e-4
    assert kept.duration < 1.02 * free.duration


def test_a_plan_far_above_the_floor_is_the_same_as_without_one():
    robot, move = (
        arm_with_part(),
        (np.zeros(6) + [0, -1.2, 1.0, 0, 0, 0], np.zeros(6) + [0.8, -1.4, 1.2, 0.3, 0.2, 0.1]),
    )
    free, kept = (
        arm.minimize_energy(robot, arm.Move(*move, 1.2, floor=floor), knots=40)
        for floor in (None, "auto")
    )
    assert np.array_equal(free.trajectory.q, kept.trajectory.q) and free.notes == kept.notes
    assert min(row[LIMIT].value for row in kept.certificate.margins.values() if LIMIT in row) > 0.0


def test_a_floor_that_the_start_touches_is_kept():
    robot = arm_with_part()
    z = float(part_heights(robot, START, floor_at(robot, -1.0).parts).min())
    plan = arm.minimize_energy(
        robot, arm.Move(START, GOAL, 1.6, floor=z), "non-regenerative", knots=60
    )
    assert plan.ok and plan.certificate.ok and lowest_point(robot, plan.trajectory) >= z - 1e-4


def test_a_deadline_holds_for_all_plans_above_a_floor_together(plans: dict[str, arm.Solution]):
    robot, given = arm_with_part(), []

    def through_the_floor(robot: arm.Robot, left: float | None) -> arm.Solution:
        given.append(left)
        time.sleep(0.02)
        return plans["None"]

    found = planned_above(robot, Ground(floor_at(robot, 0.0)), through_the_floor, 0.05)
    assert (
        given[0] == 0.05
        and len(given) > 2
        and all(after <= max(before - 0.02, 0.0) for before, after in itertools.pairwise(given))
    )
    assert not found.ok and "No motion was found above the floor" in str(found.diagnosis)


def test_inferred_limits_of_acceleration_give_way_to_the_floor(
    plans: dict[str, arm.Solution], monkeypatch: pytest.MonkeyPatch
):
    robot, asked = arm.library("burgevin").with_payload(2.0), []

    def planned(robot: arm.Robot, *_: object) -> arm.Solution:
        asked.append(robot)
        return replace(
            plans["None"],
            diagnosis=Diagnosis("no way above the floor", LIMIT) if len(asked) == 1 else None,
        )

    monkeypatch.setattr("armature.optimize.moves.least_energy.planned", planned)
    found = arm.minimize_energy(robot, arm.Move([0.0, 1.2, 0.4], [1.2, 1.8, 0.7], 1.0))
    limits = [{joint.limits.acceleration for joint in asked_for.joints} for asked_for in asked]
    assert found.ok and len(limits) == 2 and max(limits[0]) < np.inf and limits[1] == {np.inf}


def test_the_least_time_above_a_floor_is_longer_than_through_it_and_kept():
    robot = arm_with_part()
    z = 0.0307  # hardly below the start: the shortest motion dips first
    free, kept = (
        arm.minimize_time(robot, arm.Move(START, GOAL, floor=floor), knots=40)
        for floor in (None, z)
    )
    assert kept.ok and kept.certificate.ok and lowest_point(robot, kept.trajectory) >= z - 1e-4
    assert lowest_point(robot, free.trajectory) < z and kept.duration >= 0.999 * free.duration


@pytest.mark.parametrize("which", ["start", "goal"])
def test_an_end_below_the_floor_is_refused_with_link_and_depth(which: str):
    robot, low = arm_with_part(), np.radians([60, 30, 20, -10, -90, 90])
    ends = (low, GOAL) if which == "start" else (START, low)
    plan = arm.minimize_energy(robot, arm.Move(*ends, 1.6, floor=0.0))
    told = plan.diagnosis
    assert (
        not plan.ok
        and told is not None
        and f"The {which} is below the floor" in told.sentence
        and told.joint in told.sentence
    )
    floor = floor_at(robot, 0.0)
    depths = dict(zip([part.link for part in floor.parts], -part_heights(robot, low, floor.parts)))
    assert told.amount == pytest.approx(max(depths.values())) and depths[
        told.joint
    ] == pytest.approx(told.amount)
    assert "floor: none" in told.remedy


def test_an_arm_whose_places_are_far_below_its_foot_has_no_assumed_floor():
    robot = arm_with_part()
    plan = arm.minimize_energy(
        robot, arm.Move(START, np.radians([60, 60, 0, 0, -90, 90]), 2.0), knots=40
    )
    assert plan.robot.floor is None and any("no floor was assumed" in note for note in plan.notes)


def test_proved_heights_are_never_above_what_the_motion_meets_and_hardly_below():
    rng, robot = np.random.default_rng(0), arm_with_part()
    guarded = with_floor(robot, floor_at(robot, 0.0))
    for interpolation in ("linear", "hermite"):
        t = np.linspace(0.0, 1.0, 9)
        q = np.cumsum(rng.normal(size=(9, 6)), axis=0)
        motion = Trajectory(
            t,
            q,
            rng.normal(size=(9, 6)),
            10 * rng.normal(size=(9, 6)),
            robot.joint_names,
            interpolation=interpolation,
        )
        motion = motion if interpolation == "hermite" else integrated(motion)
        proved = {h.link: h.height for h in proved_heights(guarded, motion, t)}
        dense = np.linspace(0.0, 1.0, 40001)
        heights = part_heights(robot, motion(dense).q, guarded.floor.parts)
        for link, height in proved.items():
            met = min(
                heights[:, k].min()
                for k, part in enumerate(guarded.floor.parts)
                if part.link == link
            )
            assert height <= met + 1e-12 and height >= met - 1e-3


def integrated(m: Trajectory) -> Trajectory:
    """The motion that has these accelerations: places and speeds at knots follow."""
    h, v, q = np.diff(m.t), [m.v[0]], [m.q[0]]
    for k in range(len(h)):
        q.append(q[-1] + h[k] * (v[-1] + h[k] * (2 * m.a[k] + m.a[k + 1]) / 6))
        v.append(v[-1] + h[k] * (m.a[k] + m.a[k + 1]) / 2)
    return Trajectory(m.t, np.array(q), np.array(v), m.a, m.joint_names, interpolation="linear")


def test_a_path_through_the_floor_is_refused_with_its_place():
    robot = arm_with_part()
    low = np.array([[0.45, -0.2, 0.3], [0.45, 0.0, -0.25], [0.45, 0.2, 0.3]])
    task = arm.FollowPath(arm.spline(low), duration=4.0, seed=START)
    with pytest.raises(
        arm.ArmatureError, match=r"through the floor: .* m below z = 0 m at p = 0\.\d+"
    ):
        arm.minimize_energy(robot, task)


def test_curves_and_ways_keep_the_floor():
    robot = arm_with_part()
    move = arm.Move(START, GOAL, 1.6, floor=0.0)
    guarded = with_floor(robot, floor_at(robot, 0.0))
    curve = arm.energy_time_curve(
        robot, move, [1.5, 1.7], "non-regenerative", knots=30, refine=False
    )
    assert all(
        motion is not None and through(guarded, motion) is None for motion in curve.trajectories
    )
    with pytest.raises(arm.ArmatureError, match="below the floor"):
        arm.energy_time_curve(robot, arm.Move(START, GOAL, floor=1.0), [1.5])


def test_links_that_run_into_each_other_are_warned_of():
    robot = arm.library("six_axis")
    t = np.linspace(0.0, 1.0, 21)
    q = np.zeros((21, 6))
    q[:, 1], q[:, 2] = (
        -1.2,
        2.75 * np.sin(np.pi * t),
    )  # the forearm folds back into the base and out again
    motion = Trajectory(
        t, q, np.asarray(np.gradient(q, t, axis=0)), np.zeros_like(q), robot.joint_names
    )
    found = self_collisions(robot, motion)
    assert (
        found
        and found[0].depth > 0.0
        and 0.2 < found[0].time < 0.8
        and "self-collision" in str(found[0])
    )
    still = Trajectory(t, 0 * q, 0 * q, 0 * q, robot.joint_names)
    assert self_collisions(robot, still) == []


def test_distances_of_segments_are_those_of_their_nearest_points():
    rng = np.random.default_rng(5)
    a, b, c, d = rng.normal(size=(4, 50, 3))
    s = np.linspace(0, 1, 201)
    dense = lambda p, q: p[:, None] + s[:, None] * (q - p)[:, None]
    truth = np.array(
        [
            np.linalg.norm(x[:, None] - y[None], axis=-1).min()
            for x, y in zip(dense(a, b), dense(c, d))
        ]
    )
    assert np.all(np.abs(segment_distance(a, b, c, d) - truth) < 0.02) and np.all(
        segment_distance(a, b, c, d) <= truth + 1e-12
    )
