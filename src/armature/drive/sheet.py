"""Reading parts of drives as they are typed from data sheets: mappings of names to numbers (SI) or
strings with units."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from armature.drive.amplifier import Amplifier
from armature.drive.brake import Brake
from armature.drive.drive import Drive
from armature.drive.friction import Friction
from armature.drive.gear import EfficiencyTable, Gear
from armature.drive.motor import Motor
from armature.drive.thermal import Thermal
from armature.drive.units import parse
from armature.errors import ArgumentError, ArmatureError, FileError, RobotError

# what a quantity of a rotary part is called on a prismatic joint
_LINEAR = {
    "N*m": "N",
    "N*m/A": "N/A",
    "V*s/rad": "V*s/m",
    "kg*m^2": "kg",
    "N*m*s/rad": "N*s/m",
    "rad/s": "m/s",
    "rad": "m",
    "N*m/rad": "N/m",
}

# data sheets' own words: (class, word) -> (field, unit of the word, conversion to the field given
# the part's other fields)
_WORDS: dict[tuple[type, str], tuple[str, str, Callable[[float, dict], float]]] = {
    (Motor, "terminal_resistance"): ("resistance", "ohm", lambda x, _: x),
    (Motor, "terminal_inductance"): ("inductance", "H", lambda x, _: x),
    (Motor, "rotor_inertia"): ("inertia", "kg*m^2", lambda x, _: x),
    (Motor, "force_constant"): ("torque_constant", "N/A", lambda x, _: x),
    (Motor, "moving_mass"): ("inertia", "kg", lambda x, _: x),
    (Motor, "speed_constant"): ("back_emf_constant", "rad/s/V", lambda x, _: 1 / x),
    (Motor, "no_load_current"): ("iron_torque", "A", lambda x, known: x * known["torque_constant"]),
    (Motor, "nominal_current"): ("continuous_current", "A", lambda x, _: x),
    (Motor, "max_continuous_current"): ("continuous_current", "A", lambda x, _: x),
    (Motor, "peak_torque"): ("peak_current", "N*m", lambda x, known: x / known["torque_constant"]),
    (Motor, "max_speed"): ("maximum_speed", "rad/s", lambda x, _: x),
    (Motor, "max_permissible_speed"): ("maximum_speed", "rad/s", lambda x, _: x),
    (Motor, "weight"): ("mass", "kg", lambda x, _: x),
    (Gear, "weight"): ("mass", "kg", lambda x, _: x),
    (Gear, "reduction"): ("ratio", "", lambda x, _: x),
    (Gear, "max_efficiency"): ("efficiency", "", lambda x, _: x),
    (Gear, "lead"): ("ratio", "m/rad", lambda x, _: 1 / x),
}

# lines of a motor's data sheet that belong to its two warm bodies
_THERMAL = {
    "thermal_resistance_winding_housing": "winding_housing",
    "thermal_resistance_housing_ambient": "housing_ambient",
    "thermal_time_constant_winding": "winding_time",
    "thermal_time_constant_motor": "housing_time",
    "max_winding_temperature": "maximum",
    "ambient_temperature": "ambient",
}

# lines that follow from the others, or that nothing here depends on: accepted, so that a sheet can
# be typed in as it is printed
_FOLLOWS = {
    "nominal_voltage",
    "no_load_speed",
    "nominal_speed",
    "nominal_torque",
    "max_continuous_torque",
    "stall_torque",
    "stall_current",
    "starting_current",
    "max_efficiency",
    "speed/torque_gradient",
    "mechanical_time_constant",
    "number_of_pole_pairs",
    "number_of_phases",
    "number_of_commutator_segments",
    "axial_play",
    "radial_play",
    "max_axial_load",
    "max_radial_load",
}


@dataclass
class Sheet:
    """Collects what is wrong while parts are read, so that a file's errors are told all at once."""

    path: str | None = None
    catalogue: Callable[[type, str], Any] | None = None
    problems: list[tuple[int | None, str]] = field(default_factory=list)

    def note(self, message: str, data: Any = None, key: Any = None) -> None:
        """Keep a problem with the line of data[key], if data comes from a file."""
        known = getattr(data, "lines", {})
        line = (
            known[key] if isinstance(known, dict) and key in known else getattr(data, "line", None)
        )
        self.problems.append((line, message))

    def finish(self) -> None:
        """Raise if anything was wrong."""
        if not self.problems:
            return
        if self.path is None:
            raise RobotError("; ".join(message for _, message in self.problems))
        first, *rest = self.problems
        more = "".join(f"\n{self.path}:{line or 1}: {message}" for line, message in rest)
        raise FileError(first[1] + more, self.path, first[0])

    def part(self, kind: type, data: Any, where: str, parent: Any = None, key: Any = None) -> Any:
        """A component of the given class from a mapping, or a name in the catalogue; None if
        something was wrong (and noted).

        parent, key: the mapping where it stands, for the line.
        """
        if isinstance(data, kind):
            return data
        try:
            if isinstance(data, str):
                return self._named(kind, data)
            if not isinstance(data, Mapping):
                raise ArgumentError(
                    f"{data!r} is not a {kind.__name__.lower()}; give a name of the catalogue or a"
                    " mapping of its quantities"
                )
        except ArmatureError as error:
            self.note(f"{where}: {error}", parent, key)
            return None
        count = len(self.problems)
        base = self._named_base(kind, data, where)
        values = self._values(kind, data, where)
        if len(self.problems) > count:
            return None
        try:
            return replace(base, **values) if base is not None else kind(**values)
        except TypeError:
            missing = [
                f.name
                for f in fields(kind)
                if f.name not in values and f.default is f.default_factory
            ]
            self.note(f"{where}: missing {', '.join(missing)}; add it", data)
        except ArmatureError as error:
            key = _blamed(kind, data, str(error))
            self.note(f"{where}: {error}" if key is None else f"{where}: {key}: {error}", data, key)
        return None

    def _named(self, kind: type, name: str) -> Any:
        if self.catalogue is None:
            raise ArgumentError(f"{name!r}: names need a catalogue")
        return self.catalogue(kind, name)

    def _named_base(self, kind: type, data: Mapping, where: str) -> Any:
        """The part of the catalogue that `like:` names, whose quantities the mapping overrides."""
        if "like" not in data:
            return None
        try:
            return self._named(kind, str(data["like"]))
        except ArmatureError as error:
            self.note(f"{where}: {error}", data, "like")
        return None

    def _values(self, kind: type, data: Mapping, where: str) -> dict[str, Any]:
        """All fields of a part, data sheets' own words last: they may need the others."""
        known = {f.name: f for f in fields(kind)}
        values: dict[str, Any] = {}
        words = []
        for raw, value in self._with_thermal(kind, data).items():
            key = _word(raw)
            if key == "like" or (kind is Motor and key in _FOLLOWS):
                continue
            if (kind, key) in _WORDS:
                words.append((raw, key, value))
            elif key not in known:
                options = [*known, *(w for k, w in _WORDS if k is kind)]
                close = difflib.get_close_matches(key, options, 1)
                self.note(
                    f"{where}: {raw!r} is not known; "
                    + (
                        f"did you mean {close[0]!r}?"
                        if close
                        else f"known are {', '.join(options)}"
                    ),
                    data,
                    raw,
                )
            else:
                values[key] = self._field(known[key], key, value, data, raw, where)
        for raw, key, value in words:
            target, unit, convert = _WORDS[kind, key]
            try:
                values[target] = convert(_number(value, unit), values)
            except (ArmatureError, KeyError, TypeError, ZeroDivisionError) as error:
                reason = (
                    error
                    if isinstance(error, ArmatureError)
                    else f"{value!r} cannot be converted to {target}; give {target} instead"
                )
                self.note(f"{where}: {raw}: {reason}", data, raw)
        return values

    def _with_thermal(self, kind: type, data: Mapping) -> Mapping:
        """A motor's mapping with the thermal lines of its sheet put together as `thermal`."""
        lines = {
            _THERMAL[_word(raw)]: value
            for raw, value in data.items()
            if kind is Motor and _word(raw) in _THERMAL
        }
        if not lines:
            return data
        rest = {raw: value for raw, value in data.items() if _word(raw) not in _THERMAL}
        given = rest.get("thermal")
        return {**rest, "thermal": {**given, **lines} if isinstance(given, Mapping) else lines}

    def _field(
        self, definition: Any, key: str, value: Any, data: Mapping, raw: Any, where: str
    ) -> Any:
        nested = _NESTED.get(key)
        if (
            nested is not None
            and value is not None
            and not (key == "efficiency" and not isinstance(value, Mapping))
        ):
            return (
                self._table(value, data, raw, where)
                if nested is EfficiencyTable
                else self.part(nested, value, f"{where}: {key}", data, raw)
            )
        if "unit" not in definition.metadata and key != "efficiency":
            wanted = bool if key == "linear" else str
            if not isinstance(value, wanted):
                self.note(
                    f"{where}: {raw}: {value!r} is not"
                    f" {'true or false' if wanted is bool else 'text'}",
                    data,
                    raw,
                )
            return value
        try:
            return None if value is None else _number(value, definition.metadata.get("unit", ""))
        except ArmatureError as error:
            self.note(f"{where}: {raw}: {error}", data, raw)
        return None

    def _table(self, value: Mapping, data: Mapping, raw: Any, where: str) -> EfficiencyTable | None:
        try:
            speeds = tuple(_number(x, "rad/s") for x in value["speeds"])
            loads = tuple(_number(x, "N*m") for x in value["loads"])
            return EfficiencyTable(
                speeds, loads, tuple(tuple(_number(x, "") for x in row) for row in value["values"])
            )
        except (ArmatureError, KeyError, TypeError) as error:
            reason = (
                error
                if isinstance(error, ArmatureError)
                else "needs the lists speeds, loads and values (one row for each speed)"
            )
            self.note(f"{where}: {raw}: {reason}", data, raw)
        return None


