"""Closed second derivatives of λ·τ by two sweeps: how the first derivatives (G1), (G2) change.
Plain functions on any number type.

λ is carried outwards as a virtual motion (μ, ν): velocities of a body's origin and of its turning.
Then λ·τ is the virtual power of the inertia forces, and seen from body j, with Λ = (Σ m v, Σ m r ×
v, Σ m u × v), v the virtual velocity of a point r and u its velocity against the body's origin, and
W = (f, n) the wrench that the body carries, its change is

    (H1)  δ(λ·τ) = Λ·(δa, δε, 2δω) + W·(δμ, δν)

A turning joint changes (μ, ν) by (μ × e, ν × e), a sliding one by (ν × e, 0), besides (G2): that is
the gradient. The gradient of joint k is again a function of the motion of body k alone; its
covector, carried to the base, meets the changes that each joint on the way makes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.dynamics.differentiation.closed_form import refuse_floating
from armature.dynamics.differentiation.gradient import (
    ZERO,
    Change,
    Composite,
    Direction,
    composites,
    directions_of,
    shift_rates,
    wrench_to_parent,
)
from armature.dynamics.recursion.kinematics import (
    Motion,
    Placement,
    motions,
    placements,
    rate,
    still,
)
from armature.dynamics.recursion.recursive import Spin, Wrench, newton_euler
from armature.dynamics.recursion.sweep import base_to_tip, tip_to_base
from armature.robot.tree import Body, Tree
from armature.spatial.numbers import Number, is_symbol
from armature.spatial.vectors import Array, cross, dot


class Virtual(NamedTuple):
    """A virtual motion, or a change of one: velocity μ of the body's origin, turning ν; body
    axes."""

    mu: Array
    nu: Array


class Momentum(NamedTuple):
    """Λ of (H1) for a body and all beyond it, and B = Σ m v rᵀ (3, 3), on which its change with ω
    depends."""

    a: Array
    e: Array
    w: Array
    B: Array

    def __add__(self, other: Momentum) -> Momentum:  # type: ignore[override]
        return Momentum(self.a + other.a, self.e + other.e, self.w + other.w, self.B + other.B)

    def turned(self, x: Array) -> Array:
        """Zᵀx of δ(Σ m u × v) = Z δω, Z = Bᵀ − tr B."""
        return self.B @ x - (self.B[0, 0] + self.B[1, 1] + self.B[2, 2]) * x


class Covector(NamedTuple):
    """How a derivative feels changes of a body's motion (δa, δε, 2δω) and of its virtual motion
    (δμ, δν)."""

    motion: Change
    virtual: Wrench

    def to_parent(self, place: Placement, p_rate: Array) -> Covector:
        """The same, felt by the parent."""
        return Covector(
            self.motion.to_parent(place, p_rate), Wrench(*place.wrench_to_parent(*self.virtual))
        )


def torque_hessian(tree: Tree, q: Array, v: Array, a: Array, weights: Array) -> Array:
    """∂²(λ·τ) in (q, v, a), (3n, 3n), for λ = weights (n,); robots without a floating base."""
    refuse_floating(tree)
    places = placements(tree, q)
    moving = motions(tree, q, v, a, still()._replace(a=-tree.gravity))
    rates = shift_rates(tree, places, moving, v)
    directions = [
        directions_of(body, m, place, tree.gravity, v)[0]
        for body, m, place in zip(tree.bodies, moving, places)
    ]
    composite = composites(tree, places, moving, rates, v)
    forces = [newton_euler(b, Spin(m.w, m.dw, m.a), None) for b, m in zip(tree.bodies, moving)]
    wrench = tip_to_base(
        tree, lambda i, body, w: wrench_to_parent(body, w, places[i], moving, v, a), forces
    )
    virtual = base_to_tip(
        tree,
        lambda i, body, parent: _virtual(body, places[i], parent, weights),
        Virtual(ZERO, ZERO),
    )
    own = [_own_momentum(body, m, x) for body, m, x in zip(tree.bodies, moving, virtual)]
    momentum = tip_to_base(
        tree,
        lambda i, body, x: _momentum_to_parent(
            body, x, places[i], rates[i], moving, virtual, v, weights
        ),
        own,
    )
    changes = [_virtual_change(d, x) for d, x in zip(directions, virtual)]
    table = np.zeros((3, tree.nv, 3, tree.nv), dtype=object)
    for k in range(len(tree.bodies)):
        felt = _covectors(
            directions[k], changes[k], composite[k], wrench[k], momentum[k], moving[k]
        )
        j = k
        while j >= 0:
            scale = tree.bodies[k].multiplier * tree.bodies[j].multiplier
            _meet(table, tree.bodies[k].v, directions[j], changes[j], felt, scale, j == k)
            felt = [c.to_parent(places[j], rates[j]) for c in felt]
            if j == k and tree.bodies[k].rotor and tree.bodies[k].parent >= 0:
                felt = _rotor_feels(
                    tree.bodies[k],
                    felt,
                    moving[tree.bodies[k].parent],
                    virtual[tree.bodies[k].parent],
                )
            j = tree.bodies[j].parent
    H = table.reshape(3 * tree.nv, 3 * tree.nv)
    return (
        H
        if any(is_symbol(x) for x in H.flat)
        else H.astype(np.result_type(*(np.asarray(x) for x in H.flat), float))
    )


def _virtual(body: Body, place: Placement, parent: Virtual, weights: Array) -> Virtual:
    """ν = Rᵀν' + e λ, μ = Rᵀ(μ' + ν' × p); telescoping: μ += e λ."""
    mu, nu = place.to_child(parent.mu + cross(parent.nu, place.p)), place.to_child(parent.nu)
    own = body.axis * rate(body, weights)
    return Virtual(mu, nu + own) if body.kind == "revolute" else Virtual(mu + own, nu)


