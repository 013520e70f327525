"""A robot with its drives and supply as a model for the solver: costs, limits by name, and the
bounds of one motion."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from armature.drive import EXACT, Bus, Limit, Smooth, Supply
from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.differentiation import derivatives
from armature.dynamics.kernels import fingerprint, kernel_numbers, physics_source, traced_tree
from armature.dynamics.recursion import recursive
from armature.dynamics.variable_drives import structure
from armature.errors import ArgumentError
from armature.kernel.symbol import Symbol, bare, to_casadi
from armature.optimize.problem.problem import Guess, Model, Problem, filled
from armature.optimize.transcription.transcribe import RULES, Accelerations, At, Instant, Shape
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.simulate.flows import drives_at
from armature.spatial.vectors import pack


@dataclass(frozen=True)
class Weights:
    """What a motion costs, as a weighted sum of integrals over time; numbers of one plan, not part
    of the compiled model.

    energy: of what the supply gives, 1/J.  heat: of the copper heat, 1/J.  time: of the duration,
    1/s.
    torque: of Σ τ², 1/(N²m²s).  acceleration: of Σ a².  jerk: of Σ s j² (with acceleration linear
    in a step).
    jerk_shares: (n,) s of every joint's jerk, 1 if left out: joints that turn and joints that slide
    have different units."""

    energy: float = 0.0
    heat: float = 0.0
    time: float = 0.0
    torque: float = 0.0
    acceleration: float = 0.0
    jerk: float = 0.0
    jerk_shares: tuple[float, ...] = ()


SCALARS = tuple(f.name for f in fields(Weights) if f.name != "jerk_shares")
SOURCES = (
    "driven.py",
    "transcribe.py",
    "speeds.py",
    "smoothed.py",
)  # what the functions of a step are traced from
WEIGHTS = len(SCALARS)
CORNERS = ("power", "velocity", "table")  # widths that are data of a plan
STRONG = 100.0  # W: drives that give less at most have narrower corners of power, in proportion


@functools.cache
def driven_source() -> str:
    """Digest of the source that a driven model is traced from."""
    here = Path(__file__).parent
    files = sorted((here.parent.parent / "drive").glob("*.py")) + [here / name for name in SOURCES]
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


@dataclass(frozen=True)
class Driven:
    """A robot, its supply and a transcription by accelerations.

    linear, rule, limits_at: see transcribe.py.  durations: free ones (0: the duration is given).
    smooth: how corners are rounded.
    extra: further constraints of the caller, `At` -> sequence, with their names and bounds (lower,
    upper) each."""

    robot: Robot
    supply: Supply
    linear: bool = False
    rule: str = "midpoint"
    limits_at: tuple[float, ...] = ()
    durations: int = 0
    smooth: Smooth = EXACT
    extra: Callable[[At], Sequence[Any]] | None = None
    extra_names: tuple[str, ...] = ()
    extra_bounds: tuple[tuple[float, float], ...] = ()
    extra_key: str = ""

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ArgumentError(
                f"there is no quadrature rule {self.rule!r}; choose one of {', '.join(RULES)}"
            )
        if self.robot.nq != self.robot.n:
            raise ArgumentError(
                f"{self.robot.name} has a floating base; planning needs a robot that stands on the"
                " ground"
            )

    @property
    def coordinates(self) -> tuple[int, ...]:
        """Joints whose motion is the solver's: all of them, but for closed loops."""
        return tuple(range(self.robot.n))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of these joints."""
        return tuple(self.robot.joint_names[j] for j in self.coordinates)

    # what is limited -----------------------------------------------------------------------------

    @property
    def variable(self) -> bool:
        """Whether the numbers of the drives are parameters of the model."""
        return False

    @functools.cached_property
    def limits(self) -> list[tuple[int, str, Limit]]:
        """(axis, axis name, limit) of the drives; of variable ones also those that are infinite
        for these drives."""
        train = self.robot.drivetrain
        if not self.variable:
            return list(train.limits())
        kept = self.robot.variable_limits or ()
        return [
            (axis, train.axis_names[axis], limit)
            for axis, drive in enumerate(train.drives)
            for limit in drive.limits(finite=False)
            if limit.name in kept
        ]

    @functools.cached_property
    def quantities(self) -> list[tuple[int, str, str, float, float]]:
        """(axis, quantity, name, lower, upper) of what every drive limits at each instant."""
        found: dict[tuple[int, str], list[Any]] = {}
        for axis, axis_name, limit in self.limits:
            if not limit.mean:
                entry = found.setdefault(
                    (axis, limit.quantity), [f"{limit.name} of {axis_name}", -np.inf, np.inf]
                )
                entry[2 if limit.sign > 0 else 1] = limit.sign * limit.bound
        return [(axis, quantity, *entry) for (axis, quantity), entry in found.items()]

    @functools.cached_property
    def means(self) -> list[tuple[int, str, str, float]]:
        """(axis, quantity, name, bound) of what every drive limits in the mean."""
        return [
            (k, m.quantity, f"{m.name} of {name}", m.bound) for k, name, m in self.limits if m.mean
        ]

    @functools.cached_property
    def torques(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the torques delivered at the joints (`delivered_torque`): the joints' limits;
        zero for a joint without a drive in a robot that has drives."""
        upper = np.array([self.joint_limit(name, "torque") for name in self.robot.joint_names])
        if self.robot.drives:
            upper[~np.array(self.robot.drivetrain.driven)] = 0.0
        return -upper, upper

    @functools.cached_property
    def torque_rates(self) -> np.ndarray:
        """Bounds of the torque rates."""
        return np.array([self.joint_limit(name, "torque_rate") for name in self.robot.joint_names])

    def joint_limit(self, joint: str, what: str) -> float:
        """A limit of a joint; infinite for coordinates of joints with several."""
        try:
            return float(getattr(self.robot.joint(joint).limits, what))
        except ArgumentError:
            return np.inf if what != "lower" else -np.inf

    # the model -----------------------------------------------------------------------------------

    @functools.cached_property
    def shape(self) -> Shape:
        """Sizes and names."""
        names, axes = self.robot.joint_names, len(self.robot.drivetrain.drives)
        slacks = self.supply.slacks(axes)
        rows = [name for _, _, name, _, _ in self.quantities]
        rows += [
            f"torque of {name}" for j, name in enumerate(names) if np.isfinite(self.torques[1][j])
        ]
        rows = [*rows, *self.extra_names] * self.limit_points + ["supply"] * (
            self.supply_rows * len(RULES[self.rule][0])
        )
        rows += [
            f"torque rate of {name}"
            for j, name in enumerate(names)
            if np.isfinite(self.torque_rates[j])
        ]
        stores = ("energy stored in the bus",) if isinstance(self.supply, Bus) else ()
        return Shape(
            len(self.names),
            slacks,
            len(stores),
            self.durations,
            0,
            self.shares_at + len(self.names),
            self.names,
            tuple(f"supply power {k}" for k in range(slacks)),
            stores,
            tuple(rows),
            self.total_names,
        )

    @property
    def shares_at(self) -> int:
        """Where the shares of the joints' jerks begin in the caller's data: after weights, means,
        corners and directions."""
        return WEIGHTS + len(self.means) + len(CORNERS) + len(self.dry)

    @property
    def total_names(self) -> tuple[str, ...]:
        """What is integrated over the motion: means of the drives, and with several free durations
        their sum."""
        return (
            *(name for _, _, name, _ in self.means),
            *(("duration",) if self.durations > 1 else ()),
        )

    def total_bounds(self, duration: float | None) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the totals; duration: what several free ones sum up to, s, None where that is
        free too."""
        low = [-np.inf] * len(self.means)
        high = [np.inf if np.isinf(bound) else 0.0 for *_, bound in self.means]
        if self.durations > 1:
            low, high = [*low, duration or -np.inf], [*high, duration or np.inf]
        return np.array(low), np.array(high)

    @functools.cached_property
    def transcription(self) -> Accelerations:
        """The functions of a step."""
        tree = traced_tree(self.robot)
        between = self.rates_between if np.isfinite(self.torque_rates).any() else None
        torque = lambda q, v, a, p, d: [
            bare(x)
            for x in recursive.inverse_dynamics(tree, as_symbols(q), as_symbols(v), as_symbols(a))
        ]
        closed = functools.partial(closed_slope, tree), functools.partial(closed_curvature, tree)
        return Accelerations(
            self.shape,
            torque,
            self.instant,
            self.linear,
            self.rule,
            self.limits_at,
            between,
            closed,
        )

    @functools.cached_property
    def model(self) -> Model:
        """The compiled model; found in the disk cache by what it depends on. Bounds and weights are
        not part of it."""
        made = self.transcription.model("" if self.extra and not self.extra_key else self.key)
        return replace(made, parameters=kernel_numbers(self.robot))

    @property
    def key(self) -> str:
        """All that the functions of a step depend on."""
        train = self.robot.drivetrain
        rows = [row[:2] for row in self.quantities], [row[:2] for row in self.means]
        finite = np.isfinite(self.torques[1]).tolist(), np.isfinite(self.torque_rates).tolist()
        corners = [bool(getattr(self.smooth, name)) for name in CORNERS], self.dry
        laws = train.drives, train.matrix, train.share, train.frictions
        drives = [
            structure(train) if self.variable else laws,
            self.supply,
            corners,
            rows,
            finite,
            self.extra_key,
        ]
        return f"{fingerprint(self.robot)} {physics_source()} {driven_source()} {drives!r}"

    def balance(self, powers: Any, slacks: Any) -> Any:
        """The supply's cost and inequalities."""
        return self.supply.epigraph(list(powers), list(slacks))

    def widths(self, d: Any) -> list[Smooth]:
        """How corners are rounded: numbers of one plan, so that they can be narrowed without
        compiling again; exact ones stay exact."""
        first = WEIGHTS + len(self.means)
        given = lambda k, name: d[first + k] if getattr(self.smooth, name) else 0.0
        shared = Smooth(*(given(k, name) for k, name in enumerate(CORNERS)))
        directions = dict(zip(self.dry, d[first + len(CORNERS) : self.shares_at]))
        return [
            replace(shared, power=part * shared.power, direction=directions.get(j, 0.0))
            for j, part in enumerate(self.parts)
        ]

    @functools.cached_property
    def parts(self) -> list[float]:
        """The width of every joint's corner of power, as a part of the one given: one as wide as
        all that a weak drive gives would hide what its gear loses, and how far its limits are
        exceeded."""
        train = self.robot.drivetrain
        most = [
            drive.amplifier.voltage * min(drive.motor.peak_current, drive.amplifier.peak_current)
            for drive in train.drives
        ]
        weakest = (
            min((P for P, row in zip(most, train.matrix) if row[j]), default=np.inf)
            for j in range(self.robot.n)
        )
        return [min(1.0, P / STRONG) for P in weakest]

    @functools.cached_property
    def dry(self) -> list[int]:
        """Joints with dry friction or a lossy gear, whose laws have a corner at standstill; the
        direction of each in a step is data."""
        train = self.robot.drivetrain
        alone = {
            row.index(1.0): k
            for k, row in enumerate(train.matrix)
            if row.count(0.0) == len(row) - 1 and 1.0 in row
        }
        found = []
        for j, friction in enumerate(train.frictions):
            drive = train.drives[alone[j]] if j in alone else None
            dry = [friction, *([drive.friction] if drive else [])]
            if any(f.coulomb or f.stiction or f.load for f in dry) or (
                drive and (not drive.gear.lossless or drive.motor.iron_torque)
            ):
                found.append(j)
        return found if any(getattr(self.smooth, name) for name in CORNERS) else []

    def instant(self, at: At) -> Instant:
        """Cost rate and limits at an instant."""
        widths = self.widths(at.d)
        flows = self.robot.drivetrain.flow(at.tau, at.v, at.a, smooth=widths)
        supply = self.balance([flow.power for flow in flows], at.slacks)
        weights, shares = at.d[:WEIGHTS], at.d[self.shares_at : self.shares_at + len(self.names)]
        terms = [
            supply.cost,
            sum(flow.copper for flow in flows),
            1.0,
            sum(at.tau**2),
            sum(at.a**2),
            sum(shares * at.jerk**2),
        ]
        rows = [
            getattr(flows[axis], quantity) / unit(*bounds)
            for axis, quantity, _, *bounds in self.quantities
        ]
        delivered = self.robot.drivetrain.delivered_torque(at.tau, at.v, widths)
        rows += [delivered[j] for j in range(self.robot.n) if np.isfinite(self.torques[1][j])]
        rows += list(self.extra(at)) if self.extra else []
        means = enumerate(self.means)
        totals = [
            (getattr(flows[axis], quantity) - at.d[WEIGHTS + k]) / unit(bound)
            for k, (axis, quantity, _, bound) in means
        ]
        totals += [1.0] if self.durations > 1 else []
        rates = (supply.stored_rate,) if isinstance(self.supply, Bus) else ()
        return Instant(
            sum(w * term for w, term in zip(weights, terms)),
            rows,
            supply.inequalities,
            totals,
            rates,
        )

    def rates_between(self, begin: At, end: At, h: Any) -> list[Any]:
        """Mean torque rates over a step."""
        return [
            (end.tau[j] - begin.tau[j]) / h
            for j in range(self.robot.n)
            if np.isfinite(self.torque_rates[j])
        ]

    # the bounds ----------------------------------------------------------------------------------

    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the constraints of a step."""
        low = [row[3] / unit(*row[3:]) for row in self.quantities] + [
            t for t in self.torques[0] if np.isfinite(t)
        ]
        high = [row[4] / unit(*row[3:]) for row in self.quantities] + [
            t for t in self.torques[1] if np.isfinite(t)
        ]
        low, high = (
            low + [b[0] for b in self.extra_bounds],
            high + [b[1] for b in self.extra_bounds],
        )
        supply = self.supply_rows * len(RULES[self.rule][0])
        rates = [rate for rate in self.torque_rates if np.isfinite(rate)]
        low = [*low * self.limit_points, *[-np.inf] * supply, *(-r for r in rates)]
        return np.array(low), np.array([*high * self.limit_points, *[0.0] * supply, *rates])

    @property
    def limit_points(self) -> int:
        """Instants of a step at which the limits hold."""
        return len(self.limits_at) or len(RULES[self.rule][0])

    @property
    def supply_rows(self) -> int:
        """Inequalities of the supply at an instant."""
        axes = len(self.robot.drivetrain.drives)
        return len(self.balance(np.zeros(axes), np.zeros(self.supply.slacks(axes))).inequalities)

    def state_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the state at a knot inside the motion."""
        limit = lambda what: np.array([self.joint_limit(name, what) for name in self.names])
        speed, acceleration = limit("velocity"), limit("acceleration")
        low, high = [limit("lower"), -speed], [limit("upper"), speed]
        if self.linear:
            low, high = [*low, -acceleration], [*high, acceleration]
        if isinstance(self.supply, Bus):
            low, high = [*low, np.zeros(1)], [*high, np.array([self.supply.capacity])]
        return np.concatenate(low), np.concatenate(high)

    def control_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the controls: accelerations or jerks; slacks are bounded by the supply's
        inequalities."""
        top = np.array(
            [
                self.joint_limit(name, "jerk" if self.linear else "acceleration")
                for name in self.names
            ]
        )
        top = np.concatenate([top, np.full(self.model.nu - top.size, np.inf)])
        return -top, top

    def problem(
        self,
        N: int,
        start: Any,
        goal: Any,
        weights: Weights,
        duration: float | None = None,
        steps: Any = None,
        durations: tuple[Any, Any] = (1e-3, 1e3),
        smooth: Smooth | None = None,
        directions: np.ndarray | None = None,
    ) -> Problem:
        """A motion from rest to rest in N steps: bounds of the robot, its drives and its ends.

        start, goal: q, (n,).  duration: s, when it is given.  steps: (N, durations) share of every
        step in the free durations (equal steps of one free duration if left out).  durations:
        bounds of the free ones, s.  smooth: widths of the corners, the model's own if left out.
        directions: (N, n) which way the joints move in a step, ±1, or 0 where it is not known. The
        caller may replace bounds for via points."""
        low, high = (np.tile(side, (N + 1, 1)) for side in self.state_bounds())
        for knot, q in ((0, start), (N, goal)):
            rest = np.concatenate(
                [
                    filled(q, (len(self.names),), "q"),
                    np.zeros(len(self.names) * (2 if self.linear else 1)),
                ]
            )
            low[knot, : rest.size] = high[knot, : rest.size] = rest
        if isinstance(self.supply, Bus):
            high[0, -1] = 0.0
        data = np.zeros((N + 1, self.model.nd))
        if self.durations:
            data[:N, 1 : 1 + self.durations] = 1.0 / N if steps is None else steps
        elif duration is None or not duration > 0:
            raise ArgumentError(
                f"duration is {duration!r}; give seconds > 0, or a model with a free duration"
            )
        else:
            data[:N, 0] = duration / N
        widths = [getattr(smooth or self.smooth, name) for name in CORNERS]
        numbers = [
            *(getattr(weights, name) for name in SCALARS),
            *(0.0 if np.isinf(row[3]) else row[3] for row in self.means),
            *widths,
        ]
        data[:, 1 + self.durations : 1 + self.durations + len(numbers)] = numbers
        if directions is not None:
            first = 1 + self.durations + len(numbers)
            data[:N, first : first + len(self.dry)] = directions[:, self.dry]
        first = 1 + self.durations + self.shares_at
        data[:, first : first + len(self.names)] = weights.jerk_shares or 1.0
        return Problem(
            self.model,
            N,
            (low, high),
            self.control_bounds(),
            durations,
            self.constraint_bounds(),
            totals=self.total_bounds(None),
            data=data,
        )

    # the start -----------------------------------------------------------------------------------

    def guess(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, duration: Any) -> Guess:
        """A starting motion from q, v, a at the knots, (N+1, n) each, with slacks that fit.
        duration: s; all free ones, if several."""
        N = len(q) - 1
        h = np.sum(duration) / N
        mean, slacks = (a[1:] + a[:-1]) / 2, np.zeros((N, 0))
        if self.shape.slacks:
            tau = inverse_dynamics(self.robot, (q[1:] + q[:-1]) / 2, (v[1:] + v[:-1]) / 2, mean)
            powers = drives_at(self.robot, tau, (v[1:] + v[:-1]) / 2, mean).together.power
            slacks = np.tile(self.slack_guess(powers), (1, len(RULES[self.rule][0])))
        stores = np.zeros((N + 1, self.shape.stores))
        x = np.hstack([q, v, a, stores] if self.linear else [q, v, stores])
        return Guess(
            x,
            np.hstack([np.diff(a, axis=0) / h if self.linear else mean, slacks]),
            duration if self.durations else 0.0,
        )

    def slack_guess(self, powers: np.ndarray) -> np.ndarray:
        """Slacks a little inside the supply's inequalities for the axes' powers (N, axes), W."""
        if self.shape.slacks == 0:
            return np.zeros((len(powers), 0))
        margin = 1.0 + 0.1 * np.abs(powers).max()
        total = powers.sum(1, keepdims=True)
        if isinstance(self.supply, Bus):
            return np.hstack([np.maximum(total, 0.0), np.maximum(-total, 0.0)]) + margin
        return np.maximum(powers if self.shape.slacks == powers.shape[1] else total, 0.0) + margin


def unit(*bounds: float) -> float:
    """The unit of a limited quantity, as a part of A, V, W or A²: the limit itself where that is
    less than 1. The search's tolerance and barrier know no units, and would overlook a limit of 0.1
    mA."""
    return min((1.0, *(abs(bound) for bound in bounds if np.isfinite(bound))))


def closed_slope(tree: Tree, q: Any, v: Any, a: Any) -> ca.SX:
    """∂τ/∂(q, v, a), (n, 3n), in closed form."""
    return to_casadi(
        np.concatenate(
            derivatives.inverse(tree, as_symbols(q), as_symbols(v), as_symbols(a)), axis=1
        )
    )


def closed_curvature(tree: Tree, q: Any, v: Any, a: Any, m: Any) -> ca.SX:
    """∂²(m·τ)/∂(q, v, a)², (3n, 3n), in closed form."""
    return to_casadi(
        derivatives.hessian(tree, as_symbols(q), as_symbols(v), as_symbols(a), as_symbols(m))
    )


def as_symbols(values: Any) -> np.ndarray:
    """CasADi scalars as the compiler's symbols, which NumPy's arithmetic leaves whole."""
    return pack([Symbol(ca.SX(x)) for x in values])


def at_knot(problem: Problem, knot: int, lower: Any, upper: Any) -> Problem:
    """The same problem with other bounds of the state at one knot, (nx,) each: a via configuration,
    passed without stopping."""
    low, high = (np.array(side) for side in problem.x)
    low[knot], high[knot] = lower, upper
    return replace(problem, x=(low, high))
