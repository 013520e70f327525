"""Studies: plans a minute with one and two workers, and what each part of the driver takes for one
case: where a large study is held up."""

from __future__ import annotations

import tempfile
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import armature as arm
from armature.study.run import run_study
from armature.study.spec import Study
from armature.study.store import open_store
from benchmarks.measure import table

PLANS = 520
SMALL = 10_000  # cases that take no time, for what the driver itself takes
ROWS = 1_500  # rows written one by one
COLUMNS = (
    "ok",
    "certified",
    "energy",
    "losses",
    "saving",
    "duration",
    "iterations",
    "status",
    "diagnosis",
)
MILLION, CORES = 1_000_000, 1_000


def nothing(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A case that takes no time, with as many values as a plan."""
    return dict.fromkeys(COLUMNS, inputs["x"])


def plans(keep: bool = False) -> Study:
    """Moves of the SCARA to goals drawn at random, at four durations."""
    move = arm.Move([-1.0, 1.4, 0.02, 0.0], [1.2, -1.0, 0.15, 1.5], 1.2)
    vary = {"duration": [1.2, 1.4, 1.7, 2.0], "goal": {"random": "limits", "margin": 0.15}}
    job = arm.job.Job(
        arm.library("scara").with_payload(1.0), move, supply="non-regenerative", knots=50
    )
    return Study(job, vary, samples=PLANS // 4, seed=1, keep=keep, name="plans")


def run() -> str:
    """Throughput, and the parts of a case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm_up(folder)
        seconds = {n: timed_run(plans(), folder / f"{n}.db", n) for n in (1, 2)}
        rows = [[n, PLANS, f"{s:.1f}", f"{60 * PLANS / s:.0f}"] for n, s in seconds.items()]
        ratio = seconds[1] / seconds[2]
        one = seconds[1] / PLANS
        words = [
            "## Studies",
            (
                f"{PLANS} certified least-energy moves of the SCARA, 50 knots, each stored at once;"
                " starting and ending processes included."
            ),
            table(["workers", "plans", "s", "plans a minute"], rows),
            f"Two workers are **{ratio:.2f} times** as fast as one.",
            parts(folder, one),
        ]
    return "\n\n".join(words)


def warm_up(folder: Path) -> None:
    """Kernels and compiled loops into their caches."""
    from dataclasses import replace

    run_study(replace(plans(), samples=1), folder / "warm.db", workers=1)


def timed_run(study: Study, path: Path, workers: int) -> float:
    """Seconds of a whole study."""
    begin = time.perf_counter()
    results = run_study(study, path, workers=workers)
    seconds = time.perf_counter() - begin
    assert results.complete and results.counts["failed"] == results.counts["poisoned"] == 0, results
    return seconds


def parts(folder: Path, one: float) -> str:
    """What a case costs the driver, part by part, and what that means for a million plans on a
    thousand cores."""
    wanted = CORES / one  # plans a second that a thousand cores make
    listing, packing, size = driver_work()
    bare, kept = writing(folder, None), writing(folder, plan_bytes(folder))
    local = small_cases(
        lambda study, path, tell: run_study(study, path, workers=1, progress=tell),
        folder / "small.db",
    )
    cluster = small_cases(
        lambda study, path, tell: run_study(study, path, cluster="local:1", progress=tell),
        folder / "cluster.db",
    )
    figures = [
        ("list and hash a case", listing, ""),
        ("pack a case for a worker", packing, f"{size / 1000:.1f} kB"),
        ("store a row", bare[0], f"{bare[1] / 1000:.2f} kB on disk"),
        ("store a row with its plan", kept[0], f"{kept[1] / 1000:.1f} kB on disk"),
        ("local pool: a case without work, all in all", local, ""),
        ("Dask: a case without work, in bundles", cluster, ""),
    ]
    rows = [[what, f"{1000 * s:.3f}", f"{1 / s:.0f}", note] for what, s, note in figures]
    ideal = MILLION * one / CORES / 60
    held = MILLION * cluster / 60
    words = (
        f"A plan takes {1000 * one:.0f} ms of one core: a thousand cores make {wanted:.0f} a"
        f" second, a million in {ideal:.0f} minutes. One driver with Dask hands out and takes in"
        f" {1 / cluster:.0f} cases a second: a million in {held:.0f} minutes. A million rows take"
        f" {MILLION * bare[1] / 1e9:.1f} GB, with their plans {MILLION * kept[1] / 1e9:.0f} GB."
    )
    return table(["part", "ms a case", "cases a second", "size"], rows) + "\n\n" + words


def driver_work() -> tuple[float, float, int]:
    """Seconds to list a case and to pack it (CPU of one thread), and its size in bytes."""
    study = plans()
    begin = time.process_time()
    cases = list(study.all_cases())
    listed = time.process_time()
    sizes = [len(study.packed(case.inputs)) for case in cases]
    return (
        (listed - begin) / len(cases),
        (time.process_time() - listed) / len(cases),
        int(np.mean(sizes)),
    )


def plan_bytes(folder: Path) -> bytes:
    """A kept plan as it is stored."""
    from dataclasses import replace

    results = run_study(replace(plans(keep=True), samples=1), folder / "keep.db", workers=1)
    assert results.counts["done"] == 4, results
    with open_store(folder / "keep.db") as store:
        return zlib.compress(store.plan(results.rows[0].id) or b"")


def writing(folder: Path, plan: bytes | None) -> tuple[float, float]:
    """Seconds to store one row in a transaction of its own, and the bytes that it takes on disk."""
    path = folder / f"writing{plan is not None}.db"
    outcome = {**nothing({"x": 1.23456789012345}), "diagnosis": ""}
    with open_store(path, write=True) as store:
        store.sync(
            ((f"{k:020d}", {"x": k, "goal": {"turn1": 0.123456789}}) for k in range(ROWS)), {}
        )
        begin = time.perf_counter()
        for k in range(ROWS):
            store.finish([(f"{k:020d}", "done", outcome, "", 0.1, plan)])
        seconds = (time.perf_counter() - begin) / ROWS
    return seconds, path.stat().st_size / ROWS


def small_cases(run: Callable[[Study, Path, Callable], Any], path: Path) -> float:
    """Seconds a case where the work itself takes none; starting and ending the pool is left out."""
    seen: list[tuple[float, int]] = []
    run(
        Study(function=nothing, vary={"x": range(SMALL)}, name="small"),
        path,
        lambda now: seen.append((time.perf_counter(), now.done)),
    )
    between = [(t, n) for t, n in seen if 0 < n < SMALL]
    first, last = between[0], between[-1]
    return (last[0] - first[0]) / (last[1] - first[1])
