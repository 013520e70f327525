"""Power taken from the supply, fitted to a meter: standing load, resistances of the motors,
efficiency of the amplifiers.

    P = P₀ + Σ_j d_j (R_j i_j² + K_j i_j q̇_j),   d_j = 1/η where the motor takes power, η where it
    gives power back

K i q̇ is what the motors give to rotors, friction and load: with measured currents all mechanical
losses are in it. The resistances share a prior (their mean), so that one that hardly carries
current does not run away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from armature.errors import ArgumentError
from armature.identify.estimate import correlation_times
from armature.identify.recording import Recording
from armature.identify.signals import Grid, grids

EFFICIENCIES = np.round(np.arange(1.0, 0.695, -0.01), 2)
SPREAD = 1.0  # relative standard deviation of one motor's resistance about their mean
# fall of the squared error, in variances, for which an efficiency below 1 is taken
SIGNIFICANT = 4.0
LEAST = 1e-3  # Ω
ROUNDS = 4


@dataclass(frozen=True, eq=False)
class SupplyFit:
    """What the supply's meter told.

    standing: W, taken at rest.  resistance: (n,) Ω of the motors, in amperes of the recording.
    efficiency: of the amplifiers, both ways.  errors: (1 + n,) standard errors of standing and
    resistances.
    rms: W, of the fit.  gains: (n,) N·m/A with which it was found.
    """

    standing: float
    resistance: np.ndarray
    efficiency: float
    errors: np.ndarray
    rms: float
    gains: np.ndarray

    def power(self, current: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(N,) W taken from the supply at motor currents (N, n) A and joint speeds (N, n)."""
        terminal = self.resistance * current**2 + self.gains * current * v
        share = np.where(terminal > 0, 1.0 / self.efficiency, self.efficiency)
        return self.standing + np.sum(share * terminal, axis=1)

    def __str__(self) -> str:
        ohms = ", ".join(f"{r:.2g} ± {e:.1g}" for r, e in zip(self.resistance, self.errors[1:]))
        return (
            f"supply: standing load {self.standing:.4g} ± {self.errors[0]:.1g} W, motors {ohms} Ω, "
            f"amplifiers {100 * self.efficiency:.0f} %; r.m.s. error {self.rms:.2g} W"
        )


def fit_supply(recordings: list[Recording], gains: np.ndarray, cutoff: float) -> SupplyFit | None:
    """Fit the meter's power where recordings hold it together with currents; None where none does.

    gains: (n,) N·m/A.  cutoff: Hz, of the filter that both sides pass.
    """
    metered = [r for r in recordings if r.supply_power is not None and r.current is not None]
    if not metered:
        return None
    pieces = [_terms(grid, gains) for r in metered for grid in grids(r, cutoff)]
    heat, work, power = (np.concatenate(x) for x in zip(*pieces))
    number = np.concatenate([np.full(len(p[2]), k) for k, p in enumerate(pieces)])
    if len(power) < 10 * (2 + heat.shape[1]):
        raise ArgumentError(
            f"{len(power)} samples of the supply's power are too few to fit its losses"
        )
    fits = [_fit(heat, work, power, number, float(eta)) for eta in EFFICIENCIES]
    variance, squares = fits[0][3], np.array([f[2] for f in fits])
    best = int(np.argmin(squares))
    best = best if squares[0] - squares[best] > SIGNIFICANT * variance else 0
    x, errors, square, _ = fits[best]
    rms = float(np.sqrt(square / len(power)))
    eta = float(EFFICIENCIES[best])
    return SupplyFit(float(x[0]), np.maximum(x[1:], LEAST), eta, errors, rms, gains)


def _terms(grid: Grid, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """i² (N, n), K i q̇ (N, n) and the meter's power (N,), filtered alike and thinned."""
    assert grid.power is not None
    current = grid.measured
    pick = grid.rows
    heat, work = grid.filtered(current**2), grid.filtered(gains * current * grid.v)
    return heat[pick], work[pick], grid.filtered(grid.power)[pick]


def _fit(
    heat: np.ndarray, work: np.ndarray, power: np.ndarray, number: np.ndarray, eta: float
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """(P₀, R …), their standard errors, the sum of squares, and the variance of an independent
    sample."""
    N, n = heat.shape
    R = np.full(n, 0.5)
    variance = float(np.var(power))
    x, H = np.zeros(1 + n), np.eye(1 + n)
    residual = power
    for _ in range(ROUNDS):
        share = np.where(R * heat + work > 0, 1.0 / eta, eta)
        A = np.column_stack([np.ones(N), share * heat])
        y = power - np.sum(share * work, axis=1)
        mean = max(nnls(np.column_stack([A[:, 0], A[:, 1:].sum(axis=1)]), y)[0][1], LEAST)
        weight = np.sqrt(variance) / (SPREAD * mean)
        prior = np.column_stack([np.zeros(n), weight * np.eye(n)])
        x, _ = nnls(np.vstack([A, prior]), np.concatenate([y, np.full(n, weight * mean)]))
        R = x[1:]
        residual = y - A @ x
        times = correlation_times(residual[:, None], number)[0]
        variance = float(np.mean(residual**2) * times)
        H = A.T @ A / variance + np.diag([0.0, *np.full(n, 1.0 / (SPREAD * mean) ** 2)])
    return x, np.sqrt(np.diag(np.linalg.inv(H))), float(residual @ residual), variance
