"""Control laws: procedures of time, position and velocity (V6), plain or traced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from armature.errors import ArgumentError
from armature.robot.model import Robot


class Controller(Protocol):
    """A control law: joint torques and forces (n,) from time (s), coordinates (nq,) and velocities
    (nv,).

    A law that also has a method `formula(t, q, v)`, the same formula on symbols, runs compiled.
    """

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> Any: ...


@dataclass(frozen=True)
class Traced:
    """A control law that is one formula: it is run once on symbols, then compiled together with the
    robot's dynamics."""

    function: Callable

    def __call__(self, t: Any, q: Any, v: Any, *parameters: Any) -> Any:
        return self.function(t, q, v, *parameters)

    def formula(self, t: Any, q: Any, v: Any, *parameters: Any) -> Any:
        """The law on symbols."""
        return self.function(t, q, v, *parameters)


def traced(function: Callable) -> Traced:
    """Mark a control law `tau = function(t, q, v)` (or `function(t, q, v, parameters)` in a
    rollout) for compilation.

    It must be a formula without `if` on values (use `armature.spatial.numbers.where`) and without
    memory: it is called once, with symbols. NumPy arithmetic, `@`, np.sin, np.tanh and the like
    work."""
    return Traced(function)


def is_traced(controller: Any) -> bool:
    """True for a law that can be run on symbols."""
    return hasattr(controller, "formula")


def procedure(
    robot: Robot, controller: Any
) -> Callable[[float, np.ndarray, np.ndarray], np.ndarray]:
    """Any accepted controller (None, constant torques, a procedure) as a procedure that returns
    checked torques (n,)."""
    n = robot.nv
    if controller is None:
        return lambda t, q, v: np.zeros(n)
    if not callable(controller):
        held = _torques(robot, controller, "the constant torques")
        return lambda t, q, v: held
    return lambda t, q, v: _torques(
        robot, controller(t, q, v), f"the controller's torques at t = {t:g} s"
    )


def _torques(robot: Robot, value: Any, what: str) -> np.ndarray:
    """Torques as floats (n,), finite."""
    try:
        tau = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{what} are {value!r}; return {robot.nv} numbers, one for each joint"
        ) from None
    if tau.shape != (robot.nv,):
        raise ArgumentError(
            f"{what} have shape {tau.shape}; expected ({robot.nv},), one for each joint"
        )
    if not np.all(np.isfinite(tau)):
        names = velocity_names(robot)
        bad = int(np.argmin(np.isfinite(tau)))
        raise ArgumentError(f"{what}: joint {names[bad]!r} gets {tau[bad]}; return finite numbers")
    return tau


def velocity_names(robot: Robot) -> list[str]:
    """A name for each entry of v: the joint's, with the axis for a floating base."""
    names: list[str] = []
    for name in robot.joint_names:
        free = any(b.kind == "free" and b.name == name for b in robot.tree.bodies)
        names += (
            [f"{name}.{axis}" for axis in ("x", "y", "z", "rx", "ry", "rz")] if free else [name]
        )
    return names