def _own_momentum(body: Body, m: Motion, x: Virtual) -> Momentum:
    """The body alone: B = μ hᵀ + ⟨ν⟩P; Σ m u × v from E and y of (G1)."""
    h, J = body.first_moment, body.inertia
    P = 0.5 * np.trace(J) * np.eye(3) - J
    B = np.outer(x.mu, h) + np.stack([cross(x.nu, P[:, k]) for k in range(3)], axis=1)
    # Σ m (ω × r) × v = Z ω
    spun = B.T @ m.w - (B[0, 0] + B[1, 1] + B[2, 2]) * m.w
    return Momentum(body.mass * x.mu + cross(x.nu, h), cross(h, x.mu) + J @ x.nu, spun, B)


def _momentum_to_parent(
    body: Body,
    x: Momentum,
    place: Placement,
    p_rate: Array,
    moving: list[Motion],
    virtual: list[Virtual],
    v: Array,
    weights: Array,
) -> Momentum:
    """Λ as the covector it is; B' = R B Rᵀ + Λ_a pᵀ; the rotor's share (R)."""
    a = place.to_parent(x.a)
    e, w = place.to_parent(x.e) + cross(place.p, a), place.to_parent(x.w) + cross(p_rate, a)
    B = place.rotate(x.B) + np.outer(a, place.p)
    if body.rotor and body.rotor_axis.any() and body.parent >= 0:
        axis, d = body.rotor_axis, body.rotor * body.ratio
        spin = d * rate(body, weights) * axis
        e = e + spin
        w = w + 0.5 * (
            cross(moving[body.parent].w, spin)
            + d * rate(body, v) * cross(axis, virtual[body.parent].nu)
        )
        # Z += −½⟨spin⟩, that is B += ½⟨spin⟩
        B = B + 0.5 * np.stack([cross(spin, column) for column in np.eye(3)], axis=1)
    return Momentum(a, e, w, B)


def _virtual_change(d: Direction, x: Virtual) -> Virtual:
    """What a joint's coordinate does to its body's virtual motion."""
    return (
        Virtual(cross(x.mu, d.axis), cross(x.nu, d.axis))
        if d.turning
        else Virtual(cross(x.nu, d.axis), ZERO)
    )


def _covectors(
    d: Direction, change: Virtual, c: Composite, wrench: Wrench, x: Momentum, m: Motion
) -> list[Covector]:
    """Of ∂/∂q, ½ ∂/∂q̇ and ∂/∂q̈ of the body's own joint."""
    e, w_e = d.axis, cross(m.w, d.axis)
    shaken = c.covector(change.mu, change.nu)
    by_q, by_v, by_a = c.change(d.q), c.change(d.half_v), c.change(d.a)
    if d.turning:
        motion = Change(
            shaken.a + cross(e, x.a),
            shaken.e + cross(e, x.e),
            shaken.w + x.turned(w_e) + cross(w_e, x.e) + cross(e, x.w),
        )
        turned = Wrench(cross(e, wrench.f), cross(e, wrench.n))
        half = Change(ZERO, ZERO, 0.5 * (x.turned(e) + cross(e, x.e)))
    else:
        motion = Change(shaken.a, shaken.e + cross(e, x.a), shaken.w + cross(w_e, x.a))
        turned = Wrench(ZERO, cross(e, wrench.f))
        half = Change(ZERO, ZERO, 0.5 * cross(e, x.a))
    return [
        Covector(motion, by_q + turned),
        Covector(half, by_v),
        Covector(Change(ZERO, ZERO, ZERO), by_a),
    ]


def _rotor_feels(body: Body, felt: list[Covector], m: Motion, x: Virtual) -> list[Covector]:
    """(R): d r q̇ ν·(ω × ε) and d r q̈ ν·ε on the carrier."""
    q, half_v, a = felt
    d, axis = body.rotor * body.ratio, body.rotor_axis
    motion = half_v.motion._replace(w=half_v.motion.w + 0.25 * d * cross(axis, x.nu))
    virtual = Wrench(half_v.virtual.f, half_v.virtual.n + 0.5 * d * cross(m.w, axis))
    return [
        q,
        Covector(motion, virtual),
        Covector(a.motion, Wrench(a.virtual.f, a.virtual.n + d * axis)),
    ]


def _meet(
    table: Array,
    k: int,
    d: Direction,
    change: Virtual,
    felt: list[Covector],
    scale: float,
    same: bool,
) -> None:
    """Entries of joint k's derivatives (felt) and those of joint j (d, change): in (q, q̇, q̈)
    each."""
    q, half_v, a = felt
    virtual = lambda c: dot(c.virtual.f, change.mu) + dot(c.virtual.n, change.nu)
    entries: dict[tuple[int, int], Number] = {
        (0, 0): q.motion.on(d.q) + virtual(q),
        (0, 1): 2.0 * q.motion.on(d.half_v),
        (0, 2): q.motion.on(d.a),
        (1, 0): 2.0 * (dot(half_v.motion.w, d.q.w) + virtual(half_v)),
        (1, 1): 4.0 * dot(half_v.motion.w, d.half_v.w),
        (2, 0): virtual(a),
    }
    for (row, column), value in entries.items():
        if same and row > column:
            continue  # the same entry as (column, row)
        table[row, k, column, d.v] = table[row, k, column, d.v] + scale * value
        if not same or row != column:
            table[column, d.v, row, k] = table[column, d.v, row, k] + scale * value
