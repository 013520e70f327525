"""MJCF through MuJoCo's own compiler, which is the definition of the format: defaults, includes,
meshes and angles are resolved by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from armature.drive.friction import Friction
from armature.errors import FileError, MissingExtraError, RobotError
from armature.robot import frames
from armature.robot.check import check
from armature.robot.load.mjcf_actuator import torque_limits
from armature.robot.load.mjcf_size import parse_model
from armature.robot.load.urdf import robot_from_urdf
from armature.robot.load.xml import Source
from armature.robot.loop import Loop
from armature.robot.model import (
    IDENTITY,
    INF,
    ZERO,
    Joint,
    Limits,
    Link,
    Mat3,
    Mimic,
    Robot,
    Rotor,
    Vec3,
    Visual,
)

FREE, BALL, SLIDE, HINGE = range(4)
SHAPES = {2: ("sphere", 1), 3: ("capsule", 2), 5: ("cylinder", 2), 6: ("box", 3)}
EQUALITY = {0: "connect", 1: "weld", 2: "joint", 3: "tendon", 4: "flex"}


def load_xml(path: str | PathLike[str]) -> Robot:
    """The robot of an .xml file: MJCF or URDF, by its outermost element."""
    root = parse_model(path)
    if root.tag == "mujoco":
        return robot_from_model(_compiled(path), path)
    if root.tag == "robot":
        return robot_from_urdf(root, path)
    raise FileError(
        f"<{root.tag}> is the outermost element; MJCF begins with <mujoco>, URDF with <robot>",
        path,
        root.sourceline,
    )


def _compiled(path: str | PathLike[str]) -> Any:
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError("reading MJCF", "mujoco", "mjcf") from None
    try:
        with _without_log(mujoco, path):
            return mujoco.MjModel.from_xml_path(fspath(path))  # pyright: ignore[reportAttributeAccessIssue]
    except (
        Exception
    ) as e:  # MuJoCo raises ValueError, FatalError and others, depending on its version
        reason = " ".join(str(e).split())[:400]
        line = re.search(r"\bline (\d+)", reason)
        raise FileError(
            f"MuJoCo refuses it ({reason}); correct it there", path, int(line[1]) if line else None
        ) from None


@contextmanager
def _without_log(mujoco: Any, path: object) -> Iterator[None]:
    """MuJoCo's warnings as ours: by itself it writes MUJOCO_LOG.TXT into the current folder."""
    said: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
        source = Source(path)
        for words in said:
            source.warn(None, f"MuJoCo warns: {' '.join(words.split())[:300]}")


def robot_from_model(model: Any, path: object) -> Robot:
    """The robot of a compiled MjModel; `path` is for messages. What has no counterpart here is an
    ArmatureWarning."""
    source = Source(path)
    names = _Names(model)
    links, joints = [Link(names.bodies[0])], []
    torques = torque_limits(model, names.joints, source)
    try:
        for body in range(1, model.nbody):
            new_links, new_joints = _body(model, body, names, path)
            links += new_links
            joints += [
                (
                    replace(j, limits=replace(j.limits, torque=torques[j.name]))
                    if j.name in torques
                    else j
                )
                for j in new_joints
            ]
        joints = _coupled(model, joints, names, source)
        loops = _loops(model, names, source)
        joints = _passive(model, joints, names) if loops else joints
        robot = Robot(
            names.model, tuple(links), tuple(joints), names.bodies[0], _gravity(model), loops=loops
        )
    except RobotError as e:
        raise FileError(str(e), path) from None
    _warn_of_losses(model, names, source)
    for problem in check(robot):
        source.warn(None, str(problem))
    return robot


def _gravity(model: Any) -> Vec3:
    """The gravity vector, m/s²; zero when the file switches gravity off."""
    import mujoco

    off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)  # pyright: ignore[reportAttributeAccessIssue]
    return ZERO if off else _vec(model.opt.gravity)


class _Names:
    """Names of bodies and joints; unnamed ones get the name of their place."""

    def __init__(self, model: Any):
        self.model = bytes(model.names).split(b"\0", 1)[0].decode("utf-8", "replace") or "robot"
        self.bodies = self._all(model.nbody, lambda i: model.body(i).name or f"body{i}")
        self.joints = self._all(model.njnt, lambda i: model.joint(i).name or self._place(model, i))

    def _place(self, model: Any, i: int) -> str:
        body = model.jnt_bodyid[i]
        return f"{self.bodies[body]}_joint{i - model.body_jntadr[body] + 1}"

    @staticmethod
    def _all(count: int, name: Any) -> list[str]:
        taken: dict[str, None] = {}
        for i in range(count):
            new = name(i)
            while new in taken:
                new += "_"
            taken[new] = None
        return list(taken)


def _vec(x: Any) -> Vec3:
    return (float(x[0]), float(x[1]), float(x[2]))


def _turn(q: Any) -> Mat3:
    w, x, y, z = (float(c) for c in q)
    return IDENTITY if (x, y, z) == ZERO else frames.from_quaternion(w, x, y, z)


