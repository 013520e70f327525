"""Energy-optimal schedules of robotic cells of others: `python -m benchmarks cells --data FOLDER`.

FOLDER holds the XML data sets of Bukata, Šůcha, Hanzálek and Burget (GeneratorOfRoboticCells,
datasets/)."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

from armature.cell.schedule.cell_file import load_cell_models
from armature.cell.schedule.optimize_cell import optimize_cell

TITLE = "## Robotic cells of others"
RESULTS = Path(__file__).parent / "results.md"


def option(name: str, default: str = "") -> str:
    """The value of an option of the command line."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv[:-1] else default


def run() -> str:
    """Solve every cell of every data set of the folder; returns and keeps the section."""
    folder, seconds = option("--data"), float(option("--seconds", "60"))
    files = sorted(Path(folder).glob("*.xml")) if folder else []
    if not files:
        return "cells: give the folder of the data sets: python -m benchmarks cells --data FOLDER"
    rows = [row for file in files for row in measured(file, seconds)]
    head = (
        "| data set | cell | robots | cycle s | energy J | proved bound J | gap | full speed J |"
        " solves | CPU s | simulated |"
    )
    text = "\n".join(
        [
            TITLE,
            "",
            (
                "Schedules of least energy (speeds, places, orders, power modes), proved by a"
                f" lower bound; at most {seconds:g} s of wall time each, on one core of a shared"
                " machine. Full speed: every movement as fast as it can be, motors on, robots not"
                " waiting for each other (none: that fills no cycle)."
            ),
            "",
            head,
            "|" + "---|" * 11,
            *rows,
        ]
    )
    keep(text)
    return text


def measured(file: Path, seconds: float) -> list[str]:
    """A row for each cell of a data set."""
    rows = []
    for k, model in enumerate(load_cell_models(file)):
        begin = time.process_time()
        found = optimize_cell(model, seconds)
        cpu = time.process_time() - begin
        fast = "none" if found.full_speed is None else f"{found.full_speed:.2f}"
        gap = "proved" if found.gap < 2e-6 else f"{100 * found.gap:.3f} %"
        numbers = (
            f"{model.cycle:g} | {found.energy:.3f} | {found.lower_bound:.3f} | {gap} | {fast} |"
            f" {found.solves} | {cpu:.1f}"
        )
        rows.append(
            f"| {file.stem} | {k} | {len(model.robots)} | {numbers} |"
            f" {'holds' if found.ok else 'FAULTS'} |"
        )
        print(rows[-1], flush=True)
    return rows


def keep(text: str) -> None:
    """Write the section into the results, in place of the one before."""
    old = RESULTS.read_text()
    pattern = re.compile(rf"{re.escape(TITLE)}\n.*?(?=\n## |\Z)", re.DOTALL)
    new = pattern.sub(lambda _: text + "\n", old) if TITLE in old else f"{old.rstrip()}\n\n{text}\n"
    RESULTS.write_text(new)
