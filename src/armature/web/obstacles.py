"""Obstacles as the user of the app changes them: added, moved, resized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.robot import frames
from armature.scene.measure import collisions
from armature.scene.obstacle import Obstacle, matrix
from armature.scene.scene import Scene
from armature.web.wish import Wish

PART = 0.16  # of the robot's size: edges of a new box, and the diameter of a new sphere
# where a new obstacle is tried first, from the middle between the hands, in sizes of the robot
PLACES = (
    (0, 0, 0.35),
    (0.4, 0, 0),
    (0, 0.4, 0),
    (0, -0.4, 0),
    (0, 0, 0.8),
    (0, 0.8, 0),
    (1.2, 0, 0),
)


def with_new(
    wish: Wish, shape: str, middle: np.ndarray, size: float, seen: Sequence[np.ndarray]
) -> tuple[Scene, str]:
    """The wish's scene with one more box or sphere, and its name. middle: between the hands, m.
    size: of the robot, m.  seen: configurations (n,) in which the robot must not touch it."""
    scene = wish.scene or Scene()
    count = next(k for k in range(1, len(scene.names) + 2) if f"{shape} {k}" not in scene.names)
    name, length = f"{shape} {count}", round(PART * size, 3)
    for place in PLACES:
        at = [round(float(m + size * p), 3) for m, p in zip(middle, place)]
        found = (
            scene.with_box(name, (length, length, length), at)
            if shape == "box"
            else scene.with_sphere(name, length / 2, at)
        )
        hits = collisions(wish.loaded, found, np.array(seen))
        if not any(name in (hit.first, hit.second) for hit in hits):
            return found, name
    raise ArgumentError(
        "there is no room for a new obstacle beside this robot; give one in a scene file"
    )


def changed(scene: Scene, name: str, values: dict[str, Any]) -> Scene:
    """The scene with another position (m), attitude (rpy, rad, or rotation), size (m) or margin (m)
    of an object."""
    old = first_of(scene, name)
    if {"position", "rpy", "rotation"} & set(values):
        turned = frames.to_rpy(matrix(values.get("rotation", old.rotation)))
        scene = scene.moved(name, values.get("position", old.position), values.get("rpy", turned))
    if "size" in values or "margin" in values:
        scene = scene.resized(name, values.get("size"), values.get("margin"))
    return scene


def first_of(scene: Scene, name: str) -> Obstacle:
    """The first shape of an object."""
    return next(o for o in scene.obstacles if o.name == name)


class ObstacleEditor:
    """What the tab of obstacles does, for a session: view is its space, tab its widgets.  replan():
    the wish has changed.  busy(words): something takes long."""

    def __init__(
        self,
        session: Any,
        view: Any,
        tab: Any,
        replan: Callable[[], None],
        busy: Callable[[str], None],
    ):
        self._session, self._view, self._tab = session, view, tab
        self._replan, self._busy = replan, busy

    def acts(self, value: Any) -> dict[str, Callable[[], None]]:
        """What is done by name, with a value."""
        session = self._session
        return {
            "add obstacle": lambda: self.add(value),
            "obstacle": lambda: self._if(session.change_obstacle(*value)),
            "delete obstacle": lambda: self._if(session.delete_obstacle(value)),
            "pick obstacle": lambda: self.pick(value),
        }

    def _if(self, changed: bool) -> None:
        if changed:
            self._replan()

    def add(self, shape: str) -> None:
        """One more box or sphere."""
        wish = self._session.wish
        self._busy("covering the robot's links by spheres (once for a robot) …")
        middle = self._view.between([wish.start, wish.goal])
        self._if(self._session.add_obstacle(shape, middle, self._view.size))

    def pick(self, name: str) -> None:
        """Put the handle at an obstacle."""
        self._session.picked = name
        self.show()

    def show(self) -> None:
        """Show the obstacles in space and in the tab."""
        scene, picked = self._session.wish.scene, self._session.picked
        self._view.obstacles(scene, picked)
        self._tab.show(scene, picked)
