"""A robot as a few solids for the page's 3-D picture: its own shapes where its file has them, else
limbs drawn between its joints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from armature.robot.model import Joint, Link, Robot, Visual
from armature.robot.tip import hands

THICK, THIN = 0.048, 0.026  # radius of the first and last limb, as a fraction of the reach
Solid = dict[str, Any]


def solids(robot: Robot, meshes: dict[str, list[Solid]] | None = None) -> list[list[Solid]]:
    """For each link its solids in the link's frame, m: {"kind": "tube", "a", "b", "r", "paint"},
    "box", "sphere" or "mesh".

    paint: "limb", "joint", "base", "tool", or [red, green, blue].  meshes: {link: solids} that were
    read from files."""
    size = reach(robot)
    visuals = [v for link in robot.links for v in link.visuals]
    # shapes without a colour only tell where the mass is
    drawn = any(v.colour is not None for v in visuals) and all(v.shape != "mesh" for v in visuals)
    if meshes or drawn:
        meshes = meshes or {}
        return [
            [*meshes.get(link.name, ()), *(s for v in link.visuals if (s := _shape(v)))]
            for link in robot.links
        ]
    return [_limb(robot, link, size) for link in robot.links]


def reach(robot: Robot) -> float:
    """About how far the robot gets: all offsets between joints and all strokes, one after the
    other, m."""
    strokes = math.fsum(np.ptp(_stroke(j)) for j in robot.joints if j.kind == "prismatic")
    return max(0.05, math.fsum(math.hypot(*j.position) for j in robot.joints) + strokes)


def bones(robot: Robot) -> list[tuple[int, int]]:
    """Pairs of links (indices in robot.links) that a joint connects."""
    index = {link.name: k for k, link in enumerate(robot.links)}
    return [(index[j.parent], index[j.child]) for j in robot.joints]


def _limb(robot: Robot, link: Link, size: float) -> list[Solid]:
    """A housing about the link's own axis, and a limb to each joint that it carries: first along
    the axis, then across."""
    own = next((j for j in robot.joints if j.child == link.name), None)
    carried = [j for j in robot.joints if j.parent == link.name]
    r = _radius(robot, link, size)
    found = [_tube((0, 0, 0), (0, 0, 0.3 * r), 2.1 * r, "base")] if own is None else []
    if own is not None and own.kind in ("revolute", "continuous"):
        axis = np.array(own.axis)
        found.append(_tube(-1.2 * r * axis, 1.2 * r * axis, 1.14 * r, "joint"))
    elif own is not None and own.kind == "prismatic":
        low, high = _stroke(own)
        found.append(_tube(-(high - low) * np.array(own.axis), np.zeros(3), 0.6 * r, "tool"))
    for joint in carried:
        found += _between(joint, own, r)
    if own is not None and link.name in hands(robot):
        found += _tip(link, own, r)
    return found


def _between(joint: Joint, own: Joint | None, r: float) -> list[Solid]:
    """The limb from a link's origin to a joint that it carries, with its bend."""
    end = np.array(joint.position)
    axis = (
        np.array(own.axis) if own is not None and own.kind != "fixed" else np.array([0.0, 0.0, 1.0])
    )
    bend = float(end @ axis) * axis
    found = [_tube((0, 0, 0), bend, 0.9 * r, "limb")] if np.linalg.norm(bend) > 1.2 * r else []
    if np.linalg.norm(end - bend) > 0.3 * r:
        found.append(_tube(bend, end, 0.84 * r, "limb"))
    if np.linalg.norm(bend) > 1.2 * r and np.linalg.norm(end - bend) > 0.3 * r:
        found.append({"kind": "sphere", "at": _list(bend), "r": _short(0.9 * r), "paint": "limb"})
    if joint.kind == "prismatic":
        low, high = _stroke(joint)
        way = np.array(joint.rotation) @ np.array(joint.axis)
        found.append(
            _tube(end + min(low, 0.0) * way, end + max(low, 0.15 * high) * way, 1.1 * r, "joint")
        )
    return found


def _tip(link: Link, own: Joint, r: float) -> list[Solid]:
    """A short tool at the end of a chain: towards the link's centre of mass, on from a welded link,
    or along the last axis."""
    welded = (
        np.array(own.rotation).T @ np.array(own.position)
        if own.kind == "fixed"
        else np.array(own.axis)
    )
    ways = [np.array(link.com), welded, np.array([0.0, 0.0, 1.0])]
    way = next(w / np.linalg.norm(w) for w in ways if np.linalg.norm(w) > 0.2 * r)
    end = 1.3 * r * way
    return [
        _tube((0, 0, 0), end, 0.8 * r, "tool"),
        {"kind": "sphere", "at": _list(end), "r": _short(0.8 * r), "paint": "tool"},
    ]


def _radius(robot: Robot, link: Link, size: float) -> float:
    """Thicker at the base than at the tip."""
    depth = {robot.base: 0}
    for j in robot.joints:
        depth[j.child] = depth[j.parent] + 1
    part = depth[link.name] / max(1, *depth.values())
    return size * (THICK + (THIN - THICK) * part)


def _stroke(joint: Joint) -> tuple[float, float]:
    """Ends of a prismatic joint's range, m; a metre where there are none."""
    low, high = joint.limits.lower, joint.limits.upper
    return (low, high) if math.isfinite(low) and math.isfinite(high) else (0.0, 1.0)


def _shape(v: Visual) -> Solid | None:
    """A box, cylinder, capsule or sphere of the robot's file; None for a mesh."""
    R, p = np.array(v.rotation), np.array(v.position)
    paint = "limb" if v.colour is None else [_short(c) for c in v.colour[:3]]
    if v.shape == "box":
        return {
            "kind": "box",
            "at": _list(p),
            "R": _list(R.ravel()),
            "size": _list(v.size),
            "paint": paint,
        }
    if v.shape == "sphere":
        return {"kind": "sphere", "at": _list(p), "r": v.size[0], "paint": paint}
    if v.shape in ("cylinder", "capsule"):
        half = R @ np.array([0.0, 0.0, v.size[1] / 2])
        return _tube(p - half, p + half, v.size[0], paint)
    return None


def _tube(a: Any, b: Any, r: float, paint: Any) -> Solid:
    return {"kind": "tube", "a": _list(a), "b": _list(b), "r": _short(r), "paint": paint}


def _list(x: Any) -> list[float]:
    return [_short(float(c)) for c in x]


def _short(x: float) -> float:
    return round(float(x), 5)
