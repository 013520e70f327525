"""Two robots on one d.c. bus: one brakes while the other accelerates."""

import numpy as np

import armature as arm
from armature.drive import gear, motor
from armature.plot import shared_supply
from armature.simulate.shared import share_supply


def main(figure: str = "05_shared_bus.png") -> float:
    """Print the energy ledgers of both robots and of the bus; returns the fraction saved by sharing."""
    amplifier = arm.drive.Amplifier(voltage=325.0, efficiency=0.96, standby=4.0)
    turn = arm.drive.Drive(motor("servo-325v-750w"), gear("planetary-25"), amplifier)
    slide = arm.drive.Drive(motor("servo-325v-400w"), gear("ballscrew-20mm"), amplifier)
    drives = {"phi": turn, "theta": turn, "r": slide}
    robot = arm.library("burgevin").with_payload(5.0).with_drives(drives)

    start, d = np.array([0.0, np.pi / 2, 0.8]), np.array([np.pi, 0.0, 0.0])
    s = np.linspace(0, 1.0, 41)[:, None]
    q, v, a = start + d * (3 * s**2 - 2 * s**3), d * (6 * s - 6 * s**2), d * (6 - 12 * s)
    cubic = arm.Trajectory(s[:, 0], q, v, a)

    bus = arm.drive.Bus(capacitance=0.3e-3, voltage=325.0, resistor_voltage=380.0)
    print("One robot on a bus of its own", arm.ledger(robot, cubic, bus), sep="\n")

    # the second robot starts when the first begins to brake
    both = share_supply(bus, [(robot, cubic, 0.0), (robot, cubic, 0.5)])
    burnt = [sum(a.resistor.sum() for a in both.apart), both.together.resistor.sum()]
    print(f"\non two buses they draw {both.drawn_apart:.2f} J and burn {burnt[0]:.2f} J,")
    less = f"{100 * both.saving:.1f} % less"
    print(f"on one bus they draw {both.drawn:.2f} J, {less}, and burn {burnt[1]:.2f} J")
    shared_supply(both, ("first robot", "second robot"), bus, save=figure)
    return both.saving


if __name__ == "__main__":
    main()
