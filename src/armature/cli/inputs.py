"""What verbs are given: robots, coordinates, motions; and their completion in the shell."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli.kinds import ROBOT as ROBOT_KEYS
from armature.cli.kinds import refuse_other
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.job.job import Job
    from armature.motion.trajectory import Trajectory
    from armature.robot.model import Robot

EXAMPLES = {
    "rad": "90deg or 250mm, separated by commas",
    "kg": "3kg",
    "s": "800ms",
    "rad/s": "90deg/s",
    "N*m": "20N*m",
}
ROBOT_FILES = (".urdf", ".yaml", ".yml", ".xml", ".xacro")
MOTION_FILES = (".csv", ".npz", ".json", ".yaml", ".yml", ".parquet", ".h5", ".hdf5", ".mcap")


def complete_robot(incomplete: str) -> list[str]:
    """Built-in robots, and robot files and folders that begin with what was typed."""
    from armature.robot.library import library

    place = Path(incomplete)
    folder = place if incomplete.endswith("/") else place.parent
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    files = [
        f"{p}/" if p.is_dir() else str(p) for p in found if p.is_dir() or p.suffix in ROBOT_FILES
    ]
    return [name for name in (*library(), *files) if name.startswith(incomplete)]


ROBOT = typer.Argument(
    help=(
        "a robot file (.urdf, .yaml, .xml, .xacro), the name of a built-in robot, or a task file,"
        " for its robot"
    ),
    autocompletion=complete_robot,
)
DRIVES = typer.Option(
    None,
    "--drives",
    help="YAML file with the drives, if the robot's file has none",
    show_default=False,
)
PAYLOAD = typer.Option("0 kg", "--payload", help="mass at the tip, e.g. 3kg")
LIMITS = typer.Option(None, "--limits", help="MoveIt's joint_limits.yaml", show_default=False)
HOLD = typer.Option(
    None,
    "--hold",
    help="joints that stay still, by name or pattern, comma separated: 'gripper_*'",
    show_default=False,
)
ARG = typer.Option(
    None,
    "--arg",
    help="argument of a xacro file, name:=value (once for each): ur_type:=ur5e",
    show_default=False,
)
FLOOR = typer.Option(
    None,
    "--floor",
    help="height of the floor, e.g. -0.1 or '20 mm'; none; auto (default)",
    show_default=False,
)
SCENE = typer.Option(
    None, "--scene", help="obstacles: a scene file (YAML), ours or MoveIt's", show_default=False
)
SUPPLY = typer.Option(None, "--supply", help="regenerative or non-regenerative", show_default=False)


def find_robot(
    name: str,
    drives: Path | None = None,
    payload: str = "0 kg",
    limits: Path | None = None,
    hold: str | None = None,
    arg: list[str] | None = None,
) -> Robot:
    """A robot by its file, its name in the library, or a task file that tells of it, with what the
    options add."""
    from armature.job.job_file import find_robot as find

    refuse_other(name, ROBOT_KEYS)
    job = task_of(name)
    if job is not None and arg:
        raise ArgumentError(
            "with a task file, a xacro file's arguments stand in the file, as arguments: {name:"
            " value}"
        )
    robot = find(name, arguments=arguments_of(arg)) if job is None else job.robot
    robot = robot.with_limits(limits) if limits is not None else robot
    robot = robot.with_drives(drives) if drives is not None else robot
    robot = robot.with_held([part.strip() for part in hold.split(",")]) if hold else robot
    if hold and not robot.n:
        raise ArgumentError(f"--hold {hold}: no joint is left that moves; hold fewer")
    mass = _number(payload, "--payload", ("kg",))
    return robot.with_payload(mass) if mass else robot


def arguments_of(given: list[str] | None) -> dict[str, str]:
    """{name: value} of --arg options."""
    from armature.robot.load.xacro.arguments import from_words

    return from_words(given or [])


def task_of(name: str) -> Job | None:
    """The job of a task file; None for any other file."""
    from armature.document import values
    from armature.job.job_file import load_job
    from armature.text import read_text

    if Path(name).suffix.lower() not in (".yaml", ".yml") or not os.path.isfile(name):
        return None
    data = values(read_text(name), name)
    return load_job(name) if isinstance(data, dict) and {"move", "path"} & set(data) else None


def find_mesh_folders(name: str, robot: Robot, wanted: bool | None) -> tuple[Path, ...]:
    """Folders in which the meshes of a robot may lie, by its own or a task's file. wanted: None
    where nothing was said, which needs no package that is not there."""
    from importlib.util import find_spec

    from armature.robot.load.packages import mesh_folders

    file = _robot_file(Path(name))
    if wanted is False or file is None or (wanted is None and find_spec("trimesh") is None):
        return ()
    return mesh_folders(robot, file.parent)


def _robot_file(path: Path) -> Path | None:
    """The robot's file: itself, or the one that a task file names; None for a built-in robot."""
    from armature.document import values
    from armature.text import read_text

    if not os.path.isfile(path):
        return None
    data = values(read_text(path), path) if path.suffix.lower() in (".yaml", ".yml") else {}
    named = data.get("robot") if isinstance(data, dict) else None
    file = path.parent / named if isinstance(named, str) else path
    return file if os.path.isfile(file) else None


def scene_of(path: Path) -> Any:
    """The obstacles of a file."""
    from armature.scene.read import load_scene

    return load_scene(path)


def floor_of(text: str) -> Any:
    """A floor from a height, "none" or "auto"."""
    from armature.optimize.planner.floor import as_floor

    return as_floor(text) if text.isalpha() else _number(text, "--floor", ("m",))


