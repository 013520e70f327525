"""Texts with `${expressions}` and `$(substitutions)` as values."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armature.errors import ArmatureWarning
from armature.robot.load.packages import find_package
from armature.robot.load.xacro.budget import Budget, XacroError
from armature.robot.load.xacro.expression import evaluate, parse_expression, weight
from armature.robot.load.xacro.functions import Function, global_names, tokens
from armature.robot.load.xacro.scope import Namespace, Scope, literal
from armature.robot.load.xacro.values import read_values

# what $(find …) gives for a package that is not there: a mesh may stay unread, an include may not
MISSING = "package://"
NAME = re.compile(
    r"(.*_)?(name|prefix|namespace|ns)"
)  # arguments and parameters that only name things


class Interpreter:
    """Evaluates texts: knows the arguments, the files that are being read, and where packages
    are."""

    def __init__(self, path: Path, arguments: Mapping[str, str]):
        self.main, self.files, self.budget = path, [path], Budget()
        self.arguments: dict[str, str] = dict(arguments)
        self.declared: dict[
            str, str | None
        ] = {}  # argument: default, as the main file declares them
        self.used: list[str] = []  # arguments, in the order in which they were asked for
        self.packages: dict[
            str, Path | None
        ] = {}  # those that were asked for; None for one that is not found
        self._trees: dict[str, Any] = {}
        self._global = {**global_names(), **self._own_functions()}

    # --- texts -----------------------------------------------------------------------------------

    def value(self, text: str, scope: Scope) -> Any:
        """The typed value of a text that is one expression; else text."""
        if "$" not in text:
            return text
        parts = [self._part(kind, inner, scope) for kind, inner in split(text)]
        return parts[0] if len(parts) == 1 else "".join(to_text(part) for part in parts)

    def text(self, text: str, scope: Scope) -> str:
        """A text as it is written out."""
        result = to_text(self.value(text, scope))
        self.budget.take_characters(len(result))
        return result

    def _part(self, kind: str, inner: str, scope: Scope) -> Any:
        if kind == "text":
            return inner
        with self.budget:
            if kind == "expression":
                return self.expression(to_text(self.value(inner, scope)), scope)
            return self.substitution(to_text(self.value(inner, scope)), scope)

    def expression(self, text: str, scope: Scope) -> Any:
        """The value of what stands between ${ and }."""
        tree = self._trees.get(text)
        if tree is None:
            tree = self._trees[text] = parse_expression(text)
        return evaluate(tree, lambda name: self._lookup(name, scope), self.budget)

    def _lookup(self, name: str, scope: Scope) -> Any:
        if scope.holder(name) is not None:
            found = scope.get(name, self.value)
            return Namespace(found, self.value) if isinstance(found, Scope) else found
        if name in self._global:
            return self._global[name]
        raise XacroError(
            f"{name!r} is not defined; define it by <xacro:property name={name!r} …/> before"
        )

    # --- $(…) ------------------------------------------------------------------------------------

    def substitution(self, text: str, scope: Scope) -> str:
        """What stands between $( and ): arg, find, env, optenv, dirname, cwd, eval."""
        command, _, rest = text.strip().partition(" ")
        words = rest.split()
        if command == "eval":
            return to_text(self._eval(rest, scope))
        if command == "optenv" and words:
            return os.environ.get(words[0], " ".join(words[1:]))
        if command in ("dirname", "cwd") and not words:
            return str(self.folder()) if command == "dirname" else os.getcwd()
        single = {"arg": self.argument, "find": self.find, "env": self._env}.get(command)
        if single is None or len(words) != 1:
            raise XacroError(
                f"$({text[:60]}) is not known; there are arg, find, env, optenv, dirname, cwd and"
                " eval"
            )
        return single(words[0])

    def _eval(self, text: str, scope: Scope) -> Any:
        """$(eval …): the same expressions, in which arguments are names too."""
        own = {
            "arg": Function("arg", lambda name: literal(self.argument(name))),
            "find": Function("find", self.find),
            "env": Function("env", self._env),
            "dirname": Function("dirname", lambda: str(self.folder())),
            "optenv": Function("optenv", lambda name, default="": os.environ.get(name, default)),
        }

        def lookup(name: str) -> Any:
            return (
                own[name]
                if name in own
                else (
                    literal(self.arguments[name])
                    if name in self.arguments
                    else self._lookup(name, scope)
                )
            )

        return evaluate(parse_expression(text), lookup, self.budget)

    def argument(self, name: str) -> str:
        """The value of an argument: as given, else as the file declares it further down, else a
        default for mere names."""
        if name not in self.used:
            self.used.append(name)
        if name not in self.arguments:
            default = self.declared.get(name)
            if default is not None:
                self.declared[name] = None  # not twice, where its default asks for itself
                self.arguments[name] = to_text(self.value(default, Scope()))
            elif is_name(name):
                self.arguments[name] = self.name_for(name)
            else:
                raise UnknownArgument(name)
        return self.arguments[name]

    def name_for(self, name: str) -> str:
        """A default for what only names things: the file's name for a name, nothing for a prefix;
        with a warning."""
        value = self.main.name.split(".")[0] if name.endswith("name") else ""
        self.warn(
            f"{name!r} has no value and no default; {value!r} is taken (give another by --arg"
            f" {name}:=… or arguments=)"
        )
        return value

    def find(self, package: str) -> str:
        """The folder of a package; where there is none, a name that no file has, so that only what
        reads it fails."""
        if package not in self.packages:
            self.packages[package] = find_package(package, [self.folder(), self.main.parent])
            if self.packages[package] is None:
                self.warn(f"the package {package!r} is not found; {where_to_put(package)}")
        folder = self.packages[package]
        return MISSING + package if folder is None else str(folder)

    def _env(self, name: str) -> str:
        if name not in os.environ:
            raise XacroError(f"the environment variable {name!r} is not set; set it")
        return os.environ[name]

    # --- files -----------------------------------------------------------------------------------

    def folder(self) -> Path:
        """The folder of the file that is being read."""
        return self.files[-1].parent

    def absolute(self, name: str) -> Path:
        """A file's name as seen from the file that is being read."""
        if name.startswith(MISSING):
            package = name.removeprefix(MISSING).split("/")[0]
            raise XacroError(
                f"{name!r} is needed, and the package {package!r} is not found;"
                f" {where_to_put(package)}"
            )
        return self.folder() / name.removeprefix("file://")

    def warn(self, message: str) -> None:
        """An ArmatureWarning about the main file."""
        warnings.warn(f"{self.main}: {message}", ArmatureWarning, stacklevel=2)

    def _load_yaml(self, name: Any) -> Any:
        self.budget.take_file()
        path = self.absolute(to_text(name))
        if not os.path.exists(path):
            raise MissingFile(path)
        return read_values(path, self._lookup, self.budget)

    def _own_functions(self) -> dict[str, Any]:
        def say(*words: Any, **_: Any) -> str:
            self.warn("the file says: " + " ".join(to_text(w) for w in words))
            return ""

        def refuse(*words: Any) -> str:
            raise XacroError("the file refuses: " + " ".join(to_text(w) for w in words))

        calls = {
            "load_yaml": self._load_yaml,
            "abs_filename": lambda name: str(self.absolute(name)),
            "dotify": lambda value: value,
            "arg": self.argument,
            "message": lambda *_, **__: "",
            "warning": say,
            "error": say,
            "fatal": refuse,
            "print_location": lambda: "",
            "tokenize": tokens,
        }
        functions = {name: Function(name, call) for name, call in calls.items()}
        return {
            "xacro": functions,
            **{name: functions[name] for name in ("load_yaml", "abs_filename", "dotify")},
        }


