"""`python -m benchmarks recordings --data FOLDER [--plots FOLDER]`: identification against real
robots' recordings, which stay outside
the repository. For each robot: errors on held-out runs of the description, of plain least squares
(the baseline of the data's README, fitted to the same runs) and of `arm.identify`; ∫y² against
measured; and for the UR3e what the supply delivers."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

import armature as arm
from armature.identification import Identified, Recording, planned_power
from armature.identify.identify import torque_per_unit
from armature.identify.regressor import regressor
from armature.identify.signals import Grid, grids

UR10E_TRAIN = (
    "20_02_12_50sec_12harm",
    "20_02_19_14harm50sec",
    "20_02_12_40sec_12harm",
    "20_02_10_30sec_12harm",
)
UR10E_TEST = ("20_02_10_20sec_7harm", "20_02_06_20sec_5harm", "19_12_23_free", "19_10_01_14_04_13")
UR3E_GAINS = (
    10.49,
    10.86,
    7.56,
    3.60,
    3.79,
    3.79,
)  # the controller's; the last joint's cannot be seen
COULOMB_WIDTH = 0.01  # rad/s, of the baseline


class Case(NamedTuple):
    """A robot with recordings. options: of identify.  springs: known torque is subtracted
    before."""

    name: str
    robot: arm.Robot
    train: list[Recording]
    tests: list[Recording]
    options: dict[str, Any]


def counterbalance(about: dict, q2: np.ndarray) -> np.ndarray:
    """Torque of the KR300's gas spring at axis 2, N·m, by the law of its robot.yaml."""
    c = about["counterbalance"]
    D, k, A = c["D_m"], c["k_m"], c["A_m2"]
    angle = q2 - np.pi / 2 + np.radians(95)
    L = np.sqrt(D**2 + k**2 - 2 * D * k * np.cos(angle))
    p = c["Z"] * c["Rs_J_per_kgK"] * c["T_K"] * c["m_gas_kg"] / (c["v_max_m3"] - (L - (D - k)) * A)
    return D * k * np.sin(angle) / L * p * A


def cases(folder: Path) -> Iterator[Case]:
    """All robots; single runs are cut at two thirds in time."""
    robot = lambda name: arm.load(folder / name / "robot.urdf")
    about = lambda name: yaml.safe_load((folder / name / "parameters.yaml").read_text())
    ur10e = robot("ur10e")
    run = lambda name: arm.load_recording(folder / "ur10e" / f"excitation_{name}.csv.gz", ur10e)
    gains = about("ur10e")["drive_gain_Nm_per_A"]
    yield Case(
        "ur10e",
        ur10e,
        [run(x) for x in UR10E_TRAIN],
        [run(x) for x in UR10E_TEST],
        {"gains": gains, "cutoff": 8.0},
    )
    kuka = yaml.safe_load((folder / "kr300" / "robot.yaml").read_text())
    kr300 = robot("kr300")
    runs = []
    for x in "AB":
        r = arm.load_recording(
            folder / "kr300" / f"run_{x}.csv.gz", kr300, ratio=kuka["gear"]["ratio"]
        )
        r.torque[:, 1] -= counterbalance(kuka, r.q[:, 1])
        runs.append(r.window(1.8, 8.2))
    yield Case("kr300 A→B", kr300, runs[:1], runs[1:], {"cutoff": 12.0})
    yield Case("kr300 B→A", kr300, runs[1:], runs[:1], {"cutoff": 12.0})
    N = np.array(about("tx40")["motor_to_joint"]["N"], dtype=float)
    for name, matrix, cutoff in (("tx40", N, 30.0), ("ur10", None, 6.0), ("panda", None, 20.0)):
        machine = robot(name)
        whole = arm.load_recording(
            folder / name / "run_first_two_thirds.csv.gz", machine, transmission=matrix
        )
        cut = whole.t[0] + whole.duration * 2 / 3
        tests = [replace(whole.window(cut, np.inf), name="last third")]
        yield Case(name, machine, [whole.window(-np.inf, cut)], tests, {"cutoff": cutoff})


# the baseline: plain least squares ---------------------------------------------------------------


def plain_least_squares(case: Case) -> dict[str, np.ndarray]:
    """Errors in % of spread of the unweighted fit with regressor, rotor, viscous, Coulomb (tanh
    v/0.01) and offset."""
    gains = torque_per_unit(case.robot, case.train, case.options.get("gains"))
    rows = lambda recording: [
        _rows(case.robot, grid, gains) for grid in grids(recording, case.options["cutoff"])
    ]
    fit = [part for recording in case.train for part in rows(recording)]
    A, y = (
        np.concatenate([part[k].reshape(-1, *part[k].shape[2:]) for part in fit]) for k in (0, 1)
    )
    x, *_ = np.linalg.lstsq(A, y, rcond=1e-10)
    found = {}
    for recording in case.tests:
        parts = rows(recording)
        error = np.concatenate([part[0] @ x - part[1] for part in parts])
        measured = np.concatenate([part[1] for part in parts])
        found[recording.name] = 100 * np.sqrt(np.mean(error**2, axis=0)) / measured.std(axis=0)
    return found


