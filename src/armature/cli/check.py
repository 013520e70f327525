"""`armature check`: what was read from a robot's file, what is doubtful about it, and its physics
as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armature.cli.inputs import (
    ARG,
    DRIVES,
    HOLD,
    LIMITS,
    PAYLOAD,
    ROBOT,
    SCENE,
    find_robot,
    scene_of,
    task_of,
)
from armature.cli.output import FAILED, OK, answer, say, settings, table, tidy
from armature.errors import several

if TYPE_CHECKING:
    from armature.robot.model import Robot


def check(
    robot: str = ROBOT,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    scene: Path | None = SCENE,
) -> int | None:
    """What is in a robot's (or a task's) file: joints, limits, drives; what is doubtful, with its
    line; torques that gravity asks for. Of a program, cell or line file: its steps, whether they
    can be reached and held, how quick they can be at best, what is missing."""
    from armature.cell.check_file import check_file
    from armature.optimize.path.follow_path import FollowPath

    if (found := check_file(robot)) is not None:
        return say_checks(found)

    machine = find_robot(robot, drives, payload, limits, hold, arg)
    if (job := task_of(robot)) is not None:
        what = "a path" if isinstance(job.task, FollowPath) else "a move"
        say(
            f"{robot}: {what} of least {job.objective} in {job.knots} steps; what follows is its"
            " robot with drives, limits and payload",
            "",
        )
    rows = physics(machine)
    head = ("joint", "holds [N·m or N]", "inertia [kg·m² or kg]", "drive gives [N·m or N]", "gear")
    say(
        machine.summary(), "", "at rest, all joints at 0 (or the end of their range nearest to it):"
    )
    cells = [
        list({**row, "holds": x}.values())
        for row, x in zip(rows, tidy(row["holds"] for row in rows))
    ]
    doubtful, missing = doubts(machine), advice(machine)
    say(
        table(head, cells),
        "",
        *doubtful,
        *missing,
        f"warnings: {len(settings.warned) + len(doubtful)}",
    )
    near = nearness(machine, job, scene)
    if near:
        say(*near)
    about = {
        "name": machine.name,
        "joints": rows,
        "links": machine.link_names,
        "mass": machine.mass,
    }
    answer({"ok": True, **about, "advice": [*doubtful, *missing], "scene": near})


def say_checks(found: Sequence[Any]) -> int:
    """Say what is known of programs, cells or lines."""
    say(*found)
    faults = [fault for check in found for fault in check.faults]
    answer({"ok": not faults, "faults": faults, "checks": [str(check) for check in found]})
    return OK if not faults else FAILED


def nearness(robot: Robot, job: Any, scene: Path | None) -> list[str]:
    """How near the robot is to the obstacles of a scene file, or of a task: at its start and goal,
    or with all joints at rest."""
    import numpy as np

    from armature.optimize.transcription.task import Move
    from armature.scene.collision import told_apart
    from armature.scene.measure import distance
    from armature.simulate.rollout import neutral

    world = scene_of(scene) if scene is not None else None if job is None else job.scene
    if world is None:
        return []
    places = {"at rest": neutral(robot)}
    if job is not None and isinstance(job.task, Move):
        ends = job.task.vectors(robot)
        places = {"start": ends.q0, "goal": ends.q1}
    every = np.array(list(places.values()))
    found = distance(robot, told_apart(robot, world, every), every)
    words = []
    for k, name in enumerate(places):
        if found.nearest[k] < 0:
            words.append(f"{name}: nothing that may collide")
            continue
        first, second = found.pairs[found.nearest[k]]
        d = float(found.least[k])
        how = f"{d:.3g} m from" if d >= 0.0 else f"in collision: {-d:.3g} m inside"
        words.append(f"{name}: {first} is {how} {second}")
    return words


def physics(robot: Robot) -> list[dict[str, Any]]:
    """For each joint: the torque that holds it against gravity, the inertia it feels, what its
    drive can give for a moment, its gear."""
    import numpy as np

    from armature.cli.starter import ranges
    from armature.dynamics.compiled import bias_forces, mass_matrix
    from armature.simulate.rollout import neutral

    if robot.nq != robot.nv or not robot.n:
        return []
    q = np.clip(neutral(robot), *(np.array(x) for x in zip(*ranges(robot))))
    holding, inertia = bias_forces(robot, q, np.zeros(robot.n)), np.diag(mass_matrix(robot, q))
    drives = {c.joints[0]: c.drives[0] for c in robot.drives if len(c.joints) == len(c.drives) == 1}
    rows = []
    for k, name in enumerate(robot.joint_names):
        drive = drives.get(name)
        current = (
            float("inf")
            if drive is None
            else min(drive.motor.peak_current, drive.amplifier.peak_current)
        )
        strength = (
            abs(drive.constant) * current if drive is not None and current < float("inf") else ""
        )
        ratio = "none" if drive is None else float(drive.gear.ratio)
        rows.append(
            {
                "joint": name,
                "holds": float(holding[k]),
                "inertia": float(inertia[k]),
                "gives": strength,
                "gear": ratio,
            }
        )
    return rows


def doubts(robot: Robot) -> list[str]:
    """What a robot's file says that cannot be true: placeholder masses, limits of 0, torque limits
    below what gravity needs."""
    from armature.dynamics.positioning.workspace import weak_joints
    from armature.robot.check import mass_doubt, zero_limits

    return [
        *filter(None, [mass_doubt(robot)]),
        *zero_limits(robot),
        *(str(joint) for joint in weak_joints(robot)),
    ]


def advice(robot: Robot) -> list[str]:
    """What is missing before a motion can be planned that means something."""
    from armature.dynamics.forces.stand_in import has_stand_ins
    from armature.optimize.planner.accelerations import inferred_accelerations

    driven = {name for c in robot.drives for name in c.joints}
    bare = [name for name in robot.joint_names if name not in driven]
    words = (
        ["stand-in motors: energies are theirs; put your own into the drives file"]
        if has_stand_ins(robot)
        else []
    )
    if robot.n and not driven:
        words.append(
            "no drives: give them by --drives drives.yaml (armature init --robot writes one) to"
            " plan motions"
        )
    elif bare:
        words.append(
            f"no drive on {several(bare)}: planning asks for one; add it, or --hold the joint"
        )
    inferred = inferred_accelerations(robot)
    if inferred:
        said = ", ".join(f"{name} {a:.3g}" for name, a in inferred.items())
        words.append(
            "no limits of acceleration: least-energy plans take what the drives keep up for long"
            f" [rad/s² or m/s²]: {said}"
        )
    free = [
        j.name
        for j in robot.joints
        if j.name in robot.joint_names and j.limits.acceleration == float("inf")
    ]
    if free := [name for name in free if name not in inferred]:
        where = "any joint" if len(free) == len(robot.joint_names) else several(free)
        then = "plans infer them from the drives" if not driven else "motions may jerk"
        words.append(
            f"no limits of acceleration on {where}: {then}; add your own in the task file, or"
            " MoveIt's by --limits"
        )
    return words
