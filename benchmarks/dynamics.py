"""Dynamics against Pinocchio called from Python, per state, one thread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

import armature as arm
from benchmarks.measure import compared, panda, table, ur5

BATCH = 1024


def _states(robot: arm.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(-2, 2, (BATCH, robot.n)), rng.normal(size=(BATCH, robot.n)), rng.normal(size=(BATCH, robot.n))


def _pairs() -> dict[str, tuple[Callable, Callable, str]]:
    """Ours (robot, q, v, x) and theirs (model, data, q, v, x), and the name of theirs."""
    return {
        "forward dynamics": (arm.forward_dynamics, pin.aba, "aba"),
        "inverse dynamics": (arm.inverse_dynamics, pin.rnea, "rnea"),
        "mass matrix": (lambda r, q, v, x: arm.mass_matrix(r, q), lambda m, d, q, v, x: pin.crba(m, d, q), "crba"),
        "forward dynamics' derivatives": (arm.forward_dynamics_derivatives, pin.computeABADerivatives, "computeABADerivatives"),
        "inverse dynamics' derivatives": (arm.inverse_dynamics_derivatives, pin.computeRNEADerivatives, "computeRNEADerivatives"),
    }


def _difference(ours: object, theirs: object) -> float:
    """Largest difference relative to the largest entry, on the first output."""
    a = np.asarray(ours[0] if isinstance(ours, tuple) else ours)
    b = np.asarray(theirs[0] if isinstance(theirs, tuple) else theirs)
    if a.ndim == 2 and np.allclose(np.tril(b, -1), 0.0):
        b = np.triu(b) + np.triu(b, 1).T
    return float(np.abs(a - b).max() / np.abs(b).max())


def run() -> str:
    """Batches of 1,024 states, and one state in one call."""
    arm.set_threads(1)
    rows = []
    for name, (robot, model) in {"UR5": ur5(), "Panda (7 joints)": panda()}.items():
        data = model.createData()  # pyright: ignore[reportAttributeAccessIssue]
        q, v, x = _states(robot)
        for what, (ours, theirs, label) in _pairs().items():
            difference = _difference(ours(robot, q[0], v[0], x[0]), theirs(model, data, q[0], v[0], x[0]))

            def loop(theirs=theirs, model=model, data=data, q=q, v=v, x=x):
                for k in range(256):
                    theirs(model, data, q[k], v[k], x[k])

            q1, v1, x1 = q[0].copy(), v[0].copy(), x[0].copy()
            whole = lambda ours=ours, robot=robot, q=q, v=v, x=x: ours(robot, q, v, x)
            single = lambda ours=ours, robot=robot, q=q1, v=v1, x=x1: ours(robot, q, v, x)
            peer, batch, one = (t.median for t in compared([loop, whole, single]))
            peer, batch = peer / 256, batch / BATCH
            figures = [f"{peer * 1e6:.2f}", f"{batch * 1e6:.4f}", f"**{peer / batch:.0f}×**", f"{one * 1e6:.2f}", f"{one / peer:.2f}×"]
            rows.append([name, what, label, *figures, f"{difference:.0e}"])
    arm.set_threads(None)
    header = ["robot", "quantity", "Pinocchio's", "Pinocchio µs", "Armature µs per state, batch of 1,024", "faster by"]
    header += ["one state in one call µs", "of Pinocchio's time", "relative difference"]
    return "## Dynamics, one thread, from Python\n\n" + table(header, rows)
