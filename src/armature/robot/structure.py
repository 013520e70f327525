"""Do links and joints form one tree? What keeps them from it, and their order, base to tips. No
recursion: chains may be long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from armature.robot.guard import suggestion
from armature.robot.parts import Joint, Link

MOST_LINKS = 20_000
SLIDING_OR_TURNING = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True)
class Problem:
    """Something wrong with a robot.

    element: "link" or "joint".  index: its place in robot.links or robot.joints.  fatal: it cannot
    be a robot."""

    element: str
    index: int
    name: str
    message: str
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.element} {self.name!r}: {self.message}"


def problems(links: Sequence[Link], joints: Sequence[Joint]) -> list[Problem]:
    """Everything that keeps links and joints from being one tree with resolved names; empty when
    they are one."""
    found = [*_too_many(links), *_duplicates("link", links), *_duplicates("joint", joints)]
    if found:
        return found
    found = [*_unresolved(links, joints), *_two_parents(joints)]
    return found or _loops_and_roots(links, joints) or _mimic_problems(joints)


def _too_many(links: Sequence[Link]) -> list[Problem]:
    if not links:
        return [Problem("link", 0, "", "the robot has no link; give at least one", True)]
    if len(links) > MOST_LINKS:
        last = links[MOST_LINKS]
        return [
            Problem(
                "link",
                MOST_LINKS,
                last.name,
                f"the robot has {len(links)} links; at most {MOST_LINKS} are taken",
                True,
            )
        ]
    return []


def _duplicates(element: str, items: Sequence[Link] | Sequence[Joint]) -> Iterable[Problem]:
    seen: set[str] = set()
    for i, item in enumerate(items):
        if item.name in seen:
            yield Problem(
                element,
                i,
                item.name,
                f"this name is taken by another {element}; rename one of them",
                True,
            )
        seen.add(item.name)


def _unresolved(links: Sequence[Link], joints: Sequence[Joint]) -> Iterable[Problem]:
    names = {link.name for link in links}
    for i, joint in enumerate(joints):
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in names:
                hint = suggestion(link, [x.name for x in links])
                yield Problem(
                    "joint", i, joint.name, f"its {role} link {link!r} does not exist; {hint}", True
                )
                return


def _two_parents(joints: Sequence[Joint]) -> Iterable[Problem]:
    seen: dict[str, str] = {}
    for i, joint in enumerate(joints):
        if joint.child in seen:
            message = (
                f"link {joint.child!r} is already the child of joint {seen[joint.child]!r}; remove"
                " one of the joints"
            )
            yield Problem("joint", i, joint.name, message, True)
        seen.setdefault(joint.child, joint.name)


def _loops_and_roots(links: Sequence[Link], joints: Sequence[Joint]) -> list[Problem]:
    parent = {j.child: j for j in joints}
    roots = [(i, link.name) for i, link in enumerate(links) if link.name not in parent]
    if len(roots) > 1:
        names = ", ".join(name for _, name in roots[:8]) + (", …" if len(roots) > 8 else "")
        message = (
            f"{len(roots)} links have no parent ({names}); a robot is one tree: connect them by"
            " joints, or remove the spare ones"
        )
        return [Problem("link", roots[1][0], roots[1][1], message, True)]
    # with one root, a link is either below it or below a loop: walk up once, marking
    fine = {name for _, name in roots}
    for link in links:
        trail: dict[str, None] = {}
        at = link.name
        while at not in fine and at not in trail:
            trail[at] = None
            at = parent[at].parent
        if at not in fine:
            loop = [*list(trail)[list(trail).index(at) :], at][::-1]
            i = next(i for i, j in enumerate(joints) if j is parent[at])
            shown = " -> ".join(loop[:8]) + (" -> …" if len(loop) > 8 else "")
            message = f"the links form a loop ({shown}); a tree has none: remove one of its joints"
            return [Problem("joint", i, joints[i].name, message, True)]
        fine.update(trail)
    return []


def _mimic_problems(joints: Sequence[Joint]) -> list[Problem]:
    by_name = {j.name: j for j in joints}
    for i, joint in enumerate(joints):
        if joint.mimic is None:
            continue
        master = by_name.get(joint.mimic.joint)
        if master is None:
            hint = suggestion(joint.mimic.joint, list(by_name))
            return [
                Problem(
                    "joint",
                    i,
                    joint.name,
                    f"it mimics the joint {joint.mimic.joint!r}, which does not exist; {hint}",
                    True,
                )
            ]
        if joint.kind not in SLIDING_OR_TURNING or master.kind not in SLIDING_OR_TURNING:
            message = (
                f"a {joint.kind} joint cannot mimic a {master.kind} one ({master.name!r}); both"
                " must turn or slide"
            )
            return [Problem("joint", i, joint.name, message, True)]
    return _mimic_cycles(joints, by_name)


def _mimic_cycles(joints: Sequence[Joint], by_name: dict[str, Joint]) -> list[Problem]:
    fine = {j.name for j in joints if j.mimic is None}
    for i, joint in enumerate(joints):
        trail: dict[str, None] = {}
        at = joint.name
        while at not in fine and at not in trail:
            trail[at] = None
            at = by_name[at].mimic.joint  # type: ignore[union-attr]
        if at not in fine:
            shown = " -> ".join([*list(trail)[:8], at])
            return [
                Problem(
                    "joint",
                    i,
                    joint.name,
                    f"the joints mimic each other in a circle ({shown}); one of them must be free",
                    True,
                )
            ]
        fine.update(trail)
    return []


def base_to_tip(base: str, joints: Sequence[Joint]) -> tuple[Joint, ...]:
    """The joints of a tree from the base to the tips, branch by branch, in the given order within a
    branching."""
    below: dict[str, list[Joint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    ordered: list[Joint] = []
    stack = below.get(base, [])[::-1]
    while stack:
        joint = stack.pop()
        ordered.append(joint)
        stack.extend(reversed(below.get(joint.child, [])))
    return tuple(ordered)
