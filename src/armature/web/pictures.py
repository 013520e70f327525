"""The charts of a plan: currents against velocities (GRAF), power (POW), torques, where the energy
went, and energy against time."""

from __future__ import annotations

import html
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from armature.drive import as_supply, stack
from armature.optimize.moves.curve import Curve
from armature.plot.ledger import flows_in, flows_out
from armature.plot.obstacles import clearance_chart
from armature.plot.region import current_band, fastest, peak_current, velocity_range
from armature.simulate.ledger import flow_of, motion_steps
from armature.web.charts import COLOURS, INK, TEXT, Chart

REGION, LIMIT, PALE = "rgba(86,160,220,0.2)", "#8aa4bb", "var(--mantine-color-dimmed)"
STEPS = 160
TITLE, WORD = 18, 3  # letters: that fit above a narrow chart; that a name needs
NOTHING = f'<p style="color:{PALE};margin:1em 0.8em;font-size:0.9em">{{}}</p>'


def graf(plan: Any) -> str:
    """Current (A) against joint velocity of every drive, within the region that its limits leave;
    two charts to a row."""
    robot = plan.robot
    if not robot.drives:
        return NOTHING.format("This robot has no drives, so there are no currents to show.")
    steps = motion_steps(robot, plan.trajectory, STEPS)
    train, parts = robot.drivetrain, []
    sliding = {j.name for j in robot.joints if j.kind == "prismatic"}
    titles = told_apart(train.axis_names)
    flows = flow_of(robot, steps)
    for name, title, drive, flow in zip(train.axis_names, titles, train.drives, flows):
        v, i = (np.broadcast_to(x, steps.t.shape) for x in (flow.velocity, flow.current))
        chart = Chart(
            title, f"velocity [{'m/s' if name in sliding else 'rad/s'}]", "current [A]", 190, 150
        )
        most = peak_current(drive)
        largest = min(most, 1.6 * float(np.abs(i).max()) + 1e-6) if most == inf else most
        x = velocity_range(drive, largest, max(float(np.abs(v).max()), 0.1))[::8]
        x = x[np.abs(x) <= fastest(drive, most)]
        chart.keep(1.6 * max(float(np.abs(i).max()), 0.2 * largest))
        if x.size:
            low, high = current_band(drive, x, largest)
            chart.region(x, low, high, REGION)
            chart.line(x, low, LIMIT, 0.8)
            chart.line(x, high, LIMIT, 0.8)
        chart.line(v, i, COLOURS[1])
        chart.dot(float(v[0]), float(i[0]), COLOURS[1], 3)
        parts.append(f'<div style="width:50%">{chart.svg()}</div>')
    note = _note("Shaded: what voltage, current and heat limits leave. The dot is the start.")
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(parts)}</div>{note}'


def power(plan: Any) -> str:
    """Electrical power (W) over time: of each drive, and what the supply gives for all of them."""
    robot = plan.robot
    if not robot.drives:
        return NOTHING.format("This robot has no drives, so there is no electrical power to show.")
    steps = motion_steps(robot, plan.trajectory, STEPS)
    powers = stack(flow_of(robot, steps), "power")
    account = as_supply(plan.supply if plan.supply is not None else robot.supply).account(
        steps.dt, powers
    )
    common, single = (
        Chart("All drives", "time [s]", "power [W]"),
        Chart("Each drive", "time [s]", "power [W]"),
    )
    for chart in (common, single):
        chart.cover(plan.trajectory.t, [0.0])
    zero = np.zeros_like(steps.t)
    common.region(steps.t, zero, account.drawn / steps.dt, "rgba(86,160,220,0.6)", "drawn")
    burnt = account.resistor + account.lost
    for rate, colour, label in (
        (account.returned, "rgba(0,158,115,0.5)", "returned"),
        (burnt, "rgba(213,94,0,0.5)", "burnt"),
    ):
        if np.any(rate > 0):
            common.region(steps.t, -rate / steps.dt, zero, colour, label)
    common.line(steps.t, powers.sum(-1), INK, 1.3)
    for k in range(powers.shape[1]):
        single.line(steps.t, powers[:, k], COLOURS[k % len(COLOURS)], 1.4)
    return common.svg() + single.svg() + names_of(robot.drivetrain.axis_names)


def torque(plan: Any) -> str:
    """Joint torques (N·m, N), velocities and the joints' ways over time."""
    track, names = plan.trajectory, plan.robot.joint_names
    rows = [
        ("Torque", "N·m or N", track.tau),
        ("Velocity", "rad/s or m/s", track.v),
        ("Position", "rad or m", track.q),
    ]
    charts = []
    for title, unit, values in rows:
        if values is None:
            continue
        chart = Chart(title, "time [s]", unit)
        for k in range(values.shape[1]):
            chart.line(track.t, values[:, k], COLOURS[k % len(COLOURS)], 1.4)
        charts.append(chart.svg())
    return "".join(charts) + names_of(names)


def ledger(plan: Any) -> str:
    """Where the energy came from and where it went, as bars to one scale; the baseline's beside
    them, in grey."""
    if not plan.robot.drives:
        return NOTHING.format("This robot has no drives, so no energy is counted.")
    book, base = plan.ledger, plan.baseline.ledger if plan.baseline is not None else None
    sides = (
        ("Came from", flows_in(book), flows_in(base) if base else []),
        ("Went to", flows_out(book), flows_out(base) if base else []),
    )
    most = max([x for _, mine, other in sides for _, x in [*mine, *other]], default=1.0)
    parts = []
    for title, mine, other in sides:
        parts.append(f'<div style="font-weight:600;margin:0.7em 0 0.2em">{title}</div>')
        amounts, others = dict(mine), dict(other)
        for name in [*amounts, *(n for n in others if n not in amounts)]:
            parts.append(
                _bar(name, amounts.get(name, 0.0), others.get(name) if base else None, most)
            )
    note = _note("Grey: the joint cubic of the same move." if base else "")
    return f'<div style="padding:0 0.4em;font-size:0.8em;color:{TEXT}">{"".join(parts)}{note}</div>'


