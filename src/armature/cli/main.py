"""`armature`: the verbs put together, and errors turned into one line."""

from __future__ import annotations

import sys
import warnings

import typer

from armature import __version__
from armature.cli import figure, info, plan
from armature.errors import ArmatureError, ArmatureWarning

app = typer.Typer(
    name="armature",
    help="Least-energy and least-time robot motions that the drives can really do, with the proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("info")(info.info)
app.command("library")(info.list_library)
app.command("plan")(plan.plan)
app.command("figure")(figure.figure)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"armature {__version__}")
        raise typer.Exit


@app.callback()
def common(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and stop.")) -> None:
    """Armature's command line."""


def main() -> None:
    """Run the command line; an `ArmatureError` becomes one readable line and exit code 2."""

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: object = None, line: str | None = None
    ) -> None:
        if issubclass(category, ArmatureWarning):
            print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show  # type: ignore[assignment]
    try:
        app()
    except ArmatureError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