class UnknownArgument(XacroError):
    """An argument that is neither given nor declared with a default. name: of it."""

    def __init__(self, name: str):
        self.name = name
        super().__init__(
            f"the argument {name!r} has no value and no default; give it by --arg {name}:=… or"
            f" arguments={{{name!r}: …}}"
        )


class MissingFile(XacroError):
    """A file that the text names and that is not there. path: of it."""

    def __init__(self, path: Path):
        self.path = path
        super().__init__(f"there is no file {str(path)!r}")


def is_name(name: str) -> bool:
    """Whether an argument or parameter only names things, so that it can be left to a default."""
    return NAME.fullmatch(name) is not None


def where_to_put(package: str) -> str:
    """What to do about a package that is not found."""
    return (
        f"put its folder {package} beside this package's, or name the folder that holds it in"
        " ROS_PACKAGE_PATH"
    )


def to_text(value: Any) -> str:
    """A value as text; functions and namespaces have none."""
    if isinstance(value, (Function, Namespace, Scope)):
        raise XacroError("a function or namespace stands where a value is expected")
    weight(value)
    return value if isinstance(value, str) else str(value)


def split(text: str) -> list[tuple[str, str]]:
    """A text in pieces: ("text", …), ("expression", inside of ${…}), ("substitution", inside of
    $(…)); $${ is a plain ${."""
    pieces: list[tuple[str, str]] = []
    start = 0
    while (dollar := text.find("$", start)) >= 0:
        if dollar > start:
            pieces.append(("text", text[start:dollar]))
        after = dollar
        while after < len(text) and text[after] == "$":
            after += 1
        opening = text[after : after + 1]
        if opening not in ("{", "("):  # a mere dollar
            pieces.append(("text", text[dollar:after]))
            start = after
        elif after - dollar > 1:  # an escaped one
            pieces.append(("text", text[dollar + 1 : after + 1]))
            start = after + 1
        else:
            end = _closing(text, after)
            pieces.append(
                ("expression" if opening == "{" else "substitution", text[after + 1 : end])
            )
            start = end + 1
    if start < len(text):
        pieces.append(("text", text[start:]))
    return pieces or [("text", "")]


def _closing(text: str, start: int) -> int:
    """Where the bracket closes that opens at `start`: the one that belongs to it, or else the
    first."""
    opening, closing, depth = text[start], "}" if text[start] == "{" else ")", 0
    for place in range(start, len(text)):
        depth += (text[place] == opening) - (text[place] == closing)
        if depth == 0:
            return place
    first = text.find(closing, start)
    if first < 0:
        raise XacroError(f"{text[start - 1 : start + 40]!r} is not closed; add {closing!r}")
    return first
