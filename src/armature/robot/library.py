"""Built-in robots: the two papers' arms, and common types of arm with round numbers of our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import as_file, files
from math import radians
from typing import overload

from armature.drive import Amplifier, Drive, Gear, Motor
from armature.robot import guard
from armature.robot.model import Joint, Limits, Link, Robot


@overload
def library() -> tuple[str, ...]: ...
@overload
def library(name: str) -> Robot: ...
def library(name: str | None = None) -> tuple[str, ...] | Robot:
    """The names of the built-in robots, or the robot of that name."""
    names = (*PAPERS, *FROM_FILES)
    if name is None:
        return names
    return _built_in(guard.known("built-in robot", name, names))


@cache
def _built_in(name: str) -> Robot:
    return PAPERS[name]() if name in PAPERS else _from_file(name)


def burgevin() -> Robot:
    """Burgevin's spherical arm (1983, Tables 1 and 2): turn by phi about the vertical, tilt by
    theta from it, extend to r.

    With the head (m_h at r_h, moments J_hφ, J_hθ, J_r) and the slider (a rod m_s of length L, its
    end at R) as bodies, T = ½[(I₀ + J_hθ)θ̇² + (J_b + J_r cos²θ + (I₀ + J_hφ) sin²θ)φ̇² + m_sṘ²],
    I₀ = m_sR² − m_sLR + m_sL²/3 + m_hr_h²."""
    L, m_s, r_h, m_h = 1.0, 3.0, -0.1, 8.0
    J_h_theta, J_h_phi, J_r, J_b = 0.15, 0.15, 0.05, 0.4
    links = (
        Link("base"),
        Link(
            "column", inertia=(J_b / 2, J_b / 2, J_b, 0.0, 0.0, 0.0)
        ),  # a disc; it only turns about z
        Link("head", m_h, (0.0, 0.0, r_h), (J_h_phi, J_h_theta, J_r, 0.0, 0.0, 0.0)),
        Link(
            "slider",
            m_s,
            (0.0, 0.0, -L / 2),
            (m_s * L**2 / 12, m_s * L**2 / 12, 0.0, 0.0, 0.0, 0.0),
        ),
    )
    joints = (
        Joint("phi", "continuous", "base", "column", axis=(0.0, 0.0, 1.0)),
        Joint(
            "theta",
            "revolute",
            "column",
            "head",
            axis=(0.0, 1.0, 0.0),
            limits=Limits(radians(-135), radians(250)),
        ),
        Joint("r", "prismatic", "head", "slider", axis=(0.0, 0.0, 1.0), limits=Limits(0.16, 0.91)),
    )
    # Table 2: V_max = 100 V, R = 1 Ω, P_peak = 80 W, P_ave = 200 W, K_m and Red; K_m/Red = 11.33
    # N·m/A, 11.33 N·m/A, 20 N/A
    drives = {
        name: Drive(
            Motor(1.0, K_m, peak_heat=80.0, average_heat=200.0), Gear(1 / Red), Amplifier(100.0)
        )
        for name, K_m, Red in (("phi", 1.7, 0.15), ("theta", 1.7, 0.15), ("r", 0.8, 0.04))
    }
    return Robot("burgevin", links, joints, "base", (0.0, 0.0, -9.81)).with_drives(drives)


def valasek() -> Robot:
    """Valášek's arm (1986, (32)): a point mass of 1 kg at r (cos ϑ cos φ, cos ϑ sin φ, sin ϑ),
    theta the elevation; no limits but the servos' own."""
    links = (Link("base"), Link("column"), Link("beam"), Link("mass", 1.0))
    joints = (
        Joint("phi", "continuous", "base", "column", axis=(0.0, 0.0, 1.0)),
        Joint("theta", "continuous", "column", "beam", axis=(0.0, -1.0, 0.0)),
        Joint("r", "prismatic", "beam", "mass", axis=(1.0, 0.0, 0.0)),
    )
    # servos u = i with |u| ≤ 1 (4): R = 1 Ω, so that the losses are ∫ Σ u² dt
    drives = {
        name: Drive(Motor(1.0, K, peak_current=1.0, linear=name == "r"))
        for name, K in (("phi", 10.0), ("theta", 30.0), ("r", 20.0))
    }
    return Robot("valasek", links, joints, "base", (0.0, 0.0, -9.80665)).with_drives(drives)


def _from_file(name: str) -> Robot:
    from armature.robot.load.yaml import load_yaml

    with as_file(files("armature.robot") / "data" / f"{name}.yaml") as path:
        return load_yaml(path)


PAPERS: dict[str, Callable[[], Robot]] = {"burgevin": burgevin, "valasek": valasek}
FROM_FILES = ("planar2", "six_axis", "seven_axis", "scara")
