"""Chapter XIII of Burgevin's thesis (1983), computed again, with pictures: where the energy of a
move goes, and how to spend less of it.

The figures of the thesis are lost with their data; its text gives the robot, four savings, three
energies and the observations. All here is for a payload of 2 kg. Run it with a folder as its
argument to have the page of pictures written there (by default: this folder)."""

import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import armature as arm

ARM = arm.library("burgevin").with_payload(2.0)
SIDE = np.array([0.0, np.pi / 2, 0.9])  # phi, theta, r: stretched out, level
IN, OUT = np.array([0.0, np.pi / 2, 0.3]), np.array([0.0, np.pi / 2, 0.8])
WAYS = {
    "over the top": [0, -np.pi, 0],
    "by the bottom": [0, np.pi, 0],
    "by the side": [np.pi, 0, 0],
}


def at_the_ends(plan: arm.Solution) -> float:
    """The part of the heat that falls into the first and the last quarter of the time."""
    t, heat = plan.trajectory.t, np.sum(plan.trajectory.current**2, axis=1)
    outer = np.abs(t / t[-1] - 0.5) > 0.25
    return float(np.trapezoid(np.where(outer, heat, 0.0), t) / np.trapezoid(heat, t))


def forces_at_the_ends() -> list[arm.Solution]:
    """XIII.1a: half a turn about the vertical. The arm is drawn in, swings round by itself, and is
    stretched out again."""
    plans = [
        arm.minimize_energy(ARM, arm.Move(SIDE, SIDE + [np.pi, 0, 0], T), "regenerative")
        for T in (1.0, 2.0, 3.0)
    ]
    print("XIII.1a  forces only at the beginning and the end: half a turn about the vertical")
    for plan in plans:
        T, cubic, outer = plan.duration, plan.baseline.ledger.losses, at_the_ends(plan)
        print(
            f"  {T:.0f} s: {plan.losses:.3f} J of heat, {outer:.0%} in the first and the last"
            f" quarter; the joint cubic {cubic:.3f} J"
        )
    print(
        f"  confirmed: {1 - plans[0].losses / plans[0].baseline.ledger.losses:.1%} saved (printed:"
        " 76 %), and the more time, the more so"
    )
    return plans


def ways_to_the_antipode() -> dict[str, arm.Solution]:
    """XIII.1b: to the opposite point over the top, by the bottom (for which theta must reach 270°),
    or by the side."""
    free = ARM.with_limits({"theta": {"upper": np.radians(300)}})
    found = {}
    print(
        "XIII.1b  the ways to the antipode, J of heat; printed, without radius and time: top 4.94,"
        " bottom 4.28, side 0.95"
    )
    for r, T in ((0.5, 1.0), (0.7, 1.0), (0.7, 1.5)):
        start = np.array([0.0, np.pi / 2, r])
        found = {
            way: arm.minimize_energy(free, arm.Move(start, start + by, T), "regenerative")
            for way, by in WAYS.items()
        }
        ranked = sorted(found, key=lambda way: found[way].losses)
        print(
            f"  r = {r} m, {T} s:", " < ".join(f"{way} {found[way].losses:.3f}" for way in ranked)
        )
    print(
        "  confirmed where there is time: by the side is cheapest in 1.5 s; in 1 s it is the top at"
        " 0.5 m, and the bottom at 0.7 m"
    )
    return found


def transfer_of_energy() -> dict[str, arm.Solution]:
    """XIII.1c: an axis that holds the load hands its work to another one."""
    print("XIII.1c  transfer of energy, 1 s: heat by axis, against the joint cubic")
    tasks = {"staying stretched out": (SIDE, SIDE), "stretching from 0.3 to 0.8 m": (IN, OUT)}
    found = {}
    for name, (a, b) in tasks.items():
        plan = found[name] = arm.minimize_energy(ARM, arm.Move(a, b, 1.0), "regenerative")
        now, before = plan.ledger.per_joint, plan.baseline.ledger.per_joint
        parts = ", ".join(
            f"{j} {before[j]['copper']:.3f} → {now[j]['copper']:.3f} J" for j in ("theta", "r")
        )
        dip = np.degrees(plan.trajectory.q[:, 1].max()) - 90
        print(f"  {name}: {parts}; the arm sinks by {dip:.1f}°")
    print("  confirmed for staying: theta's work goes to r, which draws the load in")
    print(
        "  contradicted for stretching: the arm's own weight helps, but r works more than in the"
        " cubic; what is saved is theta's holding"
    )
    return found


