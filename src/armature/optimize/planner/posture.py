"""Which of the configurations that bring the hand to a pose is meant: its posture, in the words of
the shop floor.

Arms reach most poses in several ways: elbow up or down, wrist flipped or not, the shoulder turned
back. Without a word, the posture nearest to the start that keeps the floor and touches no obstacle
is taken: distances of joints weighted by what they move, full turns the short way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics
from armature.dynamics.recursion import energy
from armature.errors import ArgumentError
from armature.motion.goal import as_goal
from armature.optimize.planner.floor import TOUCH, floor_under, lowest
from armature.robot.model import Robot
from armature.scene.collision import collision_model
from armature.scene.scene import Scene

START = "as the start"
MOST = 64  # configurations of a pose that are looked at
UPRIGHT = 0.999  # cosine of an axis that counts as vertical
# m: an elbow that is nearer to the line from shoulder to wrist is neither up nor down
STRAIGHT = 1e-6
CHOICES = {
    "elbow": ("up", "down", "left", "right"),
    "wrist": ("flipped", "not flipped"),
    "shoulder": ("front", "back"),
}


def in_posture(
    robot: Robot,
    pose: Any,
    link: str,
    start: np.ndarray | None = None,
    posture: Any = None,
    floor: Any = None,
    scene: Scene | None = None,
) -> np.ndarray:
    """The configuration (n,) that brings a link to a pose in a posture.

    pose: as `arm.inverse_kinematics` takes it.  start: (n,) where the arm comes from.  floor: as in
    `Move`.  scene: obstacles.
    posture: "as the start"; words such as "elbow up", "wrist flipped", "shoulder back", one or a
    list of them; a configuration near the one that is meant, (n,) or {joint: value}; None: the one
    nearest to the start that keeps the floor and is free of obstacles, where there is one."""
    seed = _seed(robot, posture, start)
    goal = as_goal(pose)
    found = inverse_kinematics(
        robot, goal.p if goal.R is None else (goal.R, goal.p), link, seed=seed, most=MOST
    )
    known = (
        list(np.atleast_2d(found.solutions)) if found.ok else [found.best]
    )  # `best` says why there is none
    if seed is not None and seed is not start:
        return np.array(known[0])
    wanted = _wanted(robot, posture, link, start)
    fitting = [
        q
        for q in known
        if all(features(robot, q, link).get(key) in values for key, values in wanted.items())
    ]
    if not fitting:
        there = sorted({described(robot, q, link) for q in known} - {""})
        instead = (
            f"it is with {'; '.join(there)}"
            if there
            else "postures of this arm have no names: give a configuration near it"
        )
        raise ArgumentError(f"the pose is not reached with {_words(wanted)}; {instead}")
    ranked = fitting if start is None else sorted(fitting, key=lambda q: distance(robot, q, start))
    kept = floor_under(robot, floor, start)
    above = ranked if kept is None else [q for q in ranked if lowest(robot, kept, q)[1] >= -TOUCH]
    clear = above or ranked
    free = clear if scene is None else _free(robot, scene, clear)
    return np.array((free or clear)[0])


def _free(robot: Robot, scene: Scene, known: list[np.ndarray]) -> list[np.ndarray]:
    """Those configurations at which nothing touches."""
    depths = collision_model(robot, scene).distances(np.array(known), 0.0)[0].min(1, initial=0.0)
    return [q for q, depth in zip(known, depths) if depth >= 0.0]


def _seed(robot: Robot, posture: Any, start: np.ndarray | None) -> np.ndarray | None:
    """A configuration to start inverse kinematics from: the posture where it is one, else the
    start."""
    if isinstance(posture, Mapping):
        known = dict(zip(robot.joint_names, np.zeros(robot.n) if start is None else start))
        unknown = [name for name in posture if name not in known]
        if unknown:
            raise ArgumentError(
                f"posture: there is no moving joint {unknown[0]!r}; joints are"
                f" {', '.join(robot.joint_names)}"
            )
        return np.array([float({**known, **posture}[name]) for name in robot.joint_names])
    if posture is None or isinstance(posture, str) or any(isinstance(x, str) for x in posture):
        return start
    q = np.array(posture, dtype=float)
    if q.shape != (robot.n,):
        raise ArgumentError(
            f"posture has {q.size} numbers; give {robot.n}, one for each of"
            f" {', '.join(robot.joint_names)}, or words"
        )
    return q


def _wanted(
    robot: Robot, posture: Any, link: str, start: np.ndarray | None
) -> dict[str, tuple[str, ...]]:
    """{feature: values that are meant} of words."""
    found: dict[str, tuple[str, ...]] = {}
    for word in _words_of(posture):
        if _is_start(word):
            if start is None:
                raise ArgumentError(
                    f"posture {word!r}: there is no start to be like; name the posture, or give a"
                    " configuration near it"
                )
            found |= {key: (value,) for key, value in features(robot, start, link).items()}
            continue
        key, value = _feature(word)
        found[key] = (value,)
    return found


def check_posture(robot: Robot, posture: Any) -> None:
    """Refuse a posture that means nothing: a misspelt word or joint, or too few numbers."""
    if _seed(robot, posture, None) is None:
        for word in _words_of(posture):
            if not _is_start(word):
                _feature(word)


def _words_of(posture: Any) -> list[str]:
    """The words of a posture, tidied; none where there is no posture."""
    words = [] if posture is None else [posture] if isinstance(posture, str) else list(posture)
    return [" ".join(str(word).lower().split()) for word in words]


def _is_start(word: str) -> bool:
    return word in (START, "start")


def _feature(word: str) -> tuple[str, str]:
    """("elbow", "up") of "elbow up"."""
    key, _, value = word.partition(" ")
    if value not in CHOICES.get(key, ()):
        known = ", ".join(
            f"{name} {choice}" for name, choices in CHOICES.items() for choice in choices
        )
        raise ArgumentError(
            f"posture {word!r} is not known; give {START}, {known}, or a configuration near the"
            " one that is meant"
        )
    return key, value


def distance(robot: Robot, q: np.ndarray, start: np.ndarray) -> float:
    """How far two configurations are from each other, m: every joint's way times the length of the
    arm beyond it."""
    beyond = np.zeros(robot.n)
    for i, body in enumerate(robot.tree.bodies):
        offset = float(np.linalg.norm(body.p))
        for k in robot.tree.path(i)[:-1]:
            beyond[robot.tree.bodies[k].v] += offset
    sliding = {body.v for body in robot.tree.bodies if body.kind == "prismatic"}
    least = 0.1 * max(beyond.max(initial=0.0), 0.1)
    weight = np.array([1.0 if j in sliding else max(beyond[j], least) for j in range(robot.n)])
    return float(np.linalg.norm(weight * (q - start)))


def features(robot: Robot, q: np.ndarray, link: str) -> dict[str, str]:
    """The posture of an arm at q (n,): {"elbow": "up" or "down" (left or right where the first axes
    are upright), "wrist": …, …}.

    Elbow: above or below the line from shoulder to wrist.  Wrist of arms with six axes or more:
    flipped where (a × c)·b < 0 for its last
    three axes a, b, c.  Shoulder: front where the wrist is on the side of the first axis on which
    it is at zero coordinates."""
    axes, places = _joints(robot, q, link)
    if len(axes) < 3:
        return {}
    wrist = places[-2] if len(axes) > 4 else places[-1]
    flat = (
        min(abs(axes[0][2]), abs(axes[1][2])) > UPRIGHT
    )  # as in a SCARA, the shoulder is the first joint
    first, last = (0 if flat else 1), (-2 if len(axes) > 4 else -1)
    found = _elbow(places[first], places[first + 1 : last], wrist, flat)
    if len(axes) >= 6:
        found["wrist"] = (
            "flipped" if np.cross(axes[-3], axes[-1]) @ axes[-2] < 0.0 else "not flipped"
        )
        found["shoulder"] = (
            "front" if _forward(axes, places, wrist) * _at_zero(robot, link) >= 0.0 else "back"
        )
    return found


def _elbow(
    shoulder: np.ndarray, between: list[np.ndarray], wrist: np.ndarray, flat: bool
) -> dict[str, str]:
    """Where the elbow is, of a line from shoulder to wrist. flat: seen from above, to its left or
    right."""
    seen = np.array([1.0, 1.0, 0.0 if flat else 1.0])
    shoulder, between, wrist = seen * shoulder, [seen * p for p in between], seen * wrist
    line = wrist - shoulder
    along = line / max(float(np.linalg.norm(line)), 1e-12)
    off = [(p - shoulder) - along * float((p - shoulder) @ along) for p in between]
    elbow = max(off, key=lambda d: float(np.linalg.norm(d)), default=np.zeros(3))
    if np.linalg.norm(elbow) < STRAIGHT:
        return {}
    if flat:
        return {"elbow": "left" if np.cross(along, elbow)[2] > 0.0 else "right"}
    return {"elbow": "up" if elbow[2] >= 0.0 else "down"}


def _forward(axes: list[np.ndarray], places: list[np.ndarray], wrist: np.ndarray) -> float:
    """How far the wrist is in front of the first axis, m, along a × b of the first two axes."""
    return float(np.cross(axes[1], axes[0]) @ (wrist - places[0]))


def _at_zero(robot: Robot, link: str) -> float:
    """Which side of the first axis is its front: ±1."""
    axes, places = _joints(robot, np.zeros(robot.n), link)
    ahead = _forward(axes, places, places[-2])
    return -1.0 if ahead < 0.0 else 1.0


def _joints(robot: Robot, q: np.ndarray, link: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Axes and places of the turning joints that move a link, base to tip, and last the link's own
    place; world axes."""
    tree, frame = robot.tree, robot.tree.frames[link]
    poses = energy.body_poses(tree, np.asarray(q, dtype=float))
    turning = [i for i in tree.path(frame.body) if tree.bodies[i].kind == "revolute"]
    axes = [np.asarray(poses[i].R @ tree.bodies[i].axis, dtype=float) for i in turning]
    places = [np.asarray(poses[i].p, dtype=float) for i in turning]
    end = poses[frame.body].R @ frame.p + poses[frame.body].p if frame.body >= 0 else frame.p
    return axes, [*places, np.asarray(end, dtype=float)]


def described(robot: Robot, q: np.ndarray, link: str) -> str:
    """The posture of a configuration in words; empty for arms whose postures have no names."""
    return ", ".join(f"{key} {value}" for key, value in features(robot, q, link).items())


def _words(wanted: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{key} {' or '.join(values)}" for key, values in wanted.items())
