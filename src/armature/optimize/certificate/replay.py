"""A planned motion run on the mechanism: its currents fed to the drives, forward dynamics, an
adaptive integrator for stiff systems.

It shares nothing with the planner but the robot. The plan's currents are tabulated 160 times finer
than its knots and read linearly."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from armature.drive import Smooth, stack
from armature.drive.train import Drivetrain
from armature.dynamics import compiled, kernels
from armature.dynamics.holonomic import loops
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.mass import back_substitute
from armature.kernel import Kernel
from armature.motion.trajectory import Trajectory
from armature.optimize.transcription.closure import closure
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.simulate.flows import sources
from armature.spatial.vectors import pack

# rows of the table between two knots: a current that jumps where a joint sets out is wrong for half
# a row
FINER = 160
# points of a simulated motion between two knots: its power, summed up over them, is its energy to
# 1e-3
TOLD = 16
ROUNDED = 1e-4  # velocity over which dry friction is rounded in the simulation, rad/s or m/s
PLACE, SPEED = (
    1e-8,
    1e-6,
    # accuracy of the integration, rad or m and their rates: a hundredth of what the friction is
    # rounded over
)
CLOSING = 20.0  # 1/s, rate at which open loops close in the simulation
EVALUATIONS = 1000  # of the accelerations for each knot, after which a simulation is given up
POWER = 1e-3  # W over which a gear changes its direction
LAW = Smooth(
    velocity=ROUNDED, power=POWER, table=1e-3
)  # one law for the plan's currents and for the mechanism: at rest both agree


class _NoEnd(Exception):
    """The integration takes too many steps."""


class Run(NamedTuple):
    """A simulated motion at times t (K,): q, v, a, tau (K, n), tau of rigid bodies and rotors;
    complete: it reached its end."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    complete: bool


def replay(robot: Robot, plan: Trajectory, rate: float) -> Run:
    """Run the plan's currents with a linear servo of the given rate (1/s; 0: none) on top."""
    n, T = robot.n, plan.duration
    table, step = tabulated(robot, plan)
    gains = inertias(robot, plan.q).mean(0)
    kp, kd = np.ascontiguousarray(gains * rate**2), np.ascontiguousarray(2 * gains * rate)
    plant, last = mechanism(robot), len(table) - 2

    left = EVALUATIONS * len(plan)

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        nonlocal left
        left -= 1
        if left < 0:
            raise _NoEnd
        k = min(max(int(t / step), 0), last)
        row = table[k] + (t / step - k) * (table[k + 1] - table[k])
        a, _ = plant(x[:n], x[n:], row, kp, kd)
        return np.concatenate([x[n:], a])

    start = plan(plan.t[0])
    times = np.linspace(0.0, T, TOLD * len(plan) + 1)
    x0, atol = np.concatenate([start.q, start.v]), np.repeat([PLACE, SPEED], n)
    t, y, ended = times[:1], x0[:, None], False  # breaks off at once: it stands at the start
    with contextlib.suppress(_NoEnd):
        run = solve_ivp(
            rates,
            (0.0, T),
            x0,
            method="LSODA",
            t_eval=times,
            rtol=1e-6,
            atol=atol,
            max_step=T / len(plan),
        )
        ended = bool(run.success)
        t, y = (run.t, run.y) if len(run.t) else (t, y)
    q, v = y[:n].T.copy(), y[n:].T.copy()
    rows = np.column_stack(
        [np.interp(t, step * np.arange(len(table)), column) for column in table.T]
    )
    a, tau = plant(q, v, rows, kp, kd)
    complete = ended and len(t) == len(times) and np.all(np.isfinite(y))
    return Run(t, q, v, a, tau, bool(complete))


def inertias(robot: Robot, q: np.ndarray) -> np.ndarray:
    """(K, n): what each joint has to accelerate when it moves alone, with the joints that follow
    from the loops; kg·m² or kg."""
    M = compiled.mass_matrix(robot, q)
    if not robot.loops:
        return M.diagonal(axis1=-2, axis2=-1)
    found = closure(robot, q[[0, -1]])
    B = found.followers(q)
    free = np.einsum("kji,kjl,kli->ki", B, M, B)
    whole = M.diagonal(axis1=-2, axis2=-1).copy()
    whole[:, list(found.independent)] = free
    return whole


