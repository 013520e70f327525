"""POW: electrical power against time, of each drive and of all together (B10)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.drive import as_supply, stack
from armature.motion.trajectory import Trajectory
from armature.plot import style
from armature.robot.model import Robot
from armature.simulate.ledger import flow_of, motion_steps


def power(
    robot: Robot | Any,
    trajectory: Trajectory | None = None,
    supply: Any = None,
    save: str | PathLike[str] | None = None,
) -> Figure:
    """Power (W) that each drive takes (above zero) and gives back (below), and what the supply
    gives and takes for all of them.

    supply: as for `ledger`; the plan's or the robot's own, else regenerative.
    """
    supply = (
        supply if supply is not None or trajectory is not None else getattr(robot, "supply", None)
    )
    robot, trajectory = style.subject(robot, trajectory)
    steps = motion_steps(robot, trajectory)
    flows, train = flow_of(robot, steps), robot.drivetrain
    figure, (single, common) = style.panels(
        2 if flows else 0, "Power", width=7.0, height=3.2, columns=1
    )
    powers = stack(flows, "power")
    for k, name in enumerate(train.axis_names):
        single.plot(steps.t, powers[:, k], label=name, **style.line(k))
    account = as_supply(supply if supply is not None else robot.supply).account(steps.dt, powers)
    total = powers.sum(-1)
    common.plot(steps.t, total, color=style.COLOURS[6], linewidth=1.4, label="all drives")
    common.fill_between(
        steps.t,
        0,
        account.drawn / steps.dt,
        step="mid",
        color=style.COLOURS[4],
        alpha=0.5,
        label="drawn",
    )
    for rate, colour, hatch, label in (
        (account.returned, 2, "", "returned"),
        (account.resistor + account.lost, 1, "///", "burnt"),
    ):
        if np.any(rate > 0):
            colour = style.COLOURS[colour]
            common.fill_between(
                steps.t,
                0,
                -rate / steps.dt,
                step="mid",
                color=colour,
                alpha=0.45,
                hatch=hatch,
                label=label,
            )
    for a in (single, common):
        a.axhline(0, color=style.LIMIT, linewidth=0.8)
        a.set(xlabel="time [s]", ylabel="power [W]")
        a.legend(loc="best", fontsize="small", ncols=4)
    return style.finish(figure, save)
