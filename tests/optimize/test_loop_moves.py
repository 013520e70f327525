"""Moves of robots with closed loops: the optimum in other coordinates and of another solver, limits
of passive joints, certificates."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from linkages import (
    double_pendulum,
    drive,
    ends,
    five_bar,
    four_bar,
    parallelogram,
    same_as_parallelogram,
)

import armature as arm
from armature.dynamics.compiled import forward_dynamics, inverse_dynamics
from armature.dynamics.holonomic.closed_loops import close_loops, loop_rows
from armature.errors import ArgumentError, RobotError
from armature.optimize.problem.nlp import as_nlp
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.closure import closure
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.reduced import Implicit

EXACT = Options(tolerance=1e-6, iterations=200)

PARALLEL = np.array([0.5, -0.5, 0.5]), np.array([1.4, -1.4, 1.4])


def sound(solution):
    """An optimum whose loops are closed at the knots, whose passive joints carry nothing, and which
    the simulated mechanism follows."""
    assert solution.ok, solution
    robot, motion = solution.robot, solution.trajectory
    f, fd, *_ = loop_rows(robot)(motion.q, motion.v)
    assert max(np.abs(f).max(), np.abs(fd).max()) < 1e-10
    np.testing.assert_allclose(motion.tau[:, list(robot.passive)], 0.0, atol=1e-9)
    friction = np.stack(robot.drivetrain.joint_friction(motion.tau, motion.v), axis=-1)
    under_torques = forward_dynamics(robot, motion.q, motion.v, motion.tau - friction)
    np.testing.assert_allclose(under_torques, motion.a, atol=1e-6 * np.abs(motion.a).max())
    assert solution.certificate.ok, solution.certificate
    assert abs(solution.ledger.residual) < 1e-6 * max(1.0, abs(solution.ledger.drawn))
    return solution


def test_a_parallelogram_costs_what_its_single_link_does():
    """Closed form as the witness: the same energy, the same motion."""
    closed = sound(
        arm.minimize_energy(parallelogram(), arm.Move(*PARALLEL, duration=1.0), options=EXACT)
    )
    alone = arm.minimize_energy(
        same_as_parallelogram(),
        arm.Move(PARALLEL[0][:1], PARALLEL[1][:1], duration=1.0),
        options=EXACT,
    )
    assert closed.energy == pytest.approx(alone.energy, rel=1e-8)
    np.testing.assert_allclose(
        closed.trajectory.q[:, 0], alone.trajectory.q[:, 0], atol=2e-5
    )  # the cost is flat there
    assert closed.saving == pytest.approx(alone.saving, rel=1e-6)


def test_its_least_time_is_that_of_the_single_link_too():
    closed = sound(arm.minimize_time(parallelogram(), arm.Move(*PARALLEL), knots=50, starts=1))
    alone = arm.minimize_time(
        same_as_parallelogram(), arm.Move(PARALLEL[0][:1], PARALLEL[1][:1]), knots=50, starts=1
    )
    assert closed.duration == pytest.approx(alone.duration, rel=1e-4)


def test_a_four_bar_move_equals_ipopt_and_forward_dynamics():
    """The same discrete problem behind CasADi, and the other transcription within its own error."""
    from test_forward import planned

    robot = four_bar()
    start, goal = ends(robot, 1.0, 2.5)
    plain = {"duration": 1.0, "smoothness": 0.0, "acceleration_limits": "none"}
    problem = move_problem(robot, arm.Move(start, goal, **plain), None, 12)
    peer = as_nlp(problem.problem(Weights(energy=1.0))).solve(problem.guess())
    mine = arm.minimize_energy(robot, arm.Move(start, goal, **plain), knots=12, options=EXACT)
    assert mine.result.cost == pytest.approx(peer.cost, rel=1e-9)
    fine = sound(arm.minimize_energy(robot, arm.Move(start, goal, **plain)))
    forward = planned(robot, start, goal, N=100, ramp=True)[2]
    assert forward.cost == pytest.approx(
        fine.losses, rel=1e-4
    )  # the rest of the energy is potential


@pytest.mark.parametrize("supply", ["regenerative", "non-regenerative"])
def test_two_motors_on_a_five_bar_linkage(supply):
    robot = five_bar()
    solution = sound(
        arm.minimize_energy(
            robot, arm.Move(*ends(robot, [1.9, 1.2], [1.5, 0.8]), duration=1.0), supply
        )
    )
    assert solution.saving > 0.05


def test_a_goal_may_name_the_joints_with_motors_only():
    robot = five_bar()
    start, goal = ends(robot, [1.9, 1.2], [1.5, 0.8])
    task = arm.Move(start, {"left crank": 1.5, "right crank": 0.8}, duration=1.0)
    np.testing.assert_allclose(task.vectors(robot).q1, goal, atol=1e-9)
    with pytest.raises(ArgumentError, match="'right crank' is missing"):
        arm.Move(start, {"left crank": 1.5}, duration=1.0).vectors(robot)


def test_dry_friction_at_the_motors_is_exact_at_the_end():
    robot = five_bar().with_friction(
        {name: {"coulomb": 1.0, "viscous": 0.2} for name in ("left crank", "right crank")}
    )
    solution = sound(
        arm.minimize_energy(robot, arm.Move(*ends(robot, [1.9, 1.2], [1.5, 0.8]), duration=1.0))
    )
    assert solution.ledger.friction > 0.1


def test_limits_of_passive_joints_hold_between_knots_too():
    robot = four_bar()
    task = arm.Move(*ends(robot, 1.0, 2.5), duration=1.0)
    free = arm.minimize_energy(robot, task)
    fast = np.abs(free.trajectory.v[:, 2]).max()
    slow = sound(arm.minimize_energy(robot.with_limits({"rocker": {"velocity": 0.9 * fast}}), task))
    assert np.abs(slow.trajectory.v[:, 2]).max() <= 0.9 * fast * (1 + 1e-3)
    assert slow.energy > free.energy


def test_derivatives_by_the_implicit_function_equal_differences():
    """(R1) and (R2) against CasADi's differentiation of Newton's method itself."""
    robot = four_bar()
    start, _ = ends(robot, 1.0, 2.5)
    tools = Implicit(closure(robot, start))
    xi, m = ca.SX.sym("xi", 6), ca.SX.sym("m", 11)
    w = tools.value(xi)
    pairs = [
        (tools.slope(xi), ca.jacobian(w, xi)),
        (tools.curvature(xi, m), ca.hessian(ca.dot(m, w), xi)[0]),
    ]
    rng = np.random.default_rng(0)
    values = np.concatenate([[1.3], rng.normal(size=2), start]), rng.normal(size=11)
    for mine, plain in pairs:
        got, expected = (np.array(ca.Function("f", [xi, m], [e])(*values)) for e in (mine, plain))
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-7)


def test_torques_follow_from_the_work_of_the_open_tree():
    """(L2) against the constrained inverse dynamics of the batched function."""
    robot, rng = five_bar(), np.random.default_rng(1)
    start, goal = ends(robot, [1.9, 1.2], [1.5, 0.8])
    found = closure(robot, np.array([start, goal]))
    q, v, a = found.follow(
        start + np.linspace(0, 1, 7)[:, None] * (goal - start), *rng.normal(size=(2, 7, 4))
    )
    free, tied = list(found.independent), list(found.dependent)
    for k in range(7):
        tau = np.array(found.torque(q[k, free], v[k, free], a[k, free], q[k, tied])[0]).ravel()
        np.testing.assert_allclose(tau, inverse_dynamics(robot, q, v, a)[k], atol=1e-10)


def test_what_cannot_be_planned_is_refused_with_words():
    robot = four_bar()
    start, goal = ends(robot, 1.0, 2.5)
    with pytest.raises(ArgumentError, match="close it"):
        arm.minimize_energy(robot, arm.Move(start + [0, 0, 0.1], goal, duration=1.0))
    other = close_loops(robot, [2.5, -2.0, 4.0])
    with pytest.raises(ArgumentError, match="closed in different ways"):
        arm.minimize_energy(robot, arm.Move(start, other, duration=1.0))
    both = replace(
        robot, joints=tuple(replace(j, passive=False) for j in robot.joints)
    ).with_drives({"rocker": drive()})
    with pytest.raises(ArgumentError, match="neither a drive nor is it passive"):
        arm.minimize_energy(both, arm.Move(start, goal, duration=1.0))
    two = replace(
        robot, joints=tuple(replace(j, passive=j.name == "coupler") for j in robot.joints)
    ).with_drives({"rocker": drive()})
    with pytest.raises(ArgumentError, match=r"1 freedoms .* motors at 2 joints"):
        arm.minimize_energy(two, arm.Move(start, goal, duration=1.0))
    line = arm.line(*(arm.pose(robot, start, "coupler").p + np.array([[0, 0, 0], [0.01, 0, 0]])))
    with pytest.raises(RobotError, match="closed loops"):
        arm.minimize_energy(robot, arm.FollowPath(line, duration=1.0, link="coupler"))
    with pytest.raises(RobotError, match="closed loops"):
        arm.ways_round(robot, arm.Move(start, goal, duration=1.0))
    with pytest.raises(ArgumentError, match="passive and has friction"):
        arm.minimize_energy(
            robot.with_friction({"rocker": {"viscous": 1.0}}), arm.Move(start, goal, duration=1.0)
        )


def test_a_joint_that_nothing_holds_is_refused_with_what_to_do():
    with pytest.raises(ArgumentError, match="'shoulder' has no drive"):
        arm.minimize_energy(double_pendulum("elbow"), arm.Move([0, 0], [0.3, 0], duration=1.0))
