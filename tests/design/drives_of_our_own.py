"""A small catalogue with numbers of our own."""

from __future__ import annotations

import numpy as np

from armature.drive import Catalogue, Gear, Motor


def small_catalogue(motors: int = 3, gears: int = 2) -> Catalogue:
    """Motors of growing size, gears of growing ratio."""
    sizes, ratios = 2.0 ** np.linspace(0.0, 4.0, motors), np.geomspace(5.0, 80.0, gears)
    made = [
        Motor(
            resistance=3.0 / s,
            torque_constant=0.1 + 0.01 * k,
            inertia=4e-6 * s**1.5,
            iron_torque=0.004 * s,
            peak_current=6.0 * s,
            continuous_current=1.7 * s,
            maximum_speed=600.0,
            mass=0.15 * s,
            price=40.0 * s,
            name=f"m{k}",
        )
        for k, s in enumerate(sizes.tolist())
    ]
    reductions = [
        Gear(
            ratio=N,
            efficiency=0.97 - 0.05 * float(np.log10(N)),
            inertia=1e-6,
            maximum_torque=200.0,
            maximum_speed=700.0,
            mass=0.1 + 0.002 * N,
            name=f"g{k}",
        )
        for k, N in enumerate(ratios.tolist())
    ]
    return Catalogue({m.name: m for m in made}, {g.name: g for g in reductions})
