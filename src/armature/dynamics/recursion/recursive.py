"""Inverse dynamics, and forward dynamics by Vereshchagin's linear-cost recursion (V3). Plain
functions on any number type.

Each body's motion is written in its own frame, at the joint: ẍ = (acceleration a of the origin,
ω̇). Gravity enters as an upward acceleration of the base. Equation numbers are those of
docs/theory: (3.1)–(3.5b) Vereshchagin's, (R) the rotor's (V4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from armature.dynamics.recursion.kinematics import Placement, placements, rate, spin_matrix
from armature.dynamics.recursion.mass import mass_matrix, solve_positive
from armature.dynamics.recursion.sweep import base_to_tip, tip_to_base
from armature.robot.tree import Body, Tree
from armature.spatial.inertia import Blocks, blocks_of, eliminate_column
from armature.spatial.numbers import Number
from armature.spatial.vectors import Array, cross, dot, pack

Wrenches = Mapping[str, Array]  # link name → (6,) force and torque at the link's origin, world axes


class Base(NamedTuple):
    """Prescribed motion of the base, in its own axes.

    R: its orientation in the world (3, 3).  w, dw: angular velocity and acceleration.  a:
    acceleration of its origin. All (3,), SI."""

    R: Array
    w: Array
    dw: Array
    a: Array


class Spin(NamedTuple):
    """What inverse dynamics carries outwards: ω, ω̇ and the acceleration a of the origin less
    gravity, in the body's axes."""

    w: Array
    dw: Array
    a: Array


class Wrench(NamedTuple):
    """Force and torque about a body's origin, in its axes."""

    f: Array
    n: Array

    def __add__(self, other: Wrench) -> Wrench:  # type: ignore[override]
        return Wrench(self.f + other.f, self.n + other.n)


