"""Several robots in one world as one model: their bodies on their bases, and the pairs of links of
different robots that may not touch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armature.robot.model import Robot
from armature.scene.collision import collision_model
from armature.scene.levers import ball_levers
from armature.scene.model import Model
from armature.scene.obstacle import Obstacle
from armature.scene.scene import Scene
from armature.scene.tables import Bodies, Spheres, obstacle_table


@dataclass(frozen=True, eq=False)
class Standing:
    """A robot on its base. name: in the world.  R: (3, 3), p: (3,), m: of its base there.
    carried: objects on its links, as in a Scene."""

    name: str
    robot: Robot
    R: np.ndarray
    p: np.ndarray
    carried: tuple[Obstacle, ...] = ()


def joint_model(robots: Sequence[Standing]) -> tuple[Model, np.ndarray]:
    """The robots as one model, whose states are theirs one after the other, and (pairs, n) how
    fast each distance changes with each joint at most, m/rad or 1. Names are robot/link."""
    models = [collision_model(r.robot, Scene(r.carried, allowed=())) for r in robots]
    joints = np.cumsum([0, *(r.robot.n for r in robots)])
    bodies = np.cumsum([0, *(len(m.bodies.parent) for m in models)])
    links = np.cumsum([0, *(len(m.names) for m in models)])
    tables = [
        _on_base(m.bodies, r, int(j), int(b)) for m, r, j, b in zip(models, robots, joints, bodies)
    ]
    spheres = _spheres([_moved(m.spheres, r, int(b)) for m, r, b in zip(models, robots, bodies)])
    pairs, levers = [], []
    for a, b in itertools.combinations(range(len(robots)), 2):
        for i, k in itertools.product(range(len(models[a].names)), range(len(models[b].names))):
            row = np.zeros(int(joints[-1]))
            row[joints[a] : joints[a + 1]] = _levers(robots[a].robot, models[a], i)
            row[joints[b] : joints[b + 1]] = _levers(robots[b].robot, models[b], k)
            if row.any():
                pairs.append((int(links[a]) + i, int(links[b]) + k))
                levers.append(row)
    names = tuple(f"{r.name}/{name}" for r, m in zip(robots, models) for name in m.names)
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    model = Model(
        names,
        (),
        Bodies(*(np.concatenate(column) for column in zip(*tables))),
        spheres,
        obstacle_table(()),
        np.ascontiguousarray(first),
        np.ascontiguousarray(second),
        {},
    )
    return model, np.array(levers).reshape(-1, int(joints[-1]))


def _on_base(bodies: Bodies, at: Standing, joint: int, body: int) -> Bodies:
    """The bodies of a robot on its base, numbered on from others'."""
    root = bodies.parent < 0
    return bodies._replace(
        parent=np.where(root, -1, bodies.parent + body),
        R=np.where(root[:, None, None], at.R @ bodies.R, bodies.R),
        p=np.where(root[:, None], bodies.p @ at.R.T + at.p, bodies.p),
        q=bodies.q + joint,
    )


def _moved(spheres: Spheres, at: Standing, body: int) -> Spheres:
    """Covers of a robot on its base: those of links that do not move stand in the world."""
    node = spheres.node.copy()
    for i in np.flatnonzero(spheres.body < 0):
        rows = slice(spheres.first[i], spheres.first[i + 1])
        node[rows, :3] = node[rows, :3] @ at.R.T + at.p
    return spheres._replace(body=np.where(spheres.body < 0, -1, spheres.body + body), node=node)


def _spheres(tables: Sequence[Spheres]) -> Spheres:
    nodes = np.cumsum([0, *(len(t.node) for t in tables)])
    first = [t.first[:-1] + start for t, start in zip(tables, nodes)]
    return Spheres(
        np.concatenate([t.body for t in tables]),
        np.concatenate([*first, nodes[-1:]]),
        np.ascontiguousarray(np.vstack([t.node for t in tables])),
        np.concatenate([t.skip + start for t, start in zip(tables, nodes)]),
    )


def _levers(robot: Robot, model: Model, link: int) -> np.ndarray:
    return ball_levers(robot, int(model.spheres.body[link]), model.spheres.bound[link], set())
