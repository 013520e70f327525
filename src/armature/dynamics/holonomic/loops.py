"""Closed loops on a tree (Z5): M q̈ + b = τ + ΓᵀN with Γ q̈ = D, from loop closures f(q) = 0. Plain
functions, traced.

ḟ = Γ v and D = −Γ̇ v by automatic differentiation of f. N = S⁻¹(D − Γ M⁻¹(τ − b)), S = Γ M⁻¹Γᵀ
(2.19). Loops in a plane have rows
that repeat each other: S is then singular, and S + ε is used with two corrections, which leaves q̈
exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from armature.dynamics.bodies.couplings import JOINTS, Ends
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.kinematics import link_pose
from armature.dynamics.recursion.mass import back_substitute, factor, mass_matrix
from armature.kernel.symbol import from_casadi_column, symbols, to_casadi
from armature.robot.loop import Loop
from armature.robot.tree import Tree, to_coordinate_axis
from armature.spatial.numbers import sqrt
from armature.spatial.vectors import Array, from_quaternion, pack, skew

REGULAR = 1e-9  # ε against the diagonal of S
CORRECTIONS = 2


def closures(tree: Tree, loops: Sequence[Loop], q: Array) -> list[list]:
    """f of every loop, m and rad: what keeps it from being closed."""
    return [JOINTS[loop.kind](_ends(tree, loop, q)) for loop in loops]


def _ends(tree: Tree, loop: Loop, q: Array) -> Ends:
    a, b = link_pose(tree, q, loop.a), link_pose(tree, q, loop.b)
    # the closing frame turned so that its z axis is the joint's
    turn = _to_z(loop.axis)
    E_a, E_b = a.R @ np.array(loop.rotation_a) @ turn, b.R @ np.array(loop.rotation_b) @ turn
    return Ends(
        E_a, E_b, b.R @ np.array(loop.position_b) + b.p - a.R @ np.array(loop.position_a) - a.p
    )


def _to_z(axis: tuple[float, float, float]) -> Array:
    """A rotation whose third column is the axis."""
    turn = to_coordinate_axis(axis)
    z = np.array(axis) / np.linalg.norm(axis)
    x = turn[:, (int(np.argmax(np.abs(turn.T @ z))) + 1) % 3]
    return np.column_stack([x, np.cross(z, x), z])


class LoopRows(NamedTuple):
    """f, ḟ, D (m,) and Γ (m, nv); names: the loop of each row. Rows that nothing moves are left
    out."""

    f: Array
    fd: Array
    D: Array
    G: Array


def moving_rows(tree: Tree, loops: Sequence[Loop]) -> list[tuple[str, int]]:
    """(loop, row within it) of the rows that the coordinates can change at all."""
    q = symbols("q", tree.nq)
    found = []
    for loop, rows in zip(loops, closures(tree, loops, q)):
        depends = ca.which_depends(to_casadi(pack(list(rows))), to_casadi(q), 1, True)
        found += [(loop.name, k) for k, moves in enumerate(depends) if moves]
    return found


def rows(tree: Tree, loops: Sequence[Loop], q: Array, v: Array) -> LoopRows:
    """f, ḟ, D, Γ at symbols q, v."""
    kept = set(moving_rows(tree, loops))
    values = [
        x
        for loop, part in zip(loops, closures(tree, loops, q))
        for k, x in enumerate(part)
        if (loop.name, k) in kept
    ]
    f, x, rate = to_casadi(pack(values)), to_casadi(q), to_casadi(coordinate_rates(tree, q, v))
    fd = ca.jtimes(f, x, rate)
    D = -ca.jtimes(fd, x, rate)
    G = ca.densify(ca.jacobian(fd, to_casadi(v)))
    column = lambda e: from_casadi_column(ca.densify(e), (len(values),))
    return LoopRows(column(f), column(fd), column(D), from_casadi_column(ca.vec(G.T), G.shape))


def coordinate_rates(tree: Tree, q: Array, v: Array) -> Array:
    """q̇ (nq,): v, and for a floating base ẋ = R u with the quaternion's rate ½(w ω + ε × ω,
    −ε·ω)."""
    if tree.nq == tree.nv:
        return v
    out: list = [0.0] * tree.nq
    for body in tree.bodies:
        if body.kind != "free":
            out[body.q] = v[body.v]
            continue
        x, y, z, w = q[body.q + 3 : body.q + 7]
        e, u, spin = pack([x, y, z]), v[body.v : body.v + 3], v[body.v + 3 : body.v + 6]
        turning = 0.5 * (w * spin + skew(e) @ spin)
        out[body.q : body.q + 7] = [
            *(from_quaternion(x, y, z, w) @ u),
            *turning,
            -0.5 * (x * spin[0] + y * spin[1] + z * spin[2]),
        ]
    return pack(out)


class Closed(NamedTuple):
    """M factored, Y = M⁻¹Γᵀ, S + ε factored, and S itself: what every solve under the loops
    needs."""

    M: Array
    Y: Array
    S: Array
    regular: Array


def prepare(tree: Tree, q: Array, G: Array) -> Closed:
    """The factors of (2.19)."""
    M = factor(mass_matrix(tree, q))
    Y = back_substitute(M, G.T)
    S = G @ Y
    m = len(S)
    mean = sum(S[i, i] for i in range(m)) * (1.0 / m)
    regular = S + np.diag([REGULAR * S[i, i] + 1e-3 * REGULAR * mean for i in range(m)])
    return Closed(M, Y, S, factor(regular))


def reaction(c: Closed, rhs: Array) -> Array:
    """N with S N = rhs; redundant rows share it."""
    N = back_substitute(c.regular, rhs)
    for _ in range(CORRECTIONS):
        N = N + back_substitute(c.regular, rhs - c.S @ N)
    return N


def forward_dynamics(
    tree: Tree, loops: Sequence[Loop], q: Array, v: Array, force: Array, bias: Array | None = None
) -> tuple[Array, Array]:
    """q̈ (nv,) and the reactions N under generalised forces; bias: b of (2.19), the robot's own by
    default."""
    r = rows(tree, loops, q, v)
    c = prepare(tree, q, r.G)
    free = back_substitute(
        c.M, force - (recursive.bias_forces(tree, q, v) if bias is None else bias)
    )
    N = reaction(c, r.D - r.G @ free)
    return free + c.Y @ N, N


def inverse_dynamics(
    tree: Tree, loops: Sequence[Loop], passive: Sequence[int], q: Array, v: Array, open_tau: Array
) -> Array:
    """τ with zeros at the passive joints: the loops' forces carry them there, Γ_pᵀN = (M q̈ + b)_p,
    with the smallest N."""
    if not passive:
        return open_tau
    G = rows(tree, loops, q, v).G
    Gp = G[:, list(passive)]
    S = Gp.T @ Gp
    n = len(S)
    mean = sum(S[i, i] for i in range(n)) * (1.0 / n)
    F = factor(S + np.diag([REGULAR * mean] * n))
    goal = open_tau[list(passive)]
    y = back_substitute(F, goal)
    for _ in range(CORRECTIONS):
        y = y + back_substitute(F, goal - S @ y)
    tau = open_tau - G.T @ (Gp @ y)
    return pack([0.0 if k in passive else x for k, x in enumerate(tau)])


def project(tree: Tree, loops: Sequence[Loop], q: Array, v: Array) -> tuple[Array, Array, Array]:
    """One step back to f = 0 by the nearest way in M, then to ḟ = 0; and the largest |f| before."""
    r = rows(tree, loops, q, v)
    c = prepare(tree, q, r.G)
    step = c.Y @ reaction(c, -r.f)
    nearer = normalized(tree, q + coordinate_rates(tree, q, step))
    r2 = _at(tree, loops, nearer, v)
    c2 = prepare(tree, nearer, r2.G)
    size = r.f[0].fabs()
    for x in r.f[1:]:
        size = size.fmax(x.fabs())
    return nearer, v + c2.Y @ reaction(c2, -r2.fd), size


def _at(tree: Tree, loops: Sequence[Loop], q: Array, v: Array) -> LoopRows:
    """The rows at expressions q instead of symbols."""
    x = symbols("x", tree.nq)
    r = rows(tree, loops, x, v)
    flat = [to_casadi(e.ravel()) for e in r]
    new = ca.substitute(flat, [to_casadi(x)], [to_casadi(q)])
    return LoopRows(*(from_casadi_column(e, old.shape) for e, old in zip(new, r)))


def normalized(tree: Tree, q: Array) -> Array:
    """q with unit quaternions."""
    if tree.nq == tree.nv:
        return q
    result = q.copy()
    for body in tree.bodies:
        if body.kind == "free":
            e = q[body.q + 3 : body.q + 7]
            result[body.q + 3 : body.q + 7] = e * (
                1.0 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
            )
    return result


def derivatives(
    tree: Tree, q: Array, v: Array, x: Array, result: Array
) -> tuple[Array, Array, Array]:
    """∂/∂q (tangent), ∂/∂v, ∂/∂x of a traced result, by automatic differentiation."""
    J = [_jacobian(result, s) for s in (q, v, x)]
    # a tangent step d moves q by rates(q, d), which is linear in d
    d = symbols("d", tree.nv)
    return J[0] @ _jacobian(coordinate_rates(tree, q, d), d), J[1], J[2]


def _jacobian(f: Array, x: Array) -> Array:
    J = ca.densify(ca.jacobian(to_casadi(f), to_casadi(x)))
    return from_casadi_column(ca.vec(J.T), J.shape)


def wrench_rows(tree: Tree, loop: Loop, q: Array) -> Array:
    """(rows, 6): f of one loop by a displacement and a rotation of link b about the closing point,
    world axes."""
    ends = _ends(tree, loop, q)
    x = symbols("x", 6)
    turned = ends.B + skew(x[3:]) @ ends.B
    J = ca.jacobian(
        to_casadi(pack(list(JOINTS[loop.kind](Ends(ends.A, turned, ends.d + x[:3]))))), to_casadi(x)
    )
    J = ca.densify(ca.substitute(J, to_casadi(x), ca.SX.zeros(6)))
    return from_casadi_column(ca.vec(J.T), J.shape)
