"""A robot as plain data: links, joints, drives and gravity, frozen and hashable, and what follows
from them alone.

`Robot` (model.py) is this with its verbs, `with_payload` and the like; the modules that do their
work take what is described here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from armature.errors import RobotError
from armature.robot import guard, structure
from armature.robot.loop import Loop, check_loops
from armature.robot.model_error import ModelError
from armature.robot.parts import Joint, Link, Mimic, set_fields
from armature.robot.shape import Vec3
from armature.robot.tree import Tree, build_tree

if TYPE_CHECKING:
    from armature.drive.catalogue import Supply
    from armature.drive.train import Coupling

R = TypeVar("R", bound="RobotDescription")  # a robot in, one of the same kind out


@dataclass(frozen=True, repr=False)
class RobotDescription:
    """A mechanism: links, the joints that connect them, and gravity (m/s², world axes).

    `base` is the link that stands in the world. Joints are ordered base to tip, document order
    within a branch, and links as the joints that carry them, the base first (given otherwise, they
    are put in this order). A mimic joint refers to a joint that mimics none: chains are resolved.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    base: str
    gravity: Vec3 = (0.0, 0.0, -9.81)
    drives: tuple[Coupling, ...] = ()  # set by with_drives
    supply: Supply | None = None  # what feeds the drives, where a file of drives says so
    loops: tuple[Loop, ...] = ()  # joints that close loops on top of the tree
    floor: Any = field(
        default=None, compare=False
    )  # `scene.Floor` that links keep clear of; set by the planners
    model_error: ModelError | None = field(default=None, compare=False)  # found by identification
    # names of the limits that drives may have, where the numbers of drives are parameters of the
    # kernels; set where drives are chosen (design/)
    variable_limits: tuple[str, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        links, joints = tuple(self.links), tuple(self.joints)
        if problems := structure.problems(links, joints):
            raise RobotError(str(problems[0]))
        root = ({link.name for link in links} - {joint.child for joint in joints}).pop()
        if self.base != root:
            raise RobotError(
                f"base is {self.base!r}, but the link without a parent is {root!r}; give that one"
            )
        joints = _without_mimic_chains(structure.base_to_tip(root, joints))
        by_name = {link.name: link for link in links}
        links = tuple(by_name[name] for name in (root, *(joint.child for joint in joints)))
        set_fields(
            self,
            name=str(self.name),
            links=links,
            joints=joints,
            gravity=guard.vector("gravity", self.gravity, 3),
        )
        set_fields(self, loops=tuple(self.loops))
        check_loops(self.loops, by_name)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(
            (
                self.name,
                self.links,
                self.joints,
                self.base,
                self.gravity,
                self.drives,
                self.supply,
                self.loops,
            )
        )

    def __getstate__(self) -> dict[str, Any]:
        # what was computed from the data (hash, tree, kernels) belongs to this process
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        set_fields(self, **state)

    def __repr__(self) -> str:
        kinds = [j.kind for j in self.joints if j.kind != "fixed"]
        return (
            f"<Robot {self.name!r}: {len(self.links)} links, {len(kinds)} moving joints,"
            f" {self.mass:.4g} kg>"
        )

    @cached_property
    def tree(self) -> Tree:
        """The mechanism as numbers for the dynamics: welded links merged, one moving body for each
        degree of freedom."""
        return build_tree(self.links, self.joints, self.base, self.gravity)

    @property
    def n(self) -> int:
        """Number of independent velocities."""
        return self.tree.nv

    @property
    def nv(self) -> int:
        """Number of independent velocities."""
        return self.tree.nv

    @property
    def nq(self) -> int:
        """Number of coordinates; differs from `nv` only with a floating base."""
        return self.tree.nq

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent moving joints in the order of q and v."""
        return self.tree.joint_names

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Indices in v of the joints without a motor."""
        passive = {j.name for j in self.joints if j.passive}
        return tuple(b.v for b in self.tree.bodies if not b.mimic and b.name in passive)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, each of which is a frame."""
        return tuple(link.name for link in self.links)

    @property
    def mass(self) -> float:
        """Mass of all links together, kg."""
        return math.fsum(link.mass for link in self.links)

    @property
    def tips(self) -> tuple[str, ...]:
        """Links that carry no other link, base to tip, document order."""
        parents = {j.parent for j in self.joints}
        return tuple(
            name for name in (self.base, *(j.child for j in self.joints)) if name not in parents
        )

    def link(self, name: str) -> Link:
        """The link of this name."""
        guard.known("link", name, self._links_by_name)
        return self._links_by_name[name]

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        guard.known("joint", name, self._joints_by_name)
        return self._joints_by_name[name]

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}


def _without_mimic_chains(joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """Joints whose mimics all refer to a free joint: m₁(m₂q + o₂) + o₁ = (m₁m₂)q + (m₁o₂ + o₁)."""
    mimics = {j.name: j.mimic for j in joints if j.mimic is not None}
    if all(m.joint not in mimics for m in mimics.values()):
        return joints
    resolved: dict[str, Mimic] = {}
    for name in mimics:
        trail = []
        while name in mimics and name not in resolved:
            trail.append(name)
            name = mimics[name].joint
        for name in reversed(trail):
            m, master = mimics[name], resolved.get(mimics[name].joint)
            if master is not None:
                m = Mimic(
                    master.joint,
                    m.multiplier * master.multiplier,
                    m.multiplier * master.offset + m.offset,
                )
            resolved[name] = m
    return tuple(replace(j, mimic=resolved[j.name]) if j.mimic is not None else j for j in joints)
