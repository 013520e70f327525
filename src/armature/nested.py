"""YAML and JSON texts as plain values, within bounds: size, nesting and number of values are
checked while they are read.

YAML 1.2 (core schema): mappings are `Block`, lists are `Items`, which know their lines. Nothing in
a text is ever executed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn

from armature.errors import FileError

MOST_YAML = 4 * 2**20  # characters
MOST_YAML_SLOW = 2**18  # the same where PyYAML comes without its compiled parser
MOST_VALUES = 200_000  # of a YAML text, with those that aliases repeat
DEEPEST = 20  # mappings and lists inside each other
MOST_JSON = 64 * 2**20  # characters
MOST_JSON_VALUES = 5_000_000
LONGEST_NUMBER = 400  # digits
TAG = "tag:yaml.org,2002:"
INT = re.compile(r"[-+]?(?:[0-9][0-9_]*|0o[0-7_]+|0x[0-9a-fA-F_]+|0b[01_]+)", re.ASCII)
FLOAT = re.compile(
    r"[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]{1,9})?", re.ASCII
)
CONSTANTS = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class Block(dict):
    """A mapping of a YAML text. line: where it begins; lines: {key: line}; 1-based."""

    line: int = 1
    lines: Any  # {key: line}


class Items(list):
    """A list of a YAML text. line: where it begins; lines: of its items; 1-based."""

    line: int = 1
    lines: Any  # [line]


def yaml_value(text: str, path: object, convert: Callable[[Any], Any] | None = None) -> Any:
    """The value of a YAML text with one document; a FileError with its line for any other. path:
    for messages.

    convert: a single value from the parser's event, instead of `scalar`.
    """
    found = yaml_documents(text, path, convert=convert)
    if not found:
        raise FileError("the file is empty; a mapping of keys to values was expected", path, 1)
    if len(found) > 1:
        words = (
            f"this is not well-formed YAML (it holds {len(found)} documents, cut by ---); give one"
        )
        raise FileError(words, path, getattr(found[1], "line", None))
    return found[0]


def yaml_documents(
    text: str,
    path: object,
    most_text: int = MOST_YAML,
    most_values: int = MOST_VALUES,
    convert: Callable[[Any], Any] | None = None,
) -> list[Any]:
    """The values of all documents of a YAML text that are not empty."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", None)
    most_text = most_text if loader else MOST_YAML_SLOW
    if len(text) > most_text:
        raise FileError(
            f"the file has {len(text) / 2**20:.1f} MB; at most {most_text / 2**20:g} MB of YAML are"
            " read",
            path,
        )
    try:
        return _Builder(
            (loader or yaml.SafeLoader)(text), path, most_values, convert or scalar
        ).documents()
    except yaml.YAMLError as e:
        open_bracket = "flow" in (
            getattr(e, "context", None) or ""
        )  # then the bracket's own line tells more than where it was missed
        mark = getattr(e, "context_mark" if open_bracket else "problem_mark", None)
        reason = getattr(e, "problem", None) or getattr(e, "reason", None) or str(e).splitlines()[0]
        line = mark.line + 1 if mark else None
        raise FileError(
            f"this is not well-formed YAML ({reason}); correct it there", path, line
        ) from None
    except UnicodeError:
        raise FileError(
            "this is not well-formed YAML (a half of a character); save the file as UTF-8", path
        ) from None


