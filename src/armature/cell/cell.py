"""A cell of robots, each with its program, in one common cycle: hand-overs, zones that one robot at
a time may use, and one d.c. bus for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armature.cell.on_bus import BusPlan
from armature.cell.program import Program
from armature.cell.program_plan import ProgramPlan
from armature.cell.schedule import Schedule
from armature.cell.stages import Stage
from armature.drive import Bus
from armature.errors import ArgumentError

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


@dataclass(frozen=True)
class Zone:
    """Steps of different robots, (robot, step) each, that may not overlap in time."""

    steps: tuple[tuple[str, str], ...]
    name: str = "zone"


@dataclass(frozen=True, eq=False)
class Cell:
    """Robots with their programs in one cycle.

    robots: {name: Program}; cycles of the programs themselves are not used.  cycle: s.
    waits, zones: between robots.  bus: one for all robots; None: each has its own supply.
    most_power: W that the bus's rectifier gives at most.  objective: of the bus: "energy" or
    "peak"."""

    robots: Mapping[str, Program]
    cycle: float
    waits: tuple[Wait, ...] = ()
    zones: tuple[Zone, ...] = ()
    bus: Bus | None = None
    most_power: float | None = None
    objective: str = "energy"
    name: str = "cell"

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
        for field in ("waits", "zones"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        object.__setattr__(
            self, "robots", {k: replace(p, cycle=self.cycle, name=k) for k, p in robots.items()}
        )


@dataclass(frozen=True, eq=False)
class CellPlan:
    """A planned cell. schedule: when each robot does what, proved least over the motions'
    energy-time curves.  plans: {robot: ProgramPlan}.  on_bus: where all share one; its shifts are
    added to the schedule's.  seconds: that the planning took."""

    cell: Cell
    schedule: Schedule
    plans: dict[str, ProgramPlan]
    on_bus: BusPlan | None = None
    seconds: float = 0.0

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
        if self.on_bus is not None and not self.on_bus.certificate.ok:
            found.append(str(self.on_bus.certificate))
        return tuple(found)

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
        return "\n".join(
            [head, *rows, *bus, proof if self.ok else "NOT valid: " + "; ".join(self.faults)]
        )


def activity(robot: str, stage: Stage) -> str:
    """The name of a robot's stage in the whole cell."""
    return f"{robot}: {stage.name}"
