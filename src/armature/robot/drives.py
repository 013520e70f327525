"""Drives on a robot: which joint each one moves, what its rotor adds to the mechanism, and all of
them as one drivetrain."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.document import line_of, mistakes, values
from armature.drive.catalogue import read_drives
from armature.drive.drive import Drive
from armature.drive.friction import Friction
from armature.drive.train import Coupling, Drivetrain, drivetrain
from armature.errors import ArmatureError, ArmatureWarning, FileError, RobotError
from armature.robot.description import R, RobotDescription
from armature.robot.parts import Joint, Rotor
from armature.text import read_text


def with_drives(robot: R, drives: Any, path: Any = None) -> R:
    """The robot with drives on the named joints; their rotors join the mechanism, gear ratios named
    by the robot's file are taken over.

    drives: a YAML file, or a mapping as in one, or couplings.  path: of the file that a mapping
    comes from, for messages."""
    if isinstance(drives, str | Path):
        drives, path = values(read_text(drives), drives), drives
    elif isinstance(drives, Iterable) and not hasattr(drives, "keys"):
        drives = {"couplings": list(drives)}
    if path is not None and not isinstance(drives, Mapping):
        raise FileError(
            "the file is not a mapping; it names joints with their drives, under drives:", path, 1
        )
    found, supply = read_drives(drives, path)
    new = _all_fitted(robot, found, drives, path)
    named = {name for coupling in new for name in coupling.joints}
    kept = tuple(c for c in robot.drives if not named & set(c.joints))
    rotors = {name: rotor for coupling in new for name, rotor in _rotors(robot, coupling).items()}
    joints = tuple(
        replace(j, rotor=rotors[j.name]) if j.name in rotors else j for j in robot.joints
    )
    return replace(robot, joints=joints, drives=kept + new, supply=supply or robot.supply)


def _all_fitted(
    robot: RobotDescription, found: Iterable[Coupling], data: Any, path: Any
) -> tuple[Coupling, ...]:
    """All couplings checked; with a file's path, every mistake is told with its line."""
    fitted, wrong = [], []
    for coupling in found:
        try:
            fitted.append(_fitted(robot, coupling))
        except ArmatureError as e:
            if path is None:
                raise
            wrong.append((line_of(data, ("drives", coupling.joints[0])), str(e)))
    if wrong:
        raise mistakes(wrong, path)
    return tuple(fitted)


def _fitted(robot: RobotDescription, coupling: Coupling) -> Coupling:
    """The coupling checked against the joints, with gear ratios from the robot's file where the
    drive has none and its motor turns."""
    joints = [robot.joint(name) for name in coupling.joints]
    for joint in joints:
        _check_kind(joint, coupling.drives)
    if len(joints) > 1 or joints[0].reduction is None:
        return coupling
    ratio = joints[0].reduction
    direct = lambda drive: drive.gear.ratio == 1.0 and not drive.motor.linear
    geared = (
        replace(d, gear=replace(d.gear, ratio=ratio)) if direct(d) else d for d in coupling.drives
    )
    return replace(coupling, drives=tuple(geared))


def _check_kind(joint: Joint, drives: tuple[Drive, ...]) -> None:
    if joint.kind not in ("revolute", "continuous", "prismatic"):
        raise RobotError(
            f"joint {joint.name!r} is {joint.kind} and takes no drive; drive a revolute, continuous"
            " or prismatic joint"
        )
    if joint.passive:
        raise RobotError(
            f"joint {joint.name!r} is passive and takes no drive; drive another joint, or make it"
            " passive=False"
        )
    if joint.mimic is not None:
        raise RobotError(
            f"joint {joint.name!r} mimics {joint.mimic.joint!r} and takes no drive of its own;"
            f" drive {joint.mimic.joint!r}"
        )
    if joint.kind != "prismatic" and any(d.motor.linear for d in drives):
        raise RobotError(
            f"joint {joint.name!r} is {joint.kind} but its motor is linear; take a rotary motor, or"
            " a prismatic joint"
        )


def _rotors(robot: RobotDescription, coupling: Coupling) -> dict[str, Rotor]:
    """What the rotors add at each joint. A rotor's axis given before stays; without rotor inertia
    in the drives all stays as it was."""
    axes = {
        name: old.axis for name in coupling.joints if (old := robot.joint(name).rotor) is not None
    }
    if len(coupling.drives) == 1:
        d = coupling.drives[0]
        d_inertia = d.motor.inertia + d.gear.inertia
        name = coupling.joints[0]
        return {name: Rotor(d_inertia, d.gear.ratio, axes.get(name))} if d_inertia else {}
    # several motors: Tᵀ diag(J N²) T, of which a joint's rotor holds the diagonal
    T = np.array(coupling.matrix)
    reflected = T.T @ np.diag([d.inertia for d in coupling.drives]) @ T
    off = np.abs(reflected - np.diag(np.diag(reflected))).max()
    if off > 1e-9 * np.abs(reflected).max():
        warnings.warn(
            f"coupling of {', '.join(coupling.joints)}: its rotors couple the joints by {off:.3g}"
            " kg·m², which the mechanism leaves out; make the two drives equal (then this"
            " vanishes) or accept the error",
            ArmatureWarning,
            stacklevel=4,
        )
    return {
        name: Rotor(float(reflected[k, k]), 1.0)
        for k, name in enumerate(coupling.joints)
        if reflected[k, k] > 0
    }


def robot_drivetrain(robot: RobotDescription) -> Drivetrain:
    """All drives of a robot on its n velocities, with the joints' own friction."""
    names: list[str] = []
    frictions: list[Friction] = []
    joints = {j.name: j for j in robot.joints}
    for body in robot.tree.bodies:
        if not body.mimic:
            size = 6 if body.kind == "free" else 1
            names += [body.name] if size == 1 else [f"{body.name}.{k}" for k in range(size)]
            joint = joints.get(body.name) or joints.get(
                body.name.rpartition(".")[0]
            )  # a planar joint's bodies are named joint.x, ...
            frictions += [joint.friction if size == 1 and joint is not None else Friction()] * size
    # a mimic joint turns m times as fast: c m² and |m| f at its master
    for body in robot.tree.bodies:
        if body.mimic:
            f, master, m = joints[body.name].friction, frictions[body.v], body.multiplier
            frictions[body.v] = replace(
                master,
                viscous=master.viscous + m * m * f.viscous,
                coulomb=master.coulomb + abs(m) * f.coulomb,
            )
    return drivetrain(robot.drives, names, frictions)
