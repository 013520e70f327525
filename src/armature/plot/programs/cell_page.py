"""The page of a planned cell: all robots moving in one picture, the Gantt chart, energy before and
after of every robot, power of all."""

from __future__ import annotations

import html
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from armature.cell.workcell.cell import CellPlan
from armature.dynamics.compiled import link_poses
from armature.errors import FileError
from armature.motion.rotation import to_quaternion
from armature.plot.flows import flows_in, flows_out
from armature.plot.limbs import reach, solids
from armature.plot.obstacles import with_obstacles
from armature.plot.page_data import short, shorts
from armature.plot.programs.cell import gantt, gantt_svg
from armature.plot.programs.program import nearest_margins, still_scene, table
from armature.plot.report import PARTS, SCRIPTS, script_data
from armature.robot.tip import hands
from armature.write import check_target, write_whole

FRAMES = 361  # of a cycle
BESIDE = 2.2  # of their reach: how far apart robots are drawn that have no bases
NO_SECTIONS = ('id="joints"', 'id="graf"')  # of a single robot's page, which a cell has not


def write_cell_report(plan: CellPlan, path: str | PathLike[str]) -> Path:
    """Write the page of a cell (.html), or its Gantt chart (.png, .pdf, .svg). Returns the path."""
    place = check_target(path)
    if place.suffix.lower() in (".png", ".pdf", ".svg"):
        gantt(plan.schedule, save=place)
        return place
    if place.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"a report ends in .html, .png, .pdf or .svg, not {place.suffix!r}", place)
    return write_whole(place, cell_page(plan))


def cell_page(plan: CellPlan) -> str:
    """The page as text: style, data and scripts are inside."""
    text = lambda name: (PARTS / name).read_text(encoding="utf-8")
    escape = lambda x: html.escape(str(x))
    cell = plan.cell
    return Template(_template(text("report.html"))).substitute(
        title=escape(cell.name),
        robot=escape(", ".join(cell.robots)),
        headline=escape(f"{cell.name}: {plan.energy:.5g} J in a cycle of {cell.cycle:.4g} s"),
        verdict="good" if plan.ok else "bad",
        banner="",
        peaks=_robots(plan),
        summary="".join(f"<p>{escape(line)}</p>" for line in _story(plan)),
        failure=(
            ""
            if plan.ok
            else f'<p class="failure" role="alert">{escape("; ".join(plan.faults))}</p>'
        ),
        tiles=_tiles(plan),
        schedule=gantt_svg(plan.schedule),
        notes="".join(f"<li>{escape(note)}</li>" for note in plan.schedule.notes),
        certificate=escape(
            "\n\n".join([str(plan), *(f"{n}\n{p.certificate}" for n, p in plan.plans.items())])
        ),
        books=escape("\n\n".join(f"{n}\n{p.ledger}" for n, p in plan.plans.items())),
        provenance="",
        style=text("report.css"),
        script="\n".join(text(name) for name in SCRIPTS),
        data=script_data(_data(plan)),
    )


def _template(page: str) -> str:
    """The page of a plan without what belongs to one robot, with a place for the schedule."""
    head, *sections = page.split("<section>")
    kept = [s for s in sections if not any(mark in s for mark in NO_SECTIONS)]
    chart = "<h2>The schedule</h2>\n  <div>$schedule</div>\n</section>\n"
    return "<section>".join([head, chart, *kept])


def _story(plan: CellPlan) -> list[str]:
    """What was planned, in sentences."""
    told = [
        f"{len(plan.plans)} robots share a cycle of {plan.cell.cycle:.4g} s. Every motion at its"
        f" least time, then waiting, each on its own supply: {plan.fast:.5g} J.",
        f"The schedule needs at most {100 * plan.schedule.gap:.2g} % more than the least over the"
        " motions' energy-time curves.",
    ]
    if plan.on_bus is not None:
        told.append(
            f"On one bus they draw {plan.on_bus.energy:.5g} J, {100 * plan.on_bus.saving:.1f} %"
            f" less than on buses of their own; its peak is {plan.on_bus.together.peak:.4g} W."
        )
    told += [f"{a} and {b} stay {proof}." for (a, b), proof in plan.apart.items() if proof.free]
    if plan.cell.bases is None:
        told.append("No bases are given: the robots are drawn side by side.")
    return told


def _tiles(plan: CellPlan) -> str:
    saved = 100 * (1 - plan.energy / plan.fast) if plan.fast > 0 else 0.0
    tiles = [
        ("energy of a cycle", f"{plan.energy:.5g} J", f"before: {plan.fast:.5g} J"),
        ("saved", f"{saved:.1f} %", "against least times, then waiting"),
        ("cycle", f"{plan.cell.cycle:.4g} s", f"{len(plan.plans)} robots"),
        ("proved", "holds" if plan.ok else "does not hold", plan.checked),
    ]
    return "".join(
        f"<div><dt>{html.escape(a)}</dt><dd>{html.escape(b)}</dd><small>{html.escape(c)}</small></div>"
        for a, b, c in tiles
    )


