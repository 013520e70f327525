"""The plan of a program: its motions and stops in time, one ledger, one certificate, one motion."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armature.cell.program.program import Program
from armature.cell.program.program_ledger import Part, moving, program_ledger, standing
from armature.cell.program.share import EnergyCurve
from armature.cell.program.stages import TILT, Leg, Stop
from armature.dynamics.compiled import pose
from armature.motion.cycle import chained
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import Certificate
from armature.optimize.certificate.obstacles import Clearance, clearance
from armature.optimize.certificate.rows import ALLOWED
from armature.optimize.certificate.solution import Solution
from armature.robot.tip import tip
from armature.seam import worker
from armature.simulate.ledger import Ledger, drive_signals

JOIN = 1e-6  # rad, m, rad/s or m/s between the end of one part and the start of the next


@dataclass(frozen=True, eq=False)
class PlannedLeg:
    """A motion of the program. begin: s.  plan: its Solution.  curve: its energy-time curve.
    share: s that the exact optimum over the curves gave it."""

    leg: Leg
    begin: float
    plan: Solution
    curve: EnergyCurve
    share: float

    @property
    def name(self) -> str:
        """Of its steps."""
        return self.leg.name

    @property
    def duration(self) -> float:
        """s."""
        return self.plan.duration


@dataclass(frozen=True, eq=False)
class PlannedStop:
    """Standing still. begin: s.  wait: s beyond the least time of its pauses."""

    stop: Stop
    begin: float
    wait: float

    @property
    def name(self) -> str:
        """Where it is."""
        return self.stop.name

    @property
    def duration(self) -> float:
        """s."""
        return self.stop.seconds + self.wait

    @property
    def pauses(self) -> list[tuple[Any, float]]:
        """(pause, its duration in s), those that last at all."""
        lasting = [
            (p, p.seconds + (self.wait if k == self.stop.waiting else 0.0))
            for k, p in enumerate(self.stop.pauses)
        ]
        return [(p, s) for p, s in lasting if s > 0.0]


PlannedStage = PlannedLeg | PlannedStop


@dataclass(frozen=True)
class ProgramCertificate:
    """What was checked of a program.

    legs: certificate of each motion, by name.  joints: largest distance, rad or m, between the end
    of one part and the start of the next.  speeds: largest speed where the robot should stand,
    rad/s or m/s.  closing: distance between the cycle's end and its start (0 for an open program).
    heat: (axis, limit, fraction) nearest to a mean-heat limit over the whole cycle; 1 is at it.
    tilt: rad, largest tilt of an upright motion.  clearances: of each motion in the scene, by name.
    """

    legs: Mapping[str, Certificate]
    joints: float
    speeds: float
    closing: float
    heat: tuple[str, str, float] | None
    tilt: float = 0.0
    clearances: Mapping[str, Clearance] | None = None

    @property
    def failed(self) -> tuple[str, ...]:
        """What does not hold, a sentence each."""
        found = [
            f"the motion of {name!r} is not certified" for name, c in self.legs.items() if not c.ok
        ]
        if self.joints > JOIN or self.closing > JOIN:
            found.append(f"parts do not join: {max(self.joints, self.closing):.2e} rad or m apart")
        if self.speeds > JOIN:
            found.append(f"the robot does not stand at a stop: {self.speeds:.2e} rad/s or m/s")
        if self.heat is not None and self.heat[2] > 1 + ALLOWED:
            axis, limit, fraction = self.heat
            found.append(f"{axis} exceeds its {limit} over the cycle: {100 * fraction:.1f} %")
        if self.tilt > 2 * TILT:
            found.append(f"an upright motion tilts by {np.degrees(self.tilt):.3g}°")
        for name, c in (self.clearances or {}).items():
            if not c.free:
                found.append(f"the motion of {name!r} is not free of the scene: {c}")
        return tuple(found)

    @property
    def ok(self) -> bool:
        """Every motion is certified, parts join, stops stand, mean heat over the cycle is
        allowed."""
        return not self.failed

    def __str__(self) -> str:
        lines = [f"certificate of the program: {'passed' if self.ok else 'NOT passed'}"]
        lines.append(
            f"  {len(self.legs)} motions simulated and checked at every instant: "
            f"{sum(c.ok for c in self.legs.values())} certified"
        )
        lines.append(
            f"  parts join within {self.joints:.1e} rad or m, the cycle closes within"
            f" {self.closing:.1e}"
        )
        if self.heat is not None:
            axis, limit, fraction = self.heat
            lines.append(
                f"  over the whole cycle {axis} is at {100 * fraction:.1f} % of its {limit}"
            )
        if self.clearances:
            lines += [f"  {name}: {c}" for name, c in self.clearances.items()]
        return "\n".join([*lines, *(f"  {sentence}" for sentence in self.failed)])


@dataclass(frozen=True, eq=False)
class ProgramPlan:
    """A program in time. stages: motions and stops.  cycle: s.  least_cycle: s, all motions at
    their least time.  even: J, every motion planned alone, the spare time shared out evenly; None
    where the times are bound by other robots.  fast: J, every motion at its least time, waiting for
    the rest.
    notes: what happened on the way.  price: W, what a second more of the cycle would save, the same
    for all motions; negative where it would cost; None where it is not known."""

    program: Program
    stages: tuple[PlannedStage, ...]
    cycle: float
    least_cycle: float
    even: float | None
    fast: float
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    price: float | None = None

    @property
    def robot(self) -> Any:
        """The empty robot."""
        return self.program.robot

    @property
    def legs(self) -> tuple[PlannedLeg, ...]:
        """The motions alone."""
        return tuple(s for s in self.stages if isinstance(s, PlannedLeg))

    @property
    def stops(self) -> tuple[PlannedStop, ...]:
        """The stops alone."""
        return tuple(s for s in self.stages if isinstance(s, PlannedStop))

    @cached_property
    def ledger(self) -> Ledger:
        """Where the energy of a cycle went; mean heat is that of the whole cycle."""
        return program_ledger(self.robot, list(itertools.chain(*self._parts)), self.program.supply)

    @cached_property
    def _parts(self) -> list[list[Part]]:
        return [parts_of(stage, self.program.supply) for stage in self.stages]

    @property
    def energy(self) -> float:
        """Net energy of a cycle from the supply, J."""
        return self.ledger.energy

    @property
    def losses(self) -> float:
        """What became heat, J."""
        return self.ledger.losses

    @property
    def saving(self) -> float:
        """Fraction of energy saved against motions planned alone, the spare time shared out evenly;
        in a cell against motions at their least times, then waiting."""
        other = self.fast if self.even is None else self.even
        return 1.0 - self.energy / other if other > 0 else 0.0

    @property
    def ok(self) -> bool:
        """Whether the certificate holds."""
        return self.certificate.ok

    @cached_property
    def certificate(self) -> ProgramCertificate:
        """Of the whole program. Computed when first asked for."""
        return certify_program(self)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The whole cycle as one motion, with the drives' torques, currents and powers at its
        knots."""
        return chained([_motion(stage) for stage in self.stages if stage.duration > 0.0])

    def energies(self) -> list[float]:
        """Energy of every stage, J, each counted by itself on the supply."""
        given = self.program.supply
        return [program_energy(self.robot, parts, given) if parts else 0.0 for parts in self._parts]

    def report(self, path: Any) -> Any:
        """Write a page (.html) with the time chart, the curves, the ledger and the moving robot."""
        return worker("ProgramPlan.report")(self, path)

    def save(self, folder: Any) -> Any:
        """Write the program's motion, its steps' plans and numbers into a folder; returns it."""
        return worker("ProgramPlan.save")(self, folder)

    def __str__(self) -> str:
        name, T = self.program.name, self.cycle
        head = (
            f"{name}: cycle {T:.4g} s (least {self.least_cycle:.4g} s), {self.energy:.4g} J, losses"
            f" {self.losses:.4g} J"
        )
        rows = [f"{'step':28} {'begin s':>8} {'lasts s':>8} {'energy J':>9}"]
        for stage, energy in zip(self.stages, self.energies()):
            if stage.duration > 0.0:
                rows.append(
                    f"{stage.name:28.28} {stage.begin:8.3f} {stage.duration:8.3f} {energy:9.4g}"
                )
        saved = f"; saved {100 * self.saving:.1f} %"
        fast = f"each motion at its least time, then waiting: {self.fast:.4g} J"
        if self.even is None:
            return "\n".join([head, *rows, fast + saved, *self.notes])
        even = f"each motion alone, time shared evenly: {self.even:.4g} J{saved}"
        return "\n".join([head, *rows, even, fast, *self.notes])


