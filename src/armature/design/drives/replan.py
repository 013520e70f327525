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
from armature.optimize.around.around import Asked as Around
from armature.optimize.around.around import among, plan_around
from armature.optimize.around.reference import Reference
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import Asked, least_energy_move, minimize_energy
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot

WAYS = 2  # round obstacles, that are tried where no motion round them is known


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
            found.append(self.planned(item, robot, guess))
            if not found[-1].ok:
                return found, f"task {k + 1}: {found[-1].diagnosis or found[-1].status.value}"
        return found, ""

    def planned(self, item: Item, robot: Robot, guess: Any, final: bool = False) -> Solution:
        """The least-energy motion; in the task's own smoothness, which gives up a part that is not
        the drives', only at last (final)."""
        if not isinstance(item.task, Move):
            return along_path(item, robot)
        task = item.task if final else replace(item.task, smoothness=0.0)
        asked = Asked(item.supply, item.knots, guess, explained=final or self.explained)
        plan = least_energy_move(robot, task, asked)
        return plan if item.scene is None else kept_clear(item, robot, task, plan, guess)


def along_path(item: Item, robot: Robot) -> Solution:
    """The least-energy motion along a path, which must be clear of the item's obstacles."""
    if item.scene is None:
        return minimize_energy(robot, item.task, item.supply, knots=item.knots)
    return plan_around(robot, item.task, item.scene, "energy", item.supply, knots=item.knots)


def kept_clear(item: Item, robot: Robot, task: Move, plan: Solution, guess: Any) -> Solution:
    """A plan among the item's obstacles: this one where it is proved free; else from the guess,
    where that goes round them; else from free paths found by sampling."""
    scene: Any = item.scene
    asked = Around(robot, scene, False, item.supply, item.knots, WAYS, None, None, None)
    if asked.proof(plan) is not None:
        return replace(asked.best([plan]), scene=scene)
    if guess is not None and not task.via:
        among_them = among(asked, task)
        if isinstance(among_them, Solution):
            return among_them
        found = among_them.cheapest([Reference(guess.trajectory, ())])
        if found is not None and asked.proof(found) is not None:
            return replace(asked.best([among_them.above(found)]), scene=scene)
    return plan_around(robot, task, scene, "energy", item.supply, WAYS, item.knots)


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
