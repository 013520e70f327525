"""From a problem in continuous time to its optimal motion: a first mesh, then meshes that fit the
motion.

The first solve has equal steps and starts from straight lines between the states that are known, in
durations of several sizes where these are free. Where controls jump from bound to bound the motion
is then cut into parts with free durations, so that steps end where controls switch and the
polynomials of (C4) are smooth inside them; then steps are halved until the cost stands still."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError, check_count
from armature.memo import memo
from armature.optimize.control.collocation import collocated, constraint_count, radau
from armature.optimize.control.mesh import (
    SHORTEST,
    Mesh,
    Meshed,
    change_of,
    equal_steps,
    merged,
    middle,
    parted,
    size_of,
    through,
)
from armature.optimize.control.motion import Motion
from armature.optimize.control.statement import ControlProblem, ends, span
from armature.optimize.problem.problem import Guess, Problem, filled, interval
from armature.optimize.problem.result import Result, Status
from armature.optimize.solver.interior import Options, solve

# s, of the whole motion: where the duration is free and none of them given, tried in turn
DURATIONS = (1.0, 3.0, 0.3, 10.0, 30.0, 0.1)
AT_BOUND = 0.05  # of a control's range: nearer than this it is at the bound
MOST_SWITCHES = 24
NEAR = 3.0  # times: how far a part's duration may go from what it was before
# of the cost, once its size is known: else multipliers of points are small, and the barrier keeps
# controls off bounds
WEIGHT = 100.0
NEARBY = 1e-4  # barrier of a solve from a motion that is known
CUTS = 4  # at most: a motion cut at its switches tells better where they are
COARSER = 1e-3  # of the cost: by which a first cut, with fewer steps, may be dearer
STANDS = 1e-7  # of the cost: a change by halving the steps that is none
RESOLVED = 1e-4  # likewise: a larger change by the last halving is said
MOST_STEPS = 800
LARGE = 10.0  # first scale of controls whose bounds are wider


def optimize(
    problem: ControlProblem,
    guess: Motion | Guess | None = None,
    steps: int = 40,
    degree: int = 3,
    refine: bool = True,
    options: Options | None = None,
    callback: Callable | None = None,
    deadline: float | None = None,
) -> Motion:
    """The motion of least cost.

    guess: an earlier Motion, or Guess(x, u, p): x (K, nx) and u (K, nu) at equal times over the
    whole motion (or one state, one control), p the durations of the phases, s, followed by the free
    parameters.  steps: of the first mesh, shared among the phases.
    degree: of the collocation.  refine: meshes that end where controls switch, and halved until the
    cost stands still."""
    check_count(steps, "steps")
    search = Search(problem, degree, options or Options(tolerance=1e-9), callback, deadline)
    best: Motion | None = None
    for start in search.starts(guess, steps):
        found = search.solved(*start)
        if best is None or (found.ok and not best.ok):
            best = found
        if best.ok:
            break
    assert best is not None
    return search.refined(best) if refine and best.ok else best


@dataclass(frozen=True, eq=False)
class Search:
    """One search. models: made so far, by the groups of their parts."""

    problem: ControlProblem
    degree: int
    options: Options
    callback: Callable | None
    deadline: float | None

    # starts --------------------------------------------------------------------------------------

    def starts(
        self, guess: Motion | Guess | None, steps: int
    ) -> Iterator[tuple[Mesh, Callable, np.ndarray]]:
        """(mesh, states and controls by time, parameters) to begin with."""
        problem, parts = self.problem, self.problem.parts
        own = np.clip(np.zeros(problem.np), *interval(problem.p, (problem.np,), "p"))
        if isinstance(guess, Motion):
            yield equal_steps(guess.durations, steps), guess, guess.p
            return
        if guess is not None and np.any(np.asarray(guess.p)):
            p = filled(
                guess.p, (len(parts) + problem.np,), "the guess for p (durations, then parameters)"
            )
            yield (
                equal_steps(p[: len(parts)], steps),
                self.straight(guess, p[: len(parts)]),
                p[len(parts) :],
            )
            return
        spans = [span(part.duration, "duration") for part in parts]
        free = any(low != high for low, high in spans)
        for whole in DURATIONS if free else DURATIONS[:1]:
            T = [
                min(max(whole / len(parts), low if low > 0 else 1e-3 * whole), high)
                for low, high in spans
            ]
            yield equal_steps(T, steps), self.straight(guess or Guess(), T), own

    def straight(self, guess: Guess, T: Any) -> Callable:
        """States on straight lines between those that are known, controls in the middle of their
        bounds; or as the guess says."""
        problem, times = self.problem, np.concatenate([[0.0], np.cumsum(T)])
        known = [
            ends(problem.start, problem.nx, "start"),
            *(ends(part.end, problem.nx, "end") for part in problem.parts),
        ]
        low, high = ends(problem.end, problem.nx, "end")
        known[-1] = np.maximum(known[-1][0], low), np.minimum(known[-1][1], high)
        box = interval(problem.x, (problem.nx,), "x")
        x = np.column_stack(
            [
                through(times, [(k[0][i], k[1][i]) for k in known], box[0][i], box[1][i])
                for i in range(problem.nx)
            ]
        )
        given, u = np.asarray(guess.x, dtype=float), np.asarray(guess.u, dtype=float)
        half_way = middle(*interval(problem.u, (problem.nu,), "u")) + np.zeros(problem.nu)
        if given.ndim == 2 or (given.ndim == 1 and np.any(given)):
            x, times = (
                filled(
                    given, (given.shape[0] if given.ndim == 2 else 2, problem.nx), "the guess for x"
                ),
                None,
            )
        at = np.linspace(0.0, float(np.sum(T)), len(x)) if times is None else times
        rows = filled(
            u if np.any(u) else half_way,
            (u.shape[0] if u.ndim == 2 else 2, problem.nu),
            "the guess for u",
        )
        when = np.linspace(0.0, float(np.sum(T)), len(rows))
        each = lambda t, grid, values: np.stack(
            [np.interp(t, grid, column) for column in values.T], axis=-1
        )
        return lambda t: (
            each(t, at, x),
            each(t, when, rows) if problem.nu else np.zeros((*np.shape(t), 0)),
        )

    # one solve -----------------------------------------------------------------------------------

    def solved(
        self, mesh: Mesh, start: Callable, own: np.ndarray, weight: float = 1.0, scales: Any = None
    ) -> Motion:
        """The motion on a mesh. start: time → (states, controls).  weight: of the cost.  scales: of
        states and controls, where a motion nearby is known."""
        s, model = self.degree, self.model(mesh.groups)
        sx, su = scales or self.scales()
        knots = mesh.knots()
        inner = knots[:-1, None] + np.diff(knots)[:, None] * radau(s).points
        last = np.nextafter(knots[-1], 0.0)
        X, U = (np.asarray(y) for y in start(np.minimum(inner, last)))
        x = np.asarray(start(np.minimum(knots, last))[0])
        x = np.clip(x / sx, *self.knot_bounds(mesh, sx))
        controls = np.hstack([(X / sx).reshape(mesh.N, -1), (U / su).reshape(mesh.N, -1)])
        asked = self.asked(mesh, model, weight, sx, su)
        first = Guess(x, np.clip(controls, *asked.u), np.concatenate([mesh.T, own]))
        barrier = self.options.barrier if scales is None else min(self.options.barrier, NEARBY)
        options = replace(self.options, barrier=barrier)
        result = solve(asked, first, options, self.callback, self.deadline)
        return self.motion(mesh, result, weight, sx, su)

    def model(self, groups: tuple[int, ...]) -> Any:
        """The compiled model, made once for a problem and its parts."""
        models = memo(self.problem, "models")
        key = (self.degree, groups)
        if key not in models:
            models[key] = collocated(self.problem, self.degree, groups)
        return models[key]

    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Of states and controls, before a motion is known: what their ends and bounds tell, 1
        where these tell nothing."""
        problem = self.problem
        pairs = [
            interval(problem.x, (problem.nx,), "x"),
            ends(problem.start, problem.nx, "start"),
            ends(problem.end, problem.nx, "end"),
        ]
        sizes = np.abs(np.concatenate([np.stack(pair) for pair in pairs[1:]]))
        sx = np.max(np.where(np.isfinite(sizes), sizes, 0.0), axis=0)
        u = np.abs(np.stack(interval(problem.u, (problem.nu,), "u")))
        su = np.max(np.where(np.isfinite(u), u, 0.0), axis=0, initial=0.0)
        return np.where(sx > 1e-6, sx, 1.0), np.where(su > 0.0, np.minimum(su, LARGE), 1.0)

    def knot_bounds(self, mesh: Mesh, sx: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(N+1, nx) each, of the scaled states at the knots: those of the phases on both sides, and
        the ends."""
        problem, n = self.problem, self.problem.nx
        low, high = (np.tile(side, (mesh.N + 1, 1)) for side in interval(problem.x, (n,), "x"))
        phase = np.array(mesh.groups)[mesh.part]
        for k, part in enumerate(problem.parts):
            here = np.flatnonzero(phase == k)
            for side, given, tighter in zip(
                (low, high),
                interval(part.x or (-np.inf, np.inf), (n,), "x"),
                (np.maximum, np.minimum),
            ):
                side[here[0] : here[-1] + 2] = tighter(side[here[0] : here[-1] + 2], given)
        stops = [
            (0, problem.start),
            *zip(mesh.boundaries, (part.end for part in problem.parts)),
            (mesh.N, problem.end),
        ]
        for knot, given in stops:
            least, most = ends(given, n, "end")
            low[knot], high[knot] = np.maximum(low[knot], least), np.minimum(high[knot], most)
            if np.any(low[knot] > high[knot] + 1e-12):
                i = int(np.argmax(low[knot] - high[knot]))
                where = "the start" if knot == 0 else "an end"
                raise ArgumentError(
                    f"state {i} at {where} lies outside its bounds: widen them, or move it"
                )
        return low / sx, np.maximum(low, high) / sx

    def asked(
        self, mesh: Mesh, model: Any, weight: float, sx: np.ndarray, su: np.ndarray
    ) -> Problem:
        """Bounds and data of the solver's problem."""
        problem, s, N = self.problem, self.degree, mesh.N
        phase = np.array(mesh.groups)[mesh.part]
        inside = lambda which, size, scale: self.within(which, size, phase) / np.tile(scale, s)
        X, U = inside("x", problem.nx, sx), inside("u", problem.nu, su)
        rows = s * problem.nx
        low, high = interval(problem.between, (constraint_count(problem),), "between")
        c = [np.concatenate([np.zeros(rows), np.tile(side, s)]) for side in (low, high)]
        spans = np.array([span(part.duration, "duration") for part in problem.parts])
        alone = [mesh.groups.count(group) == 1 for group in mesh.groups]
        least = SHORTEST * sum(mesh.T)
        near = [(max(least, t / NEAR), NEAR * t) for t in mesh.T]
        T = np.array([spans[g] if one else pair for g, one, pair in zip(mesh.groups, alone, near)])
        T[:, 0] = np.maximum(T[:, 0], np.minimum(least, T[:, 1]))
        p = [np.concatenate([T[:, k], interval(problem.p, (problem.np,), "p")[k]]) for k in (0, 1)]
        single = np.array([mesh.groups.count(k) == 1 for k in range(len(spans))])
        totals = [np.where(single, bound, spans[:, k]) for k, bound in ((0, -np.inf), (1, np.inf))]
        return Problem(
            model,
            N,
            self.knot_bounds(mesh, sx),
            (np.hstack([X[0], U[0]]), np.hstack([X[1], U[1]])),
            (p[0], p[1]),
            (c[0], c[1]),
            totals=(totals[0], totals[1]),
            data=self.data(mesh, model, weight, sx, su),
        )

    def within(self, which: str, size: int, phase: np.ndarray) -> np.ndarray:
        """(2, N, s·size) bounds of states or controls at the points of every step."""
        own = np.stack(interval(getattr(self.problem, which), (size,), which))
        found = np.empty((2, len(phase), size))
        for k, part in enumerate(self.problem.parts):
            given = interval(getattr(part, which) or (-np.inf, np.inf), (size,), which)
            found[0, phase == k], found[1, phase == k] = (
                np.maximum(own[0], given[0]),
                np.minimum(own[1], given[1]),
            )
        return np.tile(found, (1, 1, self.degree))

    def data(
        self, mesh: Mesh, model: Any, weight: float, sx: np.ndarray, su: np.ndarray
    ) -> np.ndarray:
        """(N+1, nd): weight, shares of the durations, numbers of the phase, scales."""
        part = mesh.part
        shares = np.zeros((mesh.N, len(mesh.counts)))
        shares[np.arange(mesh.N), part] = 1.0 / np.array(mesh.counts)[part]
        numbers = np.array(
            [tuple(self.problem.parts[g].data) for g in np.array(mesh.groups)[part]], dtype=float
        ).reshape(mesh.N, -1)
        rows = np.column_stack(
            [
                np.full(mesh.N, weight),
                shares,
                numbers,
                np.tile(sx, (mesh.N, 1)),
                np.tile(su, (mesh.N, 1)),
            ]
        )
        return np.vstack([rows, rows[-1:]])

    def motion(
        self, mesh: Mesh, result: Result, weight: float, sx: np.ndarray, su: np.ndarray
    ) -> Motion:
        """The solver's answer in the problem's units."""
        problem, s, N = self.problem, self.degree, mesh.N
        T, own = result.p[: len(mesh.T)], result.p[len(mesh.T) :]
        knots, rows = mesh.knots(T), s * problem.nx
        points = result.u[:, :rows].reshape(N, s, problem.nx) * sx
        controls = result.u[:, rows:].reshape(N, s, problem.nu) * su
        whole = np.array(
            [sum(t for t, g in zip(T, mesh.groups) if g == k) for k in range(len(problem.parts))]
        )
        found = Meshed(
            knots,
            result.x * sx,
            points,
            controls,
            own,
            whole,
            result.cost / weight,
            np.zeros(0),
            np.nan,
            result,
            replace(mesh, T=tuple(T.tolist())),
        )
        return replace(found, switches=self.jumps(found))

    # better meshes -------------------------------------------------------------------------------

    def refined(self, first: Motion) -> Motion:
        """Parts that end where controls switch, then half the steps until the cost stands still."""
        best: Any = self.cut(first)
        while 2 * best.mesh.N <= MOST_STEPS:
            finer = replace(best.mesh, counts=tuple(2 * count for count in best.mesh.counts))
            found = self.again(best, finer)
            if not found.ok or change_of(found, best) > RESOLVED:
                # once more with the scales of the first solve: the cheaper of both
                other = self.solved(finer, best, best.p)
                if other.ok and not (found.ok and found.cost <= other.cost):
                    found = other
            if not found.ok:
                break
            change = change_of(found, best)
            best = replace(found, error=change)
            if change <= STANDS:
                break
        if best.error > RESOLVED:
            best = replace(best, result=replace(best.result, status=Status.UNRESOLVED))
        return best

    def again(self, best: Any, mesh: Mesh) -> Any:
        """The motion on another mesh, from a known one, with weight and scales of its size."""
        sx, su = size_of(best.points, best.x), size_of(best.controls, best.controls)
        weight = WEIGHT / abs(best.cost) if abs(best.cost) > 1e-12 else 1.0
        return self.solved(mesh, best, best.p, weight, (sx, su))

    def cut(self, best: Any) -> Any:
        """The motion with parts that end where its controls jump from bound to bound, where there
        are such places."""
        found = best
        for k in range(CUTS):
            times = self.jumps(found)
            if not 0 < len(times) <= MOST_SWITCHES:
                break
            again = self.again(found, parted(found, times))
            gain = (found.cost - again.cost) / max(abs(found.cost), 1e-300)
            if not again.ok or gain < (-COARSER if k == 0 else 0.0):
                break
            found = again
            if k and gain < STANDS:
                break
        return found

    def jumps(self, best: Any) -> np.ndarray:
        """Times at which some control goes from one bound to the other within two steps, s."""
        mesh, s = best.mesh, self.degree
        if not self.problem.nu:
            return np.zeros(0)
        phase = np.array(mesh.groups)[mesh.part]
        bounds = self.within("u", self.problem.nu, phase).reshape(2, mesh.N, s, self.problem.nu)
        low, high = (side.reshape(-1, self.problem.nu) for side in bounds)
        u, t = best.controls.reshape(-1, self.problem.nu), best.t[1:]
        with np.errstate(invalid="ignore"):
            place = np.where(np.isfinite(high - low), (u - low) / (high - low), 0.5)
        side = np.where(place > 1 - AT_BOUND, 1, np.where(place < AT_BOUND, -1, 0))
        found: list[float] = []
        for i in range(self.problem.nu):
            at = np.flatnonzero(side[:, i])
            for a, b in itertools.pairwise(at):
                if side[a, i] != side[b, i] and b - a <= 2 * s + 1:
                    found.append(float(t[a] + t[b]) / 2)
        return merged(np.sort(found), 0.5 * best.duration / max(mesh.N, 1))
