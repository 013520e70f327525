"""Do the columns of a recording fit the robot? Order, signs and units, checked against motion,
friction and gravity.

Speeds must be the derivatives of positions; friction must take power; and torque must contain what
the description says of gravity and inertia. Only what is beyond doubt is refused: descriptions may
be wrong themselves."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.identify.recording import STILL, Recording
from armature.identify.signals import grids
from armature.robot.model import Robot

SAMPLES = 600  # rows that are compared
ALIKE = 0.9  # correlation of speeds with derivatives of positions
APART = 0.5  # below this they are something else
TOLERANCE = 0.05  # of a factor 180/π
MATTERS = 0.7  # a term matters where it brings the residual's variance below this part
REVERSED = -0.2  # measured over described torque
DECISIVE = 1.5  # e-folds of variance by which another order must explain the torques better
ANOTHER_UNIT = 30.0  # measured over described torque: no description is wrong by that
DEGREES = 180.0 / np.pi


@dataclass(frozen=True, eq=False)
class Signals:
    """q, v, a, y: (N, n) of recordings, filtered; y: measured torque, N·m."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    y: np.ndarray

    def ordered(self, order: list[int]) -> Signals:
        """With the joints in another order."""
        return Signals(*(x[:, order] for x in (self.q, self.v, self.a, self.y)))

    def reversed(self, joint: int) -> Signals:
        """With the other positive direction of a joint."""
        sign = np.where(np.arange(self.q.shape[1]) == joint, -1.0, 1.0)
        return Signals(*(x * sign for x in (self.q, self.v, self.a, self.y)))


def agreement(robot: Robot, recordings: list[Recording], gains: np.ndarray, cutoff: float) -> str:
    """One sentence on order, signs and units; an ArgumentError where they are wrong beyond
    doubt."""
    for recording in recordings:
        _check_speeds(robot, recording)
    found = _signals(recordings, gains, cutoff)
    name = recordings[0].name if len(recordings) == 1 else "the recordings"
    _check_order(robot, found, name)
    fits = [Fit.of(found, _described(robot, found), j, j) for j in range(robot.n)]
    _check_signs(robot, fits, name)
    told = [k for k, fit in enumerate(fits) if fit.matters]
    rest = [robot.joint_names[k] for k in range(robot.n) if k not in told]
    still = [
        joint
        for k, joint in enumerate(robot.joint_names)
        if max(np.ptp(r.q[:, k]) / r.duration for r in recordings) <= STILL
    ]
    at_rest = (
        f"; {', '.join(still)} never moves: nothing is learnt of its friction" if still else ""
    )
    _check_unit([fits[k].ratio for k in told], name)
    if not told:
        return at_rest.removeprefix("; ") or (
            "order, signs and units: the description says too little of the torques to compare them"
        )
    ratios = ", ".join(f"{robot.joint_names[k]} {fits[k].ratio:.2f}" for k in told)
    none = f"; nothing to compare at {', '.join(rest)}" if rest else ""
    odd = [f for f in (fits[k].ratio for k in told) if not 1 / 3 < f < 3]
    doubt = (
        " (far from 1: check the unit of the torques or the gains, or the masses)" if odd else ""
    )
    return f"order and signs agree; measured over described torque: {ratios}{doubt}{none}{at_rest}"


def _check_unit(ratios: list[float], name: str) -> None:
    """All torques far too large or too small: another unit, or wrong gains."""
    middle = float(np.median(np.abs(ratios))) if ratios else 1.0
    if not 1 / ANOTHER_UNIT < middle < ANOTHER_UNIT:
        raise ArgumentError(
            f"{name}: the measured torques are {middle:.3g} times the described ones; check their"
            " unit (A, not mA; N·m), the gains (N·m/A) and the ratios"
        )


# speeds against positions ------------------------------------------------------------------------


def _check_speeds(robot: Robot, recording: Recording) -> None:
    """Recorded speeds are derivatives of the positions of the same joint, in the same unit."""
    if recording.v is None:
        return
    t, first = np.unique(recording.t, return_index=True)
    rates = np.gradient(recording.q[first], t, axis=0)
    v = recording.v[first]
    moving = [k for k in range(robot.n) if np.ptp(recording.q[:, k]) > 0.02 and np.any(v[:, k])]
    alike = np.array([[_cosine(v[:, k], rates[:, j]) for j in moving] for k in moving])
    for i, k in enumerate(moving):
        joint = robot.joint_names[k]
        if alike[i, i] < -ALIKE:
            raise ArgumentError(
                f"{recording.name}: the speeds of joint {joint!r} have the sign opposite to its"
                " positions; reverse one of the two columns"
            )
        other = int(np.argmax(alike[i]))
        if alike[i, i] < APART and alike[i, other] > ALIKE:
            raise ArgumentError(
                f"{recording.name}: the speeds of joint {joint!r} are those of joint "
                f"{robot.joint_names[moving[other]]!r}; correct the order of the columns"
            )
        slope = float(v[:, k] @ rates[:, k] / (rates[:, k] @ rates[:, k]))
        for factor, words in (
            (DEGREES, "speeds are in degrees"),
            (1 / DEGREES, "positions are in degrees"),
        ):
            if alike[i, i] > ALIKE and abs(slope / factor - 1) < TOLERANCE:
                raise ArgumentError(
                    f"{recording.name}: joint {joint!r}: its {words}, the others in rad; give both"
                    " in rad"
                )


def _cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y / max(np.linalg.norm(x) * np.linalg.norm(y), 1e-12))


