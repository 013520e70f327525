"""The tab in which the tool centre point and the payload's centre and inertia are set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.robot import frames
from armature.robot.model import Joint, Robot
from armature.robot.shape import ZERO, Vec3
from armature.robot.tip import hands, is_tool

NAME = "tcp"
MILLIMETRE = 1e-3  # m
GRAM_M2 = 1e-3  # kg·m²
Act = Callable[[str, Any], None]


def tool_of(robot: Robot) -> Joint | None:
    """The joint that holds the robot's tool centre point; None where none was given."""
    return next((joint for joint in reversed(robot.joints) if is_tool(joint)), None)


def carriers(robot: Robot) -> tuple[str, ...]:
    """The links that may hold a tool: that which does, or the hand, and all that is welded to
    it."""
    tool = tool_of(robot)
    found = [tool.parent if tool else hands(robot)[0]]
    welds = [joint for joint in robot.joints if joint.kind == "fixed" and not is_tool(joint)]
    for name in found:
        beside = [
            j.parent if j.child == name else j.child for j in welds if name in (j.parent, j.child)
        ]
        found += [other for other in beside if other not in found]
    return tuple(found)


def with_tool(robot: Robot, link: str, position: Sequence[float], rpy: Sequence[float]) -> Robot:
    """The robot with its tool centre point at a position (m) and roll, pitch, yaw (rad) in a link's
    frame; one that it has is moved."""
    old = tool_of(robot)
    if old is None:
        names = {*robot.link_names, *(joint.name for joint in robot.joints)}
        name = next(name for k in range(len(names) + 2) if (name := NAME + "_" * k) not in names)
        return robot.with_tool(position, rpy, link, name)
    x, y, z = (float(value) for value in position)
    new = replace(
        old,
        parent=link,
        position=(x, y, z),
        rotation=frames.from_rpy(*(float(value) for value in rpy)),
    )
    return replace(robot, joints=tuple(new if joint is old else joint for joint in robot.joints))


def without_tool(robot: Robot) -> Robot:
    """The robot without its tool centre point; itself where it has none."""
    tool = tool_of(robot)
    if tool is None:
        return robot
    if robot.link(tool.child).mass > 0.0:
        raise ArgumentError(
            f"the tool {tool.child!r} carries a payload of the robot's file: change it there"
        )
    links = tuple(link for link in robot.links if link.name != tool.child)
    return replace(
        robot, links=links, joints=tuple(joint for joint in robot.joints if joint is not tool)
    )


class ToolTab:
    """Widgets of the tab; a change is handed to act("tool", (link, position, rpy) or None) or
    act("load", (centre, inertia))."""

    def __init__(self, gui: Any, act: Act):
        self._gui, self._act = gui, act
        with gui.add_folder("Tool centre point"):
            self._link = gui.add_dropdown(
                "On link", ("…",), hint="the link whose frame it is measured in"
            )
            self._position = self._three("x, y, z [mm]", 1.0)
            self._rpy = self._three("roll, pitch, yaw [°]", 1.0)
            gui.add_button("Set this tool", icon="check").on_click(lambda _: self._set_tool())
            self._off = gui.add_button("Take the tool off", icon="x", visible=False)
            self._off.on_click(lambda _: act("tool", None))
        with gui.add_folder("Payload"):
            self._centre = self._three(
                "Centre [mm]",
                1.0,
                hint="in the frame of the tool, or of the hand where there is no tool",
            )
            self._inertia = self._three(
                "Inertia [g·m²]", 0.1, hint="xx, yy, zz about the centre; 1 g·m² is 0.001 kg·m²"
            )
            hint = "the mass is set above"
            gui.add_button("Set this payload", icon="check", hint=hint).on_click(
                lambda _: self._set_payload()
            )

    def _three(self, label: str, step: float, **options: Any) -> Any:
        """Three numbers of four decimals."""
        field = self._gui.add_vector3(label, ZERO, step=step, **options)
        field.precision = 4
        return field

    def robot(self, robot: Robot) -> None:
        """Show a robot's tool."""
        tool = tool_of(robot)
        self._link.options = carriers(robot)
        self._link.value = self._link.options[0]
        self._position.value = _shown(tool.position if tool else ZERO, 1 / MILLIMETRE)
        self._rpy.value = _shown(frames.to_rpy(tool.rotation) if tool else ZERO, 180.0 / np.pi)
        self._off.visible = tool is not None

    def payload(self, centre: Vec3, inertia: Vec3) -> None:
        """Show the payload's centre (m) and inertia (kg·m²)."""
        self._centre.value, self._inertia.value = (
            _shown(centre, 1 / MILLIMETRE),
            _shown(inertia, 1 / GRAM_M2),
        )

    def _set_tool(self) -> None:
        place, turn = (
            _scaled(self._position.value, MILLIMETRE),
            _scaled(self._rpy.value, np.pi / 180.0),
        )
        self._act("tool", (self._link.value, place, turn))

    def _set_payload(self) -> None:
        self._act(
            "load", (_scaled(self._centre.value, MILLIMETRE), _scaled(self._inertia.value, GRAM_M2))
        )


def _scaled(values: Sequence[float], factor: float) -> Vec3:
    x, y, z = (float(value) * factor for value in values)
    return x, y, z


def _shown(values: Sequence[float], factor: float) -> Vec3:
    """As the page shows it, to four decimals."""
    x, y, z = (round(float(value) * factor, 4) + 0.0 for value in values)
    return x, y, z
