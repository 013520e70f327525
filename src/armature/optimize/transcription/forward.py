"""A robot with its drives by forward dynamics (B4): for robots with passive joints, for closed
loops, and for the thesis's scheme.

The controls are the torques of the joints with motors; loops are kept closed by (L3) of closure.py,
with α = 0.1/h: what steps leave open dies out within some twenty of them, so that drift does not
add up, and the equations do not become stiff. The state is q, v of the whole tree, and the torques
where they run straight in a step."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from armature.drive import EXACT, Smooth, stack
from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.kernels import kernel_numbers
from armature.errors import ArgumentError
from armature.kernel.symbol import bare
from armature.optimize.problem.problem import Guess, Model, Problem, filled
from armature.optimize.transcription.closure import Closure, check_closed, closure
from armature.optimize.transcription.driven import Driven, Weights
from armature.optimize.transcription.transcribe import At, ForwardDynamics, Shape
from armature.robot.model import Robot

SOURCES = ("forward.py", "closure.py")
DAMPING = 0.1  # α h; of 0 … 1.5 what left the least drift, for coarse and fine steps


@functools.cache
def sources() -> str:
    """Digest of the source that a model by forward dynamics is traced from, besides that of any
    driven model."""
    return hashlib.sha256(
        b"".join(Path(__file__).with_name(name).read_bytes() for name in SOURCES)
    ).hexdigest()


@dataclass(frozen=True)
class Forward(Driven):
    """A robot, its supply and a transcription by forward dynamics; make it with `forward`.

    method: "rk4" or "euler".  ramp: torques run straight in a step, and continuously.  closed: the
    robot's loops."""

    rule: str = "start"
    method: str = "rk4"
    ramp: bool = False
    closed: Closure | None = None

    @functools.cached_property
    def motors(self) -> tuple[int, ...]:
        """Joints whose torques are the controls: those with drives, or all that are not passive
        where there are no drives."""
        robot = self.robot
        driven = (
            robot.drivetrain.driven
            if robot.drives
            else [j not in robot.passive for j in range(robot.n)]
        )
        return tuple(j for j, d in enumerate(driven) if d)

    @functools.cached_property
    def torques(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the torques that the drives give, friction included; passive joints have none
        to be limited."""
        upper = np.array(
            [
                self.joint_limit(n, "torque") if j in self.motors else np.inf
                for j, n in enumerate(self.robot.joint_names)
            ]
        )
        return -upper, upper

    @functools.cached_property
    def torque_rates(self) -> np.ndarray:
        """No rows: rates are the controls where torques run straight."""
        return np.full(self.robot.n, np.inf)

    @functools.cached_property
    def shape(self) -> Shape:
        """Sizes and names; α is the last number of the data."""
        return replace(super().shape, nd=super().shape.nd + 1)

    @functools.cached_property
    def transcription(self) -> Any:
        """The functions of a step."""
        names = tuple(f"torque of {self.robot.joint_names[j]}" for j in self.motors)
        return ForwardDynamics(
            self.shape,
            len(self.motors),
            self.acceleration,
            self.instant,
            self.method,
            self.joint_torques,
            self.ramp,
            names,
        )

    @functools.cached_property
    def model(self) -> Model:
        """The compiled model; found in the disk cache by what it depends on."""
        closed = self.closed
        loops = (
            (self.robot.loops, closed.rows, closed.dependent, self.motors)
            if closed
            else self.motors
        )
        made = self.transcription.model(
            "" if self.extra and not self.extra_key else f"{self.key} {sources()} {loops}"
        )
        return replace(made, parameters=kernel_numbers(self.robot))

    def joint_torques(self, q: Any, v: Any, given: Any, p: Any, d: Any) -> list[Any]:
        """τ of rigid bodies and rotors: the controls at the motors; a passive joint has its own
        friction only."""
        drag = self.robot.drivetrain.joint_friction([0.0] * self.robot.n, v, self.widths(d))
        controls = dict(zip(self.motors, given))
        return [controls[j] if j in controls else -drag[j] for j in range(self.robot.n)]

    def acceleration(self, q: Any, v: Any, tau: Any, p: Any, d: Any) -> list[Any]:
        """(L3), as scalars."""
        column = lambda values: ca.vertcat(*(ca.SX(bare(x)) for x in values))
        alpha = d[-1] / sum(p[1 : self.durations], start=p[0]) if self.durations else d[-1]
        found = (self.closed or Closure(self.robot)).acceleration(
            column(q), column(v), column(tau), alpha
        )
        return [found[j] for j in range(self.robot.n)]

    def instant(self, at: At) -> Any:
        """Cost rate and limits at an instant, with the joints' acceleration limits."""
        found = super().instant(at)
        return replace(
            found, constraints=[*found.constraints, *(at.a[j] for j in self.accelerated)]
        )

    @functools.cached_property
    def accelerated(self) -> list[int]:
        """Joints with an acceleration limit."""
        return [
            j
            for j, name in enumerate(self.robot.joint_names)
            if np.isfinite(self.joint_limit(name, "acceleration"))
        ]

    # the bounds ----------------------------------------------------------------------------------

    def state_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the state at a knot inside the motion."""
        low, high = super().state_bounds()
        n, loose = 2 * self.robot.n, np.full(len(self.motors) if self.ramp else 0, np.inf)
        return np.concatenate([low[:n], -loose, low[n:]]), np.concatenate(
            [high[:n], loose, high[n:]]
        )

    def control_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the controls: rates of the torques where they run straight; torques are limited
        by rows, with friction."""
        rate = lambda j: (
            self.joint_limit(self.robot.joint_names[j], "torque_rate") if self.ramp else np.inf
        )
        top = np.concatenate(
            [[rate(j) for j in self.motors], np.full(self.model.nu - len(self.motors), np.inf)]
        )
        return -top, top

    def problem(
        self,
        N: int,
        start: Any,
        goal: Any,
        weights: Weights,
        duration: float | None = None,
        **more: Any,
    ) -> Problem:
        """A motion from rest to rest in N steps, as `Driven.problem`; with loops the goal is asked
        of the free coordinates only."""
        n = self.robot.n
        for q, what in ((start, "start"), (goal, "goal")):
            check_closed(self.robot, filled(q, (n,), what), what)
        base = super().problem(N, start, goal, weights, duration, **more)
        (low, high), (inner_low, inner_high) = base.x, self.state_bounds()
        for j in self.closed.dependent if self.closed else ():
            low[N, [j, n + j]], high[N, [j, n + j]] = inner_low[[j, n + j]], inner_high[[j, n + j]]
        data = np.array(base.data)
        data[:, -1] = DAMPING * N / (duration or 1.0)  # free durations divide it in the model
        return replace(base, data=data)

    def guess(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, duration: Any) -> Guess:
        """A starting motion from q, v, a at the knots, (N+1, n) each, with closed loops, and slacks
        that fit."""
        N, motors = len(q) - 1, list(self.motors)
        tau = np.asarray(inverse_dynamics(self.robot, q, v, a))
        flows = self.robot.drivetrain.flow(tau, v, a, smooth=self.smooth)
        powers = stack(flows, "power")[:-1] if flows else np.zeros((N, 0))
        stores = np.zeros((N + 1, self.shape.stores))
        x = np.hstack([q, v, tau[:, motors], stores] if self.ramp else [q, v, stores])
        u = (
            np.diff(tau[:, motors], axis=0) * N / np.sum(duration)
            if self.ramp
            else (tau[1:, motors] + tau[:-1, motors]) / 2
        )
        return Guess(
            x, np.hstack([u, self.slack_guess(powers)]), duration if self.durations else 0.0
        )


def forward(
    robot: Robot,
    supply: Any,
    ends: Sequence[Any],
    method: str = "rk4",
    ramp: bool = False,
    durations: int = 0,
    smooth: Smooth = EXACT,
) -> Forward:
    """A robot by forward dynamics. ends: configurations (n,) of the motion, closed, at which the
    free coordinates are chosen."""
    if robot.nq != robot.n:
        raise ArgumentError(
            f"{robot.name} has a floating base; motions are optimised for robots on the ground: fix"
            " the base, or give it the three to six joints that carry it"
        )
    if not Forward(robot, supply).motors:
        raise ArgumentError(
            f"robot {robot.name!r} has no joint with a motor; nothing can be optimised: give a"
            " drive to one of its joints"
        )
    made = Forward(
        robot,
        supply,
        durations=durations,
        smooth=smooth,
        method=method,
        ramp=ramp,
        closed=closure(robot, np.array(ends)),
    )
    limits = [made.joint_limit(robot.joint_names[j], "acceleration") for j in made.accelerated]
    names = tuple(f"acceleration of {robot.joint_names[j]}" for j in made.accelerated)
    return replace(made, extra_names=names, extra_bounds=tuple((-x, x) for x in limits))
