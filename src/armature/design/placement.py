"""`place_base`: where a robot's base stands best for its tasks, and how it is turned.

The world is moved instead of the robot: poses and obstacles are expressed in the frame of a base
that stands at (x, y, z), turned by yaw about the vertical. Gravity does not change then, so that
one set of kernels serves all places. At every place the poses are reached in the postures with the
cheapest chain, within joint ranges, clear of obstacles and floor; then the motions are planned."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from armature.design.base_motions import (
    Cell,
    evaluate_cell,
    placed_robot,
    plan_at,
)
from armature.design.layout import Layout, layout_of
from armature.design.runner import Case, Runner
from armature.drive.catalogue import SupplyGiven
from armature.errors import ArgumentError, ArmatureError
from armature.optimize.certificate.solution import Solution
from armature.robot.model import Robot
from armature.scene.scene import Scene
from armature.study.dask_pool import Tls
from armature.study.outcome import packed
from armature.version import __version__

TURNS = tuple(np.linspace(-np.pi, np.pi, 8, endpoint=False))
OBJECTIVES = {"energy": "J", "time": "s"}


@dataclass(frozen=True, eq=False)
class BasePlacement:
    """The best place of a base that was found.

    position: (3,), m, and yaw, rad, of the base in the world.  robot: standing there, on a fixed
    joint of a link `world`.  cost: J or s of all motions, as planned in the search (without
    smoothing).
    plans: one for each motion, in the world, certified.  x, y: (nx,), (ny,) of the heat map, m.
    costs: (ny, nx), NaN where the tasks cannot be done.  turns: (ny, nx) the best yaw there, rad.
    reasons: {(column, row): why not}."""

    position: np.ndarray
    yaw: float
    robot: Robot
    objective: str
    cost: float
    plans: tuple[Solution, ...]
    x: np.ndarray
    y: np.ndarray
    costs: np.ndarray
    turns: np.ndarray
    reasons: dict[tuple[int, int], str]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every plan is certified."""
        return all(plan.ok and plan.certificate.ok for plan in self.plans)

    @property
    def spread(self) -> float:
        """How much more the worst place of the map costs than the best, as a part."""
        return float(np.nanmax(self.costs) / self.cost - 1.0) if self.cost > 0 else 0.0

    def __str__(self) -> str:
        unit, p = OBJECTIVES[self.objective], self.position
        can = np.isfinite(self.costs)
        lines = [
            f"base at x = {p[0]:.4g} m, y = {p[1]:.4g} m, z = {p[2]:.4g} m, turned by"
            f" {np.degrees(self.yaw):.1f}°",
            f"{self.objective} of {len(self.plans)} motions: {self.cost:.4g} {unit}; at the worst"
            f" of the places that can do them {np.nanmax(self.costs):.4g} {unit}",
            f"{can.sum()} of {can.size} places of the map can do the tasks; {self.seconds:.0f} s",
            f"certificate: {'every plan holds' if self.ok else 'A PLAN DOES NOT HOLD'}",
        ]
        counted: dict[str, int] = {}
        for reason in self.reasons.values():
            counted[reason] = counted.get(reason, 0) + 1
        for reason, count in sorted(counted.items(), key=lambda item: -item[1])[:3]:
            lines.append(f"{count} places: {reason}")
        return "\n".join(lines)


