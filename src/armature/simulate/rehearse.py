"""`rehearse`: a plan run many times on robots that differ from the model (K7): how far it is off,
and the energy that it really takes.

Every run has its own masses, friction, delay and encoder noise. A digital controller reads the
encoders once a step, after the delay, and holds its torques over the step; the perturbed mechanism
is integrated by Runge–Kutta. All runs go through one compiled loop.
    "servo":       τ = τ_planned + K_p (q_p − q) + K_d (q̇_p − q̇)                          (K7)
    "constraint":  τ = b + A {q̈_p + Γ₁ (q̇_p − q̇) + Γ₀ (q_p − q)}: (3.1) for f(q, t) = q − q_p(t),
    computed with the model
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

import numpy as np

from armature.drive import as_supply, stack
from armature.drive.corner import Smooth
from armature.dynamics import compiled, kernels
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.friction import friction_torque
from armature.dynamics.recursion.regressor import INERTIAL
from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.motion.trajectory import Trajectory
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.simulate.draws import ModelUncertainty, changed, scaled_masses
from armature.simulate.rehearsal_loop import run_loop
from armature.spatial.vectors import pack

CONTROLLERS = ("servo", "constraint")
FRICTION_WIDTH = 1e-2  # rad/s or m/s over which dry friction is rounded
FAILED = 10.0  # rad or m: beyond this a run has failed


@dataclass(frozen=True)
class Perturbations:
    """How the real robot differs from the model.

    mass: every body's mass and inertia by up to this fraction, each its own.
    friction: every joint's friction, that of its drive included, likewise.
    model: what identification left open (`Identified.uncertainty`): bodies and friction are drawn
    from it instead.
    delay: s, from the encoders to the torques, in whole steps of the controller.  noise: of the
    encoders, standard deviation, rad or m.
    velocity_noise: of the velocities that the controller is given, rad/s or m/s.  saturation:
    torques held within the limits of joints and
    drives.  start: standard deviation of the first configuration, rad or m.
    """

    mass: float = 0.2
    friction: float = 0.5
    delay: float = 0.001
    noise: float = 1e-5
    velocity_noise: float = 1e-3
    saturation: bool = True
    start: float = 0.0
    model: ModelUncertainty | None = None

    def __post_init__(self) -> None:
        for name in ("mass", "friction", "delay", "noise", "velocity_noise", "start"):
            value = getattr(self, name)
            known = isinstance(value, (int, float)) and np.isfinite(value) and value >= 0.0
            if not known or (name in ("mass", "friction") and value >= 1.0):
                raise ArgumentError(
                    f"perturbation {name} = {value!r}: give a number ≥ 0 (mass and friction below"
                    " 1: they are fractions)"
                )


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What many runs did.

    error: (runs, n) largest |q − q_planned| of each joint, rad or m.  rms: (runs, n).  end: (runs,
    n) what is left at the end.
    energy: (runs,) net from the supply, J, NaN without drives.  planned_energy: of the plan on the
    model, J.
    saturated: (runs,) fraction of the time with a torque at its limit.  failed: (runs,) ran away.
    mass, friction: (runs, bodies), (runs, n) the factors drawn.  joint_names: n.
    """

    error: np.ndarray
    rms: np.ndarray
    end: np.ndarray
    energy: np.ndarray
    planned_energy: float
    saturated: np.ndarray
    failed: np.ndarray
    mass: np.ndarray
    friction: np.ndarray
    joint_names: tuple[str, ...]

    @property
    def runs(self) -> int:
        """How many."""
        return len(self.energy)

    def __repr__(self) -> str:
        return (
            f"<Rehearsal of {self.runs} runs, {int(self.failed.sum())} failed, largest error"
            f" {self.error.max():.3g} rad or m>"
        )

    def __str__(self) -> str:
        worst = self.error.max(axis=1)
        lines = [f"{self.runs} runs, {int(self.failed.sum())} failed"]
        lines.append(
            f"largest tracking error: median {np.median(worst):.3g}, 95 % below"
            f" {np.quantile(worst, 0.95):.3g} rad or m"
        )
        lines.append(
            f"left at the end: 95 % below {np.quantile(np.abs(self.end).max(axis=1), 0.95):.3g} rad"
            " or m"
        )
        mean, spread = np.nanmean(self.energy), np.nanstd(self.energy)
        lines.append(f"energy {mean:.4g} J ± {spread:.2g} J (planned {self.planned_energy:.4g} J)")
        lines.append(f"torques at their limits for {100 * self.saturated.mean():.2g} % of the time")
        each = zip(self.joint_names, self.error.max(axis=0), self.rms.mean(axis=0))
        lines += [
            f"  {name:12} largest {largest:.3g}, rms {rms:.3g}" for name, largest, rms in each
        ]
        return "\n".join(lines)


