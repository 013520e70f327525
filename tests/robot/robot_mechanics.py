"""An independent witness for the readers: poses and kinetic energy straight from a robot's links
and joints, in plain NumPy.

It walks the joints as they are (no merging, no turned frames) and differentiates poses by the
complex step."""

import numpy as np

from armature.robot import Robot


def skew(a):
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def about(axis, angle):
    """Rodrigues' formula."""
    K = skew(axis)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def coordinates(robot: Robot, q: dict) -> dict:
    """Every joint's coordinate from those of the free ones; missing ones are 0."""
    full = {}
    for j in robot.joints:
        full[j.name] = (
            q.get(j.name, 0.0)
            if j.mimic is None
            else j.mimic.multiplier * q.get(j.mimic.joint, 0.0) + j.mimic.offset
        )
    return full


def poses(robot: Robot, q: dict) -> dict:
    """{link: (R, p)} for revolute, continuous, prismatic and fixed joints."""
    at = {robot.base: (np.eye(3), np.zeros(3))}
    full = coordinates(robot, q)
    for j in robot.joints:
        R, p = at[j.parent]
        R, p = R @ np.array(j.rotation), p + R @ np.array(j.position)
        axis, x = np.array(j.axis), full[j.name]
        if j.kind in ("revolute", "continuous"):
            R = R @ about(axis, x)
        elif j.kind == "prismatic":
            p = p + R @ (axis * x)
        at[j.child] = (R, p)
    return at


def free_joints(robot: Robot) -> list:
    return [j.name for j in robot.joints if j.kind != "fixed" and j.mimic is None]


def mass_matrix(robot: Robot, q: dict) -> np.ndarray:
    """Σ m JvᵀJv + Jωᵀ R J Rᵀ Jω, and the rotors' d·ratio² on the diagonal (those without a
    gyroscopic axis)."""
    names = free_joints(robot)
    h = 1e-30
    moved = [poses(robot, {**q, n: q.get(n, 0.0) + 1j * h}) for n in names]
    here = poses(robot, q)
    M = np.zeros((len(names), len(names)))
    for link in robot.links:
        R, _ = here[link.name]
        c, J = np.array(link.com), np.array(link.inertia)
        I = R @ np.array([[J[0], J[3], J[4]], [J[3], J[1], J[5]], [J[4], J[5], J[2]]]) @ R.T
        Jv = np.array([(m[link.name][1] + m[link.name][0] @ c).imag / h for m in moved]).T
        W = [(m[link.name][0].imag / h) @ R.T for m in moved]
        Jw = np.array([[w[2, 1], w[0, 2], w[1, 0]] for w in W]).T
        M += link.mass * Jv.T @ Jv + Jw.T @ I @ Jw
    for j in robot.joints:
        if j.rotor is not None and j.mimic is None:
            M[names.index(j.name), names.index(j.name)] += j.rotor.inertia * j.rotor.ratio**2
    return M


def potential_energy(robot: Robot, q: dict) -> complex:
    """−Σ m g·c."""
    here = poses(robot, q)
    return -sum(
        link.mass
        * np.dot(robot.gravity, here[link.name][1] + here[link.name][0] @ np.array(link.com))
        for link in robot.links
    )


def gravity_torque(robot: Robot, q: dict) -> np.ndarray:
    """∂V/∂q by the complex step."""
    h = 1e-30
    return np.array(
        [
            np.imag(potential_energy(robot, {**q, n: q.get(n, 0.0) + 1j * h})) / h
            for n in free_joints(robot)
        ]
    )