def _blamed(kind: type, data: Mapping, message: str) -> Any:
    """The key of `data` that gave the quantity which a message is about, None where there is
    none."""
    targets = {
        raw: _WORDS[kind, _word(raw)][0] if (kind, _word(raw)) in _WORDS else _word(raw)
        for raw in data
    }
    return next((raw for raw, target in targets.items() if f" {target} = " in message), None)


def is_word(kind: type, raw: str) -> bool:
    """Whether a line of a data sheet is one that parts of this kind have."""
    word, own = _word(raw), {f.name for f in fields(kind)}
    further = word in _THERMAL or word in _FOLLOWS if kind is Motor else False
    return word in own or (kind, word) in _WORDS or further


def has_unit(kind: type, raw: str) -> bool:
    """Whether a line of a data sheet is a quantity with a unit; numbers alone are taken in SI."""
    word = _word(raw)
    own = {f.name: f.metadata.get("unit", "") for f in fields(kind)}
    return bool(_WORDS[kind, word][1] if (kind, word) in _WORDS else own.get(word, ""))


_NESTED: dict[str, type] = {
    "thermal": Thermal,
    "motor": Motor,
    "gear": Gear,
    "amplifier": Amplifier,
    "friction": Friction,
    "brake": Brake,
    "drive": Drive,
    "efficiency": EfficiencyTable,
}


def _word(raw: Any) -> str:
    """A key in one spelling: "Nominal current (max. continuous current)" is nominal_current."""
    plain = re.sub(r"\(.*?\)|\.", "", str(raw)).strip().lower()
    return re.sub(r"[\s-]+", "_", plain)


def _number(value: Any, unit: str) -> float:
    """A number in the given SI unit, or in what it is called on a prismatic joint."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ArgumentError(f"{value!r} is not a number; give it in {unit or 'plain numbers'}")
    if not isinstance(value, str):
        return float(value)
    try:
        return parse(value, unit)
    except ArgumentError:
        if unit in _LINEAR:
            try:
                return parse(value, _LINEAR[unit])
            except ArgumentError:
                pass
        raise
