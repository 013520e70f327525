"""Dynamics against Pinocchio, per state, one thread: its Python calls, and its own calls on
batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import armature as arm
from benchmarks.measure import compared, panda, table, ur5

BATCH = 1024
LOOP = 256  # states in a row for calls of one state


def _states(robot: arm.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    shape = BATCH, robot.n
    return rng.uniform(-2, 2, shape), rng.normal(size=shape), rng.normal(size=shape)


def _mass_matrix(robot: arm.Robot, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
    return arm.mass_matrix(robot, q)


def _crba(model: Any, data: Any, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> np.ndarray:
    return pin.crba(model, data, q)


def _pairs() -> dict[str, tuple[Callable, Callable, str, Callable | None]]:
    """Ours (robot, q, v, x), theirs (model, data, q, v, x), its name, and their call on a batch."""
    forward, inverse = arm.forward_dynamics_derivatives, arm.inverse_dynamics_derivatives
    aba, rnea = "computeABADerivatives", "computeRNEADerivatives"
    return {
        "forward dynamics": (arm.forward_dynamics, pin.aba, "aba", pin.abaInParallel),
        "inverse dynamics": (arm.inverse_dynamics, pin.rnea, "rnea", pin.rneaInParallel),
        "mass matrix": (_mass_matrix, _crba, "crba", None),
        "forward dynamics' derivatives": (forward, getattr(pin, aba), aba, None),
        "inverse dynamics' derivatives": (inverse, getattr(pin, rnea), rnea, None),
    }


def _difference(ours: object, theirs: object) -> float:
    """Largest difference relative to the largest entry, on the first output."""
    a = np.asarray(ours[0] if isinstance(ours, tuple) else ours)
    b = np.asarray(theirs[0] if isinstance(theirs, tuple) else theirs)
    if a.ndim == 2 and np.allclose(np.tril(b, -1), 0.0):
        b = np.triu(b) + np.triu(b, 1).T
    return float(np.abs(a - b).max() / np.abs(b).max())


def _row(
    robot: arm.Robot, model: Any, pair: tuple[Callable, Callable, str, Callable | None]
) -> list:
    """The figures of one function of one robot."""
    ours, theirs, label, whole = pair
    q, v, x = _states(robot)
    data, pool = model.createData(), pin.ModelPool(model, 1)
    columns = [np.asfortranarray(a.T) for a in (q, v, x)]  # a state is a column there
    out = np.zeros_like(columns[0], order="F")
    difference = _difference(ours(robot, q[0], v[0], x[0]), theirs(model, data, q[0], v[0], x[0]))

    def loop() -> None:
        for k in range(LOOP):
            theirs(model, data, q[k], v[k], x[k])

    def batch() -> None:
        if whole is not None:
            whole(1, pool, *columns, out)

    single = [a[0].copy() for a in (q, v, x)]
    calls = [loop, lambda: ours(robot, q, v, x), lambda: ours(robot, *single)]
    calls += [batch] if whole is not None else []
    peer, mine, one, *more = (t.median for t in compared(calls, clock=time.process_time))
    peers = more[0] if more else 0.0
    peer, mine, peers = peer / LOOP, mine / BATCH, peers / BATCH
    if whole is not None:
        batch()
        difference = max(difference, _difference(ours(robot, q, v, x), out.T))
    beside = (
        [f"{peers * 1e6:.2f}", f"**{peers / mine:.0f}×**"] if whole is not None else ["none", ""]
    )
    faster = [f"{mine * 1e6:.4f}", f"**{peer / mine:.0f}×**", *beside]
    alone = [f"{one * 1e6:.2f}", f"{one / peer:.2f}×", f"{difference:.0e}"]
    return [label, f"{peer * 1e6:.2f}", *faster, *alone]


def run() -> str:
    """Batches of 1,024 states, and one state in one call."""
    arm.kernel.set_threads(1)
    rows = []
    for name, (robot, model) in {"UR5": ur5(), "Panda (7 joints)": panda()}.items():
        rows += [[name, what, *_row(robot, model, pair)] for what, pair in _pairs().items()]
    arm.kernel.set_threads(None)
    header = ["robot", "quantity", "Pinocchio's", "called from Python for each state, µs"]
    header += [f"Armature µs per state, batch of {BATCH:,}", "faster by"]
    header += ["Pinocchio's own batch call (`…InParallel`, one thread), µs per state", "faster by"]
    header += ["Armature, one state in one call, µs", "of Pinocchio's time", "relative difference"]
    return "## Dynamics, one thread, from Python\n\n" + table(header, rows)
