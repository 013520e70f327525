"""`python -m benchmarks design --data FOLDER`: drives of a six-axis arm with three moves from 85,000
pairs of motors and gears. FOLDER holds the folders Maxon and Faulhaber of MGDB (docs/benchmarks.md);
its numbers stay there."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import yaml

import armature as arm

COMMON = {
    "V": "nominal voltage [V]",
    "k_t": "torque constant [N*m/A]",
    "R": "resistance [ohm]",
    "omega_nl": "no load speed [rad/s]",
    "I_nl": "no load current [A]",
    "I_nom": "nominal current [A]",
    "max_int_speed": "max speed [rad/s]",
}
FAULHABER = {"coulomb_friction": "iron torque [N*m]", "viscous_friction": "viscous [N*m*s/rad]"}
GEARS = {"max_int_torque": "maximum torque [N*m]"}
A, B, C = (
    [0.0, -1.2, 1.2, 0.0, 0.5, 0.0],
    [1.2, -0.4, 0.6, 0.5, -0.5, 1.0],
    [-0.8, -0.9, 1.5, -0.4, 0.8, -0.6],
)


def catalogue_file(data: Path, folder: Path) -> Path:
    """A YAML file that says what the columns of the tables mean."""
    at = lambda name: str((data / name).resolve())
    text = {
        "motors": [
            {"file": at("Maxon/maxon_motors.csv"), "name": "key", "columns": COMMON},
            {
                "file": at("Faulhaber/faulhaber_motors.csv"),
                "name": "key",
                "columns": COMMON | FAULHABER,
            },
        ],
        "gears": [
            {"file": at("Maxon/maxon_gearboxes.csv"), "name": "key", "columns": GEARS},
            {"file": at("Faulhaber/faulhaber_gearboxes.csv"), "name": "key", "columns": GEARS},
        ],
        "fits": [
            {"file": at("Maxon/maxon_compatibility.csv")},
            {"file": at("Faulhaber/faulhaber_compatibility.csv")},
        ],
    }
    path = folder / "catalogue.yaml"
    path.write_text(yaml.safe_dump(text))
    return path


def run() -> str:
    """The choice, with its time and gap."""
    if "--data" not in sys.argv[:-1]:
        sys.exit("give the folder of the tables: python -m benchmarks design --data FOLDER")
    data = Path(sys.argv[sys.argv.index("--data") + 1])
    robot = arm.library("six_axis")
    moves = [
        arm.Move(A, B, duration=1.2),
        arm.Move(B, C, duration=1.5),
        arm.Move(C, A, duration=1.0),
    ]
    told = lambda n, cost, message: (
        print(f"  {n} {cost:.5g} {message}", flush=True) if (message or n % 50 == 0) else None
    )
    with tempfile.TemporaryDirectory() as folder:
        file = catalogue_file(data, Path(folder))
        begin, before = time.perf_counter(), os.times()
        found = arm.choose_drives(robot, moves, file, workers=None, progress=told)
        wall, after = time.perf_counter() - begin, os.times()
        driver = after.user + after.system - before.user - before.system
        workers = sum(after[2:4]) - sum(before[2:4])
    return (
        "## Choice of drives\n\nSix-axis arm, three moves, all joints at once; every choice"
        f" re-planned.\n\n```\n{found}\n```\n\n{wall:.0f} s by the clock; CPU: {driver:.0f} s in"
        f" the driver, {workers:.0f} s in its {os.cpu_count()} workers."
    )
