"""The solver: a primal–dual interior-point method whose Newton steps are differential dynamic
programming sweeps.

Ohno's Newton system T = 0 in (u, λ, μ) at every knot ([44]–[48] of Burgevin 1983), with the
complementarity perturbed by a barrier μ and gaps between knots allowed, so that any start will do.
One iteration is: errors and barrier → direction (direction.py) → step length by a filter with
second-order corrections (search.py) → derivatives at the new point. When no step is acceptable the
rows become elastic
(rows.py): the search then ends at an optimum, or at the least violation, which tells what cannot be
met."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from armature.optimize.problem.interrupt import interrupted
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Iteration, Result, Status
from armature.optimize.solver import barrier, elastic, homotopy, newton, rows
from armature.optimize.solver.report import make_result
from armature.optimize.solver.search import Filter
from armature.optimize.solver.start import COLD_PUSH, place, scale, take_multipliers
from armature.optimize.solver.state import Callback, Options, Search
from armature.optimize.solver.workspace import give_back, stages

__all__ = ["Options", "solve", "stages"]

STOPPED = Status.INTERRUPTED, Status.DEADLINE, Status.ITERATIONS, Status.STALLED
ABOUT, RECENTRINGS = 1e-3, 2  # violation at which a stuck search is centred again, and how often
STRAYED = 3.0  # violation θ up to which a step that has raised it may be right
LATE = 0.02  # of the longest step: below this second-order corrections are tried


def solve(
    problem: Problem,
    guess: Guess | Result | None = None,
    options: Options | None = None,
    callback: Callback | None = None,
    deadline: float | None = None,
) -> Result:
    """The motion of least cost near the guess.

    guess: a starting motion, or an earlier result of the same model and N, whose multipliers are
    used too.
    callback: called with every `Iteration`; a true answer stops the search.  deadline: seconds
    after which the best motion is returned. A search that ends at a violation is made once more
    with rows that stretch from the beginning, which leads another way."""
    options, guess = options or Options(), guess or Guess()
    ends = math.inf if deadline is None else time.perf_counter() + deadline
    first = Interior(problem, options, callback, ends).run(guess)
    if first.status not in (Status.INFEASIBLE, Status.STALLED) or not options.stretch:
        return first
    second = Interior(
        problem,
        replace(options, barrier=max(1.0, options.barrier)),
        callback,
        ends,
        first.iterations,
    ).run(guess)
    better = second if second.ok or worst(second) < worst(first) else first
    return replace(better, iterations=second.iterations, seconds=first.seconds + second.seconds)


def worst(result: Result) -> float:
    """The largest violation of a result."""
    return max((violation.amount for violation in result.violations), default=0.0)


class Interior(Search):
    """One search."""

    # the loop ------------------------------------------------------------------------------------

    def run(self, guess: Guess | Result) -> Result:
        """Search from a guess to a result."""
        try:
            status = self.start(guess) or self.iterate()
        except KeyboardInterrupt:
            if interrupted():  # asked for twice
                raise
            status = Status.INTERRUPTED
        if status in STOPPED and self.best_kept:
            self.point.copy_from(self.best)
        if not status.ok and status is not Status.INVALID:
            self.tidy()
        result = make_result(self, status)
        give_back(self.workspace)
        return result

    def tidy(self) -> None:
        """Parameters back inside their bounds, which may have been stretched (a duration must stay
        positive), and the values there."""
        n = self.evaluator.n
        rows.put_inside(self.point.p[None, :], (n.N + 1) * n.nr, n.np, self.limits, 0.0)
        self.evaluator.values(self.point)

    def start(self, guess: Guess | Result) -> Status | None:
        """Scale the problem and place the first point inside its bounds."""
        place(self, guess)
        homotopy.begin(self)
        if not scale(self.evaluator):
            return Status.INVALID
        warm = isinstance(guess, Result)
        self.mu = min(self.mu, self.options.warm_barrier) if warm else self.mu
        self.evaluator.values(self.point)
        if isinstance(guess, Result):
            take_multipliers(self, guess)
        else:
            rows.place_slacks(self.point.v, self.limits, self.point.rows, COLD_PUSH, self.mu)
            self.evaluator.derivatives()
            self.first_multipliers()
        self.measure()
        self.evaluator.derivatives()
        self.direction.choose_metric()
        self.filter = Filter(self.theta)
        if self.again:
            elastic.stretch(self)
        return None

    def iterate(self) -> Status:
        """Newton steps until something ends the search."""
        acceptable = 0
        for _ in range(self.options.iterations + 1):
            error = self.errors()
            self.log(len(self.record), *error)
            worst = max(error)
            self.keep_best(error[1])
            acceptable = (
                acceptable + 1
                if worst <= 100 * self.tolerance and error[1] <= self.options.rows
                else 0
            )
            if (self.progress.arrived or self.elastic) and (
                worst <= self.tolerance or acceptable >= 10
            ):
                status = self.judge(
                    Status.CONVERGED if worst <= self.tolerance else Status.ACCEPTABLE
                )
                if status:
                    return status
                acceptable = 0
            if interrupted() or (self.callback and self.callback(self.record[-1])):
                return Status.INTERRUPTED
            if time.perf_counter() > self.ends:
                return Status.DEADLINE
            if self.diverges(error[1]):
                return Status.UNBOUNDED
            if elastic.creeping(self):
                self.fall_back()
                self.errors()
            before = self.mu
            if self.progress.arrived or self.elastic:
                barrier.lower(self)
            else:
                homotopy.follow(self)
            found = self.find_direction()
            if found and self.progress.arrived and barrier.little_left(self, before):
                if status := self.judge(Status.CONVERGED):
                    return status
                continue
            if found and self.find_step():
                continue
            if homotopy.ended(self):
                return Status.ACCEPTABLE
            if not self.fall_back():
                return self.give_up(worst)
        return Status.ITERATIONS

    def keep_best(self, violation: float) -> None:
        """Remember the best point so far: least violation, then least cost. It is kept when the
        search has left it for a worse one."""
        violation = max(violation, elastic.violation(self)[1]) if self.elastic else violation
        rank = (max(violation, 1e-6), self.cost / self.evaluator.blocks[0].w[0])
        if rank < self.best_rank:
            self.best_rank, self.best_kept = rank, False
        elif not self.best_kept:
            self.best.copy_from(self.trial)
            self.best_kept = True

    def give_up(self, worst: float) -> Status:
        """The verdict when no step is left."""
        if self.elastic:
            return Status.INFEASIBLE if worst <= 1e3 * self.tolerance else Status.STALLED
        return Status.ACCEPTABLE if worst <= 100 * self.tolerance else Status.STALLED

    def diverges(self, violation: float) -> bool:
        """Whether cost or motion run away."""
        return not np.abs(self.point.z).max() < 1e12 or (self.cost < -1e8 and violation < 1e-2)

    def judge(self, status: Status) -> Status | None:
        """The verdict on a point that meets the optimality conditions; None to go on, from a better
        place."""
        if self.elastic:
            return elastic.judge(self)
        if status is Status.CONVERGED and not self.nudged and not self.is_minimum():
            self.nudge()
            return None
        return status

    def is_minimum(self) -> bool:
        """Whether no direction of clearly negative curvature is left."""
        if self.convex:
            return True
        self.direction.assemble(self.point, *self.parameters)
        return self.direction.try_shift(1e-6)

    def nudge(self) -> None:
        """Leave a saddle or a maximum: small random controls, always the same."""
        self.nudged = True
        self.trial.copy_from(self.point)
        n, u = self.evaluator.n, self.point.z[:-1, self.evaluator.n.nx :]
        u += 1e-3 * (1.0 + np.abs(u)) * np.random.default_rng(0).normal(size=u.shape)
        rows.put_inside(self.point.z, 0, n.nr, self.limits, 1e-4)
        self.mu = max(self.mu, 1e-3)
        self.restart()

    def restart(self) -> None:
        """Begin again from the current variables: new slacks, an empty filter."""
        self.evaluator.values(self.point)
        rows.place_slacks(self.point.v, self.limits, self.point.rows, 1e-4, self.mu)
        self.measure()
        self.evaluator.derivatives()
        self.filter = Filter(self.theta)

    # direction -----------------------------------------------------------------------------------

    def find_direction(self) -> bool:
        """The Newton direction at the current point; False when no amount of added curvature
        helps."""
        d = self.direction
        d.assemble(self.point, *self.parameters)
        if not d.factor():
            return False
        self.convex = d.shift == 0.0 and not d.straight
        return d.solve(self.point, self.point.gap, self.mu, self.rho, self.elastic)

    def first_multipliers(self) -> None:
        """Multipliers that leave the smallest gradient (least squares); zero when they are not
        sensible."""
        d, point = self.direction, self.point
        d.least_squares(point)
        size = max(np.abs(d.dlam).max(), np.abs(d.dy).max())
        if size <= 1e3:
            point.lam[:] = d.dlam
            point.rows.y[:] = d.dy

    # step length ---------------------------------------------------------------------------------

    def find_step(self) -> bool:
        """Backtrack along the direction until the filter accepts; False when it never does.

        Second-order corrections come when the step has become short: corrected full steps along
        directions of little curvature lead farther than the model holds, where a shorter step, and
        more curvature for the next one (`Direction.adapt`), is what helps."""
        d = self.direction
        primal, dual = self.to_boundary()
        if longer := barrier.corrected(self, primal, dual):
            kind = self.attempt(*longer, sum(self.slopes()))
            if kind is not None:
                return self.accept(kind, longer[0])
            barrier.put_back(self)
        slope = sum(self.slopes())
        shortest = self.filter.shortest(self.theta, slope)
        alpha, first = primal, True
        while alpha >= shortest or first:
            kind = self.attempt(alpha, dual, slope)
            if (
                kind is None
                and alpha < LATE * primal <= 2 * alpha
                and self.correct(primal, dual, slope)
            ):
                return True
            if kind is not None:
                d.adapt(alpha / primal, self.trial_theta > max(self.theta, STRAYED))
                return self.accept(kind, alpha)
            if first and self.tiny():
                return self.accept("cost", alpha)
            alpha, first = 0.5 * alpha, False
        return False

    def attempt(self, alpha: float, dual: float, slope: float) -> str | None:
        """Try a step length: what the filter says to it."""
        trial = self.trial
        newton.advance(
            self.direction.held, self.point.held, alpha, dual, self.elastic, self.mu, trial.held
        )
        self.trial_cost, self.trial_theta, self.trial_phi = self.assess(trial)
        if not math.isfinite(self.trial_theta + self.trial_phi):
            self.trial_theta = math.inf
            return None
        return self.filter.accepts(
            (self.trial_theta, self.trial_phi), (self.theta, self.phi), slope, alpha
        )

    def correct(self, alpha: float, dual: float, slope: float) -> bool:
        """Second-order corrections: the same matrix, with the residuals of the full step added."""
        d, kept, point, trial = self.direction, self.kept, self.point, self.trial
        kept.copy_step(d, self.elastic)
        if self.attempt(alpha, dual, slope) is not None or self.trial_theta < self.theta:
            return False
        gap, residual = point.gap.copy(), kept.residual
        rows.residuals(point.v, self.limits, point.rows, self.elastic, residual)
        theta_before = self.theta
        for _ in range(4):
            if not math.isfinite(self.trial_theta):
                break
            rows.residuals(trial.v, self.limits, trial.rows, self.elastic, d.residual)
            gap = alpha * gap + trial.gap
            residual[:] = alpha * residual + d.residual
            d.correct(point, gap, residual, *self.parameters)
            alpha, dual = self.to_boundary()
            kind = self.attempt(alpha, dual, slope)
            if kind is not None:
                return self.accept(kind, alpha)
            if self.trial_theta > 0.99 * theta_before:
                break
            theta_before = self.trial_theta
        d.copy_step(kept, self.elastic)
        return False

    def tiny(self) -> bool:
        """Whether the step is lost in rounding, so that no test on the cost means anything."""
        d, point = self.direction, self.point
        return bool((np.abs(d.dz) <= 1e-14 * (1.0 + np.abs(point.z))).all()) and self.theta <= 1e-7

    def accept(self, kind: str, alpha: float) -> bool:
        """The trial point becomes the current one."""
        if kind == "violation":
            self.filter.add(self.theta, self.phi)
        self.evaluator.exchange()
        self.point, self.trial = self.evaluator.point, self.evaluator.trial
        self.cost, self.theta, self.phi = self.trial_cost, self.trial_theta, self.trial_phi
        self.bounds = self.trial_bounds
        self.step, self.convex = alpha, False
        self.evaluator.derivatives()
        return True

    # when no step is acceptable ------------------------------------------------------------------

    def fall_back(self) -> bool:
        """Where the rows about hold, go back to the middle of what they allow; else, or where that
        has been tried, let them stretch (elastic.py). False when that has been tried too."""
        holds = not self.elastic and self.violation <= ABOUT * self.evaluator.problem.size
        if holds and self.recentred < RECENTRINGS:
            self.recentred += 1
            self.mu = min(0.1, max(100.0 * self.mu, 1e-3))
            self.restart()
            self.first_multipliers()
            self.errors()
            return True
        return elastic.stretch(self)

    def log(
        self, number: int, stationarity: float, violation: float, complementarity: float
    ) -> None:
        """Add a line to the record."""
        cost = self.cost / self.evaluator.blocks[0].w[0]
        line = (
            cost,
            violation,
            stationarity,
            complementarity,
            self.mu,
            self.step,
            self.direction.shift,
            self.elastic,
        )
        self.record.append(Iteration(number, *line))
