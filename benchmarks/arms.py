"""Arms for random moves: the built-in ones, arms of the example-robot-data package and random
chains, with drives from the catalogue."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import armature as arm
from armature.drive import Amplifier, Drive, Friction
from armature.drive.catalogue import catalogue
from armature.robot.model import Joint, Limits, Link, Robot
from benchmarks.measure import robot_file

BUILT_IN = {
    "burgevin": 3.0,
    "six_axis": 3.0,
    "seven_axis": 4.0,
    "scara": 2.0,
    "planar2": 1.0,
}  # greatest payload, kg
FILES = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "ee_link", 4.0),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", "ee_link", 8.0),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link_eef", 2.0),
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand", 2.0),
    "kinova": ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector", 1.0),
}
CHAINS = 4  # random ones, of 3 to 7 axes
VOLTAGES = {"24v": 24.0, "48v": 48.0, "325v": 325.0, "560v": 560.0}


class Arm(NamedTuple):
    """A robot with drives, the link that carries payloads, and the greatest one, kg."""

    robot: Robot
    link: str
    payload: float

    def loaded(self, mass: float) -> Robot:
        """The robot with a payload, kg."""
        return self.robot.with_payload(mass, link=self.link)


@functools.cache
def arms(seed: int = 0) -> dict[str, Arm]:
    """All arms by name."""
    found = {
        name: Arm(arm.library(name), arm.library(name).tips[0], most)
        for name, most in BUILT_IN.items()
    }
    rng = np.random.default_rng(seed)
    for name, (path, link, most) in FILES.items():
        found[name] = Arm(driven(from_file(name, path), link, most, rng), link, most)
    for k in range(CHAINS):
        robot = chain(f"chain{k}", 3 + (k % 5), rng)
        most = 0.2 * robot.mass
        found[robot.name] = Arm(driven(robot, robot.tips[0], most, rng), robot.tips[0], most)
    return found


def from_file(name: str, path: str) -> Robot:
    """A robot of the package, its fingers locked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
        robot = arm.load(robot_file(path))
    locked = (
        dataclasses.replace(j, kind="fixed", mimic=None) if "finger" in j.name else j
        for j in robot.joints
    )
    return dataclasses.replace(robot, name=name, joints=tuple(locked))


def chain(name: str, n: int, rng: np.random.Generator) -> Robot:
    """Rods one after the other, thinner towards the tip, about axes at random; one joint in eight
    slides."""
    links, joints = [Link("base")], []
    mass, length = rng.uniform(3.0, 8.0), rng.uniform(0.25, 0.45)
    for k in range(n):
        kind = "prismatic" if k and rng.random() < 0.125 else "revolute"
        axis = np.eye(3)[int(rng.integers(3))] if rng.random() < 0.8 else rng.normal(size=3)
        size = mass * length**2 / 12
        links.append(
            Link(
                f"link{k + 1}", mass, (0.0, 0.0, length / 2), (size, size, size / 20, 0.0, 0.0, 0.0)
            )
        )
        limits = (
            Limits(0.0, 0.3) if kind == "prismatic" else Limits(-2.8, 2.8, rng.uniform(2.0, 6.0))
        )
        joints.append(
            Joint(
                f"j{k + 1}",
                kind,
                links[-2].name,
                links[-1].name,
                (0.0, 0.0, length if k else 0.1),
                axis=tuple(axis / np.linalg.norm(axis)),
                limits=limits,
            )
        )
        mass, length = 0.75 * mass, 0.9 * length
    return Robot(name, tuple(links), tuple(joints), "base", (0.0, 0.0, -9.81))


def driven(robot: Robot, link: str, payload: float, rng: np.random.Generator) -> Robot:
    """The robot with a motor and a gear of the catalogue on every joint, drawn from the smaller
    ones that carry it."""
    loaded = robot.with_payload(payload, link=link)
    q = np.array([configuration(robot, rng) for _ in range(300)])
    zero = np.zeros_like(q)
    hold = np.abs(np.asarray(arm.inverse_dynamics(loaded, q, zero, zero))).max(0)
    turn = np.quantile(
        np.diagonal(np.asarray(arm.mass_matrix(loaded, q)), axis1=-2, axis2=-1), 0.9, axis=0
    )
    drives = {}
    for j, name in enumerate(robot.joint_names):
        sliding = robot.joint(name).kind == "prismatic"
        speed = 0.3 if sliding else 1.2
        own = robot.joint(name).friction
        drag = own.coulomb + own.viscous * speed
        fit = sorted(
            fitting(1.7 * (hold[j] + drag) + 3.0 * turn[j], speed, sliding),
            key=lambda d: d.inertia + turn[j],
        )
        fit.sort(key=lambda d: d.motor.torque_constant * d.motor.continuous_current)
        chosen = fit[int(rng.integers(min(5, len(fit))))]
        dry = rng.uniform(0.0, 0.03) * (hold[j] + turn[j])
        friction = Friction(
            viscous=float(rng.uniform(0.0, 0.02) * (hold[j] + turn[j])),
            coulomb=float(dry * (rng.random() < 0.7)),
        )
        drives[name] = dataclasses.replace(chosen, friction=friction)
    return robot.with_drives(drives)


def fitting(torque: float, speed: float, sliding: bool) -> Iterator[Drive]:
    """Drives whose peak torque (N·m or N) and top speed at the joint (rad/s or m/s) are enough; the
    largest one where none is."""
    shelf = catalogue()
    largest: tuple[float, Drive] | None = None
    enough = False
    for motor in shelf.motors.values():
        for gear in shelf.gears.values():
            if (
                motor.linear
                or (gear.name.startswith(("ballscrew", "rack")) != sliding)
                or gear.name.startswith("worm")
            ):
                continue
            drive = Drive(motor, gear, Amplifier(VOLTAGES[motor.name.split("-")[1]]))
            most = min(0.7 * drive.constant * motor.peak_current, gear.maximum_torque)
            lasting = 0.7 * drive.constant * motor.continuous_current * 1.5
            if (
                most >= torque
                and lasting >= torque / 1.7
                and 0.7 * drive.amplifier.voltage / drive.constant >= speed
            ):
                enough = True
                yield drive
            if largest is None or most > largest[0]:
                largest = most, drive
    if not enough and largest is not None:
        yield largest[1]


def configuration(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Inside the joints' ranges, at most ±2.5 rad for turning joints."""
    limits = [robot.joint(name).limits for name in robot.joint_names]
    low = np.array([max(x.lower, -2.5) for x in limits])
    high = np.array([min(x.upper, 2.5) for x in limits])
    return rng.uniform(low, high)
