"""Macros: their parameters, and how a call gives them values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from armature.robot.load.xacro.budget import XacroError
from armature.robot.load.xml import Element

VALUE = r"""\$\{.*?\}|\$\(.*?\)|(?:'.*?'|".*?"|[^\s'"]+)+|"""
DEFAULT = re.compile(r"\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?(" + VALUE + r")(?:\s+|$)", re.DOTALL)
PLAIN = re.compile(r"\s*(\S+)")
LONGEST_PARAMETERS = 20_000


@dataclass(frozen=True)
class Parameter:
    """One parameter. forward: take the caller's property of this name; default: text, or None where
    there is none."""

    name: str
    forward: bool = False
    default: str | None = None

    @property
    def needed(self) -> bool:
        """Whether a call must give it."""
        return not self.forward and self.default is None


@dataclass(frozen=True)
class Macro:
    """A macro: its name, parameters by name (blocks begin with * or **), and the element that holds
    its body."""

    name: str
    parameters: dict[str, Parameter]
    body: Element


def read_macro(element: Element) -> Macro:
    """The macro of a `<xacro:macro name params>`."""
    name, text = element.get("name", ""), element.get("params", "")
    name = name.removeprefix("xacro:")
    if not name or "." in name or name == "call":
        raise XacroError(f"the macro's name {name!r} is not possible; give another")
    return Macro(name, {p.name: p for p in read_parameters(text)}, element)


def read_parameters(text: str) -> list[Parameter]:
    """`a b:=1 c:=^ d:=^|2 *block **blocks` as parameters."""
    if len(text) > LONGEST_PARAMETERS:
        raise XacroError(
            f"the parameters of a macro have {len(text)} characters; at most {LONGEST_PARAMETERS}"
            " are read"
        )
    found, place, text = [], 0, text.rstrip()
    while place < len(text):
        match = DEFAULT.match(text, place)
        if match is not None:
            found.append(Parameter(match[1], bool(match[2]), match[3] or None))
        else:
            match = PLAIN.match(text, place)
            if match is None:
                break
            found.append(Parameter(match[1]))
        place = match.end()
    return found
