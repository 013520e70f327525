"""The search for the cheapest choice of drives.

Every choice that is compared has its motions planned for it (replan.py). Where there are few
choices all of them are planned, in the order of their lower bounds, until the bound reaches the
best: what is found is then the best of all. Where there are many, joints are improved in turn and
together: on the motions of the best choice so far all pairs are counted at once (fixed_motion.py),
and those that look best are planned; it ends where none of them is better. What is proven then is
the bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armature.design.drives.duty import Duty, certain_energy, is_at_rest
from armature.design.drives.evaluations import Evaluations
from armature.design.drives.fixed_motion import count, loads, mass_costs, power_slopes
from armature.design.drives.mounting import drive_mass
from armature.design.drives.replan import Evaluation
from armature.design.drives.screen import least_energy, least_losses

WIDTHS = (6, 24)  # pairs of a joint that are planned in a round: few as long as that helps
BETTER = 1e-4  # of the cost: what is an improvement
BEYOND = 0.3  # excess of limits up to which a pair may do with a motion of its own
MARGINS = (0.0, 0.15, 0.3, 0.5)  # of the limits, for a first choice
FINALISTS = 4  # choices that are planned from other starting motions, too
BATCH = 16  # choices planned between two looks at the bound


@dataclass(frozen=True, eq=False)
class Bounds:
    """Least costs. base: of every choice.  pairs: (pairs,) of each joint, what its pair adds; the
    cost of a choice is at least base + Σ."""

    base: float
    pairs: tuple[np.ndarray, ...]

    @property
    def least(self) -> float:
        """Of all choices."""
        return self.base + sum(float(column.min()) for column in self.pairs)

    def of(self, choice: Sequence[int]) -> float:
        """Of one choice."""
        return self.base + sum(float(column[k]) for column, k in zip(self.pairs, choice))


def bounds(table: Evaluations, duties: Sequence[Duty]) -> Bounds:
    """The lower bounds: what every motion costs, the gears' part of it, and what each pair adds.

    All power that the joints take passes a gear, Σ∫(torque + friction)·q̇ dt = W ≥ the rise of
    potential energy + friction (rotors start and end at rest). Its positive parts sum up to W or
    more, and of each a gear loses 1/η − 1 or more: (1/η_best − 1) W in all, if W > 0."""
    o = table.objective
    energy, friction = certain_energy(table.replanner.items, [p.joint for p in table.pairs])
    lifted = sum(
        float(((p.mass - drive_mass(p.template)) * d.climb).min())
        for p, d in zip(table.pairs, duties)
    )
    best = max(float(p.efficiency.max()) for p in table.pairs)
    driven = len(table.pairs) == table.replanner.items[0].robot.n
    gears = (1 / best - 1) * max(0.0, energy + lifted) if driven else 0.0
    columns = tuple(
        o(least_energy(p, d), least_losses(p, d), p.mass, p.price)
        for p, d in zip(table.pairs, duties)
    )
    base = float(o(energy + gears, friction + gears, 0.0, 0.0))
    moving = not all(map(is_at_rest, table.replanner.items))  # kinetic energy may be given up
    return Bounds(-np.inf if moving and o.planned else base, columns)


# few choices -------------------------------------------------------------------------------------


def exhaust(table: Evaluations, low: Bounds) -> bool:
    """Plan all choices in the order of their bounds, up to the best; True if none is missing."""
    choices = sorted(itertools.product(*(range(len(p)) for p in table.pairs)), key=low.of)
    for first in range(0, len(choices), BATCH):
        best = table.best
        batch = [c for c in choices[first : first + BATCH] if best is None or low.of(c) < best.cost]
        if not batch:
            return True
        table(batch, () if best is None else guesses(table, best))
        if table.late:
            return False
    return True


def guesses(table: Evaluations, best: Evaluation) -> tuple:
    """The plans of the best choice, which are made once more here where workers made them."""
    if not best.solutions:
        solutions, _ = table.replanner.plan(table.drives(best.choice))
        best = replace(best, solutions=tuple(solutions))
        if all(s.ok for s in solutions):
            table.found[best.choice] = best
    return best.solutions


def settle(table: Evaluations) -> None:
    """Plan the best few choices from starting motions of their own, too: a motion that was found
    from another's may be the worse of two local optima. The better one counts."""
    done = sorted((e for e in table.found.values() if e.ok), key=lambda e: e.cost)
    for e in done[:FINALISTS]:
        solutions, reason = table.replanner.plan(table.drives(e.choice))
        if reason:
            continue
        energy, losses = (
            float(sum(getattr(s, name) for s in solutions)) for name in ("energy", "losses")
        )
        energy = table.counted(e.choice, energy)
        again = table.judged(replace(e, energy=energy, losses=losses, solutions=tuple(solutions)))
        if again.cost <= e.cost:
            table.found[e.choice] = again


