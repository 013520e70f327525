"""Task files: a Job from YAML, file names relative to the file's own folder; mistakes have their
line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from armature.document import Block, checked, line_of, selected, suggestion, values
from armature.drive.catalogue import read_drives
from armature.errors import ArgumentError, ArmatureError, FileError
from armature.job.job import Job
from armature.job.job_schema import MovePart, PathPart, PayloadPart, PosePart, TaskFile, ViaPart
from armature.motion import shapes
from armature.motion.goal import Goal
from armature.motion.rotation import from_quaternion
from armature.optimize.path.follow_path import FollowPath, tip
from armature.optimize.planner.posture import in_posture
from armature.optimize.transcription.task import Move, Via
from armature.robot import frames
from armature.robot.drives import with_drives
from armature.robot.hold import resting, with_held
from armature.robot.library import library
from armature.robot.load import load
from armature.robot.model import Robot
from armature.robot.unit import limits_suit, suits
from armature.scene.read import load_scene, scene_of
from armature.scene.scene import Scene
from armature.text import read_text


def load_job(path: str | PathLike[str]) -> Job:
    """The job that a task file describes: robot with drives, payload and limits, a move or a path,
    what to minimise.

    A FileError lists what is wrong, each with its line; nothing is planned yet (`job.run()` does).
    """
    data = values(read_text(path), path)
    return job_of(checked(TaskFile, data, path), data, path)


def robot_of(part: TaskFile, data: Any, path: str | PathLike[str]) -> Robot:
    """The robot of a checked task, with all that the task says about it; arguments as for
    `job_of`."""
    return _Maker(part, data, Path(path)).robot()


def job_of(part: TaskFile, data: Any, path: str | PathLike[str], robot: Robot | None = None) -> Job:
    """The job of a checked task. data: the values that it was made of, for lines.  path: of its
    file, which others are relative to.

    robot: where it is known already, as `robot_of` made it.
    """
    maker = _Maker(part, data, Path(path))
    robot = robot or maker.robot()
    with maker.at("supply"):
        given = (
            {}
            if part.supply is None
            else selected(data, ["supply"])
            if isinstance(data, Block)
            else {"supply": part.supply}
        )
        supply = read_drives(given, path)[1] if given else None
    scene = maker.scene()
    task = (
        maker.path(robot, part.path) if part.move is None else maker.move(robot, part.move, scene)
    )
    output = None if part.output is None else maker.folder / part.output
    return Job(
        robot,
        task,
        part.objective,
        supply,
        part.knots,
        part.name or Path(path).stem,
        output,
        scene=scene,
    )


def path_of(robot: Robot, part: PathPart, data: Any, path: str | PathLike[str]) -> Any:
    """The path that a checked part describes; files that it names are relative to that of `path`.
    data: its values, for lines."""
    return _Maker(TaskFile.model_construct(), data, Path(path))._shape(robot, part)


def scene_in(given: Any, data: Any, path: str | PathLike[str]) -> Scene | None:
    """What `scene:` of a checked file gives: of a file relative to that of `path`, or the objects
    themselves. data: its values."""
    return _Maker(TaskFile.model_construct(scene=given), data, Path(path)).scene()


def find_robot(
    name: str, folder: Path = Path(), arguments: Mapping[str, Any] | None = None
) -> Robot:
    """A robot by the name of its file, relative to `folder`, or by its name in the library;
    arguments: of a xacro file."""
    file = folder / name
    if name in library() and not os.path.exists(file):
        if arguments:
            raise ArgumentError(
                f"the built-in robot {name!r} takes no arguments; only .xacro files have them"
            )
        return library(name)
    if not file.suffix:
        known = (
            f"{suggestion(name, library())}"
            if not os.path.exists(file)
            else "give a .urdf, .xacro, .xml or .yaml file"
        )
        raise ArgumentError(f"{name!r} is neither a robot file nor a built-in robot; {known}")
    return load(file, arguments=arguments)


class _Maker:
    """Makes the parts of a job; every error gets its line in the task file."""

    def __init__(self, part: TaskFile, data: Any, path: Path):
        self.part, self.data, self.file, self.folder = part, data, path, path.parent

    @contextmanager
    def at(self, *place: Any) -> Iterator[None]:
        """Errors inside belong to a place of the file."""
        try:
            yield
        except FileError:
            raise
        except ArmatureError as e:
            words = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in place).lstrip(".")
            raise FileError(f"{words}: {e}", self.file, line_of(self.data, place)) from None

    def near(self, name: str, *place: str) -> Path:
        """A file named at a place of the task file, which must exist."""
        file = self.folder / name
        if not os.path.exists(file):
            words = (
                f"{'.'.join(place)}: there is no file {file}; names are relative to this file's"
                " folder"
            )
            raise FileError(words, self.file, line_of(self.data, place))
        return file

    def suited(self, robot: Robot, *place: Any, either: str = "rad or m") -> None:
        """Refuse units of the wrong kind in what is given joint by joint at a place: angles of
        joints that slide, lengths of others."""
        given = raw(self.data, place)
        given = dict(zip(robot.joint_names, given)) if isinstance(given, list) else given
        for joint, value in given.items() if isinstance(given, Mapping) else ():
            with self.at(*place):
                suits(robot, joint, value, either)

    # --- the robot -------------------------------------------------------------------------------

    def robot(self) -> Robot:
        """The robot with limits, friction, drives, held joints (which may leave a chain, with one
        tip) and payload."""
        part = self.part
        with self.at("robot"):
            if Path(part.robot).suffix and part.robot not in library():
                self.near(part.robot, "robot")
            robot = find_robot(part.robot, self.folder, part.arguments)
        if part.limits is not None:
            robot = self._limited(robot, part.limits)
        with self.at("friction"):
            robot = robot.with_friction(part.friction or {})
        if part.drives is not None:
            with self.at("drives"):
                robot = self._driven(robot, part.drives)
        with self.at("hold"):
            robot = with_held(robot, part.hold) if part.hold else robot
        with self.at("tool"):
            tool = part.tool
            robot = (
                robot
                if tool is None
                else robot.with_tool(tool.position, tool.rpy, tool.link, tool.name)
            )
        with self.at("payload"):
            return self._loaded(robot, part.payload)

    def _limited(self, robot: Robot, limits: str | Mapping[str, Any]) -> Robot:
        if isinstance(limits, str):
            return robot.with_limits(self.near(limits, "limits"))
        for name, given in limits.items():
            with self.at("limits", name):
                limits_suit(robot, name, raw(self.data, ("limits", name)))
                robot = robot.with_limits({name: given.model_dump(exclude_unset=True)})
        return robot

    def _driven(self, robot: Robot, drives: str | Mapping[str, Any]) -> Robot:
        if isinstance(drives, str):
            return with_drives(robot, self.near(drives, "drives"))
        return with_drives(
            robot,
            selected(self.data, ["drives"]) if isinstance(self.data, Block) else {"drives": drives},
            self.file,
        )

    def _loaded(self, robot: Robot, payload: PayloadPart | float | None) -> Robot:
        if payload is None:
            return robot
        given = (
            payload if isinstance(payload, PayloadPart) else PayloadPart(mass=payload, inertia=None)
        )
        return (
            robot.with_payload(given.mass, given.at, given.link, given.inertia)
            if given.mass or given.link
            else robot
        )

    def scene(self) -> Scene | None:
        """The obstacles, of a file or as they stand in the task."""
        given = self.part.scene
        if given is None:
            return None
        if isinstance(given, str):
            return load_scene(self.near(given, "scene"))
        with self.at("scene"):
            return scene_of(raw(self.data, ("scene",)), self.file)

    # --- the task --------------------------------------------------------------------------------

    def move(self, robot: Robot, part: MovePart, scene: Scene | None) -> Move:
        """The move, with all configurations as arrays."""
        for key, either in (
            ("start", "rad or m"),
            ("goal", "rad or m"),
            ("start_velocity", "rad/s or m/s"),
            ("goal_velocity", "rad/s or m/s"),
        ):
            self.suited(robot, "move", key, either=either)
        around = self.part.floor, scene
        with self.at("move", "start"):
            start = configuration(robot, part.start, None, *around)
        with self.at("move", "goal"):
            goal = configuration(robot, part.goal, start, *around)
        stops = []
        for k, stop in enumerate(part.via):
            inner = ("configuration",) if isinstance(stop, ViaPart) else ()
            self.suited(robot, "move", "via", k, *inner)
            self.suited(robot, "move", "via", k, "velocity", either="rad/s or m/s")
            with self.at("move", "via", k):
                via = stop if isinstance(stop, ViaPart) else ViaPart(configuration=stop)
                stops.append(
                    Via(
                        configuration(robot, via.configuration, start, *around),
                        via.at,
                        rates(robot, via.velocity),
                    )
                )
        with self.at("move"):
            ends = rates(robot, part.start_velocity), rates(robot, part.goal_velocity)
            smooth = {
                "smoothness": part.smoothness,
                "acceleration_limits": part.acceleration_limits,
            }
            task = Move(start, goal, part.duration, stops, *ends, floor=self.part.floor, **smooth)
            task.vectors(robot)
            if part.duration is None and self.part.objective == "energy":
                raise ArgumentError(
                    "a least-energy move needs a duration, e.g. duration: 1.5 s; or ask for"
                    " objective: time"
                )
        return task

    def path(self, robot: Robot, part: PathPart | None) -> FollowPath:
        """The path task."""
        assert part is not None
        with self.at("path", part.shape):
            path = self._shape(robot, part)
        given: dict[str, Any] = {}
        for key in ("start", "seed", "home"):
            with self.at("path", key):
                value = getattr(part, key)
                given[key] = None if value is None else configuration(robot, value, None)
        with self.at("path"):
            options = {
                key: getattr(part, key)
                for key in ("duration", "time_price", "link", "pull", "start_speed", "end_speed")
            }
            return FollowPath(path, **options, **given, floor=self.part.floor)

    def _shape(self, robot: Robot, part: PathPart) -> Any:
        """The path as `armature.motion.shapes` makes it."""
        match part.shape:
            case "line" | "arc":
                return getattr(shapes, part.shape)(*(place(p) for p in getattr(part, part.shape)))
            case "polyline":
                return shapes.polyline(self._places(part.polyline, "polyline"), part.blend)
            case "spline":
                return shapes.spline(self._places(part.spline, "spline"), part.closed)
            case "circle" if part.circle is not None:
                c = part.circle
                return shapes.circle(place(c.start), c.centre, c.normal, c.angle, c.turning)
            case "screw" if part.screw is not None:
                s = part.screw
                return shapes.screw(place(s.start), s.centre, s.axis, s.angle, s.advance, s.turning)
        points = [configuration(robot, q, None) for q in part.joints or ()]
        return shapes.joint_path(np.array(points).reshape(-1, robot.n), robot.joint_names)

    def _places(self, given: Any, key: str) -> Any:
        return (
            self.near(given, "path", key) if isinstance(given, str) else [place(p) for p in given]
        )


def raw(data: Any, place: Sequence[Any]) -> Any:
    """What a file says at a place, as it stands there; None where there is nothing."""
    for step in place:
        inside = (
            step in data
            if isinstance(data, Mapping)
            else isinstance(data, list) and isinstance(step, int) and step < len(data)
        )
        data = data[step] if inside else None
    return data


def place(given: Any) -> Goal:
    """A point or pose of the hand."""
    if not isinstance(given, PosePart):
        return Goal(np.array(given, dtype=float))
    p = np.array(given.position)
    if given.quaternion is not None:
        return Goal(p, from_quaternion(np.array(given.quaternion)))
    return Goal(p, None if given.rpy is None else np.array(frames.from_rpy(*given.rpy)))


def configuration(
    robot: Robot,
    given: Any,
    start: np.ndarray | None,
    floor: Any = None,
    scene: Scene | None = None,
) -> np.ndarray:
    """(n,) joint coordinates from a list, {joint: value}, or a pose of the hand (in its own
    posture, or that nearest to `start` that keeps the floor and is free of the scene).

    Joints that are not named keep those of `start`, or without one 0 or the end of their range
    nearest to it."""
    if isinstance(given, PosePart):
        link = given.link or tip(robot)
        return in_posture(robot, place(given), link, start, given.posture, floor, scene)
    if isinstance(given, Mapping):
        _known(robot, given)
        rest = start if start is not None else _rest(robot)
        return np.array([given.get(name, rest[k]) for k, name in enumerate(robot.joint_names)])
    if len(given) != robot.n:
        raise ArgumentError(
            f"{len(given)} values for {robot.n} joints; give one for each of"
            f" {', '.join(robot.joint_names)}"
        )
    return np.array(given, dtype=float)


def _rest(robot: Robot) -> list[float]:
    """Where joints are that nobody names, (n,)."""
    joints = {
        joint.name: joint for joint in robot.joints
    }  # the parts of a planar joint have names of their own
    return [resting(joints[name]) if name in joints else 0.0 for name in robot.joint_names]


def rates(robot: Robot, given: Any) -> Any:
    """(n,) velocities from a number for all, a list, or {joint: value} with 0 for the others; None
    stays None."""
    if isinstance(given, Mapping):
        _known(robot, given)
        return np.array([given.get(name, 0.0) for name in robot.joint_names])
    if isinstance(given, Sequence) and len(given) != robot.n:
        raise ArgumentError(
            f"{len(given)} velocities for {robot.n} joints; give one for each of"
            f" {', '.join(robot.joint_names)}"
        )
    return given


def _known(robot: Robot, given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in robot.joint_names:
            raise ArgumentError(
                f"there is no moving joint {name!r}; {suggestion(name, robot.joint_names)}"
            )
