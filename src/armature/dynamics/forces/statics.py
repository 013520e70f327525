"""Statics: configurations in which a robot stands still under gravity, springs and given torques,
and whether it stays there.

    (S1)  τ + Q(q) − g(q) − Gᵀ(q) λ = 0,   f(q) = 0

g: gravity, Q: force elements, f and G = ∂f/∂q: closed loops with their reactions λ. Solved from
many starts, by least squares.
Stability by linearisation: eigenvalues of the motion near the configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from armature.dynamics.bodies.gauss import Mechanism
from armature.dynamics.compiled import bias_forces
from armature.dynamics.forces import mechanism_statics
from armature.dynamics.holonomic import loops
from armature.dynamics.holonomic.closed_loops import details
from armature.dynamics.holonomic.linear import linearize
from armature.dynamics.kernels import check_moves, kernel
from armature.errors import ArgumentError, check_count
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.tree import Tree

# of the largest torque of gravity and force elements anywhere: what may be left of (S1)
BALANCED = 1e-8
CLOSED = 1e-9  # m or rad
SAME = 1e-4  # rad or m: configurations that are nearer are one
STILL = 1e-5  # of the fastest mode: real parts below this are none
REACH = 1.0  # m: half the range in which joints that slide without ends are looked at


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration at rest. q: (n,), of a mechanism (nq,).  eigenvalues: (k,) of small motions
    near it, 1/s, by falling real part.

    stability: "stable" (small motions stay small), "unstable", or "neutral" (some motion has no
    stiffness: linearisation does not decide)."""

    q: np.ndarray
    eigenvalues: np.ndarray
    stability: str

    @property
    def stable(self) -> bool:
        """Whether small motions stay small."""
        return self.stability == "stable"

    def __str__(self) -> str:
        return f"{self.stability}: q = [{', '.join(f'{x:.6g}' for x in self.q)}]"


def equilibrium(
    robot: Robot | Mechanism,
    tau: Any = 0.0,
    elements: Sequence[Any] = (),
    starts: int = 60,
    seed: Any = None,
    within_limits: bool = True,
) -> tuple[Equilibrium, ...]:
    """All configurations at rest of a robot, or of a `mechanisms.Mechanism`, that are found, stable
    ones first.

    tau: (n,) torques of the joints, N·m or N, 0 by default (joints hang free).  elements: force
    elements (springs …), as in `linearize`. A mechanism has its own elements; its tau is as in
    `mechanisms.simulate`, its q is (nq,), and stability is that on its couplings.
    starts: how many configurations the search begins with, drawn evenly from the joints' ranges,
    always the same.  seed: (n,) one more.
    within_limits: leave out what lies outside the joints' ranges. Loops are closed in what is
    found. It is a search, not a proof that there are no others.
    """
    check_count(starts, "starts")
    if isinstance(robot, Mechanism):
        if elements:
            raise ArgumentError(
                f"mechanism {robot.name!r} has its own force elements; give these to Mechanism(...,"
                " elements=...)"
            )
        return _sorted(
            [_judged(q, values) for q, values in mechanism_statics.rests(robot, tau, starts, seed)]
        )
    if not isinstance(robot, Robot):
        raise ArgumentError(
            f"equilibrium needs an arm.Robot or a mechanisms.Mechanism, got {type(robot).__name__};"
            " arm.load(file) or arm.library(name) gives a robot"
        )
    check_moves(robot)
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base, which falls; equilibria are found for"
            " robots on a fixed base"
        )
    n = robot.n
    try:
        torques = np.broadcast_to(np.asarray(tau, dtype=float), (n,))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"tau has shape {np.shape(tau)}; give one torque for each of the {n} joints"
        ) from None
    balance, first = _Balance(robot, torques, tuple(elements)), _starts(robot, starts, seed)
    found: list[np.ndarray] = []
    scale = max(max(balance.parts(q)[2] for q in first), 1e-9)
    for q in first:
        at = balance.solved(q, scale)
        if at is None or (within_limits and not _inside(robot, at)):
            continue
        if not any(np.abs(balance.apart(at, other)).max(initial=0.0) < SAME for other in found):
            found.append(at)
    at_rest = np.zeros(n)
    return _sorted(
        [
            _judged(q, linearize(robot, q, at_rest, torques, elements=elements).eigenvalues)
            for q in found
        ]
    )


def _sorted(found: list[Equilibrium]) -> tuple[Equilibrium, ...]:
    """Stable ones first."""
    return tuple(sorted(found, key=lambda e: (not e.stable, *e.q.tolist())))


