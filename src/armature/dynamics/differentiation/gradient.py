"""Closed first derivatives of inverse dynamics by two sweeps, from (1.14), (1.22) and (2.11). Plain
functions on any number type.

A change of q_j, q̇_j or q̈_j leaves everything beyond joint j as it was, seen from body j: only the
motion of body j itself changes, by (δa, δε, δω) with δε = δω̇ + ω × δω. In a body's own axes, with
the composite inertia (m, h, J) of (2.9) and its Coriolis part (y, E) = (Σ m u, −Σ m⟨r⟩⟨u⟩), u the
velocity of a point against the body's origin, the wrench that the body carries changes by

    (G1)  δf = m δa + δε × h + 2δω × y,      δn = h × δa + J δε + E 2δω

and what joint j itself changes is, for a turning joint (e its axis, K = ⟨ω̇⟩ + ⟨ω⟩⟨ω⟩) and a
sliding one,

    (G2)  ∂q: (a × e, K e, ω × e);   ∂q̇: (0, 2ω × e, e)   |   ∂q: (K e, 0, 0);   ∂q̇: (2ω × e, 0,
    0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.dynamics.recursion.kinematics import (
    Motion,
    Placement,
    motions,
    placements,
    rate,
    spin_matrix,
    still,
)
from armature.dynamics.recursion.recursive import Spin, Wrench, newton_euler
from armature.dynamics.recursion.sweep import tip_to_base
from armature.robot.tree import Body, Tree
from armature.spatial.inertia import Rigid
from armature.spatial.numbers import Number, is_symbol
from armature.spatial.vectors import Array, cross, dot, skew

ZERO = np.zeros(3)


class Composite(NamedTuple):
    """Θ* of a body and all beyond it (Rigid), and its Coriolis part y (3,), E (3, 3)."""

    theta: Rigid
    y: Array
    E: Array

    def __add__(self, other: Composite) -> Composite:  # type: ignore[override]
        return Composite(self.theta + other.theta, self.y + other.y, self.E + other.E)

    def change(self, d: Change) -> Wrench:
        """(G1)."""
        m, h, J = self.theta
        return Wrench(
            m * d.a + cross(d.e, h) + cross(d.w, self.y), cross(h, d.a) + J @ d.e + self.E @ d.w
        )

    def covector(self, mu: Array, nu: Array) -> Change:
        """The covector of (G1): how the power of the wrench at velocities (μ, ν) feels δa, δε and
        2δω of the body."""
        m, h, J = self.theta
        return Change(
            m * mu + cross(nu, h), cross(h, mu) + J @ nu, cross(self.y, mu) + self.E.T @ nu
        )

    def felt(self, d: Direction) -> Change:
        """How the effort of a joint direction feels them."""
        return self.covector(ZERO, d.axis) if d.turning else self.covector(d.axis, ZERO)


class Change(NamedTuple):
    """A change (δa, δε, 2δω) of a body's motion, or a covector on such changes; in the body's
    axes."""

    a: Array
    e: Array
    w: Array

    def on(self, other: Change) -> Number:
        """Covector times change."""
        return dot(self.a, other.a) + dot(self.e, other.e) + dot(self.w, other.w)

    def to_parent(self, place: Placement, p_rate: Array) -> Change:
        """A covector felt by the parent: δa = Rᵀ(δa' + δε' × p + 2δω' × ṗ), δε = Rᵀδε', δω = Rᵀδω',
        read the other way."""
        a = place.to_parent(self.a)
        return Change(
            a,
            place.to_parent(self.e) + cross(place.p, a),
            place.to_parent(self.w) + cross(p_rate, a),
        )


class Direction(NamedTuple):
    """One degree of freedom of a joint: its index in v, its axis, and (G2) for q, for q̇ (halved)
    and for q̈."""

    v: int
    turning: bool
    axis: Array
    q: Change
    half_v: Change
    a: Change

    def effort(self, wrench: Wrench) -> Number:
        """What the drive feels of a wrench."""
        return dot(self.axis, wrench.n if self.turning else wrench.f)


class Gradient(NamedTuple):
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M: (nv, nv), rows τ; in the tangent space of q."""

    dq: Array
    dv: Array
    da: Array


def inverse_dynamics_gradient(tree: Tree, q: Array, v: Array, a: Array) -> Gradient:
    """All first derivatives of inverse dynamics, (G1), (G2)."""
    places = placements(tree, q)
    moving = motions(tree, q, v, a, still()._replace(a=-tree.gravity))
    rates = shift_rates(tree, places, moving, v)
    directions = [
        directions_of(body, m, place, tree.gravity, v)
        for body, m, place in zip(tree.bodies, moving, places)
    ]
    composite = composites(tree, places, moving, rates, v)
    forces = [newton_euler(b, Spin(m.w, m.dw, m.a), None) for b, m in zip(tree.bodies, moving)]
    wrench = tip_to_base(
        tree, lambda i, body, w: wrench_to_parent(body, w, places[i], moving, v, a), forces
    )
    table = Gradient(*(np.zeros((tree.nv, tree.nv), dtype=object) for _ in range(3)))
    for i, body in enumerate(tree.bodies):
        _on_itself(table, body, directions[i], composite[i])
        if body.parent >= 0:
            _on_carriers(tree, table, i, directions, composite[i], wrench[i], places, rates, moving)
    return Gradient(*(_plain(x) for x in table))


def shift_rates(tree: Tree, places: list[Placement], moving: list[Motion], v: Array) -> list[Array]:
    """ṗ of every body."""
    return [_shift_rate(body, place, moving, v) for body, place in zip(tree.bodies, places)]


def composites(
    tree: Tree, places: list[Placement], moving: list[Motion], rates: list[Array], v: Array
) -> list[Composite]:
    """(2.9), (2.11): the composite of every body."""
    own = [_own(body, m) for body, m in zip(tree.bodies, moving)]
    return tip_to_base(tree, lambda i, body, c: _to_parent(body, c, places[i], rates[i], v), own)


def _shift_rate(body: Body, place: Placement, moving: list[Motion], v: Array) -> Array:
    """ṗ: velocity of the body's origin against its parent's, in the parent's axes."""
    along = place.fixed @ body.axis * rate(body, v) if body.kind == "prismatic" else ZERO
    return along if body.parent < 0 else along + cross(moving[body.parent].w, place.p)


def _own(body: Body, m: Motion) -> Composite:
    """The body alone: y = ω × h, E = −⟨ω⟩P with P = Σ m r rᵀ = ½ tr(J) − J."""
    P = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    return Composite(
        Rigid(body.mass, body.first_moment, body.inertia),
        cross(m.w, body.first_moment),
        -skew(m.w) @ P,
    )


def _to_parent(body: Body, c: Composite, place: Placement, p_rate: Array, v: Array) -> Composite:
    """(2.11): y' = R y + m ṗ, E' = R E Rᵀ − ⟨p⟩⟨y'⟩ − ⟨R h⟩⟨ṗ⟩; a rotor adds −½ d q̇ᵣ⟨ε⟩ (R)."""
    y = place.to_parent(c.y) + c.theta.m * p_rate
    E = (
        place.rotate(c.E)
        - _double_skew(place.p, y)
        - _double_skew(place.to_parent(c.theta.h), p_rate)
    )
    if body.rotor and body.rotor_axis.any():
        E = E - skew(body.rotor_axis) * (0.5 * body.rotor * body.ratio * rate(body, v))
    return Composite(place.rigid_to_parent(c.theta), y, E)


def wrench_to_parent(
    body: Body, w: Wrench, place: Placement, moving: list[Motion], v: Array, a: Array
) -> Wrench:
    """The wrench passed on, and the rotor's d(q̈ᵣ ε + q̇ᵣ ω × ε) on its carrier (R)."""
    f, n = place.wrench_to_parent(*w)
    if body.rotor and body.parent >= 0:
        turned = rate(body, a) * body.rotor_axis + rate(body, v) * cross(
            moving[body.parent].w, body.rotor_axis
        )
        n = n + body.rotor * body.ratio * turned
    return Wrench(f, n)


def _double_skew(a: Array, b: Array) -> Array:
    """⟨a⟩⟨b⟩ = b aᵀ − (a·b)E."""
    return np.outer(b, a) - dot(a, b) * np.eye(3)


def directions_of(
    body: Body, m: Motion, place: Placement, gravity: Array, v: Array
) -> list[Direction]:
    """(G2) for each degree of freedom of the body's joint."""
    if body.kind == "free":
        return _free_directions(body, m, place, gravity, v)
    e, K = body.axis, spin_matrix(m.w, m.dw)
    w_e = cross(m.w, e)
    if body.kind == "revolute":
        q = Change(cross(m.a, e), K @ e, 2.0 * w_e)
        return [Direction(body.v, True, e, q, Change(ZERO, w_e, e), Change(ZERO, e, ZERO))]
    return [
        Direction(
            body.v,
            False,
            e,
            Change(K @ e, ZERO, ZERO),
            Change(w_e, ZERO, ZERO),
            Change(e, ZERO, ZERO),
        )
    ]


def _free_directions(
    body: Body, m: Motion, place: Placement, gravity: Array, v: Array
) -> list[Direction]:
    """A floating base: a = −Rᵀg + u̇ + ω × u, changed along and about its own axes."""
    found, u, none = [], v[body.v : body.v + 3], Change(ZERO, ZERO, ZERO)
    up = place.to_child(-gravity)
    for k, e in enumerate(np.eye(3)):
        found.append(
            Direction(
                body.v + k,
                False,
                e,
                none,
                Change(0.5 * cross(m.w, e), ZERO, ZERO),
                Change(e, ZERO, ZERO),
            )
        )
    for k, e in enumerate(np.eye(3)):
        half_v = Change(0.5 * cross(e, u), 0.5 * cross(m.w, e), e)
        found.append(
            Direction(
                body.v + 3 + k,
                True,
                e,
                Change(cross(up, e), ZERO, ZERO),
                half_v,
                Change(ZERO, e, ZERO),
            )
        )
    return found


def _on_itself(table: Gradient, body: Body, directions: list[Direction], c: Composite) -> None:
    """The joint's own efforts for its own changes."""
    scale = body.multiplier**2
    for d in directions:
        for made, twice, change in (
            (table.dq, 1.0, d.q),
            (table.dv, 2.0, d.half_v),
            (table.da, 1.0, d.a),
        ):
            wrench = c.change(change)
            for felt in directions:
                made[felt.v, d.v] = made[felt.v, d.v] + scale * twice * felt.effort(wrench)
        if body.rotor:
            table.da[d.v, d.v] = table.da[d.v, d.v] + scale * body.rotor * body.ratio**2


def _on_carriers(
    tree: Tree,
    table: Gradient,
    i: int,
    directions: list[list[Direction]],
    c: Composite,
    wrench: Wrench,
    places: list[Placement],
    rates: list[Array],
    moving: list[Motion],
) -> None:
    """What joint i and the joints j that carry it do to each other, walking from i to the base."""
    body, (own,) = tree.bodies[i], directions[i]
    felt, by_v = c.felt(own), c.change(own.half_v)
    # turning body i also turns the wrench that it passes on: X(δF + e ×* F)
    turned = (wrench.f, wrench.n) if own.turning else (ZERO, wrench.f)
    by_q = c.change(own.q) + Wrench(*(cross(own.axis, x) for x in turned))
    k = i
    while (j := tree.bodies[k].parent) >= 0:
        by_q, by_v = (Wrench(*places[k].wrench_to_parent(*w)) for w in (by_q, by_v))
        felt = felt.to_parent(places[k], rates[k])
        if k == i and body.rotor:
            # (R): the rotor feels d r ε·ω̇ of its carrier, which feels d r q̇ ω × ε
            spin, turn = (
                body.rotor * body.ratio * body.rotor_axis,
                0.5 * body.rotor * body.ratio * cross(moving[j].w, body.rotor_axis),
            )
            felt = Change(felt.a, felt.e + spin, felt.w + turn)
            by_v = Wrench(by_v.f, by_v.n + turn)
        for d in directions[j]:
            _couple(table, own.v, d, body.multiplier * tree.bodies[j].multiplier, felt, by_q, by_v)
        k = j


def _couple(
    table: Gradient, i: int, d: Direction, scale: float, felt: Change, by_q: Wrench, by_v: Wrench
) -> None:
    """The entries (i, j) and (j, i) for one direction d of a carrier j."""
    table.dq[i, d.v] = table.dq[i, d.v] + scale * felt.on(d.q)
    table.dv[i, d.v] = table.dv[i, d.v] + 2.0 * scale * felt.on(d.half_v)
    table.dq[d.v, i] = table.dq[d.v, i] + scale * d.effort(by_q)
    table.dv[d.v, i] = table.dv[d.v, i] + 2.0 * scale * d.effort(by_v)
    coupling = scale * felt.on(d.a)
    table.da[i, d.v] = table.da[i, d.v] + coupling
    table.da[d.v, i] = table.da[d.v, i] + coupling


def _plain(table: Array) -> Array:
    """An array of numbers, unless it holds symbols."""
    return (
        table
        if any(is_symbol(x) for x in table.flat)
        else table.astype(np.result_type(*(np.asarray(x) for x in table.flat), float))
    )
