"""Robots on one supply: the power of each, what the supply gives, and the voltage of the bus."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np
from matplotlib.figure import Figure

from armature.drive import Bus
from armature.plot import style
from armature.simulate.shared import SharedSupply


def shared_supply(
    shared: SharedSupply,
    names: Sequence[str] = (),
    bus: Bus | None = None,
    save: str | PathLike[str] | None = None,
) -> Figure:
    """Power (W) of each robot and of the supply against time, and below the bus's voltage (V) if
    the bus is given."""
    figure, axes = style.panels(
        1 if bus is None else 2,
        f"One supply for all: {100 * shared.saving:.1f} % less drawn",
        7.0,
        3.2,
        1,
    )
    count = shared.powers.shape[1]
    for k, name in enumerate(names or [f"robot {k + 1}" for k in range(count)]):
        axes[0].plot(shared.t, shared.powers[:, k], label=name, **style.line(k))
    drawn = shared.together.drawn / shared.dt
    axes[0].fill_between(
        shared.t, 0, drawn, step="mid", color=style.COLOURS[4], alpha=0.5, label="drawn"
    )
    if np.any(shared.together.resistor > 0):
        burnt = -shared.together.resistor / shared.dt
        axes[0].fill_between(
            shared.t,
            0,
            burnt,
            step="mid",
            color=style.COLOURS[1],
            alpha=0.45,
            hatch="///",
            label="burnt",
        )
    axes[0].set(xlabel="time [s]", ylabel="power [W]")
    axes[0].legend(loc="best", fontsize="small", ncols=count + 2)
    if bus is not None:
        axes[1].plot(shared.t, bus.voltage_at(shared.together.stored), **style.line(0))
        axes[1].axhline(bus.resistor_voltage, color=style.LIMIT, linewidth=0.8)
        axes[1].set(xlabel="time [s]", ylabel="bus [V]")
    return style.finish(figure, save)
