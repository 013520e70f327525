"""What docs/robots.md shows must load."""

import re
from pathlib import Path

import pytest

from armature.robot.format.schema import LinkPart
from armature.robot.load.yaml import robot_from_yaml

PAGE = (Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")
BLOCKS = [
    text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "links:" in text
]  # others are limits


@pytest.mark.parametrize("text", BLOCKS, ids=range(len(BLOCKS)))
def test_the_pages_yaml_is_a_robot(text):
    robot = robot_from_yaml(text, "docs/robots.md")
    assert robot.n >= 2 and robot_from_yaml(robot.to_yaml(), "again") == robot


def test_the_page_names_every_key_of_an_entry():
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    assert BLOCKS and not [key for key in LinkPart.model_fields if f"`{key}`" not in table]
