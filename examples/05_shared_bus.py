"""Two robots on one d.c. bus: one brakes while the other accelerates, and the braking energy changes hands.

Run: python examples/05_shared_bus.py [figure.png]
"""

import sys

import numpy as np

from armature.drive import Amplifier, Bus, Drive, gear, motor
from armature.motion import Trajectory
from armature.plot import shared_supply
from armature.robot import library
from armature.simulate.ledger import ledger
from armature.simulate.shared import share_supply


def cubic(start: list[float], goal: list[float], duration: float, knots: int = 41) -> Trajectory:
    """A cubic move from rest to rest."""
    t = np.linspace(0, duration, knots)
    s, d = (t / duration)[:, None], np.subtract(goal, start)
    return Trajectory(t, start + d * (3 * s**2 - 2 * s**3), d * (6 * s - 6 * s**2) / duration, d * (6 - 12 * s) / duration**2)


def main(figure: str | None = None) -> float:
    """Print the books of both robots and of the bus; returns the fraction saved by sharing."""
    turn = Drive(motor("servo-325v-750w"), gear("planetary-25"), Amplifier(voltage=325.0, efficiency=0.96, standby=4.0))
    slide = Drive(motor("servo-325v-400w"), gear("ballscrew-20mm"), Amplifier(voltage=325.0, efficiency=0.96, standby=4.0))
    robot = library("burgevin").with_payload(5.0).with_drives({"phi": turn, "theta": turn, "r": slide})
    move = cubic([0.0, np.pi / 2, 0.8], [np.pi, np.pi / 2, 0.8], 1.0)

    bus = Bus(capacitance=0.3e-3, voltage=325.0, resistor_voltage=380.0)
    print("One robot on a bus of its own")
    print(ledger(robot, move, bus), "\n")

    # the second robot starts when the first begins to brake
    both = share_supply(bus, [(robot, move, 0.0), (robot, move, 0.5)])
    print(f"two robots on two buses draw {both.drawn_apart:8.2f} J")
    print(f"two robots on one bus draw   {both.drawn:8.2f} J, {100 * both.saving:.1f} % less")
    burnt = [sum(a.resistor.sum() for a in both.apart), both.together.resistor.sum()]
    print(f"burnt in braking resistors   {burnt[0]:8.2f} J on two buses, {burnt[1]:.2f} J on one")
    if figure:
        shared_supply(both, ("first robot", "second robot"), bus, save=figure)
    return both.saving


if __name__ == "__main__":
    main(*sys.argv[1:2])
