"""All choices of drives that were planned, with what they cost."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from armature.design.drives.mounting import drive_mass
from armature.design.drives.objective import Objective
from armature.design.drives.pairs import Pairs
from armature.design.drives.replan import Evaluation, Replanner, drives_mass, drives_price
from armature.design.runner import Case, Runner
from armature.drive.drive import Drive
from armature.optimize.transcription.carry import Known
from armature.study.outcome import packed
from armature.version import __version__


class Asked(NamedTuple):
    """A choice on its way to a worker."""

    replanner: Replanner
    choice: dict[str, Drive]
    guesses: list[Any]


def evaluate_choice(asked: Asked) -> dict[str, Any]:
    """Plain values of one choice."""
    solutions, reason = asked.replanner.plan(asked.choice, asked.guesses)
    if reason:
        return {"ok": False, "reason": reason}
    energy, losses = (
        float(sum(getattr(s, name) for s in solutions)) for name in ("energy", "losses")
    )
    return {"ok": True, "reason": "", "energy": energy, "losses": losses}


@dataclass(eq=False)
class Evaluations:
    """All choices planned so far, by the places of their pairs.

    pairs: of every joint, which choices count in.  climbs: (joints,) J that a kilogram at each
    drive's mount gains over all tasks.  tell: called with (planned, cost of the best,
    message).
    """

    replanner: Replanner
    pairs: Sequence[Pairs]
    objective: Objective
    runner: Runner
    climbs: np.ndarray
    tell: Callable[[int, float, str], None] | None = None
    found: dict[tuple[int, ...], Evaluation] = field(default_factory=dict)
    planned: int = 0

    @property
    def late(self) -> bool:
        """Whether the time is used up."""
        return self.runner.late

    @property
    def best(self) -> Evaluation | None:
        """The cheapest choice that does all tasks."""
        done = [e for e in self.found.values() if e.ok]
        return min(done, key=lambda e: e.cost) if done else None

    def drives(self, choice: tuple[int, ...]) -> dict[str, Drive]:
        """{joint: drive} of a choice."""
        return {p.joint: p.drive(k) for p, k in zip(self.pairs, choice)}

    def names(self, choice: tuple[int, ...]) -> dict[str, str]:
        """{joint: motor + gear} of a choice."""
        return {p.joint: p.name(k) for p, k in zip(self.pairs, choice)}

    def counted(self, choice: tuple[int, ...], energy: float) -> float:
        """The energy of a choice without what its drives' own masses give by ending lower than they
        began, J: somebody lifts them again, and heavy drives would look best."""
        more = [p.mass[k] - drive_mass(p.template) for p, k in zip(self.pairs, choice)]
        return energy - min(0.0, float(np.dot(more, self.climbs)))

    def judged(self, evaluation: Evaluation) -> Evaluation:
        """The same with its mass, price and cost by the objective."""
        drives = self.drives(evaluation.choice)
        mass, price = drives_mass(drives), drives_price(drives)
        cost = np.inf
        if evaluation.ok:
            cost = float(self.objective(evaluation.energy, evaluation.losses, mass, price))
        return replace(evaluation, mass=mass, price=price, cost=cost)

    def __call__(
        self, choices: Sequence[tuple[int, ...]], guesses: Sequence[Any] = ()
    ) -> list[Evaluation]:
        """What these choices cost; those known already are not planned again."""
        known = [Known(g.result, g.trajectory) for g in guesses]
        places, cases = {}, []
        for choice in dict.fromkeys(c for c in choices if c not in self.found):
            drives, id = self.drives(choice), self.id(choice)
            places[id] = choice
            argument = Asked(self.replanner, drives, known)
            cases.append(Case(id, packed(evaluate_choice, argument), self.names(choice)))
        self.runner.run(cases, lambda id, values, error: self._take(places[id], values, error))
        return [self.found[c] for c in dict.fromkeys(choices) if c in self.found]

    def _take(self, choice: tuple[int, ...], values: Mapping[str, Any], error: str) -> None:
        reason = error or str(values.get("reason", ""))
        energy, losses = (
            np.inf if reason else float(values.get(key, np.inf)) for key in ("energy", "losses")
        )
        energy = self.counted(choice, energy)
        found = Evaluation(choice, not reason, energy=energy, losses=losses, reason=reason)
        self.found[choice] = self.judged(found)
        self.planned += 1
        if self.tell is not None:
            best = self.best
            self.tell(self.planned, np.inf if best is None else best.cost, "")

    def id(self, choice: tuple[int, ...]) -> str:
        """Hash of all that the value of a choice depends on."""
        text = f"{self._about} {self.drives(choice)!r}"
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @functools.cached_property
    def _about(self) -> str:
        """Digest of all that values depend on besides the drives."""
        r = self.replanner
        items = [
            (i.robot.links, i.robot.joints, i.robot.drives, i.robot.gravity, i.robot.supply)
            + (i.task, i.supply, i.knots)
            for i in r.items
        ]
        about = (__version__, items, dict(r.mounts), r.hold)
        return hashlib.sha256(repr(about).encode()).hexdigest()
