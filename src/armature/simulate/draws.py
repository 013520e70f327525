"""Robots that a rehearsal runs a plan on: how their bodies and friction differ from the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.dynamics.recursion.regressor import INERTIA_ENTRIES, INERTIAL, inertial_parameters
from armature.errors import ArgumentError
from armature.robot.model import Robot
from armature.robot.tree import Body, Tree


@dataclass(frozen=True, eq=False)
class ModelUncertainty:
    """What identification leaves open.

    inertial: (10 nb, 10 nb) covariance of the bodies' parameters (m, m c, J about the origin of the
    body's frame).
    friction: (n,) relative standard deviation of each joint's friction.
    """

    inertial: np.ndarray
    friction: np.ndarray

    def draw(
        self, robot: Robot, runs: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """(runs, 10 nb) differences of inertial parameters, (runs, n) factors of friction."""
        size = INERTIAL * len(robot.tree.bodies)
        if self.inertial.shape != (size, size) or self.friction.shape != (robot.nv,):
            raise ArgumentError(
                f"the uncertainty is of a robot with {len(self.inertial) // INERTIAL} bodies, robot"
                f" {robot.name!r} has {len(robot.tree.bodies)}; rehearse the robot that was"
                " identified"
            )
        values, vectors = np.linalg.eigh(self.inertial)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        friction = 1.0 + self.friction * rng.normal(size=(runs, robot.nv))
        return rng.normal(size=(runs, size)) @ root.T, np.maximum(friction, 0.05)


def scaled_masses(robot: Robot, factors: np.ndarray) -> np.ndarray:
    """(runs, 10 nb) differences of inertial parameters of bodies that are heavier by factors (runs,
    nb)."""
    own = np.array([inertial_parameters(b) for b in robot.tree.bodies])
    return ((factors - 1.0)[:, :, None] * own).reshape(len(factors), -1)


def changed(tree: Tree, differences: Any) -> Tree:
    """The tree with these differences (10 nb) added to its bodies' parameters; they may be
    symbols."""
    bodies = tuple(
        _changed_body(body, differences[INERTIAL * k : INERTIAL * (k + 1)])
        for k, body in enumerate(tree.bodies)
    )
    return replace(tree, bodies=bodies)


def _changed_body(body: Body, d: Any) -> Body:
    inertia = np.array(body.inertia, dtype=object)
    for x, (i, j) in zip(d[4:], INERTIA_ENTRIES):
        inertia[i, j] = inertia[i, j] + x
        if i != j:
            inertia[j, i] = inertia[j, i] + x
    moment = np.array([h + x for h, x in zip(body.first_moment, d[1:4])], dtype=object)
    return replace(body, mass=body.mass + d[0], first_moment=moment, inertia=inertia)
