"""A plan in words: what it saves, whether it may be run, and why there is none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from armature.errors import ArgumentError
from armature.optimize.certificate.peaks import peaks
from armature.optimize.certificate.solution import NOTHING, doubts
from armature.robot.check import mass_doubt
from armature.scene.floor import LIMIT

TENTH = 0.1  # of a parameter: what sentences speak of


def headline(plan: Any) -> str:
    """The one line that matters."""
    if not plan.ok:
        return "No plan was found"
    if not plan.robot.drives:
        return _faster(plan) if hurried(plan) else f"{plan.duration:.4g} s"
    if plan.saving is None:
        return f"{plan.energy:.4g} J drawn, {plan.losses:.4g} J lost"
    if hurried(plan):
        return _faster(plan)
    what = "losses" if plan.returns else "energy drawn"
    if mass_doubt(plan.robot):
        return "Energies mean nothing: the model has no real masses"
    if abs(plan.saving) < NOTHING:
        return (
            f"{plan.energy:.4g} J drawn, {plan.losses:.4g} J lost: about as"
            f" {the(plan.baseline.name)}"
        )
    if plan.saving < 0:
        return f"{-100 * plan.saving:.0f} % more {what} than {the(plan.baseline.name)}"
    return f"{100 * plan.saving:.0f} % less {what} than {the(plan.baseline.name)}"


def _faster(plan: Any) -> str:
    """How much shorter the plan is than the motion it is compared with."""
    faster = 1 - plan.duration / plan.baseline.trajectory.duration
    return f"{100 * faster:.0f} % less time than {the(plan.baseline.name)}"


def hurried(plan: Any) -> bool:
    """Whether the plan is shorter than the motion it is compared with, which then says nothing
    about energy."""
    return plan.baseline is not None and plan.duration < 0.99 * plan.baseline.trajectory.duration


def summary(plan: Any, doubted: bool = True) -> list[str]:
    """A few sentences for someone who did not make the plan. doubted: with why its energies may
    mean nothing."""
    lines = (
        [f"{plan.robot.name} moves for {plan.duration:.4g} s."]
        if plan.ok
        else [str(plan.diagnosis or plan.status.value)]
    )
    if not plan.ok:
        return [
            *lines,
            (
                "The motion shown is the one of least violation that was found. It breaks limits"
                " and must not be run."
            ),
        ]
    if not plan.robot.drives:
        return [
            *lines,
            "The robot has no drives, so no energy is counted.",
            proof(plan.certificate),
        ]
    lines.append(
        f"The plan draws {plan.energy:.4g} J from the supply and turns {plan.losses:.4g} J into"
        " heat."
    )
    if plan.baseline is not None:
        book, note = plan.baseline.ledger, f" ({plan.baseline.note})" if plan.baseline.note else ""
        lines.append(
            f"{the(plan.baseline.name).capitalize()}{note} draws {book.energy:.4g} J and turns"
            f" {book.losses:.4g} J into heat."
        )
    error = plan.robot.model_error
    known = [] if error is None else [str(error)]
    said = [f"{x[0].upper()}{x[1:]}." for x in [*known, *(doubts(plan.robot) if doubted else ())]]
    return [*lines, *said, proof(plan.certificate), *surroundings(plan)]


def sensitive(plan: Any, most: int = 3) -> list[str]:
    """What other numbers of the robot would save, the most of every kind first, as sentences; none
    of plans without sensitivities."""
    if not (plan.ok and plan.robot.drives) or getattr(plan, "problem", None) is None:
        return []
    try:
        table = plan.sensitivities()
    except ArgumentError:
        return []
    best: dict[str, str] = {}
    for row in table:
        part = -TENTH if row.elasticity > 0.0 else TENTH
        if row.value and row.is_possible(part) and abs(row.change(part)) > NOTHING:
            best.setdefault(row.parameter.partition(" of ")[0], row.sentence(TENTH))
    return list(best.values())[:most]


def surroundings(plan: Any) -> list[str]:
    """How near the plan comes to its floor, and whether links may touch each other."""
    heights = [
        m for row in plan.certificate.margins.values() for m in row.values() if m.limit == LIMIT
    ]
    warned = [
        f"{note[0].upper()}{note[1:]}."
        for note in plan.certificate.notes
        if note.startswith("self-collision")
    ]
    low = min(heights, key=lambda m: m.value, default=None)
    if low is None:
        return ["No floor was kept.", *warned]
    z = "" if plan.robot.floor is None else f" at z = {plan.robot.floor.height:.4g} m"
    lowest = (
        f"{low.joint} comes lowest, {max(0.0, 1e3 * low.value):.0f} mm above it at {low.time:.3g} s"
    )
    return [f"All links stay above the floor{z}; {lowest}.", *warned]


def peak_rows(plan: Any) -> list[tuple[str, str, str, str, str]]:
    """Of torque, acceleration, jerk and current: the joint, its peak in the plan and in the
    baseline, and how many times it is."""
    return [(p.quantity, p.joint, f"{p.value:.3g} {p.unit}", *_against(p)) for p in peaks(plan)]


def _against(peak: Any) -> tuple[str, str]:
    """The baseline's peak, and how many times it is; nothing where it has none, or jumps."""
    if not math.isfinite(peak.baseline):
        return peak.beside, ""
    other = f"{peak.beside} {peak.unit}"
    if peak.baseline <= 1e-6 * peak.value:
        return other, ""
    if peak.baseline <= 1e-2 * peak.value:
        return other, "over 100 ×"
    return other, f"{peak.value / peak.baseline:.2g} ×"


def certificate(plan: Any) -> str:
    """The certificate as lines; where the task is not met there is nothing to certify, though the
    motion shown may keep all limits."""
    return (
        str(replace(plan.certificate, notes=()))
        if plan.ok
        else "certificate: none, for the motion found does not do what was asked for"
    )


def proof(certificate: Any) -> str:
    """What the certificate says, as a sentence."""
    c = certificate
    if not c.within_limits:
        return f"The certificate did not pass: {c.worst}."
    counted = not math.isnan(c.energy)
    energy = f" and its energy agrees to {100 * c.energy_error:.1g} %" if counted else ""
    follows = f"the simulated arm follows to {c.tracking_error:.0e} of the motion{energy}"
    given = "currents" if counted else "torques"
    near = f" (nearest: {c.worst.joint}'s {c.worst.limit}, {left(c.worst)})" if c.worst else ""
    if not c.ok:
        return f"The certificate did not pass: all limits hold, but {follows}."
    return (
        f"The certificate passed: every limit holds between the knots too{near}; under the planned"
        f" {given} {follows}."
    )


def left(margin: Any) -> str:
    """How much of a limit is left."""
    return (
        "exceeded"
        if margin.fraction < -1e-3
        else "reached"
        if margin.fraction < 1e-3
        else f"{100 * margin.fraction:.2g} % left"
    )


def the(name: str) -> str:
    """A name with its article."""
    return name if name.startswith("the ") else f"the {name}"
