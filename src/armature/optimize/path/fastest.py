"""Least time along a path where all limits are straight in (p̈, ṗ²): two sweeps over the phase
plane, exact on the grid.

With a = p̈ and b = ṗ² every limit of joint velocity, acceleration, torque (with dry friction) and
motor current is a row
    (F1)  α a + β b ≤ γ,      taken at the start of a step with b and at its end with b + 2Δp a.
Backwards: the interval of b from which the rest can be run, a eliminated by pairs of rows (Fourier
and Motzkin); forwards: the largest a. What is not straight (voltage under back-EMF, viscous
friction, gear efficiency, heat) is for the dynamic programme and the interior solver; for them this
is where to look."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from armature.kernel.keep import compiled_loop
from armature.optimize.path.path_step import PathStep
from armature.optimize.path.phase_plane import Steps

Array = np.ndarray


class Rows(NamedTuple):
    """(F1) at both ends of N steps: alpha, beta, gamma (N, 2, R); names R."""

    alpha: Array
    beta: Array
    gamma: Array
    names: tuple[str, ...]

    def chosen(self, wanted: Callable[[str], bool]) -> Rows:
        """The rows with such names only."""
        keep = [k for k, name in enumerate(self.names) if wanted(name)]
        alpha, beta, gamma = (
            np.ascontiguousarray(x[..., keep]) for x in (self.alpha, self.beta, self.gamma)
        )
        return Rows(alpha, beta, gamma, tuple(self.names[k] for k in keep))


class Fastest(NamedTuple):
    """s: (N+1,) speeds of the fastest profile, 1/s.  top: (N+1,) highest speed at each knot from
    which the rest can be run.

    blocked: the step where nothing can be run, −1 if there is none."""

    s: Array
    top: Array
    blocked: int


def straight_rows(step: PathStep, steps: Steps, margin: float = 1.0) -> Rows:
    """The limits that are straight in (p̈, ṗ²); margin: factor on the bounds (> 1 to look beyond
    them)."""
    robot, limits, names = step.at.robot, step.at.limits, step.at.robot.joint_names
    m, c, e, d1, d2, _ = np.moveaxis(steps.G[:, [0, 2]], 2, 0)  # (N, 2, n) each
    sides = steps.sides[:, None, :]
    found: list[tuple[Array, Array, Array, str]] = []

    def both(alpha: Array, beta: Array, offset: Array, bound: float, name: str) -> None:
        found.append((alpha, beta, margin * bound - offset, name))
        found.append((-alpha, -beta, margin * bound + offset, name))

    zero = np.zeros(m.shape[:2])
    train = robot.drivetrain
    for j, name in enumerate(names):
        inside = sum(
            abs(row[j]) * drive.friction.coulomb
            for row, drive in zip(train.matrix, train.drives)
            if np.count_nonzero(row) == 1
        )
        drag = (train.frictions[j].coulomb + inside) * sides[..., j]
        speed = _speed_limit(step, j)
        if np.isfinite(speed):
            found.append(
                (
                    zero,
                    d1[..., j] ** 2,
                    np.full_like(zero, (margin * speed) ** 2),
                    f"velocity of {name}",
                )
            )
        if np.isfinite(limits.acceleration[j]):
            both(d1[..., j], d2[..., j], zero, limits.acceleration[j], f"acceleration of {name}")
        if np.isfinite(limits.torque[j]):
            both(m[..., j], c[..., j], e[..., j] + drag, limits.torque[j], f"torque of {name}")
    drag = np.array([f.coulomb for f in robot.drivetrain.frictions]) * sides
    for row, drive, name in zip(
        robot.drivetrain.share, robot.drivetrain.drives, robot.drivetrain.axis_names
    ):
        current = min(
            drive.motor.peak_current,
            drive.amplifier.peak_current,
            np.sqrt(drive.motor.peak_heat / drive.motor.resistance),
        )
        if np.isfinite(current):
            K = abs(drive.constant) * (
                1.0 if margin == 1.0 else np.min(drive.gear.factors(1.0, 0.0)[0])
            )
            both(m @ row, c @ row, (e + drag) @ np.array(row), K * current, f"current of {name}")
    alpha, beta, gamma = (
        np.stack([row[k] for row in found], axis=-1) if found else np.zeros((steps.N, 2, 0))
        for k in range(3)
    )
    return Rows(alpha, beta, gamma, tuple(row[3] for row in found)).chosen(lambda name: True)


def _speed_limit(step: PathStep, j: int) -> float:
    """The joint's velocity limit, or what motor and voltage allow at best: |ω| ≤ (V + R i)/K."""
    train, best = step.at.robot.drivetrain, float(step.at.limits.velocity[j])
    for row, drive in zip(train.matrix, train.drives):
        if row[j] == 1.0 and sum(x != 0.0 for x in row) == 1:
            current = min(drive.motor.peak_current, drive.amplifier.peak_current)
            fast = min(drive.motor.maximum_speed, drive.gear.maximum_speed) / abs(drive.gear.ratio)
            volts = drive.amplifier.voltage + drive.motor.resistance * current
            best = min(
                best,
                fast,
                volts / (drive.motor.k_e * abs(drive.gear.ratio)) if np.isfinite(volts) else np.inf,
            )
    return best


