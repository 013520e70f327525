"""The mechanism as numbers for the dynamics: a tree of moving bodies with one joint each.

Links welded together are merged (their names stay valid as frames); a planar joint becomes three
bodies; a joint about a slanted axis gets a body frame turned so that the axis is a coordinate axis,
which keeps the traced expressions short; a mimic joint is a body that shares its master's
coordinate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from armature.errors import RobotError
from armature.robot.parts import Joint, Link
from armature.robot.shape import Vec3

# entries of rotation matrices nearer than this to 0 or ±1 are rounding of a right angle
SNAP = 1e-15


@dataclass(frozen=True, eq=False)
class Body:
    """One moving body and the joint that carries it.

    parent: index of the parent body, −1 for the world.  kind: "revolute", "prismatic" or "free".
    R, p: joint frame in the parent body's frame at coordinate 0, (3, 3) and (3,), m.  axis: ± a
    coordinate axis, (3,). mass, com (3,), inertia (3, 3) about the frame's origin: of everything
    welded to this body, in its frame.
    q, v: first index of its coordinates in q and v.  Its coordinate is multiplier · q[q] + offset.
    rotor: d, kg·m²; ratio; rotor_axis (3,) in the parent body's frame, zero without gyroscopic
    coupling."""

    name: str
    parent: int
    kind: str
    R: np.ndarray
    p: np.ndarray
    axis: np.ndarray
    q: int
    v: int
    multiplier: float = 1.0
    offset: float = 0.0
    mimic: bool = False
    mass: float = 0.0
    first_moment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    rotor: float = 0.0
    ratio: float = 1.0
    rotor_axis: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def com(self) -> np.ndarray:
        """Centre of mass, m; the origin for a massless body."""
        return self.first_moment / self.mass if self.mass > 0 else np.zeros(3)


@dataclass(frozen=True, eq=False)
class Frame:
    """Where a link's frame sits: on which body (−1: the world), turned and shifted by R, p."""

    body: int
    R: np.ndarray
    p: np.ndarray


@dataclass(frozen=True, eq=False)
class Tree:
    """Bodies in an order where parents come first, frames of all links by name, gravity (3,), and
    the sizes of q and v."""

    bodies: tuple[Body, ...]
    frames: dict[str, Frame]
    gravity: np.ndarray
    nq: int
    nv: int
    joint_names: tuple[str, ...]

    @property
    def has_mimic(self) -> bool:
        """True when two bodies share one coordinate."""
        return any(b.mimic for b in self.bodies)

    def children(self, i: int) -> list[int]:
        """Indices of the bodies carried by body i (−1: by the world)."""
        return [k for k, b in enumerate(self.bodies) if b.parent == i]

    def path(self, i: int) -> list[int]:
        """Indices of the bodies from the base to body i, both included."""
        found = []
        while i >= 0:
            found.append(i)
            i = self.bodies[i].parent
        return found[::-1]


def build_tree(
    links: tuple[Link, ...], joints: tuple[Joint, ...], base: str, gravity: Vec3
) -> Tree:
    """The tree of a robot's links and joints; parents first, document order within a branch."""
    by_name = {link.name: link for link in links}
    outgoing: dict[str, list[Joint]] = {}
    for joint in joints:
        outgoing.setdefault(joint.parent, []).append(joint)
    builder = _Builder(joints, gravity)
    builder.place(by_name[base], Frame(-1, np.eye(3), np.zeros(3)))
    stack = list(reversed(outgoing.get(base, [])))
    while stack:
        joint = stack.pop()
        builder.connect(joint, by_name[joint.child])
        stack.extend(reversed(outgoing.get(joint.child, [])))
    return builder.finish()


