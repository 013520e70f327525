"""The hand of a robot: frames welded to the end of a chain do not make it a tree."""

import pytest

from armature.errors import ArgumentError
from armature.robot.model import Joint, Link, Robot


def chain(*frames: tuple[str, str]) -> Robot:
    """base – one – two, and massless frames welded to links: (name, carrier)."""
    links = (Link("base"), Link("one", 1.0), Link("two", 1.0), *(Link(name) for name, _ in frames))
    joints = (
        Joint("first", "revolute", "base", "one"),
        Joint("second", "revolute", "one", "two"),
        *(Joint(f"weld {name}", "fixed", carrier, name) for name, carrier in frames),
    )
    return Robot("chain", links, joints, "base")


@pytest.mark.parametrize(
    "frames, hand",
    [
        ((), "two"),
        ((("mark", "base"),), "two"),
        ((("mark", "base"), ("camera", "two")), "two"),
        ((("ee", "two"), ("camera", "two")), "ee"),
        ((("sucker", "two"), ("camera", "two")), "sucker"),
        ((("a", "two"), ("b", "two")), "two"),
        ((("hand", "two"), ("arm_tcp", "hand"), ("ft_sensor", "two")), "arm_tcp"),
        ((("flange", "two"), ("LeftToolFrame", "flange")), "LeftToolFrame"),
        ((("ee", "two"), ("tool0", "two"), ("mark", "base")), "tool0"),
    ],
)
def test_frames_welded_to_a_chain_leave_it_a_chain(frames, hand):
    robot = chain(*frames)
    assert robot.tip == hand
    assert robot.with_payload(1.0).link(hand).mass == pytest.approx(robot.link(hand).mass + 1.0)


@pytest.mark.parametrize("name", ["tcp", "nozzle"])
@pytest.mark.parametrize(
    "frames", [(), (("tool0", "two"),), (("flange", "two"), ("my_tcp", "flange"))]
)
def test_tool_that_the_user_gives_is_the_hand_whatever_frames_the_file_names(frames, name):
    assert chain(*frames).with_tool((0.0, 0.0, 0.1), name=name).tip == name


def test_moving_links_that_branch_must_be_told_apart():
    robot = chain()
    fork = Robot(
        "fork",
        (*robot.links, Link("three", 1.0)),
        (*robot.joints, Joint("third", "revolute", "one", "three")),
        "base",
    )
    with pytest.raises(ArgumentError, match=r"2 arms.*two, three"):
        fork.tip  # noqa: B018  the property raises


def tree(*branches: tuple[str, int], trunk: int = 0, fingers: int = 0) -> Robot:
    """Chains of revolute joints side by side on a trunk: (name, joints); fingers: two-jointed ones
    at the end of the first."""
    links, joints = [Link("base")], []

    def grow(name: str, count: int, parent: str) -> str:
        for k in range(count):
            links.append(Link(f"{name}{k}", 1.0))
            joints.append(Joint(f"j_{name}{k}", "revolute", parent, f"{name}{k}"))
            parent = f"{name}{k}"
        return parent

    top = grow("trunk", trunk, "base")
    ends = [grow(name, count, top) for name, count in branches]
    for k in range(fingers):
        grow(f"digit{k}_", 2, ends[0])
    return Robot("tree", tuple(links), tuple(joints), "base")


@pytest.mark.parametrize(
    "robot, hand",
    [
        (tree(("head", 1), ("arm", 7)), "arm6"),
        (tree(("head_pan", 4), ("arm", 3)), "arm2"),
        (tree(("mast", 2), ("arm", 6), trunk=1), "arm5"),
        (tree(("arm", 6), fingers=3), "arm5"),
        (tree(("wheel", 1), ("wheel_b", 1), ("arm", 5)), "arm4"),
    ],
)
def test_the_hand_is_at_the_end_of_the_longest_actuated_chain(robot, hand):
    assert robot.tip == hand


def test_several_arms_ask():
    for robot in (
        tree(("left", 6), ("right", 6)),
        tree(("left", 6), ("right", 5), trunk=2, fingers=2),
    ):
        with pytest.raises(ArgumentError, match=r"2 arms.*left5, right"):
            robot.with_payload(1.0)


def test_a_payload_on_what_does_not_move_is_refused():
    robot = chain(("mark", "base"))
    for link in ("base", "mark"):
        with pytest.raises(ArgumentError, match=f"no joint moves the link '{link}'.*e.g. two"):
            robot.with_payload(1.0, link=link)
