"""All drives of a robot together: which axis moves which joint, and how a joint's torque is
shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armature.drive.corner import EXACT, Smooth, rounded
from armature.drive.drive import Drive, Flow
from armature.drive.friction import Friction
from armature.drive.limit import Limit
from armature.drive.thermal import REFERENCE_TEMPERATURE
from armature.errors import ArgumentError, RobotError
from armature.spatial.numbers import Number, is_symbol

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Coupling:
    """Drives that move joints together by a constant matrix: axis velocities = matrix × joint
    velocities.

    One drive on one joint: matrix ((1,),), which is also what is taken if none is given. Two motors
    on one joint: ((1,), (1,)).
    A differential: ((1, 1), (1, −1)). matrix: one row for each drive, one column for each joint;
    full column rank. Where there are more drives than joints the torque is shared so that copper
    heat is least."""

    joints: tuple[str, ...]
    drives: tuple[Drive, ...]
    matrix: Matrix = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "drives", tuple(self.drives))
        m, n = len(self.drives), len(self.joints)
        rows = self.matrix or ((1.0,),) * m if n == 1 else self.matrix
        object.__setattr__(self, "matrix", tuple(tuple(float(x) for x in row) for row in rows))
        if not m or len(self.matrix) != m or any(len(row) != n for row in self.matrix):
            raise RobotError(
                f"coupling of {', '.join(self.joints)}: the matrix needs {m} rows (drives) of {n}"
                f" numbers (joints), got {self.matrix}"
            )
        if np.linalg.matrix_rank(np.array(self.matrix)) < n:
            raise RobotError(
                f"coupling of {', '.join(self.joints)}: the matrix {self.matrix} leaves a motion of"
                " these joints without a drive; its columns must be independent"
            )

    @property
    def share(self) -> np.ndarray:
        """(m, n): axis torques = share × joint torques, with the least copper heat Σ R (torque/K)²:
        W T (Tᵀ W T)⁻¹, W = K²/R."""
        T = np.array(self.matrix)
        if T.size == 1:
            return 1.0 / T  # exactly, whatever the drive
        W = np.diag([d.constant**2 / d.motor.resistance for d in self.drives])
        return W @ T @ np.linalg.inv(T.T @ W @ T)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The joint's name for a single drive, else the drive's own name or joint names and a
        number."""
        if len(self.drives) == 1:
            return self.joints
        return tuple(
            d.name or f"{'+'.join(self.joints)}.{k + 1}" for k, d in enumerate(self.drives)
        )


