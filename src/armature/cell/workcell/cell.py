"""A cell of robots, each with its program, in one common cycle: hand-overs, zones that one robot at
a time may use, and one d.c. bus for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from armature.cell.program.program import Program
from armature.cell.program.program_plan import ProgramPlan
from armature.cell.program.stages import Stage
from armature.cell.schedule.schedule import Schedule
from armature.cell.workcell.on_bus import OBJECTIVES, BusPlan
from armature.cell.workcell.world import Apart
from armature.drive import Bus
from armature.errors import ArgumentError
from armature.robot import frames
from armature.scene.obstacle import vector
from armature.seam import worker

SAME = 1e-6  # of a duration: a plan as long as its schedule asks for


@dataclass(frozen=True)
class Wait:
    """A hand-over: a robot does a step only after another has ended one. step, after: (robot,
    step).
    seconds: s between them.  cycles: the step waits for the other's of so many cycles before."""

    step: tuple[str, str]
    after: tuple[str, str]
    seconds: float = 0.0
    cycles: int = 0

    def __post_init__(self) -> None:
        if not np.isfinite(self.seconds):
            raise ArgumentError(
                f"{'/'.join(self.step)} after {'/'.join(self.after)}: {self.seconds} s; give a"
                " number"
            )


@dataclass(frozen=True)
class Zone:
    """Steps of different robots, (robot, step) each, that may not overlap in time."""

    steps: tuple[tuple[str, str], ...]
    name: str = "zone"


@dataclass(frozen=True)
class Base:
    """Where a robot stands in the world. position: of its base frame, m.  rpy: roll, pitch, yaw,
    rad. Gravity pulls along −z of the world."""

    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("position", "rpy"):
            object.__setattr__(self, name, vector(getattr(self, name)))

    @property
    def rotation(self) -> np.ndarray:
        """(3, 3)."""
        return np.array(frames.from_rpy(*self.rpy)).reshape(3, 3)


