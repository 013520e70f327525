"""Files that only define a macro for a robot: the macro is called where it needs nothing but names
and a place."""

from __future__ import annotations

from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] (lxml carries no types)

from armature.robot.load.xacro.budget import XacroError
from armature.robot.load.xacro.expand import FILE, Expansion
from armature.robot.load.xacro.macro import Macro, Parameter
from armature.robot.load.xacro.text import is_name
from armature.robot.load.xml import Element

PARENTS = ("parent", "parent_link", "attach_to", "connected_to")
WORLD = "world"
NO_CALLS = (
    "insert_block",
    "include",
    "property",
    "macro",
    "arg",
    "element",
    "attribute",
    "if",
    "unless",
)
MOST_LOOKED_AT, LARGEST_LOOKED_AT = 50, 1_000_000  # files, bytes


def call_only_macro(expansion: Expansion, root: Element) -> None:
    """Where a document has no link and its own file defines one macro that can be called: call it,
    with a warning."""
    if root.find("link") is not None:
        return
    macros = [m for m in expansion.macros.values.values() if isinstance(m, Macro) and _own(m)]
    if not macros or len(root):
        return
    possible = [m for m in macros if _can_call(m) and _makes(m.body, "joint")]
    possible = possible or [m for m in macros if _can_call(m) and _makes(m.body, "link")]
    if len(possible) != 1:
        needs = "; ".join(
            f"{m.name} needs {', '.join(p.name for p in _needed(m)) or 'nothing'}"
            for m in macros[:8]
        )
        callers = _callers(expansion.texts.main, macros)
        hint = (
            f"open one that calls it: {', '.join(callers)}"
            if callers
            else "open the file that calls one of them"
        )
        error = XacroError(f"the file only defines macros ({needs}); {hint}")
        with expansion.at(root):
            raise error
    macro = possible[0]
    expansion.texts.warn(
        f"the file only defines the macro {macro.name!r}; it is called with defaults"
    )
    _call(expansion, macro, root)


def _call(expansion: Expansion, macro: Macro, root: Element) -> None:
    call = etree.SubElement(
        macro.body.getroottree().getroot(), macro.body.tag.replace("}macro", "}" + macro.name)
    )
    call.sourceline = macro.body.sourceline
    for parameter in _needed(macro):
        if parameter.name in PARENTS:
            call.set(parameter.name, WORLD)
            if root.find("link") is None:
                etree.SubElement(root, "link", name=WORLD)
        elif parameter.name.startswith("*"):
            etree.SubElement(call, "origin", xyz="0 0 0", rpy="0 0 0").sourceline = call.sourceline
    if not root.get("name"):
        root.set("name", macro.name)
    with expansion.at(macro.body):
        expansion.call(macro.name, call, expansion.macros, expansion.properties, root)


def _callers(path: Path, macros: list[Macro]) -> list[str]:
    """Files beside this one that call one of its macros."""
    found = []
    for other in sorted(path.parent.glob("*.xacro"))[:MOST_LOOKED_AT]:
        if other != path and other.is_file() and other.stat().st_size < LARGEST_LOOKED_AT:
            text = other.read_bytes()
            if any(f"<xacro:{m.name}".encode() in text for m in macros):
                found.append(other.name)
    return found


def _own(macro: Macro) -> bool:
    """Whether a macro stands in the main file."""
    return macro.body.getroottree().getroot().get(FILE) == "0"


def _makes(body: Element, tag: str) -> bool:
    """Whether a macro writes such elements, or calls macros that may."""
    return body.find(f".//{tag}") is not None or any(
        isinstance(e.tag, str) and _is_call(e) for e in body.iter()
    )


def _is_call(element: Element) -> bool:
    return element.prefix == "xacro" and etree.QName(element).localname not in NO_CALLS


def _needed(macro: Macro) -> list[Parameter]:
    return [p for p in macro.parameters.values() if p.needed]


def _can_call(macro: Macro) -> bool:
    return all(
        is_name(p.name) or p.name in PARENTS or p.name.strip("*") == "origin"
        for p in _needed(macro)
    )
