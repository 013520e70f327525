"""Obstacles on the page of a plan: solids for its 3-D picture, and clearance over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.scene.hull import hull_faces
from armature.scene.measure import distance
from armature.scene.obstacle import Obstacle
from armature.scene.scene import Scene

PAINT = [0.76, 0.55, 0.33]
INSTANTS = 121
MOST = 0.5  # m: clearances are drawn up to this
OBJECTS = 6  # that are drawn at most
ITSELF = "the robot itself"


def with_obstacles(solids: list[list[dict[str, Any]]], robot: Robot, scene: Scene) -> None:
    """Add obstacles to the solids of links, as `limbs.solids` gives them: those of the world to the
    base, which stands still, carried ones to their link. Half-spaces are not drawn."""
    index = {link.name: k for k, link in enumerate(robot.links)}
    for o in scene.obstacles:
        solids[index[o.link or robot.base]] += obstacle_solids(o)


def obstacle_solids(o: Obstacle) -> list[dict[str, Any]]:
    """The solids of one obstacle, in its world's or its link's frame, m."""
    R, p = np.array(o.rotation), np.array(o.position)
    rounded = lambda x: np.round(x, 4).tolist()
    if o.shape == "box":
        return [
            {
                "kind": "box",
                "at": rounded(p),
                "R": rounded(R.ravel()),
                "size": rounded(o.size),
                "paint": PAINT,
            }
        ]
    if o.shape == "sphere":
        return [{"kind": "sphere", "at": rounded(p), "r": round(o.size[0], 4), "paint": PAINT}]
    if o.shape in ("cylinder", "capsule"):
        half = R[:, 2] * o.size[1] / 2
        radius = round(o.size[0], 4)
        tube = {
            "kind": "tube",
            "a": rounded(p - half),
            "b": rounded(p + half),
            "r": radius,
            "paint": PAINT,
        }
        caps = [
            {"kind": "sphere", "at": rounded(p + s * half), "r": radius, "paint": PAINT}
            for s in (-1, 1)
        ]
        return [tube, *caps] if o.shape == "capsule" else [tube]
    if o.shape == "hull":
        points = np.array(o.points) @ R.T + p
        return [
            {
                "kind": "mesh",
                "points": rounded(points),
                "faces": hull_faces(points).tolist(),
                "paint": PAINT,
            }
        ]
    return []


def clearance_chart(robot: Robot, scene: Scene, motion: Trajectory) -> dict[str, Any]:
    """The least distance over time, mm, from each of the nearest objects, and of links from each
    other, as a chart of the page."""
    t = np.linspace(motion.t[0], motion.t[-1], INSTANTS)
    found = distance(robot, scene, motion(t).q)
    least: dict[str, np.ndarray] = {}
    for pair, each in zip(found.pairs, found.each.T):
        name = next((part for part in reversed(pair) if part in scene.names), ITSELF)
        least[name] = np.minimum(least.get(name, MOST), each)
    nearest = sorted(least, key=lambda name: float(least[name].min()))[:OBJECTS]
    x = np.round(t - t[0], 5).tolist()
    series = [
        {"name": name, "x": x, "y": np.round(1e3 * least[name], 2).tolist()} for name in nearest
    ]
    return {"title": "clearance", "unit": "mm", "series": series, "limits": [0.0], "many": True}