def coordinates(text: str, what: str, unit: tuple[str, ...] = ("rad", "m")) -> list[float]:
    """Numbers from '0, 90deg, 250 mm'."""
    return [_number(part.strip(), what, unit) for part in text.split(",")]


def seconds(text: str, what: str) -> float:
    """One time, s, from '1.2' or '800ms'."""
    found = coordinates(text, what, ("s",))
    if len(found) != 1:
        raise ArgumentError(
            f"{what}: {text!r} are {len(found)} numbers, where one time is asked for, such as 0.6s"
        )
    return found[0]


def _number(text: str, what: str, units: tuple[str, ...]) -> float:
    from math import isfinite

    from armature.drive.units import parse
    from armature.robot.format.quantities import LARGEST, LARGEST_OTHER

    most = LARGEST.get(units, LARGEST_OTHER)
    for unit in units:
        try:
            value = parse(text, unit)
        except (ArgumentError, ArithmeticError):
            continue
        if isfinite(value):
            if abs(value) > most:
                raise ArgumentError(
                    f"{what}: {text!r} is beyond {most:g} {unit}, the largest that is taken here:"
                    " check its unit"
                )
            return value
    raise ArgumentError(
        f"{what}: {text!r} is not a number; give one in {units[0]}, or with a unit, such as"
        f" {EXAMPLES.get(units[0], units[0])}"
    )


def state(
    robot: Robot,
    text: str | None,
    what: str,
    units: tuple[str, ...] = ("rad", "m"),
    start: Any = None,
) -> Any:
    """(n,) numbers from 'a, b, c' or 'joint=a, joint=b'; joints that are not named keep those of
    `start`, by default 0 or the end of their range nearest to it."""
    from armature.job.job_file import configuration
    from armature.robot.unit import suits

    parts = [part.partition("=") for part in (text or "").split(",") if part.strip()]
    if robot.nq != robot.nv and parts:
        raise ArgumentError(
            f"{what}: robot {robot.name!r} has a floating base; this verb takes robots on a fixed"
            " base"
        )
    twice = [
        name
        for k, (name, equals, _) in enumerate(parts)
        if equals and name.strip() in {other.strip() for other, _, _ in parts[:k]}
    ]
    if twice:
        raise ArgumentError(f"{what}: joint {twice[0].strip()!r} is given twice; give it once")
    try:
        named = any(equals for _, equals, _ in parts)
        for joint, value in (
            zip(robot.joint_names, parts)
            if not named
            else ((name.strip(), (value,)) for name, _, value in parts)
        ):
            suits(robot, joint, value[0].strip(), " or ".join(units))
        if parts and not named:
            return configuration(robot, coordinates(text or "", what, units), start)
        return configuration(
            robot,
            {name.strip(): _number(value.strip(), what, units) for name, _, value in parts},
            start,
        )
    except ArgumentError as error:
        raise ArgumentError(
            str(error) if str(error).startswith(what) else f"{what}: {error}"
        ) from None


def find_motion(path: Path, robot: Robot | None = None) -> Trajectory:
    """A motion from a file of one, or from a saved plan (a folder, .npz or .json); for `robot`, its
    joints in the robot's order."""
    from armature.errors import FileError
    from armature.motion.formats import load_trajectory

    if os.path.isdir(path):
        motion = _planned_motion(path)
    else:
        try:
            motion = load_trajectory(path)
        except FileError as error:
            if path.suffix.lower() not in (".npz", ".json"):
                raise
            try:
                motion = _planned_motion(path)
            except FileError:
                raise error from None
    return motion if robot is None else _for_robot(motion, robot, path)


def _planned_motion(path: Path) -> Trajectory:
    """The motion of a saved plan, with a warning where it is not certified."""
    from armature.errors import ArmatureWarning
    from armature.job.saved import load_plan

    plan = load_plan(path)
    if (
        not plan.certificate.ok and not plan.certificate.invalid
    ):  # that an invalid one is invalid was said on loading
        warnings.warn(
            f"{path}: this motion is not certified; look at it before it is run",
            ArmatureWarning,
            stacklevel=2,
        )
    return plan.trajectory


def _for_robot(motion: Trajectory, robot: Robot, path: Path) -> Trajectory:
    """The motion with the robot's joints in the robot's order, found by their names, or as they are
    where no name is known."""
    from dataclasses import replace

    from armature.errors import ArmatureWarning, FileError

    names = list(motion.joint_names)
    if set(robot.joint_names) <= set(names) and tuple(names) != robot.joint_names:
        others = [name for name in names if name not in robot.joint_names]
        if others:
            what = f"{path}: joints that robot {robot.name!r} does not have are left out"
            warnings.warn(f"{what}: {', '.join(others)}", ArmatureWarning, stacklevel=2)
        order = [names.index(name) for name in robot.joint_names]
        return replace(
            motion,
            q=motion.q[:, order],
            v=motion.v[:, order],
            a=motion.a[:, order],
            joint_names=robot.joint_names,
            tau=None if motion.tau is None else motion.tau[:, order],
            current=None,
            voltage=None,
            power=None,
        )
    if motion.n != robot.n or set(names) & set(robot.joint_names) not in (set(), set(names)):
        wanted = f"robot {robot.name!r} has {robot.n}: {', '.join(robot.joint_names)}"
        raise FileError(f"the motion has the joints {', '.join(names)}; {wanted}", path)
    return motion