def _rows(robot: arm.Robot, grid: Grid, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, n, p) filtered regressor and (N, n) measured torque, at the same instants as `identify`
    sees."""
    eye = np.eye(robot.n)
    columns = [
        regressor(robot, grid.q, grid.v, grid.a),
        grid.a[:, :, None] * eye,
        grid.v[:, :, None] * eye,
        np.tanh(grid.v / COULOMB_WIDTH)[:, :, None] * eye,
        np.broadcast_to(eye, (len(grid.t), *eye.shape)),
    ]
    pick = slice(grid.rows.start, grid.rows.stop, max(1, grid.rows.step // 2))
    return (
        grid.filtered(np.concatenate(columns, axis=2))[pick],
        (grid.filtered(grid.measured) * gains)[pick],
    )


# tables ------------------------------------------------------------------------------------------


def table(case: Case, found: Identified, seconds: float) -> str:
    """A robot's errors as a table."""
    numbers = lambda values: " ".join(f"{x:.1f}" for x in values)
    baseline = plain_least_squares(case)
    lines = [
        f"### {case.name}",
        (
            f"{seconds:.1f} s CPU; {found.agreement}; friction"
            f" {', '.join(found.groups[4:]) or 'plain'}; trust {found.trust:g};"
            f" {found.robot.model_error}"
        ),
        "",
        "| held-out run | description | plain least squares | identified | ∫y² model/measured |",
        "|---|---|---|---|---|",
    ]
    for test in case.tests:
        _, model, measured = found.predict(test)
        heat = 100 * (np.sum(model**2) / np.sum(measured**2) - 1)
        cells = (
            numbers(found.prior_error[test.name]),
            numbers(baseline[test.name]),
            numbers(found.error[test.name]),
        )
        lines.append(f"| {test.name} | {' | '.join(cells)} | {heat:+.1f} % |")
    return "\n".join(lines)


def supply(folder: Path, plots: Path | None) -> str:
    """UR3e: trained outside its five marked moves; energy of each of them by the meter, from
    currents, and from the motion alone."""
    robot = arm.load(folder / "ur3e" / "robot.urdf")
    whole = arm.load_recording(folder / "ur3e" / "session.csv.gz", robot, columns={"a": "at{}"})
    assert (
        whole.moves is not None
        and whole.current is not None
        and whole.v is not None
        and whole.supply_power is not None
    )
    edges = whole.t[np.flatnonzero(whole.moves)[[0, -1]]]
    train = [
        replace(whole.window(-np.inf, edges[0] - 1e-6), name="before"),
        replace(whole.window(edges[1] + 1e-6, np.inf), name="after"),
    ]
    found = arm.identify(robot, train, gains=UR3E_GAINS)
    fit = found.supply
    assert fit is not None
    (ledger,) = planned_power(found.robot, whole, found.cutoff)
    from_motion = np.interp(whole.t, ledger.t, ledger.predicted)
    from_currents = fit.power(whole.current, whole.v)
    lines = [
        "### ur3e: supply power",
        f"{fit}; trained on the {sum(len(r.t) for r in train)} samples outside the moves",
        "",
        (
            "| move | measured, J | from currents, J | from the motion alone, J | allowed error, J"
            " | r.m.s., W (currents, motion) |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for k in range(1, 6):
        own = whole.moves == k
        step = 0.04
        energy = lambda power, own=own, step=step: step * float(np.sum(power[own]))
        rms = lambda power, own=own: float(np.sqrt(np.mean((power - whole.supply_power)[own] ** 2)))
        measured = energy(whole.supply_power)
        span = step * int(own.sum())
        allowed = 0.03 * (measured - fit.standing * span) + 1.0 * span
        lines.append(
            f"| {k} | {measured:.1f} | {energy(from_currents):.1f}"
            f" ({energy(from_currents) - measured:+.1f}) | {energy(from_motion):.1f}"
            f" ({energy(from_motion) - measured:+.1f}) | {allowed:.1f} | {rms(from_currents):.1f},"
            f" {rms(from_motion):.1f} |"
        )
    if plots is not None:
        from armature.plot.identification import power_figure

        power_figure(found, whole).savefig(plots / "validation_ur3e.png", dpi=60)
    return "\n".join(lines)


def run(folder: Path | None = None, plots: Path | None = None) -> str:
    """All tables. folder: of the recordings; from --data where it is not given."""
    folder = folder or _option("--data")
    if folder is None:
        sys.exit("give the folder of recordings: python -m benchmarks recordings --data FOLDER")
    plots = plots or _option("--plots")
    parts = ["## Recordings of real robots"]
    for case in cases(folder):
        start = time.process_time()
        found = arm.identify(case.robot, case.train, held_out=case.tests, **case.options)
        parts.append(table(case, found, time.process_time() - start))
        print(parts[-1], flush=True)
        if plots is not None and "B→A" not in case.name:
            from armature.plot.identification import comparison

            comparison(found, case.tests[0]).savefig(
                plots / f"validation_{case.name.split()[0]}.png", dpi=45
            )
    parts.append(supply(folder, plots))
    print(parts[-1], flush=True)
    return "\n\n".join(parts)


def _option(name: str) -> Path | None:
    return Path(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv[:-1] else None


if __name__ == "__main__":
    run()
