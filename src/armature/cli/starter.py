"""First files for a robot of one's own: its joints' names, motors of about the right size, a move
inside its ranges."""

from __future__ import annotations

import re
from math import degrees, inf, isfinite
from typing import TYPE_CHECKING, Any

from armature.dynamics.forces.bare_robot import movable, usable_limits, with_ranges
from armature.errors import ArgumentError
from armature.robot.tip import hands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from armature.drive import Drive
    from armature.dynamics.positioning.workspace import Weak
    from armature.robot.model import Robot
    from armature.robot.parts import Joint

SHORTEST = 2.0  # s

DRIVES = """\
# Drives of {robot}. The motors and gears below are stand-ins from Armature's catalogue, sized by gravity and speed:
# energies are those of the stand-ins. Replace each line, its name too, by your own data sheet, typed in as printed, for example
#   motor: {{terminal resistance: 0.299 ohm, torque constant: 54.6 mN*m/A, rotor inertia: 102 g*cm^2, peak current: 20 A}}
#   gear: {{ratio: 100, efficiency: 85 %}}
#   amplifier: {{voltage: 48 V, peak current: 20 A}}
drives:
{rows}
# regenerative (braking energy is taken back), non-regenerative (each amplifier burns it), or {{kind: bus, …}}
supply: non-regenerative
"""

TASK = """\
# A move of {robot}: armature plan task.yaml
name: {name}
robot: {file}
{arguments}{drives}{limits}{hold}payload: 0 kg                # at the tip; or {{mass: 2 kg, at: [0, 0, 50 mm], link: {tip}}}
objective: energy            # or time: the shortest motion
move:
  # joints by name, a list, or a pose of the hand: {{position: [x, y, z], rpy: [r, p, y], link: {tip}}}
  start: {start}
  goal: {goal}
  duration: {duration} s
knots: 80
output: plan                 # folder for the plan and its report
"""


def drives_text(robot: Robot) -> str:
    """drives.yaml with a stand-in drive for each joint, sized by gravity and speed."""
    from armature.dynamics.forces.stand_in import stand_ins

    found = stand_ins(_moving(robot))
    return DRIVES.format(
        robot=robot.name,
        rows="\n".join(_drive(name, found[name]) for name in movable(robot) if name in found),
    )


def _drive(joint: str, drive: Drive) -> str:
    loss = f"{100 * drive.gear.efficiency:g} %"  # type: ignore[operator]  # a stand-in's is a number
    gear = (
        ""
        if drive.gear.ratio == 1
        else f", gear: {{ratio: {drive.gear.ratio:g}, efficiency: {loss}}}"
    )
    amplifier = f"amplifier: {{voltage: {drive.amplifier.voltage:g} V}}"
    # without inertia of its own, the rotor that the robot's file has stays
    motor = drive.motor.name if drive.motor.inertia else f"{{like: {drive.motor.name}, inertia: 0}}"
    return f"  {_word(joint)}: {{name: {drive.name}, motor: {motor}{gear}, {amplifier}}}"


def task_text(robot: Robot, file: str, arguments: Mapping[str, str] | None = None) -> str:
    """task.yaml with a move of all joints that are not a gripper's; arguments: those that its xacro
    file was read with."""
    idle = [name for name in robot.joint_names if name not in movable(robot)]
    names = [name for name in robot.joint_names if name in movable(robot)]
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; motions are planned for robots on a fixed"
            " base"
        )
    moving = _moving(robot)
    start, goal = ends(moving)
    by_name = dict(zip(moving.joint_names, zip(start, goal)))
    show = lambda k: (
        "{" + ", ".join(f"{_word(n)}: {_value(robot.joint(n), by_name[n][k])}" for n in names) + "}"
    )
    hold = (
        f"hold: [{', '.join(_word(n) for n in idle)}]     # these stay still and need no drive\n"
        if idle
        else ""
    )
    drives = "" if robot.drives else "drives: drives.yaml\n"
    limits = _limits(robot, names)
    tip = hands(robot)[0]
    words = {"robot": robot.name, "name": f"{_word(robot.name)}", "file": _word(file), "tip": tip}
    given = ", ".join(f"{_word(name)}: {_word(value)}" for name, value in (arguments or {}).items())
    words["arguments"] = f"arguments: {{{given}}}\n" if given else ""
    words["duration"] = f"{duration(moving, start, goal):g}"
    return TASK.format(
        **words, drives=drives, limits=limits, hold=hold, start=show(0), goal=show(1)
    )


def duration(robot: Robot, start: list[float], goal: list[float]) -> float:
    """`SHORTEST`, or where the drives need longer for the joint cubic, that and a quarter more, in
    halves of a second."""
    import numpy as np

    from armature.dynamics.forces.stand_in import with_stand_ins
    from armature.dynamics.positioning.workspace import doubtful_torque_limits
    from armature.optimize.scaling.time_scaling import time_scaling
    from armature.optimize.transcription.guess import joint_cubic

    if robot.loops or any(joint.passive for joint in robot.joints):
        return SHORTEST
    free = usable_limits(robot, doubtful_torque_limits(robot))
    able = with_stand_ins(robot).with_limits(free)
    least = time_scaling(able, joint_cubic(start, goal, SHORTEST)).from_duration(SHORTEST)
    spare = least if least == SHORTEST else 1.25 * least
    return float(np.ceil(2.0 * spare) / 2.0) if isfinite(spare) else SHORTEST


