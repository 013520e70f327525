"""What a mechanism does: accelerations and reactions (V1), its redundant couplings, and the way
back to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.dynamics.bodies.assembly import Bodies, Rows
from armature.dynamics.bodies.couplings import GROUND
from armature.dynamics.bodies.gauss import (
    CLOSED,
    CONTRADICTION,
    Accelerations,
    Mechanism,
    Reaction,
    Redundancy,
)
from armature.errors import ArgumentError, RobotError

MOST_STEPS = 50  # of Newton's method towards closure


def torques_of(m: Mechanism, torques: Any) -> np.ndarray:
    """Motor torques as an array (motors,): None for none, a mapping by name, or all of them."""
    if torques is None:
        return np.zeros(len(m.motors))
    if isinstance(torques, dict):
        for name in torques:
            if name not in m.motor_index:
                raise ArgumentError(
                    f"there is no motor {name!r} in mechanism {m.name!r}; its motors are:"
                    f" {', '.join(m.motor_index) or 'none'}"
                )
        return np.array([float(torques.get(motor.name, 0.0)) for motor in m.motors])
    found = np.asarray(torques, dtype=float)
    if found.shape != (len(m.motors),):
        raise ArgumentError(
            f"torques have shape {found.shape}; expected ({len(m.motors)},), one for each motor"
        )
    return found


def accelerations(
    m: Mechanism,
    q: np.ndarray,
    v: np.ndarray,
    t: float = 0.0,
    torques: Any = None,
    solver: str = "direct",
    guess: Accelerations | None = None,
) -> Accelerations:
    """Accelerations of all bodies and coordinates that minimise Gauss's constraint (1.2) under
    (1.3).

    solver: "direct", sparse; or "iterative", which starts from `guess`, the accelerations of an
    earlier instant."""
    x = m.unpack(q, v)
    rows = m.rows.evaluate(t, x)
    return solve(m, t, x, rows, torques_of(m, torques), solver, guess)[0]


def solve(
    m: Mechanism,
    t: float,
    x: Bodies,
    rows: Rows,
    torques: np.ndarray,
    solver: str,
    guess: Accelerations | None,
) -> tuple[Accelerations, np.ndarray]:
    """Accelerations from the evaluated rows, and the applied forces (nv,)."""
    total, applied = m.forces(t, x, torques)
    if solver == "iterative":
        m.system.set(rows.values, factor=False)
        solved = m.system.iterate(total, rows.D, guess.solved if guess is not None else None)
    elif solver == "direct":
        m.system.set(rows.values)
        solved = m.system.solve(total, rows.D)
    else:
        raise ArgumentError(f"solver {solver!r} is not known; use 'direct' or 'iterative'")
    return Accelerations(solved.x, solved.mu, solved.iterations, solved), applied


def contradiction(m: Mechanism, found: Accelerations) -> None:
    """Refuse couplings that no accelerations meet, by name."""
    errors = found.solved.error[m.nv :]
    if len(errors) and np.max(errors) > CONTRADICTION:
        worst = int(np.argmax(errors))
        raise RobotError(
            f"mechanism {m.name!r}: coupling {m.rows.names[worst]!r} contradicts the others: no"
            f" accelerations meet it (relative residual {errors[worst]:.3g}); remove it or one that"
            " it repeats"
        )


def reactions(
    m: Mechanism, q: np.ndarray, v: np.ndarray, t: float = 0.0, torques: Any = None
) -> dict[str, dict[str, Reaction]]:
    """{coupling: {body: force and torque that the coupling exerts on it}}; with redundant couplings
    the smallest set of multipliers."""
    x = m.unpack(q, v)
    rows = m.rows.evaluate(t, x)
    found, _ = solve(m, t, x, rows, torques_of(m, torques), "direct", None)
    contradiction(m, found)
    r, c = m.rows.pattern
    result: dict[str, dict[str, Reaction]] = {}
    for i, coupling in enumerate(m.couplings):
        mine = (r >= m.rows.first[i]) & (r < m.rows.first[i + 1])
        # W ẍ + Aᵀμ = F: the coupling's force is −Aᵀμ
        force = -np.bincount(c[mine], rows.values[mine] * found.mu[r[mine]], m.nv)
        numbers = m._numbers(coupling)
        bodies = dict.fromkeys(coupling.bodies)
        result[coupling.name] = {}
        for k, body in enumerate(bodies):
            if body != GROUND:
                b = m.body_index[body]
                lever = numbers[12 * k : 12 * k + 3] if coupling.joint is not None else np.zeros(3)
                f, n = force[6 * b : 6 * b + 3], x.R[b] @ force[6 * b + 3 : 6 * b + 6]
                result[coupling.name][body] = Reaction(f, n - np.cross(x.R[b] @ lever, f))
    return result


def redundancy(m: Mechanism, q: np.ndarray | None = None, t: float = 0.0) -> Redundancy:
    """Rank of (1.3) at a configuration (the reference by default), and the couplings with rows that
    follow from earlier ones."""
    q0, v0 = m.reference()
    rows = m.rows.evaluate(t, m.unpack(q0 if q is None else q, v0))
    m.system.set(rows.values, factor=False)
    independent = m.system.independent()
    redundant: dict[str, int] = {}
    for name, kept in zip(m.rows.names, independent):
        if not kept:
            redundant[name] = redundant.get(name, 0) + 1
    rank = int(np.sum(independent))
    return Redundancy(m.rows.rows, rank, m.nv - rank, redundant)


def energy(m: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Kinetic energy ½ ẋᵀWẋ, rotors included, and potential energy −Σ m g·p, J."""
    values, rows, columns = m.weight
    p = q[: 7 * len(m.bodies)].reshape(-1, 7)[:, :3]
    masses = np.array([b.mass for b in m.bodies])
    return float(0.5 * np.sum(values * v[rows] * v[columns])), float(
        -masses @ p @ np.array(m.gravity)
    )


