"""The planner against a frozen table of an earlier one: energies, durations, verdicts, solves, CPU
time.

`python -m benchmarks.compare`                        plan all tasks of reference.json and print
ratios
`python -m benchmarks.compare --sets energy,time --count 40 --out now.json`
`python -m benchmarks.compare --freeze other.json --first 5000`   draw other tasks, plan them and
write a new table

A task is stored with all its numbers (ends, via points, duration, payload, drives of its arm), so
that neither another planner nor a larger catalogue changes what is asked. To judge on fresh tasks,
freeze them with the old commit's `src` on PYTHONPATH and compare."""

from __future__ import annotations

import argparse
import importlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import armature as arm
from armature.drive import Amplifier, Drive, Friction
from armature.drive.catalogue import catalogue
from benchmarks.arms import FILES, Arm, arms
from benchmarks.measure import machine, table
from benchmarks.others import others

REFERENCE = Path(__file__).parent / "reference.json"
SETS = {"energy": 100, "time": 60, "curves": 10}
BORDER = 0.97, 1.01  # of the least time: must be refused, must be planned
TWO = "regenerative", "non-regenerative"
ORDINARY = "plain", "plain", "plain", "near", "via", "timed via", "moving", "rates"
ALL = ("all",)
OTHERS_EVERY = 5  # every fifth task is of the arms that nothing was tuned on


# counting ----------------------------------------------------------------------------------------


class Count:
    """Solves and iterations of the interior-point solver while it is active."""

    def __enter__(self) -> Count:
        self.solves = self.iterations = 0
        self.owner = interior()
        self.run = run = self.owner.run

        def counted(search: Any, guess: Any) -> Any:
            before = len(search.record)
            try:
                return run(search, guess)
            finally:
                self.solves += 1
                self.iterations += len(search.record) - before

        self.owner.run = counted
        self.begin = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.owner.run = self.run
        self.cpu = time.process_time() - self.begin

    @property
    def figures(self) -> dict[str, float]:
        """What was counted."""
        return {"cpu": self.cpu, "solves": self.solves, "iterations": self.iterations}


def interior() -> Any:
    """The solver's class, wherever this version keeps it."""
    try:
        from armature.optimize.solver import interior as module
    except ImportError:  # a version from before the folders
        module = importlib.import_module("armature.optimize.interior")
    return module.Interior


# arms and tasks as data --------------------------------------------------------------------------


def drive_data(robot: arm.Robot) -> dict[str, list[Any]]:
    """Motor, gear, voltage and friction of every joint, by the catalogue's names."""
    drives = zip(robot.joint_names, robot.drivetrain.drives)
    return {
        name: [
            d.motor.name,
            d.gear.name,
            d.amplifier.voltage,
            d.friction.viscous,
            d.friction.coulomb,
        ]
        for name, d in drives
    }


def frozen_arms(data: dict[str, dict[str, list[Any]]]) -> dict[str, Arm]:
    """The arms of a table: built-in and hand-made ones as they are, those with catalogue drives as
    stored."""
    found, shelf = {**arms(), **others()}, catalogue()
    for name, joints in data.items():
        drives = {
            joint: Drive(
                shelf.motors[motor], shelf.gears[gear], Amplifier(volts), Friction(viscous, coulomb)
            )
            for joint, (motor, gear, volts, viscous, coulomb) in joints.items()
        }
        found[name] = found[name]._replace(robot=found[name].robot.with_drives(drives))
    return found


def task_data(d: Any) -> dict[str, Any]:
    """A draw of benchmarks.moves as plain numbers."""
    move, limits = d.move, {}
    carried = next(link.payload[0] for link in d.robot.links if link.payload is not None)
    if d.kind == "rates":
        for name in d.robot.joint_names:
            limit = d.robot.joint(name).limits
            limits[name] = {
                k: getattr(limit, k)
                for k in ("jerk", "torque_rate")
                if np.isfinite(getattr(limit, k))
            }
    as_list = lambda x: None if x is None else np.broadcast_to(x, np.shape(move.start)).tolist()
    return {
        "number": d.number,
        "arm": d.arm,
        "kind": d.kind,
        "supply": d.supply,
        "factor": d.factor,
        "payload": carried,
        "start": as_list(move.start),
        "goal": as_list(move.goal),
        "duration": move.duration,
        "start_velocity": as_list(move.start_velocity),
        "goal_velocity": as_list(move.goal_velocity),
        "limits": limits,
        "via": [
            [np.asarray(v.configuration).tolist(), v.at, as_list(v.velocity)] for v in move.via
        ],
    }


