"""The joints along a path of the hand: the branch that goes on continuously, with its derivatives,
or the place where it ends.

With x' = (dx, ω) and x'' = (ddx, ω') of the path, positions divided by a length of the arm, J' =
dJ/dp and a wish z for the joints,

(F1)  J q' = x':    q' = z + J⁺(x' − J z)
(F2)  J q'' = x'' − J'q':    q'' = z' + J'ᵀy + J⁺(x'' − J'z − J z' − (J'Jᵀ + J J'ᵀ)y),  y = J⁺ᵀJ⁺(x'
− J z)

For arms without freedom both are the plain inverses; for redundant ones z = 0 gives the least-norm
motion, and z = k (home − q) one that returns to a configuration. Steps are predicted by Taylor's
series, corrected by (R1) and halved until they are sure."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from armature.annotations import Numbers
from armature.dynamics import kernels
from armature.dynamics.positioning.inverse_kinematics import Status as PoseStatus
from armature.dynamics.positioning.inverse_kinematics import configuration, inverse_kinematics
from armature.dynamics.positioning.reach import Reach, reach
from armature.dynamics.recursion import kinematics
from armature.errors import ArgumentError, check_count
from armature.kernel import Kernel
from armature.kernel.symbol import from_casadi_column, to_casadi
from armature.motion.goal import Goal
from armature.motion.path import JointPath, Path, PathPoint
from armature.motion.piecewise import Piecewise
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import Array

SHORTEST, LONGEST = 1e-6, 0.02  # steps in p
ON_PATH = 1e-20  # e·e
SURE = 0.05  # largest correction of a prediction, relative to the step, before the step is halved
SINGULAR = 1e-6  # σ_min/σ_max
BETWEEN = 1e-8  # m and rad: how far the hand may be off the path between knots
START_SLACK = 1e-6  # m and rad: how far a given start may be from the path's start


class PathStatus(enum.Enum):
    """How following a path ended."""

    FOLLOWED = "the joints follow the whole path"
    OUT_OF_WORKSPACE = "the path leaves what the arm can reach"
    SINGULAR = "the path runs into a singular configuration, from where the joints cannot follow it"
    OUT_OF_RANGE = "a joint reaches the end of its range"


@dataclass(frozen=True, eq=False)
class Followed:
    """The joints along a path, from its start to `place`.

    p: (N,).  q, dq, ddq: (N, n), derivatives with respect to p.  conditioning: (N,), smallest by
    largest singular value of the Jacobian.
    place: how far the joints get, 1 when they follow all of it.  joint: the one in the way, where
    there is one.
    message: the status in one sentence with its numbers.  others: what other branches do, those
    that get farthest first."""

    status: PathStatus
    p: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray
    conditioning: np.ndarray
    place: float
    joint: str | None
    message: str
    joint_names: tuple[str, ...] = ()
    others: tuple[Followed, ...] = ()

    @property
    def ok(self) -> bool:
        """True when the whole path is followed."""
        return self.status is PathStatus.FOLLOWED

    @property
    def path(self) -> JointPath:
        """The joints as a function of p; an ArgumentError that says why where they do not get to
        the end."""
        if not self.ok:
            raise ArgumentError(self.message)
        return JointPath(Piecewise.hermite(self.p, self.q, self.dq, self.ddq), self.joint_names)

    @property
    def travel(self) -> float:
        """∫ |q'| dp: how far the joints go in all."""
        return float(np.sum(np.linalg.norm(np.diff(self.q, axis=0), axis=1)))

    def __repr__(self) -> str:
        return f"<Followed: {self.message}>"


def follow(
    robot: Robot,
    path: Path,
    link: str,
    start: Numbers | None = None,
    *,
    seed: Numbers | None = None,
    home: Numbers | None = None,
    pull: float = 2.0,
    count: int = 101,
) -> Followed:
    """Inverse kinematics along a path of a link's frame, each branch continuous from its start.

    start: (nq,) the configuration at the start of the path; without it all branches of inverse
    kinematics are tried, and of those that follow the whole path the one nearest to `seed` (nq,) is
    taken, or that whose joints go least.
    home, pull: a redundant arm moves by least norm, or returns to `home` (nq,) by pull · (home − q)
    per unit of p.
    count: so many evenly spaced places of p, besides the path's own breaks.
    """
    check_count(count, "count")
    if path.corners:
        raise ArgumentError(
            f"the path has a corner at p = {path.corners[0]:.6g}, where the joints would have to"
            " stop; give a blend"
        )
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; following a path needs a fixed one"
        )
    r = reach(robot, link, path.rotation is None)
    begin = _goal(path, 0.0)
    if start is not None:
        starts = _given_start(r, begin, start)
        return _best(_track(r, path, starts, home, pull, count), None)
    found = inverse_kinematics(robot, _pose(begin), link, seed, most=16)
    if not found.ok:
        return _stuck(r, found.status, found.message, found.nearest)
    results = _track(r, path, found.solutions, home, pull, count)
    if not any(x.ok for x in results) and any(x.status is PathStatus.OUT_OF_RANGE for x in results):
        turned = inverse_kinematics(robot, _pose(begin), link, seed, turns=True, most=64)
        results = _track(r, path, turned.solutions, home, pull, count)
    return _best(results, seed)


