"""Everything that the command line writes, as bytes for a download."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armature import plot
from armature.errors import ArgumentError
from armature.job.saved import save_plan
from armature.scene.scene import Scene

Writer = Callable[[Any, Path], Any]


def _motion(plan: Any, path: Path) -> None:
    plan.trajectory.save(path)


def _baseline(plan: Any, path: Path) -> None:
    if plan.baseline is None:
        raise ArgumentError(
            "this plan has no ordinary motion to compare with; export the motion itself"
        )
    plan.baseline.trajectory.save(path)


# words of the menu → file name, how it is written
EXPORTS: dict[str, tuple[str, Writer]] = {
    "Report, one page (.html)": ("plan.html", lambda plan, path: plan.report(path)),
    "Motion, table (.csv)": ("motion.csv", _motion),
    "Motion, ROS 2 trajectory (.yaml)": ("motion.yaml", _motion),
    "Motion, NumPy (.npz)": ("motion.npz", _motion),
    "Motion (.json)": ("motion.json", _motion),
    "Motion (.parquet)": ("motion.parquet", _motion),
    "Motion (.h5)": ("motion.h5", _motion),
    "Motion, ROS 2 bag (.mcap)": ("motion.mcap", _motion),
    "Ordinary motion, table (.csv)": ("baseline.csv", _baseline),
    "Plan to open again (.json)": ("plan.json", save_plan),
    "Plan to open again (.npz)": ("plan.npz", save_plan),
    "Robot (.yaml)": ("robot.yaml", lambda plan, path: plan.robot.save(path)),
    "Figure: motion (.svg)": (
        "motion.svg",
        lambda plan, path: plot.motion(plan.robot, plan.trajectory, save=path),
    ),
    "Figure: currents (.svg)": (
        "graf.svg",
        lambda plan, path: plot.graf(plan.robot, plan.trajectory, save=path),
    ),
    "Figure: power (.svg)": (
        "power.svg",
        lambda plan, path: plot.power(plan.robot, plan.trajectory, plan.supply, save=path),
    ),
    "Figure: torque and speed (.svg)": (
        "torque_speed.svg",
        lambda plan, path: plot.torque_speed(plan.robot, plan.trajectory, save=path),
    ),
    "Figure: ledger (.svg)": (
        "ledger.svg",
        lambda plan, path: plot.ledger_flow(plan.ledger, save=path),
    ),
    "Figure: temperature (.svg)": (
        "temperature.svg",
        lambda plan, path: plot.temperature(plan.ledger, save=path),
    ),
}


OBSTACLES = "Obstacles (.yaml)"


def export(plan: Any, kind: str, scene: Scene | None = None) -> tuple[str, bytes]:
    """(file name, content) of a plan in one of the EXPORTS, or of a scene (OBSTACLES); an
    ArgumentError where there is none yet."""
    if kind == OBSTACLES:
        if scene is None:
            raise ArgumentError("there are no obstacles to save yet; add one")
        return "scene.yaml", scene.to_yaml().encode()
    if plan is None or not plan.ok:
        raise ArgumentError("there is no motion to save yet; make the plan possible first")
    if kind not in EXPORTS:
        raise ArgumentError(f"{kind!r} is not one of the kinds of file: {', '.join(EXPORTS)}")
    name, write = EXPORTS[kind]
    if hasattr(plan, "whole") and not name.startswith(("plan.html", "motion.", "robot.")):
        raise ArgumentError(
            "of a program the report, the motion and the robot are saved here, and all of it by the"
            " button in the tab Program"
        )
    with tempfile.TemporaryDirectory(prefix="armature") as folder:
        path = Path(folder) / name
        write(plan, path)
        return name, path.read_bytes()
