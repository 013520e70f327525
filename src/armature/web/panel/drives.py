"""The tab in which a joint's limits and its drive are set: from the catalogue, or by typed
numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf, isclose, isfinite
from typing import Any

from armature.drive import Amplifier, Drive, Gear, Motor, catalogue
from armature.errors import ArgumentError
from armature.robot.model import Robot

TYPED = "typed numbers"
LIMITS = {"velocity": "Velocity", "acceleration": "Acceleration", "torque": "Torque"}
# field of a motor → label, of which 0 means none (an infinite limit)
MOTOR = {
    "resistance": "Resistance [Ω]",
    "torque_constant": "Torque constant [N·m/A]",
    "inertia": "Rotor inertia [g·cm²]",
    "peak_current": "Peak current [A]",
    "continuous_current": "Continuous current [A]",
}
GRAM_CM2 = 1e-7  # kg·m²
Act = Callable[[str, Any], None]


@dataclass(frozen=True)
class Choice:
    """A drive as it is chosen on the page.

    motor, gear: parts to begin with.  numbers: of the motor, by the fields of MOTOR, SI units, inf
    where there is no limit; ratio, efficiency (of the gear, None keeps what it has): where they
    differ from those of the parts.  voltage: V, inf for no limit."""

    motor: Motor
    gear: Gear
    numbers: Mapping[str, float]
    ratio: float
    efficiency: float | None
    voltage: float


def drive_of(robot: Robot, joint: str) -> Drive | None:
    """The one drive of a joint; None where it has none, or shares drives with other joints."""
    found = [c for c in robot.drives if joint in c.joints]
    alone = len(found) == 1 and found[0].joints == (joint,) and len(found[0].drives) == 1
    return found[0].drives[0] if alone else None


def with_limits(robot: Robot, joint: str, values: Mapping[str, float]) -> Robot:
    """The robot with other limits of a joint, SI units; inf for none."""
    return robot.with_limits({joint: dict(values)})


def with_drive(robot: Robot, joint: str, choice: Choice) -> Robot:
    """The robot with another drive at a joint; what is not chosen stays as the joint's drive had
    it."""
    old = drive_of(robot, joint)
    if old is None and any(joint in c.joints for c in robot.drives):
        raise ArgumentError(
            f"joint {joint!r} shares its drives with others (a coupling); change them in a YAML"
            " file and open it"
        )
    motor = _changed(choice.motor, choice.numbers)
    known = {} if choice.efficiency is None else {"efficiency": choice.efficiency}
    gear = _changed(choice.gear, {"ratio": choice.ratio, **known})
    amplifier = replace(old.amplifier if old else Amplifier(), voltage=choice.voltage)
    drive = (
        replace(old, motor=motor, gear=gear, amplifier=amplifier)
        if old
        else Drive(motor, gear, amplifier)
    )
    return robot.with_drives({joint: drive})


def _changed(part: Any, numbers: Mapping[str, float]) -> Any:
    """A motor or gear with other numbers, nameless then; itself where none differs by more than the
    page shows."""
    new = {
        name: value
        for name, value in numbers.items()
        if not isclose(getattr(part, name), value, rel_tol=1e-5)
    }
    return replace(part, **new, name="") if new else part


class DriveTab:
    """Widgets of the tab; a change is handed to act("limits" or "drive", (joint, values))."""

    def __init__(self, gui: Any, act: Act):
        self._gui, self._act = gui, act
        self._joint = gui.add_dropdown("Joint", ("…",))
        self._joint.on_update(lambda event: self._show() if event.client is not None else None)
        with gui.add_folder("Limits (0: none)"):
            self._limits = {
                name: self._field(label, 0.0, min=0.0) for name, label in LIMITS.items()
            }
            gui.add_button("Set these limits", icon="check").on_click(lambda _: self._set_limits())
        with gui.add_folder("Drive (0: no limit)"):
            self._widgets()

    def _widgets(self) -> None:
        gui = self._gui
        self._motor = gui.add_dropdown("Motor", (TYPED,))
        self._motor.on_update(
            lambda event: self._fill_motor(event.target.value) if event.client is not None else None
        )
        self._numbers = {name: self._field(label, 0.0, min=0.0) for name, label in MOTOR.items()}
        for number in self._numbers.values():
            number.on_update(lambda event: self._typed(self._motor, event))
        self._gear = gui.add_dropdown("Gear", (TYPED,))
        self._gear.on_update(
            lambda event: self._fill_gear(event.target.value) if event.client is not None else None
        )
        self._ratio = self._field("Gear ratio", 1.0)
        self._efficiency = self._field(
            "Gear efficiency", 1.0, min=0.0, max=1.0, hint="0: as the gear has it (a table)"
        )
        for number in (self._ratio, self._efficiency):
            number.on_update(lambda event: self._typed(self._gear, event))
        self._voltage = self._field("Voltage [V]", 0.0, min=0.0)
        gui.add_button("Set this drive", icon="check").on_click(lambda _: self._set_drive())

    def _field(self, label: str, value: float, **options: Any) -> Any:
        """A field for a number of six decimals; viser would allow only those of the first value."""
        field = self._gui.add_number(label, value, step=0.1, **options)
        field.precision = 6
        return field

    def _typed(self, which: Any, event: Any) -> None:
        """A number was typed: it is no longer the catalogue's part."""
        if event.client is not None:
            which.value = TYPED

    # what is shown -------------------------------------------------------------------------------

    def robot(self, robot: Robot) -> None:
        """Show a robot's joints; the one that was picked stays."""
        self._robot = robot
        kept = self._joint.value
        if tuple(self._joint.options) != robot.joint_names:
            self._joint.options = robot.joint_names
            self._joint.value = kept if kept in robot.joint_names else robot.joint_names[0]
        self._show()

    def _show(self) -> None:
        """The limits and the drive of the picked joint."""
        joint = self._robot.joint(self._joint.value)
        sliding = joint.kind == "prismatic"
        units = ("m/s", "m/s²", "N") if sliding else ("rad/s", "rad/s²", "N·m")
        for (name, label), unit in zip(LIMITS.items(), units):
            self._limits[name].label = f"{label} [{unit}]"
            self._limits[name].value = _shown(getattr(joint.limits, name))
        motors = [name for name, motor in catalogue().motors.items() if sliding or not motor.linear]
        self._motor.options, self._gear.options = (TYPED, *motors), (TYPED, *catalogue().gears)
        drive = drive_of(self._robot, joint.name)
        motor, gear = (
            (drive.motor, drive.gear) if drive else (catalogue().motors[motors[0]], Gear())
        )
        self._numbers_of(motor)
        self._gear_of(gear)
        self._voltage.value = _shown(drive.amplifier.voltage) if drive else 0.0
        self._motor.value = _named(motor, catalogue().motors)
        self._gear.value = _named(gear, catalogue().gears)

    def _numbers_of(self, motor: Motor) -> None:
        self._part = motor
        for name, number in self._numbers.items():
            number.value = _shown(getattr(motor, name) / (GRAM_CM2 if name == "inertia" else 1.0))

    def _gear_of(self, gear: Gear) -> None:
        self._wheels = gear
        self._ratio.value = float(gear.ratio)
        self._efficiency.value = (
            float(gear.efficiency) if isinstance(gear.efficiency, int | float) else 0.0
        )

    def _fill_motor(self, name: str) -> None:
        if name != TYPED:
            self._numbers_of(catalogue().motors[name])

    def _fill_gear(self, name: str) -> None:
        if name != TYPED:
            self._gear_of(catalogue().gears[name])

    # what is set ---------------------------------------------------------------------------------

    def _set_limits(self) -> None:
        values = {name: _limit(number.value) for name, number in self._limits.items()}
        self._act("limits", (self._joint.value, values))

    def _set_drive(self) -> None:
        numbers = {name: self._number(name) for name in MOTOR}
        efficiency = float(self._efficiency.value) or None
        ratio, voltage = float(self._ratio.value), _limit(self._voltage.value)
        choice = Choice(self._part, self._wheels, numbers, ratio, efficiency, voltage)
        self._act("drive", (self._joint.value, choice))

    def _number(self, name: str) -> float:
        value = float(self._numbers[name].value)
        if name == "inertia":
            return value * GRAM_CM2
        return _limit(value) if name.endswith("current") else value


def _named(part: Any, parts: Mapping[str, Any]) -> str:
    """The catalogue's name of a motor or gear that is exactly one of its parts."""
    return part.name if parts.get(part.name) == part else TYPED


def _shown(value: float) -> float:
    """A limit as a number on the page: 0 for none, six digits else."""
    return float(f"{value:.6g}") if isfinite(value) else 0.0


def _limit(value: float) -> float:
    return float(value) or inf