def _given(perturbations: Any) -> Perturbations:
    """Perturbations, also from a mapping of their names, or from what identification left open."""
    if isinstance(perturbations, ModelUncertainty):
        return Perturbations(model=perturbations)
    if perturbations is None or isinstance(perturbations, Perturbations):
        return perturbations or Perturbations()
    known = [f.name for f in fields(Perturbations)]
    if not isinstance(perturbations, Mapping) or not set(perturbations) <= set(known):
        raise ArgumentError(
            f"perturbations are {perturbations!r}; use arm.simulation.Perturbations(...) or a"
            f" mapping with some of {known}"
        )
    return Perturbations(**perturbations)


def rehearse(
    robot: Robot,
    solution: Any,
    perturbations: Perturbations | ModelUncertainty | Mapping[str, Any] | None = None,
    runs: int = 64,
    controller: str = "servo",
    bandwidth: float = 10.0,
    step: float = 1e-3,
    supply: Any = None,
    seed: int = 0,
) -> Rehearsal:
    """Run a plan on perturbed robots, all in one compiled batch.

    solution: of a planner, or a Trajectory.  perturbations: how the robots differ; also {"mass":
    0.1, …}, or the
    `uncertainty` of an identified robot.
    controller: "servo" or "constraint" (3.1).
    bandwidth: of the position loop, Hz: K_p = M̄ ω², K_d = 2 M̄ ω with the mean inertia M̄ of each
    joint; Γ₀ = ω², Γ₁ = 2ω.
    step: of the controller, s.  supply: as for `ledger`.  seed: of the random numbers: the same
    seed, the same runs."""
    plan = solution if isinstance(solution, Trajectory) else getattr(solution, "trajectory", None)
    if not isinstance(plan, Trajectory):
        raise ArgumentError(
            f"rehearse takes a Trajectory, or a planner's solution with one; got {solution!r}"
        )
    given = _given(perturbations)
    if controller not in CONTROLLERS:
        raise ArgumentError(f"controller is {controller!r}; use one of {', '.join(CONTROLLERS)}")
    if robot.nq != robot.nv or plan.n != robot.nv:
        raise ArgumentError(
            f"the plan moves {plan.n} joints, robot {robot.name!r} has {robot.nv} and must stand on"
            " a fixed base"
        )
    if not (
        0 < step < plan.duration
        and isinstance(runs, Integral)
        and runs >= 1
        and 0 < bandwidth < np.inf
    ):
        raise ArgumentError(
            f"step = {step} s, runs = {runs} and bandwidth = {bandwidth} Hz must be positive, the"
            " step below the duration"
        )
    return _Rehearsal(
        robot, plan, given, runs, controller, 2 * np.pi * bandwidth, step, seed
    ).result(supply)


