"""How well a robot's model was found to predict the real one: a note that identification leaves
with the robot."""

from __future__ import annotations

from dataclasses import dataclass

from armature.errors import RobotError


@dataclass(frozen=True)
class ModelError:
    """Errors of a model against recordings, in %.

    torque: r.m.s. over joints of the torque's error while they move, in % of each joint's spread.
    energy: of the energy, or of ∫ i² dt where no supply was metered, in absolute value.
    held_out: whether the recordings were kept aside from the identification.
    """

    torque: float
    energy: float
    held_out: bool = True

    def __post_init__(self) -> None:
        for name in ("torque", "energy"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise RobotError(
                    f"model_error: {name} = {value!r} must be a number of per cent, ≥ 0"
                )

    def __str__(self) -> str:
        kind = (
            "recordings that were held out" if self.held_out else "the recordings it was fitted to"
        )
        return (
            f"model error on your robot: {self.torque:.2g} % torque, {self.energy:.2g} % energy (on"
            f" {kind})"
        )
