"""Scenes from files: our own YAML, MoveIt's PlanningScene as it is, and the pairs of an SRDF
file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, model_validator

from armature.document import checked, values
from armature.errors import ArgumentError, FileError
from armature.robot import frames
from armature.robot.format.quantities import Angle, Length, Number
from armature.robot.format.schema import Name, Part, Point
from armature.robot.load.xml import children, parse
from armature.scene.obstacle import Obstacle, vector
from armature.scene.scene import Scene
from armature.text import read_bytes, read_text

GIVEN = ("box", "sphere", "capsule", "cylinder", "half_space", "hull", "mesh")
MOVEIT = {1: "box", 2: "sphere", 3: "cylinder"}  # SolidPrimitive's numbers


class ObjectPart(Part):
    """An obstacle: exactly one of box, sphere, capsule, cylinder, half_space, hull, mesh."""

    box: tuple[Length, Length, Length] | None = Field(None, description="edges x, y, z, m")
    sphere: Length | None = Field(None, description="radius, m")
    capsule: tuple[Length, Length] | None = Field(
        None, description="radius, length between the caps, m"
    )
    cylinder: tuple[Length, Length] | None = Field(None, description="radius, length, m")
    half_space: bool | None = Field(None, description="true: all below its z = 0")
    hull: list[Point] | None = Field(None, description="corner points, m")
    mesh: Name | None = Field(None, description="a mesh file, relative to this file's folder")
    scale: Number = 1.0
    parts: str = "one"
    position: Point = (0.0, 0.0, 0.0)
    rpy: tuple[Angle, Angle, Angle] = (0.0, 0.0, 0.0)
    margin: Length = 0.0
    link: Name | None = Field(None, description="the link that carries it")

    @model_validator(mode="after")
    def _one_shape(self) -> ObjectPart:
        given = [name for name in GIVEN if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"{' and '.join(given) or 'no shape'} given; give one of {', '.join(GIVEN)}"
            )
        return self


class ScenePart(Part):
    """A scene of our own."""

    objects: dict[Name, ObjectPart] = Field(default_factory=dict, max_length=10_000)
    margin: Length = Field(0.0, description="of objects that give none, m")
    allowed: list[tuple[Name, Name]] | None = Field(
        None, description="pairs of links or objects that may touch"
    )
    srdf: Name | None = Field(None, description="an SRDF file, whose disabled pairs may touch")


def load_scene(path: str | os.PathLike[str]) -> Scene:
    """The scene of a YAML file, of our own or of MoveIt."""
    return scene_of(values(read_text(path), path), path)


def scene_of(data: Any, path: str | os.PathLike[str]) -> Scene:
    """The scene that values of a file describe. path: of the file, which others are relative to."""
    if isinstance(data, Mapping) and "world" in data:
        return moveit_scene(data, path)
    part, folder = checked(ScenePart, data, path), Path(path).parent
    scene = Scene(allowed=None if part.allowed is None else tuple(part.allowed))
    for name, given in part.objects.items():
        try:
            scene = _with(scene, name, given, folder, part.margin)
        except ArgumentError as error:
            raise FileError(f"objects.{name}: {error}", path) from None
    return scene if part.srdf is None else scene.with_srdf(folder / part.srdf)


def _with(scene: Scene, name: str, given: ObjectPart, folder: Path, margin: float) -> Scene:
    place: dict[str, Any] = {
        "position": given.position,
        "rpy": given.rpy,
        "margin": given.margin or margin,
    }
    on: dict[str, Any] = {"link": given.link}
    if given.mesh is not None:
        return scene.with_mesh(
            name, folder / given.mesh, scale=given.scale, parts=given.parts, **place, **on
        )
    if given.box is not None:
        return scene.with_box(name, given.box, **place, **on)
    if given.sphere is not None:
        return scene.with_sphere(name, given.sphere, given.position, place["margin"], given.link)
    if given.capsule is not None:
        return scene.with_capsule(name, *given.capsule, **place, **on)
    if given.cylinder is not None:
        return scene.with_cylinder(name, *given.cylinder, **place, **on)
    if given.hull is not None:
        return scene.with_hull(name, given.hull, **place, **on)
    return scene.with_half_space(name, **place)


# MoveIt ------------------------------------------------------------------------------------------


def moveit_scene(data: Mapping[str, Any], path: object) -> Scene:
    """The objects of a PlanningScene, and the pairs that its matrix allows."""
    try:
        world = data["world"].get("collision_objects") or []
        found = [shape for item in world for shape in _moveit_object(item)]
        matrix = data.get("allowed_collision_matrix") or {}
        names, rows = matrix.get("entry_names") or [], matrix.get("entry_values") or []
        rows = [row["enabled"] if isinstance(row, Mapping) else row for row in rows]
        allowed = [
            (a, b)
            for i, a in enumerate(names)
            for j, b in enumerate(names[:i])
            if rows[i][j] is True
        ]
    except ArgumentError as error:
        raise FileError(str(error), path) from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        words = f"{type(error).__name__}: {error}"
        raise FileError(
            f"this is no PlanningScene of MoveIt as it is written to files ({words}); check its"
            " collision_objects",
            path,
        ) from None
    return Scene(tuple(found), tuple(allowed) if names else None)


def _moveit_object(item: Mapping[str, Any]) -> list[Obstacle]:
    """The shapes of one object; its pose, where it has one, comes before those of its
    primitives."""
    R, p = _moveit_pose(item.get("pose"))
    name = str(item["id"])
    if item.get("meshes") or item.get("planes"):
        raise ArgumentError(
            f"object {name!r} has meshes or planes, which are not read from scene files; give them"
            " as our own objects"
        )
    found = []
    for primitive, pose in zip(item["primitives"], item["primitive_poses"], strict=True):
        Q, x = _moveit_pose(pose)
        kind, size = primitive["type"], [float(v) for v in primitive["dimensions"]]
        kind = MOVEIT.get(kind, kind)
        if kind not in MOVEIT.values():
            raise ArgumentError(
                f"object {name!r} is a {kind!r}; {', '.join(MOVEIT.values())} are read"
            )
        size = [size[1], size[0]] if kind == "cylinder" else size  # height, radius there
        rotation = tuple(tuple(row) for row in R @ Q)
        found.append(Obstacle(name, kind, tuple(size), vector(R @ x + p), rotation))  # pyright: ignore[reportArgumentType]
    return found


def _moveit_pose(pose: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position; the identity where there is none."""
    if not pose:
        return np.eye(3), np.zeros(3)
    position, turn = pose["position"], pose["orientation"]
    position = [position[k] for k in "xyz"] if isinstance(position, Mapping) else position
    x, y, z, w = [turn[k] for k in "xyzw"] if isinstance(turn, Mapping) else turn
    return np.array(frames.from_quaternion(float(w), float(x), float(y), float(z))), np.array(
        position, dtype=float
    )


def disabled_pairs(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Pairs of links of an SRDF file's `disable_collisions`."""
    root = parse(read_bytes(path), path)
    found = [(e.get("link1"), e.get("link2")) for e in children(root, "disable_collisions")]
    if any(a is None or b is None for a, b in found):
        raise FileError("a <disable_collisions> has no link1 or link2; check the file", path)
    return [(str(a), str(b)) for a, b in found]
