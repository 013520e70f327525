"""Arguments of xacro files: as texts, and what to say where one is missing or leads nowhere."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from armature.errors import ArgumentError, ArmatureError, FileError
from armature.robot.load.xacro.expand import Expansion, Located
from armature.robot.load.xacro.text import MissingFile, UnknownArgument

MARK = "\u241f"  # stands before an argument's value to find where it goes
MOST_TRIED = 40
MOST_CHOICES = 40


def as_texts(arguments: Mapping[str, object]) -> dict[str, str]:
    """Arguments as xacro has them: texts, with true and false in small letters."""
    if not isinstance(arguments, Mapping):
        raise ArgumentError(
            f"arguments is {arguments!r}; give a mapping of names to values, e.g. {{'prefix':"
            " 'left_'}"
        )
    texts = {}
    for name, value in arguments.items():
        if not isinstance(name, str) or not isinstance(value, (str, bool, int, float)):
            raise ArgumentError(
                f"the argument {name!r} is {value!r}; give text, a number, or true or false"
            )
        texts[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts


def from_words(words: Iterable[str]) -> dict[str, str]:
    """{name: value} of 'name:=value' texts, as ROS writes them."""
    found = {}
    for text in words:
        name, sign, value = text.partition(":=")
        if not sign or not name.strip():
            raise ArgumentError(
                f"the argument {text!r} is not understood; write name:=value, e.g. ur_type:=ur5e"
            )
        found[name.strip()] = value
    return found


def explained(error: Located, expansion: Expansion, given: Mapping[str, str]) -> FileError:
    """The error with the file's arguments where one is missing, and with the choices where one
    names a missing file."""
    declared = expansion.texts.declared
    if isinstance(error.cause, UnknownArgument):
        known = (
            ", ".join(
                f"{n} ({'needed' if d is None else d or 'empty'})" for n, d in declared.items()
            )
            or "none"
        )
        return FileError(f"{error.cause}; the file's arguments: {known}", error.path, error.line)
    if isinstance(error.cause, MissingFile):
        hint = _choices(error.cause.path, expansion, given)
        if hint:
            return FileError(f"{error.cause}; {hint}", error.path, error.line)
        return FileError(
            f"{error.cause}; check its name, and the arguments that it is made of",
            error.path,
            error.line,
        )
    return error


def _choices(path: Path, expansion: Expansion, given: Mapping[str, str]) -> str:
    """Which argument makes the part of a path that is not there, and what stands there instead."""
    folder = _last_folder(path)
    for name in [n for n in expansion.texts.arguments if n][:MOST_TRIED]:
        value = expansion.texts.arguments[name]
        marked = _missing(expansion.texts.main, {**given, name: MARK + value})
        if (
            marked is None
            or str(marked).replace(MARK, "") != str(path)
            or _last_folder(marked) != folder
        ):
            continue
        before, mark, after = marked.parts[len(folder.parts)].partition(MARK + value)
        if not mark:
            continue
        pattern = re.compile(re.escape(before) + "(.+)" + re.escape(after))
        names = [
            m[1]
            for entry in sorted(folder.iterdir())
            if (m := pattern.fullmatch(entry.name)) is not None
        ]
        found = [n for n in names if os.path.exists(str(marked).replace(MARK + value, n))]
        choice = f", one of {', '.join(found[:MOST_CHOICES])}" if found else ""
        return (
            f"the argument {name} is {value!r}; give --arg {name}:=… (or arguments={{{name!r}:"
            f" …}}){choice}"
        )
    return ""


def _missing(main: Path, arguments: Mapping[str, str]) -> Path | None:
    """The file that an expansion with these arguments lacks."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Expansion(main, arguments).run()
    except Located as e:
        return e.cause.path if isinstance(e.cause, MissingFile) else None
    except ArmatureError:
        return None
    return None


def _last_folder(path: Path) -> Path:
    """The last folder of a path that is there."""
    folder = path.parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder
