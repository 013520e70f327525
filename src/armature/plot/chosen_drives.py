"""Pictures of a design: every joint's task against its drive, losses before and after, the front of
two terms, the map of base places."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from armature.design.drives.drive_choice import DriveChoice
from armature.design.drives.objective import UNITS
from armature.design.placement import OBJECTIVES, BasePlacement
from armature.drive.drive import LOSSES
from armature.errors import ArgumentError
from armature.plot import style
from armature.plot.torque_speed import shade_regions
from armature.simulate.ledger import flow_of, motion_steps


def drive_choice(choice: DriveChoice, save: str | PathLike[str] | None = None) -> Figure:
    """Torque against speed of every joint: above with the present drives, below with the chosen
    ones; the motions of all tasks, and the regions of the drive."""
    sides = [("present", choice.plans_before, choice.before)] if choice.plans_before else []
    sides.append(("chosen", choice.plans, choice.drives))
    names = list(choice.drives)
    figure, axes = style.panels(
        len(sides) * len(names), "Torque against speed: tasks and drives", columns=len(names)
    )
    cells = iter(axes)
    for title, plans, drives in sides:
        robot = plans[0].robot
        places = [robot.drivetrain.axis_names.index(name) for name in names]
        flows = [flow_of(plan.robot, motion_steps(plan.robot, plan.trajectory)) for plan in plans]
        for name, k in zip(names, places):
            a = next(cells)
            used = max(float(np.abs(flow[k].velocity).max()) for flow in flows)
            shade_regions(a, drives[name], used)
            for n, flow in enumerate(flows):
                a.plot(
                    flow[k].velocity,
                    flow[k].torque,
                    ".",
                    markersize=2.5,
                    color=style.COLOURS[(n + 1) % len(style.COLOURS)],
                )
            drive = drives[name]
            a.set(
                title=f"{name}, {title}: {drive.motor.name or 'motor'}, {drive.gear.ratio:.4g}",
                xlabel="velocity [rad/s, m/s]",
                ylabel="torque [N·m, N]",
            )
            a.title.set_fontsize("small")
    return style.finish(figure, save)


def drive_losses(choice: DriveChoice, save: str | PathLike[str] | None = None) -> Figure:
    """What every drive loses in all tasks, by kind, J: present drives beside chosen ones."""
    figure, (a,) = style.panels(1, "Losses of the drives", width=7.0)
    names = list(choice.drives)
    sides = [True, False] if choice.plans_before else [False]
    width = 0.8 / len(sides)
    for n, before in enumerate(sides):
        place = np.arange(len(names)) + (n - (len(sides) - 1) / 2) * width
        low = np.zeros(len(names))
        for k, loss in enumerate(LOSSES):
            values = np.array([choice.losses_of(name, before)[loss] for name in names])
            label = loss if n == 0 else None
            a.bar(
                place,
                values,
                width * 0.92,
                low,
                color=style.COLOURS[k],
                label=label,
                alpha=0.55 if before else 1.0,
            )
            low = low + values
    words = "present (pale) and chosen drives" if len(sides) > 1 else "chosen drives"
    a.set(ylabel="lost in all tasks [J]", xlabel=words)
    a.set_xticks(np.arange(len(names)), names)
    a.legend(loc="best", fontsize="small")
    return style.finish(figure, save)


def pareto_front(choice: DriveChoice, save: str | PathLike[str] | None = None) -> Figure:
    """The front of two terms, among all choices that were planned."""
    front = choice.front
    if front is None:
        raise ArgumentError('there is no front; ask for one: choose_drives(..., pareto="mass")')
    figure, (a,) = style.panels(1, "Choices of drives", width=6.0, height=4.2)
    a.plot(*front.all.T, ".", color=style.COLOURS[4], markersize=4, label="planned")
    a.step(*front.values.T, where="post", color=style.COLOURS[1], linewidth=1.2)
    a.plot(*front.values.T, "o", color=style.COLOURS[1], markersize=5, label="front")
    x, y = (f"{name} [{UNITS[name]}]" if UNITS[name] else name for name in front.terms)
    a.set(xlabel=x, ylabel=y)
    a.legend(loc="best", fontsize="small")
    return style.finish(figure, save)


def base_map(placement: BasePlacement, save: str | PathLike[str] | None = None) -> Figure:
    """The cost of every place of the base, from above; grey where the tasks cannot be done."""
    figure, (a,) = style.panels(1, "Places of the base", width=6.2, height=4.8)
    a.set_facecolor("#DDDDDD")
    a.grid(False)
    shown = a.pcolormesh(
        _edges(placement.x),
        _edges(placement.y),
        np.ma.masked_invalid(placement.costs),
        cmap="viridis_r",
    )
    unit = OBJECTIVES[placement.objective]
    figure.colorbar(shown, ax=a, label=f"{placement.objective} [{unit}]")
    x, y, _ = placement.position
    a.plot(x, y, "o", color=style.COLOURS[1], markersize=7)
    size = 0.08 * max(np.ptp(placement.x), np.ptp(placement.y), 1e-3)
    a.annotate(
        "",
        (x + size * np.cos(placement.yaw), y + size * np.sin(placement.yaw)),
        (x, y),
        arrowprops={"arrowstyle": "->", "color": style.COLOURS[1]},
    )
    a.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    return style.finish(figure, save)


def _edges(centres: np.ndarray) -> np.ndarray:
    """Edges of cells around their centres."""
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def write_drive_pictures(choice: DriveChoice, folder: str | PathLike[str]) -> list[Path]:
    """All pictures of a choice as .png files in a folder."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    made = [("torque_speed", drive_choice), ("losses", drive_losses)]
    made += [("front", pareto_front)] if choice.front is not None else []
    written = []
    for name, draw in made:
        draw(choice, save=place / f"{name}.png")
        written.append(place / f"{name}.png")
    return written