@dataclass(frozen=True, eq=False)
class Cell:
    """Robots with their programs in one cycle.

    robots: {name: Program}; cycles of the programs themselves are not used.  cycle: s.
    waits, zones: between robots.  bus: one for all robots; None: each has its own supply.
    most_power: W that the bus's rectifier gives at most.  objective: of the bus: "energy" or
    "peak".  bases: {name: Base}, of all robots, where they share one world: steps that sweep
    through the same space are then found and never done at once, and no two robots are proved to
    touch.  apart: m that they keep from each other."""

    robots: Mapping[str, Program]
    cycle: float
    waits: tuple[Wait, ...] = ()
    zones: tuple[Zone, ...] = ()
    bus: Bus | None = None
    most_power: float | None = None
    objective: str = "energy"
    name: str = "cell"
    bases: Mapping[str, Base] | None = None
    apart: float = 0.0

    def __post_init__(self) -> None:
        robots = dict(self.robots)
        if not robots or any(not isinstance(p, Program) for p in robots.values()):
            raise ArgumentError(
                f"cell {self.name!r}: robots must be {{name: Program}} with at least one"
            )
        if not (np.isfinite(self.cycle) and self.cycle > 0):
            raise ArgumentError(
                f"cell {self.name!r}: a cycle of {self.cycle} s; give a positive number"
            )
        if self.objective not in OBJECTIVES:
            raise ArgumentError(
                f"cell {self.name!r}: objective = {self.objective!r} must be one of"
                f" {', '.join(OBJECTIVES)}"
            )
        if self.most_power is not None and not (
            np.isfinite(self.most_power) and self.most_power > 0
        ):
            raise ArgumentError(
                f"cell {self.name!r}: most_power = {self.most_power} W; give a positive number, or"
                " leave it out"
            )
        for name in ("waits", "zones"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not (np.isfinite(self.apart) and self.apart >= 0):
            raise ArgumentError(f"cell {self.name!r}: apart = {self.apart} m; give a number ≥ 0")
        self._check_needed()
        robots = {k: replace(p, cycle=self.cycle, name=k) for k, p in robots.items()}
        if self.bases is not None:
            robots = self._on_bases(robots)
        object.__setattr__(self, "robots", robots)

    def _check_needed(self) -> None:
        """Refuse what says something about a bus or a world that the cell does not have."""
        peak = self.most_power is not None or self.objective == "peak"
        if peak and self.bus is None:
            given = "most_power" if self.most_power is not None else "objective = 'peak'"
            raise ArgumentError(
                f"cell {self.name!r}: {given} is about the power that one bus draws, but each robot"
                " has a supply of its own; give the cell a bus (supply: {kind: bus, …}), or leave"
                " this out"
            )
        if self.apart and self.bases is None:
            raise ArgumentError(
                f"cell {self.name!r}: apart = {self.apart} m, but it is not known where the robots"
                " stand; give each a base"
            )

    def _on_bases(self, robots: dict[str, Program]) -> dict[str, Program]:
        """The programs with robots under the gravity that their bases give them."""
        bases = dict(self.bases or {})
        object.__setattr__(self, "bases", bases)
        if set(bases) != set(robots) or any(not isinstance(b, Base) for b in bases.values()):
            odd = sorted(set(bases) ^ set(robots))
            raise ArgumentError(
                f"cell {self.name!r}: bases must be {{robot: Base}} for {', '.join(robots)}"
                + (f"; see {odd[0]!r}" if odd else "")
            )
        for name, program in robots.items():
            R, gravity = bases[name].rotation, np.array(program.robot.gravity)
            upright = np.array([0.0, 0.0, -np.linalg.norm(gravity)])
            if np.allclose(gravity, upright) and not np.allclose(R.T @ gravity, gravity):
                robot = program.robot.with_gravity((R.T @ gravity).tolist())
                robots[name] = replace(program, robot=robot)
        return robots


@dataclass(frozen=True, eq=False)
class CellPlan:
    """A planned cell. schedule: when each robot does what, proved least over the motions'
    energy-time curves.  plans: {robot: ProgramPlan}.  on_bus: where all share one; its shifts are
    added to the schedule's.  seconds: that the planning took.  apart: how near any two robots come,
    proved, where they share a world.  zones: steps that were found to sweep through the same
    space."""

    cell: Cell
    schedule: Schedule
    plans: dict[str, ProgramPlan]
    on_bus: BusPlan | None = None
    seconds: float = 0.0
    apart: Mapping[tuple[str, str], Apart] = field(default_factory=dict)
    zones: tuple[Zone, ...] = ()

    @property
    def energy(self) -> float:
        """Of a cycle, J: drawn by the bus where there is one, else of all robots."""
        return (
            self.on_bus.energy
            if self.on_bus is not None
            else sum(p.energy for p in self.plans.values())
        )

    @property
    def fast(self) -> float:
        """Every motion at its least time, then waiting, each robot on its own supply, J."""
        return sum(p.fast for p in self.plans.values())

    def start_of(self, robot: str) -> float:
        """When a robot's program begins on the cell's clock, s."""
        plan = self.plans[robot]
        first = plan.legs[0]
        begins = {t.activity: t.start for t in self.schedule.tasks[robot]}
        return begins[activity(robot, first.leg)] - first.begin

    def configurations(self, t: float) -> dict[str, np.ndarray]:
        """{robot: (nq,)} at a time t of the cell's clock, s, in whatever cycle."""
        return {name: self._at(name, t) for name in self.plans}

    def _at(self, name: str, t: float) -> np.ndarray:
        motion = self.plans[name].trajectory
        local = (t - self.start_of(name)) % self.cell.cycle
        return np.asarray(motion(np.clip(local + motion.t[0], *motion.t[[0, -1]])).q)

    def report(self, path: Any) -> Any:
        """Write a page (.html) with all robots moving, the Gantt chart, energy before and after of
        each; or the chart alone (.png, .pdf, .svg)."""
        return worker("CellPlan.report")(self, path)

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """What does not hold, a sentence each."""
        found = list(self.schedule.faults)
        for name, plan in self.plans.items():
            found += [f"robot {name!r}: {sentence}" for sentence in plan.certificate.failed]
            wanted = {t.activity: t.duration for t in self.schedule.tasks[name]}
            for leg in plan.legs:
                asked = wanted[activity(name, leg.leg)]
                if abs(leg.duration - asked) > SAME * asked:
                    found.append(
                        f"robot {name!r}: {leg.name!r} takes {leg.duration:.6g} s instead of"
                        f" {asked:.6g} s"
                    )
        found += [
            f"robots {a!r} and {b!r} {proof}"
            for (a, b), proof in self.apart.items()
            if not proof.free
        ]
        if self.on_bus is not None:
            found += self.on_bus.certificate.failed
        return tuple(found)

    @property
    def checked(self) -> str:
        """What there is to prove of this cell, in words."""
        further = {
            "zones": self.cell.zones or self.zones,
            "distances": self.apart,
            "bus": self.on_bus is not None,
        }
        return ", ".join(["plans", "schedule", *(name for name, there in further.items() if there)])

    @property
    def ok(self) -> bool:
        """Whether all plans are certified, the schedule holds, and the bus does."""
        return not self.faults

    def __str__(self) -> str:
        saved = 100 * (1 - self.energy / self.fast) if self.fast > 0 else 0.0
        head = f"{self.cell.name}: {self.energy:.5g} J in a cycle of {self.cell.cycle:.4g} s"
        head += (
            f"; every motion at its least time, then waiting: {self.fast:.5g} J ({saved:.1f} %"
            " saved)"
        )
        rows = [
            f"{'robot':16} {'begins s':>9} {'least s':>9} {'before J':>9} {'after J':>9}  certified"
        ]
        for name, plan in self.plans.items():
            begin = self.schedule.tasks[name][0].start % self.cell.cycle
            numbers = f"{begin:9.3f} {plan.least_cycle:9.3f} {plan.fast:9.4g} {plan.energy:9.4g}"
            rows.append(f"{name:16.16} {numbers}  {'yes' if plan.ok else 'NO'}")
        proof = (
            f"schedule: at most {100 * self.schedule.gap:.2g} % above the least over these curves; "
        )
        proof += "every hand-over holds and no zone is shared"
        bus = [] if self.on_bus is None else [str(self.on_bus)]
        bus += [f"{a} and {b}: {proof}" for (a, b), proof in self.apart.items()]
        if self.zones:
            told = "; ".join(" with ".join("/".join(s) for s in z.steps) for z in self.zones[:6])
            more = "" if len(self.zones) <= 6 else f"; … ({len(self.zones)} in all)"
            bus.append(f"steps that sweep through the same space, done one at a time: {told}{more}")
        return "\n".join(
            [head, *rows, *bus, proof if self.ok else "NOT valid: " + "; ".join(self.faults)]
        )


def activity(robot: str, stage: Stage) -> str:
    """The name of a robot's stage in the whole cell."""
    return f"{robot}: {stage.name}"