@dataclass(frozen=True)
class Drivetrain:
    """The m drives of a robot with n joints, ready to compute: plain functions on columns of
    numbers, arrays or symbols.

    joint_names: n.  axis_names, drives: m.
    matrix: (m, n), axis velocity = matrix × joint velocity.  share: (m, n), axis torque = share ×
    joint torque.
    frictions: n, of the joints themselves (each drive may have its own on top).
    """

    joint_names: tuple[str, ...]
    axis_names: tuple[str, ...]
    drives: tuple[Drive, ...]
    matrix: Matrix
    share: Matrix
    frictions: tuple[Friction, ...]

    @property
    def driven(self) -> tuple[bool, ...]:
        """Which joints have a drive."""
        return tuple(any(row[j] != 0 for row in self.share) for j in range(len(self.joint_names)))

    def joint_friction(
        self, torque: Any, velocity: Any, smooth: Smooth | Sequence[Smooth] = EXACT
    ) -> list[Number]:
        """Friction torque of each joint, N·m (N); torque and velocity (..., n) or n numbers."""
        tau, v = self._columns(torque), self._columns(velocity)
        return [
            f.torque(vj, tj, s)
            for f, tj, vj, s in zip(self.frictions, tau, v, self._of_joints(smooth))
        ]

    def drive_friction(
        self, torque: Any, velocity: Any, smooth: Smooth | Sequence[Smooth] = EXACT
    ) -> list[Number]:
        """Friction of the drives as felt by each joint, N·m (N): Wᵀ F(W v, share τ), W the matrix;
        torque and velocity (..., n)."""
        each = self._of_joints(smooth)
        axes = zip(self.drives, self.axis_velocity(velocity), self.axis_torque(torque), self.matrix)
        taken = [d.friction.torque(v, load, self._of_axis(row, each)) for d, v, load, row in axes]
        felt = (
            [row[j] * f for row, f in zip(self.matrix, taken) if row[j]]
            for j in range(len(self.joint_names))
        )
        return [sum(terms[1:], start=terms[0]) if terms else 0.0 for terms in felt]

    def delivered_torque(
        self, torque: Any, velocity: Any, smooth: Smooth | Sequence[Smooth] = EXACT
    ) -> list[Number]:
        """Torque that the gears deliver at each joint, N·m (N): what a joint's torque limit limits.

        It moves the bodies and rotors (`torque`) and overcomes all friction on the joint's side of
        the gear: that of the joint and that of its drives, wherever the user gave it. What the gear
        itself and the motor's iron lose comes before it."""
        drag = self.joint_friction(torque, velocity, smooth)
        needed = [t + d for t, d in zip(self._columns(torque), drag)]
        return [t + d for t, d in zip(needed, self.drive_friction(needed, velocity, smooth))]

    def axis_velocity(self, velocity: Any) -> list[Number]:
        """Velocity of each axis from those of the joints (..., n)."""
        return [_combine(row, self._columns(velocity)) for row in self.matrix]

    def axis_torque(self, torque: Any) -> list[Number]:
        """Torque of each axis from those of the joints (..., n)."""
        return [_combine(row, self._columns(torque)) for row in self.share]

    def flow(
        self,
        torque: Any,
        velocity: Any,
        acceleration: Any = None,
        *,
        smooth: Smooth | Sequence[Smooth] = EXACT,
        temperature: Any = None,
    ) -> list[Flow]:
        """What every axis does, for joint torques of rigid bodies and rotors; the joints' friction
        is added here.

        torque, velocity, acceleration: (..., n) arrays, or n numbers or symbols each.  temperature:
        m winding temperatures, °C.
        smooth: how corners are rounded, one for all or one for each joint.
        """
        each = self._of_joints(smooth)
        drag = self.joint_friction(torque, velocity, each)
        needed = [t + d for t, d in zip(self._columns(torque), drag)]
        tau, v = [_combine(row, needed) for row in self.share], self.axis_velocity(velocity)
        a = [0.0] * len(v) if acceleration is None else self.axis_velocity(acceleration)
        T = [REFERENCE_TEMPERATURE] * len(v) if temperature is None else temperature
        rounding = [self._of_axis(row, each) for row in self.matrix]
        sides = self._sides(torque, velocity, each, tau)
        found = zip(self.drives, tau, v, a, T, rounding, sides)
        return [
            d.flow(*state, smooth=s, temperature=Tk, sides=both) for d, *state, Tk, s, both in found
        ]

    def _sides(
        self, torque: Any, velocity: Any, each: list[Smooth], blended: list[Number]
    ) -> list[Any]:
        """Torques of every axis if its joint moves forward, and backward, which differ by the
        joint's friction; None without rounding.

        An axis that moves several joints has no such sides."""
        if not any(rounded(s.torque) for s in each):
            return [None] * len(self.drives)
        both = []
        for sign in (1.0, -1.0):
            drag = self.joint_friction(
                torque, velocity, [replace(s, direction=sign, blend=None) for s in each]
            )
            needed = [t + d for t, d in zip(self._columns(torque), drag)]
            both.append([_combine(row, needed) for row in self.share])
        alone = [sum(w != 0.0 for w in row) == 1 and max(row) > 0.0 for row in self.matrix]
        return [pair if one else (t, t) for *pair, one, t in zip(*both, alone, blended)]

    def _of_joints(self, smooth: Smooth | Sequence[Smooth]) -> list[Smooth]:
        return [smooth] * len(self.joint_names) if isinstance(smooth, Smooth) else list(smooth)

    @staticmethod
    def _of_axis(row: tuple[float, ...], each: list[Smooth]) -> Smooth:
        """An axis that moves as one joint does knows its direction; one of a coupling does not."""
        joints = [j for j, w in enumerate(row) if w != 0.0]
        return (
            each[joints[0]]
            if len(joints) == 1 and row[joints[0]] == 1.0
            else replace(each[joints[0]], direction=0.0, blend=None)
        )

    def limits(self) -> tuple[tuple[int, str, Limit], ...]:
        """All limits of all drives as (axis index, axis name, limit)."""
        return self._limits

    @cached_property
    def _limits(self) -> tuple[tuple[int, str, Limit], ...]:
        return tuple(
            (k, self.axis_names[k], limit)
            for k, d in enumerate(self.drives)
            for limit in d.limits()
        )

    def _columns(self, x: Any) -> list[Number]:
        n = len(self.joint_names)
        if isinstance(x, np.ndarray):
            columns = (
                list(x)
                if x.ndim == 1
                else [x[..., j] for j in range(x.shape[-1])]
                if x.ndim
                else []
            )
        else:
            columns = [x[j] for j in range(x.numel())] if is_symbol(x) else list(x)
        if len(columns) != n:
            raise ArgumentError(
                f"needs one value for each of the {n} joints ({', '.join(self.joint_names)}), got"
                f" {len(columns)}"
            )
        return columns


def stack(flows: Sequence[Flow], quantity: str) -> np.ndarray:
    """One quantity of all axes as an array (..., m)."""
    return np.stack(np.broadcast_arrays(*[getattr(f, quantity) for f in flows]), axis=-1)


def drivetrain(
    couplings: Sequence[Coupling], joint_names: Sequence[str], frictions: Sequence[Friction] = ()
) -> Drivetrain:
    """Lay out couplings on the joints of a robot, in the order of q."""
    names = tuple(joint_names)
    column = {name: j for j, name in enumerate(names)}
    _check_joints(couplings, column)
    ordered = sorted(couplings, key=lambda c: column[c.joints[0]])
    matrix, share = (
        tuple(row for c in ordered for row in _spread(getattr(c, which), c.joints, column))
        for which in ("matrix", "share")
    )
    return Drivetrain(
        names,
        tuple(name for c in ordered for name in c.axis_names),
        tuple(d for c in ordered for d in c.drives),
        matrix,
        share,
        tuple(frictions) or (Friction(),) * len(names),
    )


def _spread(block: Any, joints: tuple[str, ...], column: dict[str, int]) -> list[tuple[float, ...]]:
    rows = np.zeros((len(block), len(column)))
    rows[:, [column[j] for j in joints]] = block
    return [tuple(float(x) for x in row) for row in rows]


def _check_joints(couplings: Sequence[Coupling], column: dict[str, int]) -> None:
    used: set[str] = set()
    for name in (j for c in couplings for j in c.joints):
        if name not in column:
            raise RobotError(
                f"drive for {name!r}: the robot has no such moving joint; it has"
                f" {', '.join(column)}"
            )
        if name in used:
            raise RobotError(
                f"joint {name!r} has two drives; put both into one Coupling to share its load"
            )
        used.add(name)


def _combine(row: tuple[float, ...], columns: Sequence[Number]) -> Number:
    """Σ row_j column_j without the zeros, so that symbols stay sparse."""
    terms = [x if w == 1.0 else w * x for w, x in zip(row, columns) if w != 0.0]
    return sum(terms[1:], start=terms[0])
