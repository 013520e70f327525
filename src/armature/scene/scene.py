"""A scene: the obstacles around a robot, what it carries, and which pairs may touch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.robot import frames
from armature.robot.guard import known
from armature.robot.shape import ZERO
from armature.scene.hull import convex_parts
from armature.scene.obstacle import Obstacle, matrix, vector
from armature.seam import worker

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Scene:
    """The world that a robot moves in.

    obstacles: shapes in the world, and on links that carry them (`link`), which collide as these
    links do.
    allowed: pairs of names, of links or obstacles, that may touch; None: links that always touch
    are found by sampling, and links that touch in the zero position by no more than their spheres
    reach out of them (`Distances.touching`).
    spheres: {link: ((x, y, z, radius), …)}, m, in the link's frame: a cover of one's own instead
    of the fitted one.
    close: configurations (n,) at which links pass something more closely than their spheres can
    tell; covers are finer there.

    Obstacles are added by `with_box` and its sisters, each of which returns a new scene. Another
    scene compiles nothing.
    """

    obstacles: tuple[Obstacle, ...] = ()
    allowed: Pairs | None = None
    spheres: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    close: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        allowed = None if self.allowed is None else tuple((str(a), str(b)) for a, b in self.allowed)
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        object.__setattr__(self, "allowed", allowed)
        rows = {link: np.asarray(values, dtype=float) for link, values in self.spheres.items()}
        for link, value in rows.items():
            if value.ndim != 2 or value.shape[1] != 4 or not np.all(value[:, 3] > 0.0):
                raise ArgumentError(
                    f"spheres of link {link!r} must be rows (x, y, z, radius > 0), m; got shape"
                    f" {value.shape}"
                )
        fixed = {
            link: tuple(tuple(float(x) for x in row) for row in value)
            for link, value in rows.items()
        }
        object.__setattr__(self, "spheres", fixed)

    def __repr__(self) -> str:
        return f"<Scene: {', '.join(self.names) or 'no obstacles'}>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the objects, each once."""
        return tuple(dict.fromkeys(o.name for o in self.obstacles))

    @property
    def world(self) -> tuple[Obstacle, ...]:
        """Obstacles that stand in the world."""
        return tuple(o for o in self.obstacles if o.link is None)

    @property
    def carried(self) -> tuple[Obstacle, ...]:
        """Obstacles on links of the robot."""
        return tuple(o for o in self.obstacles if o.link is not None)

    # adding and taking away ----------------------------------------------------------------------

    def with_obstacle(self, obstacle: Obstacle) -> Scene:
        """The same with one more, whose name is new."""
        if obstacle.name in self.names:
            raise ArgumentError(
                f"there is an obstacle {obstacle.name!r} already; give another name, or take it"
                " away first (without)"
            )
        return replace(self, obstacles=(*self.obstacles, obstacle))

    def with_box(
        self,
        name: str,
        size: Iterable[float],
        position: Iterable[float] = ZERO,
        rpy: Iterable[float] = ZERO,
        margin: float = 0.0,
        link: str | None = None,
    ) -> Scene:
        """A box. size: edges x, y, z, m.  position (m), rpy (roll, pitch, yaw, rad): of its
        middle.  margin: to be kept from it, m.
        link: the link that carries it, in whose frame the pose is then."""
        return self._with(name, "box", tuple(size), position, rpy, margin, link)

    def with_sphere(
        self,
        name: str,
        radius: float,
        position: Iterable[float] = ZERO,
        margin: float = 0.0,
        link: str | None = None,
    ) -> Scene:
        """A sphere; m. link: as in `with_box`."""
        return self._with(name, "sphere", (radius,), position, ZERO, margin, link)

    def with_capsule(
        self,
        name: str,
        radius: float,
        length: float,
        position: Iterable[float] = ZERO,
        rpy: Iterable[float] = ZERO,
        margin: float = 0.0,
        link: str | None = None,
    ) -> Scene:
        """A capsule along its z axis; length: between the middles of its caps, m. link: as in
        `with_box`."""
        return self._with(name, "capsule", (radius, length), position, rpy, margin, link)

    def with_cylinder(
        self,
        name: str,
        radius: float,
        length: float,
        position: Iterable[float] = ZERO,
        rpy: Iterable[float] = ZERO,
        margin: float = 0.0,
        link: str | None = None,
    ) -> Scene:
        """A cylinder along its z axis, m. link: as in `with_box`."""
        return self._with(name, "cylinder", (radius, length), position, rpy, margin, link)

    def with_half_space(
        self,
        name: str,
        position: Iterable[float] = ZERO,
        rpy: Iterable[float] = ZERO,
        margin: float = 0.0,
    ) -> Scene:
        """All that is below the plane through `position`, whose z axis points out of it: a floor,
        or turned a wall."""
        return self._with(name, "half-space", (), position, rpy, margin, None)

    def with_hull(
        self,
        name: str,
        points: Any,
        position: Iterable[float] = ZERO,
        rpy: Iterable[float] = ZERO,
        margin: float = 0.0,
        link: str | None = None,
    ) -> Scene:
        """The convex hull of points (k, 3), m. link: as in `with_box`."""
        corners = tuple(vector(p) for p in np.asarray(points, dtype=float).reshape(-1, 3))
        return self._with(name, "hull", (), position, rpy, margin, link, corners)

    def with_mesh(
        self,
        name: str,
        path: str | os.PathLike[str],
        position: Iterable[float] = ZERO,
        rpy: Iterable[float] = ZERO,
        scale: float = 1.0,
        parts: str = "one",
        margin: float = 0.0,
        link: str | None = None,
    ) -> Scene:
        """A mesh file. parts: "one", its convex hull; "several", convex parts that contain its
        surface (coacd, extra `collision`).
        scale: to m.  link: as in `with_box`."""
        if name in self.names:
            raise ArgumentError(
                f"there is an obstacle {name!r} already; give another name, or take it away first"
                " (without)"
            )
        place = {
            "position": vector(position),
            "rotation": frames.from_rpy(*vector(rpy)),
            "margin": margin,
            "link": link,
        }
        made = [
            Obstacle(name, "hull", points=tuple(vector(p) for p in part), **place)
            for part in convex_parts(path, scale, parts)
        ]
        return replace(self, obstacles=(*self.obstacles, *made))

    def without(self, name: str) -> Scene:
        """The same without an object."""
        known("obstacle", name, self.names)
        return replace(self, obstacles=tuple(o for o in self.obstacles if o.name != name))

    def moved(self, name: str, position: Iterable[float], rpy: Iterable[float] = ZERO) -> Scene:
        """The same with an object at another pose, in the frame it is given in; of several shapes
        the first one is put there, and the others keep their places beside it."""
        known("obstacle", name, self.names)
        shapes = [o for o in self.obstacles if o.name == name]
        R, p = np.array(frames.from_rpy(*vector(rpy))), np.array(vector(position))
        turn = R @ np.array(shapes[0].rotation).T
        place = lambda o: {
            "position": vector(p + turn @ (np.array(o.position) - np.array(shapes[0].position))),
            "rotation": matrix(turn @ np.array(o.rotation)),
        }
        return self._replaced(name, lambda o: replace(o, **place(o)))

    def resized(
        self, name: str, size: Iterable[float] | None = None, margin: float | None = None
    ) -> Scene:
        """The same with other lengths (as in `Obstacle.size`, m) or another margin (m) of an object
        of one shape."""
        known("obstacle", name, self.names)
        if size is not None and sum(o.name == name for o in self.obstacles) > 1:
            raise ArgumentError(f"obstacle {name!r} has several shapes, whose sizes differ")
        new = {} if size is None else {"size": tuple(size)}
        new |= {} if margin is None else {"margin": margin}
        return self._replaced(name, lambda o: replace(o, **new))

    def _replaced(self, name: str, change: Callable[[Obstacle], Obstacle]) -> Scene:
        changed = tuple(change(o) if o.name == name else o for o in self.obstacles)
        return replace(self, obstacles=changed)

    def carrying(
        self, name: str, link: str, position: Iterable[float] = ZERO, rpy: Iterable[float] = ZERO
    ) -> Scene:
        """The same with an object taken up: from now on it belongs to a link, at this pose in the
        link's frame, and may touch it."""
        known("obstacle", name, self.names)
        place = {
            "position": vector(position),
            "rotation": matrix(frames.from_rpy(*vector(rpy))),
            "link": link,
        }
        moved = tuple(replace(o, **place) if o.name == name else o for o in self.obstacles)
        return replace(self, obstacles=moved)

    def allowing(self, *pairs: tuple[str, str]) -> Scene:
        """The same with more pairs of links or obstacles that may touch."""
        return replace(self, allowed=(*(self.allowed or ()), *pairs))

    def _with(
        self,
        name: str,
        shape: str,
        size: Any,
        position: Any,
        rpy: Any,
        margin: float,
        link: str | None,
        points: Any = (),
    ) -> Scene:
        rotation = frames.from_rpy(*vector(rpy))
        return self.with_obstacle(
            Obstacle(name, shape, size, vector(position), rotation, margin, link, points)
        )

    # files ---------------------------------------------------------------------------------------

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scene:
        """The scene of a YAML file: of our own (docs/obstacles.md), or of MoveIt as it is (a
        PlanningScene)."""
        return worker("Scene.load")(path)

    def to_yaml(self) -> str:
        """This scene as text in our own YAML format, which `Scene.load` reads back."""
        return worker("Scene.to_yaml")(self)

    def with_srdf(self, path: str | os.PathLike[str]) -> Scene:
        """The same with the pairs that an SRDF file disables (`disable_collisions`) allowed to
        touch."""
        return self.allowing(*worker("Scene.with_srdf")(path))
