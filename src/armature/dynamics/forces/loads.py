"""Loads in any section of any link, joint reactions, and the effort that a motion asks of the
drives (Z8). Batched, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from armature.annotations import Numbers
from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.forces.beam import NEAR, Beam, beam_of
from armature.dynamics.kernels import kernel
from armature.dynamics.recursion.friction import friction_torque
from armature.dynamics.recursion.kinematics import (
    Motion,
    Placement,
    motions,
    placements,
    rate,
    spin_matrix,
    still,
)
from armature.dynamics.recursion.recursive import Spin, Wrench, newton_euler, outside_wrenches
from armature.dynamics.recursion.sweep import tip_to_base
from armature.errors import ArgumentError
from armature.kernel.trace import Shape
from armature.motion.trajectory import Trajectory
from armature.robot import guard
from armature.robot.model import Robot
from armature.robot.tree import Body, Tree
from armature.spatial.vectors import Array, cross, pack

Wrenches = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class SectionLoads:
    """What the near part of a link exerts on the far part through a section.

    wrench: (..., 6) force (N) and moment (N·m) about the section's point, in the link's axes.
    axis: (3,) the beam's direction, link axes."""

    wrench: np.ndarray
    axis: np.ndarray

    @property
    def axial(self) -> np.ndarray:
        """(...) N along the beam; positive pushes the far part outwards (compression)."""
        return self.wrench[..., :3] @ self.axis

    @property
    def shear(self) -> np.ndarray:
        """(...) N across the beam, magnitude."""
        return np.linalg.norm(self.wrench[..., :3] - self.axial[..., None] * self.axis, axis=-1)

    @property
    def torsion(self) -> np.ndarray:
        """(...) N·m about the beam."""
        return self.wrench[..., 3:] @ self.axis

    @property
    def bending(self) -> np.ndarray:
        """(...) N·m across the beam, magnitude."""
        return np.linalg.norm(self.wrench[..., 3:] - self.torsion[..., None] * self.axis, axis=-1)


def section_loads(
    robot: Robot,
    q: Numbers,
    v: Numbers | None,
    a: Numbers | None,
    link: str,
    at: Any = None,
    along: Any = None,
    *,
    beam: Beam | None = None,
    wrenches: Wrenches | None = None,
) -> SectionLoads:
    """Six components of the load in sections of a link, gravity and inertia forces included.

    q (..., nq), v, a (..., n); None for v or a is zero: the static load.
    at: the section's point in the link's frame, (3,), m, its origin by default; the section is the
    plane through it across the link.
    along: instead, how far along the link's beam, 0 (its beginning) … 1. One section gives wrenches
    (..., 6); several, at (K, 3) or along (K,), give (..., K, 6).
    beam: where the link's mass lies (`Beam`): by default a uniform beam from the link's origin to
    the farthest joint that it carries, or, for a last link, through its centre of mass. What of the
    link and of all it carries lies beyond the section counts.
    wrenches: {link: (..., 6) force and torque on the link at its origin, world axes}.
    """
    _refuse_loops(robot)
    guard.known("link", link, robot.tree.frames)
    for name in wrenches or ():
        guard.known("link", name, robot.tree.frames)
    beam = beam_of(robot, link) if beam is None else beam
    points = _points(beam, at, along)
    rest = np.zeros(robot.nv)
    # every section (its numbers on an axis before the last) against every state
    state = [
        np.asarray(x, dtype=float)[..., None, :]
        for x in (q, rest if v is None else v, rest if a is None else a)
    ]
    given = [np.asarray(w, dtype=float)[..., None, :] for w in (wrenches or {}).values()]
    parts, order = [], []
    for far, sections in _stretches(robot, beam, points.reshape(-1, 3)):
        numbers = np.array(
            [[*beam.beyond(robot.link(link), float(beam.fraction(p))), *p] for _, p in sections]
        )
        parts.append(_section(robot, link, far, tuple(wrenches or ()))(*state, numbers, *given))
        order += [k for k, _ in sections]
    wrench = np.concatenate(parts, axis=-2)[..., np.argsort(order), :]
    return SectionLoads(wrench if points.ndim == 2 else wrench[..., 0, :], beam.direction)


