"""The best numbers of a robot: against closed forms, and grids of plans made again."""

from dataclasses import replace

import numpy as np
import pytest
from axis import LOAD, ROTOR, WAY, T, axis, least_losses
from scipy.optimize import minimize_scalar

import armature as arm
from armature.errors import ArgumentError
from armature.optimize.solver.interior import Options
from armature.simulate.flows import drives_at

MOVE = arm.Move([0.0], [1.0], T, smoothness=0.0)
RATIO = "gear ratio of j"
EXACT = Options(tolerance=1e-8, iterations=300)


def test_the_best_ratio_of_an_axis_matches_inertias():
    design = arm.design.optimize_parameters(axis(), MOVE, {RATIO: (5.0, 500.0)})
    assert design.values[RATIO] == pytest.approx(np.sqrt(LOAD / ROTOR), rel=1e-3)
    assert design.ok and design.converged and not design.at_bound
    assert design.after == pytest.approx(least_losses(50.0), rel=1e-3)


def test_dry_friction_asks_for_a_higher_ratio():
    """N⁴ = (I² + c²T⁴/12x²)/d²: what is lost in the motor holds the friction too."""
    coulomb = 6.0
    design = arm.design.optimize_parameters(axis(coulomb=coulomb), MOVE, {RATIO: (5.0, 500.0)})
    best = ((LOAD**2 + coulomb**2 * T**4 / (12.0 * WAY**2)) / ROTOR**2) ** 0.25
    assert best > 55.0
    assert design.values[RATIO] == pytest.approx(best, rel=1e-3)


def test_viscous_friction_too():
    design = arm.design.optimize_parameters(axis(viscous=2.0), MOVE, {RATIO: (5.0, 500.0)})
    best = minimize_scalar(lambda x: least_losses(x, viscous=2.0), (20.0, 60.0)).x
    assert abs(best / 50.0 - 1.0) > 0.01
    assert design.values[RATIO] == pytest.approx(best, rel=1e-3)


def test_several_moves_share_one_ratio():
    """Two ways of one duration: their losses are in proportion, and so is the weight."""
    moves = [MOVE, arm.Move([0.0], [0.4], T, smoothness=0.0)]
    design = arm.design.optimize_parameters(
        axis(), moves, {RATIO: (5.0, 500.0)}, weights=(1.0, 3.0)
    )
    assert design.values[RATIO] == pytest.approx(50.0, rel=1e-3)
    assert design.after == pytest.approx((1.0 + 3 * 0.16) * least_losses(50.0), rel=1e-3)
    assert len(design.plans) == 2 and all(plan.certificate.ok for plan in design.plans)


def test_the_best_least_time_is_where_the_torque_is_used_best():
    """With a limit of the motor's current: T² ~ (I + d N²)/N, the same match."""
    robot = axis()
    drive = robot.drives[0].drives[0]
    robot = robot.with_drives({"j": replace(drive, motor=replace(drive.motor, peak_current=8.0))})
    design = arm.design.optimize_parameters(robot, arm.Move([0.0], [1.0]), {RATIO: (10.0, 200.0)})
    assert design.of == "time"
    assert design.values[RATIO] == pytest.approx(50.0, rel=0.01)


def test_a_bound_that_holds_is_named():
    design = arm.design.optimize_parameters(axis(), MOVE, {RATIO: (5.0, 40.0)})
    assert design.values[RATIO] == pytest.approx(40.0)
    assert design.at_bound == (RATIO,)
    assert "at its bound" in str(design)


def test_the_thesis_housing_is_best_where_a_grid_of_plans_says():
    robot = arm.library("burgevin").with_payload(2.0)
    start, goal = [0.0, np.pi / 3, 0.3], [np.pi / 2, 2 * np.pi / 3, 0.8]
    move = arm.Move(start, goal, 0.8, smoothness=0.0, floor=None, acceleration_limits="none")
    place = arm.design.parameter(robot, "centre z of head")
    design = arm.design.optimize_parameters(robot, move, {place: (-0.5, 0.3)})
    best = design.values[place.name]
    grid = best + np.array([-0.02, -0.01, 0.01, 0.02])
    costs = [arm.minimize_energy(place.change(robot, z), move, options=EXACT).losses for z in grid]
    assert design.after < min(costs)
    parabola = np.polyfit([*grid - best, 0.0], [*costs, design.after], 2)
    assert abs(parabola[1] / (2 * parabola[0])) < 1e-3 * 0.1  # of the thesis's −0.1 m


