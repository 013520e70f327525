"""Recordings that a simulated truth makes: quantised encoders, noisy currents, delay, a description
that is wrong."""

from dataclasses import replace

import numpy as np

import armature as arm
from armature.drive.friction import Friction
from armature.identify.recording import Recording
from oracles.robot_files import ROOT

UR5 = ROOT / "ur_description/urdf/ur5_robot.urdf"
TICKS = 2 * np.pi / 2**17  # rad, of an encoder
FINE = 1e-6  # m, of a linear one
HARMONICS = 10


def bare(robot):
    """The robot without rotors, friction and drives: those are the truth's own numbers."""
    joints = tuple(replace(j, rotor=None, friction=Friction()) for j in robot.joints)
    return replace(robot, joints=joints, drives=())


def robots():
    """A UR5, a seven-axis arm and a SCARA."""
    return {
        "ur5": bare(arm.load(UR5)),
        "seven_axis": bare(arm.library("seven_axis")),
        "scara": bare(arm.library("scara")),
    }


def motion(robot, seed, duration=40.0, rate=100.0):
    """Random Fourier motion within the joints' ranges: t, q, v, a."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1.0 / rate)
    w = 2 * np.pi * 0.05 * np.arange(1, HARMONICS + 1)
    c = rng.normal(size=(2, HARMONICS, robot.n)) / np.sqrt(1 + np.arange(HARMONICS))[:, None]
    s, k = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    limits = [robot.joint(name).limits for name in robot.joint_names]
    finite = [np.isfinite(x.upper - x.lower) for x in limits]
    half = np.array(
        [min(1.5, 0.4 * (x.upper - x.lower)) if ok else 1.5 for x, ok in zip(limits, finite)]
    )
    middle = np.array([(x.upper + x.lower) / 2 if ok else 0.0 for x, ok in zip(limits, finite)])
    q = s @ c[0] + k @ c[1]
    size = half / np.abs(q).max(axis=0)
    v = ((k * w) @ c[0] - (s * w) @ c[1]) * size
    a = (-(s * w**2) @ c[0] - (k * w**2) @ c[1]) * size
    return t, middle + q * size, v, a


class Truth:
    """A robot with its own friction, rotors and motor constants. width: of the typical speed, over
    which dry friction turns over."""

    def __init__(self, robot, width=1e-3):
        self.robot, self.width = robot, width
        size = np.std(arm.inverse_dynamics(robot, *motion(robot, 1)[1:]), axis=0) + 0.1
        self.viscous, self.coulomb, self.rotor = 0.3 * size, 0.1 * size, 0.02 * size
        self.gains = np.linspace(4.0, 8.0, robot.n)

    def recording(self, seed, noise=0.01, delay=0.0, payload=0.0, duration=40.0):
        """Currents and quantised positions of a random motion; delay: of the currents, s."""
        robot = self.robot.with_payload(payload) if payload else self.robot
        t, q, v, a = motion(self.robot, seed, duration)
        dry = np.tanh(v / (self.width * np.sqrt(np.mean(v**2, axis=0))))
        tau = (
            arm.inverse_dynamics(robot, q, v, a)
            + self.viscous * v
            + self.coulomb * dry
            + self.rotor * a
        )
        current = tau / self.gains
        current = current + noise * current.std(axis=0) * np.random.default_rng(seed + 1).normal(
            size=tau.shape
        )
        if delay:
            current = np.column_stack([np.interp(t - delay, t, column) for column in current.T])
        step = np.array(
            [
                FINE if self.robot.joint(x).kind == "prismatic" else TICKS
                for x in self.robot.joint_names
            ]
        )
        return Recording(
            t, np.round(q / step) * step, current=current, name=f"run {seed}", payload=payload
        )

    def described(self, seed=5):
        """A description whose masses and inertias are wrong by up to 30 %."""
        wrong = np.random.default_rng(seed).uniform(0.7, 1.3, len(self.robot.links))
        links = (
            replace(k, mass=f * k.mass, inertia=tuple(f * x for x in k.inertia))
            for k, f in zip(self.robot.links, wrong)
        )
        return replace(self.robot, links=tuple(links))