def asked(
    task: dict[str, Any], shelf: dict[str, Arm], duration: float | None = None
) -> tuple[arm.Robot, arm.Move, Any]:
    """Robot, move and supply of a stored task."""
    robot = shelf[task["arm"]].loaded(task["payload"])
    if task["limits"]:
        robot = robot.with_limits(task["limits"])
    via = tuple(
        arm.optimize.Via(np.array(q), at, None if v is None else np.array(v))
        for q, at, v in task["via"]
    )
    speeds = {
        k: np.array(task[k]) for k in ("start_velocity", "goal_velocity") if task[k] is not None
    }
    options = {"smoothness": 0.0} if "smoothness" in arm.Move.__dataclass_fields__ else {}
    options |= {"floor": None} if "floor" in arm.Move.__dataclass_fields__ else {}
    move = arm.Move(
        np.array(task["start"]),
        np.array(task["goal"]),
        duration or task["duration"],
        via=via,
        **speeds,
        **options,
    )
    if task["supply"] == "bus":
        from benchmarks.others import bus

        return robot, move, bus(robot)
    return robot, move, task["supply"]


# figures of one answer ---------------------------------------------------------------------------


def figures(plan: arm.Solution) -> dict[str, Any]:
    """What is compared of a plan."""
    found = {
        "ok": plan.ok,
        "status": plan.status.name,
        "certified": bool(plan.ok and plan.certificate.ok),
    }
    if plan.ok:
        motion, book = plan.trajectory, plan.baseline.ledger if plan.baseline else plan.ledger
        q, v, a = motion(np.linspace(0.0, motion.duration, 1001))
        tau = np.asarray(arm.inverse_dynamics(plan.robot, q, v, a))
        found |= {
            "duration": plan.duration,
            "energy": plan.energy,
            "losses": plan.losses,
            "baseline_energy": book.energy,
            "baseline_losses": book.losses,
            "torque_variation": float(np.abs(np.diff(tau, axis=0)).sum()),
            "peak_acceleration": float(np.abs(a).max()),
        }
    return found


class Planner(NamedTuple):
    """The functions that are compared: (robot, move, supply) -> Solution, (robot, move) ->
    Solution, (robot, move, supply) -> Curve."""

    energy: Callable[..., arm.Solution] = arm.minimize_energy
    time: Callable[..., arm.Solution] = arm.minimize_time
    curve: Callable[..., Any] = arm.energy_time_curve