class _Rehearsal:
    """One rehearsal: the draws, the compiled plant and the loop's arrays."""

    def __init__(
        self,
        robot: Robot,
        plan: Trajectory,
        given: Perturbations,
        runs: int,
        controller: str,
        omega: float,
        step: float,
        seed: int,
    ):
        self.robot, self.plan, self.given, self.step = robot, plan, given, step
        rng = np.random.default_rng(seed)
        self.steps = round(plan.duration / step)
        self.times = plan.t[0] + step * np.arange(self.steps + 1)
        self.wanted = plan(np.clip(self.times, plan.t[0] + 1e-12, plan.t[-1] - 1e-12))
        self.draw(runs, rng)
        self.noise = given.noise * rng.normal(size=(self.steps, runs, robot.nv))
        self.velocity_noise = given.velocity_noise * rng.normal(size=(self.steps, runs, robot.nv))
        self.q0 = self.wanted.q[0] + given.start * rng.normal(size=(runs, robot.nv))
        self.feed = self.model_kernel()(*self.wanted)
        inertia = np.diagonal(compiled.mass_matrix(robot, self.wanted.q), axis1=-2, axis2=-1).mean(
            0
        )
        by_model = controller == "constraint"
        weight = np.ones(robot.nv) if by_model else inertia
        self.kp, self.kd, self.by_model = weight * omega**2, 2 * weight * omega, by_model
        self.limit = torque_limits(robot) if given.saturation else np.full(robot.nv, np.inf)

    def draw(self, runs: int, rng: np.random.Generator) -> None:
        """The robots: what their bodies' parameters differ by (runs, 10 nb), and factors of masses
        and friction."""
        robot, given = self.robot, self.given
        if given.model is not None:
            self.bodies, self.friction = given.model.draw(robot, runs, rng)
            masses = np.array([max(b.mass, 1e-12) for b in robot.tree.bodies])
            self.mass = 1.0 + self.bodies[:, ::INERTIAL] / masses
            return
        self.mass = 1.0 + given.mass * rng.uniform(-1.0, 1.0, (runs, len(robot.tree.bodies)))
        self.friction = 1.0 + given.friction * rng.uniform(-1.0, 1.0, (runs, robot.nv))
        self.bodies = scaled_masses(robot, self.mass)

    def result(self, supply: Any) -> Rehearsal:
        """Run the loop and take the statistics."""
        q, v, a, tau = self.run()
        wanted = self.wanted.q[:, None, :]
        off = np.abs(q - wanted)
        failed = ~(np.nan_to_num(off, nan=np.inf).max(axis=(0, 2)) < FAILED)
        at_limit = np.any(np.abs(tau[:-1]) >= self.limit * (1 - 1e-9), axis=-1).mean(axis=0)
        return Rehearsal(
            error=off.max(axis=0),
            rms=np.sqrt(np.mean(off**2, axis=0)),
            end=q[-1] - wanted[-1],
            energy=self.energy(v[:-1], a[:-1], tau[:-1], supply),
            planned_energy=float(
                self.energy(
                    self.wanted.v[:-1, None], self.wanted.a[:-1, None], self.feed[:-1, None], supply
                )[0]
            ),
            saturated=at_limit,
            failed=failed,
            mass=self.mass,
            friction=self.friction,
            joint_names=self.robot.joint_names,
        )

    def run(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, v, a, tau of all runs, (K+1, runs, n) each."""
        runs, n = self.q0.shape
        q, v = np.empty((self.steps + 1, runs, n)), np.empty((self.steps + 1, runs, n))
        a, tau = np.zeros_like(q), np.zeros_like(q)
        q[0], v[0] = self.q0, self.wanted.v[0]
        late = round(self.given.delay / self.step)
        model = self.model_kernel() if self.by_model else self.plant_kernel()
        qp, vp, ap = (np.ascontiguousarray(x) for x in self.wanted)
        run_loop(
            self.plant_kernel().address,
            model.address,
            self.by_model,
            self.step,
            late,
            qp,
            vp,
            ap,
            self.feed,
            self.kp,
            self.kd,
            self.limit,
            self.noise,
            self.velocity_noise,
            np.ascontiguousarray(self.bodies),
            np.ascontiguousarray(self.friction),
            q,
            v,
            a,
            tau,
        )
        return q, v, a, tau

    def plant_kernel(self) -> Kernel:
        """(q, v, tau, differences of inertial parameters, friction factors) → accelerations of the
        perturbed robot."""
        robot = self.robot

        def plain(tree, q, v, tau, bodies, friction):
            return recursive.forward_dynamics(
                changed(tree, bodies), q, v, tau - friction * drag(robot, v, tau)
            )

        n, details = robot.nv, friction_details(robot)
        inputs: dict[str, Any] = {
            "q": n,
            "v": n,
            "tau": n,
            "bodies": INERTIAL * len(robot.tree.bodies),
            "friction": n,
        }
        return kernels.kernel(robot, "perturbed bodies", plain, inputs, details, FRICTION_WIDTH)

    def model_kernel(self) -> Kernel:
        """(q, v, a) → torques of the model, friction included."""
        robot = self.robot

        def plain(tree, q, v, a):
            tau = recursive.inverse_dynamics(tree, q, v, a)
            return tau + drag(robot, v, tau)

        n, details = robot.nv, friction_details(robot)
        return kernels.kernel(
            robot, "model torque", plain, {"q": n, "v": n, "a": n}, details, FRICTION_WIDTH
        )

    def energy(self, v: np.ndarray, a: np.ndarray, tau: np.ndarray, supply: Any) -> np.ndarray:
        """Net energy of each run from the torques that its drives gave (K, runs, n), J; NaN without
        drives."""
        robot = self.robot
        if not robot.drives:
            return np.full(v.shape[1], np.nan)
        # the drivetrain adds the model's friction, of joints and of drives, to what it is given;
        # the torques hold it already
        train = robot.drivetrain
        joints, drives = (
            np.stack(np.broadcast_arrays(*x), axis=-1)
            for x in (train.joint_friction(tau, v), train.drive_friction(tau, v))
        )
        powers = stack(train.flow(tau - joints - drives, v, a), "power")
        drawn = as_supply(supply if supply is not None else robot.supply).drawn(
            [powers[..., k] for k in range(powers.shape[-1])]
        )
        return np.asarray(self.step * np.sum(drawn, axis=0))


def drag(robot: Robot, v: Any, tau: Any) -> Any:
    """(n,) what the friction of joints and drives takes, dry friction rounded. Plain, on symbols
    too."""
    smooth = Smooth(velocity=FRICTION_WIDTH, power=FRICTION_WIDTH)
    return friction_torque(robot, v, tau, FRICTION_WIDTH) + pack(
        robot.drivetrain.drive_friction(tau, v, smooth)
    )


def friction_details(robot: Robot) -> str:
    """All that the friction of a robot depends on, by which its compiled functions are known."""
    train = robot.drivetrain
    return repr(
        (
            [j.friction for j in robot.joints],
            [d.friction for d in train.drives],
            train.matrix,
            train.share,
        )
    )


def torque_limits(robot: Robot) -> np.ndarray:
    """(n,) the largest torque of each joint: its own limit, and for a joint with a drive of its own
    that of the peak current."""
    limit = bounds(robot).torque.copy()
    train = robot.drivetrain
    for row, drive in zip(train.matrix, train.drives):
        moved = [j for j, w in enumerate(row) if w]
        if len(moved) == 1:
            current = min(drive.motor.peak_current, drive.amplifier.peak_current)
            limit[moved[0]] = min(limit[moved[0]], abs(drive.constant * row[moved[0]]) * current)
    return limit
