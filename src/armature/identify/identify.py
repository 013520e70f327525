"""`identify`: a robot from recordings of its motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive.friction import Friction
from armature.dynamics.recursion.regressor import INERTIAL
from armature.errors import ArgumentError
from armature.identify.estimate import Estimate, Noise, moments, reweighted, solve
from armature.identify.friction import ALWAYS, CHOSEN, GROUPS
from armature.identify.layout import Layout, layout
from armature.identify.prior import Prior, prior
from armature.identify.recording import Recording, check_recording
from armature.identify.regressor import check_robot
from armature.identify.rows import Data, collect
from armature.identify.signals import default_cutoff
from armature.robot.model import Robot
from armature.robot.parts import Link, Rotor

TRUSTS = (0.05, 0.15, 0.5, 1.5)  # relative standard deviations of the description that are tried
BLOCKS = 5  # folds of a single recording
WORTH = 0.99  # of the error: what a further group of features must reach to be taken


@dataclass(frozen=True, eq=False)
class Identified:
    """An identified robot.

    robot: with identified inertias, rotor inertias and friction (viscous, Coulomb, load).
    gains: (n,) joint torque per measured unit: N·m/A for currents, 1 for torques.
    groups: of friction features that were taken.  trust: of the description that was chosen.
    condition: of the data's scaled information, without the prior.
    error, prior_error: {recording: (n,) r.m.s. error in % of the measured signal's spread}.
    held_out: names of the recordings that nothing was fitted to.
    """

    robot: Robot
    prior_robot: Robot
    estimate: Estimate
    layout: Layout
    gains: np.ndarray
    cutoff: float
    groups: tuple[str, ...]
    trust: float
    condition: float
    error: dict[str, np.ndarray]
    prior_error: dict[str, np.ndarray]
    held_out: tuple[str, ...]

    def predict(self, recording: Recording) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """t (N,), predicted and measured signals (N, n), filtered alike; A or N·m."""
        data = _data(self.layout, [recording], self.cutoff, self.estimate.phi)
        return data.t, data.predicted(self.estimate.phi, self.gains), data.measured

    def __str__(self) -> str:
        lines = [f"identified {self.robot.name}: friction of {', '.join(self.groups)}"]
        lines.append("r.m.s. error in % of each joint's spread, description → identified:")
        for name, error in self.error.items():
            kind = "held out" if name in self.held_out else "fitted"
            pairs = zip(self.prior_error[name], error)
            cells = "  ".join(f"{a:.0f} → {b:.1f}" for a, b in pairs)
            lines.append(f"  {name} ({kind}): {cells}")
        return "\n".join(lines)


def identify(
    robot: Robot,
    recordings: Recording | Iterable[Recording],
    held_out: Iterable[Recording] = (),
    gains: Any = None,
    gain_spread: float = 0.0,
    cutoff: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Identified:
    """Identify inertias, rotor inertias and friction from recordings of positions and currents or torques.

    held_out: recordings that are only predicted.  gains: (n,) joint torque per ampere, N·m/A, for
    recordings of currents.  gain_spread: their relative standard deviation; 0: they are exact.
    cutoff: of the zero-phase low-pass, Hz; 10 Hz or less by default.
    Friction groups and the trust in the description are chosen by cross-validation on `recordings`.
    """
    train = [recordings] if isinstance(recordings, Recording) else list(recordings)
    others = list(held_out)
    check_robot(robot)
    for recording in [*train, *others]:
        check_recording(robot, recording)
    if not train:
        raise ArgumentError("identify needs at least one recording")
    factors = _gains(robot, train, gains)
    fc = default_cutoff(train) if cutoff is None else float(cutoff)
    speeds = np.sqrt(np.mean(np.concatenate([_speeds(r) for r in train]) ** 2, axis=0))
    places = layout(robot, GROUPS, np.maximum(speeds, 1e-3), train[0].transmission)
    data = collect(places, train, fc, progress=progress)
    given = prior(places, data, factors, np.full(robot.n, float(gain_spread)))
    groups, trust, noise = _choose(places, data, given, progress)
    kept = places.without(tuple(g for g in CHOSEN if g not in groups))
    first = solve(places, data, moments(data, noise.weights), noise.scale, given, trust, kept)
    if "load" in groups:  # once more, with the load that was found
        data = _data(places, train, fc, first.phi)
    noise, _ = reweighted(places, data, given, trust, kept)
    found = solve(places, data, moments(data, noise.weights), noise.scale, given, trust, kept)
    errors, before = {}, {}
    for recording in [*train, *others]:
        part = _data(places, [recording], fc, found.phi)
        errors[recording.name] = _percent(part, found.phi, found.gains)
        before[recording.name] = _percent(part, given.mean, factors)
    return Identified(
        identified_robot(places, found, data), robot, found, places, found.gains, fc, groups, trust,
        _condition(found, places), errors, before, tuple(r.name for r in others),
    )  # fmt: skip


def _data(places: Layout, recordings: list[Recording], cutoff: float, phi: np.ndarray) -> Data:
    return collect(places, recordings, cutoff, phi[: places.inertial])


def _speeds(recording: Recording) -> np.ndarray:
    if recording.v is not None:
        return recording.v
    t, first = np.unique(recording.t, return_index=True)
    return np.gradient(recording.q[first], t, axis=0)


def _gains(robot: Robot, recordings: list[Recording], gains: Any) -> np.ndarray:
    """(n,) joint torque per measured unit."""
    if all(r.current is None for r in recordings):
        return np.ones(robot.n)
    if any(r.current is None for r in recordings):
        raise ArgumentError("some recordings hold currents, others torques; identify them apart")
    if gains is None:
        driven = {c.joints[0]: c.drives[0].constant for c in robot.drives if len(c.drives) == 1}
        missing = [name for name in robot.joint_names if name not in driven]
        if missing:
            raise ArgumentError(
                f"the recordings hold currents, but joint {missing[0]!r} has no drive that says its "
                "torque per ampere; give gains=[…] in N·m/A, or a robot with drives"
            )
        gains = [driven[name] for name in robot.joint_names]
    found = np.asarray(gains, dtype=float)
    if found.shape != (robot.n,) or not np.all(np.isfinite(found)) or not np.all(found > 0):
        raise ArgumentError(f"gains = {gains!r:.80} must be {robot.n} positive numbers, N·m/A")
    return found


def _choose(
    places: Layout, data: Data, given: Prior, progress: Callable[[str], None] | None
) -> tuple[tuple[str, ...], float, Noise]:
    """Groups of features and trust of least cross-validated error; weights of the largest model."""
    everything = np.ones(places.size, dtype=bool)
    noise, _ = reweighted(places, data, given, 0.5, everything)
    folds = _folds(data)
    parts = [moments(data, noise.weights, fold) for fold in folds]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part

    def score(groups: tuple[str, ...], trust: float) -> float:
        kept = places.without(tuple(g for g in CHOSEN if g not in groups))
        total = 0.0
        for part in parts:
            fit = solve(places, data, whole - part, noise.scale, given, trust, kept, False)
            for j, (rows, table) in enumerate(zip(data.joints, part.tables)):
                u = np.concatenate([fit.phi[rows.columns], [1.0]]) / fit.gains[j]
                u = np.append(u, -1.0)
                total += float(u @ table @ u) / noise.scale[j] ** 2
        return total

    groups: tuple[str, ...] = ALWAYS
    trust = min(TRUSTS, key=lambda x: score(groups, x))
    best = score(groups, trust)
    for _ in CHOSEN:
        rest = [g for g in CHOSEN if g not in groups]
        if progress is not None:
            progress(f"cross-validation with {', '.join(groups)}")
        trials = {g: score((*groups, g), trust) for g in rest}
        added = min(trials, key=lambda g: trials[g])
        if trials[added] > WORTH * best:
            break
        groups, best = (*groups, added), trials[added]
        trust = min(TRUSTS, key=lambda x: score(groups, x))
        if len(groups) == len(GROUPS):
            break
    return groups, trust, noise


def _folds(data: Data) -> list[np.ndarray]:
    """Masks of rows: the recordings, or blocks in time where there is only one."""
    if len(data.names) > 1:
        return [data.recording == k for k in range(len(data.names))]
    block = np.arange(len(data.t)) * BLOCKS // len(data.t)
    return [block == k for k in range(BLOCKS)]


def _percent(data: Data, phi: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """(n,) r.m.s. error in % of the measured spread."""
    y = data.measured
    rms = np.sqrt(np.mean((data.predicted(phi, gains) - y) ** 2, axis=0))
    return 100.0 * rms / np.maximum(np.std(y, axis=0), 1e-12)


def _condition(found: Estimate, places: Layout) -> float:
    """Of the information of the inertial parameters that can be seen, columns scaled to 1."""
    H = found.information[: places.inertial, : places.inertial]
    seen = np.diag(H) > 1e-12 * np.diag(H).max()
    H = H[np.ix_(seen, seen)]
    size = np.sqrt(np.diag(H))
    values = np.linalg.eigvalsh(H / np.outer(size, size))
    values = values[values > 1e-10 * values[-1]]
    return float(np.sqrt(values[-1] / values[0]))


# the result as a robot ------------------------------------------------------------------------------


def identified_robot(places: Layout, found: Estimate, data: Data) -> Robot:
    """The robot with identified links, rotors and friction."""
    robot, tree = places.robot, places.robot.tree
    links = {link.name: link for link in robot.links}
    joints = {joint.name: joint for joint in robot.joints}
    for k, body in enumerate(tree.bodies):
        child = joints[body.name].child
        for name, frame in tree.frames.items():  # what is welded to the link is merged into it
            if frame.body == k and name != child:
                links[name] = replace(links[name], mass=0.0, com=(0.0,) * 3, inertia=(0.0,) * 6)
        frame = tree.frames[child]
        own = found.phi[INERTIAL * k : INERTIAL * (k + 1)]
        links[child] = _link(links[child], own, frame.R, frame.p)
    for k, name in enumerate(robot.joint_names):
        rotor = float(sum(found.phi[places.of(k, "rotor")]))
        joints[name] = replace(
            joints[name],
            friction=_friction(places, found, data, k),
            rotor=Rotor(max(rotor, 0.0), 1.0) if rotor > 0 else None,
        )
    return replace(
        robot,
        links=tuple(links[link.name] for link in robot.links),
        joints=tuple(joints[joint.name] for joint in robot.joints),
    )


def _link(link: Link, own: np.ndarray, R: np.ndarray, p: np.ndarray) -> Link:
    """A link with these inertial parameters of its body's frame."""
    mass, h = float(own[0]), own[1:4]
    c = h / mass
    xx, yy, zz, xy, xz, yz = own[4:]
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    J = J - mass * (c @ c * np.eye(3) - np.outer(c, c))
    J = R.T @ J @ R
    com = R.T @ (c - p)
    entries = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return replace(
        link,
        mass=mass,
        com=tuple(map(float, com)),
        inertia=tuple(map(float, entries)),
        payload=None,
    )


def _friction(places: Layout, found: Estimate, data: Data, joint: int) -> Friction:
    """Viscous, Coulomb and load friction nearest to the identified curve at the recorded speeds."""
    from scipy.optimize import nnls

    v = np.abs(data.v[:, joint])
    v = v[v > 0.02 * v.max()]
    curve = np.zeros_like(v)
    start = int(places.starts[joint])
    for k, feature in enumerate(places.columns[joint]):
        value = found.phi[start + k]
        if feature.group == "viscous":
            curve += value * v
        elif feature.group in ("coulomb", "speeds"):
            curve += value * np.tanh(v / feature.scale)
        elif feature.group == "hysteresis":
            curve += value
    (viscous, coulomb), _ = nnls(np.column_stack([v, np.ones_like(v)]), curve)
    load = float(sum(found.phi[places.of(joint, "load")]))
    return Friction(float(viscous), float(coulomb), load=min(max(load, 0.0), 0.95))