class _Builder:
    """Values from the parser's events. Aliases share their value, and count as often as they stand
    there."""

    def __init__(self, parser: Any, path: object, most: int, convert: Callable[[Any], Any]):
        self.next, self.path, self.most, self.count, self.convert = (
            parser.get_event,
            path,
            most,
            0,
            convert,
        )
        self.anchors: dict[
            str, tuple[Any, int, int] | None
        ] = {}  # value, number of values, nesting; None while it is read

    def documents(self) -> list[Any]:
        found = []
        while (event := self.next()) is not None:
            if type(event).__name__ == "DocumentStartEvent":
                self.anchors.clear()
                event = self.next()
                if not (
                    type(event).__name__ == "ScalarEvent"
                    and event.value == ""
                    and event.implicit[0]
                ):
                    found.append(self._value(event, 0)[0])
        return found

    def _value(self, event: Any, depth: int) -> tuple[Any, int]:
        """The value that begins with an event, and how deeply it is nested."""
        before, kind = self.count, type(event).__name__
        self._counted(1, depth, event)
        if kind == "AliasEvent":
            return self._repeated(event, depth)
        anchor = event.anchor
        if anchor is not None:
            self.anchors[anchor] = None
        if kind == "ScalarEvent":
            value, height = self.convert(event), 0
        else:
            value, height = (self._list if kind == "SequenceStartEvent" else self._mapping)(
                event, depth
            )
        if anchor is not None:
            self.anchors[anchor] = value, self.count - before, height
        return value, height

    def _counted(self, more: int, depth: int, event: Any) -> None:
        self.count += more
        if depth > DEEPEST or self.count > self.most:
            raise FileError(
                "the values are nested or repeated too much; write them out flat",
                self.path,
                _line(event),
            )

    def _repeated(self, event: Any, depth: int) -> tuple[Any, int]:
        if event.anchor not in self.anchors:
            words = (
                f"this is not well-formed YAML (*{event.anchor[:60]} has no &{event.anchor[:60]});"
                " correct it there"
            )
            raise FileError(words, self.path, _line(event))
        known = self.anchors[event.anchor]
        if known is None:
            raise FileError(
                "the values are nested or repeated too much: one contains itself",
                self.path,
                _line(event),
            )
        value, count, height = known
        self._counted(count, depth + height, event)
        return value, height

    def _list(self, start: Any, depth: int) -> tuple[Items, int]:
        result, highest = Items(), 0
        result.line, result.lines = _line(start), []
        while type(event := self.next()).__name__ != "SequenceEndEvent":
            value, height = self._value(event, depth + 1)
            result.append(value)
            result.lines.append(_line(event))
            highest = max(highest, height)
        return result, highest + 1

    def _mapping(self, start: Any, depth: int) -> tuple[Block, int]:
        result, inherited, highest = Block(), [], 0
        result.line, result.lines = _line(start), {}
        while type(key := self.next()).__name__ != "MappingEndEvent":
            if type(key).__name__ != "ScalarEvent" or key.value in result:
                what = (
                    "a key is not a word"
                    if type(key).__name__ != "ScalarEvent"
                    else f"the key {key.value[:60]!r} stands twice"
                )
                raise FileError(f"{what}; remove or rename it", self.path, _line(key))
            value, height = self._value(self.next(), depth + 1)
            highest = max(highest, height)
            if key.value == "<<" and key.implicit[0]:
                inherited.append((key, value))
            else:
                result[key.value], result.lines[key.value] = value, _line(key)
        for key, given in inherited:  # << takes over what is not said here
            for block in given if isinstance(given, list) else [given]:
                self._inherit(result, block, key)
        return result, highest + 1

    def _inherit(self, result: Block, block: Any, key: Any) -> None:
        if not isinstance(block, Block):
            raise FileError(
                "<< takes over a mapping, e.g. <<: *motor; there is none", self.path, _line(key)
            )
        for name, value in block.items():
            result.setdefault(name, value)
            result.lines.setdefault(name, _line(key))


def _line(event: Any) -> int:
    return event.start_mark.line + 1


def scalar(event: Any) -> Any:
    """A word, number, truth value or nothing, by its tag or by how it looks."""
    text, tag = event.value, event.tag
    if tag is None or tag == "!":
        if not event.implicit[0] or tag == "!":
            return text
        return WORDS[text] if text in WORDS else _number(text)
    kind = tag.removeprefix(TAG)
    if kind in ("int", "float"):
        return _number(text)
    if kind in ("bool", "null"):
        return WORDS.get(text, text)
    return text


def _number(text: str) -> Any:
    """The number that a text is; the text itself where it is none."""
    if len(text) > LONGEST_NUMBER or not text:
        return text
    if INT.fullmatch(text):
        plain = text.replace("_", "")
        try:
            return int(plain, 0 if plain.lstrip("+-")[1:2] in ("x", "o", "b") else 10)
        except ValueError:  # an underscore and no digit
            return text
    if FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return float(CONSTANTS[text.lower()]) if text.lower() in CONSTANTS else text


# --- JSON ----------------------------------------------------------------------------------------


def json_value(
    text: str | bytes, path: object, most_text: int = MOST_JSON, line: int | None = None
) -> Any:
    """The value of a JSON text, or a FileError. path, line: for messages; line: where the text
    stands in its file."""
    if len(text) > most_text:
        raise FileError(
            f"the JSON has {len(text) / 2**20:.1f} MB; at most {most_text / 2**20:g} MB are read",
            path,
            line,
        )
    marks = (",", "[", "{", ":") if isinstance(text, str) else (b",", b"[", b"{", b":")
    if sum(text.count(mark) for mark in marks) > MOST_JSON_VALUES:  # type: ignore[arg-type]  (marks of the text's own kind)
        raise FileError(
            f"the JSON holds more than {MOST_JSON_VALUES} values; give a smaller file", path, line
        )
    try:
        value = json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as e:
        raise FileError(
            f"this is not JSON: {e.msg} at column {e.colno}", path, line or e.lineno
        ) from None
    except UnicodeDecodeError:
        raise FileError("this is not JSON: the bytes are not UTF-8 text", path, line) from None
    except RecursionError:
        _deep(path, line)
    _check_depth(value, 0, path, line)
    return value


def _whole(text: str) -> int | float:
    """A whole number; beyond 18 digits as a float, which a reader that wants a count refuses."""
    return int(text) if len(text) <= 18 else float(text)


def _check_depth(value: Any, depth: int, path: object, line: int | None) -> None:
    if depth > DEEPEST:
        _deep(path, line)
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        if type(item) in (list, dict):
            _check_depth(item, depth + 1, path, line)


def _deep(path: object, line: int | None) -> NoReturn:
    raise FileError(
        f"the JSON is nested too deeply; at most {DEEPEST} lists and mappings inside each other are"
        " read",
        path,
        line,
    )
