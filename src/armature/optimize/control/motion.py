"""What comes out of an optimal-control problem: states and controls at the points of the mesh, and
between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.errors import ArgumentError
from armature.optimize.control.collocation import radau
from armature.optimize.problem.result import Result, Status


class Sample(NamedTuple):
    """x: (..., nx), u: (..., nu)."""

    x: np.ndarray
    u: np.ndarray


@dataclass(frozen=True, eq=False)
class Motion:
    """An optimal motion.

    knots: (N+1,) s.  x: (N+1, nx) at the knots.  points: (N, s, nx), controls: (N, s, nu) at
    Radau's points of every step.
    p: free parameters.  durations: s, of the problem's phases.  cost: of the objective.
    switches: s, where controls jump from bound to bound, to about a step.
    error: by how much the last refinement of the mesh changed the cost, as a part of it; NaN where
    none was made.
    result: the solver's own account of the last solve.
    """

    knots: np.ndarray
    x: np.ndarray
    points: np.ndarray
    controls: np.ndarray
    p: np.ndarray
    durations: np.ndarray
    cost: float
    switches: np.ndarray
    error: float
    result: Result

    @property
    def status(self) -> Status:
        """How the last solve ended, a sentence."""
        return self.result.status

    @property
    def ok(self) -> bool:
        """Whether it is an optimum."""
        return self.result.ok

    @property
    def message(self) -> str:
        """The status, and the worst violation if there is one."""
        return self.result.message

    @property
    def duration(self) -> float:
        """s."""
        return float(self.knots[-1])

    @property
    def t(self) -> np.ndarray:
        """(N·s + 1,) times of the start and of all points, s."""
        return np.append(
            0.0, (self.knots[:-1, None] + np.diff(self.knots)[:, None] * self._rule.points).ravel()
        )

    @property
    def _rule(self) -> Any:
        return radau(self.points.shape[1])

    def __call__(self, t: Any) -> Sample:
        """States and controls at times t (...), by the polynomials of every step."""
        t = np.asarray(t, dtype=float)
        if np.any(t < -1e-12) or np.any(t > self.duration * (1 + 1e-12)):
            raise ArgumentError(f"times must lie between 0 and {self.duration:.6g} s")
        k = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)
        z = np.clip((t - self.knots[k]) / (self.knots[k + 1] - self.knots[k]), 0.0, 1.0)
        with_start = np.concatenate([self.x[:-1, None], self.points], axis=1)
        x = np.einsum(
            "...i,...ij->...j", _lagrange(np.append(0.0, self._rule.points), z), with_start[k]
        )
        return Sample(
            x, np.einsum("...i,...ij->...j", _lagrange(self._rule.points, z), self.controls[k])
        )

    def __str__(self) -> str:
        off = (
            ""
            if np.isnan(self.error)
            else f", changed by {self.error:.1e} of itself by the last refinement"
        )
        return (
            f"{self.message} Cost {self.cost:.10g}{off}; {self.duration:.8g} s,"
            f" {len(self.knots) - 1} steps."
        )


def _lagrange(nodes: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(..., s) Lagrange's polynomials of these nodes at z (...)."""
    parts = []
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        parts.append(np.prod((z[..., None] - others) / (node - others), axis=-1))
    return np.stack(parts, axis=-1)
