"""Two ways to make a motion discrete, one `Model` for the solver.

*By accelerations* (K1): acceleration is the control, constant or linear over a step, so that the
  motion is exactly a polynomial and only inverse dynamics is nonlinear:

    (T1)  q(c) = q + ch v + ½(ch)²a [+ ⅙(ch)³j],   v(c) = v + ch a [+ ½(ch)²j],   a(c) = a [+ ch j],
    0 ≤ c ≤ 1

Costs and limits are taken at the points c_i of a quadrature rule. All rules here give the work τ·v
of a constant inertia exactly
(for the midpoint: power with the mean velocity), so that no step makes energy, as explicit Euler
does.

*By forward dynamics* (B4): torques or currents are the control; explicit Euler as in [15] of the
  thesis, or Runge–Kutta of order 4:

    (T2)  a_i = A(q_i, v_i, τ_i),   q_i = q + c_i h v_{i−1},   v_i = v + c_i h a_{i−1},   i = 1 … s
    (T3)  q₊ = q + h Σ b_i v_i,   v₊ = v + h Σ b_i a_i,   cost h Σ b_i l_i

A is the inner function that all points share, each built on the one before.

The length of a step is a sum: h = d₀ + Σ_j p_j d_{1+j}, with the free durations p and data d: for a
given duration d₀ = T/N, for a free one d₁ = 1/N, for a via point with free passing time two
durations, each with its own steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from armature.errors import ArgumentError
from armature.optimize.problem.problem import Inner, Model

# points in the step and their weights
RULES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "start": ((0.0,), (1.0,)),
    "midpoint": ((0.5,), (1.0,)),
    "trapezoid": ((0.0, 1.0), (0.5, 0.5)),
    "gauss": ((0.5 - 3**-0.5 / 2, 0.5 + 3**-0.5 / 2), (0.5, 0.5)),
    "simpson": ((0.0, 0.5, 1.0), (1 / 6, 2 / 3, 1 / 6)),
}

# c and b of explicit methods in which each point follows from the one before
METHODS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "euler": ((0.0,), (1.0,)),
    "rk4": ((0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}


class At(NamedTuple):
    """An instant of the motion, in symbols. q, v, a, tau: (n,) each, SI; jerk: (n,), zeros where it
    is not a control.

    slacks, stores: extra controls (each point of the rule has its own) and extra states.  p: free
    parameters.  d: the caller's data."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    jerk: np.ndarray
    slacks: np.ndarray
    stores: np.ndarray
    p: np.ndarray
    d: np.ndarray
    mean: np.ndarray | None = None


@dataclass(frozen=True)
class Instant:
    """What is asked at an instant. cost: per second.  constraints: limits, bounded in the
    `Problem`.  conditions: on the slacks, where
    the cost is taken.  totals: per second, integrated over the whole motion.  rates: of the stores,
    per second."""

    cost: Any = 0.0
    constraints: Sequence[Any] = ()
    conditions: Sequence[Any] = ()
    totals: Sequence[Any] = ()
    rates: Sequence[Any] = ()


@dataclass(frozen=True)
class Shape:
    """n joints; slacks: extra controls for each point of a rule; stores: extra states; durations:
    free ones; parameters: further free numbers, after the durations in p; nd: the caller's data at
    a knot."""

    n: int
    slacks: int = 0
    stores: int = 0
    durations: int = 0
    parameters: int = 0
    nd: int = 0
    joint_names: tuple[str, ...] = ()
    slack_names: tuple[str, ...] = ()
    store_names: tuple[str, ...] = ()
    constraint_names: tuple[str, ...] = ()
    total_names: tuple[str, ...] = ()

    def named(self, what: str) -> list[str]:
        """One name for each joint."""
        return [
            f"{what} of {self.joint_names[i] if i < len(self.joint_names) else f'joint {i}'}"
            for i in range(self.n)
        ]

    def step(self, p: Any, d: Any) -> Any:
        """h, s."""
        return sum((p[j] * d[1 + j] for j in range(self.durations)), start=d[0])

    def caller_data(self, d: Any) -> np.ndarray:
        """The part of the data that belongs to the caller."""
        return vector(d, 1 + self.durations, self.nd)


def times(factor: Any, values: np.ndarray) -> np.ndarray:
    """factor × every value; a symbolic factor would take over a whole array."""
    return np.array([factor * value for value in values], dtype=object)


def vector(symbols: Any, start: int, count: int) -> np.ndarray:
    """Scalars start … start + count of a symbolic column as an array."""
    array = np.empty(count, dtype=object)
    for i in range(count):
        array[i] = symbols[start + i]
    return array


