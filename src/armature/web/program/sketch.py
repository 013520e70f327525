"""A program as the page edits it: a list of steps, and where the robot is between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.cell.program.program import BACK, Dwell, Grip, MoveTo, Program, Release, Step
from armature.errors import ArgumentError
from armature.optimize.transcription.task import Move, Via
from armature.web.wish import Wish, hand

KINDS = ("Move", "Back", "Dwell", "Grip", "Release")
SECONDS = 0.3  # of a new dwell
MASS = 0.2  # of the mass that the robot's hand is usually given: what a new grip takes, kg
KNOTS, POINTS = 40, 8  # of every motion; of its energy-time curve


@dataclass(frozen=True, eq=False)
class Sketch:
    """start: (n,), rad or m.  steps: MoveTo (goal (n,) or "start"), Dwell, Grip, Release.  cycle:
    s; None: the least one.  opened: the program of the file that was opened, which says what the
    page does not edit: power modes, mean limits, knots, points, name."""

    start: np.ndarray
    steps: tuple[Step, ...] = ()
    cycle: float | None = None
    opened: Program | None = None

    def place(self, k: int) -> np.ndarray:
        """Where the robot is after step k, (n,); −1: at the start."""
        for step in reversed(self.steps[: k + 1]):
            if isinstance(step, MoveTo):
                return self.start if isinstance(step.goal, str) else np.asarray(step.goal)
        return self.start

    def carried(self, k: int) -> float:
        """What the robot carries after step k, kg; −1: at the start."""
        for step in reversed(self.steps[: k + 1]):
            if isinstance(step, Grip | Release):
                return float(step.mass) if isinstance(step, Grip) else 0.0
        return 0.0

    def added(self, k: int, step: Step) -> Sketch:
        """One more step after step k."""
        return replace(self, steps=(*self.steps[: k + 1], step, *self.steps[k + 1 :]))

    def changed(self, k: int, **values: Any) -> Sketch:
        """Another name, goal, time or mass of a step."""
        steps = list(self.steps)
        steps[k] = replace(steps[k], **values)
        return replace(self, steps=tuple(steps))

    def without(self, k: int) -> Sketch:
        """The same without step k."""
        return replace(self, steps=self.steps[:k] + self.steps[k + 1 :])

    def swapped(self, k: int, other: int) -> Sketch:
        """Two steps in each other's place; itself where one is not there."""
        if not (0 <= k < len(self.steps) and 0 <= other < len(self.steps)):
            return self
        steps = list(self.steps)
        steps[k], steps[other] = steps[other], steps[k]
        return replace(self, steps=tuple(steps))

    def leads_to(self, k: int, wish: Wish) -> Wish:
        """The wish for the motion of step k alone: from where the robot is then to the step's goal,
        with what it carries; the wish as it is for steps that do not move."""
        step = self.steps[k]
        if not isinstance(step, MoveTo):
            return wish
        start, goal = self.place(k - 1), self.place(k)
        via = tuple(Via(np.asarray(q)) for q in step.via)
        given = Move(start, goal, wish.duration, via=via) if via else None
        payload = self.carried(k - 1)
        return replace(wish, start=start, goal=goal, given=given, payload=payload, way="free")

    def program(self, wish: Wish) -> Program:
        """The program for the robot, supply, floor and obstacles of a wish."""
        if not any(isinstance(step, MoveTo) for step in self.steps):
            raise ArgumentError("the program has no move yet: set a goal, then add a move")
        closed = np.array_equal(self.place(len(self.steps) - 1), self.start)
        closed = closed and self.carried(len(self.steps) - 1) == 0.0
        program = self.opened or Program(
            wish.robot,
            self.start,
            self.steps,
            name=f"{wish.robot.name}_program",
            knots=KNOTS,
            points=POINTS,
        )
        return replace(
            program,
            robot=wish.robot,
            start=self.start,
            steps=self.steps,
            cycle=self.cycle,
            supply=wish.supply,
            closed=closed,
            scene=wish.scene,
            floor=wish.floor,
        )


def followed(wish: Wish, k: int) -> tuple[Wish, int]:
    """The wish whose program's step k leads to where the goal was dragged, by the via points that
    were set; and k, or −1 where the wish is no longer that step's motion."""
    sketch: Sketch = wish.program
    step = sketch.steps[k] if 0 <= k < len(sketch.steps) else None
    if not isinstance(step, MoveTo):
        return wish, k
    first = not any(isinstance(step, MoveTo) for step in sketch.steps[:k])
    if not np.array_equal(wish.start, sketch.place(k - 1)):
        if not first:
            return wish, -1
        sketch = replace(sketch, start=np.array(wish.start))
    if not np.array_equal(wish.goal, sketch.place(k)) or len(wish.via) != len(step.via):
        sketch = sketch.changed(k, goal=np.array(wish.goal), via=list(wish.via))
    elif any(not np.array_equal(a, b) for a, b in zip(wish.via, step.via)):
        sketch = sketch.changed(k, via=list(wish.via))
    return (wish, k) if sketch is wish.program else (replace(wish, program=sketch), k)


def new_step(kind: str, sketch: Sketch, k: int, wish: Wish, usual: float) -> Step:
    """A step of a kind, to follow step k. usual: kg, of the payload's slider.

    A move leads to the wish's goal (by its via points); where the robot is there already, to the
    start."""
    if kind == "Dwell":
        return Dwell(SECONDS)
    if kind == "Grip":
        return Grip(round(MASS * usual, 3), link=hand(wish.robot), seconds=SECONDS)
    if kind == "Release":
        return Release(SECONDS)
    there = np.allclose(wish.goal, sketch.place(k), atol=1e-6)
    if kind == "Back" or there:
        return MoveTo(BACK, name="back" if kind == "Back" else "")
    return MoveTo(np.array(wish.goal), [np.array(q) for q in wish.via])


def sketch_of(program: Program) -> Sketch:
    """A program of a file, to be edited; refused where it has steps that the page does not know."""
    for step in program.steps:
        if not isinstance(step, MoveTo | Dwell | Grip | Release):
            raise ArgumentError(
                f"step {step.name!r} follows a path, which the app does not edit: use `armature"
                " plan`"
            )
    start = np.asarray(Move(program.start, program.start).vectors(program.robot).q0)
    sketch = Sketch(start, (), program.cycle, program)
    for k, step in enumerate(program.steps):
        if isinstance(step, MoveTo) and not isinstance(step.goal, str):
            near = sketch.place(k - 1)
            goal = Move(near, step.goal, posture=step.posture, floor=program.floor)
            step = replace(step, goal=goal.vectors(program.robot).q1)
        sketch = sketch.added(k - 1, step)
    return sketch


def told(step: Step) -> str:
    """A step in a few words."""
    if isinstance(step, MoveTo):
        by = f" by {len(step.via)} via" if len(step.via) else ""
        back = " back" if isinstance(step.goal, str) else ""
        passing, upright = "" if step.stop else ", passing", ", upright" if step.upright else ""
        return f"move{back}{by}{passing}{upright}"
    if isinstance(step, Dwell):
        how = {"cheaper": "", "motors": " by motors", "brake": " on the brake"}[step.hold]
        return f"dwell {step.seconds:g} s{how}"
    if isinstance(step, Grip):
        return f"grip {step.mass:g} kg"
    return "release"
