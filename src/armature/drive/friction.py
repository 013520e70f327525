"""Joint friction."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Friction:
    """Friction of a joint, on the joint's side of the gear.

    viscous: N·m·s/rad or N·s/m, ≥ 0.  coulomb: N·m or N, ≥ 0.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