# torques against the description -----------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """A measured torque explained by a joint's described torque and friction.

    residual: variance left, of the measured.  ratio: measured over described.  matters: the
    described torque explains something.
    takes: friction takes power.  dissipates: whether friction explains something.
    """

    residual: float
    ratio: float
    matters: bool
    takes: bool
    dissipates: bool

    @staticmethod
    def of(found: Signals, described: np.ndarray, signal: int, joint: int) -> Fit:
        """Signal of one column by the features of a joint."""
        v, a = found.v[:, joint], found.a[:, joint]
        width = max(0.02 * float(np.sqrt(np.mean(v**2))), 1e-6)
        rigid, drag = [described[:, joint], a], [v, np.tanh(v / width)]
        y = found.y[:, signal] - found.y[:, signal].mean()
        left, x = _left(y, [*rigid, *drag])
        without_rigid, _ = _left(y, [a, *drag])
        without_drag, _ = _left(y, rigid)
        power = float(np.mean((x[2] * v + x[3] * np.tanh(v / width)) * v))
        return Fit(
            left,
            float(x[0]),
            left < MATTERS * without_rigid,
            power >= 0,
            left < MATTERS * without_drag,
        )


def _left(y: np.ndarray, columns: list[np.ndarray]) -> tuple[float, np.ndarray]:
    """The part of y's variance that the columns leave, and their coefficients."""
    A = np.column_stack(columns)
    A = A - A.mean(axis=0)
    x, *_ = np.linalg.lstsq(A, y, rcond=1e-9)
    return max(float(np.sum((y - A @ x) ** 2) / max(y @ y, 1e-300)), 1e-6), x


def _signals(recordings: list[Recording], gains: np.ndarray, cutoff: float) -> Signals:
    pieces = [grid for r in recordings for grid in grids(r, cutoff)]
    rows = [
        np.concatenate([grid.q, grid.v, grid.a, grid.filtered(grid.measured) * gains], axis=1)[
            grid.inner
        ]
        for grid in pieces
    ]
    table = np.concatenate(rows)
    pick = np.linspace(0, len(table) - 1, min(SAMPLES, len(table))).astype(int)
    return Signals(*np.split(table[pick], 4, axis=1))


def _described(robot: Robot, found: Signals) -> np.ndarray:
    return inverse_dynamics(_rotorless(robot), found.q, found.v, found.a)


def _rotorless(robot: Robot) -> Robot:
    joints = tuple(replace(j, rotor=None) for j in robot.joints)
    return replace(robot, joints=joints, drives=())


def _check_order(robot: Robot, found: Signals, name: str) -> None:
    """Torques in another order than positions, or all columns in another order than the robot's
    joints."""
    described = _described(robot, found)
    n = robot.n
    costs = np.log([[Fit.of(found, described, k, j).residual for j in range(n)] for k in range(n)])
    rows, joints = linear_sum_assignment(costs)
    gain = np.trace(costs) - costs[rows, joints].sum()
    moved = [int(k) for k in rows if joints[k] != k]
    if moved and gain > DECISIVE * len(moved) / 2:
        pairs = ", ".join(
            f"{robot.joint_names[k]} holds that of {robot.joint_names[joints[k]]}" for k in moved
        )
        raise ArgumentError(
            f"{name}: the torques or currents stand in another order than the positions: column"
            f" {pairs}; correct the order of the columns"
        )
    own = float(np.trace(costs))
    trials = [_swapped(n, i, j) for i, j in itertools.combinations(range(n), 2)] + [
        list(range(n))[::-1]
    ]
    gains = [own - _misfit(robot, found.ordered(trial)) for trial in trials]
    if max(gains, default=0.0) > 2 * DECISIVE:
        names = ", ".join(robot.joint_names[k] for k in trials[int(np.argmax(gains))])
        raise ArgumentError(
            f"{name}: the joints' columns seem to stand in another order: as {names} they fit the"
            " description far better; correct the order of the columns"
        )
    gains = [own - _misfit(robot, found.reversed(j)) for j in range(n)]
    if max(gains) > 2 * DECISIVE:
        raise ArgumentError(
            f"{name}: the positive direction of joint {robot.joint_names[int(np.argmax(gains))]!r}"
            " seems not to be the description's: reversed it fits far better; reverse its position"
            " and torque, or correct the axis"
        )


def _misfit(robot: Robot, found: Signals) -> float:
    """Σ log of the variance that description and friction leave of the torques."""
    described = _described(robot, found)
    return float(sum(np.log(Fit.of(found, described, j, j).residual) for j in range(robot.n)))


def _swapped(n: int, i: int, j: int) -> list[int]:
    order = list(range(n))
    order[i], order[j] = j, i
    return order


def _check_signs(robot: Robot, fits: list[Fit], name: str) -> None:
    for joint, fit in zip(robot.joint_names, fits):
        agrees = fit.matters and fit.ratio > 0  # a reversed column would be so here too
        if fit.dissipates and not fit.takes and not agrees:
            raise ArgumentError(
                f"{name}: at joint {joint!r} friction would give power: the sign of its torque or"
                " current is opposite to that of its motion; reverse the column"
            )
        if fit.matters and fit.ratio < REVERSED:
            raise ArgumentError(
                f"{name}: at joint {joint!r} the measured torque is {fit.ratio:.2f} times the"
                " described one: the joint's positive direction is not the description's; reverse"
                " its position and torque, or correct the axis"
            )
