"""`python -m benchmarks [section ...]`: all sections, or those named; writes benchmarks/results.md
when all were run."""

from __future__ import annotations

import datetime
import importlib
import sys
import time
from pathlib import Path

from benchmarks.measure import machine

NOTE = (
    "Both sides of every ratio were measured in this run, turn by turn; medians of several repeats."
)
SECTIONS = [
    "dynamics",
    "closed_forms",
    "rollouts",
    "links",
    "compile_time",
    "mechanisms",
    "solver",
    "plans",
    "curves",
    "everyday",
    "moves",
    "refusals",
    "paths",
    "studies",
    "dense",
]
ASKED = [
    "recordings",
    "simulated_recordings",
    "cells",
    "scenes",
    "sensitivity",
    "design",
]  # when named only; recordings, cells, scenes and design with --data FOLDER


def main(chosen: list[str]) -> int:
    """Run the sections and print them; keep the results when none was left out.

    `--count N`: random moves; `--others`: of other arms; `--first N`, `--minutes M`: of the dense
    section;
    `--data FOLDER`, `--plots FOLDER`: of recordings; `cells --data FOLDER [--seconds S]`: robotic
    cells of others, whose section of the results is written by itself; `scenes --data FOLDER`
    with options of its own (scenes.py)."""
    for option in (
        "--count",
        "--first",
        "--minutes",
        "--data",
        "--plots",
        "--seconds",
        "--every",
        "--rows",
    ):
        if option in chosen[:-1]:
            k = chosen.index(option)
            chosen = [*chosen[:k], *chosen[k + 2 :]]
    chosen = [name for name in chosen if name not in ("--others", "--judge", "--quick", "--poses")]
    unknown = [name for name in chosen if name not in (*SECTIONS, *ASKED)]
    if unknown:
        print(f"no section {', '.join(unknown)}; there are: {', '.join((*SECTIONS, *ASKED))}")
        return 2
    parts = [f"# Measured results\n\n{datetime.date.today().isoformat()}; {machine()}.\n{NOTE}"]
    path = Path(__file__).parent / "results.md"
    for name in chosen or SECTIONS:
        start = time.perf_counter()
        parts.append(importlib.import_module(f"benchmarks.{name}").run())
        print(f"{parts[-1]}\n\n({name}: {time.perf_counter() - start:.0f} s)\n", flush=True)
        if not chosen:
            path.write_text("\n\n".join(parts) + "\n")
    print("" if chosen else f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
