"""A program as stages: motions from rest to rest (legs), and stops between them, each with the
robot as it is then: what it carries, where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from armature.cell.program.program import (
    BACK,
    Along,
    Dwell,
    Grip,
    MoveTo,
    PowerMode,
    Program,
    Release,
    Step,
)
from armature.cell.program.things import put_down, touchable
from armature.dynamics.compiled import pose
from armature.errors import ArgumentError, RobotError
from armature.motion.goal import is_pose
from armature.motion.path import JointPath
from armature.motion.shapes import line
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.task import Move, Via, configuration
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.scene.scene import Scene
from armature.study.rest import Rest, check_brakes, rest

SAME = 1e-6  # rad or m between the end of one motion and the start of the next
LONG = 10.0  # s: the waiting time by which places to wait are compared
ARRIVES = 1e-4  # rad or m between the end of an upright move and its goal
TILT = 1e-3  # rad by which the tool axes of start and goal of an upright move may differ


@dataclass(frozen=True, eq=False)
class Leg:
    """A motion from rest to rest. steps: names of the steps that it does.  task: without duration.
    q0, q1: (n,).  most: s.  scene: as it is during the motion, or None."""

    name: str
    robot: Robot
    task: Move | FollowPath
    q0: np.ndarray
    q1: np.ndarray
    most: float
    scene: Scene | None = None
    upright: bool = False


@dataclass(frozen=True, eq=False)
class Pause:
    """Standing still: at least `seconds` (s) with a robot as it is then. hold, fixed: as in
    `Dwell`.  modes: power modes that may be taken, each where there is time for it and it takes
    less."""

    name: str
    robot: Robot
    seconds: float
    hold: str
    place: Rest
    fixed: bool = False
    modes: tuple[PowerMode, ...] = ()

    def energy(self, more: float = 0.0) -> float:
        """Energy of this pause with `more` seconds, J."""
        seconds = self.seconds + more
        mode = self.mode(seconds)
        return self._awake(seconds) if mode is None else self.asleep(mode, seconds)

    def mode(self, seconds: float) -> PowerMode | None:
        """The power mode that takes least in `seconds` (s); None: motors or brakes do."""
        cheap = min(self.modes, key=lambda m: self.asleep(m, seconds), default=None)
        if cheap is None or self.asleep(cheap, seconds) >= self._awake(seconds):
            return None
        return cheap

    def asleep(self, mode: PowerMode, seconds: float) -> float:
        """Energy of `seconds` (s) in a power mode, J; infinite where there is no time for it."""
        if seconds < mode.shortest:
            return np.inf
        held = self.place.held(mode.shortest)
        return held + mode.energy + mode.power * (seconds - mode.shortest)

    def _awake(self, seconds: float) -> float:
        return self.place.held(seconds) if self.hold == "motors" else self.place.energy(seconds)

    @property
    def braked(self) -> bool:
        """Whether the brakes may close."""
        return self.hold != "motors"


@dataclass(frozen=True, eq=False)
class Stop:
    """Where the robot stands between two legs. q: (n,).  pauses: in order.  waiting: index of the
    pause that takes further waiting time."""

    name: str
    q: np.ndarray
    pauses: tuple[Pause, ...]
    waiting: int

    @property
    def seconds(self) -> float:
        """The least time here, s."""
        return sum(p.seconds for p in self.pauses)

    def energy(self, wait: float = 0.0) -> float:
        """Energy of the stop with `wait` seconds more than the least, J."""
        extra = lambda k: wait if k == self.waiting else 0.0
        return sum(p.energy(extra(k)) for k, p in enumerate(self.pauses))


Stage = Leg | Stop


def stages(program: Program) -> tuple[Stage, ...]:
    """Legs and stops in turn; every leg is followed by a stop. A first stop stands before the first
    leg where the program begins with one. An ArgumentError names the step that is wrong."""
    return _Walker(program).walk()


class _Walker:
    """Goes through the steps, and knows where the robot is and what it carries."""

    def __init__(self, program: Program):
        self.program, self.robot = program, program.robot
        self.scene, self.thing = touchable(program), None
        self.carried: Grip | None = None
        self.begin = self.at = self._first()
        self.found: list[Stage] = []
        self.pauses: list[Pause] = []
        self.passed: list[MoveTo] = []

    def walk(self) -> tuple[Stage, ...]:
        for step in self.program.steps:
            try:
                self._do(step)
            except (ArgumentError, RobotError) as error:
                told, robot = str(error), self.program.robot.name
                raise ArgumentError(
                    told
                    if told.startswith("step ")
                    else f"step {step.name!r} of robot {robot!r}: {told}"
                ) from None
        if self.passed:
            last = self.passed[-1].name
            raise ArgumentError(f"step {last!r} does not stop (stop=False), but no move follows it")
        self._close()
        self._check_end()
        return tuple(self.found)

    def _first(self) -> np.ndarray:
        start, robot = self.program.start, self.program.robot
        if is_pose(start):
            start = Move(start, start, floor=self.program.floor).in_joints(robot).start
        return configuration(robot, start, "start")

    # steps ------------------------------------------------------------------------------------

    def _do(self, step: Step) -> None:
        if self.passed and not (isinstance(step, MoveTo) and not step.upright):
            before = self.passed[-1].name
            raise ArgumentError(
                f"step {before!r} does not stop (stop=False), so that {step.name!r} "
                "cannot follow it: only a move can; let it stop"
            )
        match step:
            case MoveTo():
                self._move(step)
            case Along():
                self._along(step)
            case Dwell():
                self._dwell(step)
            case Grip():
                self._grip(step)
            case Release():
                self._release(step)

    def _move(self, step: MoveTo) -> None:
        if not step.stop:
            self.passed.append(step)
            return
        if step.upright:
            return self._upright(step)
        via: list[Any] = []
        for passed in self.passed:
            via += [*passed.via, self._goal(passed)]
        via += list(step.via)
        stops = [v if isinstance(v, Via) else Via(self._filled(v)) for v in via]
        names = [*(p.name for p in self.passed), step.name]
        most = min((s.most for s in (*self.passed, step) if s.most is not None), default=np.inf)
        task = Move(
            self.at,
            self._goal(step),
            None,
            stops,
            floor=self.program.floor,
            posture=step.posture,
            smoothness=step.smoothness,
            scene=self.scene,
        ).in_joints(self.robot)
        task = replace(task, scene=None)  # legs carry the scene themselves
        goal = task.vectors(self.robot).q1
        if not stops and np.abs(goal - self.at).max() < SAME:
            raise ArgumentError("the robot is there already; leave this move out")
        self.passed = []
        self._leg(Leg(" + ".join(names), self.robot, task, self.at, goal, most, self.scene))

    def _goal(self, step: MoveTo) -> Any:
        return (
            self.begin
            if isinstance(step.goal, str) and step.goal == BACK
            else self._filled(step.goal)
        )

    def _filled(self, goal: Any) -> Any:
        """A goal with the joints that it does not name where they are."""
        if isinstance(goal, str):
            raise ArgumentError(f"goal = {goal!r} is not known; give a configuration or 'start'")
        if not isinstance(goal, Mapping):
            return goal
        return dict(zip(self.robot.joint_names, self.at.tolist())) | dict(goal)

    def _upright(self, step: MoveTo) -> None:
        """Straight to the goal by the hand, its axis parallel to itself."""
        robot, hand = self.robot, tip(self.robot, "moves upright")
        ends = Move(self.at, self._goal(step), floor=self.program.floor, posture=step.posture)
        ends = ends.in_joints(robot).vectors(robot)
        a, b = (pose(robot, q, hand) for q in (ends.q0, ends.q1))
        tilt = float(np.arccos(np.clip(a.R[:, 2] @ b.R[:, 2], -1.0, 1.0)))
        if tilt > TILT:
            raise ArgumentError(
                f"the tool axis at the goal is {np.degrees(tilt):.3g}° off the one at "
                "the start; an upright move needs the same at both ends"
            )
        task = FollowPath(
            line((a.R, a.p), (b.R, b.p)), link=hand, start=self.at, floor=self.program.floor
        )
        end = np.asarray(task.curve(robot)(1.0).q)
        if not is_pose(step.goal):
            self._arrives(end, ends.q1)
        most = np.inf if step.most is None else step.most
        self._leg(Leg(step.name, robot, task, self.at, end, most, self.scene, upright=True))

    def _arrives(self, end: np.ndarray, goal: np.ndarray) -> None:
        """Refuse a straight way of the hand that ends in another posture than the goal's."""
        j = int(np.abs(end - goal).argmax())
        if abs(end[j] - goal[j]) > ARRIVES:
            name = self.robot.joint_names[j]
            raise ArgumentError(
                f"straight from here the hand reaches the goal with {name} at {end[j]:.4g} (the"
                f" goal says {goal[j]:.4g}): give the goal as a pose of the hand, or those joint"
                " coordinates, or move without upright"
            )

    def _along(self, step: Along) -> None:
        start = None if isinstance(step.path, JointPath) else self.at
        task = FollowPath(step.path, link=step.link, start=start, floor=self.program.floor)
        curve = task.curve(self.robot)
        first, last = (np.asarray(curve(p).q) for p in (0.0, 1.0))
        self._joins(first, "the path begins")
        most = np.inf if step.most is None else step.most
        self._leg(Leg(step.name, self.robot, task, self.at, last, most, self.scene))

    def _joins(self, first: np.ndarray, what: str) -> None:
        off = np.abs(first - self.at)
        j = int(off.argmax())
        if off[j] > 1e-4:
            names = self.robot.joint_names
            raise ArgumentError(
                f"{what} with {names[j]} at {first[j]:.6g}, but the robot stands at "
                f"{self.at[j]:.6g}; move there first"
            )

    def _dwell(self, step: Dwell) -> None:
        place = rest(self.robot, self.at)
        if step.hold == "brake":
            check_brakes(self.robot, place)
        modes = () if step.hold == "motors" else self._modes(place)
        pause = Pause(step.name, self.robot, step.seconds, step.hold, place, step.fixed, modes)
        self.pauses.append(pause)

    def _modes(self, place: Rest) -> tuple[PowerMode, ...]:
        """Power modes that may be taken: motors are off in them, so that brakes must hold."""
        held = all(axis.brake is not None or axis.holding == 0.0 for axis in place.axes)
        return self.program.modes if held else ()

    def _grip(self, step: Grip) -> None:
        if self.carried is not None:
            raise ArgumentError(
                f"the robot carries what {self.carried.name!r} took up; release it first"
            )
        self._held(step.name, step.seconds)
        self.robot = self.program.robot.with_payload(step.mass, step.at, step.link, step.inertia)
        self.carried = step
        if step.thing is not None:
            self._attach(step)

    def _attach(self, step: Grip) -> None:
        """The object goes with the link, at the pose that it has now."""
        if self.scene is None or step.thing is None:
            raise ArgumentError(
                f"it takes up {step.thing!r}, but the program has no scene; give one"
            )
        link = step.link or tip(self.robot, "carries the part")
        things = [o for o in self.scene.obstacles if o.name == step.thing]
        if not things:
            raise ArgumentError(
                f"the scene has no object {step.thing!r}; it has {self.scene.names}"
            )
        hand = pose(self.robot, self.at, link)
        turned = hand.R.T @ np.array(things[0].rotation).reshape(3, 3)
        there = hand.R.T @ (np.array(things[0].position) - hand.p)
        rpy = Rotation.from_matrix(turned).as_euler("xyz")
        self.scene, self.thing = self.scene.carrying(step.thing, link, there, rpy), step.thing

    def _release(self, step: Release) -> None:
        if self.carried is None:
            raise ArgumentError("the robot carries nothing; grip something first")
        self._held(step.name, step.seconds)
        self.robot, self.carried = self.program.robot, None
        if self.thing is not None and self.scene is not None:
            self.scene, self.thing = put_down(self.scene, self.thing, self.robot, self.at), None

    def _held(self, name: str, seconds: float) -> None:
        place = rest(self.robot, self.at)
        self.pauses.append(Pause(name, self.robot, seconds, "motors", place))

    # stages -----------------------------------------------------------------------------------

    def _leg(self, leg: Leg) -> None:
        if self.found or self.pauses:
            self._close()
        self.found.append(leg)
        self.at = leg.q1

    def _close(self) -> None:
        """The stop with what was done here; its waiting time goes where it costs least."""
        pauses = list(self.pauses)
        if not pauses or not all(p.fixed for p in pauses):
            before = pauses[0].robot if pauses else self.robot
            places = {
                0: (before, rest(before, self.at)),
                len(pauses): (self.robot, rest(self.robot, self.at)),
            }
            first = min(places, key=lambda k: places[k][1].energy(LONG))
            robot, place = places[first]
            modes = self._modes(place)
            pauses.insert(first, Pause("wait", robot, 0.0, "cheaper", place, modes=modes))
        open_ = [k for k, p in enumerate(pauses) if not p.fixed and p.hold != "motors"]
        waiting = min(open_, key=lambda k: pauses[k].energy(LONG) - pauses[k].energy(), default=-1)
        where = self.found[-1].name if self.found else "the start"
        self.found.append(
            Stop(
                f"after {where}" if self.found else "at the start", self.at, tuple(pauses), waiting
            )
        )
        self.pauses = []

    def _check_end(self) -> None:
        program = self.program
        if not program.closed:
            return
        off = np.abs(self.at - self.begin)
        j = int(off.argmax())
        if off[j] > SAME:
            raise ArgumentError(
                f"program {program.name!r} ends with {self.robot.joint_names[j]} at"
                f" {self.at[j]:.6g}, but begins at {self.begin[j]:.6g}; end with MoveTo('start'),"
                " or give closed=False"
            )
        if self.carried is not None:
            raise ArgumentError(
                f"program {program.name!r} ends with what {self.carried.name!r} took up; "
                "release it, or give closed=False"
            )
