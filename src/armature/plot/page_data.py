"""What the page of a plan shows, as plain data for its script: poses over time, signals with
limits, regions, flows, tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from armature.dynamics.compiled import link_poses
from armature.motion.rotation import to_quaternion
from armature.motion.trajectory import Trajectory
from armature.plot.flows import flows_in, flows_out
from armature.plot.limbs import reach, solids
from armature.plot.obstacles import clearance_chart, with_obstacles
from armature.plot.region import current_band, fastest, peak_current, velocity_range
from armature.robot.model import Robot
from armature.robot.tip import hands

FRAMES = 121
MOST_SAMPLES = 241
REGION = 61  # points of a region's edge


def page_data(plan: Any, meshes: dict[str, list[dict[str, Any]]] | None = None) -> dict[str, Any]:
    """All that the page shows of a `Solution` or a `SavedPlan`."""
    base = plan.baseline
    return {
        "ok": bool(plan.ok),
        "scene": _scene(plan, meshes),
        "names": {
            "plan": "plan" if plan.ok else "motion of least violation",
            "base": None if base is None else base.name,
        },
        "joints": [*_clearance(plan), *_signals(plan, joints=True)],
        "axes": _signals(plan, joints=False),
        "graf": _regions(plan),
        "power": _power(plan),
        "energy": _energy(plan),
        "margins": _margins(plan.certificate),
        "iterations": _iterations(plan.iterations),
    }


# the moving robot --------------------------------------------------------------------------------


def _scene(plan: Any, meshes: dict[str, list[dict[str, Any]]] | None) -> dict[str, Any]:
    """Solids of the links and their poses over time; the hands, whose paths are drawn."""
    robot = plan.robot
    index = {link.name: k for k, link in enumerate(robot.links)}
    tracks = {"plan": _track(robot, plan.trajectory)}
    if plan.baseline is not None:
        tracks["base"] = _track(robot, plan.baseline.trajectory)
    floor = None if robot.floor is None else round(robot.floor.height, 4)
    drawn = solids(robot, meshes)
    if scene_of(plan) is not None:
        with_obstacles(drawn, robot, scene_of(plan))
    tips = [index[t] for t in hands(robot)[:4]]
    return {
        "floor": floor,
        "solids": drawn,
        "size": round(reach(robot), 4),
        "tips": tips,
        "tracks": tracks,
    }


def scene_of(plan: Any) -> Any:
    """The obstacles that a plan was made around; None without any."""
    return getattr(plan, "scene", None)


def _clearance(plan: Any) -> list[dict[str, Any]]:
    """The clearance over time of a plan around obstacles, as an entry of the joints' charts."""
    scene = scene_of(plan)
    if scene is None:
        return []
    return [{"name": "obstacles", "charts": [clearance_chart(plan.robot, scene, plan.trajectory)]}]


def _track(robot: Robot, motion: Trajectory) -> dict[str, Any]:
    """duration: s.  p: (frames, links · 3), m.  r: (frames, links · 4) quaternions x y z w."""
    poses = link_poses(robot, motion(np.linspace(motion.t[0], motion.t[-1], FRAMES)).q)
    flat = lambda x: np.round(
        np.nan_to_num(x, posinf=0.0, neginf=0.0).reshape(FRAMES, -1), 4
    ).tolist()
    turns = to_quaternion(np.asarray(poses.R))
    turns = np.where(
        np.isfinite(turns), turns, [0.0, 0.0, 0.0, 1.0]
    )  # a search that failed may end in no numbers at all
    return {"duration": short(motion.duration), "p": flat(np.asarray(poses.p)), "r": flat(turns)}


# signals and their limits ------------------------------------------------------------------------


def _signals(plan: Any, joints: bool) -> list[dict[str, Any]]:
    """One entry for each joint (position, velocity, torque) or axis (current), each a list of
    charts."""
    robot = plan.robot
    names = robot.joint_names if joints else robot.drivetrain.axis_names
    make = _joint_charts if joints else _axis_charts
    return [{"name": name, "charts": make(plan, k)} for k, name in enumerate(names)]


def _joint_charts(plan: Any, k: int) -> list[dict[str, Any]]:
    joint = plan.robot.joint(plan.robot.joint_names[k]) if plan.robot.nq == plan.robot.nv else None
    limit = None if joint is None else joint.limits
    slides = joint is not None and joint.kind == "prismatic"
    length, force = ("m", "N") if slides else ("rad", "N·m")
    both = lambda x: [] if limit is None else [-x, x]
    charts = [
        _chart(
            "position", length, plan, "q", k, [] if limit is None else [limit.lower, limit.upper]
        ),
        _chart(
            "velocity", f"{length}/s", plan, "v", k, both(limit.velocity if limit else math.inf)
        ),
    ]
    if plan.trajectory.tau is not None:
        charts.append(
            _chart(
                "force" if slides else "torque",
                force,
                plan,
                "tau",
                k,
                both(limit.torque if limit else math.inf),
            )
        )
    return charts


def _axis_charts(plan: Any, k: int) -> list[dict[str, Any]]:
    if plan.trajectory.current is None:
        return []
    most = peak_current(plan.robot.drivetrain.drives[k])
    return [_chart("current", "A", plan, "current", k, [-most, most])]


