"""Closed forms against automatic differentiation: operations for 2 to 12 joints, and time per state
against Pinocchio's derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

import armature as arm
from armature.dynamics import compiled_closed
from armature.dynamics.differentiation import closed_form, derivatives, differentiated
from armature.dynamics.recursion import mass
from armature.kernel import thread_count
from armature.kernel.trace import trace
from armature.robot.tree import Tree
from benchmarks.measure import compared, panda, table, timed, ur5

BATCH = 1024


def chain(n: int) -> arm.Robot:
    """An arm of n turning joints as they are built: axes at right angles or parallel, offsets along
    one or two axes, full inertias."""
    rng = np.random.default_rng(0)
    quarter = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    links, joints = [arm.robot.Link("l0")], []
    for k in range(1, n + 1):
        size = 0.4 / k**0.5
        r = rng.normal(size=(6, 3)) * size / 3 + np.array([0.0, 0.0, size / 2])
        J = (
            10.0
            / k
            / 6
            * sum(
                (x @ x * np.eye(3) - np.outer(x, x) for x in r - r.mean(axis=0)), np.zeros((3, 3))
            )
        )
        inertia = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        links.append(arm.robot.Link(f"l{k}", 10.0 / k, tuple(r.mean(axis=0)), inertia))
        turned = quarter if k % 3 else ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
        position = (0.05 if k % 2 else 0.0, 0.0, size)
        joints.append(
            arm.robot.Joint(f"j{k}", "continuous", f"l{k - 1}", f"l{k}", position, turned)
        )
    return arm.Robot(f"chain of {n}", tuple(links), tuple(joints), "l0")


def count(tree: Tree, function: Callable, *names: str) -> int:
    """Operations of function(tree, …) for one state."""
    return trace(lambda *x: function(tree, *x), dict.fromkeys(names, tree.nv)).operations


def _counts(robot: arm.Robot) -> list[str]:
    tree = robot.tree
    first = (
        derivatives.inverse,
        differentiated.inverse,
        derivatives.forward,
        differentiated.forward,
    )
    pairs = [count(tree, f, "q", "v", "x") for f in first]
    pairs += [
        count(tree, closed_form.coriolis_symbols, "q"),
        count(tree, compiled_closed.symbols_by_differentiation, "q"),
    ]
    pairs += [
        count(tree, derivatives.hessian, "q", "v", "a", "w"),
        count(tree, differentiated.hessian, "q", "v", "a", "w"),
    ]
    cells = []
    for ours, theirs in zip(pairs[::2], pairs[1::2]):
        cells += [
            f"**{ours:,}**" if ours <= theirs else f"{ours:,}",
            f"**{theirs:,}**" if theirs < ours else f"{theirs:,}",
        ]
    return [str(robot.n), f"{count(tree, lambda t, q: mass.mass_matrix(t, q), 'q'):,}", *cells]


def operations(joints: range = range(2, 13)) -> str:
    """The table of operations; the smaller of each pair is what the library uses."""
    header = [
        "joints",
        "M",
        "∂τ closed",
        "∂τ AD",
        "∂q̈ closed",
        "∂q̈ AD",
        "d (2.14) closed",
        "d AD",
        "∂²(λ·τ) closed",
        "∂²(λ·τ) AD",
    ]
    return table(header, [_counts(chain(n)) for n in joints])


def _times(name: str, robot: arm.Robot, model: Any) -> list[list[str]]:
    """Rows of one robot."""
    rng, data = np.random.default_rng(0), model.createData()
    q, v, x, w = (rng.normal(size=(BATCH, robot.n)) for _ in range(4))

    def loop(function: Callable) -> None:
        for state in zip(q, v, x):
            function(model, data, *state)

    rows = []
    for ours, theirs in (
        (arm.forward_dynamics_derivatives, pin.computeABADerivatives),
        (arm.inverse_dynamics_derivatives, pin.computeRNEADerivatives),
    ):
        mine, other = compared([partial(ours, robot, q, v, x), partial(loop, theirs)])
        each = (f"{1e6 * t.median / BATCH:.3f}" for t in (mine, other))
        rows.append(
            [
                name,
                f"{ours.__name__} ({theirs.__name__})",
                *each,
                f"{other.median / mine.median:.0f}",
            ]
        )
    hessian = timed(partial(compiled_closed.inverse_dynamics_hessian, robot, q, v, x, w))
    return [
        *rows,
        [
            name,
            "Hessian of λ·τ in (q, v, a)",
            f"{1e6 * hessian.median / BATCH:.3f}",
            "not offered",
            "",
        ],
    ]


def times() -> str:
    """µs per state, one thread, batch of 1,024: derivatives against Pinocchio's; the Hessian of
    λ·τ, which it does not offer."""
    threads = thread_count()
    arm.kernel.set_threads(1)
    rows = [
        row
        for name, pair in (("UR5", ur5()), ("Panda, 7 joints", panda()))
        for row in _times(name, *pair)
    ]
    arm.kernel.set_threads(threads)
    return table(
        ["robot", "function", "Armature, µs a state", "Pinocchio from Python, µs", "ratio"], rows
    )


def run() -> str:
    """Both tables as markdown."""
    return (
        "## Derivatives: closed forms and automatic differentiation\n\nOperations for one state of"
        " an arm of n joints (the smaller of each pair is used):\n\n"
        + operations()
        + "\n\nOne thread, batch of 1,024:\n\n"
        + times()
    )


if __name__ == "__main__":
    print(run())
