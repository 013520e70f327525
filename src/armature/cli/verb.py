"""Verbs: functions whose parameters are the command's; every one also takes --quiet, --json,
--force and --debug."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import typer

from armature.cli import output
from armature.write import overwriting

COMMON = {
    "quiet": typer.Option(
        False, "--quiet", "-q", help="Print errors only; the exit code has the result."
    ),
    "json": typer.Option(False, "--json", help="One JSON object on stdout, for programs."),
    "force": typer.Option(False, "--force", help="Write over files that Armature did not write."),
    "debug": typer.Option(False, "--debug", help="Show the traceback of an error."),
}


def add(app: typer.Typer, name: str, function: Callable[..., int | None], **options: Any) -> None:
    """Register a verb. The function returns its exit code, None for 0."""
    app.command(name, **options)(common(function))


def common(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """The function with the common options; a verb with a --force of its own keeps that."""
    signature = inspect.signature(function)
    more = {name: option for name, option in COMMON.items() if name not in signature.parameters}

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> int | None:
        quiet, json, debug = (kwargs.pop(name, False) for name in ("quiet", "json", "debug"))
        output.settings.quiet |= quiet
        output.settings.json |= json
        output.settings.debug |= debug
        with overwriting(kwargs.pop("force", False) if "force" in more else False):
            return function(*args, **kwargs)

    hints = typing.get_type_hints(function)
    own = [
        p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()
    ]
    extra = [
        inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d, annotation=bool)
        for n, d in more.items()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *extra])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, **dict.fromkeys(more, bool)}
    return run
