"""A move among obstacles: rows n·x(q) ≥ bound of sphere centres at the knots (planes.py). Normals,
centres and bounds are data, so that another scene compiles nothing."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.drive import Bus, Smooth, as_supply
from armature.dynamics.recursion import energy
from armature.kernel.symbol import bare
from armature.memo import memo
from armature.optimize.problem.problem import Problem
from armature.optimize.transcription.driven import Weights, as_symbols
from armature.optimize.transcription.move import AT_KNOTS
from armature.optimize.transcription.planes import Planes, slot_counts
from armature.optimize.transcription.smoothed import Smoothed, SmoothedMove
from armature.optimize.transcription.transcribe import Accelerations, At, Shape
from armature.robot.model import Robot

UNIT = 0.1  # m: of the rows, so that they are of the size of others
EACH = 6  # numbers of a slot: normal and centre


@functools.cache
def _source() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


@dataclass(frozen=True)
class Guarded(Smoothed):
    """A smoothed model with rows for obstacles after those of torque rates. Its slots' data come
    last. slots: of each moving body."""

    slots: tuple[int, ...] = ()

    @functools.cached_property
    def shape(self) -> Shape:
        base = super().shape
        at = len(base.constraint_names) - len(self.speeds) - len(self.rates)
        names = [
            f"clearance of {body.name}"
            for body, count in zip(self.robot.tree.bodies, self.slots)
            for _ in range(count)
        ]
        whole = (*base.constraint_names[:at], *names, *base.constraint_names[at:])
        return replace(base, nd=base.nd + EACH * sum(self.slots), constraint_names=whole)

    @property
    def rows_at(self) -> int:
        """Where the rows are among those of a step: before those of speeds and accelerations."""
        after = len(self.speeds) + len(self.rates)
        return len(self.shape.constraint_names) - after - sum(self.slots)

    @functools.cached_property
    def transcription(self) -> Accelerations:
        return replace(super().transcription, between=self.between)

    def rates_between(self, begin: At, end: At, h: Any) -> list[Any]:
        poses = energy.body_poses(self.robot.tree, as_symbols(begin.q))
        data = as_symbols(begin.d[len(begin.d) - EACH * sum(self.slots) :])
        bodies = [b for b, count in enumerate(self.slots) for _ in range(count)]
        rows = []
        for k, b in enumerate(bodies):
            n, c = data[EACH * k : EACH * k + 3], data[EACH * k + 3 : EACH * (k + 1)]
            x = poses[b].R @ c + poses[b].p
            rows.append(bare((n @ x) * (1.0 / UNIT)))
        return [*super().rates_between(begin, end, h), *rows]

    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        free = np.full(sum(self.slots), np.inf)
        low, high = super().constraint_bounds()
        return np.insert(low, self.rows_at, -free), np.insert(high, self.rows_at, free)

    @property
    def key(self) -> str:
        return f"guarded {self.slots} {_source()} {super().key}"


def guarded_model(robot: Robot, supply: Any, durations: int, normal: bool) -> Guarded:
    """The model, kept with the robot."""
    supply = as_supply(supply if supply is not None else robot.supply)
    store, slots = memo(robot, "models"), slot_counts(robot)
    key = ("guarded", repr(supply), durations, normal, slots)
    if key not in store:
        rule, corners = "gauss" if isinstance(supply, Bus) else "simpson", Smooth(1.0, 1.0, 1.0)
        made = (robot, supply, True, rule, AT_KNOTS, durations, corners)
        store[key] = Guarded(*made, normal=normal, slots=slots)
    return store[key]


@dataclass(frozen=True, eq=False)
class GuardedMove(SmoothedMove):
    """A move whose spheres keep to planes; without any it is the move itself. reach: rad or m, how
    far joints may depart from the planes' reference at knots."""

    planes: Planes | None = None
    reach: float = np.inf

    @functools.cached_property
    def driven(self) -> Guarded:
        return guarded_model(self.robot, self.supply, self.legs, self.normal)

    def problem(self, weights: Weights) -> Problem:
        """Bounds and data for the solver."""
        base = super().problem(weights)
        if self.planes is None:
            return base
        found = self.planes.rows(self.times / self.duration)
        S = found.bound.shape[1]
        data, (low, high) = np.array(base.data), base.constraints
        pairs = np.concatenate([found.normal, found.centre], axis=2)
        data[:, data.shape[1] - EACH * S :] = pairs.reshape(len(data), EACH * S)
        bound = found.bound / UNIT
        bound[[0, *self.knots]] = -np.inf
        at = self.driven.rows_at
        low = np.array(np.broadcast_to(low, (self.N, len(self.driven.shape.constraint_names))))
        low[:, at : at + S] = bound[:-1]
        return replace(base, data=data, constraints=(low, high), x=self._within_reach(base.x))

    def _within_reach(self, bounds: Any) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the states, drawn in about the reference where the task gives no place."""
        low, high = (np.array(side) for side in bounds)
        if self.planes is None or not np.isfinite(self.reach):
            return low, high
        n = self.robot.n
        q = self.planes.states(self.times / self.duration)
        loose = low[:, :n] < high[:, :n]
        for side, bound, inner in (
            (low, q - self.reach, np.maximum),
            (high, q + self.reach, np.minimum),
        ):
            side[:, :n] = np.where(loose, inner(side[:, :n], bound), side[:, :n])
        return low, high
