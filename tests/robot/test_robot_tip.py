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
        ((("mark", "base"), ("camera", "two")), "camera"),
        ((("ee", "two"), ("camera", "two")), "two"),
        ((("ee", "two"), ("tool0", "two"), ("mark", "base")), "tool0"),
    ],
)
def test_frames_welded_to_a_chain_leave_it_a_chain(frames, hand):
    robot = chain(*frames)
    assert robot.tip == hand
    assert robot.with_payload(1.0).link(hand).mass == pytest.approx(robot.link(hand).mass + 1.0)


def test_moving_links_that_branch_must_be_told_apart():
    robot = chain()
    fork = Robot("fork", (*robot.links, Link("three", 1.0)), (*robot.joints, Joint("third", "revolute", "one", "three")), "base")
    with pytest.raises(ArgumentError, match="2 tips"):
        fork.tip  # noqa: B018  the property raises
