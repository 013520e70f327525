"""Laws with a corner (sign, absolute value, maximum), exact and smooth, and how far the smooth ones
may be off.

With a width w > 0, s(x) = x/√(x² + w²) stands for sign x. Then, for every x,
- |x s(x) − |x|| ≤ 0.3003 w: the error of a *power* when a friction or a gear's direction is
  smoothed (φ^(−5/2), φ the golden ratio),
- |s(x) − sign x| ≤ w²/(2x²): away from the corner the law itself is as good as exact,
- 0 ≤ √(x² + w²) − |x| ≤ w and 0 ≤ ramp(x) − max(0, x) ≤ w/2, both convex and never below the truth:
  an optimiser cannot draw profit from them.
Width 0 gives the exact law. All functions work on floats, complex numbers (complex step), arrays
and symbols; widths may be symbols too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.spatial.numbers import Number, is_symbol, sign, sqrt

SIGN_POWER_ERROR = ((1 + 5**0.5) / 2) ** -2.5  # max over x of |x|(1 − |s(x)|) at width 1: 0.30028…

NEWTON_STEPS = 4


@dataclass(frozen=True)
class Smooth:
    """How wide the corners are rounded; zeros leave every law exact.

    power: W, for the direction of power in gears and amplifiers and for max(0, P).  velocity: rad/s
    or m/s, for dry friction.
    torque: N·m or N, for the magnitude of the torque carried in gears and load friction; with it,
    drives blend the laws of both directions of motion (`Drive.flow`), and `power` serves amplifiers
    and supplies only.
    blend: the rounded direction itself, −1 … 1, where it does not follow from the velocity at the
    instant; None where it does.
    table: fraction of a cell, for efficiency tables.
    direction: ±1 where it is known which way the axis moves or is about to (then dry friction and
    gears have no corner at standstill), 0 where it is not.
    """

    power: float = 0.0
    velocity: float = 0.0
    table: float = 0.0
    direction: Number = 0.0
    torque: Number = 0.0
    blend: Number | None = None

    def sense(self, velocity: Number) -> Number:
        """The velocity that decides which way friction acts: a known direction stands for 1 rad/s
        or m/s."""
        m = self.direction
        return m + (1 - m * m) * velocity if rounded(m) else velocity

    def side(self, velocity: Number, scale: float = 1.0) -> Number:
        """Which way an axis moves: its direction where that is known, else the rounded sign of
        `velocity` (in units of `scale`)."""
        if self.blend is not None:
            return self.blend
        m = self.direction
        free = side(velocity, self.velocity * scale)
        return m + (1 - m * m) * free if rounded(m) else free


EXACT = Smooth()


def rounded(width: Number) -> bool:
    """Whether a corner is rounded: its width is not zero, or a symbol."""
    return is_symbol(width) or bool(width)


def side(x: Number, width: float = 0.0) -> Number:
    """Sign of x: −1, 0 or 1; with a width, x/√(x² + width²)."""
    if rounded(width):
        return x / sqrt(x * x + width * width)
    return sign(x) if is_symbol(x) else np.sign(np.real(x))


def magnitude(x: Number, width: float = 0.0) -> Number:
    """|x|; with a width, √(x² + width²) ≥ |x|, at most `width` above."""
    return sqrt(x * x + width * width) if rounded(width) else x * side(x)


def ramp(x: Number, width: float = 0.0) -> Number:
    """max(0, x); with a width, convex and at most width/2 above."""
    return (x + magnitude(x, width)) / 2


def fraction(x: Number, start: float, end: float, width: float = 0.0) -> Number:
    """How far x has come from start to end, 0 before and 1 after; `width` is relative to the
    distance, the error at most width/2."""
    h = end - start
    return (ramp(x - start, width * h) - ramp(x - end, width * h)) / h


def by_direction(
    power: Number, forward: float | Number, backward: float | Number, width: float = 0.0
) -> Number:
    """The factor `forward` where power flows forward, `backward` where it flows back or stands
    still.

    With a width it passes smoothly from one to the other and stays between them; the error of
    factor × power is at most 0.3003 · width · |forward − backward|/2.
    """
    s = side(power, width) if rounded(width) else 2 * _forward(power) - 1
    return (forward + backward) / 2 + (forward - backward) / 2 * s


def undo_direction(
    y: Number,
    velocity: Number,
    forward: float | Number,
    backward: float | Number,
    width: float = 0.0,
) -> Number:
    """The x with x · by_direction(x · velocity, forward, backward, width) = y; both factors > 0.

    Smooth: Newton's method from the exact law's answer; x ↦ y is monotone while backward/forward >
    0.043."""
    x = y / by_direction(y * velocity, forward, backward, width)
    if not rounded(width):
        return x
    mean, half = (forward + backward) / 2, (forward - backward) / 2
    for _ in range(NEWTON_STEPS):
        p = x * velocity
        s = side(p, width)
        slope = mean + half * (s + p * (width * width) / (p * p + width * width) ** 1.5)
        x = x - (x * (mean + half * s) - y) / slope
    return x


def _forward(x: Number) -> Number:
    """1 where x > 0, else 0."""
    return (x > 0) if is_symbol(x) else np.where(np.real(x) > 0, 1.0, 0.0)[()]
