"""From samples to what regressors need: one time grid, zero-phase low-pass, derivatives by splines.

Whatever is compared is filtered alike: regressor columns and measured torques pass the same filter,
which leaves a linear relation as it is, and are then thinned to what the filter leaves room for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.signal import butter, sosfiltfilt, welch

from armature.errors import ArgumentError
from armature.identify.recording import Recording

ORDER = 4  # of the Butterworth filter, which runs forward and backward
LOWEST, CUTOFF = 6.0, 10.0  # Hz, where none is given
LONG = 8.0  # s: windows of the spectra that decide it
STANDS_OUT = 30.0  # times the noise's power
ROOM = 1.5  # times the highest frequency of the motion
NYQUIST_PART = 0.4  # the cutoff is at most this part of half the sampling rate
FINE = 24.0  # grid points per period of the cutoff
EDGE = 2.5  # periods of the cutoff at both ends that are left out
COARSE = 4.0  # rows per period of the cutoff that the estimation sees
GAP = 0.15  # s: a longer gap in the samples parts a recording in two


@dataclass(frozen=True, eq=False)
class Grid:
    """A recording on a uniform time grid, filtered.

    t: (N,) s.  q, v, a: (N, n).  measured: (N, n) currents or torques, not yet filtered.
    step: s.  cutoff: Hz.  name: of the recording.  power: (N,) of the supply, not filtered, or
    None."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    measured: np.ndarray
    step: float
    cutoff: float
    name: str
    power: np.ndarray | None = None

    def filtered(self, x: np.ndarray) -> np.ndarray:
        """Signals (N, …) through the filter."""
        return low_pass(x, self.cutoff, self.step)

    @property
    def inner(self) -> slice:
        """Points away from the ends, where the filter does not know what came before or after."""
        edge = round(EDGE / (self.cutoff * self.step))
        return slice(edge, len(self.t) - edge) if len(self.t) > 4 * edge else slice(0, len(self.t))

    @property
    def rows(self) -> slice:
        """Points that the estimation sees: inner ones, as many as the filter leaves independent."""
        stride = max(1, round(1.0 / (COARSE * self.cutoff * self.step)))
        return slice(self.inner.start + stride // 2, self.inner.stop, stride)

    @property
    def row_step(self) -> float:
        """s between rows."""
        return self.step * self.rows.step


def default_cutoff(recordings: list[Recording]) -> float:
    """Where the positions' spectra end in noise, 2 to 10 Hz, or what the slowest sampling
    allows."""
    rates = [1.0 / typical_step(r.t) for r in recordings]
    content = max(_content(r) for r in recordings)
    return min(float(np.clip(ROOM * content, LOWEST, CUTOFF)), 0.5 * NYQUIST_PART * min(rates))


def _content(recording: Recording) -> float:
    """The highest frequency at which a joint's position stands out of the noise at the end of its
    spectrum, Hz."""
    f, powers, noise = _spectra(recording.t, recording.q)
    seen = [f[power > STANDS_OUT * floor] for power, floor in zip(powers, noise)]
    return max(float(x.max(initial=0.0)) for x in seen)


def speed_noise(recordings: list[Recording], cutoff: float) -> np.ndarray:
    """(n,) standard deviation that noise of positions, or of recorded speeds, leaves in filtered
    speeds, rad/s or m/s: white noise of density S gives ∫ S (2πf)² df of positions."""
    found = []
    for recording in recordings:
        is_position = recording.v is None
        floor = _spectra(recording.t, recording.q if is_position else recording.v)[2]
        band = (2 * np.pi) ** 2 * cutoff**3 / 3 if is_position else cutoff
        found.append(floor * band)
    return np.sqrt(np.max(found, axis=0))


def _spectra(t: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frequencies (F,) Hz, power densities (n, F) of signals (N, n), and their noise (n,).

    Of second differences, divided by what these do to a spectrum: slow motion is stronger than the
    noise by more than the windows' side lobes are down.
    """
    t, first = np.unique(t, return_index=True)
    step = typical_step(t)
    even = np.arange(t[0], t[-1], step)
    bends = np.diff([np.interp(even, t, column) for column in x[first].T], 2)
    span = min(bends.shape[1], round(LONG / step))
    f, powers = welch(bends, 1 / step, "nuttall", nperseg=span)
    f, powers = f[1:], powers[:, 1:] / (2 * np.sin(np.pi * f[1:] * step)) ** 4
    return f, powers, np.median(powers[:, f > 0.7 * f[-1]], axis=1)


def typical_step(t: np.ndarray) -> float:
    """The median of the steps between different times, s."""
    steps = np.diff(t)
    steps = steps[steps > 0]
    if not len(steps):
        raise ArgumentError("all samples have the same time; check the column of times")
    return float(np.median(steps))


def low_pass(x: np.ndarray, cutoff: float, step: float) -> np.ndarray:
    """Zero-phase Butterworth low-pass along the first axis; cutoff in Hz."""
    nyquist = 0.5 / step
    if cutoff >= 0.95 * nyquist:
        return x
    sections = butter(ORDER, cutoff / nyquist, output="sos")
    pad = min(len(x) - 1, round(2.0 / (cutoff * step)))
    return sosfiltfilt(sections, x, axis=0, padlen=pad)


def grids(recording: Recording, cutoff: float) -> list[Grid]:
    """The recording as one or more grids, parted at long gaps; parts too short to filter are left
    out."""
    t = recording.t
    ends = np.flatnonzero(np.diff(t) > max(GAP, 20 * typical_step(t))) + 1
    least = 3.0 / cutoff  # s
    parts = [recording.part(slice(a, b)) for a, b in zip([0, *ends], [*ends, len(t)])]
    kept = [p for p in parts if len(p.t) > 10 and p.duration > least]
    if not kept:
        raise ArgumentError(
            f"{recording.name}: no part without gaps is longer than {least:.2g} s; give a higher "
            "cutoff, or a recording without gaps"
        )
    return [_grid(part, cutoff) for part in kept]


def _grid(recording: Recording, cutoff: float) -> Grid:
    t, first = np.unique(recording.t, return_index=True)
    sampled = typical_step(t)
    if cutoff > 0.95 * 0.5 / sampled:
        raise ArgumentError(
            f"{recording.name}: cutoff = {cutoff:g} Hz, but samples are {1e3 * sampled:.3g} ms "
            f"apart; give one below {NYQUIST_PART / sampled:.3g} Hz"
        )
    fine = np.arange(t[0], t[-1], sampled)
    skip = max(1, int(1.0 / (FINE * cutoff * sampled)))
    measured = recording.current if recording.current is not None else recording.torque
    assert measured is not None
    onto = lambda x: CubicSpline(t, x[first])(fine)
    linear = lambda x: np.column_stack([np.interp(fine, t, c) for c in x[first].T])
    q = low_pass(onto(recording.q), cutoff, sampled)
    path = make_interp_spline(fine, q, k=5)
    if recording.v is None:
        v, a = path.derivative(1)(fine), path.derivative(2)(fine)
    else:
        v = low_pass(onto(recording.v), cutoff, sampled)
        a = make_interp_spline(fine, v, k=5).derivative(1)(fine)
    if recording.a is not None:
        a = low_pass(onto(recording.a), cutoff, sampled)
    y = linear(measured)
    supply = recording.supply_power
    power = None if supply is None else linear(supply[:, None])
    if skip > 1:  # nothing above the grid's own Nyquist frequency may be left
        y = low_pass(y, 0.4 * FINE * cutoff, sampled)
        power = None if power is None else low_pass(power, 0.4 * FINE * cutoff, sampled)
    pick = slice(None, None, skip)
    step = sampled * skip
    power = None if power is None else power[pick, 0]
    return Grid(fine[pick], q[pick], v[pick], a[pick], y[pick], step, cutoff, recording.name, power)
