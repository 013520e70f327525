"""The world of a cell: models of every two robots, zones that their steps share, and the proof over
the schedule that they stay apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armature.cell.program.curves import Timed
from armature.cell.program.program_plan import PlannedLeg, ProgramPlan
from armature.cell.program.stages import Leg, Stage, Stop
from armature.cell.workcell.cell import Cell
from armature.cell.workcell.cell_model import merged
from armature.cell.workcell.world import Apart, Piece, Sweep, keep_apart, meet, sweep_of
from armature.scene.model import Model
from armature.scene.obstacle import Obstacle
from armature.scene.several import Standing, joint_model

CLOSE, FARTHEST = 0.01, 10.0  # m: of the distance of bases that is told
Shared = tuple[tuple[str, Stage], tuple[str, Stage]]


class World:
    """Robots on their bases, with what they carry in each of their stages."""

    def __init__(self, cell: Cell, parts: Mapping[str, Sequence[Stage]]):
        assert cell.bases is not None
        self.cell, self.parts, self.bases = cell, parts, cell.bases
        self.loads = {name: list(dict.fromkeys(self._carried(name))) for name in parts}
        self.known: dict[tuple[str, int, str, int], tuple[Model, np.ndarray]] = {}

    def shared(self, known: Mapping[str, Sequence[Timed]]) -> list[Shared]:
        """Pairs of stages of different robots that sweep through the same space: by the shortest,
        a middle and the longest motion of every curve."""
        sweeps = {name: list(self._sweeps(name, known[name])) for name in self.parts}
        found: dict[tuple[str, str, str, str], Shared] = {}
        for a, b in itertools.combinations(self.parts, 2):
            for (i, one), (k, two) in itertools.product(enumerate(sweeps[a]), enumerate(sweeps[b])):
                model, lever = self.model(a, self.key(a, i), b, self.key(b, k))
                pairs = itertools.product(one, two)
                if any(meet(model, lever, x, y, self.cell.apart) for x, y in pairs):
                    pair = self.merged(a, i), self.merged(b, k)
                    found[a, pair[0].name, b, pair[1].name] = (a, pair[0]), (b, pair[1])
        return list(found.values())

    def separation(self, a: str, b: str, known: Mapping[str, Sequence[Timed]]) -> float | None:
        """By how much farther, m, robot b would have to stand from robot a for none of their steps
        to meet, to a centimetre; None where ten metres do not do."""
        one, two = (np.array(self.bases[name].position) for name in (a, b))
        away = two - one
        away = away / np.linalg.norm(away) if np.linalg.norm(away) > CLOSE else np.eye(3)[0]

        def meets(more: float) -> bool:
            moved = replace(self.bases[b], position=tuple((two + more * away).tolist()))
            bases = {a: self.bases[a], b: moved}
            robots = {name: self.cell.robots[name] for name in (a, b)}
            pair = Cell(robots, self.cell.cycle, bases=bases, apart=self.cell.apart)
            return bool(World(pair, {name: self.parts[name] for name in (a, b)}).shared(known))

        low, high = 0.0, CLOSE
        while meets(high):
            low, high = high, 2 * high
            if high > FARTHEST:
                return None
        while high - low > CLOSE:
            middle = (low + high) / 2
            low, high = (middle, high) if meets(middle) else (low, middle)
        return high

    def proofs(
        self, plans: Mapping[str, ProgramPlan], starts: Mapping[str, float]
    ) -> dict[tuple[str, str], Apart]:
        """How near every two robots come. starts: when their programs begin, s."""
        pieces = {name: self._pieces(name, plans[name], starts[name]) for name in plans}
        found = {}
        for a, b in itertools.combinations(plans, 2):
            keys = itertools.product(range(len(self.loads[a])), range(len(self.loads[b])))
            models = {(i, k): self.model(a, i, b, k) for i, k in keys}
            found[a, b] = keep_apart(models, pieces[a], pieces[b], self.cell.cycle, self.cell.apart)
        return found

    def met(self, names: tuple[str, str], proof: Apart) -> Shared | None:
        """The stages in which two robots were found not to stay apart."""
        if proof.free or proof.steps is None:
            return None
        stage = lambda name, step: next(
            self.merged(name, k) for k, s in enumerate(self.parts[name]) if s.name == step
        )
        a, b = ((name, stage(name, step)) for name, step in zip(names, proof.steps))
        return a, b

    # models -----------------------------------------------------------------------------------

    def model(self, a: str, i: int, b: str, k: int) -> tuple[Model, np.ndarray]:
        """Two robots as one model, with their i-th and k-th load, and the levers of its pairs."""
        if (a, i, b, k) not in self.known:
            self.known[a, i, b, k] = joint_model([self._standing(a, i), self._standing(b, k)])
        return self.known[a, i, b, k]

    def _standing(self, name: str, load: int) -> Standing:
        base = self.bases[name]
        carried = self.loads[name][load]
        robot = self.cell.robots[name].robot
        return Standing(name, robot, base.rotation, np.array(base.position), carried)

    def _carried(self, name: str) -> Iterator[tuple[Obstacle, ...]]:
        """What the robot carries in each of its stages; at a stop that of the motion after it."""
        row = self.parts[name]
        legs = [s for s in row if isinstance(s, Leg)]
        for k, stage in enumerate(row):
            after = next((s for s in row[k:] if isinstance(s, Leg)), legs[0])
            leg = stage if isinstance(stage, Leg) else after
            yield () if leg.scene is None else leg.scene.carried

    def key(self, name: str, stage: int) -> int:
        """Which of its loads a robot carries in a stage."""
        return self.loads[name].index(list(self._carried(name))[stage])

    def merged(self, name: str, stage: int) -> Stage:
        """A stage as the schedule has it."""
        return merged(self.parts[name], self.parts[name][stage])

    # motions ----------------------------------------------------------------------------------

    def _sweeps(self, name: str, known: Sequence[Timed]) -> Iterator[list[Sweep]]:
        rest = iter(known)
        for stage in self.parts[name]:
            if isinstance(stage, Stop):
                yield [sweep_of(stage.q)]
                continue
            motions = next(rest).curve.motions
            pick = sorted({0, len(motions) // 2, len(motions) - 1})
            yield [sweep_of(motions[k]) for k in pick]

    def _pieces(self, name: str, plan: ProgramPlan, start: float) -> list[Piece]:
        found = []
        for k, stage in enumerate(plan.stages):
            if stage.duration <= 0.0:
                continue
            what: Any = stage.plan.trajectory if isinstance(stage, PlannedLeg) else stage.stop.q
            key = self.key(name, k)
            found.append(Piece(start + stage.begin, stage.duration, what, key, stage.name))
        return found
