"""Catalogues of motors and gears from files: CSV tables, YAML, or YAML that says what the columns
of CSV tables mean.

A column is named as in data sheets, with its unit in brackets: `torque constant [mN*m/A]`. Lines at
a table's head that begin with # give the meaning of columns with names of their own:
`# k_t = torque constant [N*m/A]`; `# name = key` says which column holds the names. Columns that
are not known are not read. A row whose values do not make a motor or gear is left out, with a note:
long tables have gaps."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from armature.document import values
from armature.drive.catalogue import Catalogue, catalogue
from armature.drive.gear import Gear
from armature.drive.motor import Motor
from armature.drive.sheet import Sheet, has_unit, is_word
from armature.drive.units import parse
from armature.errors import ArmatureError, FileError
from armature.text import read_text

COLUMN = re.compile(r"(.*?)\s*(?:\[(.*?)\]|\((.*?)\))?\s*$")
MEANING = re.compile(r"#\s*(.+?)\s*=\s*(.+?)\s*$")
DELIMITERS = ",;\t"
DECIMAL = re.compile(r"^([+-]?\d*),(\d+)$")
KINDS = {"motor": Motor, "gear": Gear}
NEEDED = {Motor: ("resistance", "torque_constant"), Gear: ("efficiency",)}
NO_VALUE = ("", "nan", "n/a", "-", "–", "none")
AGREES = (0.8, 1.6)  # of V/(K·no-load speed): outside, these three do not belong to one motor
IRON = ("iron_torque", "no_load_current")  # either says what a motor loses without a load
CONSISTENT = ("torque_constant", "nominal_voltage", "no_load_speed")


@dataclass
class Shelf:
    """What has been read so far."""

    motors: dict[str, Motor] = field(default_factory=dict)
    gears: dict[str, Gear] = field(default_factory=dict)
    fits: dict[str, tuple[str, ...]] = field(default_factory=dict)
    screws: set[str] = field(default_factory=set)
    voltages: dict[str, float] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    without_unit: list[str] = field(default_factory=list)

    def put(self, kind: type, name: str, given: Mapping[str, Any], where: str) -> None:
        """One motor or gear from its quantities; left out, with a note, where they make none, or
        where one of this name was read before."""
        sheet, parts = Sheet(), self.motors if kind is Motor else self.gears
        try:
            missing = [key for key in NEEDED[kind] if key not in given]
            if missing and not (kind is Gear and given.get("ratio") in (1, "1")):
                raise FileError(f"no {missing[0].replace('_', ' ')}")
            _check_consistent(given)
            if name in parts:
                raise FileError("the name stands twice; the first row is taken")
            part = sheet.part(kind, {**given, "name": name}, name)
            sheet.finish()
        except ArmatureError as e:
            self.left_out.append(f"{where}: {name}: {e}")
            return
        parts[name] = part
        if kind is Gear and "lead" in given:
            self.screws.add(name)
        if kind is Motor and "nominal_voltage" in given:
            self.voltages[name] = _si(given["nominal_voltage"], "V")

    def made(self) -> Catalogue:
        """The catalogue."""
        return Catalogue(
            self.motors,
            self.gears,
            self.fits or None,
            frozenset(self.screws),
            self.voltages,
            tuple(self.left_out),
            tuple(self.without_unit),
        )


def read_catalogue(path: str | PathLike[str] | Catalogue | None) -> Catalogue:
    """The catalogue in a .csv or .yaml file; the built-in one for None. `notes` say which rows were
    left out, and why; `without_unit`, which columns were read in SI because they name no unit."""
    if path is None:
        return catalogue()
    if isinstance(path, Catalogue):
        return path
    place, shelf = Path(path), Shelf()
    if place.suffix.lower() == ".csv":
        _read_table(shelf, place, None, {})
    elif place.suffix.lower() in (".yaml", ".yml"):
        _read_yaml(shelf, place)
    else:
        raise FileError("a catalogue is a .csv or a .yaml file; see docs/design.md", place)
    found = shelf.made()
    if not found.motors:
        reason = f"; the first row left out: {found.notes[0]}" if found.notes else ""
        raise FileError(
            "no motor could be read: name columns as in data sheets, e.g. resistance [ohm],"
            f" torque constant [mN*m/A]{reason}",
            place,
            1,
        )
    return found


def _read_yaml(shelf: Shelf, path: Path) -> None:
    data = values(read_text(path), path)
    if not isinstance(data, Mapping) or not set(data) & {"motors", "gears"}:
        raise FileError("a catalogue has motors: and gears:; see docs/design.md", path, 1)
    for section, kind in (("motors", Motor), ("gears", Gear)):
        given = data.get(section) or {}
        tables = _tables(given)
        for table in tables:
            columns = {str(k): str(v) for k, v in (table.get("columns") or {}).items()}
            if "name" in table:
                columns["name"] = str(table["name"])
            _read_table(shelf, path.parent / str(table["file"]), kind, columns)
        if not tables:
            for name, entry in given.items():
                plain = {_word(str(k)): v for k, v in entry.items()}
                shelf.put(kind, str(name), plain, f"{path.name}")
    fits = data.get("fits") or {}
    lists = _tables(fits)
    for entry in lists:
        _read_fits(shelf, path.parent / str(entry["file"]))
    if not lists:
        shelf.fits |= {str(m): tuple(map(str, gears)) for m, gears in fits.items()}


def _tables(given: Any) -> list[Any]:
    """The tables that a section names: one with `file:`, or a list of such; none where the section
    itself holds the values."""
    return given if isinstance(given, list) else [given] if "file" in given else []


def _read_fits(shelf: Shelf, path: Path) -> None:
    """A table of motors, each with the gears that fit it; names that end in * are beginnings."""
    for row in csv.reader(io.StringIO(read_text(path))):
        names = [name.strip() for name in row if name.strip()]
        if names and not names[0].startswith("#"):
            shelf.fits[names[0]] = (*shelf.fits.get(names[0], ()), *names[1:])


def _read_table(shelf: Shelf, path: Path, kind: type | None, columns: dict[str, str]) -> None:
    """The rows of a CSV table. kind: what they are, where no column `kind` says so.  columns:
    {name in the table: meaning}."""
    text = read_text(path)
    lines = text.splitlines()
    head = next((n for n, line in enumerate(lines) if line.strip() and line[0] != "#"), None)
    if head is None:
        raise FileError("the table is empty", path, 1)
    given = (MEANING.match(line) for line in lines[:head])
    columns = {**{m[1]: m[2] for m in given if m}, **columns}
    delimiter = max(DELIMITERS, key=lines[head].count)
    table = csv.DictReader(lines[head:], skipinitialspace=True, delimiter=delimiter)
    known = {name: _meaning(columns.get(name, name)) for name in table.fieldnames or ()}
    named = columns.get("name") or next((n for n in known if known[n][0] in ("name", "key")), None)
    if named not in known:
        raise FileError(
            "no column holds the names of motors and gears: call one `name`, or begin the file by"
            f" a line `# name = …` with one of {', '.join(known)}",
            path,
            head + 1,
        )
    kinds = (kind,) if kind else (Motor, Gear)
    shelf.without_unit += [
        f"{path.name}: {name}"
        for name, (word, unit) in known.items()
        if not unit and any(has_unit(k, word) for k in kinds)
    ]
    for number, row in enumerate(table, start=head + 2):
        if delimiter != ",":  # as spreadsheets write it where a comma marks decimals
            row = {k: DECIMAL.sub(r"\1.\2", v) if isinstance(v, str) else v for k, v in row.items()}
        _read_row(shelf, row, known, named, kind, f"{path.name}:{number}")


def _read_row(
    shelf: Shelf,
    row: Mapping[str, Any],
    known: Mapping[str, tuple[str, str]],
    named: str,
    kind: type | None,
    where: str,
) -> None:
    quantities, name = {}, str(row[named] or "").strip()
    for column, (word, unit) in known.items():
        cell = str(row.get(column) or "").strip()
        if cell.lower() not in NO_VALUE and column != named:
            quantities[word] = cell if word in ("kind", "fits") else _cell(cell, unit)
    found = kind or KINDS.get(str(quantities.get("kind", "")).lower())
    found = found or (Motor if "torque_constant" in quantities else Gear)
    fits = str(quantities.pop("fits", ""))
    if found is Motor and "iron_torque" in quantities:
        quantities.pop("no_load_current", None)  # the sum of both losses, iron torque and viscous
    words = {word for word, _ in known.values()}
    if found is Motor and words & set(IRON) and not set(quantities) & set(IRON):
        shelf.left_out.append(
            f"{where}: {name}: no {' or '.join(IRON).replace('_', ' ')}, by which"
            " it would look better than the others"
        )
        return
    plain = {
        word: value
        for word, value in quantities.items()
        if value is not None and is_word(found, word)
    }
    if name:
        shelf.put(found, name, plain, where)
        if fits and found is Motor:
            shelf.fits[name] = tuple(part.strip() for part in re.split(r"[;|]", fits))


def _meaning(text: str) -> tuple[str, str]:
    """(word, unit) of a column's name or meaning: `torque constant [mN*m/A]`."""
    match = COLUMN.match(text)
    word, square, round_ = match.groups() if match else (text, None, None)
    return _word(word), (square or round_ or "").strip()


