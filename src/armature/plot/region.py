"""What a drive can do at a velocity: the largest currents that voltage, current and heat limits
leave (the regions of GRAF)."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from armature.drive import Drive


def peak_current(drive: Drive) -> float:
    """The largest current at standstill that peak current and peak heat [34] allow, A; infinite
    without such limits."""
    motor, amplifier = drive.motor, drive.amplifier
    return min(motor.peak_current, amplifier.peak_current, sqrt(motor.peak_heat / motor.resistance))


def continuous_current(drive: Drive) -> float:
    """The current that may flow for ever, A: continuous current, average heat [35], and the
    winding's temperature in the steady state."""
    motor, amplifier = drive.motor, drive.amplifier
    current = min(
        motor.continuous_current,
        amplifier.continuous_current,
        sqrt(motor.average_heat / motor.resistance),
    )
    if motor.thermal is not None:
        th = motor.thermal
        heat = (th.maximum - th.ambient) / (th.winding_housing + th.housing_ambient)
        current = min(current, sqrt(heat / float(motor.resistance_at(th.maximum))))
    return current


def current_band(
    drive: Drive, velocity: np.ndarray, largest: float
) -> tuple[np.ndarray, np.ndarray]:
    """(lowest, highest) current at joint velocities, A: |i| ≤ largest and |R i + K q̇| ≤ V_max
    [33]; NaN where nothing is left."""
    back_emf = drive.motor.k_e * drive.gear.ratio * np.asarray(velocity)
    R, V = drive.motor.resistance, drive.amplifier.voltage
    low, high = np.maximum(-largest, (-V - back_emf) / R), np.minimum(largest, (V - back_emf) / R)
    empty = low > high
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def fastest(drive: Drive, largest: float) -> float:
    """The highest joint velocity at which any current within the limits can flow, rad/s (m/s)."""
    by_speed = min(drive.motor.maximum_speed, drive.gear.maximum_speed) / abs(drive.gear.ratio)
    K = drive.motor.k_e * abs(drive.gear.ratio)
    by_voltage = (
        (drive.amplifier.voltage + drive.motor.resistance * largest) / K if largest < inf else inf
    )
    return min(by_speed, by_voltage)


def velocity_range(drive: Drive, largest: float, used: float) -> np.ndarray:
    """Velocities to draw: the whole region if the motion uses a fair part of it, else a little more
    than the motion."""
    reach = fastest(drive, largest)
    top = reach * 1.02 if reach < 4 * max(used, 1e-9) else max(1.6 * used, 1e-3)
    return np.linspace(-top, top, 801)