def parts_of(stage: PlannedStage, supply: Any) -> list[Part]:
    """A stage for the ledger."""
    if isinstance(stage, PlannedLeg):
        return [moving(stage.leg.robot, stage.plan.trajectory, supply)]
    return [standing(pause, seconds) for pause, seconds in stage.pauses]


def program_energy(robot: Any, parts: Sequence[Part], supply: Any) -> float:
    """Net energy of parts from the supply, J."""
    from armature.drive import as_supply

    dt = np.concatenate([p.dt for p in parts])
    powers = np.column_stack(
        [np.vstack([p.powers for p in parts]), np.concatenate([p.coils for p in parts])]
    )
    account = as_supply(supply if supply is not None else robot.supply).account(dt, powers)
    return float(np.sum(account.drawn) - np.sum(account.returned))


def _motion(stage: PlannedStage) -> Trajectory:
    """A stage as a motion with its drives' signals."""
    if isinstance(stage, PlannedLeg):
        return drive_signals(stage.leg.robot, stage.plan.trajectory)
    q = np.repeat(stage.stop.q[None], 2, axis=0)
    robot = stage.stop.pauses[0].robot
    still = Trajectory(
        np.array([0.0, stage.duration]), q, 0 * q, 0 * q, robot.joint_names, interpolation="linear"
    )
    return drive_signals(robot, still)