def energy_against_time() -> tuple[arm.optimize.Curve, arm.optimize.Curve]:
    """XIII.1d, XIII.2: staying and stretching in any time. Swinging costs less than holding, most
    where the arm's own rhythm fits."""
    stay = arm.energy_time_curve(
        ARM, arm.Move(SIDE, SIDE), np.linspace(0.2, 6.2, 50), "regenerative"
    )
    stretch = arm.energy_time_curve(
        ARM, arm.Move(IN, OUT), np.linspace(0.3, 4.3, 50), "regenerative"
    )
    print("XIII.2  energy against time")
    for name, curve in (("staying", stay), ("stretching", stretch)):
        print(f"  {name}: minima at", ", ".join(f"{T:.3f} s ({E:.3f} J)" for T, E in curve.minima))
    if stay.resonance is not None:
        print(
            f"  confirmed: resonance, one more oscillation every {stay.resonance:.3f} s, with the"
            " later minima that the thesis expected"
        )
    saved = []
    for move in ((SIDE, SIDE), (IN, OUT)):
        plan = arm.minimize_energy(ARM, arm.Move(*move, 2.0), "regenerative")
        saved.append(1 - plan.losses / plan.baseline.ledger.losses)
    print(
        f"  contradicted: {saved[0]:.1%} saved by staying for 2 s, not 67 %, which ten Euler steps"
        " give: they make energy of their own"
    )
    print(
        f"  open: {saved[1]:.1%} by stretching for 2 s; 88 % is printed, but not from where to"
        " where"
    )
    (T1, E1), (T2, E2) = stretch.minima[0], min(stretch.minima, key=lambda m: m[1])
    print(
        f"  contradicted: to wait on the brake after the first minimum: stretching takes {E1:.3f} J"
        f" in {T1:.3f} s, {E2:.3f} J in {T2:.3f} s"
    )
    return stay, stretch


def least_time(first: float) -> arm.Solution:
    """XIII.3: the shortest motion; the thesis got one."""
    plan = arm.minimize_time(ARM, arm.Move(IN, OUT))
    print(f"XIII.3  stretching takes at least {plan.duration:.4f} s, and then {plan.losses:.1f} J")
    print(
        "  contradicted: the first minimum of its energy is not near the least time but at"
        f" {first / plan.duration:.1f} times it"
    )
    return plan


def pictures(
    path: Path, turns: list, ways: dict, stays: dict, curves: tuple, shortest: float
) -> None:
    """One page with six panels."""
    figure, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    (a, b, c), (d, e, f) = axes
    for plan in turns:
        t = plan.trajectory.t / plan.duration
        a.plot(
            t,
            np.sum(plan.trajectory.current**2, axis=1),
            label=f"{plan.duration:.0f} s: {at_the_ends(plan):.0%} in the outer half",
        )
    a.set(title="Half a turn: heat at both ends", xlabel="t / T", ylabel="Σ R i² [W]")
    for name, plan in ways.items():
        p = np.array([arm.pose(ARM, q, ARM.tips[0]).p for q in plan.trajectory.q])
        b.plot(p[:, 0], p[:, 2], label=f"{name}: {plan.losses:.2f} J")
    b.set(title="Ways to the antipode in 1.5 s", xlabel="x [m]", ylabel="z [m]")
    stay = stays["staying stretched out"]
    for j, name in ((1, "theta"), (2, "r")):
        c.plot(
            stay.trajectory.t,
            stay.trajectory.current[:, j] ** 2,
            label=f"{name}: {stay.ledger.per_joint[name]['copper']:.2f} J",
        )
    c.axhline(
        stay.baseline.ledger.losses,
        color="grey",
        ls=":",
        label=f"theta, holding: {stay.baseline.ledger.losses:.2f} J",
    )
    c.set(title="Staying for 1 s: r takes work from theta", xlabel="t [s]", ylabel="R i² [W]")
    stretch = stays["stretching from 0.3 to 0.8 m"].trajectory
    d.plot(stretch.t, np.degrees(stretch.q[:, 1]) - 90, label="theta below level [°]")
    d.plot(stretch.t, 10 * stretch.q[:, 2], label="r [dm]")
    d.set(title="Stretching: the arm sinks, and its weight helps", xlabel="t [s]")
    for axis, curve, name in ((e, curves[0], "Staying at one place"), (f, curves[1], "Stretching")):
        axis.plot(curve.durations, curve.energies)
        axis.plot(
            *np.array(curve.minima).T,
            "o",
            label=", ".join(f"{T:.2f}" for T, _ in curve.minima) + " s",
        )
        axis.set(title=f"{name}: energy against time", xlabel="T [s]", ylabel="E [J]")
    f.axvline(shortest, color="grey", ls=":", label=f"least time {shortest:.3f} s")
    f.set(ylim=(0.6, 1.2))
    for axis in axes.flat:
        axis.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(folder: Path = Path()) -> Path:
    """Everything in order; returns the picture's path."""
    turns, ways, stays = forces_at_the_ends(), ways_to_the_antipode(), transfer_of_energy()
    curves = energy_against_time()
    fast = least_time(curves[1].minima[0][0])
    path = folder / "thesis_chapter_13.png"
    pictures(path, turns, ways, stays, curves, fast.duration)
    return path


if __name__ == "__main__":
    print(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path()))
