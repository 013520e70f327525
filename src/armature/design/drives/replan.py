"""One choice of drives, judged by motions that are planned for it: what every survivor of the
screening goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armature.design.drives.duty import Item
from armature.design.drives.mounting import Mount, as_variable, drive_mass, mounted
from armature.drive.drive import Drive
from armature.drive.gear import EfficiencyTable
from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArmatureError
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import Asked, least_energy_move, minimize_energy
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot


@dataclass(frozen=True)
class Evaluation:
    """What a choice of drives costs. choice: a pair's place for every joint.  ok: all tasks are
    done.  energy, losses: of all tasks, J.  mass, price: of all drives chosen.  cost: the
    objective.  reason: why not ok.  solutions: the plans, where they are kept."""

    choice: tuple[int, ...]
    ok: bool
    cost: float = np.inf
    energy: float = np.inf
    losses: float = np.inf
    mass: float = 0.0
    price: float = 0.0
    reason: str = ""
    solutions: tuple[Solution, ...] = field(default=(), compare=False)


@dataclass(frozen=True, eq=False)
class Replanner:
    """Plans the tasks with other drives. hold: motors hold the arm at starts and goals.
    explained: search longer where no plan is found at first."""

    items: Sequence[Item]
    mounts: Mapping[str, Mount]
    hold: bool
    explained: bool = False

    def robots(self, choice: Mapping[str, Drive]) -> list[Robot]:
        """The robot of each task with these drives, whose numbers are parameters of its kernels."""
        made: dict[int, Robot] = {}
        found = []
        for item in self.items:
            if id(item.robot) not in made:
                made[id(item.robot)] = as_variable(mounted(item.robot, choice, self.mounts))
            found.append(made[id(item.robot)])
        return found

    def plan(
        self, choice: Mapping[str, Drive], guesses: Sequence[Any] = ()
    ) -> tuple[list[Solution], str]:
        """(plans, why the last is none). Stops at the first task that cannot be done."""
        try:
            robots = self.robots(choice)
        except ArmatureError as e:
            return [], str(e)
        found: list[Solution] = []
        for k, (item, robot) in enumerate(zip(self.items, robots)):
            if self.hold and (reason := cannot_hold(item, robot, choice)):
                return found, reason
            guess = guesses[k] if k < len(guesses) else None
            found.append(self._planned(item, robot, guess))
            if not found[-1].ok:
                return found, f"task {k + 1}: {found[-1].diagnosis or found[-1].status.value}"
        return found, ""

    def _planned(self, item: Item, robot: Robot, guess: Any) -> Solution:
        """The least-energy motion; smoothness would give up a part that is not the drives'."""
        if not isinstance(item.task, Move):
            return minimize_energy(robot, item.task, item.supply, knots=item.knots)
        asked = Asked(item.supply, item.knots, guess, explained=self.explained)
        return least_energy_move(robot, replace(item.task, smoothness=0.0), asked)


def cannot_hold(item: Item, robot: Robot, choice: Mapping[str, Drive]) -> str:
    """Why the chosen drives cannot hold the arm at start or goal for ever; empty where they can."""
    if item.points is None:
        return ""
    ends = np.ascontiguousarray(item.points[[0, -1]])
    weights = np.abs(inverse_dynamics(robot, ends, np.zeros_like(ends), np.zeros_like(ends)))
    for name, drive in choice.items():
        j = robot.joint_names.index(name)
        own = robot.drivetrain.frictions[j]
        for w in weights[:, j]:
            carried = max(0.0, float(w) - own.holding(float(w)))
            braked = drive.brake is not None and drive.brake.can_hold(float(w))
            motor = drive.motor
            heat = (motor.average_heat / motor.resistance) ** 0.5
            most = min(motor.continuous_current, drive.amplifier.continuous_current, heat)
            current = abs(drive.holding_current(carried))
            if current > most and not braked:
                return f"{name}: holding {carried:.3g} N·m takes {current:.3g} A of {most:.3g} A"
            if carried - drive.friction.holding(carried) > drive.gear.maximum_torque:
                return f"{name}: its gear cannot hold {carried:.3g} N·m"
    return ""


def drives_mass(choice: Mapping[str, Drive]) -> float:
    """Of all motors and gears, kg."""
    return sum(drive_mass(drive) for drive in choice.values())


def drives_price(choice: Mapping[str, Drive]) -> float:
    """Of all motors and gears."""
    return sum(drive.motor.price + drive.gear.price for drive in choice.values())


def has_table(drive: Drive) -> bool:
    """Whether its efficiency is a table, which is a constant of kernels: another one compiles."""
    return isinstance(drive.gear.efficiency, EfficiencyTable)
