"""`identify`: a robot from recordings of its motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.identify.agreement import agreement
from armature.identify.certainty import with_certainty
from armature.identify.choose import choose
from armature.identify.delay import estimated_delay, shifted
from armature.identify.estimate import Estimate, moments, solve
from armature.identify.identified import Identified, percent
from armature.identify.layout import layout
from armature.identify.machine import identified_robot, mean_loads, with_identified_drives
from armature.identify.model_error import with_model_error
from armature.identify.prior import prior
from armature.identify.recording import Recording, check_recording
from armature.identify.regressor import check_robot
from armature.identify.rows import Data, collect
from armature.identify.signals import default_cutoff, speed_noise
from armature.identify.supply import fit_supply
from armature.robot.model import Robot

UNEXPLAINED = 0.7  # error of moving joints, of their spread: outliers alone stay below
SLOWEST = 1e-3  # rad/s or m/s: least typical speed


def identify(
    robot: Robot,
    recordings: Recording | Iterable[Recording],
    held_out: Recording | Iterable[Recording] = (),
    gains: Any = None,
    gain_spread: float = 0.0,
    cutoff: float | None = None,
    springs: Iterable[str] = (),
    delay: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> Identified:
    """Identify inertias, rotor inertias, friction and drives from recordings of positions and
    currents or torques.

    held_out: recordings that are only predicted.  gains: (n,) joint torque per ampere, N·m/A, for
    recordings of currents; by default those of the robot's drives.  gain_spread: their relative
    standard deviation; 0: they are exact. A recording with a known payload makes them observable.
    cutoff: of the zero-phase low-pass, Hz; 10 Hz or less by default.  springs: names of joints with
    a counterbalance.  delay: s by which currents or torques were recorded after the positions; by
    default it is estimated.  progress: called with a line on what is being done.
    Friction groups and the trust in the description are chosen by cross-validation on `recordings`.
    """
    train, others = _listed(recordings), _listed(held_out)
    check_robot(robot)
    if not train:
        raise ArgumentError("identify needs at least one recording")
    for recording in [*train, *others]:
        check_recording(robot, recording)
    _check_names(robot, train, others, springs := tuple(springs))
    factors = torque_per_unit(robot, [*train, *others], gains)
    fc = default_cutoff(train) if cutoff is None else float(cutoff)
    sentence = agreement(robot, train, factors, fc)
    if progress is not None:
        progress(sentence)
    noise = speed_noise(train, fc)
    places = layout(robot, _typical_speeds(train), noise, train[0].transmission, springs)
    late = estimated_delay(places, train, fc) if delay is None else float(delay)
    train, others = ([shifted(r, late) for r in each] for each in (train, others))
    data = collect(places, train, fc, progress=progress)
    given = prior(places, data, factors, np.full(robot.n, float(gain_spread)))
    groups, trust, weighted = choose(places, data, given, progress)
    kept = places.only(groups)
    found = solve(places, data, moments(data, weighted.weights), weighted.scale, given, trust, kept)
    if "load" in groups:  # once more, with the load that was found
        data = collect(places, train, fc, found.phi[: places.inertial])
        found = solve(
            places, data, moments(data, weighted.weights), weighted.scale, given, trust, kept
        )
    _check_explained(robot, data, found)
    found = with_certainty(found, given, trust, data, weighted)
    has_currents = train[0].current is not None
    supply = fit_supply(train, found.gains, fc) if has_currents else None
    machine = with_identified_drives(
        identified_robot(places, found, data),
        robot,
        found.gains if has_currents else None,
        supply,
        mean_loads(places, found, data),
    )
    errors, before = {}, {}
    for recording in [*train, *others]:
        part = collect(places, [recording], fc, found.phi[: places.inertial])
        errors[recording.name] = percent(part, found.phi, found.gains)
        before[recording.name] = percent(part, given.mean, factors)
    machine = with_model_error(machine, others or train, found.gains, fc, bool(others))
    return Identified(
        machine,
        robot,
        found,
        places,
        given.mean,
        found.gains,
        fc,
        groups,
        trust,
        errors,
        before,
        tuple(r.name for r in others),
        (*train, *others),
        sentence,
        supply,
        late,
    )


def _listed(recordings: Recording | Iterable[Recording]) -> list[Recording]:
    return [recordings] if isinstance(recordings, Recording) else list(recordings)


def _check_names(
    robot: Robot, train: list[Recording], others: list[Recording], springs: tuple[str, ...]
) -> None:
    names = [r.name for r in [*train, *others]]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ArgumentError(
            f"two recordings are called {twice!r}; give each its own name, and none twice"
        )
    for name in springs:
        robot.joint(name)


def torque_per_unit(robot: Robot, recordings: list[Recording], gains: Any) -> np.ndarray:
    """(n,) joint torque per measured unit: N·m/A for currents, 1 for torques."""
    if all(r.current is None for r in recordings):
        return np.ones(robot.n)
    if any(r.current is None for r in recordings):
        raise ArgumentError("some recordings hold currents, others torques; identify them apart")
    if gains is None:
        driven = {
            c.joints[0]: abs(c.drives[0].constant) for c in robot.drives if len(c.drives) == 1
        }
        missing = [name for name in robot.joint_names if name not in driven]
        if missing:
            raise ArgumentError(
                f"the recordings hold currents, but joint {missing[0]!r} has no drive that says its"
                " torque per ampere; give gains=[…] in N·m/A (--gains), or a robot with drives"
            )
        gains = [driven[name] for name in robot.joint_names]
    try:
        found = np.asarray(gains, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (robot.n,) or not np.all(np.isfinite(found)) or not np.all(found > 0):
        raise ArgumentError(f"gains = {gains!r:.80} must be {robot.n} positive numbers, N·m/A")
    return found


def _check_explained(robot: Robot, data: Data, found: Estimate) -> None:
    """Refuse recordings that no robot explains, at the worst instant."""
    error = np.where(data.moving, data.measured - data.predicted(found.phi, found.gains), 0.0)
    mean = np.sum(data.moving * data.measured, axis=0) / np.maximum(data.moving.sum(axis=0), 1)
    varied = np.where(data.moving, data.measured - mean, 0.0)
    ratio = np.sqrt(np.sum(error**2, axis=0) / np.maximum(np.sum(varied**2, axis=0), 1e-300))
    ratio[np.ptp(data.v, axis=0) < SLOWEST] = 0.0  # what hardly moves cannot be told
    k = int(np.argmax(ratio))
    if ratio[k] > UNEXPLAINED:
        row = int(np.argmax(np.abs(error[:, k])))
        raise ArgumentError(
            f"{data.names[data.recording[row]]}: no robot explains joint {robot.joint_names[k]!r}"
            f" near {data.t[row]:.4g} s (error {100 * ratio[k]:.0f} % of its spread): samples are"
            " held, missing or joined there, or it was touched; cut the recording (--window"
            " START,END)"
        )


def _typical_speeds(recordings: list[Recording]) -> np.ndarray:
    """(n,) root mean squares of the speeds."""
    speeds = np.sqrt(np.mean(np.concatenate([_speeds(r) for r in recordings]) ** 2, axis=0))
    return np.maximum(speeds, SLOWEST)


def _speeds(recording: Recording) -> np.ndarray:
    if recording.v is not None:
        return recording.v
    t, first = np.unique(recording.t, return_index=True)
    return np.gradient(recording.q[first], t, axis=0)
