"""A robot's bare file (URDF, MJCF) made ready for a first plan: fingers and wheels held, ranges and
limits that are placeholders replaced. One rule for `armature init` and the app.

Files of vendors and exporters often hold numbers that mean "not known": a range 0 … 0, a velocity
of 0, a torque limit that does not even hold the robot (`doubtful_torque_limits`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi

from armature.dynamics.forces.stand_in import SPEED
from armature.dynamics.positioning.workspace import doubtful_torque_limits
from armature.robot.check import has_unset_range
from armature.robot.model import Robot
from armature.robot.parts import Joint
from armature.robot.tip import ancestors, hands, is_finger

MOST_JOINTS = 9  # robots with more are taken for several arms


@dataclass(frozen=True)
class Prepared:
    """robot: ready for a first plan.  held: names of joints that stay still.  limits: {joint: {name
    of a limit: value that replaces a placeholder}}, rad, m, s, N·m, N."""

    robot: Robot
    held: tuple[str, ...]
    limits: dict[str, dict[str, float]]

    @property
    def notes(self) -> tuple[str, ...]:
        """What was changed, one sentence for each kind of change."""
        kinds = {
            "lower": "the range 0 … 0 is taken for a whole turn",
            "velocity": "the velocity limit 0 is replaced by a usual one",
            "torque": "the torque limit does not hold the robot and is left to the drive",
        }
        found = [f"Held still: {', '.join(self.held)}."] if self.held else []
        for limit, words in kinds.items():
            names = [name for name, changed in self.limits.items() if limit in changed]
            found += [f"{', '.join(names)}: {words}."] if names else []
        return tuple(found)


def prepared(robot: Robot) -> Prepared:
    """The robot with the joints held that a first plan does not move, and with usable limits for
    the others. A robot whose file names drives is left as it is."""
    if robot.drives or robot.nq != robot.nv:
        return Prepared(robot, (), {})
    kept = movable(robot)
    idle = tuple(name for name in robot.joint_names if name not in kept)
    bare = with_ranges(robot.with_held(idle) if idle else robot)
    limits = usable_limits(robot, doubtful_torque_limits(bare))
    limits = {name: changed for name, changed in limits.items() if name in kept}
    return Prepared(bare.with_limits(limits), idle, limits)


def usable_limits(robot: Robot, doubtful: set[str]) -> dict[str, dict[str, float]]:
    """{joint: {limit: value}} in place of the placeholders of a robot's file. doubtful: joints
    whose torque limit is no real one; their drives limit the torque."""
    found = {}
    for joint in (j for j in robot.joints if j.name in robot.joint_names):
        changed = {"lower": -pi, "upper": pi} if has_unset_range(joint) else {}
        if joint.limits.velocity == 0.0:
            changed["velocity"] = SPEED[joint.kind == "prismatic"]
        if joint.name in doubtful:
            changed["torque"] = inf
        if changed:
            found[joint.name] = changed
    return found


def with_ranges(robot: Robot) -> Robot:
    """A whole turn for joints whose range the file leaves open."""
    return robot.with_limits(
        {j.name: {"lower": -pi, "upper": pi} for j in robot.joints if has_unset_range(j)}
    )


def movable(robot: Robot) -> list[str]:
    """Joints that a first plan moves: without fingers, wheels and joints of no range; of a robot
    with many joints, those from the base to its first hand."""
    joints = {j.name: j for j in robot.joints}
    own = [name for name in robot.joint_names if name in joints and not joints[name].passive]
    able = [
        name for name in own if not (is_finger(robot, joints[name]) or _is_locked(joints[name]))
    ] or own
    if len(able) <= MOST_JOINTS:
        return able
    hand = hands(robot)[0]
    carriers = {hand, *ancestors(robot, hand)}
    return [name for name in able if joints[name].child in carriers] or able


def _is_locked(joint: Joint) -> bool:
    """Whether the range of a joint is one place."""
    return joint.limits.lower == joint.limits.upper and not has_unset_range(joint)
