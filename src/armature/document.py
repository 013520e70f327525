"""YAML as values that know their lines, and checks that tell every mistake at once: file, line,
key, value and what to do.

`checked_yaml(RobotPart, text, path)` is a pydantic model, or one FileError with all mistakes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from armature.errors import ArmatureError, FileError
from armature.nested import Block, Items, yaml_value
from armature.text import read_text

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    Model = TypeVar("Model", bound=BaseModel)

MOST_MISTAKES = 20


def checked_yaml(model: type[Model], text: str, path: object) -> Model:
    """The pydantic `model` of a YAML text; a FileError lists all mistakes, each with its line, its
    place and what to do.

    path: of the file, for messages.
    """
    return checked(model, values(text, path), path)


def checked_file(model: type[Model], path: str | PathLike[str]) -> Model:
    """`checked_yaml` of a file."""
    return checked_yaml(model, read_text(path), path)


def checked(model: type[Model], data: Any, path: object) -> Model:
    """The pydantic `model` of values that `values` read."""
    from pydantic import ValidationError

    if not isinstance(data, dict):
        raise FileError(
            f"the file is not a mapping; it may hold the keys {', '.join(_names(model))}", path, 1
        )
    try:
        return model.model_validate(data)
    except ValidationError as e:
        raise _mistakes(e, model, data, path) from None


# --- values and their lines ----------------------------------------------------------------------


def values(text: str, path: object, convert: Callable[[Any], Any] | None = None) -> Any:
    """Mappings (`Block`), lists (`Items`), numbers and words of a YAML 1.2 text, within bounds;
    `path` is for messages.

    convert: a single value from the parser's event, where other tags or words count than those of
    `nested.scalar`."""
    return yaml_value(text, path, convert)


def selected(data: Block, keys: Sequence[str]) -> Block:
    """Those keys of a mapping that it has, with their lines."""
    part = Block({key: data[key] for key in keys if key in data})
    part.line, part.lines = data.line, {key: data.lines[key] for key in part}
    return part


def _inside(data: Any, step: Any) -> bool:
    return (isinstance(data, dict) and step in data) or (
        isinstance(data, list) and isinstance(step, int) and step < len(data)
    )


def line_of(data: Any, place: Sequence[Any]) -> int:
    """The line of the value at `place` (keys and indices); of the nearest thing that exists, where
    it is missing."""
    line = getattr(data, "line", 1)
    for step in place:
        if (isinstance(data, Block) and step in data) or (
            isinstance(data, Items) and isinstance(step, int) and step < len(data)
        ):
            line, data = data.lines[step], data[step]
    return line


@contextmanager
def at_place(path: Any, data: Any, *place: Any) -> Iterator[None]:
    """Errors inside belong to a place of the file."""
    try:
        yield
    except FileError:
        raise
    except ArmatureError as e:
        raise FileError(str(e), path, line_of(data, place)) from None


# --- mistakes ------------------------------------------------------------------------------------


def _mistakes(error: ValidationError, model: type[BaseModel], data: Any, path: object) -> FileError:
    """One FileError for all mistakes, each with its line and place."""
    found: dict[tuple[int, str], str] = {}
    for e in error.errors(include_url=False)[:500]:
        place = tuple(e["loc"])
        key = (line_of(data, place), _words(place, data, e["type"]) or "the file")
        found.setdefault(key, _message(e, model))
    return mistakes(
        [(line, f"{where}: {message}") for (line, where), message in found.items()], path
    )


def mistakes(found: list[tuple[int | None, str]], path: object) -> FileError:
    """One FileError for several mistakes (line, words), in the order of their lines."""
    found = sorted(found, key=lambda item: item[0] or 0)
    shown = [f"line {line}: {text}" for line, text in found[1:MOST_MISTAKES]]
    more = [f"and {len(found) - MOST_MISTAKES} more"] if len(found) > MOST_MISTAKES else []
    return FileError("\n  ".join([found[0][1], *shown, *more]), path, found[0][0])


def _words(place: tuple, data: Any, kind: str) -> str:
    """links[0].mass; what pydantic adds to its paths for alternatives is left out."""
    words = ""
    for k, step in enumerate(place):
        inside = _inside(data, step)
        if inside or (kind == "missing" and k == len(place) - 1):
            words += f"[{step}]" if isinstance(step, int) else f".{step}"
            data = data[step] if inside else None
    return words.lstrip(".")


def _message(e: Any, model: type[BaseModel]) -> str:
    """What is wrong and what to do, in plain words."""
    place, kind, value, about = tuple(e["loc"]), e["type"], _shown(e.get("input")), e.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(str(place[-1]), _model_at(model, place[:-1]), model)
    if kind == "missing":
        return (
            "this value is missing from the list; add it"
            if isinstance(place[-1], int)
            else "this is missing; add it"
        )
    if kind in ("model_type", "model_attributes_type", "dict_type", "mapping_type"):
        keys = _known_keys(model, place)
        named = keys and kind in ("dict_type", "mapping_type")
        wanted = "names, each with keys" if named else "keys with values"
        return f"{value} is not a mapping; give {wanted}{keys}"
    if kind in ("tuple_type", "list_type"):
        return f"{value} is not a list; write [a, b, …]"
    if kind in (
        "string_type",
        "bool_type",
        "bool_parsing",
        "int_type",
        "int_parsing",
        "int_from_float",
    ):
        flag = "true or false" if kind.startswith("bool") else "a whole number"
        return f"{value} is not {'text' if kind == 'string_type' else flag}"
    if kind == "literal_error":
        return f"{value} is not known; give {about.get('expected', 'another value')}"
    if kind in ("too_long", "too_short"):
        at = (
            f"at most {about['max_length']}"
            if kind == "too_long"
            else f"at least {about['min_length']}"
        )
        return f"this has {about.get('actual_length')} values; give {at}"
    return e["msg"].removeprefix("Value error, ")


def _unknown_key(key: str, here: type[BaseModel], whole: type[BaseModel]) -> str:
    """What to write instead of a key: one like it, or the place where the file has such a key."""
    meant = suggestion(key, _names(here))
    if meant.startswith("did you mean"):
        return f"there is no such key; {meant}"
    others = list(dict.fromkeys(_places(whole, key)))
    if not others:
        return f"there is no such key; {meant}"
    return f"there is no such key here; it belongs {' or '.join(others[:3])}"


def _places(model: type[BaseModel], key: str, at: str = "", depth: int = 3) -> Iterator[str]:
    """Where in a file there is such a key, the outermost places first."""
    if key in _names(model):
        yield f"under {at}" if at else "at the top of the file"
    for name, field in model.model_fields.items() if depth else ():
        for part in _models(field.annotation):
            yield from _places(part, key, f"{at}.{field.alias or name}".lstrip("."), depth - 1)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _known_keys(model: type[BaseModel], place: tuple) -> str:
    """The keys of the mapping that belongs at a place, where one is known."""
    here = _model_at(model, place)
    return f": {', '.join(_names(here))}" if here is not model else ""


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_at(model: type[BaseModel], place: tuple) -> type[BaseModel]:
    """The model to which a path leads."""
    for step in place:
        by_name = {field.alias or name: field for name, field in model.model_fields.items()}
        field = by_name.get(step) if isinstance(step, str) else None
        options = [] if field is None else _models(field.annotation)
        model = options[0] if options else model
    return model


def _models(annotation: Any) -> list[type[BaseModel]]:
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for a in get_args(annotation) for m in _models(a)]


def suggestion(name: object, names: Sequence[str]) -> str:
    """A question with the likeliest names, or else the names there are."""
    close = difflib.get_close_matches(str(name)[:200], names[:2000], n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(repr(c) for c in close) + "?"
    shown = ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")
    return f"there are: {shown}" if names else "there are none"
