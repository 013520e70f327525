"""Periodic motions that fill the limits of the joints: Fourier series that begin and end at rest.

    u(t) = Σ_k a_k sin ω_k t + b_k (1 − cos ω_k t),  u̇(0) = ü(0) = 0

Each joint's series is made as large as its range, speed and acceleration allow, so that every set
of numbers is a motion within limits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from armature.robot.bounds import bounds
from armature.robot.model import Robot

FILL = 0.9  # of range, speed and acceleration that is used
TURN = np.pi  # rad or m: half a range that is used at most
ACCELERATION_TIME = 0.15  # s: from rest to full speed, where no limit of acceleration is given


@dataclass(frozen=True, eq=False)
class Family:
    """Motions of a robot. duration: s.  harmonics: of each joint.  samples: instants at which they
    are looked at."""

    robot: Robot
    duration: float
    harmonics: int
    samples: int

    @property
    def size(self) -> int:
        """Numbers for one motion: for each joint the coefficients and where its middle lies."""
        return self.robot.n * (self.shapes.shape[1] + 1)

    @cached_property
    def frequencies(self) -> np.ndarray:
        """(K,) ω, rad/s."""
        return 2 * np.pi * np.arange(1, self.harmonics + 1) / self.duration

    @cached_property
    def shapes(self) -> np.ndarray:
        """(2K, 2K − 2) coefficients of series at rest at both ends; higher harmonics smaller."""
        w = self.frequencies
        zero = np.zeros_like(w)
        size = np.tile(1.0 / np.arange(1, self.harmonics + 1), 2)
        rest = np.array([np.concatenate([w, zero]), np.concatenate([zero, w**2])]) * size
        return size[:, None] * null_space(rest)

    def series(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(N, 2K − 2) position, speed and acceleration of every shape at times t."""
        w = self.frequencies
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        rows = (
            np.hstack([s, 1 - c]),
            np.hstack([w * c, w * s]),
            np.hstack([-(w**2) * s, w**2 * c]),
        )
        return rows[0] @ self.shapes, rows[1] @ self.shapes, rows[2] @ self.shapes

    @cached_property
    def _sampled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.series(self.duration * np.arange(self.samples) / self.samples)

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(n,) middles and half widths of ranges, speeds, accelerations that may be used."""
        given = bounds(self.robot)
        finite = np.isfinite(given.lower) & np.isfinite(given.upper)
        middle = np.where(finite, (given.lower + given.upper) / 2, 0.0)
        middle = np.where(finite, middle, np.clip(0.0, given.lower, given.upper))
        half = np.minimum(np.where(finite, (given.upper - given.lower) / 2, TURN), TURN)
        speed = np.where(np.isfinite(given.velocity), given.velocity, np.inf)
        rate = np.where(
            np.isfinite(given.acceleration), given.acceleration, speed / ACCELERATION_TIME
        )
        return middle, FILL * half, FILL * speed, FILL * rate

    def motion(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(B, N, n) q, v, a of motions x (B, size) at the samples."""
        centre, gain, z = self.scaled(x)
        q, v, a = (np.einsum("np,bjp->bnj", table, z) * gain[:, None] for table in self._sampled)
        return q + centre[:, None], v, a

    def scaled(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets (B, n), factors (B, n) and shapes (B, n, P) of motions: as large as the limits
        allow."""
        x = np.atleast_2d(x).reshape(len(np.atleast_2d(x)), self.robot.n, -1)
        z, place = x[..., :-1], np.tanh(x[..., -1])
        u, du, ddu = (np.einsum("np,bjp->bnj", table, z) for table in self._sampled)
        middle, half, speed, rate = self.limits
        low, high = u.min(axis=1), u.max(axis=1)
        tiny = 1e-9
        parts = (
            2 * half / np.maximum(high - low, tiny),
            speed / np.maximum(np.abs(du).max(axis=1), tiny),
            rate / np.maximum(np.abs(ddu).max(axis=1), tiny),
        )
        gain = np.min(parts, axis=0)
        room = half - gain * (high - low) / 2
        return middle + place * room - gain * (high + low) / 2, gain, z
