"""The shipped catalogue of motors and gears, and drives read from files. The catalogue's numbers
are round and generic: no maker's."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from armature.document import Block, selected, values
from armature.drive.bus import Bus
from armature.drive.drive import Drive
from armature.drive.gear import Gear
from armature.drive.motor import Motor
from armature.drive.sheet import Sheet
from armature.drive.supply import NonRegenerative, Regenerative
from armature.drive.train import Coupling
from armature.errors import ArgumentError, ArmatureError, FileError
from armature.text import read_text

Supply = Regenerative | NonRegenerative | Bus
SupplyGiven = Supply | str | None  # what `as_supply` takes
SECTIONS = ("drives", "couplings", "supply")
_SUPPLIES: dict[str, type] = {
    "regenerative": Regenerative,
    "non-regenerative": NonRegenerative,
    "bus": Bus,
}


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Motors and gears by name. `print(catalogue())` shows a table.

    fits: {motor: names of the gears that fit it}, where names may end in * ; None: all do.
    screws: gears given by a lead, for joints that slide.  voltages: {motor: nominal voltage, V},
    where it is known.  notes: what was left out of a file, and why.  without_unit: columns of its
    tables that name no unit, so that they were read in SI.
    """

    motors: dict[str, Motor]
    gears: dict[str, Gear]
    fits: Mapping[str, tuple[str, ...]] | None = None
    screws: frozenset[str] = frozenset()
    voltages: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    without_unit: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = ["motor                R [Ω]   K [N·m/A]   J [kg·m²]   continuous [A]"]
        rows += [
            f"{m.name:20} {m.resistance:<7.4g} {m.torque_constant:<11.4g} {m.inertia:<11.3g}"
            f" {m.continuous_current:.4g}"
            for m in self.motors.values()
        ]
        rows += ["", "gear                 ratio    efficiency   most torque [N·m]"]
        rows += [
            f"{g.name:20} {g.ratio:<8.5g} {_efficiency(g):<12} {g.maximum_torque:.4g}"
            for g in self.gears.values()
        ]
        return "\n".join(rows)