# --- bodies --------------------------------------------------------------------------------------


def _body(model: Any, body: int, names: _Names, path: object) -> tuple[list[Link], list[Joint]]:
    """A body and its joints, a chain of massless links between them.

    MuJoCo moves the body's frame by its joints one after the other: x ← x T(p) J(q − q₀) T(−p), p
    the joint's anchor in the body's frame. Here each joint's frame stands at its anchor; the last
    one is the body's own unless the anchor lies elsewhere."""
    name, parent = names.bodies[body], names.bodies[model.body_parentid[body]]
    link = _link(model, body, name)
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    position, rotation = _vec(model.body_pos[body]), _turn(model.body_quat[body])
    if count == 0:
        return [link], [Joint(f"{name}_weld", "fixed", parent, name, position, rotation)]
    if model.jnt_type[first] == FREE:
        return [link], [Joint(names.joints[first], "floating", parent, name)]
    links, joints, anchor = [], [], ZERO
    for j in range(first, first + count):
        if model.jnt_type[j] == BALL:
            raise FileError(
                f"joint {names.joints[j]!r} is a ball joint, which is not read; write it as three"
                " hinges",
                path,
            )
        here = _vec(model.jnt_pos[j])
        step = (here[0] - anchor[0], here[1] - anchor[1], here[2] - anchor[2])
        at_body = j == first + count - 1 and here == ZERO
        child = name if at_body else f"{name}/{names.joints[j]}"
        joints.append(
            _joint(
                model,
                j,
                names.joints[j],
                parent,
                child,
                frames.add(position, frames.apply(rotation, step)),
                rotation,
            )
        )
        links.append(link if at_body else Link(child))
        parent, position, rotation, anchor = child, ZERO, IDENTITY, here
    if links[-1] is not link:
        joints.append(
            Joint(f"{name}_origin", "fixed", parent, name, (-anchor[0], -anchor[1], -anchor[2]))
        )
        links.append(link)
    return links, joints


def _joint(
    model: Any, j: int, name: str, parent: str, child: str, position: Vec3, rotation: Mat3
) -> Joint:
    """A hinge or slide; its reference value q₀ (`ref`) goes into the frame, so that coordinates are
    MuJoCo's."""
    dof, q0 = int(model.jnt_dofadr[j]), float(model.qpos0[model.jnt_qposadr[j]])
    axis, slides = _vec(model.jnt_axis[j]), model.jnt_type[j] == SLIDE
    position, rotation = _moved(position, rotation, axis, slides, -q0)
    limited = bool(model.jnt_limited[j])
    lower, upper = (float(x) for x in model.jnt_range[j]) if limited else (-INF, INF)
    armature = float(model.dof_armature[dof])
    return Joint(
        name,
        "prismatic" if slides else "revolute" if limited else "continuous",
        parent,
        child,
        position,
        rotation,
        axis,
        Limits(lower, upper),
        Friction(float(model.dof_damping[dof]), float(model.dof_frictionloss[dof])),
        Rotor(armature) if armature else None,
    )


def _moved(position: Vec3, rotation: Mat3, axis: Vec3, slides: bool, q: float) -> tuple[Vec3, Mat3]:
    """A joint's frame after a motion by q."""
    if q == 0.0:
        return position, rotation
    if slides:
        return (
            frames.add(position, frames.apply(rotation, (q * axis[0], q * axis[1], q * axis[2]))),
            rotation,
        )
    return position, frames.multiply(rotation, frames.about_axis(axis, q))


def _link(model: Any, body: int, name: str) -> Link:
    a, b, c = (float(x) for x in model.body_inertia[body])
    inertia = frames.rotated((a, b, c, 0.0, 0.0, 0.0), _turn(model.body_iquat[body]))
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body])) if first >= 0 else ()
    shapes = [g for g in geoms if int(model.geom_type[g]) in SHAPES]
    looks = [g for g in shapes if not model.geom_contype[g] and not model.geom_conaffinity[g]]
    visuals = tuple(
        _visual(model, g) for g in looks or shapes
    )  # for looks only, else those that collide
    solid = tuple(_visual(model, g) for g in shapes if g not in looks)
    return Link(
        name,
        float(model.body_mass[body]),
        _vec(model.body_ipos[body]),
        inertia,
        visuals,
        collisions=solid,
    )


def _visual(model: Any, g: int) -> Visual:
    shape, count = SHAPES[int(model.geom_type[g])]
    half = [float(x) for x in model.geom_size[g][:count]]
    size = tuple(2 * h for h in half) if shape == "box" else (half[0], *(2 * h for h in half[1:]))
    r, green, b, a = (float(x) for x in model.geom_rgba[g])
    return Visual(
        shape, size, _vec(model.geom_pos[g]), _turn(model.geom_quat[g]), None, (r, green, b, a)
    )


# --- couplings and losses ------------------------------------------------------------------------


