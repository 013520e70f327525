"""What robots take from a d.c. bus over a cycle, planned and simulated, and the bus in a cycle that
is repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.cell.program.program_plan import PlannedLeg, ProgramPlan, parts_of
from armature.drive import Bus, stack
from armature.optimize.certificate.certify import servo_rate
from armature.optimize.certificate.replay import LAW, replay
from armature.study.rest import coil_power

CYCLES = 6  # after which a repeated cycle counts as steady


@dataclass(frozen=True, eq=False)
class PowerCycle:
    """Energy that a robot has taken since its cycle began: at times t (M+1,), s, work (M+1,), J;
    straight between them. It goes on in every further cycle."""

    name: str
    t: np.ndarray
    work: np.ndarray

    @property
    def duration(self) -> float:
        """s."""
        return float(self.t[-1])

    def powers(self, edges: np.ndarray, shift: float) -> np.ndarray:
        """Mean powers between the edges (N+1,), s, of a robot that begins `shift` seconds later,
        W."""
        return np.diff(self._taken(edges, shift)) / np.diff(edges)

    def bends(self, edges: np.ndarray, shift: float) -> np.ndarray:
        """(N,) by how much the energy taken differs from a straight line inside each step, J, at
        most: it bends only where this cycle has a time of its own. edges: one cycle from 0."""
        own = np.sort((self.t + shift) % self.duration)
        off = np.abs(self._taken(own, shift) - np.interp(own, edges, self._taken(edges, shift)))
        most = np.zeros(len(edges) - 1)
        np.maximum.at(most, np.clip(np.searchsorted(edges, own) - 1, 0, len(most) - 1), off)
        return most

    def _taken(self, times: np.ndarray, shift: float) -> np.ndarray:
        """Energy taken at times, J, from where a cycle began."""
        whole, part = np.divmod(times - shift, self.duration)
        return whole * self.work[-1] + np.interp(part, self.t, self.work)


@dataclass(frozen=True, eq=False)
class BusCycle:
    """A bus over one steady cycle of N steps. t: (N+1,), s.  powers: (N, robots), W.  drawn: (N,),
    W, of the rectifier.  burnt: (N,), W, in the braking resistor.  stored: (N+1,), J above the
    rectified voltage."""

    t: np.ndarray
    powers: np.ndarray
    drawn: np.ndarray
    burnt: np.ndarray
    stored: np.ndarray

    @property
    def energy(self) -> float:
        """Drawn in a cycle, J."""
        return float(self.drawn @ np.diff(self.t))

    @property
    def peak(self) -> float:
        """Largest power of the rectifier, W."""
        return float(self.drawn.max())

    @property
    def residual(self) -> float:
        """What the ledger of the bus does not explain, J: drawn − burnt − taken by robots −
        stored."""
        dt = np.diff(self.t)
        return float(
            dt @ (self.drawn - self.burnt - self.powers.sum(1)) - (self.stored[-1] - self.stored[0])
        )


def power_cycle(plan: ProgramPlan, name: str = "") -> PowerCycle:
    """What a program's robot takes over its cycle, with the coils of its brakes."""
    parts = [part for stage in plan.stages for part in parts_of(stage, plan.program.supply)]
    dt = np.concatenate([p.dt for p in parts])
    power = np.concatenate([p.powers.sum(1) + p.coils for p in parts])
    t = np.concatenate([[0.0], np.cumsum(dt)])
    return PowerCycle(
        name or plan.program.name,
        t * (plan.cycle / t[-1]),
        np.concatenate([[0.0], np.cumsum(dt * power)]),
    )


def simulated_cycle(plan: ProgramPlan, name: str = "") -> PowerCycle:
    """The same of the robot simulated under the planned currents with a servo, motion by motion."""
    t, work = [np.zeros(1)], [np.zeros(1)]
    for stage in plan.stages:
        if isinstance(stage, PlannedLeg):
            robot, motion = stage.leg.robot, stage.plan.trajectory
            run = replay(robot, motion, servo_rate(motion))
            power = stack(robot.drivetrain.flow(run.tau, run.v, run.a, smooth=LAW), "power").sum(
                -1
            ) + coil_power(robot)
            dt, mean = np.diff(run.t), (power[1:] + power[:-1]) / 2
        else:
            parts = parts_of(stage, plan.program.supply)
            if not parts:
                continue
            dt = np.concatenate([p.dt for p in parts])
            mean = np.concatenate([p.powers.sum(1) + p.coils for p in parts])
        t.append(t[-1][-1] + np.cumsum(dt))
        work.append(work[-1][-1] + np.cumsum(dt * mean))
    times = np.concatenate(t)
    return PowerCycle(
        name or plan.program.name, times * (plan.cycle / times[-1]), np.concatenate(work)
    )


def run_bus(bus: Bus, edges: np.ndarray, powers: np.ndarray) -> BusCycle:
    """The bus in a cycle that is repeated, with mean powers (N, robots) between the edges (N+1,),
    W: from the capacitor's energy at which a cycle ends as it began."""
    stored, drawn, burnt = run_buses(bus, np.diff(edges), powers.sum(1)[:, None])
    return BusCycle(edges, powers, drawn[:, 0], burnt[:, 0], stored[:, 0])


def run_buses(
    bus: Bus, dt: np.ndarray, demands: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """S buses at once, each with its demand: (N, S), W. Returns the stored energies (N+1, S), J,
    and the powers of rectifier and resistor (N, S), W, in the steady cycle; the laws are those of
    `Bus`."""
    steps, count = demands.shape
    level = np.zeros(count)
    stored, drawn, burnt = (
        np.empty((steps + 1, count)),
        np.empty((steps, count)),
        np.empty((steps, count)),
    )
    for _ in range(CYCLES):
        stored[0] = level
        for n in range(steps):
            level = level - dt[n] * demands[n]
            drawn[n] = np.maximum(0.0, -level)  # at U₀ the rectifier gives what is missing
            level = level + drawn[n]
            burnt[n] = np.minimum(
                np.maximum(0.0, level - bus.capacity), _most_burnt(bus, level, dt[n])
            )
            level = level - burnt[n]
            stored[n + 1] = level
        if np.allclose(stored[0], level, rtol=0.0, atol=1e-9 * max(bus.capacity, 1e-9)):
            break
    return stored, drawn / dt[:, None], burnt / dt[:, None]


def _most_burnt(bus: Bus, level: np.ndarray, dt: float) -> np.ndarray | float:
    """What the braking resistor burns in a step at most, J."""
    if not bus.resistance:
        return np.inf
    return (
        (bus.voltage**2 + 2 * level / bus.capacitance)
        / bus.resistance
        * dt
        / (1 + 2 * dt / (bus.resistance * bus.capacitance))
    )
