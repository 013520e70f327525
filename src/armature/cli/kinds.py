"""Which of Armature's files a file is, so that one given to the wrong verb is named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from armature.errors import ArgumentError

# a key that only this kind has: what it is called, and what to do with it
KINDS = {
    "links": ("a robot", "give it as robot: in a task file (armature init --robot {} writes one)"),
    "vary": ("a study", "armature study run {}"),
    "stations": ("a line", "armature line {}"),
    "robots": ("a cell", "armature cell {}"),
    "program": ("a program", "armature plan {}"),
    "move": ("a task", "armature plan {}"),
    "path": ("a task", "armature plan {}"),
    "objects": ("a scene", "give it by --scene {}"),
    "drives": ("drives", "give them with their robot: armature check ROBOT --drives {}"),
}
ROBOT, TASK = frozenset({"links", "move", "path"}), frozenset({"move", "path"})
ONLY_DRIVES = {"armature", "name", "drives", "supply"}
PLAN = "plan.json"  # in the folder of a saved plan


def refuse_other(name: str | Path, wanted: frozenset[str]) -> None:
    """Raise where a file is one of another kind, or the folder of a saved plan; whatever else is
    wrong with it, its reader says. wanted: keys of which the right kind has one."""
    if os.path.isfile(Path(name) / PLAN):
        raise ArgumentError(
            f"{name}: this is a saved plan; armature export, figure, simulate --motion and view"
            " take one"
        )
    keys = _keys(Path(name))
    kind = next((key for key in KINDS if key in keys), None)
    if kind == "drives" and not keys <= ONLY_DRIVES:  # a robot or a task may have drives as well
        return
    if kind is not None and not wanted & keys:
        what, remedy = KINDS[kind]
        raise ArgumentError(f"{name}: this is the file of {what}; {remedy.format(name)}")


def _keys(path: Path) -> frozenset[str]:
    """The keys of a YAML file; none for what cannot be read."""
    from armature.document import values
    from armature.errors import ArmatureError
    from armature.text import read_text

    if path.suffix.lower() not in (".yaml", ".yml") or not os.path.isfile(path):
        return frozenset()
    try:
        data: Any = values(read_text(path), path)
    except ArmatureError:
        return frozenset()
    return frozenset(str(key) for key in data) if isinstance(data, dict) else frozenset()
