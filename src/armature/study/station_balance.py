"""The spare time of a station, shared out among its moves and rests so that its energy is least.

Time is shared out exactly over the moves' energy-time curves; the motions are then planned at the
durations found. What they really take becomes a point of their curves, and the time is shared out
again, as long as that promises less. The best of all that was planned counts, waiting at the end
with all moves at their least times included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.curve import energy_time_curve
from armature.optimize.moves.least_energy import minimize_energy
from armature.robot.model import Robot
from armature.simulate.ledger import ledger
from armature.study.allocate import allocate
from armature.study.rest import Rest, coil_power, rest
from armature.study.station import BalancedMove, BalancedStation, Station, StationMove

GRID = 240  # steps into which the time to spare is cut
NEAREST = 1.01  # the first of them, in multiples of the least time
ROUNDING = 1e-9  # s
ROUNDS = 6  # of sharing out and planning
WORTH = 1e-3  # part of the energy that another round must promise

Told = Callable[..., None]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a station may do with its time at a move: its curve, and the rest after it.

    barred: (from, to) in s between which no plan was found."""

    move: StationMove
    robot: Robot
    least: Solution
    before: float
    durations: np.ndarray
    energies: np.ndarray
    motions: tuple[Any, ...]
    place: Rest
    barred: tuple[tuple[float, float], ...] = ()

    def costs(self, times: np.ndarray) -> np.ndarray:
        """Energy with so much more time than the least (s), J; infinite where there is no curve."""
        T = self.least.duration + times
        if len(self.durations) == 1:
            return np.where(times == 0.0, self.energies[0], np.inf)
        known = self.durations[-1] + 1e-12 >= T
        for low, high in self.barred:
            known &= (low + ROUNDING >= T) | (high - ROUNDING <= T)
        return np.where(known, PchipInterpolator(self.durations, self.energies)(T), np.inf)

    def learned(self, duration: float, made: BalancedMove) -> Choice:
        """The curve with what a plan for this duration really takes; where it is shorter, no time
        between the points next to this duration is taken again."""
        plan, barred = made.plan, self.barred
        if plan.duration < duration - ROUNDING:
            below = self.durations[self.durations < duration - ROUNDING]
            above = self.durations[self.durations > duration + ROUNDING]
            high = float(above.min()) if len(above) else np.inf
            barred = (*barred, (float(below.max()), high))
        if plan is self.least:
            return replace(self, barred=barred)
        other = np.abs(self.durations - plan.duration) > ROUNDING
        rows = [row for row, kept in zip(self._rows(), other) if kept]
        rows = sorted([*rows, (plan.duration, made.after, plan.trajectory)], key=lambda row: row[0])
        T, E, motions = zip(*rows)
        return replace(
            self, durations=np.array(T), energies=np.array(E), motions=motions, barred=barred
        )

    def _rows(self) -> list[tuple[float, float, Any]]:
        return list(zip(self.durations.tolist(), self.energies.tolist(), self.motions))


def balance_station(
    station: Station,
    fastest: list[Solution],
    spare: float,
    options: tuple[int, int],
    tell: Told,
) -> BalancedStation:
    """The station with its spare time (s) used. fastest: of every move.  options: knots of every
    plan, points of every curve."""
    choices = [choice(station, m, f, spare, options, tell) for m, f in zip(station.moves, fastest)]
    least = sum(f.duration for f in fastest) + station.process_time
    waiting = rest(*station.end).energy(spare)
    moves = shared(station, choices, spare, options[0]) if choices else ()
    for move in moves:
        tell(f"{station.name}: plan of {move.name or 'a move'}")
    process = process_energy(station)
    idle = 0.0 if moves else spare
    return BalancedStation(station.name, least, station.process_time, moves, waiting, process, idle)


