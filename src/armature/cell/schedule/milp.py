"""A cell's schedule as a mixed-integer linear program.

Every choice c (a stand at a spot in a mode, a movement) has a binary u_c and its own duration d_c:

    (S1)  least_c u_c ≤ d_c ≤ most_c u_c,     one spot and mode for each stand
    (S2)  at every spot: movements in = stays = movements out
    (S3)  start of stand v   a_v = Σ over travels e into v of (θ_e + Σ_c d_c)
          start of travels   Σ over e out of v of θ_e = a_v + Σ_c d_c,    θ_e ≤ CT Σ_c u_c;
          for the stand that closes the cycle: a_v + d_v = CT, and θ_e = 0 after it
    (S4)  energy of a movement  W_c ≥ (E(x) − x E'(x)) u_c + E'(x) d_c   for tangents at x
    (S5)  lags: S_r + start of t − S_q − start of f ≥ l − CT h, if both are done
    (S6)  clashes: with Δ = start of 2 − start of 1 + k CT, k integer:  d_1 ≤ Δ ≤ CT − d_2, if both
        are done

(S3) carries times along the chosen movements as a flow, without large constants; (S6) is exact for
all shifts by whole cycles at once. S_r: when robot r begins its cycle, s.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp
from scipy.sparse import csr_array, vstack

from armature.cell.schedule.model import CellModel, CellRobot, Mode, Movement, Stand, Travel

Row = dict[int, float]
FIRST = 8  # tangents of every movement to begin with


@contextmanager
def quiet() -> Iterator[None]:
    """Drop the lines that HiGHS writes to the process's standard output, whatever its options say;
    what others write there meanwhile is passed on."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as heard:
        try:
            os.dup2(heard.fileno(), 1)
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
            heard.seek(0)
            others = b"".join(line for line in heard if not line.startswith(b"Highs"))
            if others:
                os.write(1, others)