def _refuse_loops(robot: Robot) -> None:
    if robot.loops:
        raise ArgumentError(
            f"robot {robot.name!r} has closed loops, whose forces its sections carry too; take the"
            " robot without them (loops=()) and give the loops' forces as wrenches on the links"
            " that they join"
        )


def _points(beam: Beam, at: Any, along: Any) -> np.ndarray:
    """The sections' points (3,) or (K, 3)."""
    if at is not None and along is not None:
        raise ArgumentError(
            "give at (points of the link's frame) or along (parts of its length), not both"
        )
    try:
        given = np.asarray(
            along if along is not None else np.zeros(3) if at is None else at, dtype=float
        )
    except (TypeError, ValueError):
        raise ArgumentError(f"at = {at!r}, along = {along!r}: give numbers") from None
    if along is not None and not (given.size and np.all((given >= 0.0) & (given <= 1.0))):
        raise ArgumentError(
            f"along is {along!r}; give how far along the link the section is, from 0 to 1"
        )
    points = given if along is None else beam.start + given[..., None] * (beam.end - beam.start)
    if (
        points.ndim not in (1, 2)
        or points.shape[-1] != 3
        or points.size == 0
        or not np.all(np.isfinite(points))
    ):
        raise ArgumentError(
            f"at has shape {points.shape}; give a point of the link's frame, (3,), or several, (K,"
            " 3), m"
        )
    return points


class Far(NamedTuple):
    """What lies beyond a section: names of the links that hang there, and whether the link's own
    origin does."""

    links: tuple[str, ...]
    origin: bool


def _stretches(
    robot: Robot, beam: Beam, points: np.ndarray
) -> list[tuple[Far, list[tuple[int, np.ndarray]]]]:
    """The sections (number, point) put together where the same links lie beyond them."""
    found: dict[Far, list[tuple[int, np.ndarray]]] = {}
    for k, p in enumerate(points):
        s = float(beam.fraction(p))
        far = Far(beam.carried_beyond(robot, s), bool(beam.fraction(np.zeros(3)) >= s - NEAR))
        found.setdefault(far, []).append((k, p))
    return list(found.items())


def _section(robot: Robot, link: str, far: Far, outside: tuple[str, ...]) -> Any:
    """The kernel (q, v, a, numbers of the far part, wrenches) → (6,)."""
    body = robot.tree.frames[link].body
    welded = {name for name, frame in robot.tree.frames.items() if frame.body == body}
    acting = [k in far.links or (k == link and far.origin) or k not in welded for k in outside]

    def plain(tree, q, v, a, numbers, *given):
        # of the body that the link belongs to, only what is beyond the section keeps its mass
        near = welded - set(far.links)
        cut = replace(
            robot,
            links=tuple(
                replace(x, mass=0.0, inertia=(0.0,) * 6) if x.name in near else x
                for x in robot.links
            ),
        ).tree
        tree = replace(
            tree, bodies=tuple(cut.bodies[i] if i == body else b for i, b in enumerate(tree.bodies))
        )
        children = tuple(
            i
            for i, b in enumerate(tree.bodies)
            if b.parent == body and _child_link(robot, b) in far.links
        )
        forces = {k: w for k, w, acts in zip(outside, given, acting) if acts}
        return section_wrench(tree, q, v, a, link, children, numbers, forces)

    masses = tuple(
        (x.mass, x.com, x.inertia) for x in robot.links if x.name in welded.intersection(far.links)
    )
    inputs: dict[str, Shape | int] = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "numbers": 13}
    for k in outside:
        inputs[f"wrench {k}"] = 6
    return kernel(robot, "section_loads", plain, inputs, link, far, outside, masses)