def _bar(name: str, mine: float, other: float | None, most: float) -> str:
    colour = {
        "drawn": COLOURS[4],
        "returned": COLOURS[2],
        "copper": COLOURS[1],
        "resistor": "#7a4a2a",
    }.get(name, COLOURS[0])
    wide = lambda x, c, h: (
        "<div"
        f' style="height:{h}px;width:{max(100 * x / most, 0.4):.1f}%;background:{c};border-radius:2px"></div>'
    )
    grey = wide(other, "rgba(128,136,148,0.55)", 4) if other is not None else ""
    number = f"{mine:.3g} J" + (
        f' <span style="color:{PALE}">({other:.3g})</span>' if other is not None else ""
    )
    words = f"<span>{html.escape(name.replace('_', ' '))}</span><span>{number}</span>"
    line = f'<div style="display:flex;justify-content:space-between">{words}</div>'
    return f'<div style="margin:4px 0">{line}{wide(mine, colour, 9)}{grey}</div>'


def clearance(plan: Any) -> str:
    """Clearance (mm) from each of the nearest obstacles, over time."""
    scene = getattr(plan, "scene", None)
    if scene is None:
        return NOTHING.format("There are no obstacles: add some in the tab Obstacles.")
    drawn = clearance_chart(plan.robot, scene, plan.trajectory)
    chart = Chart("Clearance", "time [s]", f"clearance [{drawn['unit']}]")
    chart.cover(plan.trajectory.t, [0.0])
    for k, line in enumerate(drawn["series"]):
        chart.line(np.array(line["x"]), np.array(line["y"]), COLOURS[k % len(COLOURS)])
    names = names_of([line["name"] for line in drawn["series"]])
    return (
        chart.svg()
        + names
        + _note(next((n for n in plan.notes if n.startswith("obstacles: ")), ""))
    )


CHARTS = {
    "Currents": graf,
    "Power": power,
    "Torque": torque,
    "Energy": ledger,
    "Clearance": clearance,
}


def curve(
    found: Curve | None, least: float | None, plan: Any, wish: Any, address: str, pinned: Any = None
) -> str:
    """Least energy (J) against duration (s). A click asks `address` + "duration/" + the duration
    there; plan and pinned plan are marked."""
    if found is None:
        if wish.way != "free":
            return NOTHING.format("Energy against time is drawn for a free way of the hand.")
        if wish.scene is not None:
            return NOTHING.format("Energy against time is drawn for moves without obstacles.")
        what = (
            "Energy against time appears here when the plan is at rest."
            if least is None
            else f"Shortest: {least:.3g} s. Drawing …"
        )
        return NOTHING.format(what)
    chart = Chart("Least energy against duration", "duration [s]", "energy [J]", 330, 235)
    if least is not None:
        chart.cover([0.9 * least], [])
    chart.line(found.durations, found.energies, COLOURS[0], 2.0)
    for T, E in zip(found.durations.tolist(), found.energies.tolist()):
        if np.isfinite(E):
            chart.dot(T, E, COLOURS[0], 2.4)
    if least is not None:
        chart.upright(least, COLOURS[1])
    if pinned is not None:
        chart.dot(pinned.duration, pinned.energy, "rgb(204,77,140)", 5)
    if plan is not None and plan.ok:
        chart.dot(plan.duration, plan.energy, COLOURS[1], 5)
    x0, x1, *_ = chart.limits()
    left, right, *_ = chart.frame()
    # the place of the click in the chart's own units, then in seconds
    place = f"((event.clientX-b.left)/b.width*{chart.width}-{left})/{right - left}*{x1 - x0}+{x0}"
    script = (
        "const"
        f" b=this.getBoundingClientRect();fetch('{address}duration/'+Math.max({x0},Math.min({x1},{place})).toFixed(3))"
    )
    chart.extra = f'class="armature-curve" cursor="pointer" onclick="{html.escape(script)}"'
    words = f"Click to take that duration. {found.advice}" + (
        f" Shortest possible: {least:.3g} s." if least is not None else ""
    )
    return chart.svg() + _note(words)


def told_apart(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them begin or end with: narrow charts have little room.
    finger_base_joint, finger_tip_joint → base, tip."""
    words = [name.split("_") for name in names]
    most = min((len(row) for row in words), default=1) - 1
    if len(words) < 2 or max(len(name) for name in names) <= TITLE:
        return list(names)
    same = lambda k: len({row[k] for row in words}) == 1
    first = next((k for k in range(most) if not same(k)), most)
    last = next((k for k in range(most - first) if not same(-1 - k)), most - first)
    if first and min(len("_".join(row[first : len(row) - last])) for row in words) < WORD:
        first -= 1  # joint_1 rather than 1
    return ["_".join(row[first : len(row) - last]) for row in words]


def names_of(names: Any) -> str:
    dot = lambda k: f'<span style="color:{COLOURS[k % len(COLOURS)]}">■</span>'
    rows = [
        f"<span style='margin-right:0.9em'>{dot(k)} {html.escape(str(name))}</span>"
        for k, name in enumerate(names)
    ]
    return f'<div style="font-size:0.75em;padding:0.2em 0.6em;color:{TEXT}">{"".join(rows)}</div>'


def _note(text: str) -> str:
    return (
        '<div style="font-size:0.75em;padding:0.2em 0.6em'
        f' 0.6em;color:{PALE}">{html.escape(text)}</div>'
        if text
        else ""
    )