@dataclass
class Table:
    """Columns and rows of a linear program, being written."""

    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    rows: list[tuple[Row, float, float]] = field(default_factory=list)

    def column(self, lower: float, upper: float, whole: bool = False, cost: float = 0.0) -> int:
        """One more variable; returns its number."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.whole.append(int(whole))
        self.cost.append(cost)
        return len(self.cost) - 1

    def row(self, terms: Row, lower: float = -np.inf, upper: float = np.inf) -> None:
        """lower ≤ Σ terms ≤ upper."""
        self.rows.append((terms, lower, upper))

    def matrix(self) -> tuple[csr_array, np.ndarray, np.ndarray]:
        """All rows, and their bounds."""
        data, columns, ends = [], [], [0]
        for terms, _, _ in self.rows:
            columns += terms
            data += terms.values()
            ends.append(len(data))
        shape = (len(self.rows), len(self.cost))
        matrix = csr_array(
            (
                np.array(data, dtype=float),
                np.array(columns, dtype=np.int32),
                np.array(ends, dtype=np.int32),
            ),
            shape=shape,
        )
        return matrix, np.array([r[1] for r in self.rows]), np.array([r[2] for r in self.rows])


def solve_table(T: Table, seconds: float, gap: float) -> OptimizeResult:
    """A mixed-integer program by HiGHS. seconds: limit.  gap: relative, at which it may end."""
    matrix, low, high = T.matrix()
    bounds = Bounds(np.array(T.lower), np.array(T.upper))  # type: ignore[arg-type]
    rows = LinearConstraint(matrix, low, high)  # type: ignore[arg-type]
    options = {"time_limit": max(seconds, 0.1), "mip_rel_gap": gap}
    with quiet():
        return milp(T.cost, integrality=T.whole, bounds=bounds, constraints=rows, options=options)


@dataclass(frozen=True)
class Choice:
    """A stand at a spot in a mode, or a movement. used, lasts, energy: columns of u, d and (of a
    movement) W."""

    activity: str
    option: str
    what: Mode | Movement
    used: int
    lasts: int
    energy: int = -1


class CellProgram:
    """The mixed-integer program of a cell, to which tangents are added (S4)."""

    def __init__(self, model: CellModel):
        self.model, self.table = model, Table()
        self.choices: list[Choice] = []
        self.of: dict[str, list[Choice]] = defaultdict(list)
        self.start: dict[
            str, Row
        ] = {}  # of every activity, as a sum of columns, in the robot's cycle
        self.offset: list[int] = []  # S_r
        self.tangents: dict[int, set[float]] = defaultdict(set)  # of each movement, by its column u
        joined = {model.owner[x] for lag in model.lags for x in (lag.origin, lag.target)}
        reach = self.reach * model.cycle
        for k, robot in enumerate(model.robots):
            first = k == min(joined, default=0)
            low, high = (
                (0.0, 0.0) if first else (-reach, reach) if k in joined else (0.0, model.cycle)
            )
            self.offset.append(self.table.column(low, high))
            self._robot(robot)
        self._settle()
        self._lags()
        self._hand_overs()
        self.shifts = [self._clash(c.first, c.second) for c in model.clashes]

    # the model --------------------------------------------------------------------------------

    @property
    def reach(self) -> int:
        """By how many cycles robots may begin before or after the first one: one for each robot,
        and more where a lag is longer than a cycle."""
        model = self.model
        longest = max((lag.length / model.cycle - lag.height for lag in model.lags), default=0.0)
        return len(model.robots) * max(1, ceil(longest))

    def _robot(self, robot: CellRobot) -> None:
        T, cycle = self.table, self.model.cycle
        for stand in robot.stands:
            self._stand(stand)
        theta = {e.name: self._travel(e) for e in robot.travels}
        for e in robot.travels:
            self.start[e.name] = {theta[e.name]: 1.0}
        for stand in robot.stands:
            into = [e for e in robot.travels if e.target == stand.name]
            out = [e for e in robot.travels if e.origin == stand.name]
            begin: Row = {}
            for e in into:
                begin |= {theta[e.name]: 1.0} | {c.lasts: 1.0 for c in self.of[e.name]}
            self.start[stand.name] = begin
            end = begin | {c.lasts: 1.0 for c in self.of[stand.name]}
            if stand.last:
                T.row(end, cycle, cycle)
                for e in out:
                    T.upper[theta[e.name]] = 0.0
            else:
                T.row(end | {theta[e.name]: -1.0 for e in out}, 0.0, 0.0)
            self._flow(stand, into, out)

    def _stand(self, stand: Stand) -> None:
        T, found = self.table, self.of[stand.name]
        for spot in stand.spots:
            for mode in spot.modes:
                least, most = max(stand.least, mode.least), min(stand.most, self.model.cycle)
                if least > most:
                    continue
                used = T.column(0.0, 1.0, True, mode.energy)
                lasts = T.column(0.0, most, cost=mode.power)
                T.row({lasts: 1.0, used: -least}, 0.0)
                T.row({lasts: 1.0, used: -most}, upper=0.0)
                found.append(Choice(stand.name, spot.name, mode, used, lasts))
        self.choices += found
        T.row({c.used: 1.0 for c in found}, 1.0, 1.0)

    def _travel(self, travel: Travel) -> int:
        """Choices of a travel; returns the column of its start."""
        T, cycle, found = self.table, self.model.cycle, self.of[travel.name]
        for m in travel.movements:
            most = min(m.most, cycle)
            if m.least > most:
                continue
            used, lasts = T.column(0.0, 1.0, True), T.column(0.0, most)
            energy = T.column(-np.inf, np.inf, cost=1.0)
            T.row({lasts: 1.0, used: -m.least}, 0.0)
            T.row({lasts: 1.0, used: -most}, upper=0.0)
            found.append(Choice(travel.name, m.name, m, used, lasts, energy))
            for x in np.geomspace(m.least, most, FIRST):
                self.add_tangent(found[-1], float(x))
        self.choices += found
        theta = T.column(0.0, cycle)
        T.row({theta: 1.0} | {c.used: -cycle for c in found}, upper=0.0)
        return theta

    def _flow(self, stand: Stand, into: list[Travel], out: list[Travel]) -> None:
        for spot in stand.spots:
            stays = {c.used: -1.0 for c in self.of[stand.name] if c.option == spot.name}
            for travels, end in ((into, "target"), (out, "origin")):
                moved = {
                    c.used: 1.0
                    for e in travels
                    for c in self.of[e.name]
                    if getattr(c.what, end) == spot.name
                }
                self.table.row(moved | stays, 0.0, 0.0)

    def _settle(self) -> None:
        """Choices that are none: of activities that are always done, in one way only."""
        for activity, found in self.of.items():
            if len(found) == 1 and not self._done(activity):
                self.table.lower[found[0].used] = 1.0

    def _done(self, activity: str) -> Row:
        """1 where an activity is done; empty where it always is."""
        robot = self.model.robots[self.model.owner[activity]]
        travel = next((e for e in robot.travels if e.name == activity), None)
        if travel is None:
            return {}
        alone = sum(e.origin == travel.origin for e in robot.travels) == 1
        alone |= sum(e.target == travel.target for e in robot.travels) == 1
        return {} if alone else {c.used: 1.0 for c in self.of[activity]}

    def _lags(self) -> None:
        cycle = self.model.cycle
        for lag in self.model.lags:
            row: Row = {}
            for activity, sign in ((lag.target, 1.0), (lag.origin, -1.0)):
                place = self.offset[self.model.owner[activity]]
                row[place] = row.get(place, 0.0) + sign
                for column, x in self.start[activity].items():
                    row[column] = row.get(column, 0.0) + sign * x
            need, done = (
                lag.length - cycle * lag.height,
                [self._done(a) for a in (lag.origin, lag.target)],
            )
            slack = (2 * self.reach + 1) * cycle + max(0.0, need)  # more than any difference
            for optional in filter(None, done):
                need -= slack
                for column in optional:
                    row[column] = row.get(column, 0.0) - slack
            self.table.row(row, need)

    def _hand_overs(self) -> None:
        for hand in self.model.hand_overs:
            for mine in (0, 1):
                partners = defaultdict(set)
                for pair in hand.pairs:
                    partners[pair[mine]].add(pair[1 - mine])
                activity = hand.pairs[0][mine][0]
                for spot in {c.option for c in self.of[activity]}:
                    stays = {c.used: 1.0 for c in self.of[activity] if c.option == spot}
                    allowed = partners.get((activity, spot), set())
                    others = {c.used: -1.0 for a, o in allowed for c in self.of[a] if c.option == o}
                    self.table.row(stays | others, upper=0.0)

    def _clash(self, first: tuple[str, str], second: tuple[str, str]) -> int:
        """(S6); returns the column of k."""
        T, cycle, owner = self.table, self.model.cycle, self.model.owner
        reach = 2 * self.reach + 1
        k = T.column(-reach, reach, True)
        delta: Row = {k: cycle}
        for (activity, _), sign in ((second, 1.0), (first, -1.0)):
            place = self.offset[owner[activity]]
            delta[place] = delta.get(place, 0.0) + sign
            for column, x in self.start[activity].items():
                delta[column] = delta.get(column, 0.0) + sign * x
        mine, other = ([c for c in self.of[a] if c.option == o] for a, o in (first, second))
        off = {c.used: -cycle for c in (*mine, *other)}
        add = lambda *rows: {c: float(sum(r.get(c, 0.0) for r in rows)) for c in set().union(*rows)}
        # Δ ≥ d_1 − CT (2 − u_1 − u_2),   Δ ≤ CT − d_2 + CT (2 − u_1 − u_2)
        T.row(add(delta, {c.lasts: -1.0 for c in mine}, off), -2 * cycle)
        T.row(
            add(delta, {c.lasts: 1.0 for c in other}, {c: -x for c, x in off.items()}),
            upper=3 * cycle,
        )
        return k

    # tangents and solving ---------------------------------------------------------------------

    def add_tangent(self, choice: Choice, x: float) -> bool:
        """(S4) at duration x, s; False where there is one already, to 1e-6."""
        movement = choice.what
        assert isinstance(movement, Movement)
        x = min(max(x, movement.least), min(movement.most, self.model.cycle))
        if any(abs(x - known) < 1e-6 * x for known in self.tangents[choice.used]):
            return False
        self.tangents[choice.used].add(x)
        E, slope = movement.energy(x), movement.energy.slope(x)
        self.table.row({choice.energy: 1.0, choice.used: x * slope - E, choice.lasts: -slope}, 0.0)
        return True

    def solve(self, seconds: float, gap: float) -> OptimizeResult:
        """The mixed-integer program by HiGHS. seconds: limit.  gap: relative, at which it may
        end."""
        return solve_table(self.table, seconds, gap)

    def solve_fixed(self, x: np.ndarray) -> OptimizeResult:
        """The linear program with the whole numbers of x (columns,) fixed: the best durations."""
        fixed = np.array(self.table.whole, dtype=bool)
        lower, upper = np.array(self.table.lower), np.array(self.table.upper)
        lower[fixed] = upper[fixed] = np.round(x[fixed])
        return self.solve_relaxed(lower, upper)

    def solve_relaxed(self, lower: np.ndarray, upper: np.ndarray) -> OptimizeResult:
        """The linear program with these bounds of columns, whole numbers or not."""
        matrix, low, high = self.table.matrix()
        equal = low == high
        over, under = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
        A_ub = vstack([matrix[over], -matrix[under]]) if (over.any() or under.any()) else None
        b_ub = np.concatenate([high[over], -low[under]])
        return linprog(
            self.table.cost,
            A_ub,
            b_ub,
            matrix[equal],
            low[equal],
            bounds=np.column_stack([lower, upper]),
            method="highs",
        )
