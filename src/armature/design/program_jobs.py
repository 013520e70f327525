"""Programs as tasks of a design: every motion of a program as a job, with what the robot carries
then and the duration that the program's plan gives it.

By the envelope theorem the durations need not follow small changes of the robot: all motions share
one price of time, so that what one gains another loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Program
from armature.cell.program.program_plan import ProgramPlan
from armature.job.job import Job


def as_tasks(given: Any) -> list[Any]:
    """Tasks as a list; programs, and plans of programs, as the jobs of their motions."""
    tasks = list(given) if isinstance(given, Sequence) else [given]
    found: list[Any] = []
    for task in tasks:
        found += program_jobs(task) if isinstance(task, Program | ProgramPlan) else [task]
    return found


def program_jobs(given: Program | ProgramPlan) -> list[Job]:
    """The motions of a program as jobs of given durations."""
    plan = plan_program(given) if isinstance(given, Program) else given
    program = plan.program
    return [
        Job(
            leg.leg.robot,
            replace(leg.leg.task, duration=leg.duration),
            "energy",
            program.supply,
            program.knots,
            name=leg.name,
            scene=leg.leg.scene,
        )
        for leg in plan.legs
    ]
