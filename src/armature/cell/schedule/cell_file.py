"""Cell files: robots with stands, travels and power modes as numbers, in YAML."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from armature.cell.schedule.cell_xml import load_cells
from armature.cell.schedule.model import (
    CellModel,
    CellRobot,
    Clash,
    Energy,
    HandOver,
    Lag,
    Mode,
    Movement,
    Sampled,
    Spot,
    Stand,
    Travel,
)
from armature.document import checked, values
from armature.errors import ArmatureError, FileError
from armature.robot.format.quantities import Duration, Number, Power, Quantity
from armature.robot.format.schema import Name, Part
from armature.text import read_text

Joules = Annotated[float, Quantity("J")]
One = tuple[Name, Name]


class ModePart(Part):
    """A power mode: W, and where it takes time or energy to enter and leave it, how much."""

    power: Power
    least: Duration = Field(0.0, description="the shortest stay, with entering and leaving")
    energy: Joules = Field(0.0, description="of entering and leaving")


Powered = Annotated[
    Annotated[Power, Tag("power")] | Annotated[ModePart, Tag("mode")],
    Discriminator(lambda x: "mode" if isinstance(x, dict | ModePart) else "power"),
]


class StandPart(Part):
    """A robot stands. spots: {place: {mode: W or {power, least, energy}}}."""

    name: Name
    least: Duration = 0.0
    most: Duration = 1e7
    spots: dict[str, dict[str, Powered]] = Field(min_length=1)
    last: bool = Field(False, description="it closes the robot's cycle")


class MovementPart(Part):
    """A motion: its energy by points [[s, J], …], or by powers of its duration."""

    name: str = ""
    origin: Name = Field(alias="from")
    target: Name = Field(alias="to")
    least: Duration | None = None
    most: Duration | None = None
    energy: list[tuple[Number, Number]] | None = Field(
        None, max_length=100, description="[[a, -1], [b, 0], [c, 1]]: a/d + b + c d, J"
    )
    points: list[tuple[Duration, Joules]] | None = Field(None, min_length=1, max_length=1000)

    def model_post_init(self, _: Any) -> None:
        if (self.energy is None) == (self.points is None):
            raise ValueError(
                "give either energy: [[coefficient, degree], …] or points: [[s, J], …]"
            )
        if self.energy is not None and self.least is None:
            raise ValueError("give the least duration: least: 1 s")


class TravelPart(Part):
    """Between two stands, by one of the movements."""

    name: Name
    origin: Name = Field(alias="from")
    target: Name = Field(alias="to")
    movements: list[MovementPart] = Field(min_length=1, max_length=10_000)


class CellRobotPart(Part):
    """A robot of a cell."""

    name: Name
    stands: list[StandPart] = Field(min_length=1, max_length=10_000)
    travels: list[TravelPart] = Field(min_length=1, max_length=10_000)


class LagPart(Part):
    """`to` starts at least `length` after `from` starts, less `height` cycles."""

    origin: Name = Field(alias="from")
    target: Name = Field(alias="to")
    length: Duration = 0.0
    height: int = 0


class CellModelFile(Part):
    """A cell as numbers: stands, travels, power modes."""

    armature: Literal[1] = 1
    name: str = ""
    cycle: Duration
    robots: list[CellRobotPart] = Field(min_length=1, max_length=1000)
    lags: list[LagPart] = Field(default=[], max_length=100_000)
    hand_overs: list[list[tuple[One, One]]] = Field(
        default=[], description="groups of pairs of places"
    )
    clashes: list[tuple[One, One]] = Field(
        default=[], description="pairs that may not overlap in time"
    )


def load_cell_models(path: str | PathLike[str]) -> tuple[CellModel, ...]:
    """The cells of an XML data set, or the one of a YAML file. A FileError lists mistakes with
    their lines."""
    if Path(path).suffix.lower() == ".xml":
        return load_cells(path)
    data = values(read_text(path), path)
    part = checked(CellModelFile, data, path)
    try:
        return (_model(part, Path(path).stem),)
    except FileError:
        raise
    except ArmatureError as error:
        raise FileError(str(error), path) from None


def _model(part: CellModelFile, name: str) -> CellModel:
    robots = tuple(
        CellRobot(r.name, tuple(_stand(s) for s in r.stands), tuple(_travel(t) for t in r.travels))
        for r in part.robots
    )
    lags = tuple(Lag(x.origin, x.target, x.length, x.height) for x in part.lags)
    hands = tuple(HandOver(tuple(group)) for group in part.hand_overs if group)
    clashes = tuple(Clash(*pair) for pair in part.clashes)
    return CellModel(part.name or name, part.cycle, robots, lags, hands, clashes)


def _stand(part: StandPart) -> Stand:
    mode = lambda name, x: (
        Mode(name, x.power, x.least, x.energy) if isinstance(x, ModePart) else Mode(name, x)
    )
    spots = tuple(
        Spot(name, tuple(mode(k, x) for k, x in modes.items()))
        for name, modes in part.spots.items()
    )
    return Stand(part.name, part.least, part.most, spots, part.last)


def _travel(part: TravelPart) -> Travel:
    return Travel(
        part.name,
        part.origin,
        part.target,
        tuple(_movement(m, k) for k, m in enumerate(part.movements)),
    )


def _movement(part: MovementPart, k: int) -> Movement:
    name = part.name or str(k)
    if part.points is not None:
        T, E = zip(*part.points)
        least, most = part.least or T[0], part.most or T[-1]
        return Movement(
            name, part.origin, part.target, max(least, T[0]), min(most, T[-1]), Sampled(T, E)
        )
    energy = Energy(tuple(part.energy or ()))
    return Movement(name, part.origin, part.target, part.least or 0.0, part.most or 1e7, energy)
