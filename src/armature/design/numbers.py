"""The numbers of a robot that its motion's cost depends on, as one vector θ, and the robot's
mechanism and drives as functions of symbols that stand for them.

Structure is no number: bodies, axes, turned frames and couplings are the same for every θ."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from armature.drive.drive import Drive
from armature.drive.gear import EfficiencyTable
from armature.drive.train import Drivetrain
from armature.errors import ArgumentError
from armature.kernel.symbol import Symbol
from armature.robot.model import Robot
from armature.robot.tree import Body, Tree
from armature.spatial.vectors import pack

BODY = 15  # numbers of a body: m, m c (3), J about its origin (6), p (3), rotor, ratio
FRICTION = ("viscous", "coulomb", "stiction", "stribeck_velocity", "load")
PARTS = {
    "motor": (
        "resistance",
        "torque_constant",
        "back_emf_constant",
        "inertia",
        "iron_torque",
        "viscous",
    ),
    "gear": ("ratio", "efficiency", "efficiency_back", "inertia"),
    "amplifier": ("efficiency", "standby"),
    "friction": FRICTION,
}


class TracedRobot:
    """A robot whose mechanism and drives are symbols; all else is the robot's own."""

    def __init__(self, robot: Robot, tree: Tree, drivetrain: Drivetrain):
        self.tree, self.drivetrain, self._robot = tree, drivetrain, robot
        self.variable_limits = None  # what is variable is among the symbols
        self.links = ()  # nothing is carried: a payload's mass is among the symbols already

    def __getattr__(self, name: str) -> Any:
        return getattr(self._robot, name)


def numbers(robot: Robot) -> np.ndarray:
    """θ of a robot: of every body BODY numbers, of every drive those of PARTS, of every joint its
    friction. What a drive leaves out (None) and tables stand as 0."""
    train = robot.drivetrain
    found = [_body_numbers(body) for body in robot.tree.bodies]
    found += [
        [
            _number(getattr(getattr(drive, part), name))
            for part, names in PARTS.items()
            for name in names
        ]
        for drive in train.drives
    ]
    found += [[getattr(friction, name) for name in FRICTION] for friction in train.frictions]
    return np.concatenate([np.array(row, dtype=float) for row in found])


def traced(robot: Robot, theta: ca.SX) -> TracedRobot:
    """The robot with symbols for its numbers, in the order of `numbers`."""
    symbols = iter(ca.vertsplit(theta))
    tree = replace(robot.tree, bodies=tuple(_traced_body(b, symbols) for b in robot.tree.bodies))
    train = robot.drivetrain
    drives = tuple(_traced_drive(drive, symbols) for drive in train.drives)
    frictions = tuple(_with(f, symbols, FRICTION) for f in train.frictions)
    return TracedRobot(robot, tree, replace(train, drives=drives, frictions=frictions))


def check_structure(robot: Robot, other: Robot) -> None:
    """Refuse a robot that differs from another one in more than numbers."""
    a, b = robot.tree, other.tree
    same = (
        len(a.bodies) == len(b.bodies)
        and a.joint_names == b.joint_names
        and np.array_equal(a.gravity, b.gravity)
        and all(_placed(x) == _placed(y) for x, y in zip(a.bodies, b.bodies))
        and robot.drivetrain.matrix == other.drivetrain.matrix
    )
    if not same:
        raise ArgumentError(
            "the parameter changes more than masses, lengths, drives and limits (number or axes of"
            " joints, turned frames, gravity, couplings): plan the changed robot instead"
        )
    share = np.abs(np.subtract(robot.drivetrain.share, other.drivetrain.share)).max(initial=0.0)
    if share > 1e-12:
        raise ArgumentError(
            "the parameter changes how several motors share one joint's torque; change them all by"
            " the same factor, or plan the changed robot instead"
        )


def _placed(body: Body) -> tuple[Any, ...]:
    return body.parent, body.kind, body.multiplier, body.R.tobytes(), body.axis.tobytes()


def _body_numbers(b: Body) -> list[float]:
    J = b.inertia
    moments = [*J.diagonal(), J[0, 1], J[0, 2], J[1, 2]]
    return [b.mass, *b.first_moment, *moments, *b.p, b.rotor, b.ratio]


def _traced_body(body: Body, symbols: Any) -> Body:
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz, px, py, pz, rotor, ratio = (
        Symbol(next(symbols)) for _ in range(BODY)
    )
    J = pack([xx, xy, xz, xy, yy, yz, xz, yz, zz], (3, 3))
    moment, place = pack([hx, hy, hz]), pack([px, py, pz])
    return replace(body, mass=m, first_moment=moment, inertia=J, p=place, rotor=rotor, ratio=ratio)


def _traced_drive(drive: Drive, symbols: Any) -> Drive:
    changed = {part: _with(getattr(drive, part), symbols, names) for part, names in PARTS.items()}
    found = copy.copy(drive)
    for part, value in changed.items():
        object.__setattr__(found, part, value)
    return found


def _with(part: Any, symbols: Any, names: tuple[str, ...]) -> Any:
    """A part with symbols for its numbers, which its own checks would refuse."""
    found = copy.copy(part)
    for name in names:
        symbol, value = next(symbols), getattr(part, name)
        if value is not None and not isinstance(value, EfficiencyTable):
            object.__setattr__(found, name, symbol)
    return found


def _number(value: float | EfficiencyTable | None) -> float:
    return 0.0 if value is None or isinstance(value, EfficiencyTable) else float(value)