def listed(value: Any) -> list[Any]:
    """One scalar or a sequence of them as a list."""
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]


@dataclass(frozen=True)
class Accelerations:
    """Transcription by accelerations. torque: (q, v, a, p, d) -> tau, the inverse dynamics.
    instant: `At` -> `Instant`.

    linear: acceleration linear over a step, and continuous: it becomes a state and jerk the
    control.
    rule: of RULES, for costs, totals, stores and limits.  limits_at: points for the constraints, if
    others.
    between: (`At` at the step's start, `At` at its end, h) -> further constraints, such as torque
    rates.
    closed: where `torque` depends on (q, v, a) alone, its closed derivatives: (q, v, a) -> ∂tau (n,
    3n), and (q, v, a, m) -> ∂²(m·tau)."""

    shape: Shape
    torque: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any]
    instant: Callable[[At], Instant]
    linear: bool = False
    rule: str = "midpoint"
    limits_at: tuple[float, ...] = ()
    between: Callable[[At, At, Any], Sequence[Any]] | None = None
    closed: tuple[Callable[..., ca.SX], Callable[..., ca.SX]] | None = None
    points: tuple[float, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ArgumentError(
                f"there is no quadrature rule {self.rule!r}; choose one of {', '.join(RULES)}"
            )
        ends = (0.0, 1.0) if self.between else ()
        points = dict.fromkeys([*RULES[self.rule][0], *self.limits_at, *ends])
        object.__setattr__(self, "points", tuple(points))

    def model(self, key: str = "") -> Model:
        """The functions of a step. key: says all that `torque` and `instant` depend on (for the
        disk cache)."""
        s = self.shape
        orders = 3 if self.linear else 2
        parameters = s.durations + s.parameters
        style = (
            f"{'linear' if self.linear else 'constant'} {self.rule} {self.limits_at}"
            f" {self.between is not None} {s}"
        )
        return Model(
            nx=orders * s.n + s.stores,
            nu=s.n + s.slacks * len(RULES[self.rule][0]),
            np=parameters,
            nd=1 + s.durations + s.nd,
            dynamics=self.dynamics,
            cost=self.cost,
            constraints=self.constraints,
            totals=self.totals,
            inner=self.inner(),
            key=f"by accelerations {style} {key}" if key else "",
            state_names=[
                *s.named("position"),
                *s.named("velocity"),
                *(s.named("acceleration") if self.linear else ()),
                *s.store_names,
            ],
            control_names=[
                *s.named("jerk" if self.linear else "acceleration"),
                *s.slack_names * len(RULES[self.rule][0]),
            ],
            constraint_names=s.constraint_names,
            total_names=s.total_names,
        )

    def inner(self) -> Inner:
        """w = (tau, v, a) as the function that costs and limits share, with its closed derivatives
        where they are given."""
        n, s = self.shape.n, self.shape
        if self.closed is None:
            return Inner(self.arguments, self.torque_of, 3 * n + s.durations + s.parameters + s.nd)
        slope, curvature = self.closed
        parts = lambda xi: [vector(xi, k * n, n) for k in range(3)]
        return Inner(
            self.arguments,
            self.torque_of,
            3 * n,
            lambda xi: ca.vertcat(slope(*parts(xi)), ca.horzcat(ca.SX(2 * n, n), ca.SX.eye(2 * n))),
            lambda xi, m: curvature(*parts(xi), vector(m, 0, n)),
        )

    def motion(
        self, x: Any, u: Any, h: Any, c: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(T1): q, v, a, jerk at the fraction c of the step."""
        n, t = self.shape.n, c * h
        q, v = vector(x, 0, n), vector(x, n, n)
        if self.linear:
            a, j = vector(x, 2 * n, n), vector(u, 0, n)
            return (
                q + times(t, v + times(t / 2, a + times(t / 3, j))),
                v + times(t, a + times(t / 2, j)),
                a + times(t, j),
                j,
            )
        a = vector(u, 0, n)
        return q + times(t, v + times(t / 2, a)), v + times(t, a), a, np.zeros(n)

    def arguments(self, x: Any, u: Any, p: Any, d: Any) -> list[list[Any]]:
        """ξ = (q, v, a, p, d) at every point: what the torque depends on; (q, v, a) where its
        derivatives are closed."""
        s, h = self.shape, self.shape.step(p, d)
        tail = [] if self.closed else [*vector(p, 0, s.durations + s.parameters), *s.caller_data(d)]
        return [[*np.concatenate(self.motion(x, u, h, c)[:3]), *tail] for c in self.points]

    def torque_of(self, xi: Any) -> Any:
        """ω(ξ) = (tau, v, a)."""
        s = self.shape
        q, v, a = (vector(xi, k * s.n, s.n) for k in range(3))
        parameters, nd = (0, 0) if self.closed else (s.durations + s.parameters, s.nd)
        return [
            *self.torque(
                q, v, a, vector(xi, 3 * s.n, parameters), vector(xi, 3 * s.n + parameters, nd)
            ),
            *v,
            *a,
        ]

    def at(self, c: float, x: Any, u: Any, p: Any, d: Any, w: Any) -> At:
        """The instant at the point c."""
        s, n = self.shape, self.shape.n
        tau, v, a = (vector(w[self.points.index(c)], k * n, n) for k in range(3))
        q, _, _, jerk = self.motion(x, u, s.step(p, d), c)
        stores = vector(x, (3 if self.linear else 2) * s.n, s.stores)
        parameters, points = vector(p, 0, s.durations + s.parameters), RULES[self.rule][0]
        place = points.index(c) if c in points else 0
        slacks = vector(u, s.n + place * s.slacks, s.slacks)
        h = s.step(p, d)
        mean = (
            vector(x, n, n) + times(h / 2, vector(x, 2 * n, n) + times(h / 3, jerk))
            if self.linear
            else None
        )
        return At(q, v, a, tau, jerk, slacks, stores, parameters, s.caller_data(d), mean)

    def integrate(self, part: str, x: Any, u: Any, p: Any, d: Any, w: Any) -> np.ndarray:
        """h Σ weight × part of the instant."""
        points, weights = RULES[self.rule]
        found = [listed(getattr(self.instant(self.at(c, x, u, p, d, w)), part)) for c in points]
        h = self.shape.step(p, d)
        return np.array(
            [h * sum(b * value for b, value in zip(weights, values)) for values in zip(*found)],
            dtype=object,
        )

    def dynamics(self, x: Any, u: Any, p: Any, d: Any, w: Any) -> list[Any]:
        """x after the step."""
        s = self.shape
        q, v, a, _ = self.motion(x, u, s.step(p, d), 1.0)
        after = [*q, *v, *(a if self.linear else ())]
        if s.stores:
            after += list(vector(x, len(after), s.stores) + self.integrate("rates", x, u, p, d, w))
        return after

    def cost(self, x: Any, u: Any, p: Any, d: Any, w: Any) -> Any:
        """Of the step."""
        return self.integrate("cost", x, u, p, d, w)[0]

    def totals(self, x: Any, u: Any, p: Any, d: Any, w: Any) -> list[Any]:
        """What the step adds to the totals."""
        return list(self.integrate("totals", x, u, p, d, w))

    def constraints(self, x: Any, u: Any, p: Any, d: Any, w: Any) -> list[Any]:
        """The limits at every point in turn, the conditions likewise, then `between`."""
        points = RULES[self.rule][0]
        found = [
            value
            for c in self.limits_at or points
            for value in self.instant(self.at(c, x, u, p, d, w)).constraints
        ]
        found += [
            value for c in points for value in self.instant(self.at(c, x, u, p, d, w)).conditions
        ]
        if self.between:
            begin, end = (self.at(c, x, u, p, d, w) for c in (0.0, 1.0))
            found += list(self.between(begin, end, self.shape.step(p, d)))
        return found


@dataclass(frozen=True)
class ForwardDynamics:
    """Transcription by forward dynamics. acceleration: (q, v, tau, p, d) -> a.  method: "euler",
    the thesis's [15], or "rk4".

    The `controls` first controls are of any kind (torques, currents, those of a part of the
    joints), constant in a step; torques: (q, v, controls, p, d) -> tau makes joint torques of them,
    by default they are these.
    ramp: the controls run straight instead, and continuously: they become states, and their rates
    the controls. Constraints hold at the step's start.
    """

    shape: Shape
    controls: int
    acceleration: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any]
    instant: Callable[[At], Instant]
    method: str = "rk4"
    torques: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], Any] | None = (
        None
    )
    ramp: bool = False
    control_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ArgumentError(
                f"there is no method {self.method!r}; choose {' or '.join(METHODS)}"
            )

    def model(self, key: str = "") -> Model:
        """The functions of a step. key: says all that `acceleration`, `torques` and `instant`
        depend on (for the disk cache)."""
        s = self.shape
        names = self.control_names or tuple(f"control {i}" for i in range(self.controls))
        parameters = s.durations + s.parameters
        size = 2 * s.n + self.torque_count + parameters + s.nd
        return Model(
            nx=2 * s.n + self.ramped + s.stores,
            nu=self.controls + s.slacks,
            np=parameters,
            nd=1 + s.durations + s.nd,
            dynamics=self.dynamics,
            cost=self.cost,
            constraints=self.constraints,
            totals=self.totals,
            inner=Inner(
                self.arguments, self.acceleration_of, size, points=len(METHODS[self.method][0])
            ),
            key=(
                f"by forward dynamics {self.method} {self.controls} {self.ramp} {s} {key}"
                if key
                else ""
            ),
            state_names=[
                *s.named("position"),
                *s.named("velocity"),
                *(names if self.ramp else ()),
                *s.store_names,
            ],
            control_names=[
                *(f"rate of {name}" if self.ramp else name for name in names),
                *s.slack_names,
            ],
            constraint_names=s.constraint_names,
            total_names=s.total_names,
        )

    @property
    def ramped(self) -> int:
        """Controls that are states."""
        return self.controls if self.ramp else 0

    @property
    def torque_count(self) -> int:
        """Numbers that `acceleration` takes for τ."""
        return self.shape.n if self.torques else self.controls

    def points(self, x: Any, u: Any, p: Any, d: Any, w: Sequence[Any]) -> list[At]:
        """(T2): the points of the step that follow from the accelerations w; without an
        acceleration where it is not known yet."""
        s, n, h = self.shape, self.shape.n, self.shape.step(p, d)
        q, v, stores = vector(x, 0, n), vector(x, n, n), vector(x, 2 * n + self.ramped, s.stores)
        slacks, parameters, data = (
            vector(u, self.controls, s.slacks),
            vector(p, 0, s.durations + s.parameters),
            s.caller_data(d),
        )
        found: list[At] = []
        for i, c in enumerate(METHODS[self.method][0][: len(w) + 1]):
            at, speed = (
                (q + times(c * h, found[-1].v), v + times(c * h, found[-1].a)) if i else (q, v)
            )
            given = vector(u, 0, self.controls)
            given = vector(x, 2 * n, self.controls) + times(c * h, given) if self.ramp else given
            tau = (
                given
                if self.torques is None
                else np.array(list(self.torques(at, speed, given, parameters, data)), dtype=object)
            )
            a = vector(w[i], 0, n) if i < len(w) else np.zeros(n)
            found.append(At(at, speed, a, tau, np.zeros(n), slacks, stores, parameters, data))
        return found

    def arguments(self, x: Any, u: Any, p: Any, d: Any, w: Sequence[Any]) -> list[list[Any]]:
        """ξ = (q, v, τ, p, d) at every point that is known."""
        return [[*at.q, *at.v, *at.tau, *at.p, *at.d] for at in self.points(x, u, p, d, w)]

    def acceleration_of(self, xi: Any) -> Any:
        """ω(ξ) = a."""
        s, n, m = self.shape, self.shape.n, self.torque_count
        sizes = (n, n, m, s.durations + s.parameters, s.nd)
        starts = np.cumsum([0, *sizes])
        return self.acceleration(
            *(vector(xi, int(start), size) for start, size in zip(starts, sizes))
        )

    def integrate(self, part: str, *z: Any) -> np.ndarray:
        """h Σ b_i × part of the instant."""
        found = [listed(getattr(self.instant(at), part)) for at in self.points(*z)]
        h, b = self.shape.step(z[2], z[3]), METHODS[self.method][1]
        return np.array(
            [h * sum(bi * value for bi, value in zip(b, values)) for values in zip(*found)],
            dtype=object,
        )

    def dynamics(self, x: Any, u: Any, p: Any, d: Any, w: Any) -> list[Any]:
        """(T3): x after the step."""
        s, n, h, b = self.shape, self.shape.n, self.shape.step(p, d), METHODS[self.method][1]
        points = self.points(x, u, p, d, w)
        q = sum((times(bi * h, at.v) for bi, at in zip(b, points)), start=vector(x, 0, n))
        v = sum((times(bi * h, at.a) for bi, at in zip(b, points)), start=vector(x, n, n))
        ramp = vector(x, 2 * n, self.ramped) + times(h, vector(u, 0, self.ramped))
        stores = (
            vector(x, 2 * n + self.ramped, s.stores) + self.integrate("rates", x, u, p, d, w)
            if s.stores
            else []
        )
        return [*q, *v, *ramp, *stores]

    def cost(self, *z: Any) -> Any:
        """Of the step."""
        return self.integrate("cost", *z)[0]

    def totals(self, *z: Any) -> list[Any]:
        """What the step adds to the totals."""
        return list(self.integrate("totals", *z))

    def constraints(self, *z: Any) -> list[Any]:
        """Limits and conditions at the step's start."""
        asked = self.instant(self.points(*z)[0])
        return [*asked.constraints, *asked.conditions]
