"""Time from a robot to its first answer: traced and compiled, and from the disk cache, each in a process of its own."""

from __future__ import annotations

import os
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


def run() -> str:
    """Seconds to load the robot and get one answer, with an empty and with a filled kernel cache."""
    rows = []
    for name, file in {"UR5": "ur_description/urdf/ur5_robot.urdf", "Panda with fingers": "panda_description/urdf/panda.urdf"}.items():
        for function in ("forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "ARMATURE_CACHE": folder}
                command = [sys.executable, "-c", CODE, str(robot_file(file)), function]
                times = [
                    float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout) for _ in range(3)
                ]
            rows.append([name, function, f"{times[0]:.2f}", f"{min(times[1:]):.3f}"])
    header = ["robot", "function", "first answer, empty cache, s", "first answer, from the cache, s"]
    return "## Compile time, new process, third-party imports not counted\n\n" + table(header, rows)
