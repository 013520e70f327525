"""`python -m benchmarks.recordings --data FOLDER`: torque errors on real robots' recordings, which stay outside the repository."""

from __future__ import annotations

import gzip
import sys
import time
from pathlib import Path

import numpy as np
import yaml

import armature as arm
from armature.identify.identify import identify
from armature.identify.recording import Recording

UR10E_TRAIN = ("20_02_12_50sec_12harm", "20_02_19_14harm50sec", "20_02_12_40sec_12harm", "20_02_10_30sec_12harm")  # fmt: skip
UR10E_TEST = ("20_02_10_20sec_7harm", "20_02_06_20sec_5harm", "19_12_23_free")


def read(path: Path, n: int, signal: str, to_joint: np.ndarray | None = None) -> Recording:
    """A recording with columns t, q1…, v1… and a signal. to_joint: (n, n) motor to joint torques."""
    with gzip.open(path, "rt") as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",")
    pick = lambda p: np.column_stack([table[:, names.index(f"{p}{k + 1}")] for k in range(n)])
    v = pick("v") if "v1" in names else None
    values = pick(signal)
    fields = (
        {"current": values}
        if signal == "i"
        else {"torque": values @ (np.eye(n) if to_joint is None else to_joint)}
    )
    return Recording(
        table[:, names.index("t")], pick("q"), v, name=path.name.split(".")[0], **fields
    )


def counterbalance(about: dict, q2: np.ndarray) -> np.ndarray:
    """Torque of the KR300's gas spring at axis 2, N·m, by the law of its robot.yaml."""
    c = about["counterbalance"]
    D, k, A = c["D_m"], c["k_m"], c["A_m2"]
    angle = q2 - np.pi / 2 + np.radians(95)
    L = np.sqrt(D**2 + k**2 - 2 * D * k * np.cos(angle))
    p = c["Z"] * c["Rs_J_per_kgK"] * c["T_K"] * c["m_gas_kg"] / (c["v_max_m3"] - (L - (D - k)) * A)
    return D * k * np.sin(angle) / L * p * A


def cases(folder: Path):
    """(name, robot, training, tests, options) of every robot; single runs are cut at two thirds."""
    robot = lambda name: arm.load(folder / name / "robot.urdf")
    about = lambda name: yaml.safe_load((folder / name / "parameters.yaml").read_text())
    run = lambda name: folder / "ur10e" / f"excitation_{name}.csv.gz"
    gains = about("ur10e")["drive_gain_Nm_per_A"]
    yield ("ur10e", robot("ur10e"), [read(run(x), 6, "i") for x in UR10E_TRAIN],
           [read(run(x), 6, "i") for x in UR10E_TEST], {"gains": gains, "cutoff": 8.0})  # fmt: skip
    kuka = yaml.safe_load((folder / "kr300" / "robot.yaml").read_text())
    ratio = np.diag(kuka["gear"]["ratio"])
    runs = []
    for x in "AB":
        r = read(folder / "kr300" / f"run_{x}.csv.gz", 6, "taum", ratio)
        r.torque[:, 1] -= counterbalance(kuka, r.q[:, 1])
        runs.append(r.window(1.8, 8.2))
    yield "kr300", robot("kr300"), runs[:1], runs[1:], {"cutoff": 12.0}
    yield "kr300 B→A", robot("kr300"), runs[1:], runs[:1], {"cutoff": 12.0}
    N = np.array(about("tx40")["motor_to_joint"]["N"], dtype=float)
    for name, n, signal, matrix, cutoff in (
        ("tx40", 6, "taum", N, 30.0), ("ur10", 6, "tau", None, 6.0), ("panda", 7, "tau", None, 20.0),
    ):  # fmt: skip
        whole = read(folder / name / "run_first_two_thirds.csv.gz", n, signal, matrix)
        if matrix is not None:
            whole = Recording(
                whole.t, whole.q, torque=whole.torque, name=whole.name, transmission=matrix
            )
        cut = whole.t[0] + whole.duration * 2 / 3
        test = whole.window(cut, np.inf)
        yield (
            name,
            robot(name),
            [whole.window(-np.inf, cut)],
            [Recording(**{**test.__dict__, "name": "last third"})],
            {"cutoff": cutoff},
        )


def main(folder: Path) -> None:
    """Print a table for each robot: error in % of spread, description and identified."""
    for name, robot, train, tests, options in cases(folder):
        start = time.process_time()
        found = identify(robot, train, held_out=tests, **options)
        print(
            f"\n{name}: {time.process_time() - start:.1f} s CPU, trust {found.trust}, groups {', '.join(found.groups)}"
        )
        for run, error in found.error.items():
            kind = "held out" if run in found.held_out else "fitted"
            before = " ".join(f"{x:.1f}" for x in found.prior_error[run])
            print(
                f"  {run} ({kind}): description {before} | identified {' '.join(f'{x:.1f}' for x in error)}"
            )
        for test in tests:
            _, model, measured = found.predict(test)
            ratio = np.sum(model**2, axis=0) / np.sum(measured**2, axis=0)
            total = np.sum(model**2) / np.sum(measured**2)
            print(
                f"  {test.name}: ∫y² model/measured − 1: {100 * (total - 1):.1f} %; joints {np.round(100 * (ratio - 1), 1)}"
            )


if __name__ == "__main__":
    if "--data" not in sys.argv[:-1]:
        sys.exit("give the folder of recordings: python -m benchmarks.recordings --data FOLDER")
    main(Path(sys.argv[sys.argv.index("--data") + 1]))