def _child_link(robot: Robot, body: Body) -> str:
    """The link that a body's joint carries (also for the first bodies of a planar joint, which have
    none of their own)."""
    name = body.name
    joints = {j.name: j for j in robot.joints}
    return (joints.get(name) or joints[name.rpartition(".")[0]]).child


def section_wrench(
    tree: Tree,
    q: Array,
    v: Array,
    a: Array,
    link: str,
    children: tuple[int, ...],
    numbers: Array,
    wrenches: Wrenches,
) -> Array:
    """The load in a section: f = m a + K h, n = J ω̇ + ω × J ω + h × a of the far part, and what
    the joints beyond pass on. (6,), link axes.

    numbers: of the far part of the link itself, in the link's frame: m, m c (3), J about the origin
    (xx, yy, zz, xy, xz, yz), and the section's point (3).
    """
    frame = tree.frames[link]
    places, moving = placements(tree, q), motions(tree, q, v, a, still()._replace(a=-tree.gravity))
    outside = outside_wrenches(tree, places, wrenches, np.eye(3))
    own = [
        newton_euler(b, Spin(m.w, m.dw, m.a), outside.get(i))
        for i, (b, m) in enumerate(zip(tree.bodies, moving))
    ]
    passed: dict[int, Wrench] = {}

    def step(i: int, body: Body, total: Wrench) -> Wrench:
        passed[i] = _passed(body, places[i], moving, total, v, a)
        return passed[i]

    tip_to_base(tree, step, own)
    here = moving[frame.body] if frame.body >= 0 else still()._replace(a=-tree.gravity)
    total = own[frame.body] if frame.body >= 0 else Wrench(np.zeros(3), np.zeros(3))
    for i in children:
        total = total + passed[i]
    # into the link's frame: about its origin, in its axes; then the far part, and about the
    # section's point
    f, n = frame.R.T @ total.f, frame.R.T @ (total.n - cross(frame.p, total.f))
    far = _far_part(frame.R, frame.p, here, numbers)
    f, n = f + far.f, n + far.n
    return np.concatenate([f, n - cross(numbers[10:], f)])


def _far_part(R: Array, p: Array, here: Motion, numbers: Array) -> Wrench:
    """Newton–Euler of the far part, in the link's frame."""
    w, dw, acc = R.T @ here.w, R.T @ here.dw, R.T @ (here.a + here.spin() @ p)
    m, h = numbers[0], numbers[1:4]
    xx, yy, zz, xy, xz, yz = numbers[4:10]
    J = pack([xx, xy, xz, xy, yy, yz, xz, yz, zz], (3, 3))
    return Wrench(m * acc + spin_matrix(w, dw) @ h, J @ dw + cross(w, J @ w) + cross(h, acc))


def _passed(
    body: Body, place: Placement, moving: list[Motion], total: Wrench, v: Array, a: Array
) -> Wrench:
    """What a body's joint asks of its carrier, the rotor's reaction included (R)."""
    f, n = place.wrench_to_parent(*total)
    if body.rotor:
        w = moving[body.parent].w if body.parent >= 0 else np.zeros(3)
        n = n + body.rotor * body.ratio * (
            rate(body, a) * body.rotor_axis + rate(body, v) * cross(w, body.rotor_axis)
        )
    return Wrench(f, n)


# joints ------------------------------------------------------------------------------------------


class JointReactions(NamedTuple):
    """wrench: (..., J, 6) force and torque that each joint passes to the link it carries, about
    that link's origin, in its axes.

    joints: J names, those of all moving joints, mimics included.
    """

    joints: tuple[str, ...]
    wrench: np.ndarray

    def of(self, joint: str) -> np.ndarray:
        """(..., 6) of one joint."""
        return self.wrench[..., self.joints.index(guard.known("joint", joint, self.joints)), :]


