"""What can be said of a line before anything is planned: the steps of every station, and a lower
bound of its cycle."""

from __future__ import annotations

from dataclasses import dataclass

from armature.cell.line.line_tasks import OpenLine
from armature.cell.program.check_program import ProgramCheck, StepCheck, check_leg
from armature.cell.program.stages import Leg
from armature.robot.model import Robot
from armature.study.line import Line, Process, StationMove


@dataclass(frozen=True)
class LineCheck:
    """A line before it is planned. stations: {station: what is known of its steps}; of a line with
    tasks {"task at station": …}.  cycle: s, as given."""

    name: str
    stations: dict[str, ProgramCheck]
    cycle: float | None

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes it impossible, a sentence each."""
        return tuple(f"{name}: {f}" for name, check in self.stations.items() for f in check.faults)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that makes it impossible."""
        return not self.faults

    def __str__(self) -> str:
        slow = max(self.stations, key=lambda name: self.stations[name].least)
        head = (
            f"{self.name}: {len(self.stations)} parts; by the limits of speed alone none needs more"
            f" than {self.stations[slow].least:.4g} s ({slow})"
        )
        return "\n".join([head, *(f"\n{check}" for check in self.stations.values())])


def check_line(line: Line | OpenLine) -> LineCheck:
    """Check a line without planning it: the steps of every station, or of every task at every
    station that can do it."""
    found = {}
    if isinstance(line, Line):
        for s in line.stations:
            found[s.name] = _check(s.name, s.robot, s.steps, line.cycle)
    else:
        robots = {s.name: s.robot for s in line.stations}
        for task in line.tasks:
            for station, steps in task.steps.items():
                name = f"{task.name} at {station}"
                found[name] = _check(name, robots[station], steps, line.cycle)
    return LineCheck(line.name, found, line.cycle)


def _check(
    name: str, robot: Robot, steps: tuple[StationMove | Process, ...], cycle: float | None
) -> ProgramCheck:
    rows = []
    for k, step in enumerate(steps, start=1):
        if isinstance(step, Process):
            rows.append(StepCheck(step.name, "stop", step.seconds))
            continue
        loaded = robot.with_payload(step.payload) if step.payload else robot
        task = step.task.in_joints(loaded)
        ends = task.vectors(loaded)
        leg = Leg(step.name or f"move {k}", loaded, task, ends.q0, ends.q1, float("inf"))
        rows.append(check_leg(leg, robot))
    return ProgramCheck(name, robot.name, tuple(rows), cycle)
