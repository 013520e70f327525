"""Laws smoothed in velocity and torque, and a homotopy in their width: against the exact laws."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import armature as arm
from armature.drive import Smooth
from armature.optimize.certificate.certify import worst_margin
from armature.optimize.solver.homotopy import Homotopy
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.smoothed import SmoothedMove

LOSSY = arm.Drive(
    arm.Motor(1.2, 0.08, inertia=2e-5, iron_torque=2e-3),
    arm.Gear(50.0, 0.8, efficiency_back=0.6),
    arm.Amplifier(48.0),
    arm.Friction(viscous=0.1, coulomb=0.8, load=0.05),
)


@pytest.mark.parametrize("v", [-2.0, -0.3, 0.3, 2.0])
@pytest.mark.parametrize("torque", [-9.0, -0.5, 0.5, 9.0])
def test_blended_laws_of_both_directions_become_the_exact_law_as_their_widths_vanish(
    v: float, torque: float
):
    exact = LOSSY.flow(torque, v, 1.5)
    errors = []
    for f in (1e-2, 1e-3, 1e-4):
        near = LOSSY.flow(torque, v, 1.5, smooth=Smooth(velocity=f * 2.0, torque=f * 9.0))
        errors.append(abs(near.current - exact.current))
    assert errors[2] < 1e-4 * max(1.0, abs(exact.current)) and errors[2] < 0.2 * errors[1] + 1e-12


def test_a_known_direction_gives_the_one_sided_law_at_standstill():
    for sign in (1.0, -1.0):
        at_rest = LOSSY.flow(3.0, 0.0, smooth=Smooth(velocity=0.1, torque=1e-9, blend=sign))
        moving = LOSSY.flow(3.0, sign * 1e-12, smooth=Smooth())
        assert at_rest.current == pytest.approx(moving.current, rel=1e-6)


def lossy_arm() -> arm.Robot:
    robot = arm.library("planar2").with_payload(0.5)
    drives = {
        name: replace(d, gear=arm.Gear(d.gear.ratio, 0.8))
        for name, d in zip(robot.joint_names, robot.drivetrain.drives)
    }
    return replace(robot, drives=()).with_drives(
        {n: replace(d, friction=arm.Friction(coulomb=0.4)) for n, d in drives.items()}
    )


@pytest.mark.parametrize("supply", ["regenerative", "non-regenerative"])
def test_a_homotopy_in_the_width_ends_at_a_motion_of_the_exact_law_within_all_limits(supply: str):
    """One solve from the joint cubic, the width halved from 2 to 0.005 of the usual speed; judged
    by the exact laws."""
    robot, ends = lossy_arm(), ([0.0, 0.4], [1.2, -0.5])
    task = SmoothedMove(
        robot,
        arm.Move(*ends, 1.4, smoothness=0.0, acceleration_limits="none", floor=None),
        supply,
        60,
    )
    problem = task.problem(Weights(energy=1.0))
    data = np.array(problem.data)

    def at(f: float, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
        data[:, task.driven.first] = f
        return data

    result = solve(
        problem, task.guess(), Options(tolerance=1e-6, homotopy=Homotopy(2.0, 0.005, at))
    )
    motion = task.trajectory(result)
    exact, cubic = (arm.ledger(robot, m, supply) for m in (motion, task.straight))
    fixed = exact.kinetic + exact.potential  # by both ends
    assert (
        result.ok
        and result.cost == pytest.approx(exact.energy - fixed, rel=1e-2)
        and exact.energy < cubic.energy
    )
    assert (
        worst_margin(robot, motion).fraction > -1e-2 and np.abs(motion.q[-1] - ends[1]).max() < 1e-6
    )


def test_normalised_time_has_linear_dynamics_and_the_same_motions():
    robot = lossy_arm()
    task = SmoothedMove(
        robot, arm.Move([0.0, 0.4], [1.2, -0.5], 1.4, floor=None), None, 20, free=True
    )
    model, guess = task.driven.model, task.guess()
    x, u, d = (
        ca.SX.sym(name, n) for name, n in (("x", model.nx), ("u", model.nu), ("d", model.nd))
    )
    p = ca.SX.sym("p", model.np)
    w = [ca.SX.sym("w", 3 * robot.n) for _ in range(3)]
    after = ca.vertcat(*model.dynamics(x, u, p, d, w))
    assert (
        not ca.depends_on(after, p)
        and ca.jacobian(
            ca.jacobian(after, ca.vertcat(x, u)).reshape((-1, 1)), ca.vertcat(x, u)
        ).nnz()
        == 0
    )
    scaled = task.trajectory(guess)
    np.testing.assert_allclose(scaled.v, task.straight.v, atol=1e-12)
    np.testing.assert_allclose(scaled.a, task.straight.a, atol=1e-12)
