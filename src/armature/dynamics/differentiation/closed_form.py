"""Zaremba's closed forms (Z2–Z4): derivatives of any order by products of 6 × 6 matrices, without
differentiation or differencing.

Six-vectors are (linear, angular). i ≤ k means that body i carries body k or is it; the index −1 is
a base joint along −gravity, so that gravity's forces are one more column of the inertia. Plain
functions on any number type; the equations' numbers are Zaremba's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations_with_replacement, pairwise, permutations

import numpy as np

from armature.dynamics.recursion.kinematics import Placement, link_pose, placements
from armature.dynamics.recursion.sweep import base_to_tip, tip_to_base
from armature.errors import RobotError
from armature.robot.tree import Body, Tree
from armature.spatial.inertia import Rigid
from armature.spatial.numbers import Number, is_symbol
from armature.spatial.vectors import Array, cross, skew

GRAVITY = -1


class ClosedForm:
    """The columns l_k^i (1.5), g_k^i (1.22) and the effective inertias Θ* (2.9) of a mechanism at
    one q, and their derivatives.

    l[k][i]: joint i's axis carried to body k's frame, (6,).  g[k][i]: carried inwards to body k's
    frame.
    theta[i]: Θ_i^{i*}, (6, 6), of body i and all beyond it, in its own frame.
    """

    def __init__(self, tree: Tree, q: Array):
        refuse_floating(tree)
        self.tree = tree
        self.places = placements(tree, q)
        self.paths = [tree.path(k) for k in range(len(tree.bodies))]
        self.l = base_to_tip(
            tree, self._outward, {GRAVITY: np.concatenate([-tree.gravity, np.zeros(3)])}
        )
        self.g = [self._inward(k) for k in range(len(tree.bodies))]
        own = [Rigid(b.mass, b.first_moment, b.inertia) for b in tree.bodies]
        self.composite = tip_to_base(
            tree, lambda i, body, c: self.places[i].rigid_to_parent(c), own
        )

    def carries(self, i: int, k: int) -> bool:
        """i ≤ k."""
        return i == GRAVITY or i in self.paths[k]

    def is_chain(self, indices: Sequence[int]) -> bool:
        """True when each index (in rising order) carries the next: other derivatives vanish."""
        return all(self.carries(s, t) for s, t in pairwise(indices))

    def _outward(self, k: int, body: Body, from_parent: dict[int, Array]) -> dict[int, Array]:
        """(1.5): l_k^i = L_k^{iᵀ} f^i; the columns of the parent carried over, and the joint's
        own."""
        carried = {i: _twist_to_child(self.places[k], x) for i, x in from_parent.items()}
        return {**carried, k: axis_column(body)}

    def _inward(self, k: int) -> dict[int, Array]:
        """(1.22): g_k^i for i ≥ k."""
        found = {}
        for i, path in enumerate(self.paths):
            if k in path:
                x = axis_column(self.tree.bodies[i])
                for j in reversed(path[path.index(k) + 1 :]):
                    x = _twist_to_parent(self.places[j], x)
                found[i] = x
        return found

    def theta(self, i: int, s: int) -> Array:
        """Θ_i^{s*}, (6, 6): the effective inertia of body s seen in the frame of body i ≤ s
        (2.9)."""
        inertia = self.composite[s]
        path = self.paths[s]
        for j in reversed(path[path.index(i) + 1 :]):
            inertia = self.places[j].rigid_to_parent(inertia)
        m, h, J = inertia
        return np.block([[m * np.eye(3), -skew(h)], [skew(h), J]])

    def d_l(self, k: int, i: int, by: Sequence[int]) -> Array:
        """(1.16): ∂ᵖl_k^i = ⟨l_k^{t_p}⟩ᵀ … ⟨l_k^{t₁}⟩ᵀ l_k^i for i < t₁ ≤ … ≤ t_p ≤ k, else 0."""
        by = sorted(by)
        if not self.carries(i, k) or any(t <= i or not self.carries(t, k) for t in by):
            return np.zeros(6)
        return reduce(lambda x, t: twist_bracket(self.l[k][t], x), by, self.l[k][i])

    def d_g(self, k: int, i: int, by: Sequence[int]) -> Array:
        """(1.22): ∂ᵖg_k^i = (−1)ᵖ⟨g_k^{t₁}⟩ᵀ … ⟨g_k^{t_p}⟩ᵀ g_k^i for k < t₁ ≤ … ≤ t_p ≤ i, else
        0."""
        by = sorted(by, reverse=True)
        if i not in self.g[k] or any(
            t == k or t not in self.g[k] or not self.carries(t, i) for t in by
        ):
            return np.zeros(6)
        return reduce(lambda x, t: -twist_bracket(self.g[k][t], x), by, self.g[k][i])

    def d_theta(self, i: int, by: Sequence[int]) -> Array:
        """(2.11), (2.13): ∂Θ_i^{i*} = ⟨g_i^s⟩Θ_i^{s*} + Θ_i^{s*}⟨g_i^s⟩ᵀ, again for each smaller
        index; i < s₁ ≤ … ≤ s_p, else 0."""
        by = sorted(by)
        if any(s == i or s not in self.g[i] for s in by) or not self.is_chain(by):
            return np.zeros((6, 6))
        return reduce(
            lambda X, s: _both_sides(bracket(self.g[i][s]), X),
            reversed(by),
            self.theta(i, by[-1] if by else i),
        )

    def inertia(self, i: int, j: int, by: Sequence[int] = ()) -> Number:
        """(2.9) ∂ᵖa_ij for j ≤ i: f^{iᵀ}(∂Θ_i^{i*})(∂l_i^j). Indices beyond i change Θ*, those
        between j and i change l: each only one."""
        beyond = [t for t in by if not self.carries(t, i)]
        between = [t for t in by if self.carries(t, i)]
        column = self.d_l(i, j, between)
        body = self.tree.bodies[i]
        value = axis_column(body) @ (self.d_theta(i, beyond) @ column)
        if body.rotor:
            value = value + self._rotor(body, i, j, by)
        return value

    def _rotor(self, body: Body, i: int, j: int, by: Sequence[int]) -> Number:
        """(R): d r² on the diagonal, d r ε·(∂ω of the carrier) beside it."""
        if j == i:
            return 0.0 if by else body.rotor * body.ratio**2
        if body.parent < 0 or not all(self.carries(t, body.parent) for t in by):
            return 0.0
        return body.rotor * body.ratio * (body.rotor_axis @ self.d_l(body.parent, j, by)[3:])


def refuse_floating(tree: Tree) -> None:
    """Closed forms are for joints of one degree of freedom (Z1)."""
    for body in tree.bodies:
        if body.kind == "free":
            raise RobotError(
                f"joint {body.name!r} floats: its orientation has no coordinates to differentiate"
                " by; describe it by six one-axis joints (three sliding, three turning), or use"
                " the first derivatives, which are offered in its tangent space"
            )


def axis_column(body: Body) -> Array:
    """f^i (6,): (0, e) for a turning joint, (e, 0) for a sliding one."""
    return np.concatenate(
        [np.zeros(3), body.axis] if body.kind == "revolute" else [body.axis, np.zeros(3)]
    )


def bracket(f: Array) -> Array:
    """⟨f⟩ = [[⟨f₂⟩, 0], [⟨f₁⟩, ⟨f₂⟩]], (6, 6)."""
    return np.block([[skew(f[3:]), np.zeros((3, 3))], [skew(f[:3]), skew(f[3:])]])


def twist_bracket(f: Array, x: Array) -> Array:
    """⟨f⟩ᵀx: minus the cross product of the twists f and x."""
    return np.concatenate([cross(x[:3], f[3:]) + cross(x[3:], f[:3]), cross(x[3:], f[3:])])


def _both_sides(G: Array, X: Array) -> Array:
    return G @ X + X @ G.T


def _twist_to_child(place: Placement, x: Array) -> Array:
    return np.concatenate([place.to_child(x[:3] + cross(x[3:], place.p)), place.to_child(x[3:])])


def _twist_to_parent(place: Placement, x: Array) -> Array:
    w = place.to_parent(x[3:])
    return np.concatenate([place.to_parent(x[:3]) + cross(place.p, w), w])


# from bodies to coordinates ----------------------------------------------------------------------


def _scatter(
    tree: Tree, table: Array, value: Array | Number, rows: Sequence[int], by: Sequence[int]
) -> None:
    """Add a derivative by bodies to a table by coordinates: mimic bodies count through their
    masters. `by` in every order."""
    bodies = tree.bodies
    scale = float(np.prod([bodies[i].multiplier for i in (*rows, *by)]))
    for order in set(permutations(by)):
        place = tuple(bodies[i].v for i in (*rows, *order))
        table[(..., *place)] = table[(..., *place)] + scale * value


def _indices(count: Sequence[int], order: int) -> Iterator[tuple[int, ...]]:
    return combinations_with_replacement(count, order)


def _plain(table: Array) -> Array:
    if any(is_symbol(x) for x in table.flat):
        return table
    return table.astype(np.result_type(*{np.asarray(x).dtype for x in table.flat}, float))


def inertia_derivatives(tree: Tree, q: Array, order: int = 1) -> Array:
    """∂ᵖM/∂qᵖ, (nv, nv, nv, …) with `order` axes of derivatives, by theorems 1 and 3."""
    form, n = ClosedForm(tree, q), tree.nv
    table = np.zeros((n,) * (2 + order), dtype=object)
    for by in _indices(range(len(tree.bodies)), order):
        for i, path in enumerate(form.paths):
            for j in path:
                value = form.inertia(i, j, by)
                _scatter(tree, table, value, (i, j), by)
                if i != j:
                    _scatter(tree, table, value, (j, i), by)
    return _plain(table)


def gravity_derivatives(tree: Tree, q: Array, order: int = 0) -> Array:
    """∂ᵖ/∂qᵖ of gravity's generalised forces, (nv, nv, …): the inertia's column of a base that is
    accelerated by −g."""
    form = ClosedForm(tree, q)
    table = np.zeros((tree.nv,) * (1 + order), dtype=object)
    for by in _indices(range(len(tree.bodies)), order):
        for i in range(len(tree.bodies)):
            _scatter(tree, table, form.inertia(i, GRAVITY, by), (i,), by)
    return _plain(table)


def coriolis_symbols(tree: Tree, q: Array, order: int = 0) -> Array:
    """(2.14) d_sj^i at [i, s, j] = ½(∂a_ij/∂q_s + ∂a_is/∂q_j − ∂a_sj/∂q_i), and its derivatives on
    further axes."""
    dA = inertia_derivatives(tree, q, order + 1)  # [i, j, s, …]
    return 0.5 * (np.swapaxes(dA, 1, 2) + dA - np.moveaxis(dA, 2, 0))


def torque_derivatives(tree: Tree, q: Array, v: Array, a: Array, order: int = 1) -> Array:
    """∂ᵖτ/∂qᵖ (nv, nv, …) of inverse dynamics τ = A q̈ + d q̇ q̇ + gravity, of any order."""
    inertial = np.tensordot(inertia_derivatives(tree, q, order), a, axes=(1, 0))
    centrifugal = np.tensordot(
        np.tensordot(coriolis_symbols(tree, q, order), v, axes=(1, 0)), v, axes=(1, 0)
    )
    return inertial + centrifugal + gravity_derivatives(tree, q, order)


# kinematics of a link ----------------------------------------------------------------------------


def link_columns(tree: Tree, q: Array, link: str, at: Array, order: int = 0) -> Array:
    """∂ᵖl/∂qᵖ of the columns of a point of a link in the link's own axes, (6, nv, nv, …), by
    theorem 1."""
    form, frame = ClosedForm(tree, q), tree.frames[link]
    table = np.zeros((6,) + (tree.nv,) * (1 + order), dtype=object)
    path = form.paths[frame.body] if frame.body >= 0 else []
    fixed = Placement(frame.R, None, frame.p + frame.R @ at)
    for i in path:
        for by in _indices(path, order):
            _scatter(tree, table, _twist_to_child(fixed, form.d_l(frame.body, i, by)), (i,), by)
    return _plain(table)


def jacobian_derivatives(tree: Tree, q: Array, link: str, at: Array, order: int = 0) -> Array:
    """∂ᵖJ/∂qᵖ of the Jacobian of a point of a link in world axes, (6, nv, nv, …).

    With world columns (u_i, w_i): all derivatives of a position are w_{s₀} × (w_{s₁} × … u_{s_p})
    with rising indices, i among them; those of an axis are w_{t₁} × (… × w_i) for t₁ ≤ … ≤ t_p < i
    (theorem 2 for the axes)."""
    columns = _world_columns(ClosedForm(tree, q), q, link, at)
    path = sorted(columns)
    table = np.zeros((6,) + (tree.nv,) * (1 + order), dtype=object)
    turn = lambda x, t: cross(columns[t][3:], x)
    for i in path:
        for by in _indices(path, order):
            *first, last = sorted((i, *by))
            linear = reduce(turn, reversed(first), columns[last][:3])
            angular = (
                reduce(turn, reversed(by), columns[i][3:])
                if all(t < i for t in by)
                else np.zeros(3)
            )
            _scatter(tree, table, np.concatenate([linear, angular]), (i,), by)
    return _plain(table)


def _world_columns(form: ClosedForm, q: Array, link: str, at: Array) -> dict[int, Array]:
    """Velocity of a point of a link in world axes for each joint that carries it: l turned into the
    world's axes."""
    tree = form.tree
    frame, R = tree.frames[link], link_pose(tree, q, link).R
    if frame.body < 0:
        return {}
    fixed = Placement(frame.R, None, frame.p + frame.R @ at)
    carried = {i: _twist_to_child(fixed, x) for i, x in form.l[frame.body].items() if i != GRAVITY}
    return {i: np.concatenate([R @ x[:3], R @ x[3:]]) for i, x in carried.items()}
