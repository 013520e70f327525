"""What a worker does with the case of a plan: make it, prove it, and report plain values."""

from __future__ import annotations

import functools
import tempfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.job.job import Job
from armature.job.saved import save_plan
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.curve import energy_time_curve
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.study.outcome import Outcome


@dataclass(frozen=True)
class CurveSpec:
    """Energy against duration instead of one plan. count: durations.  shortest, longest: in
    multiples of the least time."""

    count: int = 20
    shortest: float = 1.05
    longest: float = 4.0


@dataclass(frozen=True, eq=False)
class Work:
    """A case as it travels to a worker. job: what to plan.  certify: prove the plan.  keep: send
    the plan itself back.
    curve: plan over many durations."""

    job: Job
    certify: bool = True
    keep: bool = False
    curve: CurveSpec | None = None


def plan_case(work: Work) -> Outcome:
    """Values and plan of one job."""
    job = replace(work.job, robot=_kept(work.job.robot))
    if work.curve is not None:
        return Outcome(curve_values(job, work.curve))
    solution = job.run()
    plan = _bytes(solution, job) if work.keep else None
    return Outcome(plan_values(solution, work.certify), plan)


@functools.lru_cache(maxsize=256)
def _kept(robot: Robot) -> Robot:
    """The first of equal robots: kernels are kept with it, and need not be fetched again for every
    case."""
    return robot


def plan_values(solution: Solution, certify: bool) -> dict[str, Any]:
    """The columns of a plan: energies in J, times in s, saving as a fraction; None where a value
    does not exist."""
    certified = bool(solution.ok and solution.certificate.ok) if certify else None
    return {
        "ok": bool(solution.ok),
        "certified": certified,
        "energy": _finite(solution.energy),
        "losses": _finite(solution.losses),
        "saving": _finite(solution.saving),
        "duration": _finite(solution.duration),
        "iterations": len(solution.iterations),
        "status": solution.status.name.lower(),
        "diagnosis": "" if solution.diagnosis is None else str(solution.diagnosis),
    }


def curve_values(job: Job, spec: CurveSpec) -> dict[str, Any]:
    """The columns of an energy-time curve: its least time, its cheapest point, and the curve itself
    as lists."""
    job.without_scene("the energy-time curve")
    move: Move = replace(job.task, duration=None)  # type: ignore[arg-type]  (the study has checked that it is a Move)
    fastest = least_time(job.robot, move)
    if not fastest.ok:
        return {
            "ok": False,
            "status": fastest.status.name.lower(),
            "diagnosis": str(fastest.diagnosis or fastest.status.value),
        }
    durations = fastest.duration * np.geomspace(spec.shortest, spec.longest, spec.count)
    curve = energy_time_curve(job.robot, move, durations.tolist(), job.supply, job.knots)
    good = bool(np.isfinite(curve.energies).any())
    T, E = curve.best if good else (None, None)
    return {
        "ok": good,
        "least_time": fastest.duration,
        "duration": T,
        "energy": E,
        "minima": [list(m) for m in curve.minima],
        "resonance": curve.resonance,
        "curve_durations": [float(x) for x in curve.durations],
        "curve_energies": [_finite(x) for x in curve.energies],
        "curve_losses": [_finite(x) for x in curve.losses],
        "diagnosis": curve.advice,
    }


def least_time(robot: Robot, move: Move, knots: int = 50) -> Solution:
    """The shortest motion, from one starting motion, and only where that fails from several; at
    least 30 knots."""
    found = minimize_time(robot, move, knots=max(30, knots), starts=1)
    return found if found.ok else minimize_time(robot, move, knots=max(30, knots))


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _bytes(solution: Solution, job: Job) -> bytes:
    """The plan as the bytes of an .npz file, compressed here: the driver has enough to do."""
    with tempfile.TemporaryDirectory() as folder:
        return zlib.compress(
            Path(save_plan(solution, Path(folder) / "plan.npz", task=job.task)).read_bytes()
        )
