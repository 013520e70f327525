"""What a planner returns: the motion, what it costs, what it saves, and its proof."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from armature.dynamics.forces.stand_in import has_stand_ins
from armature.memo import PLACE
from armature.motion.trajectory import Trajectory
from armature.notebook import plan_html
from armature.optimize.certificate.arrival import Target
from armature.optimize.certificate.certify import Certificate, certify
from armature.optimize.certificate.peaks import Peak, peaks
from armature.optimize.certificate.self_collision import self_collisions
from armature.optimize.problem.result import Result, Status
from armature.robot.check import mass_doubt
from armature.robot.model import Robot
from armature.scene.scene import Scene
from armature.seam import worker
from armature.simulate.ledger import Ledger, ledger
from armature.simulate.yearly import Yearly, yearly

NOTHING = 5e-3  # fraction saved or lost that is not worth a headline


@dataclass(frozen=True)
class Diagnosis:
    """Why there is no plan, and what would make one possible: a sentence, and the numbers in it.

    limit, joint, time, amount: the limit that cannot be met, by how much (its own unit).  remedy:
    what to change.
    shortest_duration: s, where more time is what is missing.  greatest_payload: kg that can be
    held, where the payload is too heavy;
    excess_payload: kg that must come off.  pause: s without current after every cycle, where the
    motors exceed their mean (thermal) limit.
    passing: s, passing times of via points that are possible, where the task gave some.
    """

    sentence: str
    limit: str = ""
    joint: str = ""
    time: float | None = None
    amount: float = 0.0
    remedy: str = ""
    shortest_duration: float | None = None
    excess_payload: float | None = None
    greatest_payload: float | None = None
    pause: float | None = None
    passing: tuple[float, ...] = ()

    @property
    def known(self) -> bool:
        """Whether a number is known that would make the task possible."""
        return any((self.shortest_duration, self.greatest_payload, self.pause, self.passing))

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()


@dataclass(frozen=True)
class Baseline:
    """The ordinary motion to compare with. trajectory: the joint cubic; ledger: its energy.  name:
    what it is.

    feasible: whether it keeps all limits; where the one of the same duration does not, this is the
    shortest one that does (`note` says so)."""

    trajectory: Trajectory
    ledger: Ledger
    feasible: bool
    note: str = ""
    name: str = "joint cubic"

    def __repr__(self) -> str:
        return (
            f"<Baseline, {self.name}: {self.trajectory.duration:.4g} s, {self.ledger.energy:.4g} J"
            " drawn>"
        )


def doubts(robot: Robot) -> tuple[str, ...]:
    """Sentences on what makes the energies of a robot's motions mean little or nothing."""
    stand_ins = (
        "counted with stand-in motors: energies are theirs, not your robot's"
        if has_stand_ins(robot)
        else ""
    )
    return tuple(filter(None, (mass_doubt(robot), stand_ins)))


def counted(returns: bool) -> str:
    """What a saving is of. returns: whether the supply takes energy back."""
    return "losses" if returns else "energy drawn"


NOT_COUNTED = "energy not counted: no drives"


