"""Two bodies that warm up: winding and housing.

C_w Ṫ_w = P_copper − (T_w − T_h)/R_wh,   C_h Ṫ_h = P_iron + (T_w − T_h)/R_wh − (T_h − T_a)/R_ha,
C_w = t_w/R_wh, C_h = t_h/R_ha, and copper's resistance grows with T_w, so that P_copper = R₂₀ i² (1
+ α (T_w − 20 °C)): linear in (T_w, T_h) for a given current."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.drive.component import Component, quantity
from armature.spatial.numbers import Number

REFERENCE_TEMPERATURE = 20.0  # °C, at which resistances are given


@dataclass(frozen=True)
class Thermal(Component):
    """How a motor warms up.

    winding_housing, housing_ambient: thermal resistances, K/W.  winding_time, housing_time: time
    constants, s.
    maximum: the winding's highest temperature, °C.  ambient: °C.  coefficient: of copper's
    resistance, 1/K."""

    winding_housing: float = quantity(
        "K/W", above=0, hint="give the thermal resistance from winding to housing"
    )
    housing_ambient: float = quantity(
        "K/W", above=0, hint="give the thermal resistance from housing to ambient"
    )
    winding_time: float = quantity("s", above=0, hint="give the winding's thermal time constant")
    housing_time: float = quantity("s", above=0, hint="give the motor's thermal time constant")
    maximum: float = quantity(
        "degC",
        155.0,
        above=REFERENCE_TEMPERATURE,
        hint="give the winding's highest temperature in °C",
    )
    ambient: float = quantity(
        "degC", 25.0, above=-273.15, hint="give the temperature of the surroundings in °C"
    )
    coefficient: float = quantity("1/K", 0.00393, least=0, hint="copper has 0.00393 per kelvin")

    def rates(
        self, winding: Number, housing: Number, copper_at_20: Number, iron: Number = 0.0
    ) -> tuple[Number, Number]:
        """(Ṫ_w, Ṫ_h) in K/s at temperatures in °C; copper_at_20 = R₂₀ i² and iron loss in W."""
        copper = copper_at_20 * (1 + self.coefficient * (winding - REFERENCE_TEMPERATURE))
        conducted = (winding - housing) / self.winding_housing
        lost = (housing - self.ambient) / self.housing_ambient
        return (copper - conducted) * self.winding_housing / self.winding_time, (
            iron + conducted - lost
        ) * self.housing_ambient / self.housing_time

    def cycle(self, dt: np.ndarray, copper_at_20: np.ndarray, iron: np.ndarray) -> Cycle:
        """How one cycle maps the temperatures at its start to those along it.

        dt: (N,) durations, s; copper_at_20, iron: (N,) mean powers in each, W. Exact for powers
        constant within a step."""
        # affine system x' = A x + b as one 3×3 matrix acting on (T_w, T_h, 1); its columns are the
        # rates at (1, 0), (0, 1) and (0, 0)
        still = np.array(self.rates(0.0, 0.0, copper_at_20, iron))
        columns = [
            np.array(self.rates(w, h, copper_at_20, iron)) - still
            for w, h in ((1.0, 0.0), (0.0, 1.0))
        ] + [still]
        generator = np.zeros((len(dt), 3, 3))
        generator[:, :2, :] = np.stack(columns, axis=-1).transpose(1, 0, 2)
        steps = exponentials(generator * np.asarray(dt)[:, None, None])
        maps = np.empty((len(dt) + 1, 3, 3))
        maps[0] = np.eye(3)
        with np.errstate(over="ignore", invalid="ignore"):  # heat that runs away
            for n, step in enumerate(steps):
                maps[n + 1] = step @ maps[n]
        return Cycle(maps)


def exponentials(X: np.ndarray) -> np.ndarray:
    """e^X of many small matrices (N, k, k) at once: X/2ˢ by its Taylor series, squared s times."""
    norm = float(np.max(np.abs(X).sum(-1), initial=0.0))
    s = max(0, int(np.ceil(np.log2(max(norm, 1e-300) / 0.25))))
    Y = X / 2.0**s
    unit = np.broadcast_to(np.eye(X.shape[-1]), X.shape)
    result = unit
    for n in range(12, 0, -1):  # 0.25¹³/13! is below rounding
        result = unit + Y @ result / n
    with np.errstate(over="ignore", invalid="ignore"):  # of what grows beyond all numbers
        for _ in range(s):
            result = result @ result
    return result


@dataclass(frozen=True, eq=False)
class Cycle:
    """A repeated cycle as linear maps of (T_w, T_h, 1): `maps[n]` (N+1, 3, 3) leads from the
    cycle's start to its n-th instant."""

    maps: np.ndarray

    def temperatures(self, winding: float, housing: float) -> np.ndarray:
        """Winding and housing temperature along one cycle that starts with these; (N+1, 2), °C."""
        return (self.maps @ np.array([winding, housing, 1.0]))[:, :2]

    def after(self, cycles: int, winding: float, housing: float) -> tuple[float, float]:
        """Winding and housing temperature after so many cycles, °C."""
        w, h, _ = np.linalg.matrix_power(self.maps[-1], cycles) @ np.array([winding, housing, 1.0])
        return float(w), float(h)

    def steady(self) -> tuple[float, float]:
        """Temperatures at the start of a cycle repeated for ever, °C; infinite where copper's
        growing resistance runs away."""
        phi, shift = self.maps[-1][:2, :2], self.maps[-1][:2, 2]
        if not np.all(np.isfinite(phi)) or np.max(np.abs(np.linalg.eigvals(phi))) >= 1.0:
            return float("inf"), float("inf")
        w, h = np.linalg.solve(np.eye(2) - phi, shift)
        return float(w), float(h)
