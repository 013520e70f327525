"""The other two routes to the accelerations, on batches: Gauss's principle itself (V1) and
Gibbs–Appell (V2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from armature.dynamics.holonomic.closed_loops import check_passive, loop_rows
from armature.dynamics.kernels import BaseMotion, check_links, check_moves, kernel
from armature.dynamics.recursion import gauss_tree, gibbs_appell
from armature.dynamics.recursion.recursive import FIXED, Base
from armature.errors import ArgumentError
from armature.kernel.trace import Shape
from armature.robot.model import Robot

Wrenches = Mapping[str, Any]


def forward_dynamics(
    robot: Robot,
    method: str,
    q: Any,
    v: Any,
    tau: Any,
    wrenches: Wrenches | None,
    base: BaseMotion | None,
) -> np.ndarray:
    """q̈ (..., n) by the method "gauss" or "gibbs-appell"."""
    if method not in ROUTES:
        raise ArgumentError(
            f"method {method!r} is not known; use one of 'recursive',"
            f" {', '.join(map(repr, ROUTES))}"
        )
    check_moves(robot)
    check_passive(robot, tau)
    links = check_links(robot, wrenches)
    outside = [*((wrenches or {})[link] for link in links), *(base or ())]
    return ROUTES[method](robot, q, v, tau, links, outside, base is not None)


def _loops(robot: Robot, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    """Γ (..., m, n) and D (..., m) of the loops; no rows without them."""
    if not robot.loops:
        return np.empty((0, robot.nv)), np.empty(0)
    _, _, D, G = loop_rows(robot)(q, v)
    return G, D


def gauss(
    robot: Robot,
    q: Any,
    v: Any,
    tau: Any,
    links: Sequence[str],
    outside: Sequence[Any],
    moving: bool,
) -> np.ndarray:
    """One sparse KKT system for each state, the loops' rows included."""
    tree = robot.tree
    plain = lambda tree, q, v, *rest: gauss_tree.terms(tree, q, v, *_outside(links, rest, moving))
    X, f, R = kernel(
        robot, "gauss terms", plain, _inputs(robot, links, moving), tuple(links), moving
    )(q, v, *outside)
    batch = np.broadcast_shapes(f.shape[:-2], np.shape(tau)[:-1])
    spin = np.broadcast_to(outside[-2] if moving else np.zeros(3), (*batch, 3))
    G, D = _loops(robot, q, v)
    X, f, R, G, D = (
        np.broadcast_to(x, (*batch, *x.shape[-k:]))
        for x, k in ((X, 3), (f, 2), (R, 2), (G, 2), (D, 1))
    )
    tau = np.broadcast_to(np.asarray(tau, dtype=float), (*batch, tree.nv))
    result = np.empty((*batch, tree.nv))
    for i in np.ndindex(*batch):
        result[i], _ = gauss_tree.solve(tree, X[i], f[i], R[i], tau[i], spin[i], G[i], D[i])
    return result


def gibbs_appell_route(
    robot: Robot,
    q: Any,
    v: Any,
    tau: Any,
    links: Sequence[str],
    outside: Sequence[Any],
    moving: bool,
) -> np.ndarray:
    """1 + n + n(n+1)/2 probes of G for each state, all in two calls of its kernel."""
    tree, n = robot.tree, robot.nv
    still = lambda tree, q, a: gibbs_appell.gibbs_function(tree, q, np.zeros(n), a, gravity=False)
    full = lambda tree, q, v, a, *rest: gibbs_appell.gibbs_function(
        tree, q, v, a, *_outside(links, rest, moving)
    )
    inputs = _inputs(robot, links, moving)
    at_rest = kernel(robot, "gibbs at rest", still, {"q": tree.nq, "a": n})
    in_motion = kernel(
        robot,
        "gibbs",
        full,
        {"q": tree.nq, "v": n, "a": n} | dict(list(inputs.items())[2:]),
        tuple(links),
        moving,
    )
    each = lambda x, axes=1: np.expand_dims(np.asarray(x, dtype=float), -1 - axes)
    alpha = gibbs_appell.alpha(at_rest(each(q), gibbs_appell.pair_probes(n)))
    axes = [1] * len(links) + ([2, 1, 1, 1] if moving else [])
    values = in_motion(
        each(q),
        each(v),
        np.vstack([np.zeros(n), np.eye(n)]),
        *(each(x, k) for x, k in zip(outside, axes)),
    )
    return gibbs_appell.solve(alpha, gibbs_appell.beta(values, alpha), tau, *_loops(robot, q, v))


def _inputs(robot: Robot, links: Sequence[str], moving: bool) -> dict[str, Shape | int]:
    inputs: dict[str, Shape | int] = {"q": robot.nq, "v": robot.nv}
    inputs |= {f"wrench {link}": 6 for link in links}
    if moving:
        inputs |= {
            "base rotation": (3, 3),
            "base velocity": 3,
            "base angular acceleration": 3,
            "base acceleration": 3,
        }
    return inputs


def _outside(
    links: Sequence[str], rest: Sequence[Any], moving: bool
) -> tuple[dict[str, Any], Base]:
    """The kernel's further inputs as wrenches by link and the base's motion."""
    return dict(zip(links, rest)), Base(*rest[len(links) :]) if moving else FIXED


ROUTES: dict[str, Callable] = {"gauss": gauss, "gibbs-appell": gibbs_appell_route}
