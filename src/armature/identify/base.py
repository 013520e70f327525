"""Base parameters: the combinations of inertial parameters that torques depend on, by a
rank-revealing QR factorisation.

W P = Q [R₁ R₂; 0 0] with column pivoting; the torque W π depends on β = π₁ + R₁⁻¹ R₂ π₂ alone
(Gautier 1991). Rotor inertias and constant offsets stand beside the bodies' parameters, since they
share combinations: the mass on a vertical slide and its offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify.layout import NAMES, Layout
from armature.identify.regressor import regressor
from armature.robot.model import Robot

STATES = 60  # random states from which the structure is found
RANK = 1e-9  # of the largest pivot: smaller ones are zero
ZERO = 1e-7  # coefficients below are rounding
FULL_TURN = np.pi  # rad: range of joints without one
UNITS = ("kg", *["kg·m"] * 3, *["kg·m²"] * 6)


@dataclass(frozen=True, eq=False)
class Base:
    """The structure of a robot's inertial parameters.

    matrix: (r, p) β = matrix π, p = 10 bodies' parameters, a rotor and an offset for every joint.
    labels: (p,).
    pivots: (r,) the parameter that each combination is named after.
    alone: parameters that are identified by themselves.  combined: that are only in sums.
    unseen: that no torque depends on.
    """

    matrix: np.ndarray
    labels: tuple[str, ...]
    pivots: tuple[int, ...]
    alone: tuple[str, ...]
    combined: tuple[str, ...]
    unseen: tuple[str, ...]

    def formula(self, row: int, terms: int = 4) -> str:
        """A combination in words: `elbow.mx + 0.39 wrist.m + …`."""
        weights = self.matrix[row]
        first = self.pivots[row]
        others = [k for k in np.argsort(-np.abs(weights)) if weights[k] and k != first]
        parts = [self.labels[first]]
        for k in others[:terms]:
            sign = "+" if weights[k] > 0 else "−"
            size = abs(weights[k])
            factor = "" if abs(size - 1) < 1e-6 else f"{size:.3g} "
            parts.append(f"{sign} {factor}{self.labels[k]}")
        return " ".join([*parts, *(["+ …"] if len(others) > terms else [])])

    def unit(self, row: int) -> str:
        """Unit of a combination."""
        k = self.pivots[row]
        if self.labels[k].endswith(".rotor"):
            return "kg·m²"
        return "N·m" if self.labels[k].endswith(".offset") else UNITS[k % INERTIAL]


def base_parameters(robot: Robot, seed: int = 0) -> Base:
    """The combinations of inertial parameters and rotors that the joint torques of a robot depend
    on."""
    labels = parameter_labels(robot)
    W = _observations(robot, seed)
    size = np.sqrt(np.mean(W**2, axis=0))
    seen = np.flatnonzero(size > RANK * size.max())
    factors: Any = qr(W[:, seen] / size[seen], mode="economic", pivoting=True)
    R, order = factors[1], factors[2]
    pivots = np.abs(np.diag(R))
    rank = int(np.sum(pivots > RANK * pivots[0]))
    # β = π₁ + R₁⁻¹ R₂ π₂ in scaled columns, then in units
    weights = solve_triangular(R[:rank, :rank], R[:rank])
    matrix = np.zeros((rank, len(labels)))
    columns = seen[order]
    matrix[:, columns] = weights * size[columns] / size[columns[:rank]][:, None]
    matrix[np.abs(matrix) < ZERO] = 0.0
    order_of_rows = np.argsort(columns[:rank])
    matrix, first = matrix[order_of_rows], columns[:rank][order_of_rows]
    single = [k for row, k in zip(matrix, first) if np.count_nonzero(row) == 1]
    alone = tuple(labels[k] for k in single)
    unseen = tuple(labels[k] for k in range(len(labels)) if k not in set(seen))
    combined = tuple(x for k, x in enumerate(labels) if k in set(seen) and k not in set(single))
    return Base(matrix, labels, tuple(int(k) for k in first), alone, combined, unseen)


def parameter_labels(robot: Robot) -> tuple[str, ...]:
    """Names of the bodies' parameters, of the rotors and of the offsets."""
    bodies = [f"{b.name}.{p}" for b in robot.tree.bodies for p in NAMES]
    return (
        *bodies,
        *(f"{name}.{what}" for what in ("rotor", "offset") for name in robot.joint_names),
    )


def base_columns(places: Layout) -> np.ndarray:
    """(p,) where bodies' parameters, rotors and offsets stand in φ."""
    others = [places.of(k, what)[0] for what in ("rotor", "offset") for k in range(places.robot.n)]
    return np.concatenate([np.arange(places.inertial), others]).astype(int)


def _observations(robot: Robot, seed: int) -> np.ndarray:
    """(N n, p) rows of the regressor at random states."""
    rng = np.random.default_rng(seed)
    lower, upper = ranges(robot)
    q = rng.uniform(lower, upper, (STATES, robot.n))
    v, a = rng.normal(size=(2, STATES, robot.n)) * 3.0
    return with_rotors_and_offsets(regressor(robot, q, v, a), a).reshape(STATES * robot.n, -1)


def with_rotors_and_offsets(Y: np.ndarray, a: np.ndarray) -> np.ndarray:
    """(N, n, p) the regressor (N, n, 10 nb) with columns for the rotors and offsets; a: (N, n)."""
    eye = np.eye(a.shape[1])
    return np.concatenate(
        [Y, a[:, :, None] * eye, np.broadcast_to(eye, (len(a), *eye.shape))], axis=2
    )


def ranges(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """(n,) ends of the joints' ranges, a full turn where there is none."""
    limits = [robot.joint(name).limits for name in robot.joint_names]
    lower = [x.lower if np.isfinite(x.lower) else -FULL_TURN for x in limits]
    upper = [x.upper if np.isfinite(x.upper) else FULL_TURN for x in limits]
    return np.array(lower), np.array(upper)
