"""One d.c. axis without gravity, and its least losses in closed form."""

import numpy as np

from armature.drive import Drive, Friction, Gear, Motor
from armature.robot.model import Joint, Link, Robot

LOAD, ROTOR, R, K = 0.5, 2e-4, 0.8, 0.1  # kg·m², kg·m², Ω, N·m/A
WAY, T = 1.0, 0.5  # rad, s


def axis(ratio=30.0, load=LOAD, viscous=0.0, coulomb=0.0, **limits):
    """A balanced load on a motor with a gear."""
    links = Link("base"), Link("load", 1.0, (0.0, 0.0, 0.0), (load, load, load, 0.0, 0.0, 0.0))
    robot = Robot("axis", links, (Joint("j", "revolute", "base", "load"),), "base")
    drive = Drive(
        Motor(R, K, inertia=ROTOR),
        Gear(ratio=ratio),
        friction=Friction(viscous=viscous, coulomb=coulomb),
    )
    return robot.with_drives({"j": drive}).with_limits({"j": limits} if limits else {})


def least_losses(ratio, load=LOAD, viscous=0.0, coulomb=0.0):
    """Of a move from rest to rest: ρ(I²∫a² + B²∫v² + c²T + 2Bcx) + B∫v² + cx, with ρ = R/(NK)², by
    Euler's equation v'' = k²(v − mean part); x: the way."""
    inertia, rho = load + ROTOR * ratio**2, R / (ratio * K) ** 2
    friction = rho * viscous**2 + viscous
    rest = rho * (coulomb**2 * T + 2.0 * viscous * coulomb * WAY) + coulomb * WAY
    if friction == 0.0:
        return 12.0 * rho * inertia**2 * WAY**2 / T**3 + rest
    k = np.sqrt(friction / (rho * inertia**2))
    h = np.tanh(k * T / 2.0) / (k / 2.0)  # ∫ cosh(k(t − T/2))/cosh(kT/2) dt
    peak = WAY / (T - h)
    # ∫v² + k⁻²∫a² = A² (T − h), by parts
    return friction * peak**2 * (T - h) + rest
