"""Choices of drives that were planned: here, by processes of this machine or on a Dask cluster;
kept in the store of a study, so that a search that was killed goes on where it was."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from armature.design.objective import Objective
from armature.design.pairs import Pairs
from armature.design.replan import Evaluation, Replanner, drives_mass, drives_price
from armature.drive.drive import Drive
from armature.optimize.transcription.carry import Known
from armature.study.dask_pool import DaskPool, Tls, local_workers
from armature.study.outcome import Outcome, execute, packed
from armature.study.pool import LocalPool, Pool
from armature.study.store import Store, open_store
from armature.version import __version__

TICK = 0.25  # s between two looks at the clock
ATTEMPTS = 2  # workers that a choice may cost
MODULES = ("armature.design.evaluations",)


class Case(NamedTuple):
    """A choice on its way to a worker."""

    replanner: Replanner
    choice: dict[str, Drive]
    guesses: list[Any]


def evaluate_case(case: Case) -> Outcome:
    """Plain values of one choice."""
    solutions, reason = case.replanner.plan(case.choice, case.guesses)
    values = {"ok": not reason, "reason": reason}
    if not reason:
        values |= {
            "energy": float(sum(s.energy for s in solutions)),
            "losses": float(sum(s.losses for s in solutions)),
        }
    return Outcome(values)


@dataclass(eq=False)
class Evaluations:
    """All choices planned so far, by the places of their pairs.

    pairs: of every joint, which choices count in.  tell: called with (planned, cost of the best,
    message).
    """

    replanner: Replanner
    pairs: Sequence[Pairs]
    objective: Objective
    tell: Callable[[int, float, str], None] | None = None
    ends: float | None = None
    found: dict[tuple[int, ...], Evaluation] = field(default_factory=dict)
    store: Store | None = None
    pool: Pool | None = None
    planned: int = 0
    stack: ExitStack = field(default_factory=ExitStack)

    def open(
        self,
        store: str | PathLike[str] | None,
        workers: int,
        cluster: str | None,
        tls: Tls | None,
    ) -> None:
        """Take a store, and workers where there are several."""
        if store is not None:
            self.store = self.stack.enter_context(open_store(store, write=True))
        here = workers if cluster is None else local_workers(cluster)
        if here is None:
            self.pool = DaskPool(str(cluster), None, tls)
        elif here > 1:
            self.pool = LocalPool(here, None, MODULES)
        if self.pool is not None:
            self.stack.callback(self.pool.close)

    @property
    def late(self) -> bool:
        """Whether the time is used up."""
        return self.ends is not None and time.perf_counter() > self.ends

    @property
    def best(self) -> Evaluation | None:
        """The cheapest choice that does all tasks."""
        done = [e for e in self.found.values() if e.ok]
        return min(done, key=lambda e: e.cost) if done else None

    def drives(self, choice: tuple[int, ...]) -> dict[str, Drive]:
        """{joint: drive} of a choice."""
        return {p.joint: p.drive(k) for p, k in zip(self.pairs, choice)}

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
        new = [c for c in dict.fromkeys(choices) if c not in self.found]
        new = self._stored(new)
        known = [Known(g.result, g.trajectory) for g in guesses]
        cases = {c: Case(self.replanner, self.drives(c), known) for c in new}
        if self.pool is None:
            for choice, case in cases.items():
                if self.late:
                    break
                self._take(choice, execute(packed(evaluate_case, case)))
        else:
            self._share(cases, self.pool)
        return [self.found[c] for c in dict.fromkeys(choices) if c in self.found]

    def _share(self, cases: Mapping[tuple[int, ...], Case], pool: Pool) -> None:
        """Have the workers plan."""
        ids = {str(n): choice for n, choice in enumerate(cases)}
        waiting, running = list(ids), set()
        attempts = dict.fromkeys(ids, 0)
        while running or (waiting and not self.late):
            while waiting and pool.free > 0 and not self.late:
                id = waiting.pop(0)
                running.add(id)
                pool.submit(id, packed(evaluate_case, cases[ids[id]]))
            for event in pool.wait(TICK):
                running.discard(event.id)
                attempts[event.id] += 1
                if event.outcome is not None:
                    self._take(ids[event.id], event.outcome)
                elif event.died and attempts[event.id] >= ATTEMPTS:
                    self._take(ids[event.id], Outcome({}, None, event.died))
                else:
                    waiting.insert(0, event.id)

    def _take(self, choice: tuple[int, ...], outcome: Outcome) -> None:
        values = outcome.values
        reason = outcome.error or str(values.get("reason", ""))
        found = Evaluation(
            choice,
            not reason,
            energy=values.get("energy", np.inf),
            losses=values.get("losses", np.inf),
            reason=reason,
        )
        self.found[choice] = self.judged(found)
        self.planned += 1
        if self.store is not None:
            state = "failed" if outcome.error else "done"
            row = (self.id(choice), state, dict(values), outcome.error, outcome.seconds, None)
            self.store.finish([row])
        if self.tell is not None:
            best = self.best
            self.tell(self.planned, np.inf if best is None else best.cost, "")

    # the store -----------------------------------------------------------------------------------

    def _stored(self, choices: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Take choices from the store; returns those that are not in it, which are put there as
        waiting."""
        if self.store is None or not choices:
            return choices
        rows = {row.id: row for row in self.store.rows()}
        shown = [(row.id, row.inputs) for row in rows.values()]
        missing = []
        for choice in choices:
            row = rows.get(self.id(choice))
            if row is None:
                names = {p.joint: p.name(k) for p, k in zip(self.pairs, choice)}
                shown.append((self.id(choice), names))
            if row is None or row.state == "waiting":
                missing.append(choice)
                continue
            values = row.outcome
            reason = row.reason or str(values.get("reason", ""))
            energy, losses = (float(values.get(key) or np.inf) for key in ("energy", "losses"))
            found = Evaluation(choice, not reason, energy=energy, losses=losses, reason=reason)
            self.found[choice] = self.judged(found)
        keys = "\n".join(p.joint for p in self.pairs)
        self.store.sync(shown, {"name": "design", "armature": __version__, "keys": keys})
        return missing

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
