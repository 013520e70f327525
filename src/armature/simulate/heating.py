"""How warm the motors get: peak, root mean square over the cycle, winding temperature after n
cycles and in the long run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from armature.drive import Cycle, Drive, Flow


@dataclass(frozen=True, eq=False)
class Heating:
    """One axis over a cycle that is repeated.

    name: of the axis.  peak_current, rms_current: A.  peak_heat, mean_heat: copper, W, at 20 °C.
    cycle: the temperatures' maps, None for a motor without thermal data.
    fractions: {name of a limit: value/bound}; 1 is at the limit.
    """

    name: str
    drive: Drive
    peak_current: float
    rms_current: float
    peak_heat: float
    mean_heat: float
    cycle: Cycle | None
    fractions: dict[str, float]

    def winding(self, cycles: int = 1) -> float:
        """Highest winding temperature during the n-th cycle, begun at ambient temperature, °C; NaN
        without thermal data."""
        if self.cycle is None or self.drive.motor.thermal is None:
            return float("nan")
        ambient = self.drive.motor.thermal.ambient
        return float(
            self.cycle.temperatures(*self.cycle.after(cycles - 1, ambient, ambient))[:, 0].max()
        )

    @cached_property
    def steady_winding(self) -> float:
        """Highest winding temperature of a cycle repeated for ever, °C; infinite when it runs away,
        NaN without thermal data."""
        if self.cycle is None:
            return float("nan")
        start = self.cycle.steady()
        return inf if start[0] == inf else float(self.cycle.temperatures(*start)[:, 0].max())

    @property
    def worst(self) -> tuple[str, float]:
        """(name, fraction) of the limit that this axis comes nearest to; ("none", 0) where there is
        none."""
        return max(self.fractions.items(), key=lambda item: item[1], default=("none", 0.0))


HEAT_LIMITS = ("peak current", "peak heat", "average heat", "continuous current")


def heating(name: str, drive: Drive, dt: np.ndarray, flow: Flow) -> Heating:
    """What a motion's M steps of dt (M,) seconds do to one motor; flow with arrays (M,), at 20
    °C."""
    current, copper, iron = (
        np.broadcast_to(x, dt.shape) for x in (flow.current, flow.copper, flow.iron)
    )
    duration = dt.sum()
    mean = lambda x: float(np.sum(dt * x) / duration)
    thermal = drive.motor.thermal
    cycle = thermal.cycle(dt, copper, iron) if thermal else None
    fractions = {}
    for limit in drive.limits():
        if limit.name in HEAT_LIMITS:
            g = limit.scaled(flow)
            value = 1 + (mean(np.broadcast_to(g, dt.shape)) if limit.mean else float(np.max(g)))
            # the continuous current's limit is on its square
            value = np.sqrt(max(value, 0.0)) if limit.quantity == "current_squared" else value
            fractions[limit.name] = max(fractions.get(limit.name, 0.0), float(value))
    peak, rms = float(np.abs(current).max()), mean(current**2) ** 0.5
    result = Heating(name, drive, peak, rms, float(copper.max()), mean(copper), cycle, fractions)
    if thermal:
        rise = (result.steady_winding - thermal.ambient) / (thermal.maximum - thermal.ambient)
        fractions["winding temperature"] = float(rise)
    return result
