"""What can be said of a cell of programs before anything is planned."""

from __future__ import annotations

from dataclasses import dataclass

from armature.cell.program.check_program import ProgramCheck, check_program
from armature.cell.workcell.cell import Cell
from armature.cell.workcell.plan_cell import checked_stages
from armature.errors import ArgumentError


@dataclass(frozen=True)
class CellCheck:
    """A cell before it is planned. programs: {robot: what is known of its program}.  between: what
    is wrong between the robots, a sentence each."""

    cell: Cell
    programs: dict[str, ProgramCheck]
    between: tuple[str, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes it impossible, a sentence each."""
        own = [
            f"robot {name!r}: {f}" for name, check in self.programs.items() for f in check.faults
        ]
        return (*own, *self.between)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that makes it impossible; planning may still find it so."""
        return not self.faults

    def __str__(self) -> str:
        cell = self.cell
        bus = "one bus" if cell.bus is not None else "supplies of their own"
        head = (
            f"{cell.name}: {len(cell.robots)} robots in a cycle of {cell.cycle:.4g} s on {bus};"
            f" {len(cell.waits)} waits, {len(cell.zones)} zones"
        )
        return "\n".join([head, *(f"\n{c}" for c in self.programs.values()), *self.between])


def check_cell(cell: Cell) -> CellCheck:
    """Check a cell without planning it: every program, and what is between the robots."""
    if not isinstance(cell, Cell):
        raise ArgumentError(
            f"cell = {cell!r:.60} must be a Cell; make one, or read one by load_cell"
        )
    checked_stages(cell)
    programs = {name: check_program(program) for name, program in cell.robots.items()}
    return CellCheck(cell, programs, ())
