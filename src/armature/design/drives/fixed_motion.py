"""What thousands of pairs would cost on one and the same motion: a joint's load along it is known,
so that all pairs are counted at once.

A pair that can do this motion costs no more with a motion of its own: the value is an upper bound,
by which pairs are put in order; it decides nothing. The law is that of `Drive.flow`, without the
gyroscopic torques of rotors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.integrate import trapezoid

from armature.design.drives.duty import Item
from armature.design.drives.mounting import Mount
from armature.design.drives.pairs import Pairs
from armature.drive import NonRegenerative, as_supply
from armature.dynamics.compiled import inverse_dynamics, jacobian, point_kinematics
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.simulate.flows import drives_at

CHUNK = 4000  # pairs that are counted together: some MB
INSTANTS = 60  # of a motion


@dataclass(frozen=True, eq=False)
class Load:
    """What one joint's drive has to do in a motion, at K instants. torque: that the gear delivers,
    rotor left out, N·m (N).  v, a: of the joint.  weights: (K,) of the quadrature, s.  burnt:
    whether power that comes back is lost."""

    torque: np.ndarray
    v: np.ndarray
    a: np.ndarray
    weights: np.ndarray
    burnt: bool


class Counted(NamedTuple):
    """Of every pair, summed over the motions. energy, losses: J.  excess: of its worst limit, as a
    part of it; ≤ 0 within."""

    energy: np.ndarray
    losses: np.ndarray
    excess: np.ndarray


def loads(items: Sequence[Item], robots: Sequence[Robot], motions: Sequence[Trajectory]) -> dict:
    """{joint: loads of its drive in every motion}. robots: with the drives that the motions were
    planned for."""
    found: dict[str, list[Load]] = {name: [] for name in robots[0].joint_names}
    for item, robot, motion in zip(items, robots, motions):
        t = np.linspace(motion.t[0], motion.t[-1], INSTANTS + 1)
        at = motion(t)
        q, v, a = at.q, at.v, at.a
        weights = np.full(len(t), (t[-1] - t[0]) / INSTANTS)
        weights[[0, -1]] /= 2
        tau = np.asarray(inverse_dynamics(robot, q, v, a))
        drag = drives_at(robot, tau, v, a).torque - tau  # friction of joints and drives
        burnt = isinstance(as_supply(item.supply or robot.supply), NonRegenerative)
        for j, name in enumerate(robot.joint_names):
            body = next(b for b in robot.tree.bodies if b.name == name)
            rotor = body.rotor * body.ratio**2 * a[:, j]
            found[name].append(
                Load(tau[:, j] + drag[:, j] - rotor, v[:, j], a[:, j], weights, burnt)
            )
    return found


def count(pairs: Pairs, duty: Sequence[Load]) -> Counted:
    """Energy, losses and excess of every pair."""
    parts = [
        _count(pairs.chosen(np.arange(first, min(first + CHUNK, len(pairs)))), duty)
        for first in range(0, len(pairs), CHUNK)
    ]
    return Counted(*(np.concatenate(column) for column in zip(*parts)))


def _count(pairs: Pairs, duty: Sequence[Load]) -> Counted:
    column = lambda x: x[:, None]
    R, K, N = column(pairs.resistance), column(pairs.constant), column(pairs.ratio)
    energy, losses, excess = np.zeros(len(pairs)), np.zeros(len(pairs)), np.full(len(pairs), -1.0)
    for load in duty:
        driving = load.torque * load.v > 0
        factor = np.where(driving, 1 / column(pairs.efficiency), column(pairs.efficiency_back))
        iron = column(pairs.iron) * np.sign(load.v) + column(pairs.viscous) * N * load.v
        shaft = (factor * load.torque + column(pairs.inertia) * load.a) / N + iron
        current = shaft / K
        copper = R * current**2
        power = copper + K * current * N * load.v
        drawn = np.maximum(power, 0.0) if load.burnt else power
        energy += drawn @ load.weights
        losses += (power - load.torque * load.v - column(pairs.inertia) * load.a * load.v) @ (
            load.weights
        )
        volts = R * current + column(pairs.back_emf) * N * load.v
        duration = load.weights.sum()
        used = (
            np.abs(volts).max(1) / pairs.voltage,
            np.abs(current).max(1) / pairs.peak_current,
            copper.max(1) / pairs.peak_heat,
            np.abs(load.v).max() * pairs.ratio / pairs.speed,
            np.abs(load.torque).max() / pairs.gear_torque,
            np.sqrt(current**2 @ load.weights / duration) / pairs.continuous_current,
        )
        excess = np.maximum(excess, np.max(used, axis=0) - 1.0)
    return Counted(energy, losses, excess)


def mass_costs(
    items: Sequence[Item],
    robots: Sequence[Robot],
    motions: Sequence[Trajectory],
    mounts: Mapping[str, Mount],
    powers: Sequence[np.ndarray],
) -> np.ndarray:
    """(joints,) J/kg: energy that a kilogram more at every mount costs along the motions, to first
    order: Σ_i ∂E/∂τ_i · ∂τ_i/∂m, ∂τ/∂m = Jᵀ(p̈ − g).  powers: (K, n) ∂P/∂τ of every motion."""
    found = np.zeros(len(mounts))
    for robot, motion, slope in zip(robots, motions, powers):
        t = np.linspace(motion.t[0], motion.t[-1], len(slope))
        at = motion(t)
        for k, mount in enumerate(mounts.values()):
            moving = point_kinematics(robot, at.q, at.v, at.a, mount.link, at=mount.at)
            force = moving.acceleration[:, :3] - np.array(robot.gravity)
            J = jacobian(robot, at.q, mount.link, at=mount.at)[:, :3]
            torque = np.einsum("kij,ki->kj", J, force)
            found[k] += float(trapezoid(np.sum(slope * torque, axis=1), t))
    return found


def power_slopes(item: Item, robot: Robot, motion: Trajectory) -> np.ndarray:
    """(K, n) ∂P/∂τ_i along a motion by central differences: the axes' powers depend on their own
    joint's torque alone."""
    t = np.linspace(motion.t[0], motion.t[-1], INSTANTS + 1)
    at = motion(t)
    tau = np.asarray(inverse_dynamics(robot, at.q, at.v, at.a))
    step = 1e-3 * np.maximum(np.abs(tau).max(0), 1e-6)
    burnt = isinstance(as_supply(item.supply or robot.supply), NonRegenerative)
    sides = []
    for sign in (1.0, -1.0):
        flow = drives_at(robot, tau + sign * step, at.v, at.a).together.power
        sides.append(np.maximum(flow, 0.0) if burnt else flow)
    slopes = (sides[0] - sides[1]) / (2 * step)
    matrix = np.array(robot.drivetrain.matrix)  # axes in the order of joints, one each
    return slopes @ (matrix != 0.0)
