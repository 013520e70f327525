"""A motion cut where the laws of its drives jump: at knots, where velocities change their sign, and
where dry friction peaks.

Within such a piece the joint velocities keep their signs, so that torques, currents and powers are
continuous; each end of a piece is evaluated by the law of its own side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armature.motion.polynomials import coefficients, derivative, extremes, joint_roots, value
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot

# of a step: how far inside its piece an end is evaluated; joints know their direction, coupled axes
# do not
ASIDE = 1e-9

# of a step: a joint that turns nearer to a knot than this turns there; rounding decides no
# direction
SHORT = 1e-6


class Points(NamedTuple):
    """P instants of a motion. step: (P,) between which knots.  x: (P,) where in the step, 0 to 1.
    t: (P,) s, an end of a piece told just inside it.
    piece: (P,) numbers of the pieces; neighbours of one piece bound a cell.  q, v, a: (P, n).
    direction: (P, n) which way each joint moves in the piece, −1, 0 or 1."""

    step: np.ndarray
    x: np.ndarray
    t: np.ndarray
    piece: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    direction: np.ndarray

    @property
    def cells(self) -> np.ndarray:
        """(P − 1,) whether a point and the next one bound a cell."""
        return self.piece[1:] == self.piece[:-1]


@dataclass(frozen=True, eq=False)
class Pieces:
    """The polynomials of a motion with the places where its drives' laws jump.

    motion: of n joints that have one coordinate each.  matrix: (m, n) velocities of the axes by
    those of the joints.
    peaks: (n,) velocities at which the joints' dry friction is largest, 0 where that is at
    standstill."""

    motion: Trajectory
    matrix: np.ndarray
    peaks: np.ndarray

    @cached_property
    def position(self) -> np.ndarray:
        """(N, degree + 1, n) coefficients of q in every step."""
        return coefficients(self.motion)

    @cached_property
    def speed(self) -> np.ndarray:
        """(N, degree, n) coefficients of v · h."""
        return derivative(self.position)

    @cached_property
    def turns(self) -> list[np.ndarray]:
        """(N, m, n) for each order k: where in its steps the derivative of a joint's k-th
        derivative is zero; NaN where there are fewer
        such places. turns[0]: where joints turn."""
        return [*joint_roots(self.speed), *[np.full((len(self.h), 0, self.motion.n), np.nan)] * 6]

    @cached_property
    def h(self) -> np.ndarray:
        """(N,) durations of the steps, s."""
        return np.diff(self.motion.t)

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """(steps, x) of all places inside steps at which a law jumps or peaks, in the order of
        time."""
        found = [self.turns[0]]
        coupled = self.matrix[np.count_nonzero(self.matrix, axis=1) > 1]
        if len(coupled):
            found.append(joint_roots(self.speed @ coupled.T)[0])
        j = np.flatnonzero(self.peaks)
        for side in (1.0, -1.0) if len(j) else ():
            shifted = self.speed[:, :, j].copy()
            shifted[:, 0] -= side * self.peaks[j] * self.h[:, None]
            found.append(joint_roots(shifted)[0])
        x = np.concatenate([f.reshape(len(self.h), -1) for f in found], axis=1)
        step, column = np.nonzero(~np.isnan(x))
        order = np.lexsort((x[step, column], step))
        return step[order], x[step, column][order]

    def rates(self, order: int) -> np.ndarray:
        """(order + 1, N, n) exact maxima of |q|, |v|, |a|, … in every step."""
        c, found = self.position, []
        for k in range(order + 1):
            found.append(np.abs(extremes(c, self.turns[k])[1]).max(1) / self.h[:, None] ** k)
            c = derivative(c)
        return np.array(found)

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(step, x at the beginning, x at the end) of every piece, in the order of time."""
        at, x = self.places
        step = np.concatenate([np.arange(len(self.h)), at])
        begin = np.concatenate([np.zeros(len(self.h)), x])
        order = np.lexsort((begin, step))
        step, begin = step[order], begin[order]
        end = np.where(np.append(step[1:] == step[:-1], False), np.append(begin[1:], 1.0), 1.0)
        lasting = end > begin + SHORT
        return step[lasting], begin[lasting], end[lasting]

    def points(self, finer: int) -> Points:
        """Both ends of every piece and `finer` − 1 places inside every step."""
        step, begin, end = self.edges()
        inner = np.tile(np.arange(1, finer) / finer, len(self.h))
        at = np.repeat(np.arange(len(self.h)), finer - 1)
        piece = np.searchsorted(step + begin, at + inner, side="right") - 1
        numbers = np.arange(len(step))
        order = np.lexsort(
            (np.concatenate([begin, inner, end]), np.concatenate([numbers, piece, numbers]))
        )
        piece = np.concatenate([numbers, piece, numbers])[order]
        x = np.concatenate([begin, inner, end])[order]
        return self.at(step[piece], x, piece, (begin + end)[piece] / 2)

    def at(self, step: np.ndarray, x: np.ndarray, piece: np.ndarray, middle: np.ndarray) -> Points:
        """The motion at places x (P,) of steps (P,). middle: (P,) a place inside the piece, whose
        velocities give the directions."""
        inside = x + np.clip(middle - x, -ASIDE, ASIDE)
        c, h = self.position[step], self.h[step][:, None]
        speed = derivative(c)
        q, v = value(c, inside[:, None]), value(speed, inside[:, None]) / h
        a = value(derivative(speed), inside[:, None]) / h**2
        direction = np.sign(value(speed, middle[:, None]))
        return Points(step, x, self.motion.t[step] + inside * h[:, 0], piece, q, v, a, direction)


def pieces(robot: Robot, motion: Trajectory) -> Pieces:
    """The pieces of a motion of a robot whose coordinates are those of its joints."""
    train = robot.drivetrain
    own = dict.fromkeys(range(robot.n), 0.0)
    for j, friction in enumerate(train.frictions):
        own[j] = friction.peak_velocity
    for drive, row in zip(train.drives, train.matrix):
        j = int(np.argmax(np.abs(row)))
        own[j] = max(own[j], drive.friction.peak_velocity / abs(row[j]))
    matrix = np.array(train.matrix, dtype=float).reshape(-1, robot.n)
    return Pieces(motion, matrix, np.array([own[j] for j in range(robot.n)]))