def test_a_tube_follows_its_length():
    """Mass, centre and inertia of a tube against sums over many small pieces."""
    robot = arm.library("planar2")
    link = robot.joints[1].parent
    law = arm.design.tube(link, 2700.0, 0.04, 0.003)
    made = law(robot).link(link)
    way = np.array(robot.joints[1].position)
    length, n = np.linalg.norm(way), 400
    along = way / length
    across = np.linalg.svd(along[None])[2][1:]
    angles, radii = np.meshgrid(np.linspace(0, 2 * np.pi, 60, endpoint=False), [0.0385])
    rings = radii.ravel()[:, None] * (
        np.cos(angles.ravel())[:, None] * across[0] + np.sin(angles.ravel())[:, None] * across[1]
    )
    places = (np.arange(n) + 0.5)[:, None, None] / n * way + rings
    m = 2700.0 * np.pi * (0.04**2 - 0.037**2) * length / places[..., 0].size
    r = (places - way / 2).reshape(-1, 3)
    J = m * ((r**2).sum() * np.eye(3) - r.T @ r)
    assert made.mass == pytest.approx(m * len(r))
    assert made.com == pytest.approx(tuple(way / 2))
    assert made.inertia[:3] == pytest.approx(np.diag(J), rel=2e-3)


def test_a_motor_weighs_on_the_link_before_its_joint():
    robot = arm.library("planar2")
    joint = robot.joints[1]
    heavier = arm.design.motor_mass(joint.name, 2.0)(robot)
    q = np.array([[0.3, -0.7]])
    more = arm.dynamics.potential_energy(heavier, q) - arm.dynamics.potential_energy(robot, q)
    height = arm.pose(robot, q[0], joint.child).p[2]
    assert more == pytest.approx(2.0 * 9.81 * height)


def test_drives_as_parameters_give_the_same_flows_whatever_is_carried():
    """Their numbers stand after those of what is carried: kernels of other payloads are others."""
    robot = arm.library("planar2")
    state = np.random.default_rng(0).normal(size=(3, 4, 2))
    expected = drives_at(robot, *state).together.power
    for loads in (0, 1, 2):
        links = [
            replace(x, payload=(0.0, x.com) if k > len(robot.links) - 1 - loads else None)
            for k, x in enumerate(robot.links)
        ]
        limits = ("voltage", "peak current")
        variable = replace(robot, links=tuple(links), variable_limits=limits)
        assert drives_at(variable, *state).together.power == pytest.approx(expected)


@pytest.mark.parametrize(
    ("free", "words"),
    [
        ({}, "free is empty"),
        ({RATIO: (5.0, 5.0)}, "must be two finite numbers that rise"),
        ({"ratio": (1.0, 2.0)}, "there is no parameter 'ratio'"),
    ],
)
def test_what_cannot_be_free_is_refused(free, words):
    with pytest.raises(ArgumentError, match=words):
        arm.design.optimize_parameters(axis(), MOVE, free)


def test_a_program_is_its_motions_with_what_they_carry():
    """Of two alike moves, one loaded: the best ratio is that of both together, in the durations of
    the program's plan; numbers in which the robots differ are refused."""
    robot = axis(velocity=50.0, acceleration=300.0)  # far from what the best motions take
    cell = arm.cell
    grip = cell.Grip(1.0, link="load", inertia=(LOAD, LOAD, LOAD))
    steps = (cell.MoveTo([1.0]), grip, cell.MoveTo("start"), cell.Release())
    program = cell.Program(robot, [0.0], steps, cycle=1.0, knots=60, points=5)
    plan = cell.plan_program(program)
    loads, times = (LOAD, 2 * LOAD), [leg.duration for leg in plan.legs]

    def lost(ratio):
        pairs = zip(loads, times)
        return sum(least_losses(ratio, load) * (T / time) ** 3 for load, time in pairs)

    best = minimize_scalar(lost, (40.0, 90.0)).x
    design = arm.design.optimize_parameters(robot, plan, {RATIO: (5.0, 500.0)})
    assert design.values[RATIO] == pytest.approx(best, rel=1e-3)
    assert design.robot.link("load").mass == robot.link("load").mass
    with pytest.raises(ArgumentError, match=r"mass of load is 1 and 2 in these tasks"):
        arm.design.optimize_parameters(robot, plan, {"mass of load": (0.5, 2.0)})


def test_weights_are_one_for_each_move():
    with pytest.raises(ArgumentError, match="each of the 1 moves"):
        arm.design.optimize_parameters(axis(), MOVE, {RATIO: (5.0, 50.0)}, weights=(1.0, 2.0))