# back to the couplings ---------------------------------------------------------------------------


def moved(m: Mechanism, q: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """q displaced by dx (nv,): centres shifted, quaternions turned by the body-axes rotation
    vectors, coordinates added."""
    nb = len(m.bodies)
    result = q.copy()
    x, d = result[: 7 * nb].reshape(nb, 7), dx[: 6 * nb].reshape(nb, 6)
    x[:, :3] += d[:, :3]
    turn = d[:, 3:]
    angle = np.linalg.norm(turn, axis=1, keepdims=True)
    e = turn * 0.5 * np.sinc(angle / (2 * np.pi))
    c = np.cos(angle / 2)[:, 0]
    ex, ew = x[:, 3:6].copy(), x[:, 6].copy()
    x[:, 3:6] = ew[:, None] * e + c[:, None] * ex + np.cross(ex, e)
    x[:, 6] = ew * c - np.sum(ex * e, axis=1)
    x[:, 3:] /= np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
    result[7 * nb :] += dx[6 * nb :]
    return result


def closed(
    m: Mechanism, q: np.ndarray, t: float = 0.0, tolerance: float = CLOSED
) -> tuple[np.ndarray, float, bool]:
    """The configuration that meets f = 0, by Newton steps that are smallest in W; the first error;
    whether it was reached."""
    v = np.zeros(m.nv)
    first = None
    still, last = np.zeros(m.nv), np.inf
    for _ in range(MOST_STEPS):
        rows = m.rows.evaluate(t, m.unpack(q, v))
        size = float(np.max(np.abs(rows.f), initial=0.0))
        first = size if first is None else first
        if size <= tolerance:
            return q, first, True
        if size > 0.5 * last and size < 1e3 * tolerance:
            return q, first, True  # at rounding
        m.system.set(rows.values)
        step = m.system.solve(still, -rows.f).x
        q, last = moved(m, q, _damped(m, step)), size
    return q, first or 0.0, False


def _damped(m: Mechanism, step: np.ndarray) -> np.ndarray:
    """No body turns by more than half a radian in one step."""
    turns = np.abs(step[: 6 * len(m.bodies)].reshape(-1, 6)[:, 3:])
    return step * min(1.0, 0.5 / max(float(np.max(turns, initial=0.0)), 1e-300))


def assemble(
    m: Mechanism, q: np.ndarray | None = None, v: np.ndarray | None = None, t: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """A consistent start: q with f = 0 nearest to the given (the reference by default), v with ḟ =
    0; refused when there is none."""
    q0, v0 = m.reference()
    q, v = (
        (q0 if q is None else np.array(q, dtype=float)),
        (v0 if v is None else np.array(v, dtype=float)),
    )
    if q.shape != (m.nq,) or v.shape != (m.nv,):
        raise ArgumentError(f"q, v have shapes {q.shape}, {v.shape}; expected ({m.nq},), ({m.nv},)")
    given = v is not v0
    q, _, reached = closed(m, q, t)
    rows = m.rows.evaluate(t, m.unpack(q, v))
    if not given and m.motors:
        # the coordinates follow the bodies: with ṡ = 0 the last rows' ḟ are the joints' rates
        v[-len(m.motors) :] += rows.fd[-len(m.motors) :]
    if not reached:
        worst = int(np.argmax(np.abs(rows.f)))
        raise RobotError(
            f"mechanism {m.name!r}: coupling {m.rows.names[worst]!r} cannot be closed: residual"
            f" {abs(rows.f[worst]):.3g} (m or rad); check its points and lengths, or give a start"
            " nearer to the assembled position"
        )
    return q, project_velocity(m, q, v, t)[0]


def project_velocity(
    m: Mechanism, q: np.ndarray, v: np.ndarray, t: float = 0.0
) -> tuple[np.ndarray, float]:
    """The velocity nearest in W with ḟ = 0, and how large ḟ was."""
    rows = m.rows.evaluate(t, m.unpack(q, v))
    size = float(np.max(np.abs(rows.fd), initial=0.0))
    if size == 0.0:
        return v, 0.0
    m.system.set(rows.values)
    solved = m.system.solve(np.zeros(m.nv), -rows.fd)
    after = v + solved.x
    left = m.rows.evaluate(t, m.unpack(q, after)).fd
    if np.max(np.abs(left)) > 1e-6 * max(1.0, size):
        worst = int(np.argmax(np.abs(left)))
        raise RobotError(
            f"mechanism {m.name!r}: coupling {m.rows.names[worst]!r} contradicts the others: no"
            f" velocities meet it (residual {abs(left[worst]):.3g} m/s or rad/s); remove it or one"
            " that it repeats"
        )
    return after, size
