"""Inverse kinematics: every configuration that brings a link to a pose, from hundreds of starts at
once.

Starts fill the joint space evenly (an additive sequence, always the same); all take damped steps
(R1) together. What arrives is
grouped: equal up to full turns is one branch. The search goes on until every branch was met at
least twice: the share of branches met once estimates what was not met at all (Good and Turing).
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.dynamics.positioning.reach import Reach, reach
from armature.errors import ArgumentError, check_count
from armature.motion.goal import Goal, as_goal
from armature.robot.model import Robot

ARRIVED = 1e-20  # e·e: 1e-10 of the arm's length, or 1e-10 rad
LARGEST_STEP = 1.0  # rad, or lengths of the arm
SAME = 1e-3  # rad: nearer than this two configurations are one
SINGULAR = 1e-4  # σ_min/σ_max of J below which a configuration is called singular
ROUNDS = 8
RANGE_SLACK = 1e-9


class Status(enum.Enum):
    """How a search for configurations ended."""

    FOUND = "the pose is reached"
    SINGULAR = (
        "the pose is reached in singular configurations only: some motion of the link is not"
        " possible from there"
    )
    OUT_OF_RANGE = "the pose is reached only beyond the range of a joint"
    UNREACHABLE = "no configuration reaches the pose"


@dataclass(frozen=True, eq=False)
class Configurations:
    """What inverse kinematics found.

    solutions: (k, nq), best first: nearest to the seed, or without a seed farthest from singular.
    errors: (k,), the larger of the distance (m) and the angle (rad) to the pose.  conditioning:
    (k,), smallest by largest singular value of the Jacobian.
    nearest: (nq,), the configuration within the joints' ranges that comes nearest to the pose: the
    first solution if there is one.
    distance (m), angle (rad): how far `nearest` is from it.  message: the status in one sentence,
    with its numbers."""

    status: Status
    solutions: np.ndarray
    errors: np.ndarray
    conditioning: np.ndarray
    nearest: np.ndarray
    distance: float
    angle: float
    message: str

    @property
    def ok(self) -> bool:
        """True when there is a solution."""
        return len(self.solutions) > 0

    @property
    def best(self) -> np.ndarray:
        """The first solution (nq,); an ArgumentError that says why where there is none."""
        if not self.ok:
            raise ArgumentError(self.message)
        return self.solutions[0]

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.solutions)

    def __repr__(self) -> str:
        return f"<Configurations: {self.message}>"


def inverse_kinematics(
    robot: Robot,
    pose: Any,
    link: str,
    seed: Any = None,
    *,
    turns: bool = False,
    most: int = 32,
    starts: int = 256,
) -> Configurations:
    """All configurations found that bring a link's frame to a pose, best first, within the joints'
    ranges.

    pose: a point (3,), m (orientation free), or (R, p) as `arm.pose` gives it, a 4 × 4 matrix, or
    (p, quaternion x y z w).
    seed: (nq,) configuration: the nearest solutions come first, joints that do not move the link
    stay there, as does a floating base.
    turns: list every full turn that the ranges allow, not only the one nearest to the seed (or to
    the middle of the range).
    most: at most so many solutions; an arm with more axes than the pose needs gives that many
    different ones of its infinity.
    starts: so many at once. The answer is the same every time.
    """
    check_count(most, "most")
    check_count(starts, "starts")
    goal = as_goal(pose)
    r = reach(robot, link, goal.R is None)
    search = _Search(r, goal, _rest(robot, seed), seed is not None, int(starts))
    found = search.continuum(most) if r.redundant else search.branches()
    inside = search.within_ranges(found, turns)
    if len(inside):
        return search.solved(inside, most)
    return search.failed(found)


def reaching(robot: Robot, pose: Any, link: str, most: int = 32, starts: int = 256) -> np.ndarray:
    """(k, nq) configurations that bring a link's frame to a pose; (0, nq) where there is none,
    without the search for the nearest one that `inverse_kinematics` makes."""
    goal = as_goal(pose)
    r = reach(robot, link, goal.R is None)
    search = _Search(r, goal, _rest(robot, None), False, starts)
    found = search.continuum(most) if r.redundant else search.branches()
    inside = search.within_ranges(found, False)
    return search.solved(inside, most).solutions if len(inside) else np.zeros((0, robot.nq))


def _rest(robot: Robot, seed: Any) -> np.ndarray:
    """The seed, or the middle of the joints' ranges (zero where there is none)."""
    return middle(robot) if seed is None else configuration(robot, seed, "the seed")


