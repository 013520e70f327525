"""Timing, the machine's description, and markdown tables."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import armature as arm


@dataclass(frozen=True)
class Timing:
    """Seconds for one call: the median of several repeats, and the quickest."""

    median: float
    best: float


def timed(function: Callable[[], object], repeats: int = 15, seconds: float = 0.02) -> Timing:
    """Time of one call: each repeat runs long enough (`seconds`) for the clock."""
    return compared([function], repeats, seconds)[0]


def compared(
    functions: Sequence[Callable[[], object]],
    repeats: int = 15,
    seconds: float = 0.02,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Timing]:
    """Times of several functions, turn by turn, so that a busy machine slows all of them alike.

    clock: `time.process_time` where both sides use one thread: others on the machine count less.
    """
    numbers = []
    for function in functions:
        function()
        start = clock()
        function()
        numbers.append(max(1, int(seconds / max(clock() - start, 1e-9))))
    found: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = clock()
            for _ in range(numbers[k]):
                function()
            found[k].append((clock() - start) / numbers[k])
    return [Timing(float(np.median(times)), min(times)) for times in found]


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |" for row in rows])


def machine() -> str:
    """CPU, Python and the versions that matter, one line."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        cpu = f"{names[0]}, {len(names)} cores" if names else cpu
    packages = ["numpy", "casadi", "llvmlite", "numba", "pin", "mujoco"]
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in packages)
    return f"{cpu}; Python {platform.python_version()}, {versions}"


def robot_file(name: str) -> Path:
    """A URDF of the example-robot-data package."""
    for file in importlib.metadata.files("example-robot-data") or ():
        if str(file).endswith(name):
            return Path(str(file.locate())).resolve()
    raise FileNotFoundError(f"{name} is not in example-robot-data")


def ur5() -> tuple[arm.Robot, object]:
    """The UR5 here and in Pinocchio."""
    import pinocchio as pin

    path = robot_file("ur_description/urdf/ur5_robot.urdf")
    return _quiet_load(path), pin.buildModelFromUrdf(str(path))


def panda() -> tuple[arm.Robot, object]:
    """The Panda with its fingers locked, here and in Pinocchio: seven joints."""
    import pinocchio as pin

    path = robot_file("panda_description/urdf/panda.urdf")
    robot = _quiet_load(path)
    joints = tuple(
        replace(j, kind="fixed", mimic=None) if "finger" in j.name else j for j in robot.joints
    )
    model = pin.buildModelFromUrdf(str(path))
    fingers = [model.getJointId(n) for n in model.names if "finger" in n]
    return replace(robot, joints=joints), pin.buildReducedModel(model, fingers, pin.neutral(model))


def _quiet_load(path: Path) -> arm.Robot:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
        return arm.load(path)