def _coupled(model: Any, joints: list[Joint], names: _Names, source: Source) -> list[Joint]:
    """Joint equalities q₁ − q₁₀ = a₀ + a₁(q₂ − q₂₀) as mimic joints, or as locked ones when a₁ = 0;
    the others are warned of."""
    by_name = {j.name: j for j in joints}
    for e in range(model.neq):
        kind, first, second = (
            int(model.eq_type[e]),
            int(model.eq_obj1id[e]),
            int(model.eq_obj2id[e]),
        )
        if not model.eq_active0[e] or kind in (0, 1):
            continue
        if (
            kind != 2
            or any(model.eq_data[e][2:5])
            or by_name[names.joints[first]].mimic is not None
        ):
            what = EQUALITY.get(kind, "an unknown kind of")
            source.warn(
                None,
                f"equality {e} ({what}) is not taken over: the mechanism is read as an open tree"
                " without it",
            )
            continue
        joint, a0, a1 = (
            by_name[names.joints[first]],
            float(model.eq_data[e][0]),
            float(model.eq_data[e][1]),
        )
        value = float(model.qpos0[model.jnt_qposadr[first]]) + a0
        if second < 0 or a1 == 0.0:
            frame = _moved(
                joint.position, joint.rotation, joint.axis, joint.kind == "prismatic", value
            )
            by_name[joint.name] = Joint(joint.name, "fixed", joint.parent, joint.child, *frame)
        else:
            offset = value - a1 * float(model.qpos0[model.jnt_qposadr[second]])
            by_name[joint.name] = replace(joint, mimic=Mimic(names.joints[second], a1, offset))
    return list(by_name.values())


def _loops(model: Any, names: _Names, source: Source) -> tuple[Loop, ...]:
    """Equalities that close loops: connect (a common point) and weld, between two bodies or two
    sites."""
    import mujoco

    found = []
    for e in range(model.neq):
        kind, a, b, data = (
            int(model.eq_type[e]),
            int(model.eq_obj1id[e]),
            int(model.eq_obj2id[e]),
            model.eq_data[e],
        )
        if kind not in (0, 1) or not model.eq_active0[e]:
            continue
        name = model.equality(e).name or f"{EQUALITY[kind]}{e}"
        if int(model.eq_objtype[e]) != int(mujoco.mjtObj.mjOBJ_BODY):  # pyright: ignore[reportAttributeAccessIssue]
            found.append(_loop_of_sites(model, names, name, kind, a, b))
            continue
        ends = (names.bodies[a], names.bodies[b])
        if kind == 0:  # points on the first and the second body
            found.append(Loop(name, "spherical", *ends, _vec(data[:3]), _vec(data[3:6])))
        # the point on the second body, that on the first, and the second's orientation in the first
        else:
            found.append(
                Loop(name, "fixed", *ends, _vec(data[3:6]), _vec(data[:3]), _turn(data[6:10]))
            )
    return tuple(found)


def _loop_of_sites(model: Any, names: _Names, name: str, kind: int, a: int, b: int) -> Loop:
    """A connect or weld between two sites: their points, or their frames, are one."""
    ends = (names.bodies[int(model.site_bodyid[a])], names.bodies[int(model.site_bodyid[b])])
    points = (_vec(model.site_pos[a]), _vec(model.site_pos[b]))
    if kind == 0:
        return Loop(name, "spherical", *ends, *points)
    return Loop(name, "fixed", *ends, *points, _turn(model.site_quat[a]), _turn(model.site_quat[b]))


def _passive(model: Any, joints: list[Joint], names: _Names) -> list[Joint]:
    """Where the file gives actuators, joints without one are passive."""
    driven = {
        names.joints[int(model.actuator_trnid[i][0])]
        for i in range(model.nu)
        if int(model.actuator_trntype[i]) in (0, 1)
    }
    return (
        [replace(j, passive=j.kind != "fixed" and j.name not in driven) for j in joints]
        if driven
        else joints
    )


def _warn_of_losses(model: Any, names: _Names, source: Source) -> None:
    """Springs, tendons and buoyancy have no place in a Robot: say so rather than compute something
    else in silence."""
    springs = [names.joints[j] for j in range(model.njnt) if model.jnt_stiffness[j]]
    if springs:
        source.warn(
            None,
            f"springs of the joints {', '.join(springs[:8])} are not taken over; add their torque"
            " by your controller",
        )
    if model.ntendon:
        source.warn(
            None, f"{model.ntendon} tendons are not taken over; add their forces by your controller"
        )
    if any(model.body_gravcomp):
        source.warn(
            None,
            "gravity compensation of bodies (gravcomp) is not taken over; they weigh what they"
            " weigh",
        )
    free = [j for j in range(model.njnt) if model.jnt_type[j] == FREE]
    if any(
        model.dof_armature[model.jnt_dofadr[j] + k] or model.dof_damping[model.jnt_dofadr[j] + k]
        for j in free
        for k in range(6)
    ):
        source.warn(None, "armature and damping of free joints are not taken over")
