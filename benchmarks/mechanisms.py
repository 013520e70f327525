"""The paper's claim, measured: the recursion against Gibbs–Appell probes; and loop closure on long
rows of four-bars."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

import armature as arm
from armature import mechanisms as mech
from armature.dynamics.recursion import gibbs_appell, recursive
from armature.kernel.trace import trace
from benchmarks.links import chain
from benchmarks.measure import compared, table, timed

STATES = 32


def run() -> str:
    """Both tables."""
    return "\n\n".join(["## Mechanisms", probes(), four_bars()])


def probes() -> str:
    """Forward dynamics by recursion and by 1 + n + n(n+1)/2 probes of G, both compiled, one state
    of a batch."""
    rows = []
    for n in (3, 6, 10, 15, 20, 30):
        robot = chain(n)
        q, v, tau = np.random.default_rng(0).uniform(-0.5, 0.5, (3, STATES, n))
        calls = [
            lambda m=m, r=robot, q=q, v=v, u=tau: arm.forward_dynamics(r, q, v, u, method=m)
            for m in ("recursive", "gibbs-appell")
        ]
        fast, slow = (t.median / STATES for t in compared(calls, repeats=7))
        counted = operations(robot)
        rows.append(
            [
                n,
                f"{fast * 1e6:.2f}",
                f"{slow * 1e6:.1f}",
                f"{slow / fast:.0f}",
                *counted,
                f"{counted[1] / counted[0]:.0f}",
            ]
        )
    header = [
        "joints",
        "recursion, µs",
        "Gibbs–Appell, µs",
        "ratio",
        "operations: recursion",
        "probes",
        "ratio (the paper: 10 to 12)",
    ]
    return table(header, rows)


def operations(robot: arm.Robot) -> tuple[int, int]:
    """Arithmetic operations of one state: the recursion; all probes of G and the elimination of the
    n equations, n³/6 twice."""
    n, tree = robot.n, robot.tree
    recursion = trace(
        lambda q, v, u: recursive.forward_dynamics(tree, q, v, u), {"q": n, "v": n, "tau": n}
    ).operations
    still = trace(
        lambda q, a: gibbs_appell.gibbs_function(tree, q, np.zeros(n), a, gravity=False),
        {"q": n, "a": n},
    ).operations
    moving = trace(
        lambda q, v, a: gibbs_appell.gibbs_function(tree, q, v, a), {"q": n, "v": n, "a": n}
    ).operations
    return recursion, still * n * (n + 1) // 2 + moving * (n + 1) + n**3 // 3


def four_bars() -> str:
    """Accelerations of N four-bar windows (6(2N+1) velocities, 5(3N+1) rows, 3N of them redundant):
    sparse, linear in N."""
    build = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "papers" / "four_bars.py"))[
        "build"
    ]
    rows, first = [], None
    for windows in (10, 20, 50, 100, 200, 500):
        m = build(windows)
        q, v = mech.assemble(m)
        t = timed(lambda m=m, q=q, v=v: mech.accelerations(m, q, v), repeats=7).median
        first = first or t / windows
        entries = len(m.system.L[0])
        rows.append(
            [
                windows,
                m.nv,
                m.rows.rows,
                entries,
                f"{t * 1e3:.2f}",
                f"{t / windows * 1e6:.0f}",
                f"{t / windows / first:.2f}",
            ]
        )
    header = [
        "windows N",
        "velocities",
        "coupling rows",
        "entries of L",
        "ms a solve",
        "µs per window",
        "against N = 10",
    ]
    return table(header, rows)
