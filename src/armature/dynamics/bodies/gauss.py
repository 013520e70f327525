"""Any mechanism (V1): bodies, motors and couplings; accelerations minimise Gauss's constraint (1.2)
under A ẍ + B s̈ = D (1.3).

A body's state: its centre of mass p (world) and quaternion; its velocity (v of the centre in world
axes, ω in its own axes). Motors and gears act on coordinates s, declared on joints. State vectors:
q = (p, quaternion of each body; s), v = (v, ω of each body; ṡ)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics.bodies import kkt
from armature.dynamics.bodies.assembly import Bodies, Couplings, Loads, unpack
from armature.dynamics.bodies.couplings import GROUND, Coupling, coordinate_row
from armature.dynamics.bodies.elements import TorsionSpring
from armature.errors import ArgumentError, RobotError

CLOSED = 1e-12  # residual at which a configuration counts as closed, m or rad
# relative error of a coupling's row above which the couplings contradict each other
CONTRADICTION = 1e-6


@dataclass(frozen=True)
class Body:
    """A rigid body, its frame at the centre of mass.

    mass: kg.  inertia: principal moments (3), or (xx, yy, zz, xy, xz, yz), about the centre in the
    body's axes, kg·m².
    position: centre of mass at the reference placement, m.  rotation: rows of the matrix that takes
    the body's axes to the world's there. velocity (m/s, world), spin (rad/s, body axes): at the
    start, where a simulation is not told otherwise."""

    name: str
    mass: float = 0.0
    inertia: tuple[float, ...] = (0.0, 0.0, 0.0)
    position: Sequence[float] = (0.0, 0.0, 0.0)
    rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    spin: Sequence[float] = (0.0, 0.0, 0.0)

    @property
    def J(self) -> np.ndarray:
        """Inertia (3, 3) about the centre."""
        xx, yy, zz, xy, xz, yz = (*self.inertia, 0.0, 0.0, 0.0)[:6]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class Motor:
    """A coordinate of a joint, on which a motor, a gear, a spring or a prescribed motion may act.

    joint: name of a revolute, prismatic or cylindrical coupling.  kind: "angle" or "slide"; zero at
    the reference placement.
    rotor: inertia d of the motor's rotor, kg·m², carried by the joint's first body.  ratio: rotor
    angle per coordinate.
    gyroscopic: the rotor's axis is the joint's and turns with the carrier (V4); else its inertia
    acts on the coordinate only."""

    name: str
    joint: str
    kind: str = "angle"
    rotor: float = 0.0
    ratio: float = 1.0
    gyroscopic: bool = True


class Accelerations(NamedTuple):
    """a (nv,): accelerations of all bodies and coordinates.  mu (rows,): multipliers.  iterations
    of the solver."""

    a: np.ndarray
    mu: np.ndarray
    iterations: int
    solved: kkt.Solved


class Reaction(NamedTuple):
    """What a coupling does to a body, world axes: force (3,) N, torque (3,) N·m about the joint's
    point (else the body's centre)."""

    force: np.ndarray
    torque: np.ndarray


class Redundancy(NamedTuple):
    """rows of (1.3) and their rank; degrees of freedom; redundant: {coupling: how many of its rows
    follow from couplings before it}."""

    rows: int
    rank: int
    freedom: int
    redundant: dict[str, int]


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Bodies, couplings between them (or with "ground"), motors on joints, force elements, gravity
    (m/s²)."""

    name: str
    bodies: Sequence[Body]
    couplings: Sequence[Coupling]
    motors: Sequence[Motor] = ()
    elements: Sequence[Any] = ()
    gravity: Sequence[float] = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        for field in ("bodies", "couplings", "motors", "elements"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        check(self)

    # sizes and states ----------------------------------------------------------------------------

    @property
    def nq(self) -> int:
        """Length of q."""
        return 7 * len(self.bodies) + len(self.motors)

    @property
    def nv(self) -> int:
        """Length of v."""
        return 6 * len(self.bodies) + len(self.motors)

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Body → its number; the ground comes last."""
        return {b.name: i for i, b in enumerate(self.bodies)} | {GROUND: len(self.bodies)}

    @cached_property
    def motor_index(self) -> dict[str, int]:
        """Motor (coordinate) → its number."""
        return {m.name: i for i, m in enumerate(self.motors)}

    def reference(self) -> tuple[np.ndarray, np.ndarray]:
        """q and v at the reference placement; coordinates and their rates zero (`assemble` fills
        these in)."""
        x = [
            np.concatenate([b.position, quaternion(np.array(b.rotation, dtype=float))])
            for b in self.bodies
        ]
        u = [np.concatenate([b.velocity, b.spin]) for b in self.bodies]
        zero = np.zeros(len(self.motors))
        return np.concatenate([*x, zero]).astype(float), np.concatenate([*u, zero]).astype(float)

    def unpack(self, q: np.ndarray, v: np.ndarray) -> Bodies:
        """Poses and velocities of all bodies (the ground last) and the coordinates."""
        return unpack(q, v, len(self.bodies))

    # the parts of (1.2) and (1.3) ----------------------------------------------------------------

    @cached_property
    def rows(self) -> Couplings:
        """The couplings as arrays."""
        joints = {c.name: c for c in self.couplings}
        all_rows = [
            *self.couplings,
            *(coordinate_row(m.name, joints[m.joint], m.kind) for m in self.motors),
        ]
        return Couplings(
            all_rows, self.body_index, self.motor_index, [self._numbers(c) for c in all_rows]
        )

    def _numbers(self, c: Coupling) -> np.ndarray:
        """A joint's point and axes in the frames of its two bodies, then its own numbers."""
        if c.joint is None:
            return np.array(c.numbers, dtype=float)
        parts = []
        for body, at in zip(c.bodies, (c.joint.at_a, c.joint.at_b)):
            R, p = self._placed(body)
            parts += [R.T @ (np.array(at) - p), (R.T @ np.array(c.joint.axes).T).ravel()]
        return np.concatenate([*parts, np.array(c.numbers, dtype=float)])

    def _placed(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        if name == GROUND:
            return np.eye(3), np.zeros(3)
        body = self.bodies[self.body_index[name]]
        return np.array(body.rotation, dtype=float), np.array(body.position, dtype=float)

    @cached_property
    def weight(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """W as (values, rows, columns): m and J of each body, and the rotors' d r² and d r ε
        (V4)."""
        entries: list[tuple[float, int, int]] = []
        for i, body in enumerate(self.bodies):
            entries += [(body.mass, 6 * i + k, 6 * i + k) for k in range(3)]
            J = body.J
            entries += [
                (J[k, l], 6 * i + 3 + k, 6 * i + 3 + l)
                for k in range(3)
                for l in range(3)
                if k == l or J[k, l]
            ]
        for j, motor in enumerate(self.motors):
            s = 6 * len(self.bodies) + j
            entries.append((motor.rotor * motor.ratio**2, s, s))
            carrier, axis = self._spin_axis(motor)
            if carrier < len(self.bodies):
                for k in range(3):
                    value = motor.rotor * motor.ratio * axis[k]
                    entries += (
                        [(value, s, 6 * carrier + 3 + k), (value, 6 * carrier + 3 + k, s)]
                        if value
                        else []
                    )
        values, rows, columns = zip(*entries)
        return np.array(values, dtype=float), np.array(rows), np.array(columns)

    def _spin_axis(self, motor: Motor) -> tuple[int, np.ndarray]:
        """The carrier of a rotor and the rotor's axis in the carrier's frame; zero without
        gyroscopic coupling."""
        joint = next(c for c in self.couplings if c.name == motor.joint)
        R, _ = self._placed(joint.bodies[0])
        assert joint.joint is not None
        axis = (
            R.T @ np.array(joint.joint.axes[2])
            if motor.gyroscopic and motor.kind == "angle"
            else np.zeros(3)
        )
        return self.body_index[joint.bodies[0]], axis

    @cached_property
    def loads(self) -> Loads:
        """The force elements as one kernel."""
        return Loads(self.elements, self.body_index, self.motor_index)

    @cached_property
    def _constants(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        J = np.array([b.J for b in self.bodies])
        weights = np.array([b.mass for b in self.bodies])[:, None] * np.array(self.gravity)
        spins = [self._spin_axis(m) for m in self.motors]
        axes = np.array([e * m.rotor * m.ratio for (_, e), m in zip(spins, self.motors)]).reshape(
            -1, 3
        )
        return (
            J,
            weights,
            np.array([c for c, _ in spins], dtype=int),
            axes,
            np.array([m.rotor > 0 for m in self.motors], dtype=bool),
        )

    def forces(self, t: float, x: Bodies, torques: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """W z̈ (nv,): weight, elements, motors, −ω × Jω and the rotors' gyroscopic torques; and the
        applied part alone (no weight)."""
        J, weights, carrier, axes, _ = self._constants
        nb = len(self.bodies)
        loads, efforts = self.loads.evaluate(t, x)
        applied = np.concatenate([loads.ravel(), efforts + torques])
        w = x.u[:nb, 3:]
        inertial = np.zeros((nb + 1, 6))
        inertial[:nb, :3] = weights
        inertial[:nb, 3:] = -np.cross(w, np.einsum("bij,bj->bi", J, w))
        if len(carrier):
            np.add.at(inertial[:, 3:], carrier, -x.ds[:-1, None] * np.cross(x.u[carrier, 3:], axes))
        total = applied.copy()
        total[: 6 * nb] += inertial[:nb].ravel()
        return total, applied

    @cached_property
    def system(self) -> kkt.System:
        """The KKT system's pattern, analysed once."""
        return kkt.System(self.nv, self.rows.rows, self.weight, *self.rows.pattern)


def quaternion(R: np.ndarray) -> np.ndarray:
    """Unit quaternion (x, y, z, w) of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()


def check(m: Mechanism) -> None:
    """Refuse what contradicts itself: unknown or repeated names, negative masses, motors on joints
    that have no such coordinate."""
    for what, items in (("body", m.bodies), ("coupling", m.couplings), ("motor", m.motors)):
        seen: set[str] = set()
        for item in items:
            if item.name in seen or item.name == GROUND:
                raise RobotError(
                    f"mechanism {m.name!r}: the {what} name {item.name!r} is taken; rename one of"
                    " them"
                )
            seen.add(item.name)
    if not m.bodies:
        raise RobotError(f"mechanism {m.name!r} has no body; give at least one")
    for body in m.bodies:
        if not (
            body.mass >= 0
            and len(body.inertia) in (3, 6)
            and np.all(np.linalg.eigvalsh(body.J) >= -1e-12)
        ):
            raise RobotError(
                f"body {body.name!r}: mass {body.mass} kg and inertia {body.inertia} kg·m² must not"
                " be negative"
            )
    for c in m.couplings:
        for b in c.bodies:
            if b not in m.body_index:
                raise RobotError(
                    f"coupling {c.name!r} joins {b!r}, which is no body; the bodies are:"
                    f" {', '.join(m.body_index)}"
                )
        for s in c.coordinates:
            if s not in m.motor_index:
                raise RobotError(
                    f"coupling {c.name!r} uses the coordinate {s!r}; declare it: Motor({s!r},"
                    " joint)"
                )
    joints = {c.name for c in m.couplings}
    for motor in m.motors:
        if motor.joint not in joints:
            raise RobotError(
                f"motor {motor.name!r} sits on {motor.joint!r}, which is no coupling; the couplings"
                f" are: {', '.join(joints)}"
            )
    _check_elements(m)


def _check_elements(m: Mechanism) -> None:
    for e in m.elements:
        known: Mapping[str, int] = m.motor_index if isinstance(e, TorsionSpring) else m.body_index
        for name in (e.joint,) if isinstance(e, TorsionSpring) else e.bodies:
            if name not in known:
                raise ArgumentError(
                    f"a {type(e).__name__} acts on {name!r}, which is unknown; known are:"
                    f" {', '.join(known)}"
                )
