"""What `choose_drives` found: which motors and gears to take, what that saves, and why."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from armature.design.drives.mounting import LIMITS
from armature.design.drives.objective import Objective
from armature.design.drives.pareto import Front
from armature.design.drives.replan import Evaluation
from armature.drive.drive import LOSSES, Drive
from armature.optimize.certificate.solution import Solution
from armature.robot.model import Robot

RUNNERS_UP = 3


@dataclass(frozen=True, eq=False)
class Tried:
    """A choice that was planned. names: {joint: motor + gear}."""

    names: dict[str, str]
    evaluation: Evaluation


@dataclass(frozen=True, eq=False)
class DriveChoice:
    """The best choice of drives that was found.

    robot: with the drives, and their masses on its links.  drives: {joint: drive}.  before: the
    drives that it had.
    cost: of the least-energy plans, by the objective.  bound: no choice costs less.  complete:
    whether all choices below the best one's cost were planned; then it is the best of all.
    plans: one for each task, certified, in the tasks' own smoothness.  plans_before: with the
    present drives; empty where there are none, or where they cannot do the tasks.
    tried: all choices that do the tasks, the cheapest first.  screened: (joint, pairs that may do,
    {reason: pairs that cannot}).  planned: choices planned; failed: those that do not.
    front: of two terms, if asked for.  notes: on the catalogue's rows.  without_unit: its columns
    that were read in SI because they name no unit.  seconds: that it took."""

    robot: Robot
    drives: dict[str, Drive]
    before: dict[str, Drive]
    objective: Objective
    cost: float
    bound: float
    complete: bool
    plans: tuple[Solution, ...]
    plans_before: tuple[Solution, ...]
    tried: tuple[Tried, ...]
    screened: tuple[tuple[str, int, dict[str, int]], ...]
    planned: int
    failed: int
    front: Front | None
    notes: tuple[str, ...]
    without_unit: tuple[str, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every plan is certified."""
        return all(plan.ok and plan.certificate.ok for plan in self.plans)

    @property
    def gap(self) -> float:
        """How much cheaper another choice could be at most, as a part of the cost (of the losses
        where these are more: energy counts what is lifted, and may be next to nothing)."""
        return (self.cost - self.bound) / self._size

    @property
    def _size(self) -> float:
        """What differences of costs are parts of."""
        best = self.tried[0].evaluation
        losses = float(self.objective(best.losses, best.losses, 0.0, 0.0))
        return max(abs(self.cost), losses, 1e-12)

    @property
    def energy(self) -> float:
        """Of all tasks, J."""
        return float(sum(plan.energy for plan in self.plans))

    @property
    def energy_before(self) -> float | None:
        """With the present drives, J; None where they cannot do the tasks."""
        if not self.plans_before:
            return None
        return float(sum(plan.energy for plan in self.plans_before))

    @property
    def saving(self) -> float | None:
        """Part of the energy with the present drives that is saved, without what heavier drives
        give by ending lower; None where that energy is not known, or not positive."""
        old = self.energy_before
        new = self.energy + self._given_by_masses()
        return None if old is None or old <= 0 else 1.0 - new / old

    def limits_used(self, joint: str) -> tuple[str, float]:
        """(limit, used part) of the drive's limit that its tasks come nearest to."""
        margins = [
            m
            for plan in self.plans
            for m in plan.certificate.margins.get(joint, {}).values()
            if m.limit in LIMITS
        ]
        if not margins:
            return "", 0.0
        worst = min(margins, key=lambda m: m.fraction)
        return worst.limit, 1.0 - worst.fraction

    def losses_of(self, joint: str, before: bool = False) -> dict[str, float]:
        """{copper, iron, friction, gear, amplifier: J} of a joint's drive over all tasks."""
        rows = [plan.ledger.per_joint[joint] for plan in self._plans(before)]
        return {loss: float(sum(row[loss] for row in rows)) for loss in LOSSES}

    def _plans(self, before: bool) -> tuple[Solution, ...]:
        return self.plans_before if before else self.plans

    def _given_by_masses(self) -> float:
        """What the cost does not count of the energy, J (`Evaluations.counted`)."""
        best = self.tried[0].evaluation
        counted = bool(self.objective.energy and best.solutions)
        return best.energy - sum(plan.energy for plan in best.solutions) if counted else 0.0

    def runners_up(self) -> list[tuple[str, float]]:
        """(what differs from the winner, its cost above the winner's as a part) of the next
        best."""
        found = []
        for other in self.tried[1 : 1 + RUNNERS_UP]:
            names = self.tried[0].names
            changed = [f"{joint}: {n}" for joint, n in other.names.items() if n != names[joint]]
            extra = (other.evaluation.cost - self.cost) / self._size
            found.append(("; ".join(changed), float(extra)))
        return found

    def __str__(self) -> str:
        lines = [*self._head(), "", *self._table(), ""]
        lines += [self._why(joint) for joint in self.drives]
        lines += ["", *self._search()]
        return "\n".join(lines)

    def _head(self) -> list[str]:
        unit = self.objective.unit
        lines = [f"drives for {len(self.plans)} task{'s'[: len(self.plans) != 1]}"]
        if self.energy_before is not None:
            fallen = self._given_by_masses()
            less = self.energy_before - self.energy - fallen
            part = "" if self.saving is None else f" ({100 * abs(self.saving):.1f} %)"
            lines.append(
                f"energy {self.energy:.4g} J, with the present drives {self.energy_before:.4g} J:"
                f" {abs(less):.4g} J{part} {'less' if less >= 0 else 'more'}"
            )
            if fallen > 1e-3 * self._size:
                lines.append(
                    f"{fallen:.4g} J that the heavier drives give by ending lower than they began"
                    " are not counted as saved, nor in the cost"
                )
            if less < 0 and self.objective.unit == "J":
                lines.append("no choice was found that takes less than the present drives")
        else:
            reason = "cannot do the tasks" if self.before else "are not known"
            lines.append(f"energy {self.energy:.4g} J (the present drives {reason})")
        lost = sum(plan.losses for plan in self.plans)
        lines.append(f"losses {lost:.4g} J")
        lines.append(f"certificate: {'every plan holds' if self.ok else 'A PLAN DOES NOT HOLD'}")
        if not unit:
            lines.append(f"weighted cost {self.cost:.4g}")
        return lines

    def _table(self) -> list[str]:
        rows = [("joint", "motor", "gear", "ratio", "mass [kg]", "most used limit", "instead of")]
        for joint, drive in self.drives.items():
            limit, used = self.limits_used(joint)
            old = self.before.get(joint)
            was = "" if old is None else f"{old.motor.name or 'motor'}, ratio {old.gear.ratio:.4g}"
            mass = drive.motor.mass + drive.gear.mass
            rows.append(
                (
                    joint,
                    drive.motor.name,
                    drive.gear.name or "direct drive",
                    f"{drive.gear.ratio:.4g}",
                    f"{mass:.3g}",
                    f"{limit} {100 * used:.0f} %" if limit else "",
                    was,
                )
            )
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]

    def _why(self, joint: str) -> str:
        """What the drive loses, and what the present one lost."""
        new = self.losses_of(joint)
        text = ", ".join(f"{name} {x:.3g}" for name, x in new.items() if x > 1e-3)
        words = f"{joint}: loses {sum(new.values()):.3g} J ({text})"
        if self.plans_before:
            old = self.losses_of(joint, before=True)
            text = ", ".join(f"{name} {x:.3g}" for name, x in old.items() if x > 1e-3)
            words += f"; before {sum(old.values()):.3g} J ({text})"
        return words

    def _search(self) -> list[str]:
        left = ", ".join(f"{joint} {count}" for joint, count, _ in self.screened)
        lines = [
            f"pairs left by the bounds: {left}",
            f"{self.planned} choices planned, {self.failed} of them cannot do the tasks;"
            f" {self.seconds:.0f} s",
        ]
        unit = f" {self.objective.unit}".rstrip()
        if self.complete:
            lines.append(
                f"least cost {self.cost:.5g}{unit}: all other choices were planned, or cannot be"
                " cheaper; none is (gap 0 %)"
            )
        elif self.bound == -inf:
            lines.append(
                f"least cost found {self.cost:.5g}{unit}; no bound is known where tasks begin or"
                " end in motion"
            )
        else:
            lines.append(
                f"least cost found {self.cost:.5g}{unit}; proven for every choice and motion: at"
                f" least {self.bound:.5g}{unit} (gap {100 * self.gap:.0f} %)"
            )
        for changed, extra in self.runners_up():
            lines.append(f"next best: {changed} (+{100 * extra:.2f} %)")
        if self.notes:
            lines.append(f"left out of the catalogue: {len(self.notes)} rows, e.g. {self.notes[0]}")
        if self.without_unit:
            names = ", ".join(self.without_unit)
            lines.append(f"columns without a unit in brackets, read in SI: {names}")
        return lines