@compiled_loop(nogil=True)
def _interval(alpha, beta, gamma, low, high):
    """The interval of b, within (low, high), for which some a meets all rows: pairs of rows of
    opposite sign, a eliminated."""
    R = alpha.shape[0]
    for i in range(R):
        if abs(alpha[i]) <= 1e-14:
            if beta[i] > 1e-14:
                high = min(high, gamma[i] / beta[i])
            elif beta[i] < -1e-14:
                low = max(low, gamma[i] / beta[i])
            elif gamma[i] < -1e-9:
                return 1.0, 0.0
            continue
        if alpha[i] < 0.0:
            continue
        for j in range(R):
            if alpha[j] < -1e-14:
                # a ≤ (γ_i − β_i b)/α_i and a ≥ (γ_j − β_j b)/α_j
                slope = beta[i] / alpha[i] - beta[j] / alpha[j]
                room = gamma[i] / alpha[i] - gamma[j] / alpha[j]
                if slope > 1e-14:
                    high = min(high, room / slope)
                elif slope < -1e-14:
                    low = max(low, room / slope)
                elif room < -1e-9:
                    return 1.0, 0.0
    return low, high


@compiled_loop(nogil=True)
def _sweeps(alpha, beta, gamma, lengths, least, most, b, top, floor):
    """Backwards the intervals [floor, top] of b at every knot, forwards the fastest b; returns the
    step that is blocked, or −1."""
    N, R = lengths.shape[0], alpha.shape[2]
    A, B, C = np.empty(2 * R + 2), np.empty(2 * R + 2), np.empty(2 * R + 2)
    floor[N], top[N] = least[N], most[N]
    for k in range(N - 1, -1, -1):
        _rows_of(alpha[k], beta[k], gamma[k], lengths[k], floor[k + 1], top[k + 1], A, B, C)
        low, high = _interval(A, B, C, least[k], most[k])
        if low > high + 1e-12:
            return k
        floor[k], top[k] = min(low, high), high
    b[0] = top[0]
    for k in range(N):
        _rows_of(alpha[k], beta[k], gamma[k], lengths[k], floor[k + 1], top[k + 1], A, B, C)
        a, lowest = np.inf, -np.inf
        for i in range(A.shape[0]):
            if A[i] > 1e-14:
                a = min(a, (C[i] - B[i] * b[k]) / A[i])
            elif A[i] < -1e-14:
                lowest = max(lowest, (C[i] - B[i] * b[k]) / A[i])
        if a < lowest - 1e-6 * (1.0 + abs(lowest)):
            return k
        b[k + 1] = max(0.0, min(b[k] + 2 * lengths[k] * a, top[k + 1]))
    return -1


@compiled_loop(nogil=True)
def _rows_of(alpha, beta, gamma, length, floor, top, A, B, C):
    """(F1) at the start and at the end of a step, and b + 2Δp a between floor and top, as rows of
    (a, b)."""
    R = alpha.shape[1]
    for i in range(R):
        A[i], B[i], C[i] = alpha[0, i], beta[0, i], gamma[0, i]
        A[R + i], B[R + i], C[R + i] = (
            alpha[1, i] + 2 * length * beta[1, i],
            beta[1, i],
            gamma[1, i],
        )
    A[2 * R], B[2 * R], C[2 * R] = 2 * length, 1.0, top
    A[2 * R + 1], B[2 * R + 1], C[2 * R + 1] = -2 * length, -1.0, -floor


def fastest(steps: Steps, rows: Rows, cap: float = 1e6) -> Fastest:
    """The fastest profile within straight rows. cap: highest speed ṗ looked at, 1/s."""
    N = steps.N
    least, most = np.zeros(N + 1), np.full(N + 1, cap**2)
    most[steps.stops] = 0.0
    least[0] = most[0] = steps.ends[0] ** 2
    least[N] = most[N] = steps.ends[1] ** 2
    b, top, floor = np.zeros(N + 1), np.zeros(N + 1), np.zeros(N + 1)
    blocked = _sweeps(
        rows.alpha,
        rows.beta,
        rows.gamma,
        np.ascontiguousarray(steps.lengths),
        least,
        most,
        b,
        top,
        floor,
    )
    return Fastest(np.sqrt(b), np.sqrt(top), int(blocked))


def duration_of(steps: Steps, s: Array) -> float:
    """Σ 2Δp/(s + s'), s."""
    return float(np.sum(2 * steps.lengths / (s[1:] + s[:-1])))
