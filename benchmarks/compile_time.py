"""Time from a robot to its first answer: traced and compiled, and from the disk cache, each in a
process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile

from benchmarks.measure import robot_file, table

CODE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import casadi, numba, llvmlite.binding, lxml.etree, numpy as np, platformdirs, scipy  # third-party imports are not counted
start = time.perf_counter()
import armature as arm
robot = arm.load(sys.argv[1])
q = np.zeros((1, robot.n))
getattr(arm, sys.argv[2])(robot, q, q, q)
print(time.perf_counter() - start)
"""

PLAN = """
import sys, time, warnings
warnings.simplefilter("ignore")
import casadi, numba, llvmlite.binding, lxml.etree, numpy as np, platformdirs, pydantic, ruamel.yaml
import scipy.integrate, scipy.interpolate, scipy.optimize
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh(), cpu_target.target_context.refresh()  # what Numba imports at its first function
start, clock = time.process_time(), time.perf_counter()
import armature as arm
robot = arm.library("seven_axis")
if sys.argv[1] == "Panda":
    panda = arm.load(sys.argv[2])
    panda = panda.with_held({name: 0.02 for name in panda.joint_names[7:]})
    robot = panda.with_drives({name: robot.drives[k].drives[0] for k, name in enumerate(panda.joint_names)})
loaded = time.process_time()
ranges = [(robot.joint(n).limits.lower, robot.joint(n).limits.upper) for n in robot.joint_names]
middle = np.array([sum(r) / 2 if np.isfinite(sum(r)) else 0.0 for r in ranges])
plan = arm.minimize_energy(robot, arm.Move(middle, middle + [0.6, -0.4, 0.5, 0.5, -0.4, 0.4, 0.3], duration=1.0))
print(plan.ok, loaded - start, time.process_time() - loaded, time.perf_counter() - clock)
"""


def first_plans() -> str:
    """CPU seconds to the first least-energy plan of arms with seven joints, bytecode and Numba's
    cache warm."""
    rows = []
    for name in ("seven_axis", "Panda"):
        with tempfile.TemporaryDirectory() as folder:
            environment = {
                **os.environ,
                "ARMATURE_CACHE": f"{folder}/kernels",
                "PYTHONPYCACHEPREFIX": f"{folder}/bytecode",
                "OPENBLAS_NUM_THREADS": "1",
            }
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            command = [
                sys.executable,
                "-c",
                PLAN,
                name,
                str(robot_file("panda_description/urdf/panda.urdf")),
            ]
            found = []
            for attempt in range(4):
                if attempt == 1:  # bytecode and Numba's cache are warm now
                    shutil.rmtree(f"{folder}/kernels", ignore_errors=True)
                ok, *seconds = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True
                ).stdout.split()
                assert ok == "True", f"no plan for {name}"
                found.append([float(x) for x in seconds])
        cold, warm = found[1], min(found[2:])
        rows += [
            [name, "empty", *(f"{x:.2f}" for x in cold)],
            [name, "warm", *(f"{x:.2f}" for x in warm)],
        ]
    header = [
        "arm with seven joints",
        "kernel cache",
        "load the robot, CPU s",
        "plan, CPU s",
        "both, wall s",
    ]
    return "### First plan in a new process\n\n" + table(header, rows)


def run() -> str:
    """Seconds to load the robot and get one answer, with an empty and with a filled kernel
    cache."""
    rows = []
    for name, file in {
        "UR5": "ur_description/urdf/ur5_robot.urdf",
        "Panda with fingers": "panda_description/urdf/panda.urdf",
    }.items():
        for function in (
            "forward_dynamics",
            "inverse_dynamics_derivatives",
            "forward_dynamics_derivatives",
        ):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "ARMATURE_CACHE": folder}
                command = [sys.executable, "-c", CODE, str(robot_file(file)), function]
                times = [
                    float(
                        subprocess.run(
                            command, env=environment, capture_output=True, text=True, check=True
                        ).stdout
                    )
                    for _ in range(3)
                ]
            rows.append([name, function, f"{times[0]:.2f}", f"{min(times[1:]):.3f}"])
    header = [
        "robot",
        "function",
        "first answer, empty cache, s",
        "first answer, from the cache, s",
    ]
    return (
        "## Compile time, new process, third-party imports not counted\n\n"
        + table(header, rows)
        + "\n\n"
        + first_plans()
    )
