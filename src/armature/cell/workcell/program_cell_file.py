"""Cell files whose robots have program files: hand-overs, zones and a bus between them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from armature.cell.program.program_file import read_program
from armature.cell.workcell.cell import Base, Cell, Wait, Zone
from armature.document import checked, line_of, selected, values
from armature.drive import Bus
from armature.drive.catalogue import read_drives
from armature.errors import ArmatureError, FileError
from armature.robot.format.quantities import Angle, Duration, Length, Power
from armature.robot.format.schema import Name, Part, Point
from armature.text import read_text


class BasePart(Part):
    """Where a robot stands in the world."""

    position: Point = (0.0, 0.0, 0.0)
    rpy: tuple[Angle, Angle, Angle] = Field((0.0, 0.0, 0.0), description="roll, pitch, yaw")


class MemberPart(Part):
    """A robot of the cell and the file of its program."""

    name: Name
    program: Name = Field(description="a task file with program:, relative to this file's folder")
    base: BasePart | None = Field(None, description="its pose in the world that all share")


class WaitPart(Part):
    """A step begins only after another robot has ended one; steps are written robot/step."""

    step: Name
    after: Name
    seconds: Duration = 0.0
    cycles: int = Field(0, description="the other's step of so many cycles before")


class CellFile(Part):
    """Robots with programs in one cycle."""

    armature: Literal[1] = 1
    name: str = ""
    cycle: Duration
    robots: list[MemberPart] = Field(min_length=1, max_length=100)
    waits: list[WaitPart] = Field(default=[], max_length=10_000)
    zones: list[list[Name]] = Field(
        default=[], description="lists of robot/step that may not overlap in time"
    )
    supply: dict[str, Any] | None = Field(
        None, description="{kind: bus, …}: one bus for all robots"
    )
    most_power: Power | None = Field(None, description="of the bus's rectifier")
    objective: Literal["energy", "peak"] = Field("energy", description="of the bus")
    apart: Length = Field(0.0, description="that robots keep from each other")


def has_programs(path: str | PathLike[str]) -> bool:
    """Whether a cell file names programs; False for whatever cannot be read."""
    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        return False
    try:
        data = values(read_text(path), path)
    except ArmatureError:
        return False
    robots = data.get("robots") if isinstance(data, dict) else None
    return isinstance(robots, list) and any(isinstance(r, dict) and "program" in r for r in robots)


def load_cell(path: str | PathLike[str]) -> Cell:
    """The cell of a YAML file, for `plan_cell`. A FileError lists mistakes with their lines."""
    data = values(read_text(path), path)
    part = checked(CellFile, data, path)
    error = lambda words, *place: FileError(words, path, line_of(data, place))
    programs = {}
    for k, r in enumerate(part.robots):
        file = Path(path).parent / r.program
        if not file.exists():
            raise error(
                f"robots[{k}].program: there is no file {file}; names are relative to this file's"
                " folder",
                "robots",
                k,
            )
        if r.name in programs:
            raise error(f"two robots are called {r.name!r}; rename one", "robots", k)
        programs[r.name] = read_program(file)[0]
    step = lambda text, *place: _step(text, programs, error, *place)
    waits = tuple(
        Wait(step(w.step, "waits", k), step(w.after, "waits", k), w.seconds, w.cycles)
        for k, w in enumerate(part.waits)
    )
    zones = tuple(
        Zone(tuple(step(s, "zones", k) for s in z), f"zone {k + 1}")
        for k, z in enumerate(part.zones)
    )
    bus = None if part.supply is None else read_drives(selected(data, ["supply"]), path)[1]
    if bus is not None and not isinstance(bus, Bus):
        raise error(
            "supply: robots share a bus; give {kind: bus, capacitance: …, …}, or leave it out",
            "supply",
        )
    try:
        return Cell(
            programs,
            part.cycle,
            waits,
            zones,
            bus,
            part.most_power,
            part.objective,
            part.name or Path(path).stem,
            _bases(part, error),
            part.apart,
        )
    except FileError:
        raise
    except ArmatureError as e:
        raise FileError(str(e), path) from None


def _bases(part: CellFile, error: Any) -> dict[str, Base] | None:
    """Where robots stand; None where no base is given."""
    without = [k for k, r in enumerate(part.robots) if r.base is None]
    if len(without) == len(part.robots):
        return None
    if without:
        name = part.robots[without[0]].name
        raise error(
            f"robot {name!r} has no base, but others do; give all of them one, or none",
            "robots",
            without[0],
        )
    return {r.name: Base(**r.base.model_dump()) for r in part.robots if r.base is not None}


def _step(text: str, programs: dict[str, Any], error: Any, *place: Any) -> tuple[str, str]:
    robot, slash, step = text.partition("/")
    if not slash or robot not in programs:
        raise error(
            f"{text!r} names no step; write robot/step with one of {', '.join(programs)}", *place
        )
    return robot.strip(), step.strip()
