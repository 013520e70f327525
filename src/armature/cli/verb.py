"""Verbs: functions whose parameters are the command's; every one also takes --quiet, --json and --debug."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

import typer

from armature.cli import output

COMMON = {
    "quiet": typer.Option(False, "--quiet", "-q", help="Say nothing but errors; the exit code tells."),
    "json": typer.Option(False, "--json", help="One JSON object on stdout, for programs."),
    "debug": typer.Option(False, "--debug", help="Show the traceback of an error."),
}


def add(app: typer.Typer, name: str, function: Callable[..., int | None], **options: Any) -> None:
    """Register a verb. The function returns its exit code, None for 0."""
    app.command(name, **options)(common(function))


def common(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """The function with the three common options."""

    @functools.wraps(function)
    def run(*args: Any, quiet: bool = False, json: bool = False, debug: bool = False, **kwargs: Any) -> int | None:
        output.settings.quiet |= quiet
        output.settings.json |= json
        output.settings.debug |= debug
        return function(*args, **kwargs)

    hints = typing.get_type_hints(function)
    signature = inspect.signature(function)
    own = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]
    extra = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d, annotation=bool) for n, d in COMMON.items()]
    run.__signature__ = signature.replace(parameters=[*own, *extra])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, **dict.fromkeys(COMMON, bool)}
    return run