class _Builder:
    """Bodies, frames and coordinate numbers while the robot's joints are walked, base to tip."""

    def __init__(self, joints: tuple[Joint, ...], gravity: Vec3):
        self.gravity = gravity
        self.bodies: list[Body] = []
        self.frames: dict[str, Frame] = {}
        self.nq = self.nv = 0
        self.names: list[str] = []
        self.coordinate: dict[str, tuple[int, int]] = {}  # joint → its first indices in q and v
        self.joints = {joint.name: joint for joint in joints}

    def connect(self, joint: Joint, link: Link) -> None:
        """Add the joint and the link that it carries."""
        frame = self.frames[joint.parent]
        R = snap(frame.R @ np.array(joint.rotation))
        p = frame.R @ np.array(joint.position) + frame.p
        if joint.kind == "fixed":
            self.place(link, Frame(frame.body, R, p))
            return
        if joint.rotor is not None and joint.kind in ("planar", "floating"):
            raise RobotError(
                f"joint {joint.name!r} is {joint.kind} and cannot have a rotor; use one-axis"
                " joints, or remove the rotor"
            )
        turn = to_coordinate_axis(joint.axis) if joint.kind != "floating" else np.eye(3)
        axis = np.round(turn.T @ np.array(joint.axis))
        R = snap(R @ turn)
        if joint.kind == "planar":
            last = self._planar(joint, frame.body, R, p)
        elif joint.kind == "floating":
            last = self._free(joint, frame.body, R, p)
        else:
            last = self._single(joint, frame, R, p, axis)
        self.place(link, Frame(last, snap(turn.T), np.zeros(3)))

    def _single(
        self, joint: Joint, frame: Frame, R: np.ndarray, p: np.ndarray, axis: np.ndarray
    ) -> int:
        kind = "prismatic" if joint.kind == "prismatic" else "revolute"
        root, multiplier, offset = self.master(joint)
        if root is joint:
            self._number(joint.name, [joint.name], 1, 1)
        body = Body(
            joint.name, frame.body, kind, R, p, axis, -1, -1, multiplier, offset, root is not joint
        )
        if joint.rotor is not None:
            spin = np.zeros(3) if joint.rotor.axis is None else frame.R @ np.array(joint.rotor.axis)
            body = replace(
                body, rotor=joint.rotor.inertia, ratio=joint.rotor.ratio, rotor_axis=spin
            )
        return self._add(body)

    def master(self, joint: Joint) -> tuple[Joint, float, float]:
        """(independent joint, multiplier, offset) with coordinate = multiplier · master + offset,
        through chains of mimics."""
        multiplier, offset, seen = 1.0, 0.0, {joint.name}
        while joint.mimic is not None:
            offset += multiplier * joint.mimic.offset
            multiplier *= joint.mimic.multiplier
            joint = self.joints[joint.mimic.joint]
            if joint.name in seen:
                raise RobotError(
                    f"joint {joint.name!r} mimics itself through {', '.join(sorted(seen))}; remove"
                    " one of the mimics"
                )
            seen.add(joint.name)
        if joint.kind not in ("revolute", "continuous", "prismatic"):
            raise RobotError(
                f"joint {joint.name!r} is {joint.kind} and cannot be mimicked; mimic a revolute or"
                " prismatic joint"
            )
        return joint, multiplier, offset

    def _planar(self, joint: Joint, parent: int, R: np.ndarray, p: np.ndarray) -> int:
        """Two translations in the plane and a rotation about its normal, on massless bodies."""
        names = [f"{joint.name}.x", f"{joint.name}.y", f"{joint.name}.angle"]
        q, v = self._number(joint.name, names, 3, 3)
        steps = (
            ("prismatic", (1.0, 0.0, 0.0)),
            ("prismatic", (0.0, 1.0, 0.0)),
            ("revolute", (0.0, 0.0, 1.0)),
        )
        for k, (kind, axis) in enumerate(steps):
            parent = self._add(Body(names[k], parent, kind, R, p, np.array(axis), q + k, v + k))
            R, p = np.eye(3), np.zeros(3)
        return parent

    def _free(self, joint: Joint, parent: int, R: np.ndarray, p: np.ndarray) -> int:
        if parent >= 0:
            carrier = self.bodies[parent].name
            raise RobotError(
                f"floating joint {joint.name!r} hangs on the moving link {joint.parent!r} (joint"
                f" {carrier!r}); only the base may float: attach it to the world, or describe it by"
                " six one-axis joints"
            )
        q, v = self._number(joint.name, [joint.name], 7, 6)
        return self._add(Body(joint.name, -1, "free", R, p, np.zeros(3), q, v))

    def _number(self, joint: str, names: list[str], nq: int, nv: int) -> tuple[int, int]:
        self.coordinate[joint] = self.nq, self.nv
        self.names += names
        self.nq += nq
        self.nv += nv
        return self.coordinate[joint]

    def _add(self, body: Body) -> int:
        self.bodies.append(body)
        return len(self.bodies) - 1

    def place(self, link: Link, frame: Frame) -> None:
        """Weld a link to a body: m, m c and J about the body's origin add up."""
        self.frames[link.name] = frame
        if frame.body < 0:
            return
        xx, yy, zz, xy, xz, yz = link.inertia
        J = frame.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ frame.R.T
        c = frame.R @ np.array(link.com) + frame.p
        J = J + link.mass * (c @ c * np.eye(3) - np.outer(c, c))
        body = self.bodies[frame.body]
        self.bodies[frame.body] = replace(
            body,
            mass=body.mass + link.mass,
            first_moment=body.first_moment + link.mass * c,
            inertia=body.inertia + (J + J.T) / 2,
        )

    def finish(self) -> Tree:
        """Mimic joints may stand before their masters: their coordinates are filled in last."""
        for i, body in enumerate(self.bodies):
            if body.q < 0:
                root, _, _ = self.master(self.joints[body.name])
                q, v = self.coordinate[root.name]
                self.bodies[i] = replace(body, q=q, v=v)
        gravity = np.array(self.gravity, dtype=float)
        return Tree(tuple(self.bodies), self.frames, gravity, self.nq, self.nv, tuple(self.names))


def snap(R: np.ndarray) -> np.ndarray:
    """A rotation matrix whose right angles are exact."""
    whole = np.round(R)
    return np.where(np.abs(R - whole) < SNAP, whole, R)


def to_coordinate_axis(axis: tuple[float, float, float]) -> np.ndarray:
    """A rotation S such that Sᵀ·axis is ± a coordinate axis: the identity where it is one already,
    else S e_z = axis."""
    a = np.array(axis, dtype=float)
    a = a / np.linalg.norm(a)
    if (
        np.sort(np.abs(a))[1] < SNAP
    ):  # the two others vanish; the largest alone is 1 within rounding even when 4e-8 rad off
        return np.eye(3)
    x = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(a, x), a])