def tabulated(robot: Robot, plan: Trajectory) -> tuple[np.ndarray, float]:
    """Rows (q, v, a, torques, currents) of the plan at equal steps, and the step, s."""
    count = FINER * (len(plan) - 1)
    t = np.linspace(0.0, plan.duration, count + 1)
    q, v, a = plan(np.clip(plan.t[0] + t, plan.t[0] + 1e-12, plan.t[-1] - 1e-12))
    tau = np.asarray(compiled.inverse_dynamics(robot, q, v, a))
    flows = robot.drivetrain.flow(tau, v, a, smooth=LAW)
    currents = stack(flows, "current") if flows else np.zeros((len(t), 0))
    return np.ascontiguousarray(np.hstack([q, v, a, tau, currents])), plan.duration / count


def mechanism(robot: Robot) -> Kernel:
    """(q, v, row of the table, kp, kd) → accelerations and torques, compiled and kept with the
    robot."""
    n, m = robot.n, len(robot.drivetrain.drives)
    train = robot.drivetrain
    details = (
        train.drives,
        train.matrix,
        train.share,
        train.frictions,
        robot.loops,
        robot.passive,
        sources(__file__),
    )
    inputs = {"q": n, "v": n, "row": 4 * n + m, "kp": n, "kd": n}
    return kernels.kernel(
        robot, "replay", functools.partial(_accelerations, robot), inputs, repr(details)
    )


def _accelerations(
    robot: Robot, tree: Tree, q: Any, v: Any, row: Any, kp: Any, kd: Any
) -> dict[str, Any]:
    """Currents of plan and servo → torques of the drives → forward dynamics, with the joints'
    friction."""
    n, train = robot.n, robot.drivetrain
    qp, vp, ap, taup, current = (row[k * n : (k + 1) * n] for k in range(5))
    correction = [kp[j] * (qp[j] - q[j]) + kd[j] * (vp[j] - v[j]) for j in range(n)]
    share, speeds, rates = (
        train.axis_torque(correction),
        train.axis_velocity(list(v)),
        train.axis_velocity(list(ap)),
    )
    held = _held_torques(train, taup, correction, v)
    motors = [
        (
            held[k]
            if drive.gear.self_locking
            else drive.torque(
                current[k] + share[k] / drive.constant, speeds[k], rates[k], smooth=LAW
            )
        )
        for k, drive in enumerate(train.drives)
    ]
    ideal = [not driven and j not in robot.passive for j, driven in enumerate(train.driven)]
    drag = train.joint_friction(
        list(taup), list(vp), LAW
    )  # of the plan: an ideal joint's torque overcomes it too
    tau: list[Any] = [taup[j] + drag[j] + correction[j] if ideal[j] else 0.0 for j in range(n)]
    for k, weights in enumerate(train.matrix):
        for j in range(n):
            if weights[j]:
                tau[j] = tau[j] + weights[j] * motors[k]
    friction = train.joint_friction(tau, list(v), LAW)
    bodies = pack([t - f for t, f in zip(tau, friction)])
    a = (
        _under_loops(robot, tree, q, v, bodies)
        if robot.loops
        else recursive.forward_dynamics(tree, q, v, bodies)
    )
    return {"a": a, "tau": bodies}


def _held_torques(train: Drivetrain, planned: Any, correction: Any, v: Any) -> list[Any]:
    """Axis torques of self-locking gears: a load that drives is held by the gear whatever the
    current is, so that the torques of the plan and of the servo are given instead, with what the
    joints' friction takes."""
    wanted = [t + c for t, c in zip(list(planned), correction)]
    return train.axis_torque(
        [w + f for w, f in zip(wanted, train.joint_friction(wanted, list(v), LAW))]
    )


def _under_loops(robot: Robot, tree: Tree, q: Any, v: Any, tau: Any) -> Any:
    """Accelerations that keep the loops closed; what integration leaves open dies out
    (Baumgarte)."""
    rows = loops.rows(tree, robot.loops, q, v)
    c = loops.prepare(tree, q, rows.G)
    free = back_substitute(c.M, tau - recursive.bias_forces(tree, q, v))
    return free + c.Y @ loops.reaction(
        c, rows.D - 2 * CLOSING * rows.fd - CLOSING**2 * rows.f - rows.G @ free
    )
