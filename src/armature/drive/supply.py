"""What feeds the amplifiers, and what it does with power that comes back ([23]–[26])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.drive.component import Component, quantity
from armature.drive.corner import ramp
from armature.errors import ArgumentError
from armature.spatial.numbers import Number


class Account(NamedTuple):
    """Where the axes' energy came from and went in each of M steps, J, (M,), all ≥ 0; `stored`: in
    the capacitor after each step, J:

    drawn − returned = axes + resistor + lost + increase of stored, in every step.
    """

    drawn: np.ndarray
    returned: np.ndarray
    resistor: np.ndarray
    lost: np.ndarray
    stored: np.ndarray


class Epigraph(NamedTuple):
    """The exact cost without a corner: minimise `cost` (W) under `inequalities` ≤ 0 (W);
    `stored_rate` (W) for a supply that stores."""

    cost: Number
    inequalities: tuple[Number, ...]
    stored_rate: Number


@dataclass(frozen=True)
class Regenerative(Component):
    """A source that takes power back. All axes share it: one axis's braking first feeds the others.

    efficiency: fraction of the surplus that counts as returned, in [0, 1].
    """

    efficiency: float = quantity("", 1.0, least=0, most=1, hint="give a fraction, not per cent")

    def drawn(self, powers: Sequence[Number], width: float = 0.0) -> Number:
        """Net power taken, W: ΣP [24], of a surplus only the fraction `efficiency`; `width` (W): at
        most (1 − efficiency)·width/2 above."""
        total = _sum(powers)
        return (
            total
            if self.efficiency == 1.0
            else self.efficiency * total + (1 - self.efficiency) * ramp(total, width)
        )

    def slacks(self, axes: int) -> int:
        """How many slack variables the epigraph form needs."""
        return 0 if self.efficiency == 1.0 else 1

    def epigraph(self, powers: Sequence[Number], slacks: Sequence[Number]) -> Epigraph:
        """The net power with one slack ≥ max(0, ΣP)."""
        _count(slacks, self.slacks(len(powers)))
        total = _sum(powers)
        if not slacks:
            return Epigraph(total, (), 0.0)
        return Epigraph(
            self.efficiency * total + (1 - self.efficiency) * slacks[0],
            (total - slacks[0], -slacks[0]),
            0.0,
        )

    def account(self, dt: np.ndarray, powers: np.ndarray) -> Account:
        """The accounts of M steps of dt (M,) seconds with the axes' mean powers (M, axes), W."""
        total = dt * np.sum(powers, axis=-1)
        drawn, surplus, zero = np.maximum(0.0, total), np.maximum(0.0, -total), np.zeros_like(total)
        return Account(
            drawn, self.efficiency * surplus, zero, (1 - self.efficiency) * surplus, zero
        )


@dataclass(frozen=True)
class NonRegenerative(Component):
    """Each axis by itself: power that comes back is burnt in its own braking resistor ([25],
    [26])."""

    def drawn(self, powers: Sequence[Number], width: Any = 0.0) -> Number:
        """Σ max(0, P) over the axes, W; `width` (W), one for all or one each: convex, at most
        width/2 for each axis above."""
        widths = (
            width
            if isinstance(width, list | tuple | np.ndarray) and np.ndim(width)
            else [width] * len(powers)
        )
        return _sum([ramp(p, w) for p, w in zip(powers, widths)])

    def slacks(self, axes: int) -> int:
        """One slack variable for each axis."""
        return axes

    def epigraph(self, powers: Sequence[Number], slacks: Sequence[Number]) -> Epigraph:
        """Σ s_k with s_k ≥ P_k, s_k ≥ 0: exact, since the cost presses every s_k down on max(0,
        P_k)."""
        _count(slacks, len(powers))
        return Epigraph(
            _sum(slacks),
            tuple(p - s for p, s in zip(powers, slacks)) + tuple(-s for s in slacks),
            0.0,
        )

    def account(self, dt: np.ndarray, powers: np.ndarray) -> Account:
        """The accounts of M steps of dt (M,) seconds with the axes' mean powers (M, axes), W."""
        drawn, burnt = (
            dt * np.sum(np.maximum(0.0, sign * powers), axis=-1) for sign in (1.0, -1.0)
        )
        return Account(
            drawn, np.zeros_like(drawn), burnt, np.zeros_like(drawn), np.zeros_like(drawn)
        )


def _sum(terms: Sequence[Number]) -> Number:
    return sum(terms[1:], start=terms[0]) if len(terms) else 0.0


def _count(slacks: Sequence[Number], needed: int) -> None:
    if len(slacks) != needed:
        raise ArgumentError(
            f"epigraph: got {len(slacks)} slack variables, this supply needs {needed}; ask"
            " supply.slacks(axes)"
        )
