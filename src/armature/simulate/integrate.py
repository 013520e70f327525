"""Integrators for any system that gives accelerations: adaptive ones (scipy's, step by step) and
fixed steps.

The state is y = (q, v, w): coordinates, velocities, and the work w of the applied forces, which
makes the energy account exact."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.integrate import BDF, DOP853, OdeSolution, Radau
from scipy.optimize import brentq

from armature.errors import ArgumentError, RobotError
from armature.simulate.progress import Progress
from armature.simulate.result import Event, Status

ADAPTIVE = {"dop853": DOP853, "radau": Radau, "bdf": BDF}
FIXED = ("rk4", "semi-implicit")
MOST_STEPS = 500_000  # of one run
RUNAWAY = 1e100  # states beyond which a motion counts as diverged
SHRUNK = 0.1  # of the usual step: what such a step is near a singular position
USUAL = 8  # steps whose largest is the usual one
STEPS_OVER = (
    0.4,
    0.55,
    0.7,
    0.85,
    1.0,
    1.15,
    1.3,
    1.6,
)  # of the usual step, tried to step over a singular position
NEAR = 0.2  # of the rank margin at the start: a position where it is smaller is nearly singular
MIDST = 0.03  # likewise: a step should not end there
BEYOND = 0.06  # likewise: where a step over a singular position has to end
# of the tolerances near a singular position, where stages are on the constraints and drift from
# them does not count
STRICT = 0.01
LEAST_RTOL = 1e-13  # that double precision allows
SMALLER = 0.5  # of the usual step: smaller ones are looked at for singular positions


class System(Protocol):
    """What can be integrated: accelerations and power at a state, the rates of the coordinates, and
    the way back to the constraints."""

    nq: int
    nv: int

    def motion(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Accelerations (nv,) and the power of the applied forces, W."""
        ...

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """q̇ (nq,)."""
        ...

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The nearest state that obeys the constraints, and how large the error was."""
        ...


@dataclass(frozen=True)
class Settings:
    """How to integrate: method; tolerances of adaptive ones; step of fixed ones (s); times where
    the forces jump; output times."""

    method: str = "dop853"
    step: float | None = None
    rtol: float = 1e-8
    atol: float = 1e-10
    max_step: float = math.inf
    breaks: Sequence[float] = ()
    times: Any = None
    events: Mapping[str, Callable] = field(default_factory=dict)
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.method not in ADAPTIVE and self.method not in FIXED:
            raise ArgumentError(
                f"method {self.method!r} is not known; use one of {', '.join((*ADAPTIVE, *FIXED))}"
            )
        if self.method in FIXED and not (
            self.step is not None and math.isfinite(self.step) and self.step > 0
        ):
            raise ArgumentError(
                f"method {self.method!r} needs step=…, a positive number of seconds, got"
                f" {self.step}"
            )
        if self.step is not None and not self.step > 0:
            raise ArgumentError(f"step is {self.step} s; give a positive number, or leave it out")
        for name in ("rtol", "atol", "max_step"):
            value = getattr(self, name)
            if not value > 0 or (math.isinf(value) and name != "max_step"):
                raise ArgumentError(f"{name} is {value}; give a positive number")


class Result(NamedTuple):
    """States y at times t, the continuous solution where there is one, events, the largest
    projected error, calls, and the end."""

    t: np.ndarray
    y: np.ndarray
    dense: OdeSolution | None
    events: tuple[Event, ...]
    drift: float
    evaluations: int
    status: Status


def integrate(
    system: System, q0: np.ndarray, v0: np.ndarray, duration: float, settings: Settings
) -> Result:
    """Integrate a system from (q0, v0) at t = 0."""
    if not (math.isfinite(duration) and duration > 0):
        raise ArgumentError(f"duration is {duration} s; give a positive number")
    run = _Run(system, settings, float(duration))
    y0 = np.concatenate([q0, v0, [0.0]])
    with Progress("simulation", duration, "s", settings.progress) as progress:
        (run.adaptive if settings.method in ADAPTIVE else run.fixed)(y0, progress)
    if progress.interrupted:
        run.status = Status.INTERRUPTED
    return run.result()


def whole_steps(duration: float, step: float) -> int:
    """How many fixed steps (s) make a duration (s); an ArgumentError where they are more than are
    taken."""
    if step > duration * (1.0 + 1e-9):
        raise ArgumentError(
            f"a step of {step:g} s is longer than the duration, {duration:g} s; give a shorter one"
        )
    if not duration / step <= 20 * MOST_STEPS:
        what = f"{duration:g} s in steps of {step:g} s are more than {20 * MOST_STEPS} steps"
        raise ArgumentError(f"{what}; give longer steps, or less time")
    return max(1, round(duration / step))


class _Diverged(Exception):
    """The state or its rates are no longer finite."""


class _Run:
    """The states of a run while it goes on."""

    def __init__(self, system: System, settings: Settings, duration: float):
        self.system, self.settings, self.duration = system, settings, duration
        self.t: list[float] = []
        self.y: list[np.ndarray] = []
        self.pieces: list[Any] = []
        self.events: list[Event] = []
        self.drift, self.evaluations, self.status = 0.0, 0, Status.COMPLETE
        self.over: Any = None  # the dense output of a step over a singular position
        # a singular position: stages are put on the constraints before their accelerations are
        # asked for
        self.near = False

    def f(self, t: float, y: np.ndarray) -> np.ndarray:
        """ẏ = (q̇, q̈, power); not a number where the state has run away, so that no controller has
        to answer there."""
        if not np.max(np.abs(y)) < RUNAWAY:
            return np.full_like(y, np.nan)
        q, v = self.split(y)
        if self.near:
            try:
                q, v, _ = self.system.project(t, q, v)
            except RobotError:  # the stage met the singular position: the step is refused
                return np.full_like(y, np.nan)
        a, power = self.system.motion(t, q, v)
        self.evaluations += 1
        return np.concatenate([self.system.rates(q, v), a, [power]])

    def jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """∂ẏ/∂y by central differences; nothing depends on the work."""
        J = np.zeros((len(y), len(y)))
        for i in range(len(y) - 1):
            h = 6e-6 * max(1.0, abs(y[i]))
            ahead, back = y.copy(), y.copy()
            ahead[i] += h
            back[i] -= h
            J[:, i] = (self.f(t, ahead) - self.f(t, back)) / (ahead[i] - back[i])
        if not np.all(np.isfinite(J)):
            raise _Diverged
        return J

    def split(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return y[: self.system.nq].copy(), y[self.system.nq : -1].copy()

    def corrected(self, t: float, y: np.ndarray) -> np.ndarray:
        """The state put back on the constraints; the drift is noted."""
        q, v, drift = self.system.project(t, *self.split(y))
        self.drift = max(self.drift, drift)
        return np.concatenate([q, v, y[-1:]])

    def keep(self, t: float, y: np.ndarray) -> None:
        self.t.append(t)
        self.y.append(y)

    # adaptive ------------------------------------------------------------------------------------

    def adaptive(self, y: np.ndarray, progress: Progress) -> None:
        """From break to break, a fresh solver each time."""
        edges = sorted(
            {0.0, self.duration, *(float(b) for b in self.settings.breaks if 0 < b < self.duration)}
        )
        self.keep(0.0, y)
        for start, end in pairwise(edges):
            try:
                self._stretch(start, end, self.y[-1], progress)
            except _Diverged:
                self.status = Status.DIVERGED
            if self.status is not Status.COMPLETE:
                return

    def _stretch(self, start: float, end: float, y: np.ndarray, progress: Progress) -> None:
        solver = self._solver(start, y, end)
        sizes: list[float] = []
        bold = False
        while solver.status == "running":
            before = solver.t, solver.y
            if len(self.t) > MOST_STEPS:
                self.status = Status.STEPS
                return
            solver.step()
            usual = max(sizes[-USUAL:], default=0.0)
            part = (solver.t - before[0]) / usual if usual and solver.t < end and not bold else 1.0
            margin = self._rank_margin(solver.t, solver.y) if part < SMALLER or self.near else 1.0
            if margin < NEAR and not self.near:
                self.near = True
                solver = self._solver(
                    *before, end, min(usual, end - before[0])
                )  # the step again, its stages on the constraints
                continue
            bold = margin < MIDST or (margin < NEAR and part < SHRUNK)  # never twice in a row
            if bold:
                solver = self._stepped_over(solver, before, min(usual, end - before[0]), end)
            elif margin >= NEAR:
                self._leave(solver)
            sizes.append(solver.t - before[0])
            if not self._took(solver, before):
                return
            progress.update(solver.t)

    def _leave(self, solver: Any) -> None:
        """Far from singular positions: the tolerances asked for, and stages as they come."""
        if self.near:
            self.near = False
            solver.rtol, solver.atol = self.settings.rtol, self.settings.atol

    def _took(self, solver: Any, before: tuple[float, np.ndarray]) -> bool:
        """Keep the state after a step, put back on the constraints; False where the run ends
        there."""
        if solver.status == "failed" or not np.max(np.abs(solver.y)) < RUNAWAY:
            self.status = Status.FAILED if solver.status == "failed" else Status.DIVERGED
            return False
        piece = self.over or solver.dense_output()
        self.over = None
        projected = self.corrected(solver.t, solver.y)
        if not np.array_equal(projected, solver.y):
            solver.y = projected
            solver.f = self.f(solver.t, projected)
        ended = self._events(before, (solver.t, projected), piece)
        self.pieces.append(piece)
        if ended is not None:
            self.keep(ended, self.corrected(ended, piece(ended)))
            self.status = Status.EVENT
            return False
        self.keep(solver.t, projected)
        return True

    def _solver(self, start: float, y: np.ndarray, end: float, first: float | None = None) -> Any:
        """A solver of scipy's, at a state; stricter near singular positions."""
        s, strict = self.settings, STRICT if self.near else 1.0
        rtol, atol = max(strict * s.rtol, min(s.rtol, LEAST_RTOL)), strict * s.atol
        options = {"rtol": rtol, "atol": atol, "max_step": s.max_step, "first_step": first}
        return ADAPTIVE[s.method](self.f, start, y, end, **options, **self._jacobian_option())

    def _jacobian_option(self) -> dict[str, Any]:
        return {} if self.settings.method == "dop853" else {"jac": self.jacobian}

    def _rank_margin(self, t: float, y: np.ndarray) -> float:
        """How far the system's constraints are from losing rank, beside the start; only those of
        mechanisms can."""
        found = getattr(self.system, "rank_margin", None)
        return found(t, *self.split(y)) if found else 1.0

    def _stepped_over(
        self, solver: Any, before: tuple[float, np.ndarray], usual: float, end: float
    ) -> Any:
        """A solver behind a singular position, by one step of usual size whatever its error
        estimate says.

        Near such a position accelerations are as uncertain as rounding divided by the distance: an
        error estimate asks for ever smaller steps, which end in its midst. (A drift e of a stage
        from the constraints, divided by the distance, would be far larger: near singular positions
        stages are put back on the constraints, so that the error of the step falls with its size.)
        Of several sizes the one that keeps the energy best is taken: its stages lie farthest from
        it."""
        tried, more = [], self._jacobian_option()
        for part in STEPS_OVER:
            t = min(before[0] + part * usual, end)
            bold = type(solver)(
                self.f, *before, t, rtol=1.0, atol=1e100, first_step=t - before[0], **more
            )
            bold.step()
            y = self._landed(t, bold.y) if bold.status != "failed" else None
            if y is not None:
                system: Any = self.system
                gained = system.energy(*self.split(y)) - system.energy(*self.split(before[1]))
                tried.append((abs(gained - (y[-1] - before[1][-1])), t, y, bold))
        if not tried:
            return solver
        _, t, y, bold = min(tried, key=lambda x: x[0])
        self.over = bold.dense_output()
        if t >= end:
            return bold
        return self._solver(t, y, end, min(usual, end - t))

    def _landed(self, t: float, y: np.ndarray) -> np.ndarray | None:
        """The state after a step over a singular position, on the constraints; None where it is
        still near one, or far from any."""
        if not np.all(np.isfinite(y)) or self._rank_margin(t, y) < BEYOND:
            return None
        try:
            q, v, _ = self.system.project(t, *self.split(y))
        except RobotError:  # a stage of the step met the singular position
            return None
        return np.concatenate([q, v, y[-1:]])

    def _events(
        self, before: tuple, after: tuple, piece: Callable[[float], np.ndarray]
    ) -> float | None:
        """Note the zero crossings within a step; the time of the first terminal one, if any."""
        found = []
        for name, event in self.settings.events.items():
            g = lambda t, y, event=event: float(event(t, *self.split(y)))
            g0, g1 = g(*before), g(*after)
            direction = getattr(event, "direction", 0)
            if g0 == 0.0 or g0 * g1 > 0.0 or direction * (g1 - g0) < 0.0:
                continue
            inside = lambda t, g=g: g(t, piece(t))
            same = inside(before[0]) * inside(after[0]) > 0.0
            t = (
                after[0]
                if g1 == 0.0 or same
                else brentq(inside, before[0], after[0], xtol=1e-15 * max(1.0, after[0]))
            )
            found.append((t, name, getattr(event, "terminal", False)))
        for t, name, terminal in sorted(found, key=lambda x: x[0]):
            self.events.append(Event(name, t, *self.split(piece(t))))
            if terminal:
                return t
        return None

    # fixed ---------------------------------------------------------------------------------------

    def fixed(self, y: np.ndarray, progress: Progress) -> None:
        """Whole steps; the duration is rounded to them."""
        h = float(self.settings.step or 0.0)
        steps = whole_steps(self.duration, h)
        advance = self._rk4 if self.settings.method == "rk4" else self._semi_implicit
        self.keep(0.0, y)
        for k in range(steps):
            y = advance(k * h, y, h)
            if not np.max(np.abs(y)) < RUNAWAY:
                self.status = Status.DIVERGED
                return
            y = self.corrected((k + 1) * h, y)
            before, t = (k * h, self.y[-1]), (k + 1) * h
            straight = lambda s, a=before, b=y, h=h: a[1] + (s - a[0]) / h * (b - a[1])
            ended = self._events(before, (t, y), straight)
            self.keep(t, y)
            progress.update(t)
            if ended is not None:
                self.status = Status.EVENT
                return

    def _rk4(self, t: float, y: np.ndarray, h: float) -> np.ndarray:
        k1 = self.f(t, y)
        k2 = self.f(t + h / 2, y + h / 2 * k1)
        k3 = self.f(t + h / 2, y + h / 2 * k2)
        k4 = self.f(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def _semi_implicit(self, t: float, y: np.ndarray, h: float) -> np.ndarray:
        """v₊ = v + h a(q, v), q₊ = q + h q̇(q, v₊)."""
        q, v = self.split(y)
        a, power = self.system.motion(t, q, v)
        self.evaluations += 1
        v = v + h * a
        return np.concatenate([q + h * self.system.rates(q, v), v, [y[-1] + h * power]])

    # ---------------------------------------------------------------------------------------------

    def result(self) -> Result:
        t, y = np.array(self.t), np.array(self.y)
        dense = (
            OdeSolution(t, self.pieces) if self.pieces and len(self.pieces) == len(t) - 1 else None
        )
        if self.settings.times is not None:
            t, y = self._sampled(t, y, dense)
        return Result(t, y, dense, tuple(self.events), self.drift, self.evaluations, self.status)

    def _sampled(
        self, t: np.ndarray, y: np.ndarray, dense: OdeSolution | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """States at the asked times that were reached; those of a fixed-step run must be its
        own."""
        times = np.asarray(self.settings.times, dtype=float)
        if (
            times.ndim != 1
            or len(times) == 0
            or np.any(np.diff(times) <= 0)
            or times[0] < 0
            or times[-1] > self.duration * (1 + 1e-12)
        ):
            raise ArgumentError(f"times must increase within 0 … {self.duration:g} s")
        times = times[times <= t[-1] * (1 + 1e-12)]
        if dense is None:
            index = np.clip([bisect_right(t, x * (1 + 1e-12)) - 1 for x in times], 0, len(t) - 1)
            return t[np.unique(index)], y[np.unique(index)]
        rows = [
            self.corrected(float(x), dense(min(float(x), t[-1]))) if x > 0 else y[0] for x in times
        ]
        return times, np.array(rows)
