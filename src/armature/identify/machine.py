"""The estimate as a robot: links, rotors, friction and drives that plan at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import nnls

from armature.drive.amplifier import Amplifier
from armature.drive.drive import NO_FRICTION, Drive
from armature.drive.friction import Friction
from armature.drive.gear import Gear
from armature.drive.motor import Motor
from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify.estimate import Estimate
from armature.identify.friction import DRY
from armature.identify.layout import Layout
from armature.identify.rows import Data
from armature.identify.supply import SupplyFit
from armature.robot.model import Robot
from armature.robot.parts import Joint, Link, Rotor

LARGEST_LOAD = 0.95  # of load-dependent friction
LEAST_LOAD = 1e-3  # below, there is none
UNSEEN = 1e-6  # rad/s or m/s, of typical speeds: of joints that never move


def identified_robot(places: Layout, found: Estimate, data: Data) -> Robot:
    """The robot with identified links, rotors and friction."""
    robot, tree = places.robot, places.robot.tree
    links = {link.name: link for link in robot.links}
    joints = {joint.name: joint for joint in robot.joints}
    for k, body in enumerate(tree.bodies):
        child = joints[body.name].child
        for name, frame in tree.frames.items():  # what is welded to the link is merged into it
            if frame.body == k and name != child:
                links[name] = replace(links[name], mass=0.0, com=(0.0,) * 3, inertia=(0.0,) * 6)
        frame = tree.frames[child]
        own = found.phi[INERTIAL * k : INERTIAL * (k + 1)]
        links[child] = _link(links[child], own, frame.R, frame.p)
    for k, name in enumerate(robot.joint_names):
        inertia = rotor_inertia(places, found, k)
        joints[name] = replace(
            joints[name],
            friction=_friction(places, found, data, k),
            rotor=Rotor(inertia, 1.0) if inertia > 0 else None,
        )
    return replace(
        robot,
        links=tuple(links[link.name] for link in robot.links),
        joints=tuple(joints[joint.name] for joint in robot.joints),
    )


def rotor_inertia(places: Layout, found: Estimate, joint: int) -> float:
    """Of all rotors that turn with a joint, seen at the joint, kg·m² (kg)."""
    axes = np.flatnonzero(places.axes[:, joint])
    parts = [
        places.axes[k, joint] ** 2 * float(sum(found.phi[places.of(int(k), "rotor")])) for k in axes
    ]
    return max(sum(parts), 0.0)


def _link(link: Link, own: np.ndarray, R: np.ndarray, p: np.ndarray) -> Link:
    """A link with these inertial parameters of its body's frame."""
    mass, h = float(own[0]), own[1:4]
    c = h / mass
    xx, yy, zz, xy, xz, yz = own[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = J - mass * (c @ c * np.eye(3) - np.outer(c, c))
    J = R.T @ J @ R
    com = R.T @ (c - p)
    entries = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    centre, moments = tuple(map(float, com)), tuple(map(float, entries))
    return replace(link, mass=mass, com=centre, inertia=moments, payload=None)


def _friction(places: Layout, found: Estimate, data: Data, joint: int) -> Friction:
    """Viscous and Coulomb friction nearest to what all axes take from a joint along the recorded
    motion, with load friction; its own parameters where it never moved."""
    rows, moving = data.joints[joint], data.moving[:, joint]
    own = np.zeros(places.size)
    for axis in np.flatnonzero(places.axes[:, joint]):
        taken = places.of(int(axis), "viscous", *DRY)
        own[taken] = found.phi[taken]
    drag, v = (rows.X @ own[rows.columns])[moving], data.v[moving, joint]
    width = next(f.scale for f in places.columns[joint] if f.group == "coulomb")
    given = [max(float(sum(found.phi[places.of(joint, *x)])), 0.0) for x in (("viscous",), DRY)]
    weak = UNSEEN * np.sqrt(len(v))
    A = np.vstack([np.column_stack([v, np.tanh(v / width)]), weak * np.eye(2)])
    (viscous, coulomb), _ = nnls(A, np.append(drag, weak * np.array(given)))
    load = float(sum(found.phi[places.of(joint, "load")]))
    load = min(load, LARGEST_LOAD) if load > LEAST_LOAD else 0.0
    return Friction(float(viscous), float(coulomb), load=load)


# drives ------------------------------------------------------------------------------------------


def with_identified_drives(
    robot: Robot,
    prior: Robot,
    gains: np.ndarray | None,
    supply: SupplyFit | None,
    loads: np.ndarray,
) -> Robot:
    """The identified robot with drives: the description's, or, where the supply's power told the
    losses, new ones.

    gains: (n,) N·m/A where currents were recorded.  loads: (n,) mean |torque| of the rigid bodies,
    N·m. A drive carries all friction of its joint and the identified rotor; one that the
    description does not have is seen at the joint: ratio 1. A joint without a drive keeps its
    friction, that of the load at its mean."""
    old = {c.joints[0]: c.drives[0] for c in prior.drives if len(c.joints) == len(c.drives) == 1}
    drives = {}
    for k, name in enumerate(robot.joint_names):
        gain = None if gains is None else float(gains[k])
        if name in old:
            drives[name] = _changed(old[name], robot.joint(name), gain, supply, k)
        elif gain is not None and supply is not None:
            motor = Motor(float(supply.resistance[k]), gain, inertia=_reflected(robot.joint(name)))
            drive = Drive(motor, Gear(), _amplifier(Amplifier(), supply))
            drives[name] = replace(drive, friction=robot.joint(name).friction)
    frictions = {}
    for name, load in zip(robot.joint_names, loads):
        own = robot.joint(name).friction
        mean = replace(own, coulomb=own.coulomb + own.load * float(load), load=0.0)
        frictions[name] = NO_FRICTION if name in drives else mean
    robot = robot.with_friction(frictions)
    return robot.with_drives(drives) if drives else robot


def _reflected(joint: Joint) -> float:
    """Rotor inertia seen at the joint, kg·m² (kg)."""
    return 0.0 if joint.rotor is None else joint.rotor.inertia * joint.rotor.ratio**2


def _changed(
    drive: Drive, joint: Joint, gain: float | None, supply: SupplyFit | None, k: int
) -> Drive:
    """The description's drive with identified constants; losses of its gear and iron are in the
    identified friction."""
    ratio = drive.gear.ratio
    inertia = max(_reflected(joint) / ratio**2 - drive.gear.inertia, 0.0)
    motor = replace(drive.motor, inertia=inertia, iron_torque=0.0, viscous=0.0)
    if gain is not None and not np.isclose(gain, abs(drive.constant), rtol=1e-6):
        motor = replace(motor, torque_constant=gain / abs(ratio), back_emf_constant=None)
    amplifier = drive.amplifier
    if supply is not None:
        motor = replace(motor, resistance=float(supply.resistance[k]))
        amplifier = _amplifier(amplifier, supply)
    gear = replace(drive.gear, efficiency=1.0, efficiency_back=None)
    return replace(drive, motor=motor, gear=gear, amplifier=amplifier, friction=joint.friction)


def mean_loads(places: Layout, found: Estimate, data: Data) -> np.ndarray:
    """(n,) mean |torque| of the rigid bodies over the recordings, N·m."""
    rigid = np.where(np.arange(places.size) < places.inertial, found.phi, 0.0)
    return np.array([np.mean(np.abs(rows.X @ rigid[rows.columns])) for rows in data.joints])


def _amplifier(amplifier: Amplifier, supply: SupplyFit) -> Amplifier:
    """An amplifier with the fitted efficiency and its share of the standing load."""
    share = supply.standing / len(supply.resistance)
    return replace(amplifier, efficiency=supply.efficiency, standby=share)
