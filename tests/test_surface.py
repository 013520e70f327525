"""The public surface: every name resolves, and type checkers see the same names."""

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
