"""The two sweeps over a mechanism. The loop is written once; a step is a short function that states
the physics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from armature.robot.tree import Body, Tree

State = TypeVar("State")


def base_to_tip(tree: Tree, step: Callable[[int, Body, Any], State], base: Any) -> list[State]:
    """Carry a state outwards: state[i] = step(i, body, state of its parent); bodies on the world
    start from `base`."""
    states: list[Any] = []
    for i, body in enumerate(tree.bodies):
        states.append(step(i, body, states[body.parent] if body.parent >= 0 else base))
    return states


def tip_to_base(tree: Tree, step: Callable[[int, Body, Any], Any], own: Sequence[Any]) -> list[Any]:
    """Gather inwards: total[i] = own[i] + Σ over its children of step(child, body, total[child]).

    A step returns what the body passes to its parent; it is also called for bodies on the world,
    where that is dropped."""
    total = list(own)
    for i in range(len(tree.bodies) - 1, -1, -1):
        body = tree.bodies[i]
        passed = step(i, body, total[i])
        if body.parent >= 0:
            total[body.parent] = total[body.parent] + passed
    return total