def against(saving: float, of: str) -> str:
    """A saving (a fraction) in words. of: what is saved, "losses" or "energy drawn"."""
    if abs(saving) < NOTHING:
        return (
            f"the {of} is about the same"
            if of == "energy drawn"
            else f"the {of} are about the same"
        )
    return (
        f"saved {100 * saving:.1f} % of the {of}"
        if saving > 0.0
        else f"{-100 * saving:.1f} % more {of}"
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """A planned motion.

    status: how the search ended, a sentence.  trajectory: with torques, currents, voltages and
    powers at its knots.
    compare: the baseline, or how to make it.  account: the ledger where it is known already.
    result: the solver's own account.  diagnosis: why it failed, None when it did not.
    notes: what happened on the way, e.g. that the knots were doubled.
    targets: where the motion has to be, and how fast, at which times; part of its certificate.
    scene: the obstacles that it was planned around, if any.
    problem: the solver's problem that `result` is the optimum of, and task: the move as it was
    asked for; for sensitivities, None where there are none.
    """

    robot: Robot
    supply: Any
    status: Status
    trajectory: Trajectory
    compare: Callable[[], Baseline] | Baseline | None
    account: Ledger | None
    result: Result
    diagnosis: Diagnosis | None = None
    notes: tuple[str, ...] = ()
    seconds: float = field(default=0.0)
    targets: tuple[Target, ...] = ()
    scene: Scene | None = None
    problem: Any = field(default=None, repr=False)
    task: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # how to make the baseline belongs to this process: the baseline itself travels; what was
        # computed of the problem stays
        problem = None if self.problem is None else replace(self.problem)
        kept = {key: value for key, value in self.__dict__.items() if key != PLACE}
        return {**kept, "compare": self.baseline, "problem": problem}

    @cached_property
    def ledger(self) -> Ledger:
        """Where the energy went, joint by joint, and how warm the motors get. Made when first asked
        for."""
        return self.account or ledger(self.robot, self.trajectory, self.supply)

    @cached_property
    def baseline(self) -> Baseline | None:
        """The ordinary motion to compare with: the joint cubic. Made when first asked for."""
        return self.compare() if callable(self.compare) else self.compare

    @property
    def ok(self) -> bool:
        """An optimum that keeps all limits."""
        return self.status.ok and self.diagnosis is None

    @property
    def duration(self) -> float:
        """s."""
        return self.trajectory.duration

    @property
    def iterations(self) -> tuple:
        """The record of the last search, which found this motion; a plan may take many, and a
        `callback` sees the iterations of all."""
        return self.result.iterations

    @property
    def energy(self) -> float:
        """Net electrical energy drawn from the supply, J; NaN where the robot has no drives and
        none is counted."""
        return self.ledger.energy if self.robot.drives else math.nan

    @property
    def losses(self) -> float:
        """What became heat, J; NaN where the robot has no drives and none is counted."""
        return self.ledger.losses if self.robot.drives else math.nan

    @property
    def saving(self) -> float | None:
        """Fraction saved against the baseline: of the losses with a supply that takes energy back,
        else of the energy drawn."""
        if self.diagnosis is not None or not self.robot.drives or self.baseline is None:
            return None
        mine, other = (
            (self.losses, self.baseline.ledger.losses)
            if self.returns
            else (self.energy, self.baseline.ledger.energy)
        )
        return 1.0 - mine / other if other > 0 else None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why its energies may mean nothing: masses that are placeholders, motors that are
        stand-ins."""
        return doubts(self.robot)

    @cached_property
    def peaks(self) -> tuple[Peak, ...]:
        """Greatest torque, acceleration, jerk and current, each of the joint where it grows most
        against the baseline's."""
        return peaks(self)

    @property
    def returns(self) -> bool:
        """Whether the supply takes energy back."""
        return getattr(self.supply, "efficiency", 0.0) > 0.0

    @cached_property
    def certificate(self) -> Certificate:
        """The proof: limits at every instant, arrival, the motion simulated under its currents.
        Computed when first asked for."""
        said = [self.robot.floor.words] if self.robot.floor is not None else []
        said += (
            [str(touch) for touch in self_collisions(self.robot, self.trajectory)[:1]]
            if self.ok
            else []
        )
        return replace(
            certify(self.robot, self.trajectory, self.supply, (*self.notes, *said), self.targets),
            found=self.ok,
        )

    def report(self, path: Any, **options: Any) -> Any:
        """Write a page (HTML, PDF or PNG by the ending) with the figures of this plan; returns its
        path. options: `plot.write_report`'s."""
        return worker("Solution.report")(self, path, **options)

    def save(self, path: Any, command: Any = None, task: Any = None, report: bool = False) -> Any:
        """Write this plan to a folder, or to one file where the path ends in .npz or .json; see
        `save_plan`. Returns the path."""
        return worker("Solution.save")(self, path, command, task, report)

    def sensitivity(self, parameter: Any, of: str | None = None) -> Any:
        """How the optimal cost depends on one number of the robot, were the motion planned again:
        a `design.Sensitivity`, from the multipliers of this plan (envelope theorem), without
        planning anything.

        parameter: a name such as "gear ratio of elbow", "mass of forearm", "payload"
        (`design.parameters(robot)` lists them), or a `design.Parameter` of one's own.  of:
        "energy" or "losses" of a least-energy plan, by default what its saving counts; a least
        time's is "time"."""
        return worker("Solution.sensitivity")(self, parameter, of)

    def sensitivities(self, parameters: Any = None, of: str | None = None) -> Any:
        """The same of several parameters, the largest first: `design.Sensitivities`.

        parameters: names; by default all that have a name, without those that change nothing."""
        return worker("Solution.sensitivities")(self, parameters, of)

    def yearly(
        self, cycles_per_day: float, price: float | None = None, days: float = 365.0
    ) -> Yearly:
        """kWh in a year, and money where the price of a kWh is given, in any currency; also against
        the baseline."""
        return yearly(
            self.energy,
            None if self.baseline is None else self.baseline.ledger.energy,
            cycles_per_day,
            price,
            days,
        )

    _repr_html_ = plan_html

    def __repr__(self) -> str:
        energy = f", {self.energy:.4g} J drawn" if self.ok and self.robot.drives else ""
        return (
            f"<Solution of {self.robot.name!r}: {self.duration:.4g} s{energy}:"
            f" {self.diagnosis or self.status.value}>"
        )

    def __str__(self) -> str:
        count = len(self.iterations)
        size = (
            f"{self.duration:.4g} s, {len(self.trajectory) - 1} knots, {count}"
            f" iteration{'' if count == 1 else 's'} in the last search"
        )
        unsearched = not self.ok and not self.iterations
        ended = (
            "No motion was searched for."
            if unsearched
            else ""
            if self.status.optimal
            else self.status.value
        )
        lines = [f"{self.robot.name}: {size}. {ended}".rstrip(), *doubts(self.robot)]
        if self.diagnosis is not None:
            lines.append(str(self.diagnosis))
        if self.ok:
            lines.append(
                f"energy drawn {self.energy:.4g} J, losses {self.losses:.4g} J"
                if self.robot.drives
                else NOT_COUNTED
            )
        if self.ok and self.baseline is not None and self.saving is not None:
            book, note = (
                self.baseline.ledger,
                f" ({self.baseline.note})" if self.baseline.note else "",
            )
            words = against(self.saving, counted(self.returns))
            lines.append(
                f"{self.baseline.name}{note}: {book.energy:.4g} J, losses {book.losses:.4g} J;"
                f" {words}"
            )
        if self.ok and (found := peaks(self)):
            said = "; ".join(str(peak) for peak in found)
            other = self.baseline.name.removeprefix("the ") if self.baseline else ""
            lines.append(f"peaks (in brackets: the joint, and its peak in the {other}): {said}")
        return "\n".join([*lines, *self.notes])
