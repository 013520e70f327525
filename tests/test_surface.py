"""The public surface: every name resolves and is documented, old names say where they are now,
rooms import no facade."""

import ast
import importlib
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import armature as arm
from armature.surface import public_names

HERE = Path(arm.__file__).parent
ROOMS = (
    "robot",
    "motion",
    "dynamics",
    "simulation",
    "optimize",
    "job",
    "study",
    "cell",
    "plot",
    "scene",
    "identification",
    "design",
)
SURFACE = [
    (room, name) for room in ("", *ROOMS) for name in public_names(f"armature.{room}".rstrip("."))
]
OLD = [(home, name) for home, names in arm._MOVED.items() for name in names.split()]


@pytest.mark.parametrize(("room", "name"), SURFACE)
def test_every_public_name_resolves_and_is_documented(room, name):
    value = getattr(getattr(arm, room) if room else arm, name)
    assert value.__doc__


def test_the_top_has_few_names_and_they_are_the_same_objects_in_their_rooms():
    functions = [
        name
        for name in arm.__all__
        if not isinstance(getattr(arm, name), type(arm)) and not name.startswith("_")
    ]
    assert len(functions) <= 55
    for room in ROOMS:
        module = getattr(arm, room)
        for name in set(module.__all__) & set(functions):
            assert getattr(module, name) is getattr(arm, name), (
                f"arm.{room}.{name} is not arm.{name}"
            )


@pytest.mark.parametrize(("home", "name"), OLD)
def test_an_old_name_works_and_names_its_new_place(home, name):
    with pytest.warns(DeprecationWarning, match=rf"arm\.{home}\.{name}"):
        old = getattr(arm, name)
    assert old is getattr(getattr(arm, home), name)


def test_the_warning_points_to_the_line_that_uses_an_old_name():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _ = arm.Motor
    assert caught[0].filename == __file__


def test_import_is_lazy():
    """`import armature` must not pull in the heavy libraries: the command line's --help depends on
    it."""
    code = (
        "import armature, sys; print([m for m in ('casadi', 'numba', 'numpy', 'scipy',"
        " 'matplotlib') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = arm.no_such_name


def test_nothing_inside_is_imported_through_a_facade():
    """A room imports from the module that defines a name: the public objects are guarded, and
    facades would close rings."""
    facades = {
        f"armature.{room}".rstrip("."): public_names(f"armature.{room}".rstrip("."))
        for room in ("", *ROOMS)
    }
    through = []
    for path in sorted(HERE.rglob("*.py")):
        if path.relative_to(HERE).parts[0] in ("cli", "web"):
            continue  # they do what a user can type
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in facades:
                named = [x.name for x in node.names if x.name in facades[node.module]]
                through += [f"{path.relative_to(HERE)}:{node.lineno} {name}" for name in named]
    assert not through


def shown_on(page: str) -> set[str]:
    """The names that a page of mkdocstrings shows: the members asked for, or all of a module."""
    found = set()
    for module, members in re.findall(
        r"^::: (\S+)\n(?:    options: \{members: \[([^\]]*)\]\})?", page, re.MULTILINE
    ):
        every = [name for name in vars(importlib.import_module(module)) if not name.startswith("_")]
        found |= set(re.split(r",\s*", members) if members else every)
        assert set(found) & set(every), f"{module} is named on the page, but has none of its names"
    return found


def test_every_public_name_is_on_the_api_page():
    page = (Path(__file__).parent.parent / "docs/api.md").read_text(encoding="utf-8")
    shown = shown_on(page)
    for room, name in SURFACE:
        module, defined = public_names(f"armature.{room}".rstrip("."))[name]
        if module in ("armature", "armature.version"):
            assert f"arm.{name}" in page or name == "__version__", f"arm.{name} is not on the page"
        else:
            assert defined in shown or f"::: {module}.{defined}" in page, (
                f"{module}.{defined} is not on the page"
            )


def test_types_are_shipped():
    assert (HERE / "py.typed").exists() and (HERE / "__init__.pyi").exists()


def test_dir_lists_what_can_be_used():
    for module in (arm, *(getattr(arm, room) for room in ROOMS)):
        assert set(module.__all__) <= set(dir(module))