def shared(
    station: Station, choices: list[Choice], spare: float, knots: int
) -> tuple[BalancedMove, ...]:
    """The best way found to use the spare time: as long as another promises less, it is planned."""
    times = np.linspace(0.0, spare, GRID + 1)
    waits = [np.array([c.place.energy(t) for t in times]) for c in choices]
    steps = GRID if spare > 0 else 0
    given = [0] * (2 * len(choices) - 1) + [steps]
    best: tuple[BalancedMove, ...] = ()
    for _ in range(ROUNDS):
        made = []
        for k, c in enumerate(choices):
            T = c.least.duration + float(times[given[k]])
            made.append(planned(station, c, T, float(times[given[len(choices) + k]]), knots))
            choices[k] = c.learned(T, made[-1])
        if not best or energy_of(made) < energy_of(best):
            best = tuple(made)
        given, promised = allocate([*(c.costs(times) for c in choices), *waits], steps)
        if promised > energy_of(best) - WORTH * abs(energy_of(best)):
            break
    return tuple(
        replace(m, durations=c.durations, energies=c.energies) for m, c in zip(best, choices)
    )


def energy_of(moves: Sequence[BalancedMove]) -> float:
    """Of moves and the waits after them, J."""
    return sum(m.total for m in moves)


def choice(
    station: Station,
    move: StationMove,
    least: Solution,
    spare: float,
    options: tuple[int, int],
    tell: Told,
) -> Choice:
    """The energy-time curve of a move from its least time to all of the spare time, and the rest at
    its goal."""
    robot = station.loaded(move)
    coil, T0 = coil_power(robot), least.duration
    before = ledger(robot, least.trajectory, station.supply).energy + coil * T0
    durations, energies, motions = [T0], [before], [least.trajectory]
    if spare > 1e-6 * T0:
        first = min(NEAREST, 1 + 0.5 * spare / T0)
        T = T0 * np.geomspace(first, 1 + spare / T0, options[1])
        curve = energy_time_curve(
            robot,
            replace(move.task, duration=None),
            T.tolist(),
            station.supply,
            options[0],
            refine=False,
        )
        for t, e, motion in zip(curve.durations, curve.energies, curve.trajectories):
            if motion is not None and np.isfinite(e):
                durations.append(float(t))
                energies.append(float(e + coil * t))
                motions.append(motion)
    tell(f"{station.name}: energy against time of {move.name or 'a move'}")
    goal = move.task.vectors(robot).q1
    return Choice(
        move,
        robot,
        least,
        before,
        np.array(durations),
        np.array(energies),
        tuple(motions),
        rest(robot, goal),
    )


def planned(
    station: Station, choice: Choice, duration: float, wait: float, knots: int
) -> BalancedMove:
    """The plan at a duration; where none is found there, the nearest shorter one that is, and a
    longer wait."""
    end, coil = duration + wait, coil_power(choice.robot)
    plan = choice.least
    shorter = [float(t) for t in choice.durations[::-1] if choice.least.duration < t < duration]
    for T in [duration, *shorter] if duration > choice.least.duration else []:
        guess = choice.motions[int(np.abs(choice.durations - T).argmin())]
        found = minimize_energy(
            choice.robot,
            replace(choice.move.task, duration=T),
            station.supply,
            knots=knots,
            guess=guess,
        )
        if found.ok and found.certificate.ok:
            plan = found
            break
    rest_time = end - plan.duration if end - plan.duration > ROUNDING else 0.0
    after = choice.before if plan is choice.least else plan.energy + coil * plan.duration
    name = choice.move.name
    waiting = choice.place.energy(rest_time)
    return BalancedMove(
        name,
        choice.least,
        plan,
        rest_time,
        choice.durations,
        choice.energies,
        choice.before,
        after,
        waiting,
    )


def process_energy(station: Station) -> float:
    """What standing ready costs in all processes, J: at the goal of the move before each, with what
    that move carried."""
    total, (robot, q) = 0.0, station.end
    for step in station.steps:
        if isinstance(step, StationMove):
            robot = station.loaded(step)
            q = step.task.vectors(robot).q1
        else:
            total += rest(robot, q).held(step.seconds)
    return total