def certify_program(plan: ProgramPlan) -> ProgramCertificate:
    """Check the motions, their joints, the stops, the mean heat of the cycle, and the scene."""
    ends = [_ends(stage) for stage in plan.stages]
    gaps = [np.abs(b[0] - a[1]).max() for a, b in itertools.pairwise(ends)]
    closing = float(np.abs(ends[-1][1] - ends[0][0]).max()) if plan.program.closed else 0.0
    speeds = [float(np.abs(leg.plan.trajectory.v[[0, -1]]).max()) for leg in plan.legs]
    heating = [
        (h.name, limit, fraction)
        for h in plan.ledger.heating
        for limit, fraction in h.fractions.items()
        if limit in ("average heat", "continuous current", "winding temperature")
    ]
    scenes = {
        leg.name: clearance(leg.leg.robot, leg.leg.scene, leg.plan.trajectory)
        for leg in plan.legs
        if leg.leg.scene is not None
    }
    return ProgramCertificate(
        {leg.name: leg.plan.certificate for leg in plan.legs},
        float(max(gaps, default=0.0)),
        max(speeds),
        closing,
        max(heating, key=lambda x: x[2], default=None),
        max((_tilt(leg) for leg in plan.legs if leg.leg.upright), default=0.0),
        scenes or None,
    )


def _ends(stage: PlannedStage) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(stage, PlannedStop):
        return stage.stop.q, stage.stop.q
    return stage.plan.trajectory.q[0], stage.plan.trajectory.q[-1]


def _tilt(leg: PlannedLeg) -> float:
    """Largest angle between the tool axis and the one at the start, rad, at many instants."""
    motion, robot = leg.plan.trajectory, leg.leg.robot
    t = np.linspace(motion.t[0], motion.t[-1], 401)
    axes = np.asarray(pose(robot, motion(t).q, tip(robot, "moves upright")).R)[..., 2]
    return float(np.arccos(np.clip(axes @ axes[0], -1.0, 1.0)).max())
