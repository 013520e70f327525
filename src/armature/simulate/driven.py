"""Simulation with drives: a controller asks for torques, currents or voltages; the drives' limits
bite, windings warm up, the bus rises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.drive import Bus, Drive, Smooth, as_supply
from armature.dynamics import kernels
from armature.dynamics.recursion import recursive
from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.simulate.flows import sources
from armature.simulate.result import Simulation, Status, energy_drift
from armature.spatial.numbers import Number, maximum, minimum
from armature.spatial.vectors import pack

COMMANDS = ("torque", "current", "voltage")
BOUNDLESS = 1e30  # stands for no limit
# how often the rotor's own torque is refined within a stage, begun with the last stage's
# acceleration
ROTOR_ROUNDS = 2


@dataclass(frozen=True, eq=False, repr=False)
class DrivenSimulation(Simulation):
    """A simulated motion with what its m drives did, at N + 1 instants; current, voltage, power of
    each drive are there too.

    temperature: windings, (N+1, m), °C.  bus_voltage: (N+1,), V, NaN without a bus.
    drawn, returned, resistor, supply_loss: (N+1,), J since the start.
    limited: {axis: fraction of the time in which its voltage or current was at a limit}.
    """

    temperature: np.ndarray | None = None
    bus_voltage: np.ndarray | None = None
    drawn: np.ndarray | None = None
    returned: np.ndarray | None = None
    resistor: np.ndarray | None = None
    supply_loss: np.ndarray | None = None
    limited: dict[str, float] | None = None


def simulate_drives(
    robot: Robot,
    controller: Any,
    q0: Any,
    v0: Any,
    duration: float,
    step: float = 1e-3,
    *,
    command: str = "torque",
    supply: Any = None,
    smooth: Smooth = Smooth(1.0, 1e-2, 0.05),  # noqa: B008 (frozen)
) -> DrivenSimulation:
    """Simulate a robot with its drives by RK4 with a fixed step (s).

    controller(t, q, v), or constants, or None (nothing): joint torques (n,) that the drives shall
    give (their own gear and friction are compensated), currents (m,) A or voltages (m,) V, as
    `command` says ("torque", "current", "voltage").  q0, v0: start, (n,).
    supply: as for `ledger`; with a Bus the motors get at most the bus's voltage, which rises while
    they brake.
    smooth: how corners are rounded; smaller values need smaller steps. Inductance is neglected, as
    in the thesis. Windings start at ambient temperature. A joint without a drive gets the torque
    asked for, as from an ideal one, and none in the other modes."""
    if command not in COMMANDS:
        raise ArgumentError(f"command {command!r} is not known; use one of {', '.join(COMMANDS)}")
    if not robot.drives:
        raise ArgumentError(
            f"robot {robot.name!r} has no drives; give it some by robot.with_drives(...)"
        )
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; simulation with drives needs a fixed one"
        )
    if not (np.isfinite(duration) and duration > 0 and step > 0):
        raise ArgumentError(f"duration is {duration} s and step {step} s; give positive numbers")
    run = _Run(
        robot,
        controller,
        command,
        as_supply(supply if supply is not None else robot.supply),
        smooth,
    )
    return run.go(
        _vector("q0", q0, robot.nv),
        _vector("v0", v0, robot.nv),
        max(1, round(duration / step)),
        step,
    )


def _vector(name: str, value: Any, size: int) -> np.ndarray:
    x = np.array(value, dtype=float)
    if x.shape != (size,) or not np.all(np.isfinite(x)):
        raise ArgumentError(f"{name} is {value}; give {size} finite numbers")
    return x


def available_current(
    drive: Drive, wanted: Number, speed: Number, ceiling: Number, temperature: Number
) -> Number:
    """The current that flows when `wanted` A are asked for at a motor speed with `ceiling` volts at
    hand.

    The amplifier cuts at the peak current; then |R i + K Ω| ≤ ceiling holds, also where a back-EMF
    above the ceiling drives a current."""
    most = min(
        drive.motor.peak_current,
        drive.amplifier.peak_current,
        BOUNDLESS,
        (drive.motor.peak_heat / drive.motor.resistance) ** 0.5,
    )
    R, emf = drive.motor.resistance_at(temperature), drive.motor.k_e * speed
    cut = minimum(maximum(wanted, -most), most)
    return minimum(maximum(cut, (-ceiling - emf) / R), (ceiling - emf) / R)


def stage_kernel(robot: Robot, command: str, smooth: Smooth) -> Kernel:
    """(q, v, command, ceilings, temperatures, last accelerations) → accelerations, joint torques,
    currents, voltages, powers, copper heat at 20 °C, iron loss, power of torques and friction."""
    train, n = robot.drivetrain, robot.nv
    m = len(train.drives)

    def plain(
        tree: Tree, q: Any, v: Any, asked: Any, ceiling: Any, temperature: Any, last: Any
    ) -> tuple:
        rounds = ROTOR_ROUNDS if any(d.inertia and not d.gear.lossless for d in train.drives) else 1
        a, result = last, ()
        for _ in range(rounds):
            result = _stage(robot, tree, command, smooth, q, v, asked, ceiling, temperature, a)
            a = result[0]
        return result

    inputs = {
        "q": n,
        "v": n,
        "asked": n if command == "torque" else m,
        "ceiling": m,
        "temperature": m,
        "last": n,
    }
    frictions = tuple(train.frictions)
    return kernels.kernel(
        robot,
        "drives",
        plain,
        inputs,
        command,
        repr(smooth),
        repr(robot.drives),
        repr(frictions),
        sources(__file__),
    )


def _stage(
    robot: Robot,
    tree: Tree,
    command: str,
    smooth: Smooth,
    q: Any,
    v: Any,
    asked: Any,
    ceiling: Any,
    temperature: Any,
    a: Any,
) -> tuple:
    """One evaluation of drives and dynamics, given the accelerations that turn the rotors."""
    train = robot.drivetrain
    velocity, acceleration = train.axis_velocity(v), train.axis_velocity(a)
    torque = train.axis_torque(asked) if command == "torque" else []
    rows = []
    for k, d in enumerate(train.drives):
        speed, R = d.gear.ratio * velocity[k], d.motor.resistance_at(temperature[k])
        if command == "torque":
            wanted = d.flow(
                torque[k], velocity[k], acceleration[k], smooth=smooth, temperature=temperature[k]
            ).current
        else:
            wanted = asked[k] if command == "current" else (asked[k] - d.motor.k_e * speed) / R
        i = available_current(d, wanted, speed, ceiling[k], temperature[k])
        given = d.torque(i, velocity[k], acceleration[k], smooth=smooth, temperature=temperature[k])
        power = d.amplifier.taken(R * i * i + d.motor.torque_constant * i * speed, smooth)
        iron = d.motor.drag(speed, smooth, d.gear.ratio) * speed
        rows.append(
            (given, i, R * i + d.motor.k_e * speed, power, d.motor.resistance * i * i, iron)
        )
    given, current, voltage, power, copper, iron = (list(x) for x in zip(*rows))
    # joint torques: Tᵀ × axis torques, and what is asked for where there is no drive
    tau: list[Any] = [
        (
            sum((row[j] * g for row, g in zip(train.matrix, given) if row[j]), 0.0)
            if driven
            else (asked[j] if command == "torque" else 0.0)
        )
        for j, driven in enumerate(train.driven)
    ]
    net = [t - f for t, f in zip(tau, train.joint_friction(tau, v, smooth))]
    acceleration = recursive.forward_dynamics(tree, q, v, pack(net))
    work = sum((x * y for x, y in zip(net, v)), 0.0)
    return (
        acceleration,
        pack(tau),
        pack(current),
        pack(voltage),
        pack(power),
        pack(copper),
        pack(iron),
        work,
    )


class _Run:
    """The state of a run: motion by RK4; temperatures and bus, which change slowly, step by
    step."""

    def __init__(
        self, robot: Robot, controller: Callable, command: str, supply: Any, smooth: Smooth
    ):
        self.robot, self.command, self.supply = robot, command, supply
        self.drives = robot.drivetrain.drives
        self.kernel = stage_kernel(robot, command, smooth)
        self.size = robot.nv if command == "torque" else len(self.drives)
        held = np.zeros(self.size) if controller is None else controller
        self.controller = controller if callable(controller) else lambda t, q, v: held
        self.status, self.evaluations = Status.COMPLETE, 0
        ambient = [d.motor.thermal.ambient if d.motor.thermal else 20.0 for d in self.drives]
        self.winding, self.housing = np.array(ambient), np.array(ambient)
        self.stored = 0.0
        self.last = np.zeros(robot.nv)

    @property
    def ceiling(self) -> np.ndarray:
        """Voltage that each motor can get, V."""
        bus = self.supply.voltage_at(self.stored) if isinstance(self.supply, Bus) else BOUNDLESS
        return np.array([min(d.amplifier.voltage, bus, BOUNDLESS) for d in self.drives])

    def stage(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """Drives and dynamics at one state."""
        asked = np.asarray(self.controller(t, q, v), dtype=float)
        if asked.shape != (self.size,) or not np.all(np.isfinite(asked)):
            raise ArgumentError(
                f"the controller gave {asked} at t = {t:g} s; expected {self.size} finite numbers"
                f" ({self.command}s)"
            )
        result = self.kernel(q, v, asked, self.ceiling, self.winding, self.last)
        self.last, self.evaluations = np.asarray(result[0]), self.evaluations + 1
        return result

    def go(self, q: np.ndarray, v: np.ndarray, steps: int, h: float) -> DrivenSimulation:
        """All steps."""
        rows, accounts, slow = [], [], []
        for n in range(steps):
            with np.errstate(over="ignore", invalid="ignore"):
                first, used, (q_next, v_next) = self.advance(n * h, q, v, h)
            if not all(np.all(np.isfinite(x)) for x in (q_next, v_next, *used)):
                self.status = Status.DIVERGED
                break
            rows.append((q, v, *first[:5]))
            slow.append((self.winding, self.stored))
            power, copper, iron, work = used
            accounts.append((*self.settle(power, h), float(work)))
            self.warm(copper / h, iron / h, h)
            q, v = q_next, v_next
        rows.append((q, v, *self.stage(len(rows) * h, q, v)[:5]))
        slow.append((self.winding, self.stored))
        return self.result(h, rows, accounts, slow)

    def advance(
        self, t: float, q: np.ndarray, v: np.ndarray, h: float
    ) -> tuple[tuple, list, tuple]:
        """One step of RK4: the first stage, what the step used by its weights (power, copper, iron,
        work; J), and the next state."""
        k1 = self.stage(t, q, v)
        k2 = self.stage(t + h / 2, q + h / 2 * v, v + h / 2 * k1[0])
        k3 = self.stage(t + h / 2, q + h / 2 * v + h * h / 4 * k1[0], v + h / 2 * k2[0])
        k4 = self.stage(t + h, q + h * v + h * h / 2 * k2[0], v + h * k3[0])
        used = [h / 6 * (a + 2 * b + 2 * c + d) for a, b, c, d in list(zip(k1, k2, k3, k4))[4:]]
        state = (
            q + h * v + h * h / 6 * (k1[0] + k2[0] + k3[0]),
            v + h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]),
        )
        return k1, used, state

    def settle(self, energy: np.ndarray, h: float) -> tuple[float, ...]:
        """The supply's accounts of one step: drawn, returned, resistor, lost, J."""
        powers, dt = energy[None] / h, np.array([h])
        if isinstance(self.supply, Bus):
            account = self.supply.account(dt, powers, self.stored)
            self.stored = float(account.stored[0])
        else:
            account = self.supply.account(dt, powers)
        return tuple(float(x[0]) for x in account[:4])

    def warm(self, copper: np.ndarray, iron: np.ndarray, h: float) -> None:
        """Temperatures after a step, by the midpoint rule."""
        winding, housing = self.winding.copy(), self.housing.copy()
        for k, d in enumerate(self.drives):
            if d.motor.thermal is not None:
                rates = d.motor.thermal.rates(winding[k], housing[k], copper[k], iron[k])
                middle = winding[k] + h / 2 * rates[0], housing[k] + h / 2 * rates[1]
                rates = d.motor.thermal.rates(*middle, copper[k], iron[k])
                winding[k], housing[k] = winding[k] + h * rates[0], housing[k] + h * rates[1]
        self.winding, self.housing = winding, housing

    def result(self, h: float, rows: list, accounts: list, slow: list) -> DrivenSimulation:
        """What was collected, as arrays."""
        q, v, a, tau, current, voltage, power = (np.array(x) for x in zip(*rows))
        winding, stored = (np.array(x) for x in zip(*slow))
        totals = np.vstack([np.zeros((1, 5)), np.cumsum(np.reshape(accounts, (-1, 5)), axis=0)]).T
        bus = (
            np.asarray(self.supply.voltage_at(stored))
            if isinstance(self.supply, Bus)
            else np.full(len(q), np.nan)
        )
        ceiling = np.array(
            [np.minimum(d.amplifier.voltage, np.nan_to_num(bus, nan=np.inf)) for d in self.drives]
        ).T
        most = [
            min(
                d.motor.peak_current,
                d.amplifier.peak_current,
                (d.motor.peak_heat / d.motor.resistance) ** 0.5,
            )
            for d in self.drives
        ]
        at_limit = (np.abs(voltage) >= 0.999 * ceiling) | (
            np.abs(current) >= 0.999 * np.array(most)
        )
        limited = dict(zip(self.robot.drivetrain.axis_names, at_limit.mean(0).tolist()))
        books = dict(zip(("drawn", "returned", "resistor", "supply_loss", "work"), totals))
        drift = float(np.max(energy_drift(self.robot, q, v, books["work"])))
        signals = {
            "tau": tau,
            "current": current,
            "voltage": voltage,
            "power": power,
            "temperature": winding,
            "bus_voltage": bus,
        }
        told = {
            "limited": limited,
            "energy_drift": drift,
            "status": self.status,
            "evaluations": self.evaluations,
        }
        return DrivenSimulation(
            h * np.arange(len(q)), q, v, a, self.robot.joint_names, **signals, **books, **told
        )