@dataclass(frozen=True, eq=False)
class _Balance:
    """(S1) as residuals."""

    robot: Robot
    tau: np.ndarray
    elements: tuple[Any, ...]

    def parts(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """What is left of the torques once the loops' reactions have taken theirs, how far the
        loops are open, the size of torques."""
        rest = np.zeros_like(q)
        gravity = np.asarray(bias_forces(self.robot, q, rest))
        forces = [
            np.asarray(e.joint_forces(self.robot.tree, 0.0, q, rest), dtype=float)
            for e in self.elements
        ]
        left = self.tau + sum(forces, np.zeros_like(q)) - gravity
        size = max([np.abs(x).max(initial=0.0) for x in (gravity, self.tau, *forces)])
        if not self.robot.loops:
            return left, np.zeros(0), size
        f, G = self.rows(q)
        return left - G.T @ np.linalg.lstsq(G.T, left, rcond=1e-10)[0], f, size

    @cached_property
    def rows(self) -> Any:
        """q → how far the loops are open, and their Jacobian."""
        robot, n = self.robot, self.robot.n

        def plain(tree: Tree, q: Any, v: Any) -> Any:
            found = loops.rows(tree, robot.loops, q, v)
            return {"f": found.f, "G": found.G}

        traced = kernel(robot, "closure of loops", plain, {"q": n, "v": n}, *details(robot))
        return lambda q: traced(q, np.zeros(n))

    def solved(self, q: np.ndarray, scale: float) -> np.ndarray | None:
        """The configuration at rest that the search from q leads to; None where it leads to none.
        scale: of torques, N·m or N."""
        residual = lambda x: np.concatenate([self.parts(x)[0] / scale, self.parts(x)[1]])
        found = least_squares(
            residual, q, jac="3-point", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
        ).x
        left, open_by, _ = self.parts(found)
        good = (
            np.abs(left).max(initial=0.0) <= BALANCED * scale
            and np.abs(open_by).max(initial=0.0) <= CLOSED
        )
        return self.turned(found) if good else None

    @cached_property
    def endless(self) -> np.ndarray:
        """(n,) which joints are the same after a turn: springs may know how often a joint has
        turned."""
        b = bounds(self.robot)
        return (
            _turns(self.robot)
            & (np.isinf(b.lower) | (b.upper - b.lower >= 2 * np.pi))
            & (not self.elements)
        )

    def turned(self, q: np.ndarray) -> np.ndarray:
        """Angles of endless joints between −π and π."""
        return np.where(self.endless, np.pi - np.mod(np.pi - q, 2 * np.pi), q)

    def apart(self, q: np.ndarray, other: np.ndarray) -> np.ndarray:
        """(n,) the difference of two configurations; whole turns of endless joints are none."""
        d = q - other
        return np.where(self.endless, np.mod(d + np.pi, 2 * np.pi) - np.pi, d)


def _starts(robot: Robot, count: int, seed: Any) -> list[np.ndarray]:
    """Configurations to begin with: the one given, zero, and others drawn from the ranges."""
    low, high = _ranges(robot)
    drawn = np.random.default_rng(0).uniform(low, high, (count, robot.n))
    first = (
        [] if seed is None else [np.broadcast_to(np.asarray(seed, dtype=float), (robot.n,)).copy()]
    )
    return [*first, np.clip(np.zeros(robot.n), low, high), *drawn]


def _ranges(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Where to begin: the joints' ranges; a turn, or a metre to both sides, where there are
    none."""
    b, half = bounds(robot), np.where(_turns(robot), np.pi, REACH)
    return np.where(np.isfinite(b.lower), b.lower, -half), np.where(
        np.isfinite(b.upper), b.upper, half
    )


def _turns(robot: Robot) -> np.ndarray:
    """(n,) which joints turn."""
    return np.array([robot.joint(name).kind != "prismatic" for name in robot.joint_names])


def _inside(robot: Robot, q: np.ndarray) -> bool:
    b = bounds(robot)
    return bool(np.all(q >= b.lower - SAME) and np.all(q <= b.upper + SAME))


def _judged(q: np.ndarray, values: Any) -> Equilibrium:
    """Stability by the eigenvalues of small motions."""
    fastest = max(float(np.abs(values).max(initial=0.0)), 1e-12)
    if values.size and values.real.max() > STILL * fastest:
        return Equilibrium(q, values, "unstable")
    slow = values.size and np.abs(values).min() < 1e-4 * fastest
    return Equilibrium(q, values, "neutral" if slow or fastest <= 1e-6 else "stable")
