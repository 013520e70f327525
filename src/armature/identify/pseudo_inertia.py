"""Pseudo-inertia of a body: the 4 × 4 matrix whose positive definiteness is physical consistency.

P = [[Σ, h], [hᵀ, m]],  Σ = ½ tr(J) 1 − J = ∫ x xᵀ dm: a density ≥ 0 exists exactly where P ⪰ 0.
Distances between bodies are measured by ½ tr(P₀⁻¹ dP P₀⁻¹ dP), which does not depend on units or
frames."""

from __future__ import annotations

import numpy as np

from armature.dynamics.recursion.regressor import INERTIA_ENTRIES, INERTIAL

DENSITY = 5000.0  # kg/m³: no body of a robot is more compact than a ball of this
LIGHTEST = 1e-3  # of the robot's mass: prior of links that the description gives none
TRIANGLE = tuple((i, j) for j in range(4) for i in range(j + 1))  # upper, column by column


def _basis() -> np.ndarray:
    """(10, 4, 4): P = Σ π_k basis[k]."""
    basis = np.zeros((INERTIAL, 4, 4))
    basis[0, 3, 3] = 1.0
    for k in range(3):
        basis[1 + k, k, 3] = basis[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(INERTIA_ENTRIES):
        J = np.zeros((3, 3))
        J[i, j] = J[j, i] = 1.0
        basis[4 + k, :3, :3] = 0.5 * np.trace(J) * np.eye(3) - J
    return basis


BASIS = _basis()


def matrix(parameters: np.ndarray) -> np.ndarray:
    """P (4, 4) of ten inertial parameters."""
    return np.tensordot(parameters, BASIS, axes=1)


def parameters(P: np.ndarray) -> np.ndarray:
    """Ten inertial parameters of a pseudo-inertia."""
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], *(J[i, j] for i, j in INERTIA_ENTRIES)])


def lifted(prior: np.ndarray, total: float) -> np.ndarray:
    """A prior that is strictly consistent: at least as large as a ball of its mass, and some mass.

    prior: (10,).  total: mass of the robot, kg.
    """
    P = matrix(prior)
    mass = max(float(P[3, 3]), LIGHTEST * total, 1e-6)
    centre = P[:3, 3] / P[3, 3] if P[3, 3] > 0 else np.zeros(3)
    spread = P[:3, :3] - P[3, 3] * np.outer(centre, centre)
    least = mass * ball_radius(mass) ** 2 / 5.0
    sizes, axes = np.linalg.eigh((spread + spread.T) / 2)
    spread = (axes * np.maximum(sizes, least)) @ axes.T
    Q = np.empty((4, 4))
    Q[:3, :3] = spread + mass * np.outer(centre, centre)
    Q[:3, 3] = Q[3, :3] = mass * centre
    Q[3, 3] = mass
    return parameters(Q)


def ball_radius(mass: float) -> float:
    """m, of a ball of the mass and DENSITY."""
    return float((3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0))


def metric(prior: np.ndarray) -> np.ndarray:
    """(10, 10) M with dπᵀ M dπ = ½ tr(P₀⁻¹ dP P₀⁻¹ dP): 2 ε² for a change of everything by ε."""
    inverse = np.linalg.inv(matrix(prior))
    turned = np.einsum("ij,kjl->kil", inverse, BASIS)
    return 0.5 * np.einsum("kij,lji->kl", turned, turned)


def is_consistent(parameters: np.ndarray, tolerance: float = 0.0) -> bool:
    """Whether a density ≥ 0 with these parameters exists."""
    return bool(np.linalg.eigvalsh(matrix(parameters))[0] >= -tolerance)