def place_base(
    robot: Robot,
    tasks: Any,
    x: Sequence[float],
    y: Sequence[float],
    yaw: Sequence[float] = TURNS,
    *,
    z: float = 0.0,
    duration: float | None = None,
    objective: str = "energy",
    link: str | None = None,
    scene: Scene | None = None,
    floor: float | str | None = "auto",
    supply: SupplyGiven = None,
    knots: int = 50,
    refine: int = 3,
    deadline: float | None = None,
    store: str | PathLike[str] | None = None,
    workers: int | None = 1,
    cluster: str | None = None,
    tls: Tls | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> BasePlacement:
    """Where the base stands best, on a map of places (x, y), m, turned by one of the angles yaw,
    rad, about the vertical; then refined between them.

    tasks: poses of the hand in the world that are visited in this order, as (R, p), (p, quaternion)
    or 4 × 4 matrices; or moves (jobs) whose starts and goals are poses; or a program of moves, in
    the durations of its plan.  z: height of the base,
    m.  duration: of every motion between poses, s (moves bring theirs).
    objective: "energy" (J) or "time" (s).  link: what the poses are of, `robot.tip` by default.
    scene: obstacles in the world.  floor: as in `Move`, heights in the world.
    refine: how often the steps of the map are halved around the best place.
    deadline, store, workers, cluster, tls: as in `choose_drives`.  progress: called with (places
    done, of how many, message)."""
    begin = time.perf_counter()
    xs, ys, turns = (_axis(name, v) for name, v in (("x", x), ("y", y), ("yaw", yaw)))
    if objective not in OBJECTIVES:
        raise ArgumentError(f"objective = {objective!r} must be 'energy' or 'time'")
    if not np.isfinite(z):
        raise ArgumentError(f"z = {z} must be a finite height, m")
    layout = layout_of(robot, tasks, link, duration, objective, scene, floor, supply, knots, z)
    ends = None if deadline is None else begin + deadline
    runner = Runner("placement", ends, (evaluate_cell.__module__,))
    with runner.stack:
        runner.open(store, workers, cluster, tls)
        search = _Search(layout, runner, progress)
        grid = [Cell(float(a), float(b), tuple(turns)) for b in ys for a in xs]
        found = search.run(grid, "map")
        best = search.refined(found, _steps(xs, ys, turns), refine)
    costs = np.array([found.get(c, {}).get("cost", np.nan) for c in grid], dtype=float)
    angles = np.array([found.get(c, {}).get("yaw", np.nan) for c in grid], dtype=float)
    shape = (len(ys), len(xs))
    reasons = {
        (n % len(xs), n // len(xs)): str(found[c].get("reason", ""))
        for n, c in enumerate(grid)
        if c in found and not found[c].get("ok")
    }
    cell, values = best
    at = Cell(cell.x, cell.y, (float(values["yaw"]),))
    plans = plan_at(layout, at, in_world=True)
    return BasePlacement(
        np.array([cell.x, cell.y, z]),
        float(values["yaw"]),
        placed_robot(robot, cell.x, cell.y, z, float(values["yaw"])),
        objective,
        float(values["cost"]),
        tuple(plans),
        xs,
        ys,
        costs.reshape(shape),
        angles.reshape(shape),
        reasons,
        time.perf_counter() - begin,
    )


def _axis(name: str, values: Any) -> np.ndarray:
    found = np.atleast_1d(np.asarray(values, dtype=float))
    if found.ndim != 1 or not found.size or not np.all(np.isfinite(found)):
        raise ArgumentError(f"{name} = {values!r:.60} must be a list of finite numbers")
    return found


def _steps(*axes: np.ndarray) -> tuple[float, ...]:
    """Half the step of every axis; 0 where there is one value."""
    return tuple(float(np.diff(np.sort(a)).min()) / 2 if a.size > 1 else 0.0 for a in axes)


@dataclass(eq=False)
class _Search:
    """Places that were tried."""

    layout: Layout
    runner: Runner
    progress: Callable[[int, int, str], None] | None
    done: int = 0

    def run(self, cells: Sequence[Cell], what: str) -> dict[Cell, dict[str, Any]]:
        """What these places cost."""
        found: dict[Cell, dict[str, Any]] = {}
        by_id = {self.id(cell): cell for cell in cells}
        total = self.done + len(by_id)

        def take(id: str, values: Any, error: str) -> None:
            found[by_id[id]] = {**values, **({"ok": False, "reason": error} if error else {})}
            self.done += 1
            if self.progress is not None:
                costs = [v["cost"] for v in found.values() if v.get("ok")]
                best = f"{what}: best {min(costs):.4g}" if costs else what
                self.progress(self.done, total, best)

        cases = [
            Case(id, packed(evaluate_cell, (self.layout, cell)), {"x": cell.x, "y": cell.y})
            for id, cell in by_id.items()
        ]
        self.runner.run(cases, take)
        return found

    def refined(
        self, found: dict[Cell, dict[str, Any]], steps: tuple[float, ...], rounds: int
    ) -> tuple[Cell, dict[str, Any]]:
        """The best place, with smaller and smaller steps around it."""
        able = {cell: v for cell, v in found.items() if v.get("ok")}
        if not able:
            reasons = [str(v.get("reason", "")) for v in found.values()]
            most = max(set(reasons), key=reasons.count) if reasons else "no time was left"
            raise ArmatureError(
                f"at none of the {len(found)} places the tasks can be done; mostly: {most}; give"
                " other places, longer durations, or another height z"
            )
        cell = min(able, key=lambda c: able[c]["cost"])
        values = able[cell]
        for _ in range(rounds):
            if not any(steps) or self.runner.late:
                break
            turns = (values["yaw"], *(values["yaw"] + s * steps[2] for s in (1, -1) if steps[2]))
            around = [
                Cell(cell.x + i * steps[0], cell.y + j * steps[1], tuple(turns))
                for i in (-1, 0, 1)
                for j in (-1, 0, 1)
            ]
            tried = self.run(list(dict.fromkeys(around)), "refining")
            better = {c: v for c, v in tried.items() if v.get("ok") and v["cost"] < values["cost"]}
            if better:
                cell = min(better, key=lambda c: better[c]["cost"])
                values = better[cell]
            steps = tuple(s / 2 for s in steps)
        return cell, values

    def id(self, cell: Cell) -> str:
        """Hash of all that a place's values depend on."""
        text = f"{__version__} {self.layout.about} {cell!r}"
        return hashlib.sha256(text.encode()).hexdigest()[:20]
