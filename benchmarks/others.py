"""Arms for which nothing was tuned: small URDFs, link tables and MJCF, with hand-made drives as a
stranger would draw them.

`python -m benchmarks moves --others --count 100`: random moves of these, with cycles, stops and a
shared bus besides the ordinary ones."""

from __future__ import annotations

import functools
import tempfile
import warnings
from pathlib import Path

import numpy as np

import armature as arm
from armature.robot.model import Robot
from benchmarks.arms import Arm, configuration, from_file

KINDS = ("plain", "plain", "near", "via", "stop", "cycle", "moving", "rates")
SUPPLIES = ("regenerative", "non-regenerative", "bus")
FILES = {
    "z1": "z1_description/urdf/z1.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "ur3": "ur_description/urdf/ur3_robot.urdf",
}
NAMES = (*FILES, "gantry", "post", "crane")
GANTRY = """\
name: gantry
links:
  - {name: bridge, joint: x, kind: prismatic, axis: x, mass: 12, limits: {lower: 0, upper: 1.2, velocity: 2}}
  - {name: cart, joint: y, kind: prismatic, axis: y, mass: 6, limits: {lower: 0, upper: 0.8, velocity: 2}}
  - {name: ram, joint: z, kind: prismatic, axis: z, mass: 3, limits: {lower: -0.5, upper: 0, velocity: 1.5}}
  - {name: wrist, joint: c, kind: revolute, axis: z, mass: 0.6, inertia: [0.002, 0.002, 0.003], limits: {lower: -3, upper: 3}}
"""
POST = """\
name: post
links:
  - {name: post, joint: turn, kind: revolute, axis: z, mass: 8, inertia: [0.1, 0.1, 0.04], limits: {lower: -2.8, upper: 2.8}}
  - {name: lift, joint: up, kind: prismatic, axis: z, mass: 5, limits: {lower: 0.1, upper: 0.7}}
  - {name: arm, joint: out, kind: prismatic, axis: x, mass: 3, com: [0.2, 0, 0], inertia: [0, 0.04, 0.04], limits: {lower: 0.2, upper: 0.6}}
"""
MUJOCO = """\
<mujoco model="crane"><compiler angle="radian"/><worldbody><body name="b1" pos="0 0 0.3">
<joint name="turn" axis="0 0 1" range="-2.9 2.9" damping="0.5" armature="0.05"/><geom type="cylinder" size="0.06 0.1" mass="6"/>
<body name="b2" pos="0 0 0.12"><joint name="lift" axis="0 1 0" range="-2 2" damping="0.8" frictionloss="1"/>
<geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.04" mass="4"/>
<body name="b3" pos="0 0 0.4"><joint name="bend" axis="0 1 0" range="-2.4 2.4" damping="0.4" frictionloss="0.5"/>
<geom type="capsule" fromto="0 0 0 0.35 0 0" size="0.03" mass="2.2"/>
<body name="b4" pos="0.35 0 0"><joint name="push" type="slide" axis="1 0 0" range="0 0.25" damping="5"/>
<geom type="box" size="0.1 0.02 0.02" mass="0.8"/></body></body></body></body></worldbody></mujoco>
"""


@functools.cache
def others(seed: int = 0) -> dict[str, Arm]:
    """All these arms by name, with a payload of a tenth of what moves."""
    rng = np.random.default_rng(seed)
    found = {name: from_file(name, path) for name, path in FILES.items()}
    found = {
        name: robot.with_held([joint for joint in robot.joint_names if "ripper" in joint])
        for name, robot in found.items()
    }
    found |= zip(
        NAMES[len(FILES) :], (typed(GANTRY, "yaml"), typed(POST, "yaml"), typed(MUJOCO, "xml"))
    )
    return {
        name: Arm(driven(robot, rng), robot.tip, 0.1 * robot.mass) for name, robot in found.items()
    }


def typed(text: str, ending: str) -> Robot:
    """A robot from the text of a file."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
        path = Path(folder) / f"robot.{ending}"
        path.write_text(text)
        return arm.load(path)


def driven(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot with drives made up for it: gears by direction of power, dry and viscous friction,
    twice what the loaded arm asks for."""
    loaded = robot.with_payload(0.1 * robot.mass, link=robot.tip)
    q = np.array([configuration(robot, rng) for _ in range(300)])
    hold = np.abs(np.asarray(arm.inverse_dynamics(loaded, q, 0 * q, 0 * q))).max(0)
    turn = np.median(
        np.diagonal(np.asarray(arm.mass_matrix(loaded, q)), axis1=-2, axis2=-1), axis=0
    )
    drives = {}
    for name, load, inertia in zip(robot.joint_names, hold, turn):
        slides, own = robot.joint(name).kind == "prismatic", robot.joint(name).friction
        speed, hurry = (0.8, 1.2) if slides else (rng.uniform(2.0, 6.0), 4.0)
        need = 2.2 * (load + own.coulomb + own.viscous * speed / 3) + hurry * inertia
        volts, ratio = (
            float(rng.choice([24.0, 48.0, 300.0])),
            float(rng.choice([20.0, 50.0, -80.0])) * (10 if slides else 1),
        )
        current = need * speed / (0.6 * volts)
        motor = arm.drive.Motor(
            resistance=0.25 * volts / current,
            torque_constant=need / current / abs(ratio),
            inertia=rng.uniform(0.05, 0.5) * inertia / ratio**2,
            peak_current=1.05 * current,
            continuous_current=rng.uniform(0.5, 0.8) * current,
        )
        eta = float(rng.uniform(0.65, 1.0))
        gear = arm.drive.Gear(
            ratio, eta, efficiency_back=float(rng.uniform(0.4, eta)) if rng.random() < 0.5 else None
        )
        friction = arm.drive.Friction(
            viscous=rng.uniform(0, 0.03) * need / speed, coulomb=rng.uniform(0, 0.06) * need
        )
        drives[name] = arm.drive.Drive(motor, gear, arm.drive.Amplifier(volts), friction)
    return robot.with_drives(drives)


def bus(robot: Robot) -> arm.drive.Bus:
    """A supply that all axes share, at the lowest of their voltages."""
    volts = min(drive.amplifier.voltage for drive in robot.drivetrain.drives)
    return arm.drive.Bus(capacitance=5e-3, voltage=volts, resistor_voltage=1.15 * volts)