def _robots(plan: CellPlan) -> str:
    """Energy before and after of every robot, as a table."""
    rows = []
    for name, one in plan.plans.items():
        change = f"{100 * (one.energy / one.fast - 1):+.0f} %" if one.fast > 0 else ""
        begins = f"{plan.start_of(name) % plan.cell.cycle:.3f} s"
        rows.append((name, begins, f"{one.fast:.4g} J", f"{one.energy:.4g} J", change))
    return table(("robot", "begins", "before", "after", ""), rows)


# data --------------------------------------------------------------------------------------------


def _data(plan: CellPlan) -> dict[str, Any]:
    """What the page's script shows."""
    pairs = lambda flows: [[name.replace("_", " "), short(x)] for name, x in flows]
    flows = {
        name: {
            "in": pairs(flows_in(one.ledger)),
            "out": pairs(flows_out(one.ledger)),
            "net": short(one.energy),
        }
        for name, one in plan.plans.items()
    }
    margins = []
    for name, one in plan.plans.items():
        for joint, row in nearest_margins(one).items():
            for m in row.values():
                at = (m.time + plan.start_of(name)) % plan.cell.cycle
                margins.append(
                    {
                        "joint": f"{name}: {joint}",
                        "limit": m.limit,
                        "value": f"{m.value:.4g}",
                        "bound": f"{m.bound:.4g} {m.unit}",
                        "left": short(m.fraction),
                        "t": short(round(at, 6)),
                    }
                )
    empty = {key: [] for key in ("number", "cost", "violation", "stationarity", "barrier", "step")}
    return {
        "ok": plan.ok,
        "scene": _scene(plan),
        "names": {"plan": "plan", "base": None} | {name: name for name in plan.plans},
        "joints": [],
        "axes": [],
        "graf": [],
        "power": _power(plan),
        "energy": {"flows": flows, "joints": {}, "residual": None},
        "margins": sorted(margins, key=lambda m: m["left"]),
        "iterations": empty,
    }


def _scene(plan: CellPlan) -> dict[str, Any]:
    """Solids of all robots and their poses over the cycle."""
    t = np.linspace(0.0, plan.cell.cycle, FRAMES)
    drawn, tips, p, r, links = [], [], [], [], 0
    size = max(reach(one.robot) for one in plan.plans.values())
    for k, (name, one) in enumerate(plan.plans.items()):
        robot = one.robot
        own = solids(robot)
        scene = still_scene(one.program)
        if scene is not None:
            with_obstacles(own, robot, scene)
        index = {link.name: links + i for i, link in enumerate(robot.links)}
        tips += [index[x] for x in hands(robot)[:1]]
        drawn += own
        links += len(robot.links)
        R, at = _base(plan, name, np.array([0.0, BESIDE * size * k, 0.0]))
        motion = one.trajectory
        local = np.mod(t - plan.start_of(name), plan.cell.cycle)
        poses = link_poses(robot, motion(np.clip(local + motion.t[0], *motion.t[[0, -1]])).q)
        p.append((np.asarray(poses.p) @ R.T + at).reshape(FRAMES, -1))
        r.append(to_quaternion(R @ np.asarray(poses.R)).reshape(FRAMES, -1))
    track = {
        "duration": short(plan.cell.cycle),
        "p": np.round(np.hstack(p), 4).tolist(),
        "r": np.round(np.hstack(r), 4).tolist(),
    }
    return {
        "floor": None,
        "solids": drawn,
        "size": round(size, 4),
        "tips": tips,
        "tracks": {"plan": track},
    }


def _base(plan: CellPlan, name: str, beside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if plan.cell.bases is None:
        return np.eye(3), beside
    base = plan.cell.bases[name]
    return base.rotation, np.array(base.position)


def _power(plan: CellPlan) -> list[dict[str, Any]]:
    """Power of every robot, and of the bus, over the cycle, W."""
    t = np.linspace(0.0, plan.cell.cycle, FRAMES)
    series = []
    for name, one in plan.plans.items():
        motion = one.trajectory
        if motion.power is None:
            continue
        local = np.mod(t - plan.start_of(name), plan.cell.cycle)
        total = np.interp(local, motion.t - motion.t[0], motion.power.sum(-1))
        series.append({"name": name, "x": shorts(t), "y": shorts(total)})
    look = {"unit": "W", "limits": [], "zero": True}
    found = [{"title": "each robot", "series": series, "many": True, **look}]
    if plan.on_bus is not None:
        bus = plan.on_bus.together
        pick = np.unique(np.linspace(0, len(bus.drawn) - 1, FRAMES).round().astype(int))
        drawn = {"name": "plan", "x": shorts(bus.t[pick]), "y": shorts(bus.drawn[pick])}
        found.insert(0, {"title": "drawn by the bus", "series": [drawn], **look})
    return found
