"""Recordings: what a robot's controller or a logger wrote down while it moved, checked before
anything is fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError, RobotError
from armature.robot.model import Robot

SHORTEST = 1.0  # s of motion that a recording needs
FEWEST = 50  # samples
STILL = 1e-3  # rad/s or m/s: below this no joint moves
TRAVELLED = 0.1  # rad or m: a motion, if it did not take so long
HELD, HELD_SAMPLES = 0.3, 10  # s, samples: a standstill at least that long
ABRUPT = 3.0  # times the largest change of speed elsewhere: no robot begins a standstill so
Signal = np.ndarray | None


@dataclass(frozen=True, eq=False)
class Recording:
    """What was measured on a robot; arrays with time first, joints in the robot's order.

    t: (N,) s, rising.  q: (N, n) rad or m.  v, a: (N, n) where they were recorded.
    current: (N, n) motor currents, A; or torque: (N, n) at the joints (motor torque × ratio), N·m.
    supply_power: (N,) taken from the supply, W.  name: for messages.
    transmission: (n, n) motor angles per joint angle, where motors move several joints.
    payload: kg that the tip carries besides the robot's own links; payload_at: its centre in the
    tip link's frame, m.  None: the robot of the description.
    moves: (N,) whole numbers that mark parts of the recording, 0 elsewhere.
    """

    t: np.ndarray
    q: np.ndarray
    v: Signal = None
    a: Signal = None
    current: Signal = None
    torque: Signal = None
    supply_power: Signal = None
    name: str = "recording"
    transmission: Signal = None
    payload: float = 0.0
    payload_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    moves: Signal = None

    def __post_init__(self) -> None:
        t = _array(self, "t", 1)
        q = _array(self, "q", 2)
        for name in ("v", "a", "current", "torque"):
            if getattr(self, name) is not None and _array(self, name, 2).shape != q.shape:
                shape = getattr(self, name).shape
                raise ArgumentError(f"{self.name}: {name} has shape {shape}, q has {q.shape}")
        for name in ("supply_power", "moves"):
            if getattr(self, name) is not None and _array(self, name, 1).shape != t.shape:
                raise ArgumentError(
                    f"{self.name}: {name} needs one value for each of {len(t)} times"
                )
        if len(q) != len(t):
            raise ArgumentError(f"{self.name}: {len(t)} times but {len(q)} rows of positions")
        back = np.flatnonzero(np.diff(t) < 0)
        if len(back):
            k = int(back[0])
            raise ArgumentError(
                f"{self.name}: time goes back from {t[k]:.6g} s to {t[k + 1]:.6g} s at row {k + 2};"
                " cut the recording there, or sort its lines"
            )
        if self.payload < 0:
            raise ArgumentError(f"{self.name}: payload = {self.payload:g} kg must be ≥ 0")

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[1]

    @property
    def duration(self) -> float:
        """s."""
        return float(self.t[-1] - self.t[0])

    def part(self, rows: Any) -> Recording:
        """Rows of the recording: a slice or a mask."""
        names = ("t", "q", "v", "a", "current", "torque", "supply_power", "moves")
        kept = {k: getattr(self, k)[rows] for k in names if getattr(self, k) is not None}
        return replace(self, **kept)

    def window(self, start: float, end: float) -> Recording:
        """Between two times, s."""
        inside = (self.t >= start) & (self.t <= end)
        if not inside.any():
            raise ArgumentError(
                f"{self.name}: no sample lies between {start:g} s and {end:g} s; it runs from "
                f"{self.t[0]:g} s to {self.t[-1]:g} s"
            )
        return self.part(inside)


def _array(recording: Recording, name: str, axes: int) -> np.ndarray:
    """A field as finite numbers, or an error that names the first row that is not."""
    x = np.asarray(getattr(recording, name), dtype=float)
    if x.ndim != axes or not x.size:
        raise ArgumentError(f"{recording.name}: {name} must be an array with {axes} axes and rows")
    bad = ~np.isfinite(x)
    if bad.any():
        row = int(np.flatnonzero(bad.reshape(len(x), -1).any(axis=1))[0])
        raise ArgumentError(
            f"{recording.name}: {name} holds {int(bad.sum())} values that are not finite numbers, "
            f"the first in row {row + 1}; remove these rows"
        )
    object.__setattr__(recording, name, x)
    return x


def check_recording(robot: Robot, recording: Recording) -> None:
    """Refuse a recording that cannot tell anything about the robot; each with what to do."""
    name = recording.name
    if recording.n != robot.n:
        raise ArgumentError(
            f"{name}: it has {recording.n} joints, robot {robot.name!r} has {robot.n}: "
            f"{', '.join(robot.joint_names)}"
        )
    if recording.current is None and recording.torque is None:
        raise ArgumentError(f"{name}: neither motor currents nor torques; name their columns")
    if len(recording.t) < FEWEST or recording.duration < SHORTEST:
        raise ArgumentError(
            f"{name}: {len(recording.t)} samples in {recording.duration:.3g} s; at least {FEWEST} "
            f"samples and {SHORTEST:g} s are needed"
        )
    times = len(np.unique(recording.t))
    if times < FEWEST:
        raise ArgumentError(
            f"{name}: {len(recording.t)} samples share {times} different times; write the times"
            " with more digits, or correct their column"
        )
    moved = np.ptp(recording.q, axis=0)
    if moved.max() <= STILL * recording.duration:
        slow = moved.max() > TRAVELLED
        raise ArgumentError(
            f"{name}: nothing moves in its {recording.duration:.3g} s (the joints travel at most "
            f"{moved.max():.2g} rad or m); "
            + ("check the unit of its times (s), or " if slow else "")
            + "record one that moves all joints at several speeds"
        )
    _check_ranges(robot, recording)
    measured = recording.current if recording.current is not None else recording.torque
    assert measured is not None  # as a Recording checks
    frozen = (np.ptp(measured, axis=0) == 0) & (moved > STILL * recording.duration)
    if frozen.any():
        raise ArgumentError(
            f"{name}: joint {robot.joint_names[int(np.argmax(frozen))]!r} moves, but its torque or"
            " current never changes; check its column"
        )
    _check_held(robot, recording)


def _check_held(robot: Robot, recording: Recording) -> None:
    """Positions that stand from one sample to the next, or move off so: the logger held them."""
    t, first = np.unique(recording.t, return_index=True)
    rates = np.diff(recording.q[first], axis=0) / np.diff(t)[:, None]
    for k, joint in enumerate(robot.joint_names):
        v = rates[:, k]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], v == 0.0, [False]])))
        changes = np.abs(np.diff(v))
        at_edges = np.zeros(len(changes), dtype=bool)
        found = []
        for begin, end in edges.reshape(-1, 2):
            if end - begin < HELD_SAMPLES or t[end] - t[begin] < HELD:
                continue
            at = [i for i in (begin - 1, end - 1) if 0 <= i < len(changes)]
            at_edges[at] = True
            found.append((max((changes[i] for i in at), default=0.0), begin, end))
        usual = np.max(changes[~at_edges], initial=0.0)
        if found and max(found)[0] > ABRUPT * usual:
            _, begin, end = max(found)
            raise ArgumentError(
                f"{recording.name}: joint {joint!r} stands near {t[begin]:.4g} s for"
                f" {t[end] - t[begin]:.3g} s, and its speed changes there more than {ABRUPT:g}"
                " times as fast as anywhere else: its positions are held or samples are missing;"
                " cut the recording (--window START,END)"
            )


def _check_ranges(robot: Robot, recording: Recording) -> None:
    """Positions far outside the joints' ranges: degrees, or joints in another order."""
    for k, joint in enumerate(robot.joint_names):
        limits = robot.joint(joint).limits
        low, high = recording.q[:, k].min(), recording.q[:, k].max()
        room = 0.02 * (limits.upper - limits.lower)
        if np.isfinite(room) and (low < limits.lower - room or high > limits.upper + room):
            raise RobotError(
                f"{recording.name}: joint {joint!r} moves from {low:.4g} to {high:.4g}, outside its"
                f" range {limits.lower:.4g} … {limits.upper:.4g}; check the unit (rad, m), the"
                " order of the joints' columns, and the description's limits"
            )
