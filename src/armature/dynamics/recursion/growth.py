"""How fast the torques of a tree of bodies can change: bounds of their time derivatives from bounds
of the joints' motion.

Every vector of the Newton–Euler recursion stands for a bound of its length and of the lengths of
its time derivatives; sums are bounded by sums, products by Leibniz's rule, and x' = ω × x for what
is fixed in a body. Rigorous, for all directions of the axes."""

from __future__ import annotations

from math import comb

import numpy as np

from armature.robot.tree import Body, Tree

Jet = (
    np.ndarray
)  # (orders, C): bounds of a quantity and of its time derivatives in C intervals of time


def torque_growth(tree: Tree, rates: np.ndarray, order: int) -> np.ndarray:
    """(order + 1, C, nv) bounds of |τ|, |τ'|, … in C intervals. rates: (order + 3, C, nv) bounds of
    |q|, |v|, |a|, … there.

    For trees of joints with one axis on a base that stands; torques of rigid bodies and rotors.
    """
    C = rates.shape[1]
    still, ground = np.zeros((order + 2, C)), np.zeros((order + 1, C))
    ground[0] = np.linalg.norm(tree.gravity)
    spins, falls, arms, loads = [], [], [], []
    for body in tree.bodies:
        carried = (spins[body.parent], falls[body.parent]) if body.parent >= 0 else (still, ground)
        spin, fall, arm = _moved(body, *carried, rates, order)
        spins.append(spin)
        falls.append(fall)
        arms.append(arm)
        loads.append(_load(body, spin, fall, order))
    return _collected(tree, rates, order, spins, arms, loads)


def _moved(body: Body, spin: Jet, fall: Jet, rates: np.ndarray, order: int) -> tuple[Jet, Jet, Jet]:
    """Angular velocity, acceleration of the origin less gravity, and the arm from the parent's
    origin, of a body."""
    own = abs(body.multiplier) * rates[:, :, body.v]
    axis, arm = fixed(1.0, spin), fixed(float(np.linalg.norm(body.p)), spin)
    if body.kind == "prismatic":
        own[0] = own[0] + abs(body.offset)
        arm = arm + product(axis, own)
    else:
        spin = spin + product(axis[: order + 2], own[1:])
    return spin, fall + arm[2:], arm


def _load(body: Body, spin: Jet, fall: Jet, order: int) -> tuple[Jet, Jet]:
    """Force and moment about its origin that a body needs: f = m a + h'', n = (J ω)' + h × a."""
    h = fixed(float(np.linalg.norm(body.first_moment)), spin)
    momentum = product(turning(body.inertia, spin), spin)
    return body.mass * fall + h[2:], momentum[1:] + product(h[: order + 1], fall)


def _collected(
    tree: Tree, rates: np.ndarray, order: int, spins: list, arms: list, loads: list
) -> np.ndarray:
    """Inwards: what every joint carries, and what it passes on."""
    C = rates.shape[1]
    total = np.zeros((order + 1, C, tree.nv))
    for i in range(len(tree.bodies) - 1, -1, -1):
        body, (f, n) = tree.bodies[i], loads[i]
        under = spins[body.parent] if body.parent >= 0 else np.zeros((order + 2, C))
        effort = product(fixed(1.0, under)[: order + 1], f if body.kind == "prismatic" else n)
        moment = n + product(arms[i][: order + 1], f)
        if body.rotor:
            turn = abs(body.ratio * body.multiplier) * rates[1:, :, body.v]
            axis = fixed(float(np.linalg.norm(body.rotor_axis)), under)[: order + 2]
            effort = effort + abs(body.ratio) * body.rotor * (
                turn[1:] + product(axis[:-1], under[1:])
            )
            moment = moment + body.rotor * product(axis, turn)[1:]
        total[:, :, body.v] += abs(body.multiplier) * effort
        if body.parent >= 0:
            before = loads[body.parent]
            loads[body.parent] = before[0] + f, before[1] + moment
    return total


def product(x: Jet, y: Jet) -> Jet:
    """Leibniz's rule for bounds."""
    orders = range(min(len(x), len(y)))
    return np.stack([sum(comb(k, j) * x[j] * y[k - j] for j in range(k + 1)) for k in orders])


def fixed(length: float, spin: Jet) -> Jet:
    """A vector of this length fixed in a body that turns: one order more than the body's angular
    velocity."""
    return _turned(length, length, spin, 1)


def turning(inertia: np.ndarray, spin: Jet) -> Jet:
    """A tensor fixed in a body that turns: J' = ω× J − J ω×, in which only the deviation from a
    sphere counts."""
    least, _, most = np.linalg.eigvalsh(inertia)
    return _turned(max(abs(most), abs(least)), (most - least) / 2, spin, 2)[:-1]


def _turned(size: float, changing: float, spin: Jet, times: int) -> Jet:
    found, moving = [np.full(spin.shape[1], size)], [np.full(spin.shape[1], changing)]
    for k in range(len(spin)):
        terms = [comb(k, j) * spin[j] * moving[k - j] for j in range(k + 1)]
        found.append(times * np.sum(terms, axis=0))
        moving.append(found[-1])
    return np.stack(found)