def _chart(
    title: str, unit: str, plan: Any, kind: str, k: int, limits: list[float]
) -> dict[str, Any]:
    """A signal of the plan and of the baseline over time, with its finite limits."""
    series = [_series("plan", plan.trajectory, kind, k)]
    base = None if plan.baseline is None else plan.baseline.trajectory
    if base is not None and getattr(base, kind) is not None:
        series.insert(0, _series("base", base, kind, k))
    return {
        "title": title,
        "unit": unit,
        "series": series,
        "limits": [short(x) for x in limits if math.isfinite(x)],
    }


def _series(name: str, motion: Trajectory, kind: str, k: int) -> dict[str, Any]:
    pick = _picked(len(motion))
    return {
        "name": name,
        "x": shorts(motion.t[pick] - motion.t[0]),
        "y": shorts(getattr(motion, kind)[pick, k]),
    }


def _picked(count: int) -> np.ndarray:
    """Indices of the knots that are drawn: all, or evenly chosen ones."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_SAMPLES)).round().astype(int))


def _regions(plan: Any) -> list[dict[str, Any]]:
    """GRAF: current against velocity of each drive, with the region that its limits leave."""
    found = []
    train, motion = plan.robot.drivetrain, plan.trajectory
    if motion.current is None:
        return []
    column = {name: k for k, name in enumerate(plan.robot.joint_names)}
    for k, (name, drive) in enumerate(zip(train.axis_names, train.drives)):
        if name not in column:
            continue  # an axis that moves several joints has no velocity of its own at the knots
        v, i = motion.v[:, column[name]], motion.current[:, k]
        most = peak_current(drive)
        largest = min(most, 1.6 * float(np.abs(i).max()) + 1e-6) if most == math.inf else most
        x = velocity_range(drive, largest, float(np.abs(v).max()))[:: 800 // (REGION - 1)]
        edge = fastest(drive, most)
        x = np.clip(x, -edge, edge)
        low, high = current_band(drive, x, largest)
        slides = plan.robot.joint(name).kind == "prismatic"
        pick = _picked(len(motion))
        whole = bool(
            np.abs(x).max() >= edge
        )  # else its sides are those of the picture, and no limits
        region = {"x": shorts(x), "low": shorts(low), "high": shorts(high), "whole": whole}
        path = {
            "v": shorts(v[pick]),
            "i": shorts(i[pick]),
            "t": shorts(motion.t[pick] - motion.t[0]),
        }
        found.append({"name": name, "unit": "m/s" if slides else "rad/s", "region": region, **path})
    return found


def _power(plan: Any) -> list[dict[str, Any]]:
    """Power of every axis and of all together over time, W."""
    motion, base = plan.trajectory, None if plan.baseline is None else plan.baseline.trajectory
    if motion.power is None:
        return []
    axes = [
        _series(name, motion, "power", k) for k, name in enumerate(plan.robot.drivetrain.axis_names)
    ]
    total = (
        [_total("plan", motion)]
        if base is None or base.power is None
        else [_total("base", base), _total("plan", motion)]
    )
    return [
        {"title": "all axes together", "unit": "W", "series": total, "limits": [], "zero": True},
        {
            "title": "each axis of the plan",
            "unit": "W",
            "series": axes,
            "limits": [],
            "zero": True,
            "many": True,
        },
    ]


def _total(name: str, motion: Trajectory) -> dict[str, Any]:
    pick = _picked(len(motion))
    return {
        "name": name,
        "x": shorts(motion.t[pick] - motion.t[0]),
        "y": shorts(np.asarray(motion.power)[pick].sum(-1)),
    }


# tables ------------------------------------------------------------------------------------------


def _energy(plan: Any) -> dict[str, Any]:
    """Flows of the plan's ledger and the baseline's, J, and the plan's losses by joint."""
    if not plan.robot.drives:
        return {"flows": {}, "joints": {}, "residual": None}
    pairs = lambda flows: [[name.replace("_", " "), short(x)] for name, x in flows]
    books = {"plan": plan.ledger} | (
        {} if plan.baseline is None else {"base": plan.baseline.ledger}
    )
    rows = {
        joint: {key: short(x) for key, x in row.items()}
        for joint, row in plan.ledger.per_joint.items()
    }
    flows = {
        name: {
            "in": pairs(flows_in(book)),
            "out": pairs(flows_out(book)),
            "net": short(book.energy),
        }
        for name, book in books.items()
    }
    return {"flows": flows, "joints": rows, "residual": short(plan.ledger.residual)}


def _margins(certificate: Any) -> list[dict[str, Any]]:
    """Every limit, nearest first."""
    rows = sorted(
        (m for row in certificate.margins.values() for m in row.values()), key=lambda m: m.fraction
    )
    when = lambda m: short(round(m.time, 6))  # a knot's two sides are told as the knot
    numbers = lambda m: {
        "value": f"{m.value:.4g}",
        "bound": f"{m.bound:.4g} {m.unit}",
        "left": short(m.fraction),
        "t": when(m),
    }
    return [{"joint": m.joint, "limit": m.limit, **numbers(m)} for m in rows]


def _iterations(record: Any) -> dict[str, list[float]]:
    """The columns of the search's record."""
    names = ("number", "cost", "violation", "stationarity", "barrier", "step")
    return {name: [short(float(getattr(i, name))) for i in record] for name in names}


def shorts(x: Any) -> list[Any]:
    """Numbers with five digits; None where there is none."""
    return [short(v) for v in np.asarray(x, dtype=float).tolist()]


def short(x: float) -> Any:
    """A number with five digits, None for one that is not finite: JSON knows none."""
    return float(f"{x:.5g}") if math.isfinite(x) else None