def _word(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().lower().replace(".", ""))


def _cell(cell: str, unit: str) -> Any:
    """A value as the reader of data sheets takes it; None where there is no limit."""
    if cell.lower() in ("inf", "infinity", "∞"):
        return None
    try:
        number = float(cell)
    except ValueError:
        return cell
    return f"{number!r} {unit}" if unit else number


def _si(value: Any, unit: str) -> float:
    return parse(value, unit) if isinstance(value, str) else float(value)


def _check_consistent(given: Mapping[str, Any]) -> None:
    """Refuse a motor whose voltage, torque constant and no-load speed do not belong together."""
    if not set(CONSISTENT) <= set(given):
        return
    units = ("N*m/A", "V", "rad/s")
    K, U, speed = (_si(given[key], unit) for key, unit in zip(CONSISTENT, units))
    if not AGREES[0] < U / (K * speed) < AGREES[1]:
        raise FileError(
            f"nominal voltage {U:g} V, torque constant {K:g} N·m/A and no-load speed {speed:.4g}"
            " rad/s do not belong together"
        )


def fitting(found: Catalogue) -> Iterator[tuple[str, str]]:
    """(motor, gear) of all gears that fit, by the catalogue's own list."""
    names = sorted(found.gears)
    for motor in found.motors:
        if found.fits is None:
            yield from ((motor, gear) for gear in names)
            continue
        seen: set[str] = set()
        for entry in found.fits.get(motor, ()):
            if entry.endswith("*"):
                seen |= {gear for gear in names if gear.startswith(entry[:-1])}
            elif entry in found.gears:
                seen.add(entry)
        yield from ((motor, gear) for gear in sorted(seen))
