"""Least energy and least time along a path: the interior solver on (p, ṗ, p̈), from the dynamic
programme's profile (K4).

states    s = ṗ, a = p̈ at the knots;   controls   h (time of the step), a₁ (p̈ at its end), slacks
of the supply,
          all in units of the starting motion: ṗ in 1/T, h in the time that the step takes there, p̈
              in 1/T² where it is dearest and more where it is cheap (near a singularity a change of
              speed may cost next to nothing)
(A1)      Δp = s₀ h + (2a₀ + a₁) h²/6 as an equation of the step,  s₁ = s₀ + (a₀ + a₁) h/2
(A2)      s₀ + a₀ h/2 ≥ 0 (the middle Bernstein coefficient of ṗ): the path is never run backwards
inside a step limits    (43), jerk and torque rate at start, middle and end of every step; average
heat and the duration as totals"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armature.drive import stack
from armature.kernel.symbol import bare, from_casadi_column
from armature.memo import once
from armature.optimize.path.along_path import Timing
from armature.optimize.path.path_step import NODES, PARTS, VERSION, Moment, PathStep
from armature.optimize.path.phase_plane import Steps
from armature.optimize.problem.problem import Guess, Model, Problem
from armature.optimize.problem.result import Result
from armature.optimize.transcription.instant import Instants
from armature.optimize.transcription.transcribe import RULES

LIMITS_AT = (0.0, 0.5, 1.0)
HEAD = 7  # numbers of a step before directions and geometry
CHEAPEST = 1e-3  # least share of the root of the dearest p̈²'s cost in the units of p̈
SPREAD = 1e3  # how many times longer or shorter than in the starting motion a step may become


@dataclass(frozen=True, eq=False)
class PathModel:
    """The functions of a step for a robot on a supply."""

    at: Instants

    @cached_property
    def step(self) -> PathStep:
        """Costs and limits."""
        return PathStep(self.at)

    @property
    def n(self) -> int:
        """Joints."""
        return self.at.robot.n

    @property
    def rule(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Points and weights of the cost: Simpson's share theirs with the limits; Gauss's have
        fewer slacks."""
        return RULES["gauss" if self.slacks else "simpson"]

    @cached_property
    def slacks(self) -> int:
        """Slacks of the supply at an instant."""
        return self.at.supply.slacks(len(self.at.robot.drivetrain.drives))

    @cached_property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Joints with a finite limit of jerk, and of torque rate."""
        b = self.at.limits
        return np.flatnonzero(np.isfinite(b.jerk)), np.flatnonzero(np.isfinite(b.torque_rate))

    @cached_property
    def kept(self) -> tuple[list[int], list[float]]:
        """Which of the step's rows are used, and their lower bounds: |x| ≤ 1 is one row x − 1
        between −2 and 0."""
        rows = self.step.rows
        negative = {(row.joint, row.limit) for row in rows if row.scale < 0}
        kept = [k for k, row in enumerate(rows) if row.scale > 0]
        return kept, [-2.0 if (rows[k].joint, rows[k].limit) in negative else -np.inf for k in kept]

    @cached_property
    def model(self) -> Model:
        """For the solver. Data: Δp, weights of energy and time, 1/T, the step's time, units of p̈
        at its ends, the joints' directions, G."""
        names = [str(self.step.rows[k]) for k in self.kept[0]]
        joints, kinds = self.at.robot.joint_names, ("jerk", "torque rate")
        jerks, torques = (
            [f"{what} of {joints[j]}" for j in js] for what, js in zip(kinds, self.rates)
        )
        rows = ["length of the step", "way back"] + [*names, *jerks, *torques] * len(LIMITS_AT)
        rows += ["supply"] * (self._supply_rows * len(self.rule[0]))
        return Model(
            nx=2,
            nu=2 + self.slacks * len(self.rule[0]),
            nd=HEAD + self.n + NODES * PARTS * self.n,
            dynamics=lambda x, u, p, d: [
                x[0] + (d[5] * x[1] + d[6] * u[1]) * u[0] * d[4] / d[3] / 2,
                u[1],
            ],
            cost=on_symbols(self.cost),
            constraints=on_symbols(self.constraints),
            totals=on_symbols(self.totals),
            key=self.at.key(f"along a path {VERSION}") + str([x.tolist() for x in self.rates]),
            state_names=("speed along the path", "acceleration along the path"),
            control_names=("time of the step", "acceleration at its end"),
            constraint_names=rows,
            total_names=["duration", *(str(row) for row in self.step.means)],
        )

    @cached_property
    def _supply_rows(self) -> int:
        axes = len(self.at.robot.drivetrain.drives)
        return len(self.at.supply.epigraph([0.0] * axes, [0.0] * self.slacks).inequalities)

    def moment(self, c: float, x: Any, u: Any, d: Any) -> Moment:
        """The instant at the fraction c of the step."""
        sides, G = d[HEAD : HEAD + self.n], d[HEAD + self.n :].reshape(NODES, PARTS, self.n)
        return self.step.moment(
            c, (d[3] * x[0], d[5] * x[1], d[4] * u[0], d[6] * u[1]), d[0], G, sides, exact=False
        )

    def balance(self, k: int, x: Any, u: Any, d: Any) -> Any:
        """The supply's cost and inequalities at the k-th point of the rule."""
        powers = [flow.power for flow in self.moment(self.rule[0][k], x, u, d).flows]
        return self.at.supply.epigraph(
            powers, [u[2 + k * self.slacks + i] for i in range(self.slacks)]
        )

    def cost(self, x: Any, u: Any, d: Any) -> Any:
        """weight × energy + price × time of the step."""
        power = sum(w * self.balance(k, x, u, d).cost for k, w in enumerate(self.rule[1]))
        return d[4] * u[0] * (d[1] * power + d[2])

    def constraints(self, x: Any, u: Any, d: Any) -> list[Any]:
        """(A1), (A2), the limits, and what the supply asks."""
        h, limits = d[4] * u[0], self.at.limits
        s0, a0, a1 = d[3] * x[0], d[5] * x[1], d[6] * u[1]
        found = [h * (s0 + h * (2 * a0 + a1) / 6) / d[0] - 1.0, x[0] + h * a0 / (2 * d[3])]
        moments = [self.moment(c, x, u, d) for c in LIMITS_AT]
        for moment in moments:
            excesses = self.step.excesses(moment)
            found += [
                *(excesses[k] for k in self.kept[0]),
                *(moment.jerk[j] / limits.jerk[j] for j in self.rates[0]),
            ]
            found += [moment.tau_rate[j] / limits.torque_rate[j] for j in self.rates[1]]
        return found + [
            row for k in range(len(self.rule[0])) for row in self.balance(k, x, u, d).inequalities
        ]

    def totals(self, x: Any, u: Any, d: Any) -> list[Any]:
        """Time, and the means' integrals by Simpson's rule."""
        points, weights = RULES["simpson"]
        found = [self.step.mean_excesses(self.moment(c, x, u, d)) for c in points]
        h = d[4] * u[0]
        return [
            h,
            *(h * sum(w * value for w, value in zip(weights, values)) for values in zip(*found)),
        ]

    # one question --------------------------------------------------------------------------------

    def problem(
        self,
        steps: Steps,
        timing: Timing,
        weight: float,
        price: float,
        duration: float | None,
        inside: float = 0.0,
    ) -> Problem:
        """Bounds and data, in units of a starting motion. weight: of the energy, 1/J.  price: of
        time, 1/s.
        duration: s, None where it is free.  inside: fraction of every limit that is left unused."""
        N, T = steps.N, timing.t[-1]
        low, high = np.tile([0.0, -np.inf], (N + 1, 1)), np.full((N + 1, 2), np.inf)
        # at a stop inside the path p̈ is continuous, so it vanishes; so it does at ends at rest
        # where jerk or torque rate are limited
        held = steps.stops.copy()
        gentle = any(len(x) for x in self.rates)
        for knot, s, level in zip((0, N), steps.ends, steps.level):
            low[knot, 0] = high[knot, 0] = s * T
            held[knot] = (gentle and s == 0.0) or level
        low[steps.stops, 0] = high[steps.stops, 0] = 0.0
        low[held, 1] = high[held, 1] = 0.0
        rates, most = sum(len(x) for x in self.rates), 1.0 - inside
        lower = [*(b + inside for b in self.kept[1]), *[-most] * rates] * len(LIMITS_AT)
        upper = [*[-inside] * len(self.kept[0]), *[most] * rates] * len(LIMITS_AT)
        supply = self._supply_rows * len(self.rule[0])
        bounds = [0.0, 0.0, *lower, *[-np.inf] * supply], [0.0, np.inf, *upper, *[0.0] * supply]
        span = (0.0, np.inf) if duration is None else (duration, duration)
        means = len(self.step.means)
        totals = (
            np.array([span[0], *[-np.inf] * means]),
            np.array([span[1], *[-inside * T] * means]),
        )
        free = np.array([SPREAD, *[np.inf] * (self.model.nu - 1)])
        least = np.array([1 / SPREAD, *[-np.inf] * (self.model.nu - 1)])
        data = self.data(steps, timing, weight, price)
        return Problem(
            self.model, N, (low, high), (least, free), constraints=bounds, totals=totals, data=data
        )

    def data(self, steps: Steps, timing: Timing, weight: float, price: float) -> np.ndarray:
        """(N+1, nd); the last row serves no step."""
        same = lambda x: np.full(steps.N, x)
        units = self.units(steps, timing)
        head = [
            steps.lengths,
            same(weight),
            same(price),
            same(1.0 / timing.t[-1]),
            timing.h,
            units[:-1],
            units[1:],
        ]
        rows = np.column_stack([*head, steps.sides, steps.G.reshape(steps.N, -1)])
        return np.vstack([rows, rows[-1:]])

    def units(self, steps: Steps, timing: Timing) -> np.ndarray:
        """(N+1,) of p̈ at the knots, 1/s²: 1/T² over the root of what p̈² costs there in heat,
        against the largest cost on the path."""
        heat = np.einsum("kci,ij,kcj->kc", steps.G[:, :, 0], self.at.heat, steps.G[:, :, 0])
        at_knots = np.maximum(np.append(heat[:, 0], heat[-1, 2]), np.append(heat[0, 0], heat[:, 2]))
        share = np.sqrt(at_knots / max(np.max(at_knots), 1e-300))
        return 1.0 / (timing.t[-1] ** 2 * np.maximum(share, CHEAPEST))

    def guess(self, steps: Steps, timing: Timing) -> Guess:
        """A starting motion, with slacks that fit."""
        T, units = timing.t[-1], self.units(steps, timing)
        s, a = np.maximum(timing.s, 1e-3 * np.max(timing.s)), timing.a
        u = np.zeros((steps.N, self.model.nu))
        u[:, 0], u[:, 1] = 1.0, a[1:] / units[1:]
        if self.slacks:
            m, c, e, d1, d2, _ = np.moveaxis(steps.G[:, 1], 1, 0)
            mean_s, mean_a = ((s[1:] + s[:-1]) / 2)[:, None], ((a[1:] + a[:-1]) / 2)[:, None]
            flows = self.at.robot.drivetrain.flow(
                m * mean_a + c * mean_s**2 + e, d1 * mean_s, d1 * mean_a + d2 * mean_s**2
            )
            powers = stack(flows, "power")
            needed = powers if self.slacks == powers.shape[1] else powers.sum(1, keepdims=True)
            u[:, 2:] = np.tile(
                np.maximum(needed, 0.0) + 1.0 + 0.1 * np.abs(powers).max(), (1, len(self.rule[0]))
            )
        return Guess(np.column_stack([s * T, a / units]), u)

    def timing(self, steps: Steps, start: Timing, result: Result) -> Timing:
        """The solver's answer to a problem in units of the motion `start`."""
        units = self.units(steps, start)
        return Timing(
            steps.p, result.x[:, 0] / start.t[-1], result.x[:, 1] * units, result.u[:, 0] * start.h
        )


def on_symbols(function: Callable[[Any, Any, Any], Any]) -> Callable:
    """A function of arrays of symbols (x, u, d) as one of CasADi columns (x, u, p, d)."""

    def wrapped(x: Any, u: Any, p: Any, d: Any) -> Any:
        result = function(*(from_casadi_column(y, (y.numel(),)) for y in (x, u, d)))
        return [bare(y) for y in result] if isinstance(result, list) else bare(result)

    return wrapped


def path_model(at: Instants) -> PathModel:
    """The model of a robot on a supply, kept with it."""
    return once(at, "path model", PathModel)