FIXED = Base(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def inverse_dynamics(
    tree: Tree, q: Array, v: Array, a: Array, wrenches: Wrenches | None = None, base: Base = FIXED
) -> Array:
    """τ (nv,) that gives the accelerations a: outwards the motion, inwards the wrenches
    (Newton–Euler)."""
    places = placements(tree, q)
    outside = outside_wrenches(tree, places, wrenches, base.R)
    start = Spin(base.w, base.dw, base.a - base.R.T @ tree.gravity)
    spins = base_to_tip(
        tree, lambda i, body, parent: spin_step(body, places[i], parent, v, a), start
    )
    carried = [spins[b.parent] if b.parent >= 0 else start for b in tree.bodies]
    own = [
        newton_euler(body, s, outside.get(i)) for i, (body, s) in enumerate(zip(tree.bodies, spins))
    ]
    tau: list[Number] = [0.0] * tree.nv

    def step(i: int, body: Body, total: Wrench) -> Wrench:
        efforts, passed = force_step(body, places[i], carried[i], total, v, a)
        for k, effort in enumerate(efforts):
            tau[body.v + k] = tau[body.v + k] + body.multiplier * effort
        return passed

    tip_to_base(tree, step, own)
    return pack(tau)


def spin_step(body: Body, place: Placement, parent: Spin, v: Array, a: Array) -> Spin:
    """ω = Rᵀω' + e q̇; ω̇ = Rᵀω̇' + e q̈ + Rᵀω' × e q̇; a = Rᵀ(a' + K'p); telescoping: a += e q̈ +
    2 ω × e q̇."""
    w, dw = place.to_child(parent.w), place.to_child(parent.dw)
    acc = place.to_child(parent.a + spin_matrix(parent.w, parent.dw) @ place.p)
    if body.kind == "free":
        u_rel, w_rel = v[body.v : body.v + 3], v[body.v + 3 : body.v + 6]
        du_rel, dw_rel = a[body.v : body.v + 3], a[body.v + 3 : body.v + 6]
        return Spin(
            w + w_rel,
            dw + dw_rel + cross(w, w_rel),
            acc + du_rel + cross(w_rel, u_rel) + 2.0 * cross(w, u_rel),
        )
    sd, sdd = rate(body, v), rate(body, a)
    if body.kind == "prismatic":
        return Spin(w, dw, acc + body.axis * sdd + 2.0 * cross(w, body.axis * sd))
    return Spin(w + body.axis * sd, dw + body.axis * sdd + cross(w, body.axis * sd), acc)


def newton_euler(body: Body, s: Spin, outside: Wrench | None) -> Wrench:
    """f = m a + K h, n = J ω̇ + ω × J ω + h × a, with h = m c; less what acts from outside."""
    h, J = body.first_moment, body.inertia
    f = body.mass * s.a + spin_matrix(s.w, s.dw) @ h
    n = J @ s.dw + cross(s.w, J @ s.w) + cross(h, s.a)
    return Wrench(f, n) if outside is None else Wrench(f - outside.f, n - outside.n)


def force_step(
    body: Body, place: Placement, carrier: Spin, total: Wrench, v: Array, a: Array
) -> tuple[list[Number], Wrench]:
    """The joint's efforts, and the wrench passed to the parent, about its origin and in its
    axes."""
    efforts = _effort(body, total)
    passed = Wrench(*place.wrench_to_parent(*total))
    if body.rotor:
        # (R) the rotor: its axis feels d(q̈ᵣ + ε·ω̇), its carrier d(q̈ᵣ ε + q̇ᵣ ω × ε)
        d, e = body.rotor, body.rotor_axis
        speed, faster = body.ratio * rate(body, v), body.ratio * rate(body, a)
        efforts = [efforts[0] + body.ratio * d * (faster + dot(e, carrier.dw))]
        passed = Wrench(passed.f, passed.n + d * (faster * e + speed * cross(carrier.w, e)))
    return efforts, passed


def _effort(body: Body, total: Wrench) -> list[Number]:
    """What the joint's drive feels of the wrench that the joint carries."""
    if body.kind == "free":
        return [*total.f, *total.n]
    return [dot(body.axis, total.n if body.kind == "revolute" else total.f)]


def outside_wrenches(
    tree: Tree, places: list[Placement], wrenches: Wrenches | None, R_base: Array
) -> dict[int, Wrench]:
    """External wrenches as (force, torque) about the bodies' origins in the bodies' axes, by
    body."""
    found: dict[int, Wrench] = {}
    for link, wrench in (wrenches or {}).items():
        frame = tree.frames[link]
        if frame.body < 0:
            continue
        f, n = R_base.T @ wrench[:3], R_base.T @ wrench[3:]
        for i in tree.path(frame.body):
            f, n = places[i].to_child(f), places[i].to_child(n)
        here = Wrench(f, n + cross(frame.p, f))
        found[frame.body] = found[frame.body] + here if frame.body in found else here
    return found


def bias_forces(tree: Tree, q: Array, v: Array) -> Array:
    """b (nv,) in M q̈ + b = τ: gravity, centrifugal and gyroscopic forces."""
    return inverse_dynamics(tree, q, v, np.zeros(tree.nv))


# forward dynamics: V3 ----------------------------------------------------------------------------


class Carried(NamedTuple):
    """Outward pass: ω in the body's axes, and f of (3.1) in ẍ = A ẍ' + B q̈ + f, linear and
    angular."""

    w: Array
    f_lin: Array
    f_ang: Array


class CostToGo(NamedTuple):
    """½ ẍᵀPẍ + Rᵀẍ: what the body and all beyond it add to Gauss's constraint."""

    P: Blocks
    r_lin: Array
    r_ang: Array

    def __add__(self, other: CostToGo) -> CostToGo:  # type: ignore[override]
        return CostToGo(self.P + other.P, self.r_lin + other.r_lin, self.r_ang + other.r_ang)


class Elimination(NamedTuple):
    """What (3.5b) needs on the way out: q̈ = (e − sign·(c_lin·a + c_ang·ω̇) − rotor term)/D, a and
    ω̇ carried over from the parent."""

    sign: float
    c_lin: Array
    c_ang: Array
    D: Number
    e: Number


class Acceleration(NamedTuple):
    """ẍ: acceleration a of the origin less gravity, and ω̇, in the body's axes."""

    a: Array
    dw: Array


def forward_dynamics(
    tree: Tree, q: Array, v: Array, tau: Array, wrenches: Wrenches | None = None, base: Base = FIXED
) -> Array:
    """q̈ (nv,) by the linear-cost recursion (3.1)–(3.5b); coupled coordinates (mimic joints)
    through the mass matrix."""
    if tree.has_mimic:
        rest = inverse_dynamics(tree, q, v, np.zeros(tree.nv), wrenches, base)
        return solve_positive(mass_matrix(tree, q), pack(list(tau)) - rest)
    places = placements(tree, q)
    outside = outside_wrenches(tree, places, wrenches, base.R)
    start = Carried(base.w, np.zeros(3), np.zeros(3))
    carried = base_to_tip(tree, lambda i, body, parent: carry(body, places[i], parent, v), start)
    own = [
        own_cost(body, c, outside.get(i)) for i, (body, c) in enumerate(zip(tree.bodies, carried))
    ]
    kept: list[Elimination | Acceleration] = [Acceleration(start.w, start.w)] * len(tree.bodies)

    def inwards(i: int, body: Body, total: CostToGo) -> CostToGo | None:
        parent = carried[body.parent] if body.parent >= 0 else start
        passed, kept[i] = eliminate(body, places[i], carried[i], parent.w, total, v, tau)
        return passed

    tip_to_base(tree, inwards, own)
    qdd: list[Number] = [0.0] * tree.nv

    def outwards(i: int, body: Body, parent: Acceleration) -> Acceleration:
        values, here = release(body, places[i], carried[i], kept[i], parent)
        qdd[body.v : body.v + len(values)] = values
        return here

    base_to_tip(tree, outwards, Acceleration(base.a - base.R.T @ tree.gravity, base.dw))
    return pack(qdd)


def carry(body: Body, place: Placement, parent: Carried, v: Array) -> Carried:
    """(3.1): ω, and f = (Rᵀ(ω' × (ω' × p)) [+ 2 ω × e q̇ if telescoping], Rᵀω' × e q̇)."""
    w = place.to_child(parent.w)
    f_lin = place.to_child(spin_matrix(parent.w, np.zeros(3)) @ place.p)
    if body.kind == "free":
        u_rel, w_rel = v[body.v : body.v + 3], v[body.v + 3 : body.v + 6]
        return Carried(
            w + w_rel, f_lin + cross(w_rel, u_rel) + 2.0 * cross(w, u_rel), cross(w, w_rel)
        )
    along = body.axis * rate(body, v)
    if body.kind == "prismatic":
        return Carried(w, f_lin + 2.0 * cross(w, along), np.zeros(3))
    return Carried(w + along, f_lin, cross(w, along))


def own_cost(body: Body, c: Carried, outside: Wrench | None) -> CostToGo:
    """(3.5) for the body alone: P = W, R = −W z̈ = (ω × (ω × h), ω × J ω) less what acts from
    outside."""
    r_lin = spin_matrix(c.w, np.zeros(3)) @ body.first_moment
    r_ang = cross(c.w, body.inertia @ c.w)
    if outside is not None:
        r_lin, r_ang = r_lin - outside.f, r_ang - outside.n
    return CostToGo(blocks_of(body.mass, body.first_moment, body.inertia), r_lin, r_ang)


def eliminate(
    body: Body, place: Placement, c: Carried, w_parent: Array, total: CostToGo, v: Array, tau: Array
) -> tuple[CostToGo | None, Elimination | Acceleration]:
    """(3.5a): minimise over q̈; the cost to go in terms of the parent's acceleration, and what
    `release` needs."""
    P = total.P
    if body.kind == "free":
        # nothing holds a floating base: ẍ₀ = P₀⁻¹(Q − R₀), and it passes nothing on
        return None, _free_base(
            P, tau[body.v : body.v + 3] - total.r_lin, tau[body.v + 3 : body.v + 6] - total.r_ang
        )
    # R + P f
    r_lin = total.r_lin + P.A @ c.f_lin + P.B @ c.f_ang
    r_ang = total.r_ang + P.B.T @ c.f_lin + P.C @ c.f_ang
    # B = ± unit vector k: D = BᵀPB + d r², e = Q − Bᵀ(R + P f); d r² is the rotor's share
    k, turning = int(np.argmax(np.abs(body.axis))), body.kind == "revolute"
    sign, armature = float(body.axis[k]), body.rotor * body.ratio**2
    c_lin, c_ang = (P.B[:, k], P.C[:, k]) if turning else (P.A[:, k], P.B[k, :])
    D = (c_ang[k] if turning else c_lin[k]) + armature
    e = tau[body.v] - sign * (r_ang[k] if turning else r_lin[k])
    kept = Elimination(sign, c_lin, c_ang, D, e)
    # Pᵢ₋₁ −= Aᵀ[P − P B Bᵀ P / D]A,  Rᵢ₋₁ −= Aᵀ[R + P f + P B e / D]
    passed_P = place.blocks_to_parent(eliminate_column(P, k, turning, D, armature))
    gain = sign * e / D
    f, n = place.wrench_to_parent(r_lin + c_lin * gain, r_ang + c_ang * gain)
    passed = CostToGo(passed_P, f, n)
    if body.rotor and body.rotor_axis.any():
        passed = passed + _gyroscopic(body, place, w_parent, rate(body, v), kept)
    return passed, kept


def _free_base(P: Blocks, f: Array, n: Array) -> Acceleration:
    x = solve_positive(np.block([[P.A, P.B], [P.B.T, P.C]]), np.concatenate([f, n]))
    return Acceleration(x[:3], x[3:])


def _gyroscopic(
    body: Body, place: Placement, w_parent: Array, speed: Number, kept: Elimination
) -> CostToGo:
    """(R): a rotor whose axis ε turns with its carrier couples q̈ to ω̇' by w = d r ε, and adds d
    q̇ᵣ (ω' × ε) to R."""
    w = body.rotor * body.ratio * body.rotor_axis
    u_lin, u_ang = place.wrench_to_parent(kept.sign * kept.c_lin, kept.sign * kept.c_ang)
    mixed = np.outer(u_ang, w)
    P = Blocks(
        np.zeros((3, 3)), -np.outer(u_lin, w) / kept.D, -(mixed + mixed.T + np.outer(w, w)) / kept.D
    )
    return CostToGo(P, np.zeros(3), w * (kept.e / kept.D) + speed * cross(w_parent, w))


def release(
    body: Body, place: Placement, c: Carried, kept: Elimination | Acceleration, parent: Acceleration
) -> tuple[list[Number], Acceleration]:
    """(3.5b): q̈ from the parent's acceleration, then the body's own, (3.1)."""
    a = place.to_child(parent.a + cross(parent.dw, place.p))
    dw = place.to_child(parent.dw)
    if isinstance(kept, Acceleration):
        return [*(kept.a - a - c.f_lin), *(kept.dw - dw - c.f_ang)], kept
    rotor = dot(body.rotor * body.ratio * body.rotor_axis, parent.dw) if body.rotor else 0.0
    qdd = (kept.e - kept.sign * (dot(kept.c_lin, a) + dot(kept.c_ang, dw)) - rotor) / kept.D
    if body.kind == "revolute":
        return [qdd], Acceleration(a + c.f_lin, dw + c.f_ang + body.axis * qdd)
    return [qdd], Acceleration(a + c.f_lin + body.axis * qdd, dw + c.f_ang)