def _goal(path: Path, p: float) -> Goal:
    at = path(p)
    return Goal(at.x, at.R)


def _pose(goal: Goal) -> Any:
    return goal.p if goal.R is None else (goal.R, goal.p)


def _given_start(r: Reach, begin: Goal, start: Any) -> np.ndarray:
    """The given configuration (1, nq), if the hand is there where the path starts."""
    q = configuration(r.robot, start, "the start")
    distance, angle = r.errors(q[r.axes], q, begin)
    if max(distance, angle) > START_SLACK:
        raise ArgumentError(
            f"at the given start link {r.link!r} is {distance:.6g} m and {angle:.6g} rad away from"
            " the path's start; give a configuration on it, or leave the start out to search"
            " for one"
        )
    return q[None]


def _stuck(r: Reach, status: PoseStatus, message: str, q: np.ndarray) -> Followed:
    """Not even the start of the path is reached; the nearest configuration stands alone."""
    kind = (
        PathStatus.OUT_OF_RANGE
        if status is PoseStatus.OUT_OF_RANGE
        else PathStatus.OUT_OF_WORKSPACE
    )
    still = np.zeros((1, r.robot.nv))
    text = f"{kind.value} at its start, p = 0: {message}"
    return Followed(
        kind, np.zeros(1), q[None], still, still, np.zeros(1), 0.0, None, text, r.robot.joint_names
    )


def _best(results: list[Followed], seed: Any) -> Followed:
    """Whole ones first; of those the nearest to the seed at the start, or the least travel; the
    others go along."""
    near = (
        (lambda f: float(np.linalg.norm(f.q[0] - np.asarray(seed))))
        if seed is not None
        else (lambda f: f.travel)
    )
    ordered = sorted(results, key=lambda f: (-round(f.place, 6), near(f)))
    best = ordered[0]
    return Followed(**{**best.__dict__, "others": tuple(ordered[1:])})


# the tracker -------------------------------------------------------------------------------------


class _Rates(NamedTuple):
    """q', q'' (B, a), conditioning (B,) and, of a square Jacobian, the sign of its determinant
    (B,)."""

    dq: np.ndarray
    ddq: np.ndarray
    conditioning: np.ndarray
    sign: np.ndarray


def _jacobian_and_rate(r: Reach) -> Kernel:
    """The kernel (x, rest, u) → J (c, a), dJ = Σ ∂J/∂x_k u_k (c, a); positions divided by the arm's
    length."""

    def plain(tree: Tree, x: Array, rest: Array, u: Array) -> tuple[Array, Array]:
        q = np.array(rest)
        for k, axis in enumerate(r.axes):
            q[axis] = x[k]
        J = kinematics.jacobian(tree, q, r.link, np.zeros(3))[:, r.rates]
        J = np.concatenate([J[:3] / r.length, J[3:]])[: r.conditions]
        rate = ca.jtimes(to_casadi(J.ravel()), to_casadi(x), to_casadi(u))
        return J, from_casadi_column(ca.densify(rate), J.shape)

    inputs = {"x": len(r.axes), "rest": r.robot.nq, "u": len(r.axes)}
    return kernels.kernel(
        r.robot, "jacobian_and_rate", plain, inputs, r.link, r.position_only, masses=False
    )


