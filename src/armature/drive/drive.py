"""The drive of one axis: motor, gear, amplifier, friction and brake as one function from joint
torque to electrical power."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from armature.drive.amplifier import Amplifier
from armature.drive.brake import Brake
from armature.drive.component import Component
from armature.drive.corner import EXACT, Smooth, rounded, undo_direction
from armature.drive.flow import Flow
from armature.drive.friction import Friction
from armature.drive.gear import Gear
from armature.drive.limit import Limit, two_sided
from armature.drive.motor import Motor
from armature.drive.thermal import REFERENCE_TEMPERATURE
from armature.errors import RobotError
from armature.spatial.numbers import Number

NO_GEAR, IDEAL_AMPLIFIER, NO_FRICTION = Gear(), Amplifier(), Friction()
LOSSES = ("copper", "iron", "friction", "gear", "amplifier")


@dataclass(frozen=True)
class Drive(Component):
    """A motor with what stands between the supply and the joint. Its functions take floats, complex
    numbers, arrays or symbols."""

    motor: Motor
    gear: Gear = NO_GEAR
    amplifier: Amplifier = IDEAL_AMPLIFIER
    friction: Friction = NO_FRICTION
    brake: Brake | None = None
    name: str = ""

    def __post_init__(self) -> None:
        for part, kind in (
            ("motor", Motor),
            ("gear", Gear),
            ("amplifier", Amplifier),
            ("friction", Friction),
        ):
            if not isinstance(getattr(self, part), kind):
                raise RobotError(
                    f"{self.label}: {part} = {getattr(self, part)!r} is not a {kind.__name__}; give"
                    f" an arm.{kind.__name__}(...)"
                )

    @property
    def constant(self) -> float:
        """K = ratio × torque constant: joint torque per ampere without losses, N·m/A (N/A), signed;
        the thesis's K_m/Red."""
        return self.gear.ratio * self.motor.torque_constant

    @property
    def inertia(self) -> float:
        """Rotor and gear seen at the joint: (J_motor + J_gear) ratio², kg·m² (kg)."""
        return (self.motor.inertia + self.gear.inertia) * self.gear.ratio**2

    def flow(
        self,
        torque: Number,
        velocity: Number,
        acceleration: Number = 0.0,
        *,
        smooth: Smooth = EXACT,
        temperature: Number = REFERENCE_TEMPERATURE,
        sides: tuple[Number, Number] | None = None,
    ) -> Flow:
        """Currents, voltages, powers and losses for a joint torque (rigid bodies and rotors) at a
        joint velocity; [20], [31], [32].

        torque: N·m (N).  velocity: rad/s (m/s).
        acceleration: rad/s² (m/s²): what turns the rotor does not pass the gear; left out, all of
        the torque does.
        smooth: how corners are rounded.  temperature: of the winding, °C.
        sides: with `smooth.torque`, the torque if the joint moves forward, and backward.
        """
        motor, gear = self.motor, self.gear
        R = motor.resistance_at(temperature)
        rotor = self.inertia * acceleration
        speed = gear.ratio * velocity
        if rounded(smooth.torque):
            torque, drag, carried, effort, iron = self._blend(
                sides or (torque, torque), velocity, rotor, smooth
            )
        else:
            # the gear carries the load and its friction; the rotor's own acceleration is paid
            # before the gear
            drag = self.friction.torque(velocity, torque, smooth)
            carried = torque + drag - rotor
            # [20]: motor torque seen at the joint, by direction of power flow
            effort = gear.effort(carried, velocity, smooth, R, self.constant)
            iron = motor.drag(speed, smooth, gear.ratio)
        # S = K i, [31]: v = R i + K Ω
        current = ((effort + rotor) / gear.ratio + iron) / motor.torque_constant
        copper = R * current * current
        terminal = copper + motor.torque_constant * current * speed
        power = self.amplifier.taken(terminal, smooth)
        return Flow(
            torque=torque,
            velocity=velocity,
            gear_torque=carried,
            motor_speed=speed,
            current=current,
            voltage=R * current + motor.k_e * speed,
            mechanical=torque * velocity,
            friction=drag * velocity,
            gear=(effort - carried) * velocity,
            iron=iron * speed,
            copper=copper,
            amplifier=power - terminal,
            terminal=terminal,
            power=power,
        )

    def _blend(
        self, sides: tuple[Number, Number], velocity: Number, rotor: Number, smooth: Smooth
    ) -> list[Number]:
        """(torque, drag, carried, effort, iron) between the laws of both directions of motion: ½(x₊
        + x₋) + ½ s (x₊ − x₋), s the rounded
        sign of the velocity. sides: the torque if the joint moves forward, and backward; joint
        friction differs."""
        laws = []
        for sign, torque in zip((1.0, -1.0), sides):
            side = replace(smooth, direction=sign, blend=None)
            drag = self.friction.torque(velocity, torque, side)
            carried = torque + drag - rotor
            effort = self.gear.one_sided(carried, velocity, sign, side)
            laws.append(
                (
                    torque,
                    drag,
                    carried,
                    effort,
                    self.motor.drag(self.gear.ratio * velocity, side, self.gear.ratio),
                )
            )
        s = smooth.side(velocity)
        return [(x + y) / 2 + s * (x - y) / 2 for x, y in zip(*laws)]

    def torque(
        self,
        current: Number,
        velocity: Number,
        acceleration: Number = 0.0,
        *,
        smooth: Smooth = EXACT,
        temperature: Number = REFERENCE_TEMPERATURE,
    ) -> Number:
        """Forwards: torque (N·m, N) that a current gives to the rigid bodies and rotors at a joint
        velocity.

        The inverse of `flow(...).current` while the joint moves, with the same `smooth` (the
        thesis's rule is smoothed by itself)."""
        motor, gear, friction = self.motor, self.gear, self.friction
        iron = motor.drag(gear.ratio * velocity, smooth, gear.ratio)
        rotor = self.inertia * acceleration
        effort = gear.ratio * (motor.torque_constant * current - iron) - rotor
        carried = gear.delivered(
            effort, velocity, smooth, motor.resistance_at(temperature), self.constant
        )
        free = carried + rotor - friction.torque(velocity, 0.0, smooth)
        # load friction takes μ|torque| against the motion: torque (1 + μ sign(torque · velocity)) =
        # free
        return (
            undo_direction(free, velocity, 1 + friction.load, 1 - friction.load, smooth.power)
            if friction.load
            else free
        )

    def holding_current(self, torque: float) -> float:
        """The least current that holds a load torque at standstill, A: friction, gear and iron
        help."""
        carried = max(0.0, abs(torque) - self.friction.holding(torque))
        least = min(abs(x) for x in self.gear.holding_band(carried))
        shaft = max(0.0, least / abs(self.gear.ratio) - self.motor.iron_torque)
        return shaft / self.motor.torque_constant * (1 if torque * self.gear.ratio >= 0 else -1)

    def holding_power(self, torque: float, temperature: float = REFERENCE_TEMPERATURE) -> float:
        """Power that holding a load torque by the motor takes, W."""
        return float(
            self.amplifier.taken(
                self.motor.resistance_at(temperature) * self.holding_current(torque) ** 2
            )
        )

    def limits(self, finite: bool = True) -> tuple[Limit, ...]:
        """All finite limits of this drive, each as g(flow) ≤ 0 with its unit and scale; planner and
        certificate read the same list.  finite: False gives the infinite ones too."""
        motor, gear, amplifier = self.motor, self.gear, self.amplifier
        candidates = (
            *two_sided("voltage", "voltage", amplifier.voltage, "V"),  # [33]
            *two_sided(
                "peak current", "current", min(motor.peak_current, amplifier.peak_current), "A"
            ),
            Limit("peak heat", "copper", motor.peak_heat, "W"),  # [34]
            *two_sided(
                "motor speed", "motor_speed", min(motor.maximum_speed, gear.maximum_speed), "rad/s"
            ),
            *two_sided("gear torque", "gear_torque", gear.maximum_torque, "N·m"),
            Limit("average heat", "copper", motor.average_heat, "W", mean=True),  # [35]
            Limit(
                "continuous current",
                "current_squared",
                min(motor.continuous_current, amplifier.continuous_current) ** 2,
                "A²",
                mean=True,
            ),
        )
        return tuple(limit for limit in candidates if limit.bound < inf or not finite)