def _limits(robot: Robot, names: list[str]) -> str:
    """Limits of acceleration and jerk where the robot's file has none (URDF has no place for them),
    and others for unreal ones."""
    from armature.dynamics.positioning.workspace import doubtful_torque_limits, weak_joints

    weak = {joint.joint: joint for joint in weak_joints(robot)}
    usable = usable_limits(robot, doubtful_torque_limits(robot))
    rows = []
    for name in names:
        changed = usable.get(name, {})
        if said := _missing(robot.joint(name), changed):
            comment = _why(robot.joint(name), weak) if "torque" in changed else ""
            rows.append(f"  {_word(name)}: {{{', '.join(said)}}}{comment}\n")
    head = (
        "limits:                      # the robot's file has none of these; or MoveIt's:"
        " joint_limits.yaml\n"
    )
    return "".join([head, *rows]) if rows else ""


def _why(joint: Joint, weak: dict[str, Weak]) -> str:
    """A comment on a limit of torque that is left to the drive."""
    if joint.name in weak:
        found = weak[joint.name]
        return (
            f"   # the file says {found.limit:.3g} {found.unit}, gravity asks for"
            f" {found.needed:.3g}"
        )
    if joint.limits.torque:
        return (
            f"   # the file says {joint.limits.torque:.3g}, as for joints that this does not hold"
        )
    return ""


def _missing(joint: Joint, changed: Mapping[str, float]) -> list[str]:
    """Limits that a joint lacks, as YAML. changed: in place of placeholders (`usable_limits`)."""
    unit = "m" if joint.kind == "prismatic" else "rad"
    said = ["lower: -180 deg", "upper: 180 deg"] if "lower" in changed else []
    said += [f"velocity: {changed['velocity']:g} {unit}/s"] if "velocity" in changed else []
    said += (
        []
        if isfinite(joint.limits.acceleration)
        else [f"acceleration: 10 {unit}/s^2", f"jerk: 150 {unit}/s^3"]
    )
    return [*said, "torque: .inf"] if "torque" in changed else said


def _moving(robot: Robot) -> Robot:
    """The robot with the joints held that a first plan does not move, and a whole turn for those
    whose range the file leaves open."""
    idle = [name for name in robot.joint_names if name not in movable(robot)]
    return with_ranges(robot.with_held(idle) if idle and robot.nq == robot.nv else robot)


def ends(robot: Robot) -> tuple[list[float], list[float]]:
    """Two configurations inside the ranges, above the floor, that the joints' torque limits can
    hold against gravity.

    The first try is about the middle of the ranges (or 0), an eighth of the range (at most 0.4 rad
    or m) to either side. Where a joint would need more than 60 % of its torque, or a link be below
    the floor, at an end or half-way: one joint 1 rad or m from there, or the first of 200 random
    places where neither is so; if there is none, the one of least torque, above the floor if
    possible."""
    import numpy as np

    low, high = (np.clip(x, -3.2, 3.2) for x in zip(*ranges(robot)))
    size = high - low
    reach = np.minimum(0.4, size / 8)
    inner = low + 0.2 * size, high - 0.2 * size
    middle = np.clip(0.0, *inner)
    near = np.clip(middle + np.vstack([np.eye(robot.n), -np.eye(robot.n)]), *inner)
    others = np.random.default_rng(0).uniform(*inner, (200, robot.n))
    places = np.vstack([middle, near, others])
    loads = np.max([_load(robot, places + k * reach) for k in (-1, 0, 1)], axis=0)
    above = np.min([_height(robot, places + k * reach) for k in (-1, 0, 1)], axis=0) >= 0.0
    fit = above & (loads <= 0.6)
    best = places[
        (
            np.argmax(fit)
            if fit.any()
            else np.argmin(np.where(above, loads, inf if above.any() else loads))
        )
    ]
    return (best - reach).tolist(), (best + reach).tolist()


def ranges(robot: Robot) -> list[tuple[float, float]]:
    """Lower and upper end of each coordinate's range, rad or m."""
    joints = {j.name: j.limits for j in robot.joints}
    return [
        (joints[n].lower, joints[n].upper) if n in joints else (-inf, inf)
        for n in robot.joint_names
    ]


def _load(robot: Robot, q: Any) -> Any:
    """The largest part of a joint's torque limit that gravity takes, (k,), at configurations (k,
    n)."""
    import numpy as np

    from armature.dynamics.compiled import bias_forces
    from armature.dynamics.positioning.workspace import doubtful_torque_limits

    joints = {j.name: j.limits.torque for j in robot.joints}
    doubtful = doubtful_torque_limits(robot)
    limits = np.array([inf if n in doubtful else joints.get(n, inf) for n in robot.joint_names])
    return np.max(np.abs(bias_forces(robot, q, np.zeros_like(q))) / limits, axis=1)


def _height(robot: Robot, q: Any) -> Any:
    """Height of the lowest part above the floor that a plan assumes, (k,), m, at configurations (k,
    n); inf where it assumes none."""
    import numpy as np

    from armature.dynamics.positioning.heights import part_heights
    from armature.optimize.planner.floor import floor_under

    floor = floor_under(robot, "auto")
    return (
        np.full(len(q), inf)
        if floor is None
        else part_heights(robot, q, floor.parts).min(axis=1) - floor.height
    )


def _value(joint: Joint, x: float) -> str:
    return f"{round(x, 4)} m" if joint.kind == "prismatic" else f"{round(degrees(x), 1)} deg"


def _word(text: str) -> str:
    """A YAML word, quoted where it must be."""
    return (
        text if re.fullmatch(r"[A-Za-z_/.][\w/.-]*", text) else "'" + text.replace("'", "''") + "'"
    )