class _Tracker:
    """All branches along one path, step by step together: x (B, a), those that have ended kept
    aside."""

    def __init__(
        self,
        r: Reach,
        path: Path,
        grid: np.ndarray,
        rest: np.ndarray,
        home: np.ndarray | None,
        pull: float,
    ):
        self.r, self.path, self.rest, self.home, self.pull = r, path, rest, home, pull
        self.kernel = _jacobian_and_rate(r)
        points = path(grid)
        self.known = {
            float(p): PathPoint(*(v[k] for v in points if v is not None))
            for k, p in enumerate(grid)
        }

    def at(self, p: float | np.ndarray) -> PathPoint:
        """The path at p; at the grid's places it is known."""
        known = self.known.get(p) if isinstance(p, float) else None
        return known or self.path(p)

    def rates(self, x: np.ndarray, p: float | np.ndarray) -> _Rates:
        """(F1) and (F2) at configurations x (B, a) and one place p, or one for each (B,)."""
        at = self.at(p)
        scale = 1.0 / self.r.length
        d1, d2 = at.dx * scale, at.ddx * scale
        if at.w is not None and at.dw is not None:
            d1, d2 = np.concatenate([d1, at.w], axis=-1), np.concatenate([d2, at.dw], axis=-1)
        J, _ = self.kernel(x, self.rest, x)
        U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
        inverse = np.where(sigma > 1e-10 * sigma[:, :1], 1.0 / np.maximum(sigma, 1e-300), 0.0)
        pinv = np.einsum("bka,bk,bck->bac", Vt, inverse, U)
        z = np.zeros_like(x) if self.home is None else self.pull * (self.home - x)
        times = lambda A, v: np.einsum("b...k,bk->b...", A, v)
        w = times(pinv, d1 - times(J, z))
        dq = z + w
        y = times(pinv.transpose(0, 2, 1), w)
        dz = np.zeros_like(x) if self.home is None else -self.pull * dq
        _, dJ = self.kernel(x, self.rest, dq)
        dJy = times(dJ.transpose(0, 2, 1), y)
        rest = (
            d2
            - times(dJ, z)
            - times(J, dz)
            - times(dJ, times(J.transpose(0, 2, 1), y))
            - times(J, dJy)
        )
        ddq = dz + dJy + times(pinv, rest)
        square = J.shape[1] == J.shape[2]
        sign = np.sign(np.linalg.det(J)) if square else np.ones(len(x))
        return _Rates(dq, ddq, sigma[:, self.r.rank - 1] / sigma[:, 0], sign)

    def step(
        self, x: np.ndarray, old: _Rates, p: float, end: float
    ) -> tuple[np.ndarray, _Rates, np.ndarray]:
        """From p to `end`: where the branches are then, and which of them are sure."""
        h = end - p
        predicted = x + h * (old.dq + 0.5 * h * old.ddq)
        y, on_path = self.corrected(predicted, end)
        new = self.rates(y, end)
        if self.r.redundant:
            # within the freedom of the axes only the derivatives lead: Hermite's rule, then back
            # onto the path
            mean = x + h / 2 * (old.dq + new.dq) + h * h / 12 * (old.ddq - new.ddq)
            y, on_path = self.corrected(mean, end)
            new = self.rates(y, end)
        moved = np.abs(y - x).max(-1)
        sure = on_path & (np.abs(y - predicted).max(-1) <= SURE * moved + 1e-9)
        return y, new, sure & (new.sign == old.sign) & (new.conditioning > SINGULAR)

    def corrected(self, x: np.ndarray, p: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Brought onto the path by (R1), and whether that succeeded."""
        at = self.at(p)
        goal, cost = Goal(at.x, at.R), np.full(len(x), np.inf)
        for _ in range(8):
            step, cost, _, _ = self.r.evaluate(x, self.rest, goal)
            x = x + step
            if np.all(cost < ON_PATH):  # the step just taken still squares the error
                break
        return x, cost < ON_PATH

    def beyond(self, x: np.ndarray) -> np.ndarray:
        """How far each axis is out of range (B, a), negative inside."""
        return np.maximum(np.maximum(self.r.lower - x, x - self.r.upper), -1e9) - 1e-9

    def crossing(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which branches are within all ranges at y, and for the others at which part of the way
        from x to y they left them."""
        before, after = self.beyond(x), self.beyond(y)
        left = after > 0.0
        part = np.where(
            left,
            np.maximum(0.0, -before) / np.where(left, np.maximum(after - before, 1e-12), 1.0),
            1.0,
        )
        return ~np.any(left, axis=-1), np.min(part, axis=-1)


def _track(
    r: Reach, path: Path, starts: np.ndarray, home: Any, pull: float, count: int
) -> list[Followed]:
    """Follow the path from all starts (B, nq) at once."""
    rest = starts[0]
    aim = None if home is None or not r.redundant else configuration(r.robot, home, "home")[r.axes]
    grid = np.union1d(np.linspace(0.0, 1.0, max(2, count)), path.breaks)
    grid = grid[np.concatenate([[True], np.diff(grid) > 1e-9])]
    tracker = _Tracker(r, path, grid, rest, aim, pull)
    x, _ = tracker.corrected(np.ascontiguousarray(starts[:, r.axes]), 0.0)
    rates, alive = tracker.rates(x, 0.0), np.arange(len(x))
    records: list[list[tuple]] = [
        [(0.0, x[b], rates.dq[b], rates.ddq[b], rates.conditioning[b])] for b in alive
    ]
    ended: dict[int, tuple[float, np.ndarray]] = {}
    p, h, k = 0.0, LONGEST / 4, 1
    while k < len(grid) and len(alive):
        take = min(h, grid[k] - p)
        end = float(grid[k]) if grid[k] - p - take < SHORTEST else p + take
        y, new, sure = tracker.step(x, rates, p, end)
        if not sure.all() and take > SHORTEST:
            h = take / 2
            continue
        inside, crossing = tracker.crossing(x, y)
        for b in np.flatnonzero(~(sure & inside)):
            ended[int(alive[b])] = (p if inside[b] else p + crossing[b] * (end - p)), y[b]
        keep = np.flatnonzero(sure & inside)
        alive, x, rates, p = alive[keep], y[keep], _Rates(*(v[keep] for v in new)), end
        for i, b in enumerate(alive):
            records[b].append((p, x[i], rates.dq[i], rates.ddq[i], rates.conditioning[i]))
        k += end == grid[k]
        h = min(LONGEST, 1.5 * h)
    return [_answer(tracker, record, ended.get(b)) for b, record in enumerate(records)]


def _answer(
    tracker: _Tracker, record: list[tuple], end: tuple[float, np.ndarray] | None
) -> Followed:
    r = tracker.r
    p, x, dq, ddq, conditioning = _dense(tracker, *(np.array(column) for column in zip(*record)))
    spread = lambda v: _spread(v, r.rates, r.robot.nv)
    arrays = p, r.full(x, tracker.rest), spread(dq), spread(ddq), conditioning
    names = r.robot.joint_names
    if end is None:
        message = f"{PathStatus.FOLLOWED.value}, conditioning at least {conditioning.min():.3g}"
        return Followed(PathStatus.FOLLOWED, *arrays, 1.0, None, message, names)
    status, joint, text = _reason(tracker, *end, float(conditioning[-1]))
    return Followed(
        status, *arrays, end[0], joint, f"{status.value} at p = {end[0]:.6g}: {text}", names
    )


def _dense(tracker: _Tracker, p: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """More knots where the polynomial between two leaves the path: p (N,), x, q', q'' (N, a),
    conditioning (N,)."""
    for _ in range(8 if len(p) > 1 else 0):
        curve, half = Piecewise.hermite(p, *columns[:3]), (p[1:] + p[:-1]) / 2
        inner = p[:-1, None] + np.diff(p)[:, None] * np.array([0.25, 0.5, 0.75])
        at = tracker.path(inner)
        far = (
            np.max(
                np.maximum(*tracker.r.errors(curve(inner, 0)[0], tracker.rest, Goal(at.x, at.R))),
                axis=1,
            )
            > BETWEEN
        )
        if not far.any():
            break
        x, on_path = tracker.corrected(curve(half[far], 0)[0], half[far])
        rates = tracker.rates(x, half[far])
        more = half[far], x, rates.dq, rates.ddq, rates.conditioning
        new = [np.concatenate([old, extra[on_path]]) for old, extra in zip((p, *columns), more)]
        order = np.argsort(new[0], kind="stable")
        p, columns = new[0][order], tuple(column[order] for column in new[1:])
        if not on_path.any():
            break
    return (p, *columns)


def _spread(v: np.ndarray, rates: np.ndarray, n: int) -> np.ndarray:
    full = np.zeros((len(v), n))
    full[:, rates] = v
    return full


def _reason(
    tracker: _Tracker, p: float, y: np.ndarray, conditioning: float
) -> tuple[PathStatus, str | None, str]:
    """Why a branch ends at p, where its next configuration would be y (a,)."""
    r = tracker.r
    out = tracker.beyond(y)
    if out.max() > 0.0:
        k = int(np.argmax(out))
        name = r.robot.joint_names[r.rates[k]]
        text = f"joint {name!r} would leave its range, {r.lower[k]:.6g} to {r.upper[k]:.6g}"
        return PathStatus.OUT_OF_RANGE, name, text + "; start in another branch, or move the path"
    ahead = min(1.0, p + 1e-4)
    found = inverse_kinematics(
        r.robot, _pose(_goal(tracker.path, ahead)), r.link, r.full(y, tracker.rest)
    )
    where = np.array2string(tracker.path(p).x, precision=4, separator=", ")
    if found.status is PoseStatus.UNREACHABLE:
        text = (
            f"at {where} m; {found.distance:.3g} m are missing at p = {ahead:.6g}; move the path"
            " nearer"
        )
        return PathStatus.OUT_OF_WORKSPACE, None, text
    text = (
        f"the Jacobian's conditioning falls to {conditioning:.2g} at {where} m; move the path"
        " aside, or start in another branch"
    )
    return PathStatus.SINGULAR, None, text
