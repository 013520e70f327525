"""A cell's schedule, and a simulator that proves by itself that it holds."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from armature.cell.schedule.model import CellModel, CellRobot, Movement, Stand

EXACT = 1e-5  # s by which sums of durations, and lags, may be off: the accuracy of linear programs
CYCLES = 3  # in which clashes are looked for, beside the robots' own offsets


@dataclass(frozen=True)
class Task:
    """What a robot does from `start` for `duration` seconds. activity: stand or travel.  option:
    its spot or movement.  mode: power mode of a stand.  energy: J."""

    activity: str
    option: str
    mode: str
    start: float
    duration: float
    energy: float

    @property
    def end(self) -> float:
        """s."""
        return self.start + self.duration


@dataclass(frozen=True)
class Schedule:
    """All robots of a cell in one cycle.

    tasks: {robot: its tasks in order}; times are those of one cell clock, s, and may be beyond a
    cycle.
    lower_bound: J, proved: no schedule needs less.  full_speed: J, every movement as fast as it can
    be, motors on, robots not waiting for each other; None where that fills no cycle.
    """

    model: CellModel
    tasks: dict[str, tuple[Task, ...]]
    lower_bound: float
    full_speed: float | None = None
    solves: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())

    @property
    def energy(self) -> float:
        """J in a cycle."""
        return sum(t.energy for tasks in self.tasks.values() for t in tasks)

    @property
    def gap(self) -> float:
        """By how much the energy may be above the least, as a fraction."""
        return max(0.0, self.energy - self.lower_bound) / max(abs(self.energy), 1e-12)

    @property
    def saving(self) -> float | None:
        """Fraction saved against full speed."""
        return None if not self.full_speed else 1.0 - self.energy / self.full_speed

    @property
    def faults(self) -> tuple[str, ...]:
        """What the simulation finds wrong; nothing where the schedule holds."""
        return tuple(simulate(self))

    @property
    def ok(self) -> bool:
        """Whether the simulation finds nothing wrong."""
        return not self.faults

    def __str__(self) -> str:
        proof = (
            "proved least" if self.gap < 1e-4 else f"at most {100 * self.gap:.2g} % above the least"
        )
        head = (
            f"{self.model.name}: {self.energy:.8g} J in a cycle of {self.model.cycle:.6g} s,"
            f" {proof} (bound {self.lower_bound:.8g} J)"
        )
        rows = [f"{'robot':16} {'moves s':>9} {'stands s':>9} {'energy J':>10}"]
        for name, tasks in self.tasks.items():
            moved, stood = (
                sum(t.duration for t in tasks if bool(t.mode) is still) for still in (False, True)
            )
            rows.append(
                f"{name:16.16} {moved:9.3f} {stood:9.3f} {sum(t.energy for t in tasks):10.5g}"
            )
        fast = []
        if self.full_speed is not None:
            saved = f"saved {100 * (self.saving or 0.0):.1f} %"
            fast = [
                f"full speed, motors on, no waiting for each other: {self.full_speed:.8g} J;"
                f" {saved}"
            ]
        held = "simulated: every hand-over holds and no zone is shared, in any cycle"
        return "\n".join(
            [
                head,
                *rows,
                *fast,
                held if self.ok else "NOT valid: " + "; ".join(self.faults),
                *self.notes,
            ]
        )


def simulate(schedule: Schedule) -> list[str]:
    """Run a schedule and list what does not hold, a sentence each: order and places of every robot,
    durations, energies, lags, hand-overs, and zones shared by two robots in any of several cycles.
    It knows the model and the times, and nothing of how they were found."""
    model, faults = schedule.model, []
    for robot in model.robots:
        faults += _robot_faults(robot, schedule.tasks[robot.name], model.cycle)
    when = {t.activity: t for tasks in schedule.tasks.values() for t in tasks}
    for lag in model.lags:
        if lag.origin in when and lag.target in when:
            apart = when[lag.target].start - when[lag.origin].start
            need = lag.length - model.cycle * lag.height
            if apart < need - EXACT:
                faults.append(
                    f"{lag.target!r} starts {need - apart:.4g} s too early after {lag.origin!r}"
                )
    for hand in model.hand_overs:
        places = tuple((activity, when[activity].option) for activity, _ in hand.pairs[0])
        if places not in hand.pairs:
            faults.append(f"{places[0]} and {places[1]} are no places for a hand-over")
    for clash in model.clashes:
        one, two = (when.get(activity) for activity, _ in (clash.first, clash.second))
        if one and two and (one.option, two.option) == (clash.first[1], clash.second[1]):
            shared = overlap(one, two, model.cycle, len(model.robots))
            if shared > EXACT:
                faults.append(
                    f"{one.activity!r} and {two.activity!r} share a zone for {shared:.4g} s"
                )
    return faults


def overlap(one: Task, two: Task, cycle: float, robots: int = 2) -> float:
    """Longest time, s, for which two tasks overlap when both are repeated with the cell's cycle:
    the runs of several cycles laid beside each other."""
    runs = range(-CYCLES - 2 * robots, CYCLES + 2 * robots + 1)
    shared = (
        min(one.end, two.end + n * cycle) - max(one.start, two.start + n * cycle) for n in runs
    )
    return max(0.0, max(shared))


def _robot_faults(robot: CellRobot, tasks: tuple[Task, ...], cycle: float) -> Iterable[str]:
    """What is wrong with one robot by itself."""
    stands = {s.name: s for s in robot.stands}
    travels = {t.name: t for t in robot.travels}
    who = f"robot {robot.name!r}"
    if {t.activity for t in tasks if t.activity in stands} != set(stands):
        yield f"{who} does not do all of its stands"
    if abs(sum(t.duration for t in tasks) - cycle) > EXACT * len(tasks):
        yield (
            f"{who}: its tasks take {sum(t.duration for t in tasks):.6g} s of a cycle of"
            f" {cycle:.6g} s"
        )
    for a, b in itertools.pairwise(tasks):
        if abs(a.end - b.start) > EXACT:
            yield f"{who}: {b.activity!r} begins {b.start - a.end:.4g} s after {a.activity!r} ends"
    place = {t.activity: t.option for t in tasks if t.activity in stands}
    for task, after in zip(tasks, (*tasks[1:], tasks[0])):
        if task.activity in stands:
            yield from _stand_faults(who, stands[task.activity], task)
            if after.activity not in travels or travels[after.activity].origin != task.activity:
                yield f"{who}: {after.activity!r} does not lead away from {task.activity!r}"
            continue
        travel = travels[task.activity]
        movement = next((m for m in travel.movements if m.name == task.option), None)
        if movement is None or after.activity != travel.target:
            yield f"{who}: {task.activity!r} does not lead to {after.activity!r}"
        else:
            yield from _movement_faults(who, movement, task)
            if (place[travel.origin], place[travel.target]) != (movement.origin, movement.target):
                yield f"{who}: movement {task.option!r} of {task.activity!r} joins other places"


def _stand_faults(who: str, stand: Stand, task: Task) -> Iterable[str]:
    spot = next((s for s in stand.spots if s.name == task.option), None)
    mode = next((m for m in spot.modes if m.name == task.mode), None) if spot else None
    if mode is None:
        yield f"{who}: {stand.name!r} has no mode {task.mode!r} at {task.option!r}"
        return
    if not max(stand.least, mode.least) - EXACT <= task.duration <= stand.most + EXACT:
        yield f"{who}: {stand.name!r} lasts {task.duration:.6g} s in mode {mode.name!r}"
    if abs(task.energy - mode.power * task.duration - mode.energy) > 1e-6 * (1 + abs(task.energy)):
        yield f"{who}: the energy of {stand.name!r} is not that of its mode"


def _movement_faults(who: str, movement: Movement, task: Task) -> Iterable[str]:
    if not movement.least - EXACT <= task.duration <= movement.most + EXACT:
        yield f"{who}: {task.activity!r} takes {task.duration:.6g} s"
    if abs(task.energy - movement.energy(task.duration)) > 1e-6 * (1 + abs(task.energy)):
        yield f"{who}: the energy of {task.activity!r} is not that of its duration"