def joint_reactions(
    robot: Robot, q: Any, v: Any = None, a: Any = None, wrenches: Wrenches | None = None
) -> JointReactions:
    """All six components of what every joint carries: reactions and drive effort. v, a: zeros when
    None (static)."""
    _refuse_loops(robot)
    outside = tuple(wrenches or ())
    moving_joints = [j for j in robot.joints if j.kind != "fixed"]

    def plain(tree, q, v, a, *given):
        places, moving = (
            placements(tree, q),
            motions(tree, q, v, a, still()._replace(a=-tree.gravity)),
        )
        acting = outside_wrenches(tree, places, dict(zip(outside, given)), np.eye(3))
        own = [
            newton_euler(b, Spin(m.w, m.dw, m.a), acting.get(i))
            for i, (b, m) in enumerate(zip(tree.bodies, moving))
        ]
        total = tip_to_base(tree, lambda i, body, w: _passed(body, places[i], moving, w, v, a), own)
        rows = []
        for joint in moving_joints:
            frame = tree.frames[joint.child]
            f, n = total[frame.body]
            rows += [*(frame.R.T @ f), *(frame.R.T @ (n - cross(frame.p, f)))]
        return pack(rows, (len(moving_joints), 6))

    inputs: dict[str, Shape | int] = {"q": robot.nq, "v": robot.nv, "a": robot.nv}
    for k in outside:
        inputs[f"wrench {guard.known('link', k, robot.tree.frames)}"] = 6
    run = kernel(
        robot, "joint_reactions", plain, inputs, tuple(j.child for j in moving_joints), outside
    )
    rest = np.zeros(robot.nv)
    found = run(q, rest if v is None else v, rest if a is None else a, *(wrenches or {}).values())
    return JointReactions(tuple(j.name for j in moving_joints), found)


# over a motion -----------------------------------------------------------------------------------


class Worst(NamedTuple):
    """The largest magnitude of a load over a motion: its value, the time (s), and how far along the
    link (0 … 1)."""

    value: float
    time: float
    along: float


def worst_section_loads(
    robot: Robot, motion: Trajectory, link: str, along: Any = None, beam: Beam | None = None
) -> dict[str, Worst]:
    """The worst axial force, shear, torsion and bending moment over a motion and along a link: by
    default in 21 sections."""
    sections = np.linspace(0.0, 1.0, 21) if along is None else np.atleast_1d(along)
    loads = section_loads(robot, motion.q, motion.v, motion.a, link, along=sections, beam=beam)
    found = {}
    for name in ("axial", "shear", "torsion", "bending"):
        size = np.abs(getattr(loads, name))
        k, s = np.unravel_index(int(np.argmax(size)), size.shape)
        found[name] = Worst(
            float(getattr(loads, name)[k, s]), float(motion.t[k]), float(sections[s])
        )
    return found


@dataclass(frozen=True, eq=False)
class DriveEffort:
    """What a motion asks of the joints' drives at times t (N+1,): tau (N+1, n), friction included,
    N·m or N, and power (N+1, n), W."""

    joints: tuple[str, ...]
    t: np.ndarray
    tau: np.ndarray
    power: np.ndarray

    @property
    def peak(self) -> np.ndarray:
        """(n,) largest |torque|."""
        return np.max(np.abs(self.tau), axis=0)

    @property
    def rms(self) -> np.ndarray:
        """(n,) root of the mean square torque over time: what heats the motors."""
        return np.sqrt(np.trapezoid(self.tau**2, self.t, axis=0) / (self.t[-1] - self.t[0]))

    @property
    def peak_power(self) -> np.ndarray:
        """(n,) W, largest."""
        return np.max(self.power, axis=0)

    @property
    def work(self) -> np.ndarray:
        """(n,) J, given by each drive less what came back."""
        return np.trapezoid(self.power, self.t, axis=0)


def drive_effort(robot: Robot, motion: Trajectory) -> DriveEffort:
    """Torques and powers that a motion needs: τ = M q̈ + b + friction."""
    tau = inverse_dynamics(robot, motion.q, motion.v, motion.a)
    tau = tau + friction_torque(robot, motion.v, tau)
    return DriveEffort(robot.joint_names, motion.t, tau, tau * motion.v)
