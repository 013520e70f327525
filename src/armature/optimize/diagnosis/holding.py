"""What standing still asks of the drives, and how much payload they can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.recursion.recursive import inverse_dynamics as plain_inverse_dynamics
from armature.errors import ArgumentError
from armature.robot.frames import joined
from armature.robot.model import ZERO, Limits, Robot, Vec3
from armature.robot.unit import unit_of

ROUNDING = 1e-9
BISECTIONS = 60  # down to rounding
POINT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # inertia of a point mass about itself


class Load(NamedTuple):
    """What holding asks of a limit: its name, the joint or axis, value and bound, and the unit."""

    limit: str
    joint: str
    value: float
    bound: float
    unit: str

    @property
    def ratio(self) -> float:
        """value/bound; infinite where the bound is zero."""
        return self.value / self.bound if self.bound else np.inf if self.value else 0.0


class Carrier(NamedTuple):
    """Who carries the payload: the link, the payload in kg (0 where none was added) and its point
    in the link's frame."""

    link: str
    mass: float
    point: Vec3


def at_rest(robot: Robot, q: np.ndarray) -> np.ndarray:
    """(..., n) torques that gravity asks for at rest in q (..., n)."""
    zero = np.zeros_like(q)
    return np.asarray(inverse_dynamics(robot, q, zero, zero))


def joint_limits(robot: Robot, name: str) -> Limits:
    """The limits of a joint; none for one coordinate of a joint with several."""
    try:
        return robot.joint(name).limits
    except ArgumentError:
        return Limits()


def holding(robot: Robot, tau: np.ndarray) -> Iterator[Load]:
    """What holding still against the torques tau (n,) asks of every limit of torque, current and
    heat; friction and gears help."""
    train = robot.drivetrain
    for j, name in enumerate(robot.joint_names):
        inside = sum(
            abs(row[j]) * d.friction.holding(tau[j])
            for row, d in zip(train.matrix, train.drives)
            if np.count_nonzero(row) == 1
        )
        helped = max(0.0, abs(tau[j]) - train.frictions[j].holding(tau[j]) - inside)
        yield Load(
            "torque",
            name,
            helped,
            joint_limits(robot, name).torque,
            unit_of(robot, name, "N·m or N"),
        )
    needed = np.sign(tau) * [max(0.0, abs(t) - f.holding(t)) for t, f in zip(tau, train.frictions)]
    for drive, name, torque in zip(train.drives, train.axis_names, train.axis_torque(needed)):
        current = abs(drive.holding_current(float(torque)))
        yield Load(
            "peak current",
            name,
            current,
            min(drive.motor.peak_current, drive.amplifier.peak_current),
            "A",
        )
        yield Load(
            "peak heat", name, drive.motor.resistance * current**2, drive.motor.peak_heat, "W"
        )
        yield Load(
            "gear torque",
            name,
            abs(float(torque)),
            drive.gear.maximum_torque,
            unit_of(robot, name, "N·m or N"),
        )


def too_heavy(robot: Robot, tau: np.ndarray) -> Load | None:
    """The limit that holding against tau (n,) exceeds most, None where all are kept."""
    over = [load for load in holding(robot, tau) if load.value > load.bound * (1 + ROUNDING)]
    return max(over, key=lambda load: load.ratio, default=None)


def carrier(robot: Robot) -> Carrier | None:
    """The link with the heaviest payload; where none was added, the one moving tip; None where
    there are several."""
    loaded = [
        Carrier(link.name, *link.payload)
        for link in robot.links
        if link.payload and link.payload[0] > 0.0
    ]
    if loaded:
        return max(loaded, key=lambda load: load.mass)
    moving = {
        name: frame.body
        for name, frame in robot.tree.frames.items()
        if name in robot.tips and frame.body >= 0
    }
    if len(set(moving.values())) != 1:
        return None
    return Carrier(next(iter(moving)), 0.0, (0.0, 0.0, 0.0))


def reloaded(robot: Robot, load: Carrier, mass: float) -> Robot:
    """The robot with another payload, kg, in the place of the one it carries."""
    link = robot.link(load.link)
    left, centre, inertia = 0.0, ZERO, POINT
    if link.mass - load.mass > ROUNDING * link.mass:
        left, centre, inertia = joined(
            [(link.mass, link.com, link.inertia), (-load.mass, load.point, POINT)]
        )
    empty = replace(link, mass=left, com=centre, inertia=inertia, payload=None)
    links = tuple(empty if other.name == link.name else other for other in robot.links)
    return replace(robot, links=links).with_payload(mass, at=load.point, link=load.link)


def excess_mass(robot: Robot, q: np.ndarray) -> float | None:
    """The least mass, kg, taken off where the payload is, with which q (n,) or all of q (K, n) can
    be held; None where none suffices."""
    load = carrier(robot)
    if load is None:
        return None
    q = np.atleast_2d(q)
    tau = at_rest(robot, q)
    more, zero = max(load.mass, 1.0), np.zeros(robot.n)  # as much again: slopes keep their digits
    heavier = robot.with_payload(more, at=load.point, link=load.link).tree
    slope = (
        np.array([plain_inverse_dynamics(heavier, row, zero, zero) for row in q], dtype=float) - tau
    ) / more  # torque per kilogram

    def held(less: float) -> bool:
        return all(too_heavy(robot, row) is None for row in tau - less * slope)

    def asked(less: float) -> float:
        """The largest part of a limit that is used; quasi-convex: torques are linear in mass."""
        rows = tau - less * slope
        return max((x.ratio for row in rows for x in holding(robot, row)), default=0.0)

    most = load.mass or max(robot.link(load.link).mass, 100.0)
    nearest: Any = None if held(most) else minimize_scalar(asked, bounds=(0.0, most))
    least = most if nearest is None else float(nearest.x)
    if not held(least):
        return None
    low, high = 0.0, float(least)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if held(middle) else (middle, high)
    left = max(0.0, load.mass - high)
    return float(high + ROUNDING * left)  # held also where what is left is weighed anew
