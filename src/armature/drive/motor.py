"""D.c. and brushless motors, rotary and linear."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from math import inf

from armature.drive.component import Component, quantity
from armature.drive.corner import EXACT, Smooth, rounded
from armature.drive.thermal import REFERENCE_TEMPERATURE, Thermal
from armature.errors import ArmatureWarning
from armature.spatial.numbers import Number, sign

COPPER = 0.00393  # 1/K, temperature coefficient of copper's resistance
AGREEMENT = 0.03  # torque and back-EMF constant may differ by this fraction before a warning


@dataclass(frozen=True)
class Motor(Component):
    """A d.c. motor, or a brushless one by its d.c. equivalent ([31]: v = R i + K Ω, S = K i).

    resistance: R at 20 °C, Ω.  torque_constant: K, N·m/A.
    back_emf_constant: V·s/rad, for the voltage only; the torque constant if not given.
    inertia: of the rotor, kg·m².  inductance: H.  iron_torque: constant torque of hysteresis and
    bearings against the motion, N·m.
    viscous: of eddy currents and bearings, N·m·s/rad.
    peak_heat: largest R i², W [34].  average_heat: largest mean of R i² over the cycle, W [35].
    peak_current, continuous_current: A (continuous: root mean square over the cycle).
    maximum_speed: rad/s.
    mass: of the whole motor, kg, and price, in any currency: for the choice of drives only; a
    robot's links contain the masses of its drives.
    linear: a linear motor for a prismatic joint: then N for N·m, m for rad, and inertia is the
    mover's mass in kg."""

    resistance: float = quantity("ohm", above=0, hint="give the terminal resistance at 20 °C")
    torque_constant: float = quantity(
        "N*m/A", above=0, hint="give the torque per ampere (the gear's ratio carries the sign)"
    )
    back_emf_constant: float | None = quantity(
        "V*s/rad", None, above=0, hint="give the voltage per rad/s, or leave it out"
    )
    inertia: float = quantity("kg*m^2", 0.0, least=0, hint="give the rotor's moment of inertia")
    inductance: float = quantity("H", 0.0, least=0, hint="give the terminal inductance")
    iron_torque: float = quantity("N*m", 0.0, least=0, hint="a loss takes energy, never gives it")
    viscous: float = quantity("N*m*s/rad", 0.0, least=0, hint="a loss takes energy, never gives it")
    peak_heat: float = quantity("W", inf, above=0, hint="leave it out if there is no such limit")
    average_heat: float = quantity("W", inf, above=0, hint="leave it out if there is no such limit")
    peak_current: float = quantity("A", inf, above=0, hint="leave it out if there is no such limit")
    continuous_current: float = quantity(
        "A", inf, above=0, hint="leave it out if there is no such limit"
    )
    maximum_speed: float = quantity(
        "rad/s", inf, above=0, hint="leave it out if there is no such limit"
    )
    thermal: Thermal | None = None
    linear: bool = False
    name: str = ""
    mass: float = quantity("kg", 0.0, least=0, hint="give the mass of the whole motor")
    price: float = quantity("", 0.0, least=0, hint="give its price, in any currency")

    def __post_init__(self) -> None:
        super().__post_init__()
        kt, ke = self.torque_constant, self.k_e
        if abs(ke - kt) > AGREEMENT * max(ke, kt):
            warnings.warn(
                f"{self.label}: torque constant {kt:g} N·m/A and back-EMF constant {ke:g} V·s/rad"
                f" (speed constant {30 / math.pi / ke:g} rpm/V) differ by"
                f" {100 * abs(ke - kt) / kt:.1f} %; in SI units they are one number: check the"
                " units of both, or leave the speed constant out",
                ArmatureWarning,
                stacklevel=3,
            )

    @property
    def k_e(self) -> float:
        """Back-EMF constant, V·s/rad (V·s/m)."""
        return self.torque_constant if self.back_emf_constant is None else self.back_emf_constant

    @property
    def temperature_coefficient(self) -> float:
        """Of the winding's resistance, 1/K."""
        return self.thermal.coefficient if self.thermal else COPPER

    def resistance_at(self, temperature: Number) -> Number:
        """R at a winding temperature in °C, Ω."""
        return self.resistance * (
            1 + self.temperature_coefficient * (temperature - REFERENCE_TEMPERATURE)
        )

    def drag(self, speed: Number, smooth: Smooth = EXACT, ratio: float = 1.0) -> Number:
        """Torque that iron and bearings take at the rotor's speed, N·m; smooth.velocity is a joint
        velocity, hence the ratio."""
        result = self.viscous * speed
        if rounded(self.iron_torque):
            way = sign(ratio)  # of the rotor while the joint moves forward
            result = result + self.iron_torque * way * smooth.side(way * speed, abs(ratio))
        return result