def configuration(robot: Robot, value: Any, what: str) -> np.ndarray:
    """`value` as one configuration (nq,) of finite numbers, or an ArgumentError."""
    try:
        q = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{what} {value!r} is not made of numbers; give one configuration"
        ) from None
    if q.shape != (robot.nq,) or not np.all(np.isfinite(q)):
        raise ArgumentError(
            f"{what} has shape {q.shape}; give {robot.nq} finite numbers:"
            f" {', '.join(robot.joint_names)}"
        )
    return q


def middle(robot: Robot) -> np.ndarray:
    """The configuration (nq,) in the middle of the joints' ranges; zero, or the end nearest to it,
    where a range is not finite."""
    from armature.robot.bounds import bounds

    q, limits = np.zeros(robot.nq), bounds(robot)
    for body in robot.tree.bodies:
        if body.kind == "free":
            q[body.q + 6] = 1.0
        elif not body.mimic:
            low, high = limits.lower[body.v], limits.upper[body.v]
            q[body.q] = (low + high) / 2 if np.isfinite(high - low) else min(max(0.0, low), high)
    return q


def even_points(start: int, count: int, dimension: int) -> np.ndarray:
    """Points start … start + count − 1 (count, dimension) of the additive sequence of the
    generalised golden ratio, in [0, 1)."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (dimension + 1))  # x^(d+1) = x + 1
    return np.mod(
        0.5 + np.outer(np.arange(start, start + count), ratio ** -np.arange(1.0, dimension + 1)),
        1.0,
    )


class _Search:
    """One search: the goal, where the joints start, and what was found so far; configurations are
    those of the moved axes (a,)."""

    def __init__(self, r: Reach, goal: Goal, rest: np.ndarray, seeded: bool, starts: int):
        self.r, self.goal, self.rest, self.seeded, self.starts = r, goal, rest, seeded, starts
        self.home = rest[r.axes]
        self.scale = np.where(
            r.periodic, 1.0, r.length
        )  # a sliding joint's metre against a turning joint's radian
        turning = np.where(r.periodic, np.pi, r.length + float(np.linalg.norm(goal.p)))
        self.low = np.where(np.isfinite(r.lower), r.lower, np.minimum(self.home, r.upper) - turning)
        self.high = np.where(
            np.isfinite(r.upper), r.upper, np.maximum(self.home, r.lower) + turning
        )

    # from starts to points of arrival ------------------------------------------------------------

    def points(self, start: int, count: int) -> np.ndarray:
        """Starts spread evenly over the ranges; the seed is the first of all."""
        x = self.low + (self.high - self.low) * even_points(start, count, len(self.home))
        if start == 0:
            x[0] = np.clip(self.home, self.low, self.high)
        return x

    def settle(
        self, x: np.ndarray, iterations: int, clamp: bool, pull: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Damped steps (R1) from x (k, a): those that arrived, and where the others are. With
        `clamp` within the ranges, by projection."""
        arrived: list[np.ndarray] = []
        held = np.ones_like(x) if clamp else np.ones(x.shape[1])
        for _ in range(iterations):
            wish = (
                np.clip(pull * (self.home - x), -0.3 * self.scale, 0.3 * self.scale)
                if pull
                else 0.0
            )
            step, cost, e, J = self.r.evaluate(x, self.rest, self.goal, held, wish)
            if not pull:
                done = cost < ARRIVED
                if done.any():
                    arrived.append(x[done])
                    x, step, e, J = x[~done], step[~done], e[~done], J[~done]
                    held = held[~done] if clamp else held
                if not len(x):
                    break
            x = x + step * np.minimum(
                1.0,
                LARGEST_STEP / np.maximum(np.abs(step / self.scale).max(-1, keepdims=True), 1e-12),
            )
            if clamp:
                x = np.clip(x, self.r.lower, self.r.upper)
                downhill = np.einsum("kca,kc->ka", J, e)
                held = 1.0 - (
                    (x <= self.r.lower) & (downhill < 0.0) | (x >= self.r.upper) & (downhill > 0.0)
                )
        return np.concatenate([*arrived, x[:0]]), x

    def polished(self, x: np.ndarray, clamp: bool = False) -> np.ndarray:
        """Two more steps, to the last digits; with `clamp`, axes at an end of their range stay
        there."""
        for _ in range(2):
            held = np.where((x > self.r.lower) & (x < self.r.upper), 1.0, 0.0) if clamp else 1.0
            x = x + self.r.evaluate(x, self.rest, self.goal, held)[0]
        return x

    def distances(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Largest difference of any axis between x (k, a) and y (a,), full turns left out."""
        d = np.abs(x - y)
        d = np.where(
            self.r.periodic, np.abs(d - 2 * np.pi * np.round(d / (2 * np.pi))), d / self.scale
        )
        return d.max(-1)

    # branches and continua -----------------------------------------------------------------------

    def branches(self) -> np.ndarray:
        """The isolated configurations (k, a) that reach the goal, ranges not considered."""
        found, counts = np.empty((0, len(self.home))), np.empty(0, dtype=int)
        for k in range(ROUNDS):
            arrived, _ = self.settle(
                self.points(k * self.starts, self.starts), 25 if k == 0 else 40, clamp=False
            )
            found, counts = self.grouped(
                np.concatenate([found, arrived]),
                np.concatenate([counts, np.ones(len(arrived), dtype=int)]),
            )
            if (
                (len(found) == 0 and k > 0)
                or (len(found) and np.all(counts > 1))
                or len(found) > self.starts / 4
            ):
                break
        return self.polished(found) if len(found) else found

    def grouped(self, x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """One of each group of equal configurations, in the order met, and how often each was
        met."""
        kept, sums = [], []
        while len(x):
            same = self.distances(x, x[0]) < SAME
            kept.append(x[0])
            sums.append(counts[same].sum())
            x, counts = x[~same], counts[~same]
        return np.array(kept).reshape(-1, len(self.home)), np.array(sums, dtype=int)

    def continuum(self, most: int) -> np.ndarray:
        """Many different configurations within the ranges, and those nearest to home that the
        freedom of the axes allows."""
        arrived, _ = self.settle(self.points(0, self.starts), 40, clamp=True)
        if not len(arrived):
            return arrived
        diverse = self.spread(arrived, most)
        near = arrived[
            np.argsort(np.linalg.norm(self._turned_home(arrived) / self.scale, axis=-1))[:16]
        ]
        _, near = self.settle(
            np.concatenate([np.clip(self.home, self.low, self.high)[None], near]),
            40,
            clamp=True,
            pull=0.7,
        )
        near, _ = self.settle(near, 40, clamp=True)
        found, _ = self.grouped(
            np.concatenate([near, diverse]), np.ones(len(near) + len(diverse), dtype=int)
        )
        return self.polished(found, clamp=True)

    def _turned_home(self, x: np.ndarray) -> np.ndarray:
        d = x - self.home
        return np.where(self.r.periodic, d - 2 * np.pi * np.round(d / (2 * np.pi)), d)

    def spread(self, x: np.ndarray, most: int) -> np.ndarray:
        """At most so many of x, each farthest from those taken before."""
        taken = [0]
        away = self.distances(x, x[0])
        while len(taken) < min(most, len(x)) and away.max() > SAME:
            taken.append(int(np.argmax(away)))
            away = np.minimum(away, self.distances(x, x[taken[-1]]))
        return x[taken]

    # ranges, order, answers ----------------------------------------------------------------------

    def turn_choices(self, value: float, k: int) -> list[float]:
        """The values of axis k, full turns away from `value`, within its range; nearest to home
        first. All near ones if it has no range."""
        low, high = self.r.lower[k], self.r.upper[k]
        if not self.r.periodic[k]:
            return (
                [min(max(value, low), high)]
                if low - RANGE_SLACK <= value <= high + RANGE_SLACK
                else []
            )
        centre = value - 2 * np.pi * np.round((value - self.home[k]) / (2 * np.pi))
        if not np.isfinite(high - low):
            low, high = max(low, centre - 2 * np.pi), min(high, centre + 2 * np.pi)
        first, last = (
            np.ceil((low - RANGE_SLACK - value) / (2 * np.pi)),
            np.floor((high + RANGE_SLACK - value) / (2 * np.pi)),
        )
        values = [min(max(value + 2 * np.pi * n, low), high) for n in np.arange(first, last + 1)]
        return sorted(values, key=lambda v: (abs(v - self.home[k]), v))

    def within_ranges(self, x: np.ndarray, turns: bool) -> np.ndarray:
        """Configurations (k, a) in their nearest full turns, or in all of them; those out of range
        left out."""
        rows = []
        for row in x:
            choices = [self.turn_choices(float(value), k) for k, value in enumerate(row)]
            if all(choices):
                rows += (
                    itertools.islice(itertools.product(*choices), 4096)
                    if turns
                    else [[c[0] for c in choices]]
                )
        return np.array(rows, dtype=float).reshape(-1, len(self.home))

    def solved(self, x: np.ndarray, most: int) -> Configurations:
        _, _, _, J = self.r.evaluate(x, self.rest, self.goal)
        sigma = np.linalg.svd(J, compute_uv=False)
        conditioning = sigma[:, self.r.rank - 1] / sigma[:, 0]
        away = np.linalg.norm((x - self.home) / self.scale, axis=-1)
        order = (
            np.lexsort((away, -np.round(conditioning, 9)))
            if not self.seeded
            else np.argsort(away, kind="stable")
        )
        x, conditioning = x[order][:most], conditioning[order][:most]
        distance, angle = self.r.errors(x, self.rest, self.goal)
        singular = conditioning < SINGULAR
        status = Status.SINGULAR if singular.all() else Status.FOUND
        count = f"{len(x)} configuration{'s' if len(x) > 1 else ''}" + (
            f", {singular.sum()} of them singular" if singular.any() else ""
        )
        q = self.r.full(x, self.rest)
        numbers = float(distance[0]), float(angle[0])
        return Configurations(
            status,
            q,
            np.maximum(distance, angle),
            conditioning,
            q[0],
            *numbers,
            f"{status.value}: {count}",
        )

    def failed(self, beyond: np.ndarray) -> Configurations:
        """No solution within the ranges: the nearest configuration, and the joint in the way if
        there is one."""
        x = self.nearest(beyond)
        distance, angle = (float(y) for y in self.r.errors(x, self.rest, self.goal))
        status = Status.OUT_OF_RANGE if len(beyond) else Status.UNREACHABLE
        far = (
            f"the nearest is {distance:.6g} m"
            + ("" if self.r.position_only else f" and {angle:.6g} rad")
            + " away"
        )
        reason = f" ({self._in_the_way(beyond)})" if len(beyond) else ""
        empty = np.empty(0)
        message = (
            f"link {self.r.link!r}: {status.value}{reason}; {far}: take another pose, or another"
            " base or tool"
        )
        q = self.r.full(x, self.rest)
        return Configurations(
            status, np.empty((0, len(self.rest))), empty, empty, q, distance, angle, message
        )

    def nearest(self, beyond: np.ndarray) -> np.ndarray:
        """The configuration (a,) within the ranges with the least error; positions count as parts
        of the arm's length."""
        from scipy.optimize import minimize

        x = np.concatenate(
            [self.points(0, self.starts // 2), np.clip(beyond, self.r.lower, self.r.upper)]
        )
        _, x = self.settle(x, 30, clamp=True)
        cost = self.r.evaluate(x, self.rest, self.goal)[1]
        ends = list(zip(self.r.lower, self.r.upper))
        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 300}
        tries = [
            minimize(self._cost, x[k], jac=True, method="L-BFGS-B", bounds=ends, options=options)
            for k in np.argsort(cost)[:4]
        ]
        return min(tries, key=lambda found: found.fun).x

    def _cost(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """e·e and its gradient: with (R2), d(4 sin²(θ/2)) = −2 sin θ u·ω = −2 cos(θ/2) e·ω."""
        _, cost, e, J = self.r.evaluate(np.ascontiguousarray(x), self.rest, self.goal)
        e = e.copy()
        e[3:] *= np.sqrt(max(0.0, 1.0 - e[3:] @ e[3:] / 4.0))
        return float(cost), -2.0 * (e @ J)

    def _in_the_way(self, beyond: np.ndarray) -> str:
        """The joint whose range would have to grow least, and by how much."""
        best = min((self._excess(row) for row in beyond), key=lambda found: found[0])
        k, value = best[1], best[2]
        name = self.r.robot.joint_names[_name_index(self.r.robot, int(self.r.rates[k]))]
        return (
            f"joint {name!r} would have to stand at {value:.6g}, its range is {self.r.lower[k]:.6g}"
            f" to {self.r.upper[k]:.6g}"
        )

    def _excess(self, row: np.ndarray) -> tuple[float, int, float]:
        """(how far out of range, axis, value) of the worst axis of one configuration, each in its
        best turn."""
        worst = (0.0, 0, float(row[0]))
        for k, value in enumerate(row):
            turns = (
                value + 2 * np.pi * np.arange(-3, 4) if self.r.periodic[k] else np.array([value])
            )
            out = np.maximum(self.r.lower[k] - turns, turns - self.r.upper[k])
            i = int(np.argmin(out))
            worst = max(worst, (float(out[i] / self.scale[k]), k, float(turns[i])))
        return worst


def _name_index(robot: Robot, v: int) -> int:
    """Place in joint_names of velocity v: a floating base is one name but six velocities."""
    return v - 5 if robot.nq != robot.nv else v