# many choices ------------------------------------------------------------------------------------


class Ranking:
    """All pairs of all joints counted on the motions of one choice. estimate: (pairs,) of each
    joint, what it would cost; excess: of its worst limit."""

    def __init__(self, table: Evaluations, solutions: Sequence):
        items, mounts = table.replanner.items, table.replanner.mounts
        robots, motions = [s.robot for s in solutions], [s.trajectory for s in solutions]
        duty = loads(items, robots, motions)
        slopes = [power_slopes(i, r, m) for i, r, m in zip(items, robots, motions)]
        heavy = mass_costs(items, robots, motions, mounts, slopes)
        o = table.objective
        self.estimate, self.excess = [], []
        for k, pairs in enumerate(table.pairs):
            found = count(pairs, duty[pairs.joint])
            added = pairs.mass - drive_mass(pairs.template)
            more = heavy[k] * added - np.minimum(0.0, table.climbs[k] * added)
            self.estimate.append(o(found.energy + more, found.losses, pairs.mass, pairs.price))
            self.excess.append(found.excess)

    def order(self, joint: int) -> np.ndarray:
        """Pairs, those that look best first; one in four is beyond its limits on this motion, by
        which it may do with a motion of its own."""
        estimate, excess = self.estimate[joint], self.excess[joint]
        within = np.flatnonzero(excess <= 0.0)
        beyond = np.flatnonzero((excess > 0.0) & (excess <= BEYOND))
        within = within[np.argsort(estimate[within], kind="stable")]
        beyond = beyond[np.argsort(estimate[beyond] * (1 + excess[beyond]), kind="stable")]
        place = np.concatenate([np.arange(len(within)), 3 * np.arange(len(beyond)) + 2.5])
        return np.concatenate([within, beyond])[np.argsort(place, kind="stable")]

    def within(self, joint: int, margin: float) -> int:
        """The pair that looks best within its limits by a margin; the one farthest within where
        there is none."""
        fits = self.excess[joint] <= -margin
        if not fits.any():
            return int(np.argmin(self.excess[joint]))
        return int(np.argmin(np.where(fits, self.estimate[joint], np.inf)))


def first_choices(ranking: Ranking, joints: int) -> list[tuple[int, ...]]:
    """Choices to begin with: what looks best, with more and more room to the limits."""
    made = [tuple(ranking.within(j, margin) for j in range(joints)) for margin in MARGINS]
    return list(dict.fromkeys(made))


def descend(table: Evaluations, low: Bounds, budget: int) -> None:
    """Improve the best choice joint by joint, and all joints together, until none of the pairs that
    look best is better, or `budget` choices are planned."""
    for width in WIDTHS:
        while table.planned < budget and not table.late:
            best = table.best
            if best is None:
                return
            plans = guesses(table, best)
            ranking = Ranking(table, plans)
            asked = list(itertools.islice(neighbours(best, ranking, width), budget - table.planned))
            asked = [c for c in asked if c not in table.found and low.of(c) < best.cost]
            single = table(asked, plans)
            joined = together(best, single)
            table([c for c in joined if low.of(c) < best.cost], plans)
            now = table.best
            if now is None or now.cost > best.cost - BETTER * abs(best.cost):
                break


def neighbours(best: Evaluation, ranking: Ranking, width: int) -> Iterator[tuple[int, ...]]:
    """Choices that differ in one joint, those that look best first, and all joints' best."""
    joints = len(best.choice)
    yield tuple(ranking.within(j, 0.0) for j in range(joints))
    orders = [ranking.order(j)[:width] for j in range(joints)]
    for place in range(width):
        for j, order in enumerate(orders):
            if place < len(order):
                yield (*best.choice[:j], int(order[place]), *best.choice[j + 1 :])


def together(best: Evaluation, found: Sequence[Evaluation]) -> list[tuple[int, ...]]:
    """The improvements of single joints taken together: all of them, and the two largest."""
    gains: dict[int, tuple[float, int]] = {}
    for e in found:
        changed = [j for j, (a, b) in enumerate(zip(e.choice, best.choice)) if a != b]
        if e.ok and len(changed) == 1 and e.cost < best.cost:
            gains[changed[0]] = min(
                gains.get(changed[0], (np.inf, 0)), (e.cost, e.choice[changed[0]])
            )
    ranked = sorted(gains.items(), key=lambda item: item[1])
    made = []
    for number in {2, len(ranked)}:
        choice = list(best.choice)
        for j, (_, pair) in ranked[:number]:
            choice[j] = pair
        made.append(tuple(choice))
    return [c for c in dict.fromkeys(made) if len(ranked) > 1]
