"""The public surface: every name resolves, and type checkers see the same names."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import armature as arm


@pytest.mark.parametrize("name", sorted(arm._SURFACE))
def test_every_public_name_resolves_and_is_documented(name):
    value = getattr(arm, name)
    assert value.__doc__


def test_type_checkers_see_the_same_names():
    source = Path(arm.__file__).read_text()
    typed = set(re.findall(r"import \w+ as (\w+)", source.split("if TYPE_CHECKING:")[1].split("def __getattr__")[0]))
    assert typed == set(arm._SURFACE)


def test_import_is_lazy():
    """`import armature` must not pull in the heavy libraries: the command line's --help depends on it."""
    code = "import armature, sys; print([m for m in ('casadi', 'numba', 'scipy', 'matplotlib') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = arm.no_such_name


def shown_on(page: str) -> set[str]:
    """The names that a page of mkdocstrings shows: the members asked for, or all of a module."""
    found = set()
    for module, members in re.findall(r"^::: (\S+)\n(?:    options: \{members: \[([^\]]*)\]\})?", page, re.MULTILINE):
        every = [name for name in vars(importlib.import_module(module)) if not name.startswith("_")]
        found |= set(re.split(r",\s*", members) if members else every)
        assert set(found) & set(every), f"{module} is named on the page, but has none of its names"
    return found


@pytest.mark.parametrize("name", sorted(arm._SURFACE))
def test_every_public_name_is_on_the_api_page(name):
    page = (Path(__file__).parent.parent / "docs/api.md").read_text(encoding="utf-8")
    entry = arm._SURFACE[name]
    module, defined = entry if isinstance(entry, tuple) else (entry, name)
    assert (defined in shown_on(page)) if defined else f"::: {module}" in page


def test_types_are_shipped():
    assert (Path(arm.__file__).parent / "py.typed").exists()


def test_dir_lists_what_can_be_used():
    from armature import plot

    assert set(plot.__all__) <= set(dir(plot)) and all(getattr(plot, name) for name in plot.__all__)
    assert set(arm.__all__) <= set(dir(arm))
