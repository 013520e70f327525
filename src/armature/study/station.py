"""A station of a line: a robot with its moves and processes, before and after it is balanced."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armature.drive.catalogue import SupplyGiven
from armature.errors import ArgumentError
from armature.optimize.certificate.solution import Solution
from armature.optimize.transcription.task import Move, configuration
from armature.robot.model import Robot

SAME = 1e-6  # rad or m between the end of one move and the start of the next


@dataclass(frozen=True, eq=False)
class Process:
    """A fixed time in which the robot stands ready, held by its motors: gripping, welding, waiting
    for a signal. seconds: s."""

    seconds: float
    name: str = "process"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.seconds) and self.seconds >= 0):
            raise ArgumentError(f"process {self.name!r}: {self.seconds} s must be a number ≥ 0")


@dataclass(frozen=True, eq=False)
class StationMove:
    """A move of a station, from rest to rest. task: its duration, if any, is not used.  payload: kg
    that it carries.  name: for tables."""

    task: Move
    payload: float = 0.0
    name: str = ""


@dataclass(frozen=True, eq=False)
class Station:
    """A robot and what it does in every cycle, in order: moves and processes. supply: as in
    `minimize_energy`.  start: where it stands, (n,); only needed where it has no moves."""

    name: str
    robot: Robot
    steps: tuple[StationMove | Process, ...]
    supply: SupplyGiven = None
    start: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "steps",
            tuple(
                s if isinstance(s, StationMove | Process) else StationMove(s) for s in self.steps
            ),
        )
        if not self.steps or (not self.moves and self.start is None):
            raise ArgumentError(f"station {self.name!r} has no moves; give at least one")
        if not self.moves:
            where = f"station {self.name!r}: start"
            object.__setattr__(self, "start", configuration(self.robot, self.start, where))
        self._check_chain()

    @cached_property
    def moves(self) -> tuple[StationMove, ...]:
        """The moves alone."""
        return tuple(s for s in self.steps if isinstance(s, StationMove))

    @property
    def process_time(self) -> float:
        """All fixed times together, s."""
        return sum(s.seconds for s in self.steps if isinstance(s, Process))

    def loaded(self, move: StationMove) -> Robot:
        """The robot with what it carries in a move."""
        return self.robot.with_payload(move.payload) if move.payload else self.robot

    @property
    def end(self) -> tuple[Robot, np.ndarray]:
        """Where it waits for the next cycle: the robot with what it carries then, and (n,)."""
        if not self.moves:
            return self.robot, self.start
        robot = self.loaded(self.moves[-1])
        return robot, self.moves[-1].task.vectors(robot).q1

    def _check_chain(self) -> None:
        """Every move begins where the last one ended, at rest, and the cycle returns to its
        start."""
        ends = [m.task.vectors(self.robot) for m in self.moves]
        for k, (move, end) in enumerate(zip(self.moves, ends)):
            where = f"station {self.name!r}: move {move.name or k + 1}"
            if np.any(end.v0) or np.any(end.v1):
                raise ArgumentError(
                    f"{where} does not begin and end at rest; leave out start_velocity and"
                    " goal_velocity"
                )
            last = ends[k - 1]
            off = np.abs(end.q0 - last.q1)
            if off.max() > SAME:
                joint = self.robot.joint_names[int(off.argmax())]
                words = (
                    f"begins with {joint} at {end.q0[off.argmax()]:.6g}, but the one before it ends"
                    f" at {last.q1[off.argmax()]:.6g}"
                )
                raise ArgumentError(
                    f"{where} {words}; moves must join, and the last one must return to the first's"
                    " start"
                )


@dataclass(frozen=True, eq=False)
class BalancedMove:
    """A move before and after. least: the shortest motion.  plan: the motion of least energy at the
    time it was given.
    wait: s of rest after it.  durations, energies: its energy-time curve (with the brakes' coils),
    s and J; a single point where the station has no time to spare.  before, after: J, with the
    brakes' coils.  rest_energy: J of the wait."""

    name: str
    least: Solution
    plan: Solution
    wait: float
    durations: np.ndarray
    energies: np.ndarray
    before: float
    after: float
    rest_energy: float

    @property
    def total(self) -> float:
        """Of the move and the wait after it, J."""
        return self.after + self.rest_energy

    @property
    def certified(self) -> bool:
        """Whether the plan is an optimum that keeps all limits, with its proof."""
        return bool(self.plan.ok and self.plan.certificate.ok)


@dataclass(frozen=True, eq=False)
class BalancedStation:
    """A station before and after, for one cycle. least_time: s.  before: all moves at their least
    time, then waiting (wait_before, J);
    after: as balanced.  process: J of standing ready, the same in both.  idle: s that a station
    without moves waits, before and after."""

    name: str
    least_time: float
    process_time: float
    moves: tuple[BalancedMove, ...]
    wait_before: float
    process: float
    idle: float = 0.0

    @property
    def waits(self) -> float:
        """All waits as balanced, s."""
        return sum(m.wait for m in self.moves) + self.idle

    @property
    def before(self) -> float:
        """Energy of a cycle before, J."""
        return sum(m.before for m in self.moves) + self.wait_before + self.process

    @property
    def after(self) -> float:
        """Energy of a cycle after, J."""
        if not self.moves:
            return self.before
        return sum(m.total for m in self.moves) + self.process

    @property
    def certified(self) -> bool:
        """Whether all of its plans are."""
        return all(m.certified for m in self.moves)