def _efficiency(gear: Gear) -> str:
    return f"{gear.efficiency:.3g}" if isinstance(gear.efficiency, float) else "table"


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """All motors and gears shipped with the package."""
    data = files("armature.drive") / "data"
    parts: dict[str, dict[str, Any]] = {}
    screws: frozenset[str] = frozenset()
    for name, kind in (("motors", Motor), ("gears", Gear)):
        sheet = Sheet(f"{name}.yaml")
        entries = values((data / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")
        parts[name] = {
            key: sheet.part(kind, {**value, "name": key}, key) for key, value in entries.items()
        }
        if kind is Gear:
            screws = frozenset(key for key, value in entries.items() if "lead" in value)
        sheet.finish()
    return Catalogue(parts["motors"], parts["gears"], screws=screws)


def motor(name: str) -> Motor:
    """A motor of the catalogue by its name."""
    return _named(Motor, name)


def gear(name: str) -> Gear:
    """A gear of the catalogue by its name."""
    return _named(Gear, name)


def _named(kind: type, name: str) -> Any:
    shelf = {Motor: catalogue().motors, Gear: catalogue().gears}.get(kind)
    if shelf is None:
        raise ArgumentError(
            f"there is no catalogue of {kind.__name__.lower()}s; give a mapping of its quantities"
        )
    if name not in shelf:
        close = difflib.get_close_matches(name, shelf, 3, 0.3) or list(shelf)
        raise ArgumentError(
            f"no {kind.__name__.lower()} {name!r} in the catalogue; near it are {', '.join(close)}"
        )
    return shelf[name]


def read_drives(source: Any, path: Any = None) -> tuple[tuple[Coupling, ...], Supply | None]:
    """Drives, and the supply if one is given, from a YAML file's path or from a mapping.

    A mapping has joint names with drives (`Drive` objects or mappings of motor, gear, amplifier,
    friction, brake), directly or under
    `drives:`; `couplings:` is a list of {joints, matrix, drives}; `supply:` names regenerative,
    non-regenerative or bus, or is a mapping with `kind:`.  path: of the file that a mapping comes
    from, for messages."""
    if isinstance(source, str | Path):
        source, path = values(read_text(source), source), source
    sheet, data = Sheet(None if path is None else str(path), _named), source
    if not isinstance(data, Mapping):
        raise FileError(
            "holds no mapping of joint names to drives; see docs/drives.md for an example",
            path,
            None if path is None else 1,
        )
    sections = data if set(SECTIONS) & set(data) else {"drives": data}
    for key in set(sections) - set(SECTIONS):
        sheet.note(
            f"{key!r} stands beside {', '.join(SECTIONS)}; put joints under drives:", data, key
        )
    single, coupled = (
        _section(sheet, data, sections, "drives", Mapping),
        _section(sheet, data, sections, "couplings", list | tuple),
    )
    found = [
        Coupling((str(name),), (d,))
        for name, entry in single.items()
        if (d := sheet.part(Drive, entry, f"joint {name!r}", single, name))
    ]
    found += [c for entry in coupled if (c := _coupling(sheet, entry))]
    supply = None if sections.get("supply") is None else _supply(sheet, sections)
    sheet.finish()
    return tuple(found), supply


def _section(sheet: Sheet, data: Any, sections: Mapping, name: str, kind: Any) -> Any:
    """A section of a file, empty where it is missing or of the wrong kind (which is noted)."""
    value = sections.get(name)
    if value is None or isinstance(value, kind):
        return value or {}
    sheet.note(
        f"{name}: is {value!r}; give a"
        f" {'mapping of joint names to drives' if name == 'drives' else 'list of couplings'}",
        data,
        name,
    )
    return {}


def _coupling(sheet: Sheet, entry: Any) -> Coupling | None:
    if isinstance(entry, Coupling):
        return entry
    try:
        joints, entries = tuple(entry["joints"]), entry["drives"]
        where = f"coupling of {', '.join(joints)}"
        drives = [sheet.part(Drive, d, where) for d in entries]
        matrix = tuple(tuple(float(x) for x in row) for row in entry.get("matrix", ()))
        return None if None in drives else Coupling(joints, tuple(drives), matrix)
    except ArmatureError as error:
        sheet.note(str(error), entry)
    except (KeyError, TypeError, ValueError, AttributeError):
        sheet.note(
            "a coupling needs joints (names), drives (a list) and matrix (rows of numbers, one row"
            " for each drive)",
            entry,
        )
    return None


def _supply(sheet: Sheet, sections: Mapping) -> Supply | None:
    entry = sections["supply"]
    if isinstance(entry, Supply):
        return entry
    if not isinstance(entry, str | Mapping):
        sheet.note(
            f"supply: is {entry!r}; give one of {', '.join(_SUPPLIES)}, or a mapping with kind:",
            sections,
            "supply",
        )
        return None
    kind, given = (
        (entry, {})
        if isinstance(entry, str)
        else (str(entry.get("kind", "")), {k: v for k, v in entry.items() if k != "kind"})
    )
    if kind not in _SUPPLIES:
        sheet.note(
            f"supply: kind {kind!r} is not known; known are {', '.join(_SUPPLIES)}",
            sections,
            "supply",
        )
        return None
    if isinstance(entry, Block):
        given = selected(entry, list(given))
    return sheet.part(_SUPPLIES[kind], given, f"supply ({kind})", sections, "supply")


def as_supply(supply: Any) -> Supply:
    """A supply from its name ("regenerative", "non-regenerative"), or the object itself; None:
    regenerative."""
    if isinstance(supply, Supply):
        return supply
    if supply is None or supply == "regenerative":
        return Regenerative()
    if supply == "non-regenerative":
        return NonRegenerative()
    raise ArgumentError(
        f"supply = {supply!r} is not known; give 'regenerative', 'non-regenerative', or a"
        " Regenerative, NonRegenerative or Bus object"
    )
