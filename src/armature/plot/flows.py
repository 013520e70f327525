"""The energy ledger as what came in and where it went."""

from __future__ import annotations

from armature.drive.drive import LOSSES
from armature.simulate.ledger import Ledger


def flows_in(ledger: Ledger) -> list[tuple[str, float]]:
    """What the motion was fed with, J, > 0: drawn energy and stored energy that fell."""
    falls = [(name, -getattr(ledger, name)) for name in ("kinetic", "potential", "capacitor")]
    return [(name, x) for name, x in [("drawn", ledger.drawn), *falls] if x > _least(ledger)]


def flows_out(ledger: Ledger) -> list[tuple[str, float]]:
    """Where it went, J, > 0: losses, returned energy and stored energy that grew."""
    names = (*LOSSES, "resistor", "supply_loss", "returned", "kinetic", "potential", "capacitor")
    return [(name, x) for name in names if (x := getattr(ledger, name)) > _least(ledger)]


def _least(ledger: Ledger) -> float:
    """What is too small to be seen, J: rounding of what went through."""
    return 1e-9 * ledger.throughput
