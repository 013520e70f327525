"""`python -m benchmarks simulated_recordings`: identification of simulated arms whose truth is
known: error on held-out runs, and how often parameters lie within three standard errors. The
recordings are those of tests/identify/simulated.py."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import armature as arm
from armature.identify.base import base_columns
from armature.identify.regressor import prior_parameters

TRIALS = 8
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def deviations(found: arm.identification.Identified, truth) -> list[float]:
    """(value − truth)/standard error of base parameters, viscous and Coulomb friction."""
    places = found.layout
    phi = np.zeros(places.size)
    phi[: places.inertial] = prior_parameters(truth.robot)
    for k in range(truth.robot.n):
        phi[places.of(k, "rotor")[0]] = truth.rotor[k]
    expected = dict(
        zip((p.name for p in found.parameters), found.base.matrix @ phi[base_columns(places)])
    )
    for k, joint in enumerate(truth.robot.joint_names):
        expected |= {f"{joint}.viscous": truth.viscous[k], f"{joint}.coulomb": truth.coulomb[k]}
    return [
        (p.value - expected[p.name]) / p.standard_error
        for p in found.parameters
        if p.name in expected
    ]


def run() -> str:
    """A table of arms."""
    from identify.simulated import Truth, robots

    head = (
        "| arm | held-out error, % of spread: median, largest | within 3 standard errors | CPU of"
        " one, s |"
    )
    lines = ["## Simulated recordings", "", head, "|---|---|---|---|"]
    for name, robot in robots().items():
        truth, errors, off = Truth(robot), [], []
        start = time.process_time()
        for trial in range(TRIALS):
            runs = [truth.recording(100 * trial + k) for k in (10, 20, 30)]
            found = arm.identify(
                truth.described(trial), runs[:2], held_out=runs[2:], gains=truth.gains
            )
            errors.append(found.error[runs[2].name])
            off += deviations(found, truth)
        seconds = (time.process_time() - start) / TRIALS
        inside = np.mean(np.abs(off) <= 3)
        lines.append(
            f"| {name} | {np.median(errors):.2f}, {np.max(errors):.2f} | {100 * inside:.1f} % of"
            f" {len(off)} | {seconds:.1f} |"
        )
    return "\n".join(lines)
