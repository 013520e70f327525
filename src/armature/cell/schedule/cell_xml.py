"""Cells from the XML of Bukata, Šůcha, Hanzálek and Burget's data sets."""

from __future__ import annotations

from os import PathLike

from armature.cell.schedule.model import (
    CellModel,
    CellRobot,
    Clash,
    Energy,
    HandOver,
    Lag,
    Mode,
    Movement,
    Spot,
    Stand,
    Travel,
)
from armature.errors import ArgumentError, FileError
from armature.robot.load.xml import Element, parse
from armature.text import read_bytes

FORBIDDEN = 9999.0  # W: a power of so much says that the mode is not allowed


def load_cells(path: str | PathLike[str]) -> tuple[CellModel, ...]:
    """All cells (instances) of an XML file. A FileError names the element and line that is
    wrong."""
    root = parse(read_bytes(path), path)
    if root.tag != "dataset":
        raise FileError(f"<{root.tag}> is no <dataset> of cells", path, root.sourceline)
    found = list(root.iter("instance"))
    if not found:
        raise FileError("the data set has no <instance>", path, root.sourceline)
    return tuple(_cell(x, f"cell {k}", path) for k, x in enumerate(found))


def _cell(at: Element, name: str, path: object) -> CellModel:
    read = _Reader(path)
    robots = tuple(read.robot(r) for r in at.findall("robots/robot"))
    lags = tuple(
        Lag(
            f"{x.findtext('from-activity')}",
            f"{x.findtext('to-activity')}",
            read.number(x, "length"),
            int(read.number(x, "height")),
        )
        for x in at.iter("time-lag")
    )
    pairs = [[read.option(o) for o in pair] for pair in at.iter("compatible-pair")]
    groups: dict[tuple[str, str], list] = {}
    for a, b in pairs:
        first, second = sorted((a, b), key=lambda x: x[0])
        groups.setdefault((first[0], second[0]), []).append((first, second))
    clashes = tuple(Clash(*(read.option(o) for o in pair)) for pair in at.iter("collision-pair"))
    title = at.findtext("name") or at.findtext("desc") or name
    try:
        return CellModel(
            title.strip(),
            read.number(at, "production-cycle-time"),
            robots,
            lags,
            tuple(HandOver(tuple(g)) for g in groups.values()),
            clashes,
        )
    except ArgumentError as error:
        raise FileError(str(error), path, at.sourceline) from None


class _Reader:
    def __init__(self, path: object):
        self.path = path

    def error(self, at: Element, words: str) -> FileError:
        return FileError(words, self.path, at.sourceline)

    def number(self, at: Element, tag: str) -> float:
        return self._float(at, at.findtext(tag), tag)

    def attribute(self, at: Element, key: str) -> str:
        value = at.get(key)
        if value is None:
            raise self.error(at, f"<{at.tag}> has no {key}")
        return value

    def _float(self, at: Element, text: str | None, what: str) -> float:
        try:
            return float(text or "")
        except ValueError:
            raise self.error(at, f"<{at.tag}>: {what} is {text!r}; give a number") from None

    def option(self, at: Element) -> tuple[str, str]:
        """(activity, its place or movement)."""
        return self.attribute(at, "aid"), self.attribute(
            at, "lid" if at.tag == "location" else "mid"
        )

    def robot(self, at: Element) -> CellRobot:
        modes = {self.attribute(m, "pid"): m for m in at.findall("power-saving-modes/power-mode")}
        statics = at.findall("activities/static-activity")
        stands = tuple(self.stand(s, modes) for s in statics)
        where = {
            f"{loc.findtext('point')}": (self.attribute(s, "aid"), self.attribute(loc, "lid"))
            for s in statics
            for loc in s.findall("locations/location")
        }
        travels = tuple(self.travel(d, where) for d in at.findall("activities/dynamic-activity"))
        return CellRobot((at.findtext("name") or "robot").strip(), stands, travels)

    def stand(self, at: Element, modes: dict[str, Element]) -> Stand:
        spots = []
        for loc in at.findall("locations/location"):
            own = {
                self.attribute(c, "pid"): self._float(c, c.get("input_power"), "input_power")
                for c in loc.iter("consumption")
            }
            allowed = []
            for pid, mode in modes.items():
                general = mode.findtext("expected-input-power")
                power = own.get(
                    pid, None if general is None else self._float(mode, general, "power")
                )
                if power is not None and power < FORBIDDEN:
                    allowed.append(Mode(pid, power, self.number(mode, "minimal-idle-time")))
            spots.append(Spot(self.attribute(loc, "lid"), tuple(allowed)))
        least, most = self.number(at, "min-duration"), self.number(at, "max-duration")
        return Stand(
            self.attribute(at, "aid"), least, most, tuple(spots), at.get("last_in_cycle") == "true"
        )

    def travel(self, at: Element, where: dict[str, tuple[str, str]]) -> Travel:
        movements, ends = [], set()
        for m in at.findall("movements/movement"):
            points = [f"{m.findtext(tag)}" for tag in ("from-point", "to-point")]
            for p in points:
                if p not in where:
                    raise self.error(
                        m, f"movement {m.get('mid')} names point {p}, which no location has"
                    )
            (a, origin), (b, target) = (where[p] for p in points)
            ends.add((a, b))
            terms = tuple(
                (self._float(x, x.get("coeff"), "coeff"), self._float(x, x.get("degree"), "degree"))
                for x in m.findall("energy-function/monomial")
            )
            movements.append(
                Movement(
                    self.attribute(m, "mid"),
                    origin,
                    target,
                    self.number(m, "min-duration"),
                    self.number(m, "max-duration"),
                    Energy(terms),
                )
            )
        if len(ends) != 1:
            raise self.error(
                at,
                f"the movements of activity {at.get('aid')} join {len(ends)} pairs of activities;"
                " one is needed",
            )
        ((a, b),) = ends
        return Travel(self.attribute(at, "aid"), a, b, tuple(movements))
