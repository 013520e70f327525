"""Statics of mechanisms of bodies and couplings: configurations at rest, found and judged on the
manifold that the couplings leave.

    (S2)  Nᵀ F(q) = 0,   f(q) = 0,   A N = 0

F: weight, force elements and motors at rest.  N: orthonormal directions that the couplings A =
∂f/∂x leave free.
Small motions y along N:  NᵀWN ÿ + C ẏ + K y = 0,  K = −∂(NᵀF)/∂y on the couplings, C = −∂(NᵀF)/∂ẏ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eig

from armature.dynamics.bodies import mechanism as gauss
from armature.dynamics.bodies.assembly import rotations
from armature.dynamics.bodies.gauss import Mechanism
from armature.errors import ArgumentError

RANK = 1e-8  # of the largest singular value: smaller ones belong to redundant couplings
BALANCED = 1e-9  # of the largest force: what may be left of (S2)
SAME = 1e-5  # m or rad: configurations that are nearer are one
STEP = 1e-5  # of differences, m or rad
COMMON_AXES = {
    "revolute": [2],
    "cylindrical": [2],
    "planar": [2],
    "prismatic": [0, 1, 2],
    "fixed": [0, 1, 2],
}  # x, y, z of joints
LONGEST = 0.4  # of a step of Newton's method, m or rad
MOST_STEPS = 60


@dataclass(frozen=True, eq=False)
class Statics:
    """A mechanism under constant motor torques tau (motors,), at t = 0."""

    m: Mechanism
    tau: np.ndarray

    def free(self, q: np.ndarray) -> np.ndarray:
        """N (nv, freedoms): directions that the couplings leave free."""
        m = self.m
        if not m.rows.rows:
            return np.eye(m.nv)
        A = np.zeros((m.rows.rows, m.nv))
        np.add.at(A, m.rows.pattern, m.rows.evaluate(0.0, m.unpack(q, np.zeros(m.nv))).values)
        _, sizes, V = np.linalg.svd(A)
        return V[int(np.count_nonzero(sizes > RANK * sizes[0])) :].T

    def forces(self, q: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """F (nv,) of weight, elements and motors."""
        at_rest = np.zeros(self.m.nv) if v is None else v
        return self.m.forces(0.0, self.m.unpack(q, at_rest), self.tau)[0]

    def displaced(self, q: np.ndarray, dx: np.ndarray) -> np.ndarray | None:
        """q moved by dx and put back on the couplings; None where they cannot be closed as they
        were put together."""
        at, _, reached = gauss.closed(self.m, gauss.moved(self.m, q, dx))
        return at if reached and self.upright(at) else None

    def upright(self, q: np.ndarray) -> bool:
        """Whether no joint is turned over: f = 0 also holds where a hinge's axis on one body points
        against that on the other."""
        R = self.m.unpack(q, np.zeros(self.m.nv)).R
        return all(
            np.all(np.sum((R[a] @ A) * (R[b] @ B), axis=0) > 0.0) for a, b, A, B in self._axes
        )

    @cached_property
    def _axes(self) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
        """For each joint with common axes: its bodies, and those axes in the frame of each (3,
        axes)."""
        found = []
        for c in self.m.couplings:
            if c.joint is not None and c.kind in COMMON_AXES:
                numbers, kept = self.m._numbers(c), COMMON_AXES[c.kind]
                A, B = (numbers[i : i + 9].reshape(3, 3)[:, kept] for i in (3, 15))
                found.append((*(self.m.body_index[name] for name in c.bodies), A, B))
        return found

    def stiffness(self, q: np.ndarray, N: np.ndarray) -> np.ndarray | None:
        """K (freedoms, freedoms): how NᵀF falls along N, by central differences on the
        couplings."""
        columns = []
        for direction in N.T:
            ends = [self.displaced(q, side * STEP * direction) for side in (1.0, -1.0)]
            if any(end is None for end in ends):
                return None
            ahead, back = (
                _carried(self.free(end), N).T @ self.forces(end) for end in ends if end is not None
            )
            columns.append((back - ahead) / (2 * STEP))
        return np.array(columns).T.reshape(N.shape[1], N.shape[1])

    def solved(self, q: np.ndarray) -> np.ndarray | None:
        """The configuration at rest that Newton's method leads to from q, on the couplings all the
        way; None where it leads to none."""
        for _ in range(MOST_STEPS):
            N, F = self.free(q), self.forces(q)
            left = N.T @ F
            if np.abs(left).max(initial=0.0) <= BALANCED * np.abs(F).max(initial=1e-9):
                return q
            K = self.stiffness(q, N)
            step = None if K is None else N @ np.linalg.lstsq(K, left, rcond=1e-12)[0]
            at = (
                None
                if step is None
                else self.displaced(q, step * min(1.0, LONGEST / max(np.abs(step).max(), 1e-300)))
            )
            if at is None:
                return None
            q = at
        return None

    def eigenvalues(self, q: np.ndarray) -> np.ndarray:
        """Of small motions near a configuration at rest, 1/s, by falling real part; motions without
        mass have none."""
        N = self.free(q)
        k = N.shape[1]
        K = self.stiffness(q, N)
        if K is None or k == 0:
            return np.zeros(0)
        values, rows, columns = self.m.weight
        W = np.zeros((self.m.nv, self.m.nv))
        np.add.at(W, (rows, columns), values)
        rates = [(self.forces(q, -STEP * n) - self.forces(q, STEP * n)) / (2 * STEP) for n in N.T]
        C = N.T @ np.array(rates).T
        zero, one = np.zeros((k, k)), np.eye(k)
        found: Any = eig(
            np.block([[zero, one], [-K, -C]]),
            np.block([[one, zero], [zero, N.T @ W @ N]]),
            right=False,
        )
        found = np.asarray(found)[np.isfinite(found)]
        return found[np.argsort(-np.real(found), kind="stable")]

    # where to begin ------------------------------------------------------------------------------

    def starts(self, count: int, seed: np.ndarray | None) -> list[np.ndarray]:
        """Closed configurations: the seed, the reference, and by turns walks along the couplings
        and bodies turned at random."""
        rng = np.random.default_rng(0)
        reference = gauss.assemble(self.m)[0]
        found = [reference] if seed is None else [gauss.assemble(self.m, seed)[0], reference]
        at = reference
        for i in range(count):
            if i % 2:
                at = self._walked(at, rng)
                found.append(at)
            else:
                apart = self.displaced(reference, self._scattered(rng))
                found += [] if apart is None else [apart]
        return found

    def _scattered(self, rng: np.random.Generator) -> np.ndarray:
        """A displacement (nv,) that turns each body by any angle, about the axis of a joint of its
        own where it has one."""
        dx = np.zeros(self.m.nv)
        for i in range(len(self.m.bodies)):
            own = [
                axes[:, -1]
                for a, b, A, B in self._axes
                for body, axes in ((a, A), (b, B))
                if body == i
            ]
            axis = own[rng.integers(len(own))] if own else rng.normal(size=3)
            dx[6 * i + 3 : 6 * i + 6] = rng.uniform(-np.pi, np.pi) * axis / np.linalg.norm(axis)
        return dx

    def _walked(self, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """About a radian (or metre) along a random free direction, in small steps."""
        N = self.free(q)
        along = N @ rng.normal(size=N.shape[1])
        for _ in range(5):
            along = along * 0.2 / max(np.abs(along).max(initial=0.0), 1e-300)
            at = self.displaced(q, along)
            if at is None:
                break
            q, N = at, self.free(at)
            along = N @ (N.T @ along)
        return q

    def same(self, q: np.ndarray, other: np.ndarray) -> bool:
        """Whether bodies stand alike, and coordinates where force elements may count turns."""
        nb = len(self.m.bodies)
        a, b = (x[: 7 * nb].reshape(nb, 7) for x in (q, other))
        apart = [
            np.abs(a[:, :3] - b[:, :3]).max(),
            np.abs(rotations(a[:, 3:]) - rotations(b[:, 3:])).max(),
        ]
        if self.m.elements:
            apart.append(np.abs(q[7 * nb :] - other[7 * nb :]).max(initial=0.0))
        return max(apart) < SAME


def _carried(there: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Directions that are free at a neighbouring configuration, as near to N as they can be."""
    return there @ (there.T @ N)


def rests(m: Mechanism, tau: Any, starts: int, seed: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Configurations at rest that are found, each with the eigenvalues of small motions near it."""
    statics = Statics(m, gauss.torques_of(m, None if np.ndim(tau) == 0 and tau == 0.0 else tau))
    if not statics.free(gauss.assemble(m)[0]).shape[1]:
        what = f"mechanism {m.name!r} has no degree of freedom"
        raise ArgumentError(
            f"{what}: it rests as it stands; equilibria are found where something moves"
        )
    given = None if seed is None else np.asarray(seed, dtype=float)
    found: list[np.ndarray] = []
    for q in statics.starts(starts, given):
        at = statics.solved(q)
        if at is not None and not any(statics.same(at, other) for other in found):
            found.append(at)
    return [(q, statics.eigenvalues(q)) for q in found]