def answer(
    kind: str,
    task: dict[str, Any],
    shelf: dict[str, Arm],
    warm: set[tuple[Any, ...]],
    planner: Planner | None = None,
) -> dict[str, Any]:
    """Plan one task; where its functions have not been compiled yet, twice, and the figures are the
    second's."""
    robot, move, supply = asked(task, shelf)
    free, planner = replace(move, duration=None), planner or Planner()
    run = {
        "energy": lambda: planner.energy(robot, move, supply),
        "border": lambda: planner.energy(robot, move, supply),
        "time": lambda: planner.time(robot, free),
        "curves": lambda: planner.curve(robot, free, supply=supply),
    }[kind]
    key = kind, task["arm"], task["supply"], len(task["via"]), bool(task["limits"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if key not in warm:
            warm.add(key)
            run()
        with Count() as count:
            found = run()
        if kind == "curves":
            pairs = {
                "durations": list(map(float, found.durations)),
                "energies": list(map(float, found.energies)),
            }
            return {**count.figures, **pairs}
        return {**count.figures, **figures(found)}


# freezing ----------------------------------------------------------------------------------------


def drawn(first: int, counts: dict[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tasks of every set, as data; those of the border come from the least times found (see
    `border`)."""
    from benchmarks.moves import draw
    from benchmarks.others import KINDS, NAMES, SUPPLIES

    def one(number: int, kinds: tuple[str, ...], supplies: tuple[str, ...]) -> dict[str, Any]:
        if number % OTHERS_EVERY == OTHERS_EVERY - 1:
            mine = tuple(k for k in KINDS if k in kinds or kinds == ALL)
            return task_data(draw(number, NAMES, mine, SUPPLIES if kinds == ALL else supplies))
        return task_data(
            draw(number, (), tuple(k for k in ORDINARY if k in kinds or kinds == ALL), supplies)
        )

    for number in range(first, first + counts["energy"]):
        yield "energy", one(number, ALL, TWO)
    for number in range(first + 1000, first + 1000 + counts["time"]):
        yield "time", one(number, ("plain", "near", "via", "stop", "cycle", "rates"), TWO)
    for number in range(first + 2000, first + 2000 + counts["curves"]):
        yield "curves", one(number, ("plain",), TWO)


def freeze(path: Path, first: int, counts: dict[str, int]) -> None:
    """Draw tasks, plan them, and write the table; what is there already is kept, so that a run can
    be continued."""
    catalogue_arms = [name for name in arms() if name in FILES or name.startswith("chain")]
    data = (
        json.loads(path.read_text())
        if path.exists()
        else {
            "machine": machine(),
            "arms": {name: drive_data(arms()[name].robot) for name in catalogue_arms},
            "rows": [],
        }
    )
    shelf, warm = frozen_arms(data["arms"]), set()
    done = {(row["set"], row["task"]["number"]) for row in data["rows"]}
    for kind, task in drawn(first, counts):
        if (kind, task["number"]) in done:
            continue
        row = {"set": kind, "task": task, "answer": answer(kind, task, shelf, warm)}
        data["rows"].append(row)
        path.write_text(json.dumps(data))
        print(
            kind,
            task["number"],
            task["arm"],
            task["kind"],
            {k: v for k, v in row["answer"].items() if k != "energies"},
            flush=True,
        )


# comparing ---------------------------------------------------------------------------------------


def border(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every task of least time at given durations a little below and above it: one must be refused,
    the other planned."""
    found = [row for row in rows if row["set"] == "time" and row["answer"]["ok"]]
    near = lambda row, part: {
        **row["task"],
        "factor": part,
        "duration": part * row["answer"]["duration"],
    }
    nothing = {
        "ok": False,
        "certified": False,
        "cpu": np.nan,
        "solves": np.nan,
        "iterations": np.nan,
    }
    return [
        {"set": "border", "task": near(row, part), "answer": nothing}
        for row in found
        for part in BORDER
    ]


def compare(
    path: Path, sets: list[str], count: int | None, out: Path | None, planner: Planner
) -> str:
    """Plan the table's tasks again and tell both, as markdown."""
    data = json.loads(path.read_text())
    shelf, warm, found = frozen_arms(data["arms"]), set(), []
    for kind in sets:
        rows = (
            border(data["rows"])
            if kind == "border"
            else [row for row in data["rows"] if row["set"] == kind]
        )
        for row in rows[:count]:
            now = answer(kind, row["task"], shelf, warm, planner)
            found.append({**row, "now": now})
            if out is not None:
                out.write_text(json.dumps(found))
            print(
                kind,
                row["task"]["number"],
                row["task"]["arm"],
                row["task"]["kind"],
                line(kind, row["answer"], now),
                flush=True,
            )
    return "\n\n".join(summary(kind, [row for row in found if row["set"] == kind]) for kind in sets)


def line(kind: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    """Both answers in a few words."""
    what = {"energy": "energy", "time": "duration"}.get(kind, "cpu")
    state = lambda a: "certified" if a.get("certified") else a.get("status", "")
    both = " ".join(
        f"{a.get(what, np.nan):.5g} ({state(a)}, {a['solves']} solves, {a['cpu']:.2f} s)"
        for a in (old, new)
    )
    return both


def summary(kind: str, rows: list[dict[str, Any]]) -> str:
    """Markdown: the figures of one set."""
    old, new = [row["answer"] for row in rows], [row["now"] for row in rows]
    work = [
        [
            name,
            *(
                f"{np.median([a[name] for a in side]):.3g} / {np.sum([a[name] for a in side]):.4g}"
                for side in (old, new)
            ),
        ]
        for name in ("cpu", "solves", "iterations")
    ]
    lines = [
        f"## {kind}: {len(rows)} tasks",
        "",
        table(["median / sum", "frozen", "now"], work),
        "",
    ]
    if kind == "curves":
        return "\n".join([*lines, curves_told(old, new)])
    certified = [sum(a["certified"] for a in side) for side in (old, new)]
    lines.append(f"certified: frozen {certified[0]}, now {certified[1]}")
    if kind == "border":
        for part in BORDER:
            mine = [row["now"]["certified"] for row in rows if row["task"]["factor"] == part]
            lines.append(f"at {part} of the least time: {sum(mine)} of {len(mine)} planned")
        lines.append(f"told within 2 s of CPU: {np.mean([a['cpu'] <= 2.0 for a in new]):.0%}")
        return "\n".join(lines)
    what = "losses" if kind == "energy" else "duration"
    both = [(a, b) for a, b in zip(old, new) if a["certified"] and b["certified"]]
    change = lambda a, b: (
        (b["energy"] - a["energy"]) / abs(a["losses"])
        if kind == "energy"
        else b[what] / a[what] - 1.0
    )
    changes = np.array([change(a, b) for a, b in both])
    quantiles = " / ".join(
        f"{100 * x:+.2f} %" for x in np.quantile(changes, [0.0, 0.05, 0.5, 0.95, 1.0])
    )
    lines.append(f"change (energy: of the losses), least / 5 / 50 / 95 % / most: {quantiles}")
    lines.append(
        f"worse by over 1 %: {int((changes > 0.01).sum())} of {len(changes)}"
        f" ({100 * (changes > 0.01).mean():.1f} %)"
    )
    for name in ("torque_variation", "peak_acceleration"):
        ratio = np.median([b[name] / max(a[name], 1e-12) for a, b in both])
        lines.append(f"{name}, median ratio: {ratio:.2f}")
    return "\n".join(lines)


def curves_told(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> str:
    """How two sets of curves differ where both are defined."""
    changes = []
    for a, b in zip(old, new):
        T = np.linspace(
            max(a["durations"][0], b["durations"][0]),
            min(a["durations"][-1], b["durations"][-1]),
            40,
        )
        then, now = (np.interp(T, c["durations"], c["energies"]) for c in (a, b))
        changes.append(np.mean((now - then) / np.maximum(np.abs(then), 1e-9)))
    return (
        "energies along the curves, mean change of each, least / median / most:"
        f" {np.quantile(changes, [0, 0.5, 1]).round(5).tolist()}"
    )


def main() -> None:
    """Command line."""
    how = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare", description=__doc__, formatter_class=how
    )
    parser.add_argument("--reference", type=Path, default=REFERENCE)
    parser.add_argument(
        "--sets", default=",".join([*SETS, "border"]), help="energy, time, border, curves"
    )
    parser.add_argument("--count", type=int, help="only the first so many of every set")
    parser.add_argument("--out", type=Path, help="where to write both answers of every task, JSON")
    parser.add_argument(
        "--freeze", type=Path, help="draw and plan new tasks instead, and write this table"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first task drawn")
    given = parser.parse_args()
    counts = {name: min(most, given.count or most) for name, most in SETS.items()}
    if given.freeze:
        freeze(given.freeze, given.first, counts)
    else:
        print(compare(given.reference, given.sets.split(","), given.count, given.out, Planner()))


if __name__ == "__main__":
    main()
